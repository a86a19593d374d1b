"""`ShiftedDates`: all dates of a person moved by the same random number of days."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from tamis.arrays import Ints
from tamis.errors import CannotMeet, InputError, check_whole, listed, listed_as, plural
from tamis.perturb import (
    InputFrame,
    RandomState,
    columns_to_alter,
    input_frame,
    random_source,
)
from tamis.read.forms import days_unread
from tamis.table import bare, number_people, only

_UNITS = {"ms": 10**3, "us": 10**6, "ns": 10**9}
_DAY = 24 * 60 * 60
MOST_DAYS = 36_500
"""A century."""


class ShiftedDates(BaseEstimator):  # type: ignore[misc]
    """Move all dates of a person by one random number of days, so that intervals stay.

    It gives no guarantee: an attacker who knows one date of a person knows the shift of all others,
    and so does anyone who sees a date that stayed. Therefore a target of dates, or a column that
    looks like dates but was not read as such, is refused. Weekdays, seasons and other columns that
    follow the calendar narrow the shift down.

    Parameters
    ----------
    days : int
        Largest shift, into the past or the future.
    columns : sequence of str, optional
        What to move. `None`: all features of a `Table`, or columns of a frame, that hold dates.
    random_state : int, numpy Generator or None
        For the shift of each person.

    Attributes
    ----------
    columns_ : tuple of str
        The columns that were moved.
    blanked_ : int
        The people whose dates were made missing, because they span too much for a shift to hide.

    Notes
    -----
    All dates stay between the first and the last day of their column. Otherwise an attacker who
    knows the range (the years of a study) could bound the shift of every date outside of it. So
    the shift of a person is drawn uniformly from those of at most `days` that keep all dates within
    the ranges. An attacker who sees the moved dates, and knows the ranges, is left with at least
    `days` possible shifts besides the true one. If a person's dates span so much of a range that
    there are fewer, they become missing. Shifts near zero are as likely as others; people with
    dates near the ends of a range have fewer possible shifts.

    People are those of a `Table`; else each row is a person. Times of day stay, missing dates stay
    missing, and the columns of a person move together.

    It works on the rows it is given, so there is `fit_transform` and no `transform`.

    Examples
    --------
    >>> from datetime import date
    >>> stays = pl.DataFrame({"came": [date(2021, 1, 1), date(2021, 5, 1), date(2021, 12, 31)]})
    >>> stays = stays.with_columns(left=pl.col("came").dt.offset_by("9d"))
    >>> moved = ShiftedDates(90, random_state=1).fit_transform(stays)
    >>> (moved["left"] - moved["came"]).dt.total_days().to_list()
    [9, 9, 9]
    >>> moved["came"].is_between(date(2021, 1, 1), date(2021, 12, 31)).all()
    True
    """

    def __init__(
        self,
        days: int = 365,
        *,
        columns: Sequence[str] | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.days = days
        self.columns = columns
        self.random_state = random_state

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Move the dates of a `Table`, or of a pandas, polars or pyarrow frame.

        The same kind comes back, with the same rows in the same order.
        """
        check_days(self.days)
        data = input_frame(X)
        columns = columns_to_alter(data, self.columns, dated(data))
        if others := [c for c in columns if not _is_dated(data.frame.schema[c])]:
            raise InputError(f"column {listed(others)} holds no dates to move; leave it out")
        if beside := days_beside(data, columns):
            raise InputError(
                f"{listed_as('column', beside)} would stay beside the dates that move, and holds "
                "days or months as well: anyone who sees both can read off the shift. Leave it "
                "out, make it coarser, or, if it is a feature, let it move, read as dates "
                "(2031-05-17)"
            )
        whose = _drawn_for(data)
        shifts, room = self._shifts([_days(data.frame.get_column(c)) for c in columns], whose)
        self.columns_, self.blanked_ = tuple(columns), int(np.count_nonzero(~room))
        new = [_moved(data.frame.get_column(c), shifts[whose], room[whose]) for c in columns]
        return data.back(data.frame.with_columns(new))

    def _shifts(
        self, columns: Sequence[tuple[Ints, NDArray[np.bool_]]], whose: Ints
    ) -> tuple[Ints, NDArray[np.bool_]]:
        """The shift of each person, and whether there is room to hide it."""
        people, dated = int(whose.max()) + 1, np.zeros(int(whose.max()) + 1, np.bool_)
        # A quarter, so that the difference of both ends does not overflow.
        far = np.iinfo(np.int64).max // 4
        back, forth = np.full(people, -far), np.full(people, far)
        for days, present in columns:
            if present.any():
                dated[whose[present]] = True
                least, most = days[present].min(), days[present].max()
                np.maximum.at(back, whose[present], least - days[present])
                np.minimum.at(forth, whose[present], most - days[present])
        room = forth - back >= self.days
        if not room[dated].any():
            raise CannotMeet(
                f"dates cannot be moved by up to {plural(self.days, 'day')}: those of everybody "
                "span nearly all that their column spans, so that a shift would be plain to see; "
                "ask for fewer days"
            )
        low = np.where(room, np.maximum(back, -self.days), 0)
        high = np.where(room, np.minimum(forth, self.days), 0)
        rng = random_source(self.random_state)
        return rng.integers(low, high, endpoint=True), room

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.input_tags.allow_nan = True
        return tags


def check_days(days: Any) -> None:
    """Raise unless `days` is a whole number from 1 to `MOST_DAYS`."""
    check_whole("days", days)
    if days > MOST_DAYS:
        raise InputError(f"days must be at most {MOST_DAYS:,}, a century, got {days}")


def dated(data: InputFrame) -> list[str]:
    """The features of dates with more than one distinct value."""
    return [
        c
        for c in data.features
        if _is_dated(data.frame.schema[c]) and bare(data.frame[c]).drop_nulls().n_unique() > 1
    ]


def days_beside(data: InputFrame, moved: Collection[str]) -> list[str]:
    """Columns released beside the moved dates that hold days as well and would reveal the shift."""
    beside = (data.frame[c] for c in (*data.features, *data.labels) if c not in moved)
    days = (c for c in beside if _is_dated(c.dtype) or days_unread(c))
    return [c.name for c in days if bare(c).drop_nulls().n_unique() > 1]


def _is_dated(dtype: pl.DataType) -> bool:
    return dtype in (pl.Date, pl.Datetime)  # a time of day has no day


def _drawn_for(data: InputFrame) -> Ints:
    """The person of each row, numbered by content, not by the order of rows or identifiers.

    Shifts are drawn in the order of these numbers.
    """
    if data.people.each_row:
        return np.argsort(data.order)
    shown = only(data.frame, [*data.features, *data.labels])
    return number_people(shown, data.people).codes


def _days(column: pl.Series) -> tuple[Ints, NDArray[np.bool_]]:
    """The day of each cell, counted from 1970, and which cells have a date."""
    days = _clock(column).cast(pl.Datetime("us")).dt.epoch("d").cast(pl.Int64)
    return days.fill_null(0).to_numpy(), days.is_not_null().to_numpy()


def _clock(column: pl.Series) -> pl.Series:
    """Dates, and local times without their time zone."""
    column = bare(column)
    return column if column.dtype == pl.Date else column.dt.replace_time_zone(None)


def _moved(column: pl.Series, shifts: Ints, room: NDArray[np.bool_]) -> pl.Series:
    """The column moved by each row's shift; missing where there is no room for it.

    Local times are moved, not instants. Otherwise an hour more or less would show whose dates
    crossed a change to or from daylight saving time, and so in which season they were. A local time
    that such a change skips becomes that of an hour later.
    """
    dtype, clock = column.dtype, _clock(column)
    per_day = 1 if dtype == pl.Date else _DAY * _UNITS[dtype.time_unit]  # type: ignore[attr-defined]
    moved = clock.to_physical().cast(pl.Int64) + pl.Series(shifts * per_day)
    hidden = moved.set(~pl.Series(room), None)
    whole = (hidden.cast(pl.Int32) if dtype == pl.Date else hidden).cast(clock.dtype)
    zone = getattr(dtype, "time_zone", None)
    if zone is not None:
        there, later = (
            each.dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null")
            for each in (whole, whole.dt.offset_by("1h"))
        )
        whole = there.fill_null(later)
    return whole.alias(column.name)
