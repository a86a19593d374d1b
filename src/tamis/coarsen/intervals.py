"""Ladders over numbers and dates: given cuts, equal widths, top and bottom coding, fewer digits.

An interval includes its lower end and excludes its upper one. Dates are counted in days from
Monday, 1 January of the year 1, so that a width of 7 gives calendar weeks.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl

from tamis.arrays import Floats
from tamis.coding import as_floats
from tamis.errors import InputError, plural
from tamis.read import LARGEST_NUMBER
from tamis.read.types import EXACT

End = float | date | None
Bounds = tuple[End, End]

_EPOCH = date(1970, 1, 1).toordinal() - 1
_BETWEEN = re.compile(r"\[(.+), (.+)\)")
_INCLUSIVE = "which contain their lower end and not their upper one"
_OPEN = re.compile(r"(<|>=) (.+)")
_BOTH = re.compile(r"(-?\d+)(?: to (under )?(-?\d+))?")
_HALF = re.compile(r"(-?\d+) or (less|more)")
_UNDER = re.compile(r"under (-?\d+)")
LARGE_NUMBER = 10_000
"""Whole numbers this large are mostly amounts: "under 55000" reads better than "to 54999"."""


class _Ranges:
    """Base of interval forms: makes labels and bounds from the ends of intervals."""

    noun: ClassVar[str] = "band"
    has_groups: ClassVar[bool] = False
    dated: bool | None
    """Whether the ends are dates; `None` if they fit both numbers and dates."""
    whole: bool = False
    """Whether the numbers are whole: labels then include both ends, as in ``40 to 49``."""

    def ends(self, at: Floats, step: int) -> tuple[Floats, Floats]:
        """Lower and upper end of the interval around each point; NaN for missing points."""
        raise NotImplementedError

    def labels(self, values: pl.Series, step: int) -> pl.Series:
        """Labels such as ``[40, 50)``, ``< 20`` and ``>= 90``; for whole numbers ``40 to 49``."""
        at = on_axis(values, self.dated)
        lower, upper = self.ends(at, step)
        # Intervals differ in their lower ends, so each label is written once.
        _, first, place = np.unique(lower, return_index=True, return_inverse=True)
        written = day_text if values.dtype.is_temporal() else _number
        ends = zip(lower[first].tolist(), upper[first].tolist())
        texts = [self.label(*both, written, step) for both in ends]
        return pl.Series(texts, dtype=pl.String).gather(place)

    def label(self, lower: float, upper: float, written: Any, step: int) -> str | None:
        """Label of one interval; `None` for missing."""
        if not self.whole or math.isnan(lower):
            return _label(lower, upper, written)
        return _whole_label(lower, upper, self.is_large(step))

    def is_large(self, step: int) -> bool:
        """Whether labels of whole numbers name the start of the next interval ("under 55000").

        Decided by the step alone, as a manifest states no more: every reader of it must arrive at
        the same labels.
        """
        return False

    def inclusion(self, step: int) -> str:
        """Which ends the intervals include, in words."""
        both = self.whole and not self.is_large(step)
        return "which contain both their ends" if both else _INCLUSIVE

    def bounds(self, label: str, step: int) -> Bounds | None:
        """Parse a label such as ``[40, 50)``; `None` if it is not written so."""
        if self.whole:
            return whole_bounds(label)
        try:
            if found := _BETWEEN.fullmatch(label):
                return _end(found[1]), _end(found[2])
            return open_bounds(label)
        except ValueError:
            return None


@dataclass(frozen=True)
class Cuts(_Ranges):
    """Intervals between given cuts, one list per level; open below the first and above the last.

    >>> Cuts(((20, 40, 60), (40,))).labels(pl.Series([17, 40, 61]), 1).to_list()
    ['< 20', '[40, 60)', '>= 60']
    >>> Cuts(((0, 1, 60),), whole=True).labels(pl.Series([0, 40, 61]), 1).to_list()
    ['0', '1 to 59', '60 or more']
    >>> Cuts(((20_000, 55_000),), whole=True).names(1)
    ['under 20000', '20000 to under 55000', '55000 or more']
    """

    cuts: tuple[tuple[float, ...], ...]
    dated: bool | None = False
    whole: bool = False

    def __post_init__(self) -> None:
        if self.whole and (self.dated or not _are_whole(itertools.chain(*self.cuts))):
            raise InputError("with whole = true, cuts must be whole numbers")
        for number, level in enumerate(self.cuts, start=1):
            if not level or list(level) != sorted(set(level)):
                raise InputError(f"the cuts of level {number} must rise, and there must be some")
        for number, (finer, coarser) in enumerate(itertools.pairwise(map(set, self.cuts)), start=2):
            _check_nested(number, finer, coarser)

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> Self:
        only_words(description, ("cuts", "whole"))
        levels = as_levels(description["cuts"], "cuts")
        dates, plain = _points([end for level in levels for end in level], "cuts")
        lengths, whole = iter(plain), _is_said_whole(description)
        return cls(tuple(tuple(next(lengths) for _ in level) for level in levels), dates, whole)

    def to_dict(self) -> dict[str, Any]:
        written = day_text if self.dated else _plain
        cuts = [[written(cut) for cut in level] for level in self.cuts]
        return {"cuts": cuts, **({"whole": True} if self.whole else {})}

    @property
    def steps(self) -> int:
        return len(self.cuts)

    def is_large(self, step: int) -> bool:
        return any(abs(cut) >= LARGE_NUMBER for cut in self.cuts[step - 1])

    def words(self, step: int) -> str:
        return f"intervals between cuts, {self.inclusion(step)}"

    def names(self, step: int) -> list[str]:
        """Labels of all intervals of a step, lowest first."""
        ends = itertools.pairwise([-math.inf, *self.cuts[step - 1], math.inf])
        return [str(self.label(*both, day_text if self.dated else _number, step)) for both in ends]

    def ends(self, at: Floats, step: int) -> tuple[Floats, Floats]:
        edges = np.array([-np.inf, *self.cuts[step - 1], np.inf])
        place = np.searchsorted(edges, at, side="right")
        missing = np.isnan(at)
        place[missing] = 1  # NaN sorts beyond the last edge; any valid place will do here
        lower, upper = edges[place - 1], edges[place]
        lower[missing] = upper[missing] = np.nan
        return lower, upper


LevelEnd = float | tuple[float, ...] | None
"""Inner end of the open interval below or above: one for every level, or one per level."""


def end_at(end: LevelEnd, step: int) -> float | None:
    """The inner end at one level."""
    return end[step - 1] if isinstance(end, tuple) else end


def level_ends(description: Mapping[str, Any]) -> dict[str, Any]:
    """The ends that a description gives, and whether they are dates (`None` without ends)."""
    given = {end: description[end] for end in ("bottom", "top") if end in description}
    lists = {end: at if isinstance(at, list | tuple) else [at] for end, at in given.items()}
    dates, places = _points([point for at in lists.values() for point in at], "bottom and top")
    rest = iter(places)
    ends: dict[str, Any] = {end: tuple(next(rest) for _ in at) for end, at in lists.items()}
    single = {end: at if given[end] is lists[end] else at[0] for end, at in ends.items()}
    return {**single, "dated": dates if given else None}


def check_level_ends(bottom: LevelEnd, top: LevelEnd, levels: int) -> None:
    """Raise for ends that are not one per level, that widen as levels rise, or that cross."""
    for end, way in ((bottom, 1), (top, -1)):
        if isinstance(end, tuple) and len(end) != levels:
            raise InputError("bottom and top must be one value, or a list of one a level")
        for number, (old, new) in enumerate(
            itertools.pairwise(end) if isinstance(end, tuple) else (), start=2
        ):
            if way * (new - old) < 0:
                raise InputError(f"level {number} is finer than the one before; ends close in")
    for step in range(1, levels + 1):
        low, high = end_at(bottom, step), end_at(top, step)
        if low is not None and high is not None and low >= high:
            raise InputError("bottom must be below top")


def written_ends(ends: Mapping[str, LevelEnd], written: Callable[[float], Any]) -> dict[str, Any]:
    """Ends as a description writes them."""
    return {
        end: [written(point) for point in at] if isinstance(at, tuple) else written(at)
        for end, at in ends.items()
        if at is not None
    }


@dataclass(frozen=True)
class Widths(_Ranges):
    """Intervals of equal width, aligned at 0, one width per level; open beyond `bottom` and `top`.

    Ends may differ between levels: the open intervals then grow with the level.

    >>> Widths((5, 10), top=90).labels(pl.Series([43, 95]), 1).to_list()
    ['[40, 45)', '>= 90']
    >>> Widths((5, 5), top=(90, 80)).labels(pl.Series([43, 95]), 2).to_list()
    ['[40, 45)', '>= 80']
    >>> Widths((5,), top=90, whole=True).labels(pl.Series([43, 95]), 1).to_list()
    ['40 to 44', '90 or more']
    """

    widths: tuple[float, ...]
    bottom: LevelEnd = None
    top: LevelEnd = None
    dated: bool | None = None
    whole: bool = False

    def __post_init__(self) -> None:
        ends = (at if isinstance(at, tuple) else (at,) for at in (self.bottom, self.top))
        points = [at for at in itertools.chain(self.widths, *ends) if at is not None]
        if self.whole and (self.dated or not _are_whole(points)):
            raise InputError("with whole = true, widths and ends must be whole numbers")
        _check_widths(self.widths, "width")
        self._check_ends()

    def _check_ends(self) -> None:
        """Raise unless levels nest: a moved end must be a cut of the level before."""
        check_level_ends(self.bottom, self.top, self.steps)
        for end in (self.bottom, self.top):
            pairs = itertools.pairwise(end) if isinstance(end, tuple) else ()
            for number, ((old, new), width) in enumerate(zip(pairs, self.widths), start=2):
                if new != old and (_exact(new) / _exact(width)).denominator != 1:
                    raise InputError(
                        f"level {number} does not nest: new ends must be multiples of the width "
                        "before"
                    )

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> Self:
        only_words(description, ("width", "bottom", "top", "whole"))
        given = description["width"]
        dates, widths = _points(given if isinstance(given, list | tuple) else [given], "width")
        if dates:
            raise InputError("a width is a number, for dates of days")
        return cls(tuple(widths), **level_ends(description), whole=_is_said_whole(description))

    def to_dict(self) -> dict[str, Any]:
        written = day_text if self.dated else _plain
        ends = {"bottom": self.bottom, "top": self.top}
        return {
            "width": [_plain(width) for width in self.widths],
            **written_ends(ends, written),
            **({"whole": True} if self.whole else {}),
        }

    @property
    def steps(self) -> int:
        return len(self.widths)

    def words(self, step: int) -> str:
        return f"intervals of width {_number(self.widths[step - 1])}, {self.inclusion(step)}"

    def is_large(self, step: int) -> bool:
        # Only the width is sure to be stated; widths of a thousand suit numbers of ten thousands.
        return self.widths[step - 1] >= LARGE_NUMBER / 10

    def ends(self, at: Floats, step: int) -> tuple[Floats, Floats]:
        lower, upper = _around(at, _exact(self.widths[step - 1]))
        bottom, top = end_at(self.bottom, step), end_at(self.top, step)
        # An end need not be a multiple of the width: the interval beside it is then cut short.
        if bottom is not None:
            below = at < bottom
            lower[below], upper[below] = -np.inf, bottom
            np.maximum(lower, bottom, out=lower, where=~below)
        if top is not None:
            above = at >= top
            np.minimum(upper, top, out=upper, where=~above)
            lower[above], upper[above] = top, np.inf
        return lower, upper


@dataclass(frozen=True)
class Multiples:
    """Numbers rounded down to a multiple of a step, one step per level: they remain numbers.

    Rounding to the nearest multiple would not nest: 149 rounds to 100, but to 200 by way of 150.

    >>> Multiples((10, 100)).labels(pl.Series([149, 95, -3, None]), 1).to_list()
    [140, 90, -10, None]
    >>> Multiples((0.1,)).labels(pl.Series([0.37, 2.0]), 1).to_list()
    [0.3, 2.0]
    """

    word: ClassVar[str] = "step"
    noun: ClassVar[str] = "number"
    has_groups: ClassVar[bool] = False
    sizes: tuple[float, ...]

    def __post_init__(self) -> None:
        _check_widths(self.sizes, "step")

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> Self:
        only_words(description, ("step",))
        given = description["step"]
        dates, sizes = _points(given if isinstance(given, list | tuple) else [given], "step")
        if dates:
            raise InputError('a step is a number; of dates and times, write dates = ["hour"]')
        return cls(tuple(sizes))

    def to_dict(self) -> dict[str, Any]:
        return {"step": [_plain(size) for size in self.sizes]}

    @property
    def steps(self) -> int:
        return len(self.sizes)

    def words(self, step: int) -> str:
        return f"numbers cut down to a multiple of {_number(self.sizes[step - 1])}"

    def short(self, step: int) -> str:
        """Like `words`, in a few words.

        >>> Multiples((10, 100)).short(2)
        'in steps of 100'
        """
        return f"in steps of {_number(self.sizes[step - 1])}"

    def labels(self, values: pl.Series, step: int) -> pl.Series:
        """The multiples, as integers if the step is whole."""
        if not values.dtype.is_numeric():
            raise InputError(f"a step between numbers does not fit a column of {values.dtype}")
        at, size = on_axis(values, False), self.sizes[step - 1]
        lower = _around(at, _exact(size))[0] + 0.0  # zero has no sign
        if (np.isnan(lower) & ~np.isnan(at)).any():
            raise InputError(f"a step of {_number(size)} fits no number as large as the largest")
        multiples = pl.Series(lower).fill_nan(None)
        return multiples.cast(pl.Int64) if size == int(size) else multiples

    def bounds(self, label: str, step: int) -> Bounds | None:
        """None: a label is itself a number, the lower end."""
        return None


@dataclass(frozen=True)
class Ends(_Ranges):
    """Top and bottom coding: exact values between `bottom` and `top`, one label on either side.

    Each level has a pair of ends, (bottom, top), of which one may be missing.

    >>> Ends(((None, 90), (20, 80))).labels(pl.Series([17, 43, 95]), 2).to_list()
    ['< 20', '43', '>= 80']
    """

    levels: tuple[tuple[float | None, float | None], ...]
    dated: bool | None = False

    def __post_init__(self) -> None:
        for number, (bottom, top) in enumerate(self.levels, start=1):
            if bottom is None and top is None:
                raise InputError(f"level {number} of ends needs bottom, top or both")
            if bottom is not None and top is not None and bottom >= top:
                raise InputError(f"bottom must be below top at level {number}")
        plain = [(-np.inf if b is None else b, np.inf if t is None else t) for b, t in self.levels]
        for number, (finer, coarser) in enumerate(itertools.pairwise(plain), start=2):
            if coarser[0] < finer[0] or coarser[1] > finer[1]:
                raise InputError(f"level {number} is finer than the one before; ends must close in")

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> Self:
        """Read ``ends``, one table per level, or ``bottom`` and ``top`` for a single level."""
        if "ends" not in description:
            only_words(description, ("bottom", "top"))
            return cls.from_dict({"ends": [description]})
        only_words(description, ("ends",))
        tables = description["ends"]
        if not isinstance(tables, list | tuple) or not all(isinstance(t, Mapping) for t in tables):
            raise InputError("ends must be a list of tables with bottom and top, one a level")
        for table in tables:
            only_words(table, ("bottom", "top"))
        dates, places = _points([table[end] for table in tables for end in sorted(table)], "ends")
        rest = iter(places)
        levels = [{end: next(rest) for end in sorted(table)} for table in tables]
        return cls(tuple((level.get("bottom"), level.get("top")) for level in levels), dates)

    def to_dict(self) -> dict[str, Any]:
        written = day_text if self.dated else _plain
        pairs = [zip(("bottom", "top"), level) for level in self.levels]
        return {"ends": [{e: written(at) for e, at in pair if at is not None} for pair in pairs]}

    @property
    def steps(self) -> int:
        return len(self.levels)

    def words(self, step: int) -> str:
        return "values as they are, but for the lowest and the highest"

    def labels(self, values: pl.Series, step: int) -> pl.Series:
        """Labels such as ``< 20``, ``43`` and ``>= 90``."""
        at = on_axis(values, self.dated)
        written = day_text if values.dtype.is_temporal() else _number
        bottom, top = self.levels[step - 1]
        points, place = np.unique(at, return_inverse=True)
        texts = [_coded_label(point, bottom, top, written) for point in points.tolist()]
        return pl.Series(texts, dtype=pl.String).gather(place)


def _coded_label(point: float, bottom: float | None, top: float | None, written: Any) -> str | None:
    if math.isnan(point):
        return None
    if bottom is not None and point < bottom:
        return f"< {written(bottom)}"
    if top is not None and point >= top:
        return f">= {written(top)}"
    return str(written(point))


def _check_widths(widths: Sequence[float], word: str) -> None:
    """Raise for widths (or steps) that are missing, not positive, or not multiples of the last."""
    if not widths or not all(width > 0 and math.isfinite(width) for width in widths):
        raise InputError(f"a {word} must be a number above 0")
    for number, (finer, coarser) in enumerate(itertools.pairwise(widths), start=2):
        if coarser < finer:
            raise InputError(f"level {number} is finer than the one before; {word}s must grow")
        if (_exact(coarser) / _exact(finer)).denominator != 1:
            raise InputError(
                f"level {number} does not nest: its {word} must be a multiple of the one before"
            )


def _around(at: Floats, width: Fraction) -> tuple[Floats, Floats]:
    """The multiples of a width around each point; NaN where they would not be exact.

    The width is a fraction part / unit, so that multiples of 0.1 are `count * 1 / 10`: the float
    nearest to the decimal, where `count * 0.1` would drift (0.30000000000000004).
    """
    part, unit = float(width.numerator), float(width.denominator)
    count = np.floor(at / float(width))
    with np.errstate(invalid="ignore"):
        # The quotient above was rounded, so the point may lie in the interval before or after.
        count -= at < count * part / unit
        count += at >= (count + 1) * part / unit
        count[(np.abs(count) + 1) * part >= EXACT] = np.nan
    return count * part / unit, (count + 1) * part / unit


def as_levels(given: Any, word: str) -> list[list[Any]]:
    """Read a list (one level) or a list of lists (several) as a list of lists."""
    if isinstance(given, list | tuple) and given:
        nested = [isinstance(level, list | tuple) for level in given]
        if all(nested):
            return [list(level) for level in given]
        if not any(nested):
            return [list(given)]
    raise InputError(f"{word} must be a list, or a list of lists, one for each level")


def only_words(description: Mapping[str, Any], allowed: Sequence[str]) -> None:
    """Raise for keys that this form does not know."""
    if unknown := [word for word in description if word not in allowed]:
        raise InputError(f"unknown entry {unknown[0]!r}; allowed here: {', '.join(allowed)}")


def _points(given: Sequence[Any], word: str) -> tuple[bool, list[float]]:
    """Whether the points are dates, and their positions on the axis."""
    places = [_place(point) for point in given]
    dates = {dated for dated, _ in filter(None, places)}
    if None in places or len(dates) > 1:
        raise InputError(f"{word} must be all numbers, or all dates such as 2024-12-31")
    return dates == {True}, [place for _, place in filter(None, places)]


def _place(point: Any) -> tuple[bool, float] | None:
    if isinstance(point, str):
        try:
            point = date.fromisoformat(point)
        except ValueError:
            return None
    if isinstance(point, date) and not isinstance(point, datetime):
        return True, float(point.toordinal() - 1)
    if isinstance(point, bool) or not isinstance(point, int | float):
        return None
    return (False, float(point)) if abs(point) <= LARGEST_NUMBER else None


def on_axis(values: pl.Series, dated: bool | None) -> Floats:
    """The values as points on the axis of numbers, or of days; NaN for missing."""
    temporal = values.dtype in (pl.Date, pl.Datetime)
    if not (temporal or values.dtype.is_numeric()) or (dated is not None and dated != temporal):
        needed = {True: "dates", False: "numbers", None: "numbers or dates"}[dated]
        raise InputError(f"intervals between {needed} do not fit a column of {values.dtype}")
    return as_floats(values.cast(pl.Date)) + _EPOCH if temporal else as_floats(values)


def _label(lower: float, upper: float, written: Any) -> str | None:
    if math.isnan(lower):
        return None
    if math.isinf(lower):
        return f"< {written(upper)}"
    if math.isinf(upper):
        return f">= {written(lower)}"
    return f"[{written(lower)}, {written(upper)})"


def _whole_label(lower: float, upper: float, large: bool) -> str:
    """Label of an interval of whole numbers."""
    if math.isinf(lower):
        return f"under {_number(upper)}" if large else f"{_number(upper - 1)} or less"
    if math.isinf(upper):
        return f"{_number(lower)} or more"
    if upper - lower == 1:
        return _number(lower)
    end = f"under {_number(upper)}" if large else _number(upper - 1)
    return f"{_number(lower)} to {end}"


def whole_bounds(label: str) -> tuple[float | None, float | None] | None:
    """Parse a label of whole numbers as (lower, upper); `None` if it is not written so.

    >>> whole_bounds("40 to 44"), whole_bounds("55000 to under 70000"), whole_bounds("under 9")
    ((40.0, 45.0), (55000.0, 70000.0), (None, 9.0))
    """
    if found := _BOTH.fullmatch(label):
        last = float(found[3] or found[1])
        return float(found[1]), last if found[2] else last + 1
    if found := _HALF.fullmatch(label):
        end = float(found[1])
        return (None, end + 1) if found[2] == "less" else (end, None)
    if found := _UNDER.fullmatch(label):
        return None, float(found[1])
    return None


def _are_whole(points: Iterable[float]) -> bool:
    return all(point == int(point) for point in points)


def _is_said_whole(description: Mapping[str, Any]) -> bool:
    whole = description.get("whole", False)
    if not isinstance(whole, bool):
        raise InputError("whole must be true or false")
    return whole


def _plain(number: float) -> int | float:
    return int(number) if number == int(number) and abs(number) < EXACT else number


def _number(number: float) -> str:
    return str(_plain(number))


def day_text(days: float) -> str:
    """The date of a day on the axis; beyond the calendar, its first or last day."""
    ordinal = min(max(int(days) + 1, 1), date.max.toordinal())
    return date.fromordinal(ordinal).isoformat()


def open_bounds(label: str) -> Bounds | None:
    """Parse a label such as ``< 20`` or ``>= 2024-01-01``; `None` if it is not written so."""
    found = _OPEN.fullmatch(label)
    if found is None:
        return None
    end = _end(found[2])
    return (None, end) if found[1] == "<" else (end, None)


def _end(text: str) -> End:
    try:
        return float(text)
    except ValueError:
        return date.fromisoformat(text)


def _exact(width: float) -> Fraction:
    """The number as it is written: 0.1 is exactly a tenth, which the float is not."""
    return Fraction(str(width))


def _check_nested(number: int, finer: set[float], coarser: set[float]) -> None:
    if new := coarser - finer:
        wrong = "is finer than" if coarser > finer else "does not nest in"
        raise InputError(
            f"level {number} {wrong} the one before: {plural(len(new), 'cut')} of it "
            f"{'is' if len(new) == 1 else 'are'} not among the cuts of level {number - 1}"
        )


FORMS: dict[str, type[Any]] = {
    "cuts": Cuts,
    "width": Widths,
    "ends": Ends,
    Multiples.word: Multiples,
}
"""Each form by the key of a description that selects it."""
