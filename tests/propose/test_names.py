"""Releases are named by what differs between them, so that each can be told and taken."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from tamis.coarsen.ladder import Ladder
from tamis.propose.problem import differences, form_name, name_once, what_differs
from tamis.release import Coarsening, DrawnRelease, Recipe, released
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
    whole = released(TABLE, features, "birth + icd10 + sex", Recipe("hand"))
    described = {"birth": {"width": [width]}, "icd10": {"keep": [keep]}}
    frame = whole.table.frame
    for name, how in described.items():
        if name in features:
            cells = Ladder.from_dict(name, how).apply(frame[name], 1)
            frame = frame.with_columns(cells.alias(name))
    forms = {n: Coarsening(how, 1) for n, how in described.items() if n in features}
    return replace(whole, table=replace(whole.table, frame=frame), forms=forms)


def yes_no(*items: str):
    """A release of yes/no columns that were made of others."""
    frame = pl.DataFrame(dict.fromkeys(items, [0, 1] * 100)).with_columns(FRAME["ill"])
    made = released(Table(frame, Roles(target="ill")), items, "by containment", Recipe("hand"))
    return replace(made, sources={item: item.split()[0] for item in items})


def test_a_release_is_named_by_the_form_of_each_column():
    assert form_name(coarse(5, 1)) == "birth (8 bands) + icd10 (8 groups) + sex"


def test_names_say_what_differs_and_no_two_are_the_same():
    found = [each.name for each in name_once([coarse(5, 1), coarse(10, 1), coarse(5, 1)])]
    base = "birth + icd10 + sex"
    assert found[1] == f"{base} (birth: 4 bands)"
    assert len(set(found)) == 3


def test_as_many_bands_with_other_ends_are_told_apart_by_a_value():
    releases = []
    for cut in (1960, 1970):
        ladder = {"cuts": [cut]}
        cells = Ladder.from_dict("birth", ladder).apply(FRAME["birth"], 1)
        whole = released(TABLE, ["birth"], "birth (2 bands)", Recipe("hand"))
        frame = whole.table.frame.with_columns(cells)
        forms = {"birth": Coarsening(ladder, 1)}
        releases.append(replace(whole, table=replace(whole.table, frame=frame), forms=forms))
    names = [each.name for each in name_once(releases)]
    assert names == ["birth (2 bands) (birth: < 1960, ...)", "birth (2 bands) (birth: < 1970, ...)"]


def test_groups_of_one_name_are_told_apart_by_their_rows():
    """Which values are with the commonest one may be all that differs; each of three has a name."""
    releases = []
    for members in (["A", "B"], ["A", "C", "D"], ["A", "E", "F", "G"]):
        ladder = {"groups": {"A and others": members}, "unlisted": "rest"}
        letters = FRAME["icd10"].str.head(1)
        cells = pl.when(letters.is_in(members)).then(pl.lit("A and others")).otherwise(
            pl.lit("rest")
        )  # fmt: skip
        whole = released(TABLE, ["icd10"], "icd10 (2 groups)", Recipe("hand"))
        frame = whole.table.frame.with_columns(icd10=FRAME.select(cells).to_series())
        forms = {"icd10": Coarsening(ladder, 1)}
        releases.append(replace(whole, table=replace(whole.table, frame=frame), forms=forms))
    names = [each.name for each in name_once(releases)]
    assert names == [
        f"icd10 (2 groups) (icd10: A and others in {rows} rows)" for rows in (50, 75, 100)
    ]


def test_a_name_that_only_one_has_stays():
    assert [each.name for each in name_once([coarse(5, 1)])] == [coarse(5, 1).name]


def test_what_all_have_alike_is_not_named():
    one, two = coarse(5, 1), coarse(10, 1, ("birth", "icd10"))
    assert what_differs(one, [two]) == ["birth: 8 bands", "sex: as it is"]
    assert what_differs(two, [one]) == ["birth: 4 bands", "without sex"]
    named = list(name_once([one, two]))
    assert set(differences(named)) == {each.name for each in named}


def test_columns_of_synthetic_rows_are_drawn_and_none_is_as_it_is():
    plain = released(TABLE, ("birth", "sex"), "birth + sex", Recipe("hand"))
    drawn = DrawnRelease(**plain._parts(), unaltered=plain.table, evaluation_sample=plain.table)
    assert what_differs(drawn, [plain]) == ["birth: drawn", "sex: drawn"]
    assert what_differs(plain, [drawn]) == ["birth: as it is", "sex: as it is"]


def test_yes_no_columns_are_counted_with_the_column_they_were_made_of():
    """Nobody reads a list of every value that another release has or lacks."""
    items = yes_no("birth <= 1960", "birth > 1960", "sex = m")
    whole = coarse(5, 1)
    assert what_differs(items, [whole]) == [
        "birth: 2 yes/no columns",
        "sex: 1 yes/no column",
        "without icd10",
    ]
    assert what_differs(whole, [items]) == [
        "birth: 8 bands",
        "icd10: 8 groups",
        "sex: as it is",
    ]
