"""Columns that share a reason, and a close look at a release, as a page lists them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from tamis.publish.bits_facts import CloseLookFacts, FigureFacts, GroupFacts, GuessedFacts
from tamis.publish.figures import NONE, ONE, count, interval, number_of_times, percent, times
from tamis.publish.summary import ColumnFate, Unit

SHOWN_FIRST = 12
"""So many columns of one reason are listed at once, the most teaching first; the rest is folded."""
SHOWN_COLUMNS = 100
"""More columns than this are counted, not listed: in thousands of names nobody looks, but finds."""


@dataclass(frozen=True)
class ColumnGroup:
    """Columns that left or stayed for one reason."""

    why: str
    amount: int
    first: list[ColumnFate]
    rest: list[ColumnFate]

    @property
    def uncounted(self) -> int:
        """How many are not listed."""
        return self.amount - len(self.first) - len(self.rest)


def column_groups(columns: Sequence[ColumnFate]) -> list[ColumnGroup]:
    """Columns by their reason; the reason of the column that teaches most comes first.

    >>> columns = [{"name": n, "fate": "released", "why": w} for n, w in ["aX", "bY", "cX"]]
    >>> [(group.why, group.amount) for group in column_groups(columns)]
    [('X', 2), ('Y', 1)]
    """
    reasons: dict[str, list[ColumnFate]] = {}
    for column in sorted(columns, key=lambda c: -_teaches(c)):
        reasons.setdefault(column["why"], []).append(column)
    return [
        ColumnGroup(why, len(some), some[:SHOWN_FIRST], some[SHOWN_FIRST:SHOWN_COLUMNS])
        for why, some in reasons.items()
    ]


def _teaches(column: ColumnFate) -> float:
    """What a column teaches alone; columns that are no features come last."""
    shares = column.get("shares")
    return -1.0 if shares is None else shares["teaches"]


@dataclass(frozen=True)
class LookCell:
    """A figure of a close look with what stands below it: its range, and a simple model's."""

    value: str
    range: str = ""
    beside: str = ""


@dataclass(frozen=True)
class LookRow:
    """One line of a close look: what is measured, for the target and for the sensitive column."""

    label: str
    sentence: str
    cells: list[LookCell]


Cell = Callable[[GuessedFacts], LookCell]


def look_rows(look: CloseLookFacts, unit: Unit, k: int) -> list[LookRow]:
    """The lines of a close look, without those that are empty for every column."""
    guessed = [found for found in (look["target"], look["sensitive"]) if found is not None]
    rows = [
        LookRow(label.format(one=ONE[unit]), sentence.format(unit=unit), [cell(g) for g in guessed])
        for label, sentence, cell in [*_overall(len(guessed) > 1), *_surest(guessed[0]), *_few(k)]
    ]
    return [row for row in rows if any(cell.value != NONE for cell in row.cells)]


def _overall(both: bool) -> list[tuple[str, str, Cell]]:
    return [
        (
            "Kept, and told" if both else "Kept",
            "The share of what these learners make of all columns.",
            lambda found: _share(found["share"]),
        ),
        (
            "Correct",
            "How often the most likely value is the true one.",
            lambda found: replace(
                _share(found["accuracy"]),
                beside=f"{_beside(found, 'accuracy')}, guessing {percent(found['guessing'])}",
            ),
        ),
        (
            "Telling values apart (AUC)",
            "How often one of the {unit} with a value is ranked above one without; 50% by chance.",
            lambda found: replace(_share(found["auc"]), beside=_beside(found, "auc")),
        ),
    ]


def _share(figure: FigureFacts | None) -> LookCell:
    if figure is None:
        return LookCell(NONE)
    return LookCell(percent(figure["value"]), interval(figure["interval"]))


def _beside(found: GuessedFacts, measure: Literal["accuracy", "auc"]) -> str:
    figure = found["beside"][measure]
    return "" if figure is None else f"{found['beside']['name']} {percent(figure['value'])}"


def _surest(looked_at: GuessedFacts) -> list[tuple[str, str, Cell]]:
    return [
        (
            f"The surest {percent(each['part'], 0)}",
            "Of the {unit} held most likely to have the rarest value, how many have it; and how "
            "many of all who have it are among them.",
            lambda found, at=at: _right_and_found(found, at),  # type: ignore[misc]
        )
        for at, each in enumerate(looked_at["surest"])
    ]


def _right_and_found(found: GuessedFacts, at: int) -> LookCell:
    if at >= len(found["surest"]):
        return LookCell(NONE)
    each = found["surest"][at]
    right, of_all = _share(each["precision"]), _share(each["recall"])
    if NONE in (right.value, of_all.value):
        return LookCell(NONE, "too few to say")
    return replace(right, beside=f"{of_all.value} of all ({of_all.range})")


def _few(k: int) -> list[tuple[str, str, Cell]]:
    return [
        (
            "As good as known",
            "The {unit} whose true value is held at least 95% likely with the release, and was not "
            "without it.",
            lambda found: (
                LookCell(f"fewer than {k}") if found["known"] is None else _share(found["known"])
            ),
        ),
        (
            "The group told most of",
            "Of groups of {unit} alike in what attackers may know, by how many times the true "
            "value is likelier than without the release.",
            lambda found: _group(found["group"]),
        ),
        (
            "The {one} told most of",
            "By how many times the true value is likelier than without the release, for single "
            "{unit}; below it the next four.",
            lambda found: _largest(found["largest"]),
        ),
    ]


def _group(found: GroupFacts | None) -> LookCell:
    if found is None:
        return LookCell(NONE)
    gain, ends = found["gain"], found["gain"]["interval"]
    around = f"{number_of_times(ends['low'])} to {times(ends['high'])}" if ends else ""
    return LookCell(times(gain["value"]), around, f"a group of {count(found['people'])}")


def _largest(gains: list[float]) -> LookCell:
    if not gains:
        return LookCell(NONE)
    return LookCell(times(gains[0]), ", ".join(number_of_times(gain) for gain in gains[1:]))
