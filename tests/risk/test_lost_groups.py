"""Who is left out and why: named for the holder, with the true reason and what would help."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from tamis.release import Recipe, released
from tamis.require import requirements
from tamis.risk.lost_groups import lost_groups
from tamis.risk.suppression import Suppression
from tamis.table import Roles, Table


def trimmed(frame, asked, people=None, most=1000):
    roles = Roles(target="ill", sensitive="ill", quasi=("sex", "age"))
    table = Table(pl.DataFrame(frame), roles)
    few = Suppression(most, asked, table.frame["ill"], people)
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
    left = {a for (s, a, _), keep in zip(rows, release.kept) if keep}
    assert {v.value for v in found.values if v.column == "age"} == set(frame["age"]) - left
