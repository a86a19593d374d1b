"""Ladders over the calendar: dates become their day, month, quarter, year or decade.

`bottom` and `top` are counted in days, as in `intervals`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl

from tamis.coarsen.intervals import (
    Bounds,
    LevelEnd,
    check_level_ends,
    day_text,
    end_at,
    level_ends,
    on_axis,
    only_words,
    open_bounds,
    written_ends,
)
from tamis.errors import InputError

UNITS = ("hour", "day", "month", "quarter", "year", "decade")
"""From fine to coarse; each nests in the next."""


@dataclass(frozen=True)
class Calendar:
    """Parts of the calendar, one unit per level; dates before `bottom`, or from `top` on, are one.

    >>> days = pl.Series([20210503, 19991231]).cast(pl.String).str.to_date("%Y%m%d")
    >>> steps = Calendar(("month", "quarter", "decade"))
    >>> [steps.labels(days, step).to_list() for step in (1, 2, 3)]
    [['2021-05', '1999-12'], ['2021-Q2', '1999-Q4'], ['2020s', '1990s']]
    """

    noun: ClassVar[str] = "band"
    has_groups: ClassVar[bool] = False
    units: tuple[str, ...]
    bottom: LevelEnd = None
    top: LevelEnd = None

    def __post_init__(self) -> None:
        if not self.units or not set(self.units) <= set(UNITS):
            raise InputError(f"dates must name one or more of {', '.join(UNITS)}")
        places = [UNITS.index(unit) for unit in self.units]
        if places != sorted(set(places)):
            raise InputError(f"dates must go from fine to coarse, as {', '.join(UNITS)} do")
        check_level_ends(self.bottom, self.top, len(self.units))
        for step, unit in enumerate(self.units, start=1):
            for end in (end_at(self.bottom, step), end_at(self.top, step)):
                if end is not None and unit_start(_date_at(end), unit) != _date_at(end):
                    raise InputError(f"bottom and top of a {unit} must be the first day of one")

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> Self:
        only_words(description, ("dates", "bottom", "top"))
        given = description["dates"]
        if not isinstance(given, list | tuple) or not all(isinstance(u, str) for u in given):
            raise InputError(f"dates must be a list of units, of {', '.join(UNITS)}")
        ends = level_ends(description)
        if ends.pop("dated") is False:
            raise InputError("bottom and top of dates must be dates such as 2024-12-01")
        return cls(tuple(given), **ends)

    def to_dict(self) -> dict[str, Any]:
        ends = {"bottom": self.bottom, "top": self.top}
        return {"dates": list(self.units), **written_ends(ends, day_text)}

    @property
    def steps(self) -> int:
        return len(self.units)

    def words(self, step: int) -> str:
        return f"the {self.units[step - 1]} of the date"

    def labels(self, values: pl.Series, step: int) -> pl.Series:
        unit = self.units[step - 1]
        if values.dtype == pl.Time and unit == "hour":
            return values.dt.strftime("%H:00")
        if values.dtype not in (pl.Date, pl.Datetime):
            raise InputError(f"a {unit} does not fit a column of {values.dtype}; it needs dates")
        labels = values.to_frame("at").select(_WRITTEN[unit]).to_series()
        at = on_axis(values, True)
        bottom, top = end_at(self.bottom, step), end_at(self.top, step)
        with np.errstate(invalid="ignore"):  # comparisons with NaN, the missing dates, are false
            if bottom is not None:
                labels = labels.set(pl.Series(at < bottom), f"< {day_text(bottom)}")
            if top is not None:
                labels = labels.set(pl.Series(at >= top), f">= {day_text(top)}")
        return labels

    def bounds(self, label: str, step: int) -> Bounds | None:
        return open_bounds(label) or _BOUNDS[self.units[step - 1]](label)


def unit_start(day: date, unit: str) -> date:
    """First day of the month, quarter, year or decade that a day lies in.

    >>> unit_start(date(2021, 5, 3), "quarter").isoformat()
    '2021-04-01'
    """
    if unit in ("hour", "day"):
        return day
    month = {"month": day.month, "quarter": day.month - (day.month - 1) % 3}.get(unit, 1)
    # The first decade begins with year 0, which `date` lacks.
    year = max(day.year // 10 * 10, 1) if unit == "decade" else day.year
    return date(year, month, 1)


def _date_at(place: float) -> date:
    return date.fromordinal(int(place) + 1)


_YEAR = pl.col("at").dt.year().cast(pl.String).str.zfill(4)
_DECADE = (pl.col("at").dt.year() // 10 * 10).cast(pl.String).str.zfill(4)
_WRITTEN = {
    "hour": pl.col("at").cast(pl.Datetime).dt.strftime("%Y-%m-%d %H:00"),
    "day": pl.col("at").dt.strftime("%Y-%m-%d"),
    "month": pl.col("at").dt.strftime("%Y-%m"),
    "quarter": pl.concat_str(_YEAR, pl.lit("-Q"), pl.col("at").dt.quarter()),
    "year": _YEAR,
    "decade": pl.concat_str(_DECADE, pl.lit("s")),
}


def _one_day(label: str) -> Bounds | None:
    try:
        first = date.fromisoformat(label)
    except ValueError:
        return None
    return first, None if first == date.max else first + timedelta(days=1)


def _months(label: str, pattern: str, months: int) -> Bounds | None:
    """Bounds of a label that names a year, or one of its parts, which is `months` long."""
    found = re.fullmatch(pattern, label)
    if found is None:
        return None
    year, part = int(found[1]), int(found[2] or 1) if found.lastindex == 2 else 1
    start = 12 * year + (part - 1) * months
    return _first_day(start), _first_day(start + months)


def _first_day(months: int) -> date | None:
    year, month = divmod(months, 12)
    return date(year, month + 1, 1) if 1 <= year <= date.max.year else None


_BOUNDS: dict[str, Callable[[str], Bounds | None]] = {
    "hour": lambda label: None,
    "day": _one_day,
    "month": lambda label: _months(label, r"(\d{4})-(\d\d)", 1),
    "quarter": lambda label: _months(label, r"(\d{4})-Q([1-4])", 3),
    "year": lambda label: _months(label, r"(\d{4})", 12),
    "decade": lambda label: _months(label, r"(\d{4})s", 120),
}


FORMS: dict[str, type[Any]] = {"dates": Calendar}
"""Each form by the key of a description that selects it."""
