"""Releases are named by what differs between them, so that each can be told and taken."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from tamis.coarsen.ladder import Ladder
from tamis.propose.names import differences, name_once, what_differs
from tamis.release import Coarsening, Recipe, released
from tamis.table import Roles, Table

FRAME = pl.DataFrame(
    {
        "birth": [1950 + i % 40 for i in range(200)],
        "icd10": [f"{'ABCDEFGH'[i % 8]}{i % 5}" for i in range(200)],
        "sex": ["m", "w"] * 100,
        "ill": [i % 2 for i in range(200)],
    }
)
TABLE = Table(FRAME, Roles(target="ill"))


def coarse(width: int, keep: int, features=("birth", "icd10", "sex")):
    """A release with two columns in coarser forms, named as all such are."""
    whole = released(TABLE, features, "birth (coarser) + icd10 (coarser) + sex", Recipe("hand"))
    described = {"birth": {"width": [width]}, "icd10": {"keep": [keep]}}
    frame = whole.table.frame
    for name, how in described.items():
        if name in features:
            cells = Ladder.from_dict(name, how).apply(frame[name], 1)
            frame = frame.with_columns(cells.alias(name))
    forms = {n: Coarsening(how, 1) for n, how in described.items() if n in features}
    return replace(whole, table=replace(whole.table, frame=frame), forms=forms)


def test_names_say_what_differs_and_no_two_are_the_same():
    found = [each.name for each in name_once([coarse(5, 1), coarse(10, 1), coarse(5, 1)])]
    base = "birth (coarser) + icd10 (coarser) + sex"
    assert found[:2] == [f"{base} (birth: 8 bands)", f"{base} (birth: 4 bands)"]
    assert len(set(found)) == 3


def test_a_name_that_only_one_has_stays():
    assert [each.name for each in name_once([coarse(5, 1)])] == [coarse(5, 1).name]


def test_what_all_have_alike_is_not_named():
    one, two = coarse(5, 1), coarse(10, 1, ("birth", "icd10"))
    assert what_differs(one, [two]) == ["birth: 8 bands", "sex: as it is"]
    assert what_differs(two, [one]) == ["birth: 4 bands", "sex: held back"]
    named = list(name_once([one, two]))
    assert set(differences(named)) == {each.name for each in named}
