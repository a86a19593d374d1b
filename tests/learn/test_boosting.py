"""The small boosting: against a plain one in NumPy, all partitions, and tables with an answer."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.errors import InputError
from tamis.learn.boosting import MOST_ROWS, Boosting, shares, shares_given
from tamis.learn.boosting_kernels import LEAST, _best_cut, _by_gradient, _luck
from tamis.learn.coded_table import CODES, CodedTable


def table_of(codes, ordered=False):
    codes = np.atleast_2d(np.asarray(codes, dtype=np.uint8))
    widths = codes.max(axis=1).astype(np.int64) + 1
    return CodedTable(codes, widths, np.broadcast_to(ordered, len(codes)).astype(bool))


def gained(slopes, bends, left, ridge):
    def worth(mask):
        return slopes[mask].sum() ** 2 / (bends[mask].sum() + ridge)

    everything = np.ones(len(slopes), dtype=bool)
    return 0.5 * (worth(left) + worth(~left) - worth(everything))


@given(st.integers(2, 7), st.integers(0, 10_000))
def test_codes_in_the_order_of_their_gradient_have_the_best_of_all_partitions(width, seed):
    rng = np.random.default_rng(seed)
    part = np.column_stack([rng.normal(size=width), rng.uniform(0.5, 2, width)])
    order = np.empty(CODES, dtype=np.int64)
    _by_gradient(part, order, np.empty(CODES), 0.0)
    gain, right = _best_cut(part, order, 0.0)
    sides = (np.array(side) for side in product([True, False], repeat=width))
    best = max(
        gained(part[:, 0], part[:, 1], side, 0.0) for side in sides if 0 < side.sum() < width
    )
    assert gain == pytest.approx(best)
    assert gained(
        part[:, 0], part[:, 1], np.array([not right >> c & 1 for c in range(width)]), 0.0
    ) == (pytest.approx(best))


def plain_cuts(codes, slopes, bends, ordered, smooth):
    """Which codes may go left, cut by cut."""
    width = len(slopes)
    if ordered:
        orders = [[*range(width)], [*range(1, width), 0]]
    else:
        mean = slopes.sum() / bends.sum()
        key = (slopes + smooth * mean) / (bends + smooth)
        orders = [list(np.argsort(key, kind="stable"))]
    return [order[:j] for order in orders for j in range(1, width)]


def plain_tree(table, gradient, curvature, rows, boosting, depth=3):
    """A tree grown node by node: the step of each row, and what its splits are worth."""
    here = np.flatnonzero(rows[: len(gradient)])
    g, h = gradient[here], curvature[here]
    best, chosen = 0.0, None
    for c in range(len(table)) if depth else ():
        codes, width = table.codes[c][here], table.widths[c]
        slopes, bends = (np.bincount(codes, v, minlength=width) for v in (g, h))
        for left in plain_cuts(codes, slopes, bends, table.ordered[c], boosting.smooth):
            mask = np.isin(np.arange(width), left)
            if min(bends[mask].sum(), bends[~mask].sum()) < LEAST:
                continue
            gain = gained(slopes, bends, mask, boosting.ridge)
            if not table.ordered[c]:
                gain -= max((bends > 0).sum() - 2, 0) / np.pi
            if gain > best + 1e-6:
                best, chosen = gain, np.isin(table.codes[c], left)
    stop = np.where(rows, g.sum() / (h.sum() + boosting.ridge), 0.0)
    if chosen is None:
        return stop, 0.0
    parts = [
        plain_tree(table, gradient, curvature, rows & side, boosting, depth - 1)
        for side in (chosen, ~chosen)
    ]
    worth = best - boosting.bar + parts[0][1] + parts[1][1]
    return (parts[0][0] + parts[1][0], worth) if worth > 0 else (stop, 0.0)


def plain_boosting(table, label, learnt, start, boosting):
    logs = np.log(start)
    classes = logs.shape[1]
    margins = logs[:, 1:] - logs[:, :1] if classes == 2 else logs
    everyone = np.ones(table.rows, dtype=bool)
    for _ in range(boosting.rounds):
        full = np.column_stack([np.zeros(table.rows), margins]) if classes == 2 else margins
        p = np.exp(full) / np.exp(full).sum(axis=1, keepdims=True)
        steps = np.zeros_like(margins)
        for k in range(margins.shape[1]):
            own = p[:learnt, k - margins.shape[1]]
            hit = label[:learnt] == (1 if classes == 2 else k)
            step, worth = plain_tree(table, hit - own, own * (1 - own), everyone, boosting)
            steps[:, k] = step if worth > 0 else 0
        margins = margins + boosting.rate * steps
    full = np.column_stack([np.zeros(table.rows), margins]) if classes == 2 else margins
    return (np.exp(full) / np.exp(full).sum(axis=1, keepdims=True))[learnt:]


def test_the_best_of_many_partitions_of_noise_gains_what_luck_is_held_to():
    rng = np.random.default_rng(0)
    order, found = np.empty(CODES, dtype=np.int64), []
    for _ in range(400):
        part = np.column_stack([rng.normal(0, 10, 20), np.full(20, 100.0)])
        _by_gradient(part, order, np.empty(CODES), 0.0)
        found.append(_best_cut(part, order, 0.0)[0])
    assert _luck(part) == pytest.approx(18 / np.pi)
    assert np.mean(found) == pytest.approx(19 / np.pi, rel=0.1)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_it_is_a_plain_boosting_made_fast(classes, seed):
    rng = np.random.default_rng(seed)
    rows, learnt = 260, 200
    codes = rng.integers(0, [[2], [4], [6]], (3, rows))
    table = table_of(codes, [True, False, True])
    label = (codes[0] + (codes[1] % 2) * (codes[2] > 2) + rng.integers(0, 2, rows)) % classes
    # A start of its own for each row, so that no two splits gain the same by chance.
    start = rng.dirichlet(np.full(classes, 20.0), rows)
    boosting = Boosting(rounds=4, bar=0.5)
    found = boosting.probabilities(
        table, label, np.arange(learnt), np.arange(learnt, rows), start=start
    )
    plain = plain_boosting(table, label, learnt, start, boosting)
    np.testing.assert_allclose(found, plain, atol=1e-4)


@pytest.mark.parametrize("classes", [2, 3])
def test_rows_alike_count_as_one_and_change_nothing(classes):
    rng = np.random.default_rng(classes)
    codes = rng.integers(0, 4, (3, 3_000))
    label = np.where(rng.random(3_000) < 0.3, rng.integers(0, classes, 3_000), codes[0] % classes)
    learn, ask = np.arange(2_000), np.arange(2_000, 3_000)
    alike = np.full((3_000, classes), 1 / classes)
    # Bits apart, so that no two rows are alike.
    apart = alike * (1 + 1e-12 * np.arange(3_000)[:, None] * np.arange(classes))
    said = [
        Boosting().probabilities(table_of(codes), label, learn, ask, start=start)
        for start in (alike, apart)
    ]
    assert np.abs(said[0] - said[1]).max() < 1e-4
    assert said[0].std(axis=0).min() > 0.1


def test_a_pair_that_tells_only_together_is_seen():
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 2, (6, 4000))
    label = codes[1] ^ codes[4] ^ (rng.random(4000) < 0.1)
    table, learn, ask = table_of(codes), np.arange(3000), np.arange(3000, 4000)
    p = Boosting().probabilities(table, label, learn, ask, columns=[0, 1, 4])
    assert (p.argmax(axis=1) == label[ask]).mean() > 0.85
    alone = Boosting().probabilities(table, label, learn, ask, columns=[1])
    assert np.abs(alone - 0.5).max() < 0.05


def test_of_noise_it_says_next_to_nothing():
    rng = np.random.default_rng(5)
    codes, label = rng.integers(0, 30, (20, 600)), rng.integers(0, 2, 600)
    p = Boosting().probabilities(table_of(codes), label, np.arange(400), np.arange(400, 600))
    likely = np.log2(p[np.arange(200), label[400:]]).mean()
    assert -1.15 < likely < -0.9


def test_rare_classes_keep_their_share():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 5, (3, 20_000))
    label = (rng.random(20_000) < np.where(codes[0] == 4, 0.06, 0.01)).astype(np.int64)
    learn, ask = np.arange(10_000), np.arange(10_000, 20_000)
    p = Boosting().probabilities(table_of(codes), label, learn, ask)
    assert p[codes[0][ask] == 4, 1].mean() == pytest.approx(0.06, abs=0.015)
    assert p[codes[0][ask] != 4, 1].mean() == pytest.approx(0.01, abs=0.005)


def test_missing_numbers_go_with_either_end():
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 9, 2000)
    for low in (True, False):
        label = ((codes <= 4) if low else ((codes == 0) | (codes > 4))).astype(np.int64)
        p = Boosting().probabilities(
            table_of(codes, True), label, np.arange(1500), np.arange(1500, 2000)
        )
        assert ((p[:, 1] > 0.9) == (label[1500:] == 1)).all()


@given(st.integers(2, 5), st.integers(0, 1000))
def test_probabilities_are_whole_and_the_same_again(classes, seed):
    rng = np.random.default_rng(seed)
    table = table_of(rng.integers(0, 4, (2, 60)))
    label = rng.integers(0, classes, 60)
    learn, ask = np.arange(40), np.arange(40, 60)
    p = Boosting(bar=0.0).probabilities(table, label, learn, ask, classes=classes)
    assert p.shape == (20, classes)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert (p > 0).all()
    other = label.copy()
    other[ask] = 0
    again = Boosting(bar=0.0).probabilities(table, other, learn, ask, classes=classes)
    np.testing.assert_array_equal(p, again)


def test_without_columns_it_says_what_was_known():
    table, label = table_of([[0, 1, 0, 1]]), np.array([0, 1, 1, 1])
    learn, ask = np.arange(3), np.array([3])
    p = Boosting().probabilities(table, label, learn, ask, columns=[])
    assert p.tolist() == [shares(label[learn], 2).tolist()]
    start = np.full((4, 2), [0.3, 0.7])
    p = Boosting().probabilities(table, label, learn, ask, columns=[], start=start)
    assert p.tolist() == [[0.3, 0.7]]
    assert Boosting().probabilities(table, np.zeros(4, int), learn, ask).tolist() == [[1.0]]


def test_a_start_that_is_right_already_is_left_alone():
    rng = np.random.default_rng(0)
    given = rng.integers(0, 3, 9000)
    label = (rng.random(9000) < np.array([0.1, 0.5, 0.8])[given]).astype(np.int64)
    learn, ask = np.arange(6000), np.arange(6000, 9000)
    start = shares_given(label, given, learn, 2)
    p = Boosting().probabilities(table_of(given), label, learn, ask, start=start)
    np.testing.assert_allclose(p, start[ask], atol=0.02)


def test_more_rows_than_words_have_room_for_are_refused():
    table, label = table_of([[0, 1]]), np.array([0, 1])
    with pytest.raises(InputError, match="give a sample"):
        Boosting().probabilities(table, label, np.zeros(MOST_ROWS + 1, dtype=int), np.arange(2))
    with pytest.raises(InputError, match="from 1 to"):
        Boosting().probabilities(table, label, np.array([], dtype=int), np.arange(2))


def test_a_start_must_fit_and_be_above_zero():
    table, label, rows = table_of([[0, 1]]), np.array([0, 1]), np.arange(2)
    for start in (np.full((2, 3), 0.3), np.array([[1.0, 0.0], [0.5, 0.5]])):
        with pytest.raises(InputError, match="probability above 0"):
            Boosting().probabilities(table, label, rows, rows, start=start)


def test_as_many_rows_as_are_allowed_overflow_nothing():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, MOST_ROWS + 4)
    label = codes.copy()
    learn, ask = np.arange(MOST_ROWS), np.arange(MOST_ROWS, MOST_ROWS + 4)
    p = Boosting().probabilities(table_of(codes), label, learn, ask)
    assert (p[np.arange(4), label[ask]] > 0.99).all()
    constant = Boosting().probabilities(table_of(codes * 0), codes, learn, ask)
    assert constant[0, 1] == pytest.approx(codes[learn].mean(), abs=1e-4)
