"""Labels that other tools or people wrote in place of values: which values does each stand for?

ARX, sdcMicro, pandas and people write intervals, stars and sets in different ways. Each label is
parsed into a `LabelGroup`, by its text alone: ``[40, 50)``, ``(40,50]``, ``[40, 50[``, ``40-49``,
``40 to 44``, ``<= 30``, ``90+``, ``40s``, ``75***``, ``{cook, judge}``, ``*``; for dates also
years, quarters and months. Where the notation is ambiguous (does ``40-50`` include 50?), the values
and all labels of the column decide.
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
"""Stands for every value; beside other labels, for a suppressed value."""


@dataclass(frozen=True)
class LabelGroup:
    """The values that a label stands for: a range, texts with a common start, or a list.

    Parameters
    ----------
    label : str
    low, high : float or str
        The ends, numbers or dates as texts; infinite where there is none.
    with_low, with_high : bool
        Whether the ends are included.
    loose : bool
        Whether the notation leaves open if the upper end is included.
    stem : str, optional
        What its texts begin with.
    length : int
        The length of these texts; 0: any length.
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
        """Whether the label covers a value, given with its text."""
        if text == self.label or text in self.members:
            return True
        if self.members:
            return False
        if self.stem is not None:
            fits = not self.length or len(text) == self.length
            return fits and text.startswith(self.stem)
        # ISO dates sort as texts in the order of time.
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
    """Parse a label; `None` if it stands for nothing but its own text.

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
"""Notations in the order in which they are tried; the first that matches the whole label wins."""


def group_labels(values: pl.Series, labels: Sequence[str]) -> dict[str, str] | None:
    """Match each distinct value, by its text, to its label; values of no label are left out.

    A star beside other labels stands for suppressed values and matches none. Where a notation can
    be read in several ways, the reading wins that puts no value in two groups and most values in
    one. `None`: in every reading labels overlap, or none covers any value.

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
        assigned = _assigned(pairs, reading)
        if assigned and (best is None or len(assigned) > len(best)):  # ties: the earlier reading
            best = assigned
    return best


def _readings(groups: Iterable[LabelGroup]) -> list[list[LabelGroup]]:
    """All readings of some labels, the most literal first.

    As written; without upper ends; up to the next whole number; stars as any number of characters.
    """
    every = list(groups)
    readings = [every]
    if any(group.loose for group in every):
        readings.append([replace(g, with_high=False) if g.loose else g for g in every])
        readings.append([_to_next(g) for g in every])
    if any(group.length for group in every):
        readings.append([replace(g, length=0) for g in every])
    return readings


def _to_next(group: LabelGroup) -> LabelGroup:
    """Read 40-49, among numbers that are not whole, as up to but not including 50."""
    if not group.loose or not isinstance(group.high, float):
        return group
    return replace(group, high=group.high + 1, with_high=False)


def _assigned(pairs: Iterable[tuple[Any, str]], groups: list[LabelGroup]) -> dict[str, str] | None:
    """The label of each value's text by one reading; `None` if a value fits two labels."""
    label_of: dict[str, str] = {}
    for value, text in pairs:
        fits = [group.label for group in groups if group.holds(value, text)]
        if text in fits:  # a value that was released ungeneralised
            fits = [text]
        if len(fits) > 1:
            return None
        if fits:
            label_of[text] = fits[0]
    return label_of
