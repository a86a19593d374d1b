"""What slow learners find, and whom a mean hides; what each column adds."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.errors import InputError
from tamis.evaluate.bits_scorer import BitsScorer
from tamis.evaluate.close_look import (
    CloseLook,
    close_look,
    known_correctly,
    largest_gains,
    largest_group,
    surest,
)
from tamis.evaluate.column_bits import column_bits
from tamis.learn.holdout import HoldOut, column_labels
from tamis.release import Recipe, released
from tamis.table import Table


@given(st.integers(1, 60), st.floats(0.01, 1), st.integers(0, 999))
def test_precision_and_recall_are_counts_among_the_surest(rows, part, seed):
    rng = np.random.default_rng(seed)
    likely, is_so = rng.random(rows), rng.random(rows) < 0.4
    found = surest(likely, is_so, [part])
    if not is_so.any():
        assert found == ()
        return
    first = sorted(range(rows), key=lambda i: -likely[i])[: max(1, round(part * rows))]
    hits = sum(bool(is_so[i]) for i in first)
    assert found[0].precision.value == pytest.approx(hits / len(first))
    assert found[0].recall.value == pytest.approx(hits / is_so.sum())
    assert found[0].precision.low is not None
    assert found[0].precision.low <= found[0].precision.value


def test_who_was_known_before_is_not_told():
    said = np.array([[0.99, 0.01], [0.99, 0.01], [0.01, 0.99], [0.6, 0.4]])
    before = np.array([[0.96, 0.04], [0.5, 0.5], [0.5, 0.5], [0.5, 0.5]])
    # The first was known, the second is told, the third is told wrongly, the fourth hardly.
    assert known_correctly(said, before, np.array([0, 0, 0, 0])).value == 0.25


def test_the_largest_gain_of_a_person_counts():
    gains = np.array([0.5, 3.0, -1.0, 2.0])
    assert largest_gains(gains, most=2).tolist() == [3.0, 2.0]
    assert largest_gains(gains, np.array([9, 4, 4, 4])).tolist() == [3.0, 0.5]


@given(st.integers(2, 5), st.integers(5, 80), st.integers(0, 999))
def test_the_largest_group_is_that_of_all_large_ones(k, rows, seed):
    rng = np.random.default_rng(seed)
    gains, groups = rng.normal(size=rows), rng.integers(0, 12, rows) * 5
    people = rng.integers(0, rows, rows)
    found = largest_group(gains, groups, k, people)
    means = {
        g: gains[groups == g].mean()
        for g in np.unique(groups)
        if len(np.unique(people[groups == g])) >= k
    }
    if not means:
        assert found is None
        return
    assert found is not None
    assert found.number == max(means, key=lambda g: means[g])
    assert found.gain.value == pytest.approx(means[found.number])
    assert found.people == len(np.unique(people[groups == found.number]))


def test_the_interval_widens_with_the_number_of_groups():
    rng = np.random.default_rng(0)
    one = np.concatenate([[2.0, 2.2, 1.8, 2.1], rng.normal(0, 0.1, 400)])
    few = largest_group(one[:8], np.repeat([0, 1], 4), 4)
    many = largest_group(one, np.repeat(np.arange(101), 4), 4)
    assert few is not None
    assert many is not None
    assert few.gain.value == many.gain.value == pytest.approx(2.025)
    halves = [(np.array([g.gain.low, g.gain.high]) - 2.025) for g in (few, many)]
    assert halves[0][0] == pytest.approx(-halves[0][1])
    assert halves[1][1] > halves[0][1] > 0


def test_groups_are_of_two_or_more():
    with pytest.raises(InputError, match="two people or more"):
        largest_group(np.zeros(3), np.zeros(3, dtype=int), 1)


ROWS = 800


@pytest.fixture(scope="module")
def people() -> Table:
    """`told` says the secret of the few who have 1; `hint` the target of everybody, mostly."""
    draw = np.random.default_rng(0)
    target = draw.integers(0, 2, ROWS)
    secret = (draw.random(ROWS) < 0.1).astype(int)
    told = secret * (draw.random(ROWS) < 0.5)
    hint = np.where(draw.random(ROWS) < 0.9, target, 1 - target)
    frame = pl.DataFrame(
        {"told": told, "hint": hint, "copy": hint, "noise": draw.integers(0, 3, ROWS)}
    ).with_columns(pl.Series("y", target), pl.Series("s", secret))
    return Table(frame).with_roles(target="y", sensitive="s", quasi=("told", "noise"))


@pytest.fixture(scope="module")
def measure(people: Table) -> BitsScorer:
    labels = column_labels(people, "y")
    return BitsScorer.of(people, HoldOut.drawn(labels), labels, column_labels(people, "s"))


def look(people: Table, measure: BitsScorer, *features: str) -> CloseLook:
    return close_look(measure, released(people, features, "", Recipe("")), k=5)


def test_the_few_who_are_told_are_found(people, measure):
    found = look(people, measure, "told", "hint").secret
    assert found is not None
    first = found.surest[0]
    assert first.part == 0.01
    assert first.precision.value == 1.0  # whoever has `told` has the secret
    assert found.share.value > 0.8
    assert found.auc is not None
    assert 0.6 < found.auc.value < 0.9
    assert max(found.largest) > 2  # from one in ten to nearly certain
    assert found.group is not None
    assert found.group.people >= 5
    assert found.group.gain.value > 1


def test_what_tells_nothing_is_not_shown_to(people, measure):
    found = look(people, measure, "hint").secret
    assert found is not None
    assert abs(found.share.value) < 0.2
    assert found.known.value == 0
    assert found.group is None  # attackers know nothing that is released


def test_the_target_is_learnt_as_well_as_it_can_be(people, measure):
    found = look(people, measure, "hint").target
    assert found.accuracy.value == pytest.approx(0.9, abs=0.05)
    assert found.share.value == pytest.approx(1.0, abs=0.1)


def test_a_copy_teaches_alone_and_nothing_beyond_what_is_released(people, measure):
    release = released(people, ["hint"], "", Recipe(""))
    found = column_bits(measure, measure.compared([release]), release)
    assert found["copy"].teaches == pytest.approx(1, abs=0.1)
    assert found["copy"].teaches_beyond == pytest.approx(0, abs=0.02)
    assert found["hint"].teaches_beyond == pytest.approx(1, abs=0.1)
    assert found["told"].tells == pytest.approx(1, abs=0.1)
    assert found["told"].tells_beyond == pytest.approx(1, abs=0.1)
    assert found["noise"].teaches < 0.05


def test_many_columns_are_measured_by_one_fit(people, measure, monkeypatch):
    monkeypatch.setattr("tamis.evaluate.column_bits.FITTED", 1)
    release = released(people, ["hint"], "", Recipe(""))
    found = column_bits(measure, measure.compared([release]), release)
    assert found["hint"].teaches > 0.7
    assert found["copy"].teaches_beyond < 0.1
    assert found["told"].tells_beyond > 0.5
