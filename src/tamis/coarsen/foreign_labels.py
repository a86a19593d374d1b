"""Labels that somebody wrote in place of values: which values does each stand for?

ARX, sdcMicro, pandas and people write intervals, stars and sets in their own ways. Each label
becomes a `LabelGroup`, by its text alone: ``[40, 50)``, ``(40,50]``, ``[40, 50[``, ``40-49``,
``40 to 44``, ``<= 30``, ``90+``, ``40s``, ``75***``, ``{cook, judge}``, ``*``; of dates, years,
quarters and months. What a way of writing leaves open (are both ends of ``40-50`` meant?) is
decided by the values and all labels of the column.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

import polars as pl

from tamis.coarsen.intervals import whole_bounds
from tamis.coarsen.value_groups import plain_text
from tamis.table import bare

ANYTHING = "*"
"""Stands for every value; beside other labels, for a value that was taken away."""


@dataclass(frozen=True)
class LabelGroup:
    """The values that a label stands for: those between two ends, of a form, or listed.

    Parameters
    ----------
    label : str
    low, high : float or str
        The ends, numbers or dates as texts; infinite where there is none.
    with_low, with_high : bool
        Whether the ends belong to it.
    loose : bool
        Whether its way of writing leaves open that its upper end belongs to it.
    stem : str, optional
        What texts of it begin with.
    length : int
        How long these texts are; 0: any length.
    members : frozenset of str
        Its values, where they are listed.
    """

    label: str
    low: float | str = -inf
    high: float | str = inf
    with_low: bool = True
    with_high: bool = True
    loose: bool = False
    stem: str | None = None
    length: int = 0
    members: frozenset[str] = field(default=frozenset())

    def holds(self, value: Any, text: str) -> bool:
        """Whether a value, and its text, is one of them."""
        if text == self.label or text in self.members:
            return True
        if self.members:
            return False
        if self.stem is not None:
            fits = not self.length or len(text) == self.length
            return fits and text.startswith(self.stem)
        # Dates are compared as texts, since ISO's order is theirs.
        if isinstance(self.low, str) or isinstance(self.high, str):
            return self._above(text) and self._below(text)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return self._above(value) and self._below(value)

    def _above(self, value: Any) -> bool:
        if self.low == -inf:
            return True
        return bool(value >= self.low if self.with_low else value > self.low)

    def _below(self, value: Any) -> bool:
        if self.high == inf:
            return True
        return bool(value <= self.high if self.with_high else value < self.high)


_NUMBER = r"-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]+)?"
_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_END = rf"({_DATE}|{_NUMBER}|-?inf|-?∞)"
_BRACKETS = re.compile(rf"([\[\](])\s*{_END}\s*[,;]\s*{_END}\s*([)\]\[])", re.IGNORECASE)
_RANGE = re.compile(rf"({_DATE}|{_NUMBER})\s*(?:-|\u2013|\u2014|\.\.|to)\s*({_DATE}|{_NUMBER})")
_SIGN = re.compile(rf"(<=|>=|<|>|≤|≥|under|below|over|above)\s*({_DATE}|{_NUMBER})", re.IGNORECASE)
_MORE = re.compile(
    rf"({_NUMBER})\s*(?:\+|(?:or|and) (?:more|over|older|above|later))", re.IGNORECASE
)
_LESS = re.compile(rf"({_NUMBER})\s*(?:or|and) (?:less|under|younger|below|earlier)", re.IGNORECASE)
_STARS = re.compile(r"([^*]+)(\*+)")
_TENS = re.compile(r"([0-9]*0)s")
_PERIOD = re.compile(r"([0-9]{4})(?:-([0-9]{2})|[- ]?Q([1-4])|(s))?")
_SET = re.compile(r"\{(.*)\}", re.DOTALL)


def read_label(label: str) -> LabelGroup | None:
    """What a label stands for; `None` if it says nothing but itself.

    >>> [(g.low, g.high, g.with_high) for g in map(read_label, ("(40,50]", "<= 30", "90+")) if g]
    [(40.0, 50.0, True), (-inf, 30.0, True), (90.0, inf, True)]
    >>> read_label("cook") is None
    True
    """
    text = label.strip()
    if text == ANYTHING:
        return LabelGroup(label, stem="")
    for pattern, read in _WAYS:
        if found := pattern.fullmatch(text):
            return replace(read(found), label=label)
    if (whole := whole_bounds(text)) is not None:
        low, high = whole
        return LabelGroup(
            label, -inf if low is None else low, inf if high is None else high, True, False
        )
    return None


def _end(text: str) -> float | str:
    if re.fullmatch(_DATE, text):
        return text
    return float(text.replace("∞", "inf"))


def _between(found: re.Match[str]) -> LabelGroup:
    opens, low, high, closes = found.groups()
    return LabelGroup("", _end(low), _end(high), opens == "[", closes == "]")


def _from_to(found: re.Match[str]) -> LabelGroup:
    return LabelGroup("", _end(found[1]), _end(found[2]), loose=True)


def _beyond(found: re.Match[str]) -> LabelGroup:
    sign, end = found[1].lower(), _end(found[2])
    if sign in ("<", "<=", "≤", "under", "below"):
        return LabelGroup("", high=end, with_high=sign in ("<=", "≤"))
    return LabelGroup("", low=end, with_low=sign in (">=", "≥"))


def _period(label: str) -> LabelGroup | None:
    """The year, quarter, month or decade that a label of dates names.

    >>> [(g.low, g.high) for g in map(_period, ("2020", "2020-12", "2021-Q2", "2020s")) if g]
    [('2020', '2021'), ('2020-12', '2020-13'), ('2021-04', '2021-07'), ('2020', '2030')]
    """
    if (found := _PERIOD.fullmatch(label.strip())) is None:
        return None
    year, month, quarter, decade = found.groups()
    low, high = year, f"{int(year) + (10 if decade else 1):04d}"
    if month or quarter:
        first = int(month or 3 * int(quarter) - 2)
        low, high = (f"{year}-{each:02d}" for each in (first, first + (1 if month else 3)))
    return LabelGroup(label, low, high, True, False)  # compared as texts: a month 13 is an end


def _listed(found: re.Match[str]) -> LabelGroup:
    return LabelGroup("", members=frozenset(part.strip() for part in found[1].split(",")))


_WAYS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], LabelGroup]], ...] = (
    (_BRACKETS, _between),
    (_RANGE, _from_to),
    (_SIGN, _beyond),
    (_MORE, lambda found: LabelGroup("", low=_end(found[1]))),
    (_LESS, lambda found: LabelGroup("", high=_end(found[1]))),
    (_TENS, lambda found: LabelGroup("", _end(found[1]), float(found[1]) + 10, True, False)),
    (_STARS, lambda found: LabelGroup("", stem=found[1], length=len(found[0]))),
    (_SET, _listed),
)
"""In this order: a range of dates is not one of numbers, nor ``-5-5`` a lower end."""


def group_labels(values: pl.Series, labels: Sequence[str]) -> dict[str, str] | None:
    """The label of each distinct value, by its text; values of no label are left out.

    A star beside other labels stands for values that were taken away, and is nobody's label. Where
    a way of writing can be read in two ways, that one is taken which puts each value in one group
    at most and most values in one. `None`: the labels overlap, or stand for no value.

    >>> group_labels(pl.Series([39, 40, 50]), ["30-40", "40-50", "50+"])
    {'39': '30-40', '40': '40-50', '50': '50+'}
    >>> group_labels(pl.Series([39, 44]), ["30-39", "40-49", "*"])
    {'39': '30-39', '44': '40-49'}
    >>> group_labels(pl.Series([39, 44]), ["30-45", "40-49"]) is None
    True
    """
    mine = [label for label in labels if label != ANYTHING] or list(labels)
    cells = bare(values).drop_nulls()
    days = cells.dtype in (pl.Date, pl.Datetime)
    groups = [
        (_period(label) if days else None)
        or read_label(label)
        or LabelGroup(label, members=frozenset([label]))
        for label in mine
    ]
    pairs = list(zip(cells.to_list(), plain_text(cells).to_list()))
    best: dict[str, str] | None = None
    for reading in _readings(groups):
        found = _assigned(pairs, reading)
        if found and (best is None or len(found) > len(best)):
            best = found
    return best


def _readings(groups: Iterable[LabelGroup]) -> list[list[LabelGroup]]:
    """All ways to read some labels: as written; without upper ends; up to the next whole number;
    and stars for any number of characters."""
    every = list(groups)
    found = [every]
    if any(group.loose for group in every):
        found.append([replace(g, with_high=False) if g.loose else g for g in every])
        found.append([_to_next(g) for g in every])
    if any(group.length for group in every):
        found.append([replace(g, length=0) for g in every])
    return found


def _to_next(group: LabelGroup) -> LabelGroup:
    """40-49 of numbers that are not whole: up to 50, which does not belong to it."""
    if not group.loose or not isinstance(group.high, float):
        return group
    return replace(group, high=group.high + 1, with_high=False)


def _assigned(pairs: Iterable[tuple[Any, str]], groups: list[LabelGroup]) -> dict[str, str] | None:
    found: dict[str, str] = {}
    for value, text in pairs:
        fits = [group.label for group in groups if group.holds(value, text)]
        if text in fits:  # a value that was released as it is
            fits = [text]
        if len(fits) > 1:
            return None
        if fits:
            found[text] = fits[0]
    return found
