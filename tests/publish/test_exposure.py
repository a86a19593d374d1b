"""Who stands alone: by the definition, by the code that publishes, by the code that verifies.

Bins of class sizes tell of nobody or of at least k people, and lose no one.
"""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Roles, Table
from tamis.analyse.attack_shares import _facts, finalist_facts, of_hundred_facts
from tamis.analyse.crowds import (
    _alike,
    _counted,
    _known,
    class_size_bins,
    giveaway_facts,
    size_bins,
)
from tamis.analyse.examination import Examination, examine
from tamis.errors import CannotMeet, InputError
from tamis.publish.checks import recounted, wrong_exposure
from tamis.publish.promises import exposure_words
from tamis.publish.report_parts import finalists, hundred_rows
from tamis.release import Promise, Recipe, Release
from tamis.unique_counts import shown_alike, shown_from
from tests.publish.example_summary import example
from tests.publish.records import Facts, analysis_of, checked, render

VALUES: dict[str, list[Any]] = {"equal": ["a", "b", None], "containment": [0, 1]}
PROMISED = {"equal": "k_anonymity", "containment": "containment_anonymity"}


def releases(kind: str) -> Any:
    row = st.tuples(*[st.sampled_from(VALUES[kind])] * 3, st.sampled_from(["yes", "no"]))
    rows = st.lists(st.tuples(row, st.integers(0, 4)), min_size=1, max_size=12)
    return st.tuples(rows, st.integers(1 if kind == "containment" else 0, 3))


def made(rows: Any, width: int, kind: str) -> tuple[Release, np.ndarray[Any, Any]]:
    names = ["x", "^y.*$", "equals", "label"]
    columns = list(zip(*(row for row, _ in rows)))
    types = [pl.String if kind == "equal" else pl.Int64] * 3 + [pl.String]
    frame = pl.DataFrame([pl.Series(n, c, dtype=t) for n, c, t in zip(names, columns, types)])
    promise = Promise(PROMISED[kind], 1, tuple(names[:width]))  # type: ignore[arg-type]
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
    numbered = np.unique(people, return_inverse=True)[1]
    for who in (None, numbered):
        found: Any = _counted(release, who, "rows", 1)
        expected = by_definition(rows, width, kind, who is not None)
        assert {name: found["known"][name] for name in ("k", "unique")} == expected["known"]
        assert found["everything"] == expected["everything"]
        assert found["same_target"] == expected["same_target"]
    cells = release.table.frame.with_columns(pl.col(pl.Int64).cast(pl.String))
    seen = (cells, list(release.promises[0].columns), kind, "label")
    assert recounted(*seen) == by_definition(rows, width, kind, False)
    assert recounted(*seen, people) == by_definition(rows, width, kind, True)


def content(release: Release, people: Any = None) -> dict[str, Any]:
    """As much of a manifest as is looked at."""
    in_rows = _counted(release, None, "rows", 3)
    said: Any = in_rows
    if people is not None:
        said = {**_counted(release, people, "people", 3), "rows": in_rows}
    names = [*release.features, release.table.target]
    return {
        "exposure": said,
        "columns": [{"name": n, "role": "target" if n == "label" else "feature"} for n in names],
        "promises": [
            {
                "key": release.promises[0].name,
                "columns": list(release.promises[0].columns),
                "unit": said["unit"],
                "at_least": 3,
            }
        ],
    }


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
    found = _counted(release, people, "people", 3)
    assert found["known"]["k"] is None
    assert found["known"]["unique"] is None
    assert found["same_target"] == {"groups": None, "of": 2, "members": None}
    secrets = pl.Series("s", ["u", "v", "u"])
    alike = _alike(_known(release), secrets, None)
    assert shown_alike(alike, shown_from(3))["members"] is None


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


def test_where_nothing_known_is_released_no_crowd_is_claimed():
    known = {"columns": [], "kind": "equal", "k": 90, "unique": 0}
    lines = exposure_words(figures(known=known, everything={"k": 1, "unique": 80}), "ill")
    assert lines == [
        "None of the columns that attackers are assumed to know is released.",
        "In all released columns together, 80 of 90 rows are like no other (k = 1).",
    ]


def sizes_of(groups: list[int]) -> np.ndarray:
    """The class size of each person where the classes have these many members."""
    return np.repeat(groups, groups)


def inside(groups: list[int], low: int, high: int | None) -> int:
    return sum(size for size in groups if low <= size and (high is None or size <= high))


GROUPS = st.lists(st.integers(1, 40), max_size=30)


def found_of(before, after, everything, k):
    sizes = (sizes_of(groups) for groups in (before, after, everything))
    return class_size_bins(*sizes, k=k, kind="equal")


@given(before=GROUPS, after=GROUPS, everything=GROUPS, k=st.integers(1, 12))
def test_no_bin_counts_fewer_than_k_and_nobody_is_lost(before, after, everything, k):
    bins = found_of(before, after, everything, k).bins
    for counts, groups in (
        ([b.before or 0 for b in bins], before),
        ([b.after for b in bins], after),
        ([b.everything for b in bins], everything),
    ):
        assert all(n == 0 or n >= k for n in counts)
        assert counts == [inside(groups, b.low, b.high) for b in bins]
        assert sum(counts) == sum(groups) or not bins


@given(before=GROUPS, other=GROUPS, after=GROUPS, everything=GROUPS, k=st.integers(1, 12))
def test_bins_of_the_release_tell_nothing_of_the_original(before, other, after, everything, k):
    one, two = (found_of(first, after, everything, k) for first in (before, other))
    assert one.bins_released == two.bins_released
    assert all(b.before is None for b in one.bins_released)


@given(before=GROUPS, after=GROUPS, k=st.integers(1, 12))
def test_bins_follow_each_other_without_gaps(before, after, k):
    bins = found_of(before, after, after, k).bins
    for one, following in pairwise(bins):
        assert one.high == following.low - 1
    assert not bins or (bins[0].low == 1 and bins[-1].high is None)


def test_sizes_that_nobody_has_share_a_bin():
    bins = class_size_bins([1] * 9, [1000] * 1000, [1000] * 1000, k=4, kind="equal").bins
    assert [(b.low, b.high) for b in bins] == [(1, 1), (2, 3), (4, 511), (512, None)]


def test_a_release_that_falls_short_of_k_does_not_tell_its_smallest_class():
    assert class_size_bins([5] * 5, [2, 2, 8], [8] * 8, k=5, kind="equal").smallest_after is None
    assert class_size_bins([5] * 5, [7] * 7, [7] * 7, k=5, kind="equal").smallest_after == 7


def test_too_few_people_for_any_bin_give_none():
    assert class_size_bins([2, 2], [2, 2], [2, 2], k=5, kind="containment").bins == ()


FOUND: Facts = {
    "exposed": 40,
    "most": 3,
    "by_size": [{"low": 1, "high": 2, "people": 30}, {"low": 3, "high": 3, "people": 10}],
    "columns": [{"name": "<b>age</b>", "share": 0.8}, {"name": "mass", "share": 0.3}],
    "sets": [{"columns": ["<b>age</b>", "mass"], "people": 12}],
    "worst": ["<b>age</b>"],
}


@given(st.lists(st.integers(0, 9), max_size=7), st.integers(2, 6))
def test_bins_cover_all_sizes_and_hide_small_counts(by_size, k):
    bins = size_bins(by_size, k)
    assert sum(b.people for b in bins) == sum(by_size)
    sizes = [size for b in bins for size in range(b.low, b.high + 1)]
    assert sizes == list(range(1, len(by_size) + 1))
    if sum(by_size) >= k:
        assert all(b.people == 0 or b.people >= k for b in bins)


def test_facts_of_a_release(outcome):
    found = giveaway_facts(outcome)
    assert found is not None
    assert {c.name for c in found.columns} <= set(outcome.table.quasi)
    assert found.worst[0] == found.columns[0].name
    assert all(s.people >= outcome.settings.k for s in found.sets)
    assert sum(b.people for b in found.by_size) == found.exposed


def test_the_holders_page_says_it_and_the_recipients_does_not():
    summary: Facts = {**example(), "giveaways": FOUND}
    page = render(summary)
    assert "What gives people away" in page
    assert "<b>age</b>" not in page
    assert "giveaways" not in render(summary, "recipient")
    assert "What gives people away" not in render(example())


def test_small_counts_are_refused():
    few: Facts = {**FOUND, "sets": [{"columns": ["mass"], "people": 1}]}
    with pytest.raises(InputError, match="gives people away counts fewer"):
        render({**example(), "giveaways": few})


def test_nothing_of_it_is_published(published):
    assert json.loads((published / "private" / "summary.json").read_text())["giveaways"]
    for name in ("manifest.json", "report.html"):
        assert "giveaway" not in (published / name).read_text()


@pytest.fixture(scope="module")
def examined(outcome) -> Examination:
    return examine(outcome)


def test_the_facts_are_what_the_attackers_reach(examined):
    chosen, everything = examined.attacked
    facts = {each.attack: each for each in of_hundred_facts(examined)}
    assert facts["found"].everything == round(everything.found.success.value, 2)
    assert facts["guessed"].released == round(chosen.guessed.success.value, 2)
    assert facts["guessed"].guessing == round(chosen.guessed.guess, 2)


@pytest.mark.parametrize(
    ("share", "people", "shown"),
    [(0.0, 500, 0.0), (0.004, 500, None), (0.0099, 500, None), (0.01, 500, 0.01), (1.0, 5, 1.0)],
)
def test_a_share_of_fewer_than_k_people_is_not_told(share, people, shown):
    facts = _facts("found", (share, share, 0.0), (people, people), k=5)
    assert (facts.released, facts.everything) == (shown, shown)


def test_a_summary_that_tells_of_fewer_than_k_is_refused():
    summary = example()
    summary["of_hundred"][0] |= {"released": 0.01, "people": 100}
    with pytest.raises(InputError, match="of 100 stands for fewer than k"):
        checked(summary)


def test_dots_are_a_hundred_and_the_figure_counts_them():
    facts = _facts("guessed", (0.37, 1.0, 0.0), (500, 500), k=5)
    (row,) = hundred_rows([facts], 5, False)
    assert [(f.on.count("M"), f.off.count("M")) for f in row.fields] == [
        (37, 63),
        (100, 0),
        (0, 100),
    ]
    assert row.fields[0].words == "37 of 100, with this release"
    hidden = hundred_rows([replace(facts, released=None)], 5, False)[0].fields[0]
    assert (hidden.value, hidden.words) == ("<1", "fewer than 1 of 100, with this release")


def test_the_holder_sees_it_and_the_recipient_does_not(published):
    assert 'id="of-hundred"' in (published / "private" / "report.html").read_text()
    assert "of-hundred" not in (published / "report.html").read_text()
    assert "of_hundred" not in (published / "manifest.json").read_text()
    assert json.loads((published / "private" / "summary.json").read_text())["of_hundred"]


def test_without_attacks_there_is_no_such_part():
    assert "of-hundred" not in render({**example(), "of_hundred": []})
    assert "names the true value" in render(example())


def test_a_figure_has_no_more_than_hundredths():
    facts = _facts("found", (0.123456, 0.98765, 0.0003), (500, 500), k=5)
    assert (facts.released, facts.everything, facts.guessing) == (0.12, 0.99, 0.0)


def test_the_releases_that_came_next_are_attacked(examined):
    decision = examined.outcome.decision
    names = [row.release.name for row in decision.runners_up(3)]
    assert list(examined.attacked_finalists) == names
    ends = {decision.chosen.release.name, "everything", "nothing"}
    assert set(names) <= {row.release.name for row in decision.front} - ends
    for facts in finalist_facts(examined):
        attack = examined.attacked_finalists[facts.name]
        assert facts.people == (attack.found.people, attack.guessed.people)
        assert facts.guessed in (None, round(attack.guessed.success.value, 2))


def with_finalist(**changes):
    summary = example()
    name = next(c["name"] for c in summary["candidates"] if not (c["chosen"] or c["baseline"]))
    facts = {"name": name, "found": None, "guessed": 0.74, "people": (200, 100), **changes}
    return name, {**summary, "finalists": [facts]}


def test_the_page_shows_them_below_the_chosen_one():
    name, summary = with_finalist()
    rows = finalists(analysis_of(summary))
    assert [(row.name == name, row.chosen) for row in rows] == [(False, True), (True, False)]
    assert (rows[0].found, rows[0].guessed) == ("<2", "71")
    assert (rows[1].found, rows[1].guessed) == ("<3", "74")
    assert "The releases that came next" in render(summary)
    assert "The releases that came next" not in render(summary, "recipient")
    assert "The releases that came next" not in render(example())


def test_a_finalist_that_nobody_was_tried_on_shows_a_dash():
    _, summary = with_finalist(guessed=None, people=(200, 0))
    assert finalists(analysis_of(summary))[1].guessed == "-"


def test_a_finalist_that_tells_of_fewer_than_k_is_refused():
    _, summary = with_finalist(found=0.01, people=(100, 100))
    with pytest.raises(InputError, match="of 100 stands for fewer than k"):
        checked(summary)
