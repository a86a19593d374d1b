"""Gains, errors, closure and scales of kept and told, against plain definitions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from tamis.errors import CannotMeet
from tamis.evaluate.bits import (
    FLOOR,
    KeptTold,
    as_good,
    chosen,
    closed,
    gains,
    mean,
    parts_of,
    redrawn,
    surprise,
)
from tamis.evaluate.subset_bits import SubsetBits
from tamis.select.front import search_front


def test_a_gain_is_the_log_of_the_ratio_of_probabilities():
    p, base = np.array([[0.5, 0.3, 0.2]]), np.array([[0.25, 0.15, 0.6]])
    for truth in range(3):
        expected = np.log2(p[0, truth] / base[0, truth])
        assert gains(p, base, [truth])[0] == pytest.approx(expected)


def test_what_was_held_impossible_counts_as_the_floor():
    assert surprise([[1.0, 0.0]], [1])[0] == pytest.approx(-np.log2(FLOOR))
    assert gains([[1.0, 0.0]], [[0.5, 0.5]], [1])[0] == pytest.approx(np.log2(FLOOR / 0.5))


def test_honest_probabilities_gain_most():
    rng = np.random.default_rng(0)
    truth = (rng.random(20_000) < 0.2).astype(int)
    said = {share: np.tile([1 - share, share], (20_000, 1)) for share in (0.05, 0.2, 0.5)}
    means = {share: surprise(p, truth).mean() for share, p in said.items()}
    assert min(means, key=lambda share: means[share]) == 0.2


def test_the_error_is_that_of_a_mean_of_draws():
    values = np.random.default_rng(0).normal(1, 2, 400)
    found = mean(values)
    assert found.value == pytest.approx(values.mean())
    assert found.error == pytest.approx(values.std(ddof=1) / 20)
    assert mean(np.array([1.0])).error == np.inf


@given(st.integers(1, 6), st.integers(2, 30), st.integers(0, 999))
def test_rows_said_twice_are_no_more_certain(times, people, seed):
    values = np.random.default_rng(seed).normal(size=people)
    once, again = mean(values), mean(np.tile(values, times), np.tile(np.arange(people) * 3, times))
    assert again.value == pytest.approx(once.value)
    assert again.error == pytest.approx(once.error)


def sets_of(*sets):
    width = 1 + max(max(each, default=0) for each in sets)
    return np.array([[c in each for c in range(width)] for each in sets])


subsets = st.lists(st.frozensets(st.integers(0, 4)), min_size=1, max_size=12, unique=True)


@given(subsets, st.data())
def test_closure_is_the_best_of_all_parts(sets, data):
    values = [data.draw(st.floats(-1, 1)) for _ in sets]
    found, source = closed(values, parts_of(sets_of(*sets)))
    for one, value, by in zip(sets, found, source):
        expected = max(0.0, *(v for part, v in zip(sets, values) if part <= one))
        assert value == expected
        assert (by == -1 and value == 0) or (sets[by] <= one and values[by] == value)


def measured(target, secret, sets, everything=0, noise=0.02, rows=400, **given):
    """Sets with these mean gains: the same rows for all, so that only means differ."""
    rng = np.random.default_rng(0)
    wave = rng.normal(0, noise, rows)
    wave -= wave.mean()

    def rows_of(means):
        return np.array([m + wave for m in means])

    return KeptTold(
        rows_of(target),
        None if secret is None else rows_of(secret),
        parts_of(sets_of(*sets)),
        everything,
        given.pop("unsure_target", 1.0),
        given.pop("unsure_secret", 1.0),
        **given,
    )


def test_scales_are_the_most_that_any_set_gives():
    found = measured([0.4, 0.5, 0.1], [0.2, 0.1, 0.3], [{0, 1}, {0}, {1}])
    assert found.kept.tolist() == pytest.approx([1.0, 1.0, 0.2])
    assert found.told.tolist() == pytest.approx([1.0, 1 / 3, 1.0])
    assert found.value(0.5)[1] == pytest.approx(1 - 0.5 / 3)


def test_a_trifle_told_of_a_secret_stays_a_trifle():
    found = measured([0.5, 0.4], [0.01, 0.005], [{0, 1}, {0}], unsure_secret=0.8)
    assert found.tells
    assert found.secret_scale == pytest.approx(0.04)
    assert found.told.tolist() == pytest.approx([0.25, 0.125])


def test_what_is_within_two_errors_is_not_told():
    found = measured([0.5, 0.5], [0.01, 0.012], [{0, 1}, {0}], noise=1.0)
    assert not found.tells
    assert found.told.tolist() == [0, 0]
    assert found.value(5.0).tolist() == found.kept.tolist()
    assert found.told_error(0, 1) == 0


def test_one_column_that_tells_is_not_hidden_by_all_the_others():
    """All columns together gain nothing clear; one of them does, by far more than luck."""
    found = measured([0.5, 0.5], [0.0, 0.5], [{0, 1}, {0}], noise=1.0)
    assert not found.telling[0].clear
    assert found.tells
    assert found.told.tolist() == [1.0, 1.0]


def test_the_luckiest_of_many_sets_tells_nothing():
    """One hundred sets, one at 2.5 errors: luck."""
    means = [0.0] * 100
    means[7] = 2.5 / 20
    found = measured([0.5] * 100, means, [frozenset(range(99)), *({i} for i in range(99))], noise=1)
    assert found.telling[7].clear
    assert not found.tells


def test_columns_that_teach_nothing_keep_nothing():
    found = measured([0.001, -0.002], [0.1, 0.1], [{0, 1}, {0}], noise=1.0)
    assert not found.teaches
    assert found.kept.tolist() == [0, 0]
    assert found.kept_error(0) == 0


def test_columns_that_hardly_teach_are_said_to_be_weak():
    assert measured([0.04, 0.03], None, [{0, 1}, {0}], unsure_target=1.0).weak
    assert not measured([0.06, 0.03], None, [{0, 1}, {0}], unsure_target=1.0).weak


def test_without_a_secret_nothing_is_told():
    found = measured([0.5, 0.4], None, [{0, 1}, {0}])
    assert not found.tells
    assert found.told.tolist() == [0, 0]
    assert found.value(9.0).tolist() == pytest.approx([1.0, 0.8])


def test_errors_of_differences_are_paired():
    rng = np.random.default_rng(0)
    common = rng.normal(0.5, 1, 1000)
    own = rng.normal(0, 0.1, (2, 1000))
    rows = common + own
    rows -= rows.mean(axis=1, keepdims=True) - [[0.5], [0.4]]
    found = KeptTold(rows, rows[::-1], parts_of(sets_of({0}, {1})), 0, 1.0, 1.0)
    scale = rows[0].mean()
    apart = (rows[0] - rows[1]) / scale
    assert found.kept_error(0, 1) == pytest.approx(apart.std(ddof=1) / np.sqrt(1000))
    assert found.kept_error(0) == pytest.approx(rows[0].std(ddof=1) / scale / np.sqrt(1000))
    assert found.told_error(0, 1) == pytest.approx(apart.std(ddof=1) / np.sqrt(1000))
    assert found.value_error(0, 1, 1.0) == pytest.approx(2 * found.kept_error(0, 1))
    assert found.value_error(0, 0, 1.0) == pytest.approx(0)


def test_a_set_whose_part_does_better_has_the_rows_of_that_part():
    found = measured([0.4, 0.5], [0.3, 0.1], [{0, 1}, {0}])
    assert found.kept_error(0, 1) == 0
    assert found.useful[0].value == pytest.approx(0.4)


def measured_sets(target, secret, noise=0.0):
    """Sets of which none lies in another, with these mean gains; all of the same rows."""
    rng = np.random.default_rng(0)
    own = rng.normal(0, 1, (len(target), 2, 900))
    own = noise * (own - own.mean(axis=2, keepdims=True)) / own.std(axis=2, keepdims=True)
    within = np.eye(len(target), dtype=bool)
    rows = [np.array(v)[:, None] + own[:, i] for i, v in enumerate((target, secret))]
    return KeptTold(rows[0], rows[1], within, 0, 1.0, 1.0)


def test_the_most_kept_less_told_is_chosen():
    found = measured_sets([1.0, 0.9, 0.5], [1.0, 0.3, 0.1])
    assert chosen(found, [3, 2, 1]) == 1
    assert chosen(found, [3, 2, 1], caution=0.0) == 0
    assert chosen(found, [3, 2, 1], caution=3.0) == 2


def test_the_smaller_is_chosen_of_sets_that_differ_by_a_trifle():
    found = measured_sets([1.0, 0.991, 0.9], [0.5, 0.5, 0.5])
    assert chosen(found, [3, 2, 1]) == 1
    assert chosen(found, [3, 3, 1]) == 0
    found = measured_sets([1.0, 0.989, 0.9], [0.5, 0.5, 0.5])
    assert chosen(found, [3, 2, 1]) == 0


@pytest.mark.parametrize("noise", [0.0, 0.3, 10.0])
def test_the_larger_value_is_taken_however_uncertain_it_is(noise):
    """An error as large as all that there is to learn takes nothing from what is expected."""
    found = measured_sets([1.0, 0.9, 0.1], [0.3, 0.3, 0.0], noise=noise)
    found = replace(found, shown=(True, True))
    assert chosen(found, [9, 5, 1], caution=0.5) == 0


def test_alike_in_value_alone_is_not_alike():
    """Keeps and tells less in the same measure: another release, not the same one smaller."""
    found = measured_sets([1.0, 0.6], [1.0, 0.6])
    assert found.value()[0] == pytest.approx(found.value()[1])
    assert chosen(found, [2, 1]) == int(np.argmax(found.value()))
    assert found.kept[chosen(found, [2, 1], caution=0.99)] == 1.0


@pytest.mark.parametrize("apart", [0.0, 0.005, 0.02, 0.1])
def test_what_cannot_be_told_apart_is_within_two_paired_errors(apart):
    found = measured_sets([1.0, 1.0 - apart], [0.0, 0.0], noise=0.3)
    error = found.value_error(0, 1)
    assert as_good(found, 1, 0) == (apart / found.target_scale <= 2 * error)
    assert as_good(found, 0, 1) == as_good(found, 1, 0)


def test_redraws_choose_as_often_as_chance_says():
    """Two sets that differ by one paired error: a redraw reverses them in about 16 % of cases."""
    found = measured_sets([1.0, 1.0, 0.2], [0.0, 0.0, 0.0], noise=0.3)
    error = found.value_error(0, 1)
    found = measured_sets([1.0 + error, 1.0, 0.2], [0.0, 0.0, 0.0], noise=0.3)
    shares = redrawn(found, [2, 2, 1], draws=2000)
    assert shares.sum() == pytest.approx(1.0)
    assert shares[1] == pytest.approx(norm.sf(1.0), abs=0.05)
    assert shares[2] == 0


def test_a_redraw_draws_people_and_not_rows():
    """Ten rows of a person are drawn together, so that chance is larger, not smaller."""
    rng = np.random.default_rng(1)
    own = rng.normal(0, 1, (2, 60))
    gains = np.array([[1.05], [1.0]]) + own - own.mean(axis=1, keepdims=True)
    within, times = np.eye(2, dtype=bool), 10
    each = KeptTold(gains, None, within, 0, 1.0, shown=(True, False))
    repeated = KeptTold(
        gains.repeat(times, axis=1),
        None,
        within,
        0,
        1.0,
        people=np.arange(60).repeat(times),
        shown=(True, False),
    )
    assert redrawn(repeated, [1, 1]) == pytest.approx(redrawn(each, [1, 1]))
    careless = replace(repeated, people=None)
    assert redrawn(careless, [1, 1])[0] > redrawn(each, [1, 1])[0] + 0.05


def test_a_redraw_chooses_among_what_is_allowed():
    found = measured_sets([1.0, 0.9, 0.5], [0.0, 0.0, 0.0], noise=0.1)
    allowed = np.array([False, True, True])
    assert redrawn(found, [3, 2, 1], allowed).tolist() == [0.0, 1.0, 0.0]


def test_from_table_to_choice():
    """Columns that teach go out, one that tells and a pair that tells together stay."""
    rng = np.random.default_rng(0)
    rows = 4000
    teaches = rng.integers(0, 4, (2, rows))
    tells, one, other = rng.integers(0, 2, (3, rows))
    target = (teaches.sum(axis=0) + rng.integers(0, 3, rows) > 4).astype(int)
    secret = np.where(rng.random(rows) < 0.5, tells, one ^ other)
    frame = pl.DataFrame({"t0": teaches[0], "t1": teaches[1], "s": tells, "p": one, "q": other})
    bits = SubsetBits.of(frame, target, secret)
    sets = [columns for columns in search_front(bits).scores if columns]
    found = bits.measured(sets)
    best = chosen(found, [len(columns) for columns in sets])
    assert sets[best] == (0, 1)
    assert found.kept[best] > 0.95
    assert found.told[best] < 0.05
    assert found.told[sets.index((3, 4))] > 0.2
    assert found.told[sets.index((0, 1, 3))] < 0.1


def test_only_what_is_allowed_is_chosen():
    found = measured_sets([1.0, 0.9, 0.5], [1.0, 0.3, 0.1])
    assert chosen(found, [3, 2, 1], np.array([True, False, True])) == 2
    assert chosen(found, [3], caution=9.0) == 0
    with pytest.raises(CannotMeet, match="no set of columns"):
        chosen(found, [3, 2, 1], np.zeros(3, dtype=bool))
