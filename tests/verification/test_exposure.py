"""Who stands alone: by the definition, by the code that analyses, by the code that verifies."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Roles, Table
from tamis.analyse.crowds import (
    _alike,
    _counted,
    _known,
)
from tamis.errors import CannotMeet
from tamis.people import People
from tamis.release import Recipe, Release
from tamis.release_counts import shown_alike, shown_from
from tamis.require.k import ContainmentAnonymity, KAnonymity
from tamis.verification import checks
from tamis.verification.checks import (
    Counts,
    _shown,
    _wrong_people,
    _wrong_words,
    count_alone,
    recounted,
)
from tamis.verification.claims import (
    exposure_words,
    not_promised,
    not_promised_of_drawn,
    possible_not_promised,
    unique_words,
)

VALUES: dict[str, list[Any]] = {"equal": ["a", "b", None], "containment": [0, 1]}
PROMISED = {"equal": KAnonymity, "containment": ContainmentAnonymity}


def releases(kind: str) -> Any:
    row = st.tuples(*[st.sampled_from(VALUES[kind])] * 3, st.sampled_from(["yes", "no"]))
    rows = st.lists(st.tuples(row, st.integers(0, 4)), min_size=1, max_size=12)
    return st.tuples(rows, st.integers(1 if kind == "containment" else 0, 3))


def made(rows: Any, width: int, kind: str) -> tuple[Release, np.ndarray[Any, Any]]:
    names = ["x", "^y.*$", "equals", "label"]
    columns = list(zip(*(row for row, _ in rows)))
    types = [pl.String if kind == "equal" else pl.Int64] * 3 + [pl.String]
    frame = pl.DataFrame([pl.Series(n, c, dtype=t) for n, c, t in zip(names, columns, types)])
    promise = PROMISED[kind](1, columns=tuple(names[:width]))
    table = Table(frame, Roles(target="label"))
    return Release("made", table, Recipe("hand"), (promise,)), np.array([who for _, who in rows])


def crowd(rows: list[Any], at: int, columns: range, kind: str) -> list[int]:
    """Who looks like a row in some columns, or has all that it has."""
    mine = rows[at][0]
    if kind == "equal":
        return [i for i, (row, _) in enumerate(rows) if all(row[c] == mine[c] for c in columns)]
    return [i for i, (row, _) in enumerate(rows) if all(row[c] >= mine[c] for c in columns)]


def by_definition(rows: Any, width: int, kind: str, in_people: bool) -> dict[str, Any]:
    who = [person for _, person in rows] if in_people else list(range(len(rows)))
    known = [crowd(rows, i, range(width), kind) for i in range(len(rows))]
    whole = [crowd(rows, i, range(4), "equal") for i in range(len(rows))]
    same = [i for i, found in enumerate(known) if len({rows[j][0][3] for j in found}) == 1]

    def smallest(crowds: list[list[int]]) -> dict[str, int]:
        sizes = [len({who[i] for i in found}) for found in crowds]
        alone = {who[i] for i, size in enumerate(sizes) if size == 1}
        return {"k": min(sizes), "unique": len(alone)}

    return {
        "known": smallest(known),
        "everything": smallest(whole),
        "same_target": {
            "groups": len({rows[i][0][:width] for i in same}),
            "of": len({row[:width] for row, _ in rows}),
            "members": len({who[i] for i in same}),
        },
    }


@pytest.mark.parametrize("kind", ["equal", "containment"])
@given(data=st.data())
def test_figures_are_those_of_the_definition(kind: str, data: st.DataObject):
    rows, width = data.draw(releases(kind))
    release, people = made(rows, width, kind)
    whose = People.named(people, len(rows))
    for who in (People.of_rows(len(rows)), whose):
        found: Any = _counted(release, who, "rows", 1)
        expected = by_definition(rows, width, kind, who is whose)
        assert {name: found["known"][name] for name in ("k", "unique")} == expected["known"]
        assert found["everything"] == expected["everything"]
        assert found["same_target"] == expected["same_target"]
    cells = release.table.frame.with_columns(pl.col(pl.Int64).cast(pl.String))
    seen = (cells, list(release.promises[0].columns), kind, "label")
    assert recounted(*seen) == by_definition(rows, width, kind, False)
    assert recounted(*seen, people) == by_definition(rows, width, kind, True)


def content(release: Release, people: Any = None) -> dict[str, Any]:
    """As much of a manifest as is looked at."""
    rows = release.table.rows
    in_rows = _counted(release, People.of_rows(rows), "rows", 3)
    said: Any = in_rows
    if people is not None:
        whose = People.named(people, rows)
        said = {**_counted(release, whose, "people", 3), "rows": in_rows}
    names = [*release.features, release.table.target]
    return {
        "exposure": said,
        "columns": [{"name": n, "role": "target" if n == "label" else "feature"} for n in names],
        "promises": [
            {
                "key": release.promises[0].key,
                "columns": list(release.promises[0].columns),
                "unit": said["unit"],
                "at_least": 3,
            }
        ],
    }


def wrong_exposure(frame: pl.DataFrame, content: dict[str, Any], people: Any = None) -> str:
    def count(columns: list[str], kind: str, in_people: bool) -> Counts:
        return count_alone(frame, columns, kind, "label", people if in_people else None)

    return checks.wrong_exposure(count, content, people is not None)


ROWS = [(("a", "b", "a", "yes"), 0), (("a", "b", "b", "yes"), 0), (("b", "b", "a", "no"), 1)]


def test_what_is_so_is_not_wrong_and_what_is_not_is_named():
    release, people = made(ROWS, 2, "equal")
    frame = release.table.frame
    assert wrong_exposure(frame, content(release)) == ""
    assert wrong_exposure(frame, content(release, people)) == ""
    assert wrong_exposure(frame, content(release, people), people) == ""
    for part, name in (("known", "k"), ("everything", "unique"), ("same_target", "members")):
        for value in (77, None, 1.0, "1"):
            said = content(release)
            said["exposure"][part][name] = value
            assert "the manifest says" in wrong_exposure(frame, said)


def test_a_manifest_cannot_keep_silent_or_count_elsewhere():
    release, people = made(ROWS, 2, "equal")
    frame = release.table.frame
    silent = content(release) | {"exposure": None}
    assert "does not say who is unique" in wrong_exposure(frame, silent)
    assert wrong_exposure(frame, silent | {"budget": {}}) == ""
    elsewhere, _ = made(ROWS, 1, "equal")
    said = content(release) | {"exposure": content(elsewhere)["exposure"]}
    assert "different columns from those of the promise" in wrong_exposure(frame, said)
    said = content(release, people)
    said["exposure"]["known"]["k"] = 9
    assert "larger for people than for rows" in wrong_exposure(frame, said)
    said["exposure"]["known"]["k"] = 0
    assert wrong_exposure(frame, said) == ""
    assert "is None, but the manifest says 0" in wrong_exposure(frame, said, people)
    said = content(release)
    said["exposure"]["known"]["columns"] = ["zip"]
    with pytest.raises(CannotMeet, match="'zip' is listed as known"):
        wrong_exposure(frame, said)


def test_few_people_are_counted_only_where_the_file_tells_them():
    release, people = made(ROWS, 2, "equal")
    found = _counted(release, People.named(people, len(ROWS)), "people", 3)
    assert found["known"]["k"] is None
    assert found["known"]["unique"] is None
    assert found["same_target"] == {"groups": None, "of": 2, "members": None}
    secrets = pl.Series("s", ["u", "v", "u"])
    alike = _alike(_known(release), secrets, People.of_rows(3))
    assert shown_alike(alike, shown_from(3))["members"] is None


def test_few_are_those_from_one_to_below_k():
    same = {"groups": 1, "of": 2, "members": 3}
    counted = {"known": {"k": 1, "unique": 0}, "everything": {"k": 3, "unique": 2}}
    shown = _shown({**counted, "same_target": same}, 3)
    assert shown["known"] == {"k": None, "unique": 0}
    assert shown["everything"] == {"k": 3, "unique": None}
    assert shown["same_target"] == same


def test_people_are_at_most_as_many_as_rows():
    rows = {
        "known": {"columns": ["a"], "k": 4},
        "everything": {"k": 4},
        "same_target": {"members": 4},
        "total": 9,
    }

    def people(total: int = 8, **changes: int) -> dict[str, Any]:
        parts = {"known": "k", "everything": "k", "same_target": "members"}
        figures = {part: {name: changes.get(part, 2)} for part, name in parts.items()}
        return {**figures, "known": {**figures["known"], "columns": ["a"]}, "total": total}

    for part in ("known", "everything", "same_target"):
        for value, right in ((0, True), (1, True), (4, True), (5, False), (-1, False)):
            assert (_wrong_people(people(**{part: value}), rows) == "") == right
    for total, right in ((0, False), (1, True), (8, True), (9, False)):
        assert (_wrong_people(people(total), rows) == "") == right


@pytest.mark.parametrize(
    ("asked", "promised", "right"),
    [(0, 5, False), (1, 5, True), (5, 5, True), (6, 5, False), (True, 5, False), (1, 1, True)],
)
def test_the_k_asked_for_is_from_one_to_what_is_promised(asked: Any, promised: int, right: bool):
    content = {"promises": [{"unit": "rows", "at_least": promised}]}
    assert (_wrong_words({"unit": "rows", "asked": asked}, content) == "") == right


def test_a_missing_label_is_a_label_of_its_own():
    """A crowd of which one has no label does not share the label of the others."""
    rows = pl.DataFrame({"a": [1, 1], "y": pl.Series([None, "no"])})
    for kind in ("containment", "equal"):
        assert recounted(rows, ["a"], kind, "y")["same_target"]["members"] == 0


def figures(unit: str = "rows", **changes: Any) -> Any:
    known = {"columns": ["age"], "kind": "equal", "k": 7, "unique": 0}
    whole = {"k": 3, "unique": 0}
    same = {"groups": 0, "of": 9, "members": 0}
    found = {"unit": unit, "asked": 5, "total": 90, "known": known, "everything": whole}
    return {**found, "same_target": same, **changes}


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (figures(), "every row is like at least 6 other rows."),
        (figures("people"), "everybody is like at least 6 others."),
        (figures(), "In all released columns together, every row is like at least 2 other rows."),
        (figures(everything={"k": 1, "unique": 1}), "1 of 90 rows is like no other (k = 1)."),
        (figures("people", everything={"k": 1, "unique": 20}), "20 of 90 people are like nobody"),
        (figures("people", everything={"k": None, "unique": None}), "1 to 4 of 90 people are like"),
        (figures("people", everything={"k": None, "unique": 0}), "are like fewer than 4 others."),
        (
            figures(same_target={"groups": 1, "of": 9, "members": 7}),
            "1 (7 rows) also shares the same value of ill",
        ),
        (
            figures(),
            "Of the 9 groups alike in what attackers know, none shares the same value of ill",
        ),
        (figures(same_target={"groups": None, "of": 9, "members": None}), "fewer than 5 rows"),
        (
            figures(known={"columns": ["a"], "kind": "containment", "k": 8, "unique": 0}),
            "Whatever a row has among the released columns, at least 8 rows have.",
        ),
    ],
)
def test_figures_have_their_words(found: Any, words: str):
    assert words in "\n".join(exposure_words(found, "ill"))


def test_only_who_is_like_nobody_else_is_in_a_headline():
    assert unique_words(figures()) == ""
    one = figures(everything={"k": 1, "unique": 1})
    assert unique_words(one) == "1 of 90 rows is like no other (k = 1)"


@pytest.mark.parametrize(("compared", "said"), [(1, False), (2, True)])
def test_a_choice_among_several_drawn_tables_is_not_covered(compared: int, said: bool):
    words = " ".join(not_promised_of_drawn(compared, limited=False, unit="row"))
    assert (f"Which of {compared} synthetic tables" in words) == said


def test_what_drawn_rows_do_not_promise_follows_from_the_manifest():
    for compared in (1, 2, 12):
        stated = not_promised_of_drawn(compared, limited=True, unit="person")
        content = {"budget": {"unit": "person"}, "not_promised": stated}
        assert stated in possible_not_promised(content)


def test_where_no_number_of_drawn_tables_is_stated_one_was_made():
    one, two = (not_promised_of_drawn(many, limited=False, unit="person") for many in (1, 2))
    content = {"budget": {"unit": "person"}, "not_promised": one}
    assert one in possible_not_promised(content)
    assert two not in possible_not_promised(content)


@pytest.mark.parametrize(
    ("k", "promised", "said"),
    [(4, 5, True), (5, 5, False), (6, 5, False), (None, 5, True), (None, 1, True)]
    + [(1, None, False), (None, None, True)],
)
def test_who_is_alone_in_all_columns_is_said_below_what_is_promised(
    k: int | None, promised: int | None, said: bool
):
    """A figure that is withheld is below it; where nothing is promised, one is enough."""
    entry = {"key": "k_anonymity", "columns": ["age"], "at_least": promised, "recount": "file"}
    content = {
        "promises": [] if promised is None else [entry],
        "exposure": {"unit": "people", "everything": {"k": k}},
        "method": {"name": "coarsen"},
        "columns": [],
    }
    for words in possible_not_promised(content):
        assert any("In all released columns together" in each for each in words) == said


@pytest.mark.parametrize("stated", [{}, {"absences": 0}, {"absences": None}])
def test_without_absences_whoever_knows_what_is_lacking_is_not_covered(stated: dict[str, Any]):
    entry = {"key": "containment_anonymity", "columns": ["a"], "at_least": 5, **stated}
    words = " ".join(not_promised([entry], alone=False, sensitive_released=False))
    assert "not one who knows what a person lacks" in words
    assert "up to" not in words


def test_where_nothing_known_is_released_no_crowd_is_claimed():
    known = {"columns": [], "kind": "equal", "k": 90, "unique": 0}
    lines = exposure_words(figures(known=known, everything={"k": 1, "unique": 80}), "ill")
    assert lines == [
        "None of the columns that attackers are assumed to know is released.",
        "In all released columns together, 80 of 90 rows are like no other (k = 1).",
    ]
