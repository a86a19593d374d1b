"""One rounding and one check for what is asked of people alike, at every door.

Each door says whether two groups may leave as they are. Bounds are what the worse group reaches, as
a fraction that is rounded once; doors add up their shares in other orders.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import chain
from math import log
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tamis import Coarsener, Settings
from tamis.coarsen import kernels
from tamis.coarsen.classes import coded_rows, grouped_at
from tamis.coarsen.kernels import may_be_class
from tamis.coarsen.ladder import Hierarchy
from tamis.coarsen.local import Labelled, PartBounds
from tamis.coding import Coded
from tamis.errors import InputError
from tamis.figures import ROUNDING, exceeds, falls_short, reaches
from tamis.require import requirements
from tamis.require.base import Requirements
from tamis.require.diversity import AlphaShare, Closeness, Diversity
from tamis.require.k import KAnonymity, MaxRisk
from tamis.risk.suppression import breaking_classes
from tamis.stated import short_of_asked
from tamis.verification.secret_groups import measured_entry, numbered_secrets
from tests.require.plain import counts_of

Groups = list[list[int]]
"""The sensitive values of each group, as numbers from 0 without gaps."""
STEP = 1e-6
"""Clearly beyond rounding."""


def secrets_of(groups: Groups) -> list[int]:
    return list(chain.from_iterable(groups))


def group_of(groups: Groups) -> np.ndarray:
    return np.repeat(np.arange(len(groups)), [len(group) for group in groups])


def as_texts(groups: Groups) -> pl.Series:
    return pl.Series([f"v{value}" for value in secrets_of(groups)])


def by_release(groups: Groups, asked: dict[str, Any]) -> bool:
    classes = Coded(group_of(groups), len(groups))
    return Settings(k=1, **asked).requirements.met(counts_of(classes, as_texts(groups)))


def by_leaving_out(groups: Groups, asked: dict[str, Any]) -> bool:
    classes = Coded(group_of(groups), len(groups))
    required = Settings(k=1, **asked).requirements.about((), "ill", number=False)
    breaks = breaking_classes(classes, required, {"ill": as_texts(groups)})
    return not breaks(np.arange(len(classes.codes))).any()


def by_levels(groups: Groups, asked: dict[str, Any]) -> bool:
    job = Hierarchy((np.arange(len(groups)), np.zeros(len(groups), np.int64)))
    rows = coded_rows([group_of(groups)], [job], values=np.array(secrets_of(groups)))
    return grouped_at(rows, (0,), requirements(1, **asked)).rows_suppressed == 0


def by_local_classes(groups: Groups, asked: dict[str, Any]) -> bool:
    values, none = np.array(secrets_of(groups)), np.zeros(0, np.int64)
    usual = np.bincount(values) / len(values)
    about = Labelled(none, values, none, usual, none)
    bounds = PartBounds.of(requirements(1, **asked), missing=False)
    seen = np.zeros(len(values), np.int8)
    parts = [np.flatnonzero(group_of(groups) == group) for group in range(len(groups))]
    return all(may_be_class(part, about, bounds, seen) for part in parts)


def by_verify(groups: Groups, asked: dict[str, Any]) -> bool:
    settings, frame = Settings(k=1, **asked), pl.DataFrame({"job": group_of(groups)})
    required = settings.requirements.about(["job"], "ill", number=False)
    entries = [*required.of_risks.to_dicts("people"), *required.about_secrets.to_dicts("people")]
    secrets = numbered_secrets(as_texts(groups))
    return not any(short_of_asked(e, measured_entry(e, frame, secrets)) for e in entries)


DOORS = [by_release, by_leaving_out, by_levels, by_local_classes, by_verify]


def shares(values: list[int], distinct: int) -> list[Fraction]:
    counts = Counter(values)
    return [Fraction(counts[value], len(values)) for value in range(distinct)]


def reached(groups: Groups) -> dict[str, float]:
    """What the worse group reaches of what is bounded, by definition and rounded once."""
    distinct = max(secrets_of(groups)) + 1
    usual = shares(secrets_of(groups), distinct)
    mine = [shares(group, distinct) for group in groups]
    pairs = [list(zip(group, usual)) for group in mine]
    found = {
        "t": float(max(sum(abs(q - p) for q, p in group) / 2 for group in pairs)),
        "alpha": float(max(max(group) for group in mine)),
        "beta": float(max((q - p) / p for group in pairs for q, p in group)),
    }
    if distinct > 1 and all(q for group in mine for q in group):
        ratios = [q / p for group in pairs for q, p in group]
        found["delta_disclosure"] = max(abs(log(ratio)) for ratio in ratios)
        falling = [sorted(group, reverse=True) for group in mine]
        found["c"] = float(max(group[0] / sum(group[1:]) for group in falling))
    return {name: bound for name, bound in found.items() if bound > 0}


@st.composite
def two_groups(draw: st.DrawFn) -> Groups:
    values = st.lists(st.integers(0, 3), min_size=2, max_size=12)
    found = [draw(values), draw(values)]
    known = sorted(set(secrets_of(found)))
    return [[known.index(value) for value in group] for group in found]


STRICT = ("c", "delta_disclosure")
TEN: Groups = [[0, 1, 1, 1, 1], [0, 0, 0, 0, 1]]


def answers(groups: Groups, name: str, bound: float) -> set[bool]:
    more = {"l": 2, "l_kind": "recursive"} if name == "c" else {}
    return {bool(door(groups, {name: bound, **more})) for door in DOORS}


@given(two_groups())
@example(TEN)
def test_every_door_takes_what_equals_its_bound_and_refuses_what_must_stay_below(groups):
    for name, bound in reached(groups).items():
        assert answers(groups, name, bound) == {name not in STRICT}, name
        if bound + STEP <= 1 or name not in ("t", "alpha"):
            assert answers(groups, name, bound + STEP) == {True}, name
        if bound > STEP:
            assert answers(groups, name, bound - STEP) == {False}, name


@pytest.mark.parametrize("least", [2, 3, 5, 7])
def test_every_door_takes_as_many_effective_values_as_are_asked_for(least):
    groups = [list(range(least)) * 3, list(range(least)) * 5]
    for kind in ("entropy", "distinct"):
        asked: dict[str, Any] = {"l": least, "l_kind": kind}
        assert {bool(door(groups, asked)) for door in DOORS} == {True}
        assert {bool(door(groups, {**asked, "l": least + 1})) for door in DOORS} == {False}


@pytest.mark.parametrize("sizes", [(3, 3), (7, 3), (11, 13)])
def test_every_door_takes_an_average_risk_that_equals_its_bound(sizes):
    groups = [[0] * size for size in sizes]
    doors = [by_release, by_levels, by_verify]  # others judge single groups
    mean = float(Fraction(len(sizes), sum(sizes)))
    for most, taken in ((mean, True), (mean + STEP, True), (mean - STEP, False)):
        assert {bool(door(groups, {"max_average_risk": most})) for door in doors} == {taken}


@pytest.mark.parametrize("size", [3, 7, 49])
def test_a_risk_that_equals_its_bound_is_taken(size):
    groups, most = [[0] * size, [0] * size], 1 / size
    for door in (by_release, by_leaving_out, by_levels, by_local_classes, by_verify):
        assert door(groups, {"max_risk": most})
        assert not door(groups, {"max_risk": most - STEP})


def test_what_is_no_number_keeps_nothing():
    nan = float("nan")
    assert exceeds(nan, 1.0)
    assert falls_short(nan, 1.0)
    assert reaches(nan, 1.0)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"l": 1}, "l must be a whole number of at least 2, since every group has one value"),
        ({"l": 0}, "l must be a whole number"),
        ({"l": 2.5}, "l must be a whole number"),
        ({"l": 2, "l_kind": "odd"}, "distinct, entropy, recursive"),
        ({"l": 2, "c": 0.0}, "c must be a number above 0"),
        ({"l": 2, "c": float("inf")}, "c must be a number above 0"),
        ({"t": 1.01}, "t must be a share between 0 and 1"),
        ({"t": float("nan")}, "t must be a share between 0 and 1"),
        ({"alpha": 0.0}, "alpha must be a share above 0"),
        ({"alpha": 1.01}, "alpha must be a share above 0 and up to 1"),
        ({"beta": 0.0}, "beta must be a number above 0"),
        ({"beta": float("inf")}, "beta must be a number above 0"),
        ({"beta": 1.0, "beta_kind": "odd"}, "beta_kind must be"),
        ({"delta_disclosure": 0.0}, "delta_disclosure must be a number above 0"),
        ({"max_risk": 0.0}, "max_risk must be a share above 0"),
        ({"max_average_risk": 1.5}, "max_average_risk must be a share above 0"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_the_same_words_everywhere(asked, words):
    frame = pl.DataFrame({"job": ["cook", "judge"] * 4})
    for ask in (
        lambda: Settings(**asked),
        lambda: Coarsener(2, **asked).fit(frame, sensitive=["a", "b"] * 4),
    ):
        with pytest.raises(InputError, match=words):
            ask()


@pytest.mark.parametrize("asked", [{"t": 0.0}, {"t": 1.0}, {"alpha": 1.0}, {"max_risk": 1.0}])
def test_the_ends_of_a_range_may_be_asked_for_everywhere(asked):
    Settings(**asked)
    requirements(**asked)


def test_kernels_round_as_everything_else():
    assert kernels.ROUNDING == ROUNDING


@pytest.mark.parametrize(("max_risk", "people"), [(1, 1), (0.5, 2), (0.34, 3), (0.09, 12)])
def test_a_chance_is_kept_by_so_many_people(max_risk, people):
    assert MaxRisk(max_risk).fewest_people == people


@pytest.mark.parametrize("odd", [0, -0.1, 1.01, 2, float("nan")])
def test_a_chance_lies_above_0_and_up_to_1(odd):
    with pytest.raises(InputError, match="max_risk must be a share above 0 and up to 1"):
        MaxRisk(odd)


def test_what_is_asked_where_no_number_is_given():
    assert KAnonymity().k == requirements().k == Settings().k == 5
    assert Diversity().l == 2


def test_where_nothing_is_asked_one_person_is_a_group():
    nothing = Requirements(())
    alone = counts_of(Coded(np.array([0, 1, 1]), 2))
    assert (nothing.k, nothing.fewest_people) == (1, 1)
    assert nothing.breaking(alone).tolist() == [False, False]


def test_shares_of_a_secret_need_no_number_of_people_by_themselves():
    share = AlphaShare(0.5)
    assert (share.fewest_people, share.enough_people) == (1, 0)
    assert requirements(k=None, alpha=0.5).fewest_people == 1


def test_records_that_are_not_of_0_and_1_have_no_holders():
    assert counts_of(Coded(np.array([0, 0]), 1)).holders(1, 5) == 0


def by_rank(values: list[int], least: int) -> float:
    """The most common against those ranked `least` on, counted by hand."""
    falling = sorted(Counter(values).values(), reverse=True)
    tail = sum(falling[least - 1 :])
    return falling[0] / tail if tail else float("inf")


@pytest.mark.parametrize("least", [2, 3])
def test_ratios_of_every_group_are_those_of_their_ranks(least):
    groups = [[0, 0, 0, 1, 1, 2], [0, 1, 2, 2, 2, 2], [0, 0], [2, 1, 0, 3]]
    counts = counts_of(Coded(group_of(groups), len(groups)), as_texts(groups))
    found = counts.recursive_ratios(least).tolist()
    assert found == pytest.approx([by_rank(group, least) for group in groups])


def test_rows_that_no_split_saves():
    groups = [[0] * 10, [1] * 4 + [0] * 2, [0, 1, 0, 1]]
    counts = counts_of(Coded(group_of(groups), 3), as_texts(groups))
    figures = np.array([0.5, 0.3, 0.1])
    lost = Closeness(0.25).rows_lost(counts, figures)
    assert np.asarray(lost).tolist() == [4, 1, 0]  # 10 x .25 / .75 and 6 x .05 / .75, rounded up
    assert Closeness(1.0).rows_lost(counts, figures) == 0
    assert Diversity(2).rows_lost(counts, np.array([1.0, 2.0, 2.0])) == 0
    by_entropy = Diversity(2, l_kind="entropy").rows_lost(counts, np.array([1.0, 1.9, 2.0]))
    assert np.asarray(by_entropy).tolist() == [1, 1, 0]
