"""Who is suppressed and why: for the holder only, never published.

A group is suppressed because it is too small (k), or because its sensitive values are too similar
(l, t and the others). Groups that are suppressed for the same reason and differ only in consecutive
numbers are joined into a range: "80 and over" says more than twenty ages. For a range, or a value
that disappears altogether, it is tried what would save it: the same people in groups without one of
the quasi-identifiers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, NamedTuple, Self

import numpy as np
import polars as pl

from tamis.analyse.records import as_plain
from tamis.arrays import Bools, Integers
from tamis.coding import Coded, coded, dense, joined
from tamis.errors import listed_as, plural
from tamis.outcome import Outcome
from tamis.people import People
from tamis.release import Release
from tamis.release_counts import left_out_words, public_words, stated_left_out
from tamis.risk.attackers import count_asked, seen_classes
from tamis.risk.suppression import Suppression

MOST_VALUES = 10
"""Most values that disappear, and most ranges, for which it is tried what would save them."""
MOST_TRIED = 12
"""Most quasi-identifiers to leave out in turn to find what would save a value."""


class LostGroup(NamedTuple):
    """A suppressed equivalence class, or several that form a range."""

    values: dict[str, str]
    people: int
    reason: str
    """The requirement that it breaks; `row`: these people are suppressed for another row."""
    range_of: str = ""
    """The column whose values form a range in which everybody is suppressed."""
    saved_without: tuple[str, ...] = ()
    """Columns without which, or in coarser form, everybody in the range would stay."""


class LostValue(NamedTuple):
    """A value of a released column that disappears, since everybody who has it is suppressed."""

    column: str
    value: str
    people: int
    reasons: tuple[str, ...]
    saved_without: tuple[str, ...]
    """Columns without which, or in coarser form, all of them would stay."""


@dataclass(frozen=True)
class Lost:
    """The suppressed groups, the largest first, and some of the values that disappear."""

    groups: tuple[LostGroup, ...]
    values: tuple[LostValue, ...]
    more_values: int = 0


def lost_groups(release: Release, suppression: Suppression) -> Lost | None:
    """Who is suppressed in a release and why; `None` if nobody is."""
    if not release.is_suppressed or release.by_containment:
        return None
    whole, gone = release.unsuppressed, ~release.mask
    known = [name for name in whole.table.quasi if name in whole.table.frame.columns]
    columns = {name: coded(whole.table.frame[name]) for name in known}
    people = suppression.people
    everybody = dense(seen_classes([*columns.items()], known, len(gone), people))
    reasons = _reasons(columns, known, everybody, suppression)
    frame = whole.table.only(known)
    runs = _fewest_runs(frame, columns, everybody, gone, reasons)
    groups = [_group(frame, run, reasons, everybody, people) for run in runs]
    groups = _with_remedies(groups, runs, columns, suppression)
    vanished = [
        (name, value, n) for name in known for value, n in _vanished(frame[name], gone, people)
    ]
    vanished.sort(key=lambda each: -each[2])
    values = []
    for name, value, n in vanished[:MOST_VALUES]:
        rows = np.flatnonzero((_texts(frame[name]) == value).fill_null(False).to_numpy())
        why = sorted({reasons[each] or "row" for each in np.unique(everybody.codes[rows])})
        saved = _saving(rows, columns, suppression)
        values.append(LostValue(name, value, n, tuple(why), saved))
    groups.sort(key=lambda group: -group.people)
    return Lost(tuple(groups), tuple(values), max(0, len(vanished) - MOST_VALUES))


def _together(columns: dict[str, Coded], names: list[str], rows: int) -> Coded:
    if not names:
        return Coded(np.zeros(rows, dtype=np.int64), 1)
    return dense(reduce(joined, [columns[name] for name in names]))


def _reasons(
    columns: dict[str, Coded], names: Sequence[str], classes: Coded, suppression: Suppression
) -> list[str]:
    """The requirement that each class breaks, as some attacker sees it; empty if none.

    Of several broken requirements, the first in the order asked.
    """
    known, asked = [(name, columns[name]) for name in names], [*suppression.asked]
    first = np.full(len(classes.codes), len(asked))
    for seen, some in suppression.asked.views.items():
        alike = dense(seen_classes(known, seen, len(classes.codes), suppression.people))
        every = count_asked(some, alike, suppression.people, suppression.secrets)
        for part, groups, counts in every:
            for each in part.by_group:
                breaks = each.breaking(counts)[groups.codes]
                first[breaks] = np.minimum(first[breaks], asked.index(each))
    broken_first = np.zeros(classes.radix, np.int64)
    broken_first[classes.codes] = first  # every attacker's classes are unions of these
    return [asked[place].label if place < len(asked) else "" for place in broken_first.tolist()]


class _Run(NamedTuple):
    """Suppressed rows of one class, or of classes with neighbouring numbers in one column."""

    rows: Integers
    column: str = ""
    label: str = ""
    """The range of that column in words; empty if all its values are suppressed."""


def _fewest_runs(
    frame: pl.DataFrame,
    columns: dict[str, Coded],
    classes: Coded,
    gone: Bools,
    reasons: list[str],
) -> list[_Run]:
    """The suppressed rows in ranges of the column that gives the fewest ranges."""
    rows = np.flatnonzero(gone)
    rows = rows[np.argsort(classes.codes[rows], kind="stable")]
    _, starts = np.unique(classes.codes[rows], return_index=True)
    runs_found = [_Run(here) for here in np.split(rows, starts[1:])]
    numeric = [name for name in columns if frame[name].dtype.is_numeric()]
    for name in numeric if len(runs_found) > 1 else ():
        rest = [other for other in columns if other != name]
        context = _together(columns, rest, len(gone))
        runs = _runs(frame[name], context, classes, gone, reasons)
        runs_found = runs if len(runs) < len(runs_found) else runs_found
    return runs_found


def _runs(
    cells: pl.Series, context: Coded, classes: Coded, gone: Bools, reasons: list[str]
) -> list[_Run]:
    """The suppressed rows, with neighbouring numbers of one context joined into ranges.

    A context is a combination of the other columns. A range ends where the reason changes and at
    classes that stay, are suppressed in part or have no number.
    """
    each = (
        pl.DataFrame({"context": context.codes, "class": classes.codes, "at": cells, "gone": gone})
        .with_row_index("row")
        .group_by("context", "class", maintain_order=True)
        .agg("row", pl.first("at"), pl.col("gone").all().alias("all"), pl.col("gone").any())
        .sort("context", "at", nulls_last=True)
    )
    why = [reasons[number] for number in each["class"]]
    joins = each["all"] & each["at"].is_not_null() & pl.Series([bool(reason) for reason in why])
    alone = pl.int_range(each.height, eager=True)
    # Run-length encoding over (context, reason, alone): `alone` is unique for classes that must
    # not join a range and missing for all others, so that only those form longer runs.
    told = each.with_columns(
        pl.Series("why", why),
        pl.when(joins).then(None).otherwise(alone).alias("alone"),
    ).with_columns(pl.struct("context", "why", "alone").rle_id().alias("run"))
    ends = {
        code: (low, high)
        for code, low, high in told.group_by("context")
        .agg(pl.min("at").alias("low"), pl.max("at").alias("high"))
        .iter_rows()
    }
    runs = []
    for part in told.partition_by("run", maintain_order=True):
        if not part["gone"].any():
            continue
        rows = np.sort(np.array([row for rows in part["row"] for row in rows], dtype=np.int64))
        if part.height == 1:
            runs.append(_Run(rows[gone[rows]]))
        else:
            first, last = part["at"][0], part["at"][-1]
            label = _range_words(first, last, *ends[part["context"][0]])
            runs.append(_Run(rows, cells.name, label))
    return runs


def _range_words(first: float, last: float, lowest: float, highest: float) -> str:
    """A range of numbers in words, given the lowest and the highest number of its context.

    >>> _range_words(80, 91, 20, 91), _range_words(3, 5, 0, 9), _range_words(0, 9, 0, 9)
    ('80 and over', '3 to 5', '')
    """
    if first == lowest and last == highest:
        return ""
    if last == highest:
        return f"{first:.15g} and over"
    return f"{last:.15g} and under" if first == lowest else f"{first:.15g} to {last:.15g}"


def _group(
    frame: pl.DataFrame, run: _Run, reasons: list[str], classes: Coded, people: People
) -> LostGroup:
    first = int(run.rows[0])
    cells = frame.row(first, named=True)
    values = {name: "missing" if cell is None else str(cell) for name, cell in cells.items()}
    if run.column:
        values.pop(run.column)
        values |= {run.column: run.label} if run.label else {}
    reason = reasons[int(classes.codes[first])] or "row"
    return LostGroup(values, people.among(run.rows), reason, run.column)


def _with_remedies(
    groups: list[LostGroup],
    runs: list[_Run],
    columns: dict[str, Coded],
    suppression: Suppression,
) -> list[LostGroup]:
    """The groups; the largest ranges with the columns without which everybody would stay."""
    ranges = sorted(
        (i for i, run in enumerate(runs) if run.column), key=lambda i: -groups[i].people
    )
    for i in ranges[:MOST_VALUES]:
        saved = _saving(runs[i].rows, columns, suppression)
        groups[i] = groups[i]._replace(saved_without=saved)
    return groups


def _texts(cells: pl.Series) -> pl.Series:
    return cells.alias("").cast(pl.String)


def _vanished(cells: pl.Series, gone: Bools, people: People) -> list[tuple[str, int]]:
    """The values of a column that disappear, and how many people had them."""
    rows = pl.DataFrame({"value": _texts(cells), "gone": gone, "who": people.codes}).drop_nulls(
        "value"
    )
    each = rows.group_by("value").agg(pl.col("gone").all(), pl.col("who").n_unique())
    return each.filter("gone").sort("value").select("value", "who").rows()


def _saving(rows: Integers, columns: dict[str, Coded], suppression: Suppression) -> tuple[str, ...]:
    """The columns without each of which none of these rows would be suppressed."""
    if len(columns) > MOST_TRIED:
        return ()
    saving = []
    for name in columns:
        rest = [other for other in columns if other != name]
        classes = _together(columns, rest, suppression.secrets.height)
        reasons = _reasons(columns, rest, classes, suppression)
        if not any(reasons[number] for number in np.unique(classes.codes[rows])):
            saving.append(name)
    return tuple(saving)


MOST_SHOWN = 8
"""Most groups to list; the rest are counted."""


@dataclass(frozen=True, kw_only=True)
class LostGroupFacts:
    """A suppressed group in words; for the holder only."""

    who: str
    people: int
    why: str


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """How many people were suppressed so that the promises hold for all others."""

    words: str
    """For the holder; on the recipient's page the same as `public`."""
    public: str
    """In whole percent."""
    groups: tuple[LostGroupFacts, ...] | None = None
    """Who is suppressed and why; for the holder only."""
    warnings: tuple[str, ...] | None = None
    """Values that disappear; for the holder only."""

    def for_recipient(self) -> Self:
        return replace(self, words=self.public, groups=None, warnings=None)

    def to_dict(self) -> dict[str, Any]:
        """As plain values; groups and warnings only if it is known who is suppressed."""
        plain: dict[str, Any] = {"words": self.words, "public": self.public}
        if self.groups is not None:
            plain |= {"groups": as_plain(self.groups), "warnings": as_plain(self.warnings)}
        return plain


def lost_of(outcome: Outcome) -> Lost | None:
    """Who is suppressed in the chosen release and why; `None` if nobody is."""
    suppression = outcome.evaluator.suppression
    return None if suppression is None else lost_groups(outcome.release, suppression)


def reason_words(reason: str, outcome: Outcome) -> str:
    """Why a group is suppressed, in words."""
    if reason == "row":
        return "another of their rows is"
    broken = next(each for each in outcome.evaluator.requirements if each.label == reason)
    why = broken.why_left_out(broken.secret or outcome.evaluator.sensitive)
    return f"{why}, as {broken.attacker} sees them" if broken.attacker else why


def lost_group_facts(found: Lost, outcome: Outcome) -> tuple[LostGroupFacts, ...]:
    """The suppressed groups in words."""
    return tuple(
        LostGroupFacts(who=_who(group), people=group.people, why=_why(group, outcome))
        for group in found.groups
    )


def _who(group: LostGroup) -> str:
    values = ", ".join(f"{name}: {value}" for name, value in group.values.items())
    if not values:
        return "all"
    return f"all of {values}" if group.range_of else values


def _why(group: LostGroup, outcome: Outcome) -> str:
    why = reason_words(group.reason, outcome)
    if not group.range_of:
        return why
    return f"{why}. {_remedy(group.range_of, (group.reason,), group.saved_without)}"


def lost_group_lines(groups: Sequence[LostGroupFacts], release: Release) -> list[str]:
    """A line for each of the largest suppressed groups, and one for the rest."""
    unit = _unit(release)
    lines = [
        f"  {plural(group.people, *unit)} ({group.who}): {group.why}"
        for group in groups[:MOST_SHOWN]
    ]
    if rest := groups[MOST_SHOWN:]:
        total = sum(group.people for group in rest)
        lines.append(f"  and {plural(total, *unit)} in {plural(len(rest), 'smaller group')}")
    return lines


def _unit(release: Release) -> tuple[str, str]:
    return ("person", "people") if release.unit == "people" else ("row", "rows")


def lost_value_warnings(found: Lost, outcome: Outcome) -> list[str]:
    """Warnings of values that disappear and what would save them; a line for each reason."""
    alike: dict[tuple[str, tuple[str, ...], str], list[LostValue]] = {}
    for each in found.values:
        remedy = _remedy(each.column, each.reasons, each.saved_without)
        alike.setdefault((each.column, each.reasons, remedy), []).append(each)
    lines = [_lost_values(values, remedy, outcome) for (*_, remedy), values in alike.items()]
    if found.more_values:
        lines.append(f"{plural(found.more_values, 'more value')} of fewer people disappear, too.")
    return lines


def _lost_values(lost: Sequence[LostValue], remedy: str, outcome: Outcome) -> str:
    """One warning for values of a column with the same reason and the same remedy."""
    first, *rest = lost
    counted = f"{first.value} ({plural(first.people, *_unit(outcome.release))})"
    counted += "".join(f", {each.value} ({each.people:,})" for each in rest)
    why = "; ".join(reason_words(reason, outcome) for reason in first.reasons)
    return f"Nobody with {first.column} = {counted} is left: {why}. {remedy}"


def _remedy(column: str, reasons: Sequence[str], saved_without: Sequence[str]) -> str:
    """What would keep a value or range in the release, if changing one column does."""
    others = [name for name in saved_without if name != column]
    if others:
        return f"They would all stay without, or with a coarser, {listed_as('column', others)}."
    if column in saved_without:
        return (
            f"They would all stay if {column} were coarser, so that they share a value with "
            "others; write a ladder for it."
        )
    asked = "a smaller --l, a larger --t" if set(reasons) - {"k", "row"} else "a smaller --k"
    return f"To keep them, choose coarser columns, fewer of them, or {asked}."


def left_out_facts(outcome: Outcome) -> LeftOut | None:
    """How many are suppressed, who and why; `None` if nobody is."""
    counted, numbers = outcome.all_rows, outcome.left_out_people
    if numbers is None:
        return None
    unit, k = outcome.table.unit, outcome.settings.k
    promises = outcome.release.promises if counted is None else counted.promises
    stated = stated_left_out(numbers, unit, max((p.k for p in promises), default=1))
    facts = LeftOut(words=left_out_words(numbers, unit, k), public=public_words(stated))
    if counted is not None or (lost := lost_of(outcome)) is None:
        return facts
    groups, warnings = lost_group_facts(lost, outcome), lost_value_warnings(lost, outcome)
    return replace(facts, groups=groups, warnings=tuple(warnings))
