"""Sets of columns boosted once and scored on rows that they never saw."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from tamis.errors import InputError
from tamis.evaluate.bits import gains
from tamis.evaluate.parts import Parts
from tamis.evaluate.subset_bits import SubsetBits
from tamis.learn.boosting import shares, shares_given


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
    teaches, tells = bits.promises(())
    assert set(np.argsort(-teaches)[:2]) == {0, 1}
    assert tells.argmax() == 2
    assert bits.promises((0, 1))[0][0] == pytest.approx(0, abs=0.005)


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
