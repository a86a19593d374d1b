"""Who is left out and why: named for the holder, with the true reason and what would help."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from tamis.analyse.lost_words import lost_groups
from tamis.release import Recipe, released
from tamis.require import requirements
from tamis.risk.suppression import Suppression
from tamis.table import Roles, Table


def trimmed(frame, asked, people=None, most=1000):
    roles = Roles(target="ill", sensitive="ill", quasi=("sex", "age"))
    table = Table(pl.DataFrame(frame), roles)
    bound = asked.about(table.quasi, "ill", number=False)
    few = Suppression(most, bound, table.frame, people)
    release = few.trimmed(released(table, ("sex", "age"), "all", Recipe("hand")))
    return release, few


def men_of_eighty(n=225):
    """Every man of 80 and over is well, so that l = 2 takes them all."""
    rows = [("man", "80+", "no")] * n
    rows += [(s, a, i) for s in ("man", "woman") for a in ("60", "70") for i in ("no", "yes") * 50]
    rows += [("woman", "80+", i) for i in ("no", "yes") * 50]
    rows += [("woman", "20", "yes")] * 3
    return dict(zip(("sex", "age", "ill"), map(list, zip(*rows))))


def test_groups_are_named_with_their_size_and_the_true_reason():
    release, few = trimmed(men_of_eighty(), requirements(k=5, l=2))
    found = lost_groups(release, few)
    assert found is not None
    assert [(g.values, g.people, g.reason) for g in found.groups] == [
        ({"sex": "man", "age": "80+"}, 225, "l"),
        ({"sex": "woman", "age": "20"}, 3, "k"),
    ]


def test_a_value_that_goes_altogether_is_named_with_what_would_save_it():
    release, few = trimmed(men_of_eighty(), requirements(k=5, l=2))
    found = lost_groups(release, few)
    assert found is not None
    (value,) = found.values  # no man of 80 is left, but women of 80 are; nobody of 20 is
    assert (value.column, value.value, value.people) == ("age", "20", 3)
    assert value.reasons == ("k",)
    assert value.saved_without == ("age",)
    rows = men_of_eighty()
    alone = [
        i for i, (s, a) in enumerate(zip(rows["sex"], rows["age"])) if (s, a) != ("woman", "80+")
    ]
    fewer = {name: [cells[i] for i in alone] for name, cells in rows.items()}
    lost = lost_groups(*trimmed(fewer, requirements(k=5, l=2)))
    assert lost is not None
    first = lost.values[0]
    assert (first.value, first.people, first.reasons) == ("80+", 225, ("l",))
    assert first.saved_without == ("age",)


def test_nobody_left_out_is_nothing_to_tell():
    release, few = trimmed(men_of_eighty(), requirements(k=3))
    assert lost_groups(release, few) is None


@pytest.mark.parametrize("seed", range(12))
def test_reasons_and_sizes_by_brute_force(seed):
    rng = np.random.default_rng(seed)
    n = 150
    frame = {
        "sex": rng.choice(["m", "w"], n).tolist(),
        "age": rng.choice(list("abcdefgh"), n).tolist(),
        "ill": rng.choice(["no", "yes"], n, p=[0.85, 0.15]).tolist(),
    }
    release, few = trimmed(frame, requirements(k=8, l=2))
    found = lost_groups(release, few)
    expected = {}
    rows = list(zip(frame["sex"], frame["age"], frame["ill"]))
    for who in {(s, a) for s, a, _ in rows}:
        secrets = [i for s, a, i in rows if (s, a) == who]
        reason = "k" if len(secrets) < 8 else "l" if len(set(secrets)) < 2 else ""
        if reason:
            expected[who] = (len(secrets), reason)
    if not expected or len(expected) == len({(s, a) for s, a, _ in rows}):
        assert found is None or len(found.groups) == len(expected)
        return
    assert found is not None
    assert {
        (g.values["sex"], g.values["age"]): (g.people, g.reason) for g in found.groups
    } == expected
    left = {a for (s, a, _), keep in zip(rows, release.mask) if keep}
    assert {v.value for v in found.values if v.column == "age"} == set(frame["age"]) - left


def covered(group, rows):
    """The classes among the rows that a group names, by its words."""
    sex, age = group.values.get("sex"), group.values.get("age")

    def is_inside(value):
        if age is None:
            return True
        if age.endswith((" and over", " and under")):
            end = int(age.split()[0])
            return value >= end if age.endswith("over") else value <= end
        first, _, last = age.partition(" to ")
        return int(first) <= value <= int(last or first)

    return {(s, a) for s, a, _ in rows if s == sex and is_inside(a)}


def test_single_years_that_go_for_one_reason_are_one_range_with_what_would_save_it():
    rows = [("man", age, "no") for age in range(80, 95) for _ in range(15)]
    rows += [
        (s, a, i)
        for s, ages in (("man", range(60, 80)), ("woman", range(60, 95)))
        for a in ages
        for i in ("no", "yes") * 5
    ]
    frame = dict(zip(("sex", "age", "ill"), map(list, zip(*rows))))
    found = lost_groups(*trimmed(frame, requirements(k=5, l=2)))
    assert found is not None
    (group,) = found.groups
    assert (group.values, group.people) == ({"sex": "man", "age": "80 and over"}, 225)
    assert (group.reason, group.range_of) == ("l", "age")
    assert group.saved_without == ("sex", "age")


@pytest.mark.parametrize("seed", range(12))
def test_ranges_name_all_who_go_and_nobody_else_by_brute_force(seed):
    rng = np.random.default_rng(seed)
    n = 220
    frame = {
        "sex": rng.choice(["m", "w"], n).tolist(),
        "age": rng.integers(20, 34, n).tolist(),
        "ill": rng.choice(["no", "yes"], n, p=[0.8, 0.2]).tolist(),
    }
    found = lost_groups(*trimmed(frame, requirements(k=7, l=2)))
    assert found is not None
    rows = list(zip(frame["sex"], frame["age"], frame["ill"]))
    expected = {}
    for who in {(s, a) for s, a, _ in rows}:
        secrets = [i for s, a, i in rows if (s, a) == who]
        if reason := "k" if len(secrets) < 7 else "l" if len(set(secrets)) < 2 else "":
            expected[who] = (len(secrets), reason)
    named = [covered(group, rows) for group in found.groups]
    assert sum(map(len, named)) == len(set().union(*named)) == len(expected)
    for group, classes in zip(found.groups, named):
        assert {expected[each][1] for each in classes} == {group.reason}
        assert sum(expected[each][0] for each in classes) == group.people
        assert bool(group.range_of) == (len(classes) > 1)
    # No two ranges of a reason have nothing between them.
    runs = sorted(
        (g.values["sex"], min(a for _, a in c), g.reason) for g, c in zip(found.groups, named)
    )
    stays = {(s, a) for s, a, _ in rows} - expected.keys()
    for (sex, low, reason), (other, high, next_reason) in pairwise(runs):
        if (sex, reason) == (other, next_reason):
            between = {(s, a) for s, a in {*stays, *expected} if s == sex and low < a < high}
            assert any(each in stays or expected[each][1] != reason for each in between)
