"""Trees where they win, lines where they do; what whole sparse records teach and tell."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from tamis.binary.records import from_matrix
from tamis.evaluate import regression
from tamis.evaluate.bits import gains, surprise
from tamis.evaluate.bits_scorer import BitsScorer
from tamis.evaluate.close_look import close_look
from tamis.evaluate.regression import (
    PENALTIES,
    WIDE,
    indicators,
    least_surprised,
    linear_probabilities,
    strong_probabilities,
    whole_gains,
)
from tamis.evaluate.subset_bits import SubsetBits
from tamis.learn.boosting import shares
from tamis.learn.coded_table import CodedTable
from tamis.learn.holdout import HoldOut
from tamis.release import Recipe, released
from tamis.table import Roles, Table


def table_of(codes):
    codes = np.asarray(codes, dtype=np.uint8)
    return CodedTable(codes, codes.max(axis=1) + np.int64(1), np.zeros(len(codes), dtype=bool))


def asked(codes, label, columns, classes=None):
    learn, choose, ask = np.split(np.arange(len(label)), [len(label) // 2, 3 * len(label) // 4])
    table = table_of(codes)
    p = strong_probabilities(table, label, learn, choose, ask, columns=columns, classes=classes)
    return p, label[ask]


def test_pairs_and_sums_are_both_learnt():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (8, 1600))
    noise = rng.random(1600) < 0.05
    p, truth = asked(codes, codes[0] ^ codes[1] ^ noise, range(3))
    assert surprise(p, truth).mean() < 0.5
    p, truth = asked(codes, (codes.sum(axis=0) + noise > 4).astype(int), range(8))
    assert surprise(p, truth).mean() < 0.5


def test_a_label_that_lines_part_wholly_warns_of_nothing():
    """Without an end to its weights, a regression may be cut short."""
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 30, (12, 600))
    p, truth = asked(codes, codes[0], range(12))
    assert surprise(p, truth).mean() < surprise(np.full((150, 30), 1 / 30), truth).mean() / 3


def test_columns_that_are_not_given_are_not_used():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 2, (2, 800))
    p, truth = asked(codes, codes[0], [1])
    assert surprise(p, truth).mean() > 0.95


def test_without_columns_the_shares_are_the_answer():
    label = np.array([0, 0, 0, 1] * 20)
    p, _ = asked([label], label, [])
    np.testing.assert_allclose(p, np.tile(shares(label[:60], 2), (20, 1)))


def test_a_class_nobody_learnt_keeps_a_little():
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 3, (2, 400))
    p, _ = asked(codes, codes[0], [0, 1], classes=5)
    assert p.shape == (100, 5)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert p[:, 3:] == pytest.approx(0.5 / 302.5, rel=0.01)
    assert surprise(p, codes[0][300:]).mean() < 0.1


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 4))
def test_one_indicator_of_two_codes_is_as_good_as_both(seed, classes):
    """The regression on all codes one-hot, written out, says the same of every row."""
    draw = np.random.default_rng(seed)
    codes = np.array([draw.integers(0, n, 120) for n in (1, 2, 2, 3, 4)], dtype=np.uint8)
    label = draw.integers(0, classes, 120)
    label[:classes] = np.arange(classes)
    marked = indicators(table_of(codes))
    assert marked.shape == (120, 1 + 1 + 1 + 3 + 4)
    both = np.column_stack([column == code for column in codes for code in np.unique(column)])
    ours, other = (
        LogisticRegression(C=0.7, tol=1e-8, max_iter=5000).fit(rows, label).predict_proba(rows)
        for rows in (marked, both.astype(float))
    )
    np.testing.assert_allclose(ours, other, atol=1e-4)


ROWS = 1200


@pytest.fixture(scope="module")
def ones():
    """Sixty columns; the first two teach the label, the third one tells the secret."""
    return np.random.default_rng(3).integers(0, 2, (ROWS, 60))


@pytest.fixture(scope="module")
def labels(ones):
    noisy = np.random.default_rng(4).random(ROWS) < 0.1
    return np.where(noisy, 1 - ones[:, 0], ones[:, 0] + ones[:, 1] > 0).astype(np.int64)


@pytest.fixture(scope="module")
def yardstick(ones, labels):
    """A table of the columns 0 and 5 to 9; the records have all."""
    records = from_matrix(ones, labels=labels)
    table = records.table([0, 5, 6, 7, 8, 9])
    texts = labels.astype(str)
    split = HoldOut.drawn(texts)
    secrets = ones[:, 2].astype(str)
    return BitsScorer.of(table, split, texts, secrets, records=records.matrix)


def test_kept_is_a_share_of_what_all_columns_teach(yardstick):
    table = yardstick.original
    some = released(table, ["x0"], "some", Recipe("by hand"))
    whole = released(table, table.features, "all", Recipe("all")).standing_for(54)
    measured = yardstick.compared([whole, some]).reporting
    assert measured.everything == 0
    assert measured.kept[0] == 1
    assert 0.3 < measured.kept[1] < 0.8


def test_all_compared_columns_are_not_taken_for_all_columns(yardstick):
    table = yardstick.original
    every = released(table, table.features, "every", Recipe("by hand"))
    alone = yardstick.compared([every]).reporting
    assert alone.kept[0] < 0.8
    assert alone.told[0] < 0.2
    assert alone.telling[alone.everything].value > 0.9
    searched = yardstick.choosing.measured([yardstick.choosing.everything])
    assert searched.kept[0] < 0.8


def test_who_has_everything_can_ignore_part_of_it(yardstick):
    table = yardstick.original
    whole = released(table, table.features, "all", Recipe("all")).standing_for(54)
    yardstick.choosing.gains((0,))
    measured = yardstick.compared([whole]).choosing
    assert measured.kept[0] >= measured.kept.max()


def test_a_secret_is_told_beyond_the_target(ones):
    target = ones[:, 0].astype(np.int64)
    bits = SubsetBits.of(pl.DataFrame({"x": ones[:, 5]}), target, secret=target)
    [(_, secret)] = whole_gains(sparse.csr_array(ones), bits)
    assert secret is not None
    assert abs(secret.mean()) < 0.01


def test_several_classes_and_one_that_was_not_learnt():
    label = np.tile([0, 1, 2], 60)
    rows = sparse.csr_array(np.eye(3)[label])
    said = linear_probabilities(rows, label, rows, classes=4, penalty=2.0)
    assert (said.argmax(axis=1) == label).all()
    assert said.sum(axis=1) == pytest.approx(1)
    assert (said[:, 3] > 0).all()


def test_a_single_class_is_answered_by_its_share():
    learnt, unseen = (sparse.csr_array(np.ones((rows, 1))) for rows in (5, 2))
    said = linear_probabilities(learnt, np.zeros(5, int), unseen, classes=2, penalty=1.0)
    assert said.shape == (2, 2)
    assert (said[:, 0] > said[:, 1]).all()


def test_columns_that_no_learnt_row_has_change_nothing():
    draw = np.random.default_rng(0)
    rows = sparse.csr_array((draw.random((300, 30)) < 0.2).astype(float))
    label = (rows[:, [0]].toarray()[:, 0] > 0).astype(int)
    learnt = sparse.csr_array(rows.toarray() * (np.arange(30) < 20))
    said = linear_probabilities(learnt, label, rows, 2, penalty=0.2)
    few = linear_probabilities(learnt[:, :20], label, rows[:, :20], 2, penalty=0.2)
    np.testing.assert_array_equal(said, few)


def test_other_rows_are_learnt_from_with_the_penalty_chosen_first(ones, labels, monkeypatch):
    bits = SubsetBits.of(pl.DataFrame({"x": ones[:, 5]}), labels)
    report = bits.over(bits.parts.reporting, bits.boosting)
    tried = []
    asked = regression.linear_probabilities

    def noted(learnt, label, unseen, classes, penalty):
        tried.append(penalty)
        return asked(learnt, label, unseen, classes, penalty)

    monkeypatch.setattr(regression, "linear_probabilities", noted)
    (choosing, _), (reporting, _) = whole_gains(sparse.csr_array(ones), bits, report)
    rounds = [tried[i : i + 4] for i in range(0, len(tried) - 1, 4)]
    assert [sorted(each[:3]) for each in rounds] == [sorted(PENALTIES)] * len(bits.parts.rounds)
    assert tried[-1] == sorted(each[3] for each in rounds)[len(rounds) // 2]
    assert choosing.mean() == pytest.approx(reporting.mean(), abs=0.15)


def test_a_close_look_compares_with_the_whole_records(yardstick):
    """Of the compared columns x0 alone teaches; all columns teach twice as much and tell all."""
    release = released(yardstick.original, ["x0"], "some", Recipe("by hand"))
    found = close_look(yardstick, release, k=5)
    assert found.secret is not None
    target, secret = yardstick.reporting.whole
    assert found.target.share.value == pytest.approx(found.target.bits.value / target.mean())
    assert found.target.share.value < 0.8
    assert secret.mean() > 0.9
    assert abs(found.secret.share.value) < 0.1


def test_sets_of_very_many_columns_of_records_are_measured_by_lines():
    """As a yardstick asks them; few columns are boosted, and no set of a table is."""
    rng = np.random.default_rng(0)
    rows, width = 400, WIDE + 20
    ones = (rng.random((rows, width + 30)) < 0.05).astype(np.uint8)
    label = (ones[:, :8].sum(axis=1) + rng.random(rows) > 0.9).astype(int)
    names = [f"x{i:03}" for i in range(width)]
    frame = pl.DataFrame(ones[:, :width], schema=names).with_columns(y=pl.Series(label))
    table = Table(frame, Roles(target="y"))
    split = HoldOut.drawn(label)
    of_records = BitsScorer.of(table, split, label, records=sparse.csr_array(ones)).choosing
    of_table = BitsScorer.of(table, split, label).choosing
    few, many = tuple(range(8)), tuple(range(width))
    assert np.array_equal(of_records.gains(few)[0], of_table.gains(few)[0])
    assert not np.array_equal(of_records.gains(many)[0], of_table.gains(many)[0])
    guess, found = of_records.target, []
    for (learn, ask), known in zip(of_records.parts.rounds, guess.known):
        cells = 2**0.5 * sparse.csr_array(ones[:, :width].astype(float))
        penalty = least_surprised(cells[learn], label[learn], 2)
        said = linear_probabilities(cells[learn], label[learn], cells[ask], 2, penalty)
        found.append(gains(said, known[ask], label[ask]))
    assert of_records.gains(many)[0] == pytest.approx(np.concatenate(found), abs=0.02)
