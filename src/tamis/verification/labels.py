"""Labels of generalised columns: whether the stated form gives them, and which values get which.

This interprets the manifest independently: it uses none of the code that generalises. Each form
that a manifest may state is a class, which declares the keys of the statement.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from itertools import pairwise
from math import inf
from typing import Any, ClassVar

import polars as pl

from tamis.table import bare
from tamis.table_file import MOMENT
from tamis.verification.value_shapes import (
    Keyed,
    Shape,
    is_count,
    is_date,
    is_finite_number,
    is_point,
    is_text,
    one_of,
)

READ_BINS = "a class ends at its cut and includes it"
"""How the classes of a target of numbers are read."""
_HALF_OPEN = "[a, b) means from a up to but not including b"
_BOTH_ENDS = "a to b means from a to b, both included"
_UNDER = "a to under b means from a up to but not including b"
Interval = tuple[float, float]
Fits = Callable[[str], bool]
Labels = list[str | None] | None


@dataclass(frozen=True)
class StatedForm(ABC):
    """A generalised form as a manifest states it."""

    said: Mapping[str, Any]

    word: ClassVar[str]
    """The key that tells statements of this form from others."""
    keys: ClassVar[dict[str, Shape]]
    """The keys of the statement and their shapes."""

    @property
    @abstractmethod
    def read(self) -> str:
        """How its labels are read, in words."""

    @abstractmethod
    def fits(self) -> Fits:
        """A predicate that says whether a label is one of this form."""

    @property
    def kind(self) -> str:
        """The kind of the column before it was generalised; empty where the statement is silent."""
        ends = self.points
        return "number" if all(isinstance(end, int | float) for end in ends) else "date"

    @property
    def points(self) -> list[Any]:
        """The ends of intervals that are stated."""
        return [self.said[end] for end in ("bottom", "top") if end in self.said]

    def ends(self, label: str) -> Interval | None:
        """The ends of the interval that a label stands for; `None` where it is no interval."""
        return _ends(label)

    def labels_of(self, values: pl.Series, labels: list[str], form: Any) -> Labels:
        """The label of each value; see the function `labels_of`."""
        return _labels_between(_points(values), labels, _ends_or_point)


class StatedCuts(StatedForm):
    """Intervals between given cuts."""

    word = "cuts"
    keys: ClassVar[dict[str, Shape]] = {"cuts": [is_point], "whole?": one_of(True)}

    @property
    def _whole(self) -> bool:
        return self.said.get("whole") is True

    @property
    def read(self) -> str:
        if not self._whole:
            return _HALF_OPEN
        return _UNDER if any(abs(cut) >= 10_000 for cut in self.said["cuts"]) else _BOTH_ENDS

    @property
    def points(self) -> list[Any]:
        return list(self.said["cuts"])

    def fits(self) -> Fits:
        cuts = [-inf, *map(_point, self.said["cuts"]), inf]
        pairs = set(pairwise(cuts))
        return lambda text: self.ends(text) in pairs

    def ends(self, label: str) -> Interval | None:
        return (_whole_ends if self._whole else _ends)(label)

    def labels_of(self, values: pl.Series, labels: list[str], form: Any) -> Labels:
        read = _whole_ends if self._whole else _ends_or_point
        return _labels_between(_points(values), labels, read)


class StatedWidth(StatedForm):
    """Intervals of equal width, the outermost of which may be open."""

    word = "width"
    keys: ClassVar[dict[str, Shape]] = {
        "width": is_finite_number,
        "bottom?": is_point,
        "top?": is_point,
        "whole?": one_of(True),
    }

    @property
    def _whole(self) -> bool:
        return self.said.get("whole") is True

    @property
    def read(self) -> str:
        if not self._whole:
            return _HALF_OPEN
        return _UNDER if self.said["width"] >= 1000 else _BOTH_ENDS

    def ends(self, label: str) -> Interval | None:
        return (_whole_ends if self._whole else _ends)(label)

    def labels_of(self, values: pl.Series, labels: list[str], form: Any) -> Labels:
        read = _whole_ends if self._whole else _ends_or_point
        return _labels_between(_points(values), labels, read)

    def fits(self) -> Fits:
        width = float(self.said["width"])
        bottom, top = (
            _point(self.said[end]) if end in self.said else None for end in ("bottom", "top")
        )

        def fits(text: str) -> bool:
            ends = self.ends(text)
            if ends is None:
                return False
            low, high = ends
            if low == -inf or high == inf:
                return high == bottom if low == -inf else low == top
            begins = low == bottom or _is_whole(low / width)
            stops = high == top or _is_whole(high / width)
            return begins and stops and high - low <= width * (1 + 1e-9)

        return fits


def _is_step(value: Any) -> bool:
    return is_finite_number(value) and value > 0


class StatedStep(StatedForm):
    """Numbers rounded down to multiples of a step, which stay numbers."""

    word = "step"
    keys: ClassVar[dict[str, Shape]] = {"step": _is_step}
    read = "a number stands for all from it up to but not including the next multiple of the step"
    kind = "number"

    @property
    def _step(self) -> Fraction:
        return Fraction(str(self.said["step"]))

    def fits(self) -> Fits:
        step = self._step

        def fits(text: str) -> bool:
            number = _as_written(text)
            return number is not None and (number / step).denominator == 1

        return fits

    def labels_of(self, values: pl.Series, labels: list[str], form: Any) -> Labels:
        step, known = self._step, {_as_written(label): label for label in labels}
        return [known.get(Fraction(repr(point)) // step * step) for point in _points(values)]


class StatedEnds(StatedForm):
    """Exact values, top- and bottom-coded: one label beyond each end."""

    word = "ends"
    keys: ClassVar[dict[str, Shape]] = {"ends": {"bottom?": is_point, "top?": is_point}}
    read = "values as they are, but for < and >=, which mean below and from there on"

    @property
    def points(self) -> list[Any]:
        return list(self.said["ends"].values())

    def fits(self) -> Fits:
        bottom, top = _open_ends(self.said["ends"])

        def fits(text: str) -> bool:
            ends = _ends(text)
            if ends is not None:
                return ends in ((-inf, bottom), (top, inf))
            try:
                return bottom <= _point(text) < top
            except ValueError:
                return False

        return fits


class StatedPrefix(StatedForm):
    """The first characters of a text."""

    word = "keep"
    keys: ClassVar[dict[str, Shape]] = {"keep": is_count}
    read = "a star stands for each character left out"
    kind = "text"

    def fits(self) -> Fits:
        kept = int(self.said["keep"])
        return lambda text: set(text[kept:]) <= {"*"}

    def labels_of(self, values: pl.Series, labels: list[str], form: Any) -> Labels:
        kept = int(self.said["keep"])
        return [text[:kept] + "*" * (len(text) - kept) for text in _texts(values)]


_CALENDAR = {
    "hour": r"(\d{4,}-\d\d-\d\d )?\d\d:00",
    "day": r"\d{4,}-\d\d-\d\d",
    "month": r"\d{4,}-\d\d",
    "quarter": r"\d{4,}-Q[1-4]",
    "year": r"\d{4,}",
    "decade": r"\d{3,}0s",
}
"""How each part of the calendar is written, as a pattern."""


class StatedDates(StatedForm):
    """Parts of the calendar."""

    word = "dates"
    keys: ClassVar[dict[str, Shape]] = {
        "dates": one_of(*_CALENDAR),
        "bottom?": is_date,
        "top?": is_date,
    }
    read = "a date is given by the part of the calendar that it lies in"
    kind = "date"

    def fits(self) -> Fits:
        unit = self.said["dates"]
        pattern = re.compile(_CALENDAR[unit])
        tails = {f"< {self.said.get('bottom')}", f">= {self.said.get('top')}"}
        low, high = _open_ends(self.said)

        def fits(text: str) -> bool:
            if pattern.fullmatch(text) is None:
                return text in tails
            # A part that reaches beyond an end would split the tail that its dates belong to.
            if unit == "hour" or (ends := _calendar_ends(text)) is None:
                return True
            return low <= ends[0] and ends[1] <= high

        return fits

    def ends(self, label: str) -> Interval | None:
        return _calendar_ends(label)

    def labels_of(self, values: pl.Series, labels: list[str], form: Any) -> Labels:
        if self.said["dates"] != "hour":
            return _labels_between(_points(values), labels, _calendar_ends)
        at = "%H:00" if values.dtype == pl.Time else "%Y-%m-%d %H:00"
        hours = values.dt.strftime(at).to_list()
        if values.dtype == pl.Time or not {"bottom", "top"} & set(self.said):
            return hours
        tails = _labels_between(_points(values), [x for x in labels if x[0] in "<>"], _ends)
        return [tail or hour for tail, hour in zip(tails, hours)]


class StatedGroups(StatedForm):
    """Groups of values, of which the manifest lists the common ones."""

    word = "groups"
    keys: ClassVar[dict[str, Shape]] = {"groups": Keyed([is_text]), "unlisted?": is_text}
    read = "a label stands for all values of its group; rare values are not named"
    kind = ""

    def fits(self) -> Fits:
        labels = set(self.said["groups"])
        return lambda text: text in labels

    def labels_of(self, values: pl.Series, labels: list[str], form: Any) -> Labels:
        return _labels_of_groups(values, self.said, form)


STATED = {
    form.word: form
    for form in (
        StatedCuts,
        StatedWidth,
        StatedStep,
        StatedEnds,
        StatedPrefix,
        StatedDates,
        StatedGroups,
    )
}


def stated_form(said: Mapping[str, Any]) -> StatedForm | None:
    """The form of a statement; `None` where it has none of them.

    >>> stated_form({"width": 10, "top": 90}).read
    '[a, b) means from a up to but not including b'
    """
    return next((form(said) for word, form in STATED.items() if word in said), None)


def _known_form(said: Mapping[str, Any]) -> StatedForm:
    if (form := stated_form(said)) is None:
        raise KeyError(f"a coarser form states one of {', '.join(STATED)}")
    return form


def wrong_labels(cells: pl.Series, said: dict[str, Any]) -> bool:
    """Whether any cell is a label that the stated form does not give.

    >>> wrong_labels(pl.Series(["[40, 50)", None, ">= 90"]), {"width": 10, "top": 90})
    False
    >>> wrong_labels(pl.Series(["[40, 45)"]), {"width": 10, "top": 90})
    True
    """
    fits = _known_form(said).fits()
    texts = bare(cells).drop_nulls().unique().cast(pl.String)
    return not all(fits(text) for text in texts.to_list())


def wrong_bounds(labels: pl.Series, ends: pl.Series, end: str, said: dict[str, Any]) -> bool:
    """Whether `ends` differs from the lower (or upper) ends of the labels in the same rows.

    >>> labels = pl.Series(["[40, 50)", ">= 90"])
    >>> wrong_bounds(labels, pl.Series([40.0, 90.0]), "lower", {"width": 10, "top": 90})
    False
    >>> wrong_bounds(labels, pl.Series([50.0, 90.0]), "upper", {"width": 10, "top": 90})
    True
    """
    pairs = pl.DataFrame({"label": bare(labels), "end": bare(ends)}).unique()
    side, form = ("lower", "upper").index(end), _known_form(said)
    return any(_place(cell) != _known_end(label, side, form) for label, cell in pairs.iter_rows())


def _known_end(label: str | None, side: int, form: StatedForm) -> float | None:
    """The lower (0) or upper (1) end of a label; `None` where it is open or the label missing."""
    both = None if label is None else form.ends(label)
    return None if both is None or both[side] in (inf, -inf) else both[side]


def _place(cell: Any) -> float | None:
    return float(cell.toordinal() - 1) if isinstance(cell, date) else cell


def _calendar_ends(label: str) -> Interval | None:
    """The first day of a part of the calendar and the first day after it; tails are open."""
    if label.startswith(("< ", ">= ")):
        return _ends(label)
    if re.fullmatch(r"\d{4}-\d\d-\d\d", label):
        day = _point(label)
        return day, (day + 1 if day + 1 < date.max.toordinal() else inf)
    found = re.fullmatch(r"(\d{4})(?:-(Q?)(\d+)|(s))?", label)
    if found is None:
        return None
    months = 120 if found[4] else 3 if found[2] else 1 if found[3] else 12
    first = 12 * int(found[1]) + (int(found[3] or 1) - 1) * months
    return _month(first), _month(first + months)


def _month(months: int) -> float:
    """The first day of a month, counted from the year 0; infinite beyond the calendar."""
    year, month = divmod(months, 12)
    if not 1 <= year <= date.max.year:
        return inf
    return float(date(year, month + 1, 1).toordinal() - 1)


def _whole_ends(text: str) -> Interval | None:
    """The ends of an interval of whole numbers, the upper one exclusive.

    >>> _whole_ends("57 to 62"), _whole_ends("0"), _whole_ends("17 or less"), _whole_ends("< 5")
    ((57.0, 63.0), (0.0, 1.0), (-inf, 18.0), None)
    >>> _whole_ends("under 55000"), _whole_ends("55000 to under 70000")
    ((-inf, 55000.0), (55000.0, 70000.0))
    """
    if found := re.fullmatch(r"(?:(-?[0-9]+) to )?under (-?[0-9]+)", text):
        return float(found[1] or -inf), float(found[2])
    if found := re.fullmatch(r"(-?[0-9]+)(?: to (-?[0-9]+))?", text):
        return float(found[1]), float(found[2] or found[1]) + 1
    if found := re.fullmatch(r"(-?[0-9]+) or (less|more)", text):
        end = float(found[1])
        return (-inf, end + 1) if found[2] == "less" else (end, inf)
    return None


def _open_ends(said: Mapping[str, Any]) -> Interval:
    """The stated bottom and top; infinite where there is none."""
    bottom, top = said.get("bottom"), said.get("top")
    return -inf if bottom is None else _point(bottom), inf if top is None else _point(top)


def _as_written(text: str) -> Fraction | None:
    """The number that the digits of a text say, exactly: 0.1 is a tenth, not the nearest float."""
    try:
        return Fraction(repr(float(text)))
    except ValueError:
        return None


def _is_whole(number: float) -> bool:
    return abs(number - round(number)) < 1e-6


def _ends(text: str) -> Interval | None:
    """The ends of an interval ``[a, b)``, ``< b`` or ``>= a``; `None` for any other text."""
    try:
        if found := re.fullmatch(r"\[(.+), (.+)\)", text):
            return _point(found[1]), _point(found[2])
        if found := re.fullmatch(r"(<|>=) (.+)", text):
            end = _point(found[2])
            return (-inf, end) if found[1] == "<" else (end, inf)
    except ValueError:
        return None
    return None


def _point(end: Any) -> float:
    """A number as it is; a date as days since 1 January of the year 1."""
    try:
        return float(end)
    except ValueError:
        return float(date.fromisoformat(end).toordinal() - 1)


def labels_of(
    values: pl.Series, labels: list[str], said: dict[str, Any], form: Any = None
) -> Labels:
    """The label that each value has in a file; `None` for a value that no row can have.

    `values` are distinct values of the original column, none missing; `labels` are those of the
    file, of the form `said` in the manifest. `form` is the level and ladder of the holder's recipe,
    which lists every value of a group. Returns `None` where groups are stated and do not list every
    value.

    >>> labels_of(pl.Series([39, 41, 95]), ["[40, 50)", ">= 90"], {"width": 10, "top": 90})
    [None, '[40, 50)', '>= 90']
    >>> labels_of(pl.Series(["cook", "bard"]), ["manual"], {"groups": {"manual": ["cook"]}})
    """
    return _known_form(said).labels_of(values, labels, form)


def _labels_between(
    points: list[float], labels: list[str], ends: Callable[[str], Interval | None]
) -> list[str | None]:
    """The label whose interval contains each point, `None` where none does."""
    known = sorted((*both, label) for label in labels if (both := ends(label)) is not None)
    lows = [low for low, _, _ in known]
    chosen: list[str | None] = []
    for point in points:
        # Intervals are disjoint, so only the last that begins at or before the point can hold it.
        # An exact value is an interval of no width, which holds its one point.
        place = bisect_right(lows, point) - 1
        inside = place >= 0 and (point < known[place][1] or point == known[place][0])
        chosen.append(known[place][2] if inside else None)
    return chosen


def _ends_or_point(label: str) -> Interval | None:
    """The ends of an interval; for an exact value, that value twice."""
    if (found := _ends(label)) is not None:
        return found
    try:
        return (_point(label), _point(label))
    except ValueError:
        return None


def _points(values: pl.Series) -> list[float]:
    """Numbers as they are; dates and times in days since 1 January of the year 1."""
    if values.dtype.is_numeric():
        return values.cast(pl.Float64).to_list()
    moments = values.cast(pl.Datetime("us")).to_physical().to_list()
    return [moment / 86_400_000_000 + EPOCH for moment in moments]


EPOCH = date(1970, 1, 1).toordinal() - 1
"""Days from 1 January of the year 1 to the first day that polars counts from."""


def _labels_of_groups(values: pl.Series, said: Mapping[str, Any], form: Any) -> Labels:
    number = values.dtype.is_numeric()
    keys = [_group_key(text, number) for text in _texts(values)]
    if form is None:
        named = {_group_key(v, number): label for label, vs in said["groups"].items() for v in vs}
        return [named[key] for key in keys] if all(key in named for key in keys) else None
    ladder, level = form["ladder"], form["level"]
    if "common" in ladder:
        common = {_group_key(v, number): v for v in ladder["common"][level - 1]}
        texts = dict(zip(keys, _texts(values)))
        return [texts[key] if key in common else ladder.get("other", "other") for key in keys]
    levels = ladder["groups"]
    levels = [levels] if isinstance(levels, dict) else levels  # learnt groups have one level
    place = {_group_key(v, number): g for g, vs in levels[0].items() for v in vs}
    for groups in levels[1:level]:
        above = {member: group for group, members in groups.items() for member in members}
        place = {key: above.get(label, ladder.get("unlisted")) for key, label in place.items()}
    return [place.get(key, ladder.get("unlisted")) for key in keys]


def _group_key(text: str, number: bool) -> Any:
    """What values of groups are compared by: numbers by value, however they are written."""
    try:
        return float(text) if number else text
    except ValueError:
        return text


def _texts(values: pl.Series) -> list[str]:
    """Values as ladders write them: whole numbers without a decimal point."""
    if values.dtype == pl.Datetime:
        return values.dt.strftime(MOMENT).to_list()
    texts = values.cast(pl.String)
    return (texts.str.strip_suffix(".0") if values.dtype.is_float() else texts).to_list()
