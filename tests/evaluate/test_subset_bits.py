"""Rows to learn from, to choose by and to report on; sets of columns scored on rows unseen."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.errors import InputError
from tamis.evaluate.bits import gains
from tamis.evaluate.parts import CHOOSE, FOLDED, FOLDS, LEARN, REPORT, Parts
from tamis.evaluate.subset_bits import SubsetBits
from tamis.learn.boosting import shares, shares_given
from tamis.learn.holdout import HoldOut
from tests.long import LONG


@given(st.integers(20, 300), st.integers(1, 5), st.integers(0, 999))
def test_every_row_is_in_one_part(rows, classes, seed):
    strata = np.random.default_rng(seed).integers(0, classes, rows)
    parts = Parts.drawn(strata, random_state=seed)
    together = np.concatenate([parts.learn, parts.choose, parts.report])
    assert sorted(together) == list(range(rows))
    assert abs(len(parts.learn) - rows / 2) <= classes + 2
    again = Parts.drawn(strata, random_state=seed)
    assert np.array_equal(again.report, parts.report)


@given(st.integers(0, 999))
def test_rare_strata_are_dealt_evenly(seed):
    strata = np.repeat([0, 1], [400, 40])
    parts = Parts.drawn(strata, random_state=seed)
    for rows, share in ((parts.learn, 0.5), (parts.choose, 0.25), (parts.report, 0.25)):
        assert abs((strata[rows] == 1).sum() - 40 * share) <= 1


@given(st.integers(8, 60), st.integers(0, 999))
def test_nobody_is_on_two_sides(people, seed):
    rng = np.random.default_rng(seed)
    whose = rng.permutation(
        np.concatenate([np.arange(people), rng.integers(0, people, 3 * people)])
    )
    strata = rng.integers(0, 2, len(whose))
    parts = Parts.drawn(strata, whose * 7, random_state=seed)
    sides = [set(whose[rows]) for rows in (parts.learn, parts.choose, parts.report)]
    assert sum(map(len, sides)) == len(set.union(*sides)) == people
    for learn, ask in parts.rounds:
        assert not set(whose[learn]) & set(whose[ask])


def test_few_rows_learn_and_choose_in_turn():
    parts = Parts.drawn(np.arange(1000) % 3)
    assert len(parts.rounds) == 5
    assert sorted(parts.asked) == sorted(parts.search)
    assert not set(parts.asked) & set(parts.report)
    for learn, ask in parts.rounds:
        assert sorted(np.concatenate([learn, ask])) == sorted(parts.search)


def test_many_rows_learn_once_and_are_sampled():
    parts = Parts.drawn(np.zeros(40_000, dtype=int))
    sizes = [len(parts.learn), len(parts.choose), len(parts.report)]
    assert sizes == pytest.approx([LEARN, CHOOSE, REPORT], abs=1)
    ((learn, ask),) = parts.rounds
    assert np.array_equal(learn, parts.learn)
    assert np.array_equal(ask, parts.choose)
    between = Parts.drawn(np.zeros(2 * FOLDED, dtype=int))
    assert len(between.rounds) == 1


@given(st.integers(2, 7), st.integers(0, 100), st.integers(1, 4))
@settings(max_examples=60 if LONG else 12, deadline=None)
def test_a_choice_asks_about_every_row_of_a_search_by_what_others_taught(times, seed, rows_each):
    """However the rows are shared out; a person is asked about by what no row of theirs taught."""
    rng = np.random.default_rng(seed)
    people = np.repeat(np.arange(4_800 // rows_each), rows_each)
    whole = np.floor(rng.permutation(people.max() + 1)[people] * (times + 2) / (people.max() + 1))
    seen, choosing, reporting = whole < times, whole == times, whole > times
    split = HoldOut(seen.nonzero()[0], choosing.nonzero()[0], reporting.nonzero()[0])
    found = Parts.of(split, rng.integers(0, 3, len(people)), people)
    assert len(found.rounds) == 1
    assert sorted(found.choosing.asked) == sorted(found.search)
    assert np.array_equal(found.choosing.asked[: len(found.choose)], found.choose)
    assert not found.choosing.more
    assert len(found.choosing.rounds) <= FOLDS
    for learn, ask in found.choosing.rounds:
        assert sorted(np.concatenate([learn, ask])) == sorted(found.search)
        assert not set(people[learn]) & set(people[ask])


def test_a_search_scores_as_the_first_round_of_a_choice(made):
    frame, target, secret = made
    parts = Parts.drawn(target, random_state=3)
    choosing = SubsetBits.of(frame, target, secret, parts=parts.choosing)
    searching = choosing.searching(parts)
    asked = len(parts.asked)
    for some, every in zip(searching.gains((0, 2)), choosing.gains((0, 2))):
        assert some is not None
        assert every is not None
        assert len(some) == asked < len(every) == len(parts.search)
        np.testing.assert_array_equal(some, every[:asked])
    few = Parts.drawn(target[:900], random_state=3)
    small = SubsetBits.of(frame[:900], target[:900], parts=few.choosing)
    assert small.searching(few) is small


def test_other_seeds_draw_other_rows():
    strata = np.zeros(100, dtype=int)
    one, other = (Parts.drawn(strata, random_state=seed).learn for seed in (0, 1))
    assert not np.array_equal(one, other)


def test_too_few_rows_or_people_are_refused():
    with pytest.raises(InputError, match="four rows or more"):
        Parts.drawn(np.zeros(3, dtype=int))
    with pytest.raises(InputError, match="belong to one person"):
        Parts.drawn(np.zeros(50, dtype=int), np.zeros(50, dtype=int))


@pytest.fixture(scope="module")
def made():
    """The target from a and b, the secret from c and the target, d is noise."""
    rng = np.random.default_rng(0)
    a, b, c, d = rng.integers(0, 4, (4, 6000))
    target = (a + b + rng.integers(0, 3, 6000) > 4).astype(int)
    secret = (target + (c > 1) + rng.integers(0, 2, 6000)) // 2
    frame = pl.DataFrame({"a": a, "b": b, "c": c.astype(str), "d": d})
    return frame, target, secret


@pytest.fixture(scope="module")
def bits(made):
    frame, target, secret = made
    return SubsetBits.of(frame, target, secret)


def test_no_columns_gain_nothing(bits):
    assert bits.score(()) == (0.0, 0.0)
    assert not bits.gains(())[0].any()


def test_columns_gain_about_what_they_bear_on(bits):
    assert bits.score((0,))[0] > 0.1
    assert bits.score((0, 1))[0] > bits.score((0,))[0] + 0.1
    assert bits.score((2,))[1] > 0.2
    assert bits.score((2,))[0] == pytest.approx(0, abs=0.01)
    assert bits.score((3,)) == pytest.approx((0, 0), abs=0.01)


def test_what_the_target_tells_is_not_charged_to_columns(bits, made):
    _, target, secret = made
    assert abs(np.corrcoef(target, secret)[0, 1]) > 0.3
    assert bits.score((0, 1))[1] == pytest.approx(0, abs=0.01)


def test_gains_are_those_of_the_boosting_against_what_was_known(bits, made):
    _, target, secret = made
    ((learn, ask),) = bits.parts.rounds
    p = bits.boosting.probabilities(bits.table, target, learn, ask, columns=[0, 2])
    base = np.tile(shares(target[learn], 2), (len(ask), 1))
    np.testing.assert_allclose(bits.gains((2, 0))[0], gains(p, base, target[ask]), rtol=1e-4)
    known = shares_given(secret, target, learn, 2)
    p = bits.boosting.probabilities(bits.table, secret, learn, ask, columns=[0, 2, 4], start=known)
    np.testing.assert_allclose(
        bits.gains((0, 2))[1], gains(p, known[ask], secret[ask]), rtol=1e-4, atol=1e-6
    )


def test_a_set_is_fitted_once(made, monkeypatch):
    frame, target, secret = made
    bits = SubsetBits.of(frame.head(500), target[:500], secret[:500])
    first = bits.gains((1, 0))
    monkeypatch.setattr(type(bits), "_said", None)
    assert bits.gains((0, 1))[0] is first[0]


def test_rows_to_report_on_change_nothing(made):
    frame, target, secret = made
    parts = Parts.drawn(target * 2 + secret)
    other = target.copy()
    other[parts.report] = 1 - other[parts.report]
    one, two = (SubsetBits.of(frame, y, secret, parts=parts) for y in (target, other))
    np.testing.assert_array_equal(one.gains((0, 1))[0], two.gains((0, 1))[0])


def test_promises_rank_what_is_worth_a_fit(bits):
    teaches, tells = bits.expected(())
    assert set(np.argsort(-teaches)[:2]) == {0, 1}
    assert tells.argmax() == 2
    assert bits.expected((0, 1))[0][0] == pytest.approx(0, abs=0.005)


def test_measured_has_the_sets_asked_for_first_and_all_columns(made):
    frame, target, secret = made
    bits = SubsetBits.of(frame.head(800), target[:800], secret[:800])
    bits.score((1,))
    found = bits.measured([(0,), (0, 2)])
    assert len(found.kept) == 4
    assert found.everything == 2
    assert found.kept[2] == 1
    assert found.useful[0].value == pytest.approx(bits.score((0,))[0])
    assert found.unsure_target == pytest.approx(1, abs=0.05)
    assert found.teaches
    assert found.tells
    assert found.told[0] < 0.2 < found.told[1]


def test_five_folds_ask_about_every_row_of_the_search(made):
    frame, target, secret = made
    bits = SubsetBits.of(frame.head(800), target[:800], secret[:800])
    assert len(bits.gains((0,))[0]) == len(bits.parts.search)


def test_people_count_once(made):
    frame, target, secret = made
    twice = pl.concat([frame.head(300)] * 2)
    people = np.tile(np.arange(300), 2)
    bits = SubsetBits.of(twice, np.tile(target[:300], 2), np.tile(secret[:300], 2), people=people)
    plain = SubsetBits.of(frame.head(300), target[:300], secret[:300])
    error = bits.measured([(0,)]).useful[0].error
    assert error == pytest.approx(plain.measured([(0,)]).useful[0].error, rel=0.4)
    for learn, ask in bits.parts.rounds:
        assert not set(people[learn]) & set(people[ask])


def test_without_a_secret_nothing_is_told(made):
    frame, target, _ = made
    bits = SubsetBits.of(frame.head(400), target[:400])
    assert bits.score((0, 1))[1] == 0
    assert not bits.measured([(0,)]).tells


def test_many_classes_are_no_trouble(made):
    frame, target, _ = made
    rng = np.random.default_rng(0)
    secret = (frame["c"].cast(pl.Int64).to_numpy() * 10 + rng.integers(0, 10, 6000))[:3000]
    bits = SubsetBits.of(frame.head(3000), target[:3000], secret)
    assert bits.score((2,))[1] > 1
    assert bits.score((3,))[1] == pytest.approx(0, abs=0.1)


def test_a_target_of_one_class_is_refused(made):
    frame, target, _ = made
    with pytest.raises(InputError, match="one class only"):
        SubsetBits.of(frame, target * 0)
