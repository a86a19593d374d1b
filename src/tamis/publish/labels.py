"""The labels of a column in a coarser form: whether the stated ladder gives them, and to whom.

This reads the statement by itself: it knows no ladder, and none of the code that coarsens.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from datetime import date
from itertools import pairwise
from math import inf
from typing import Any

import polars as pl

from tamis.table import bare
from tamis.table_file import MOMENT

ENDS = "[a, b) means from a up to but not including b"
READ = {
    "cuts": ENDS,
    "whole": "a to b means from a to b, both included",
    "width": ENDS,
    "ends": "values as they are, but for < and >=, which mean below and from there on",
    "keep": "a star stands for each character left out",
    "dates": "a date is given by the part of the calendar that it lies in",
    "bins": "a class ends at its cut and includes it",
    "groups": "a label stands for all values of its group; rare values are not named",
}
"""How labels are read, by the word that says so."""
WORDS = ("cuts", "width", "ends", "keep", "dates", "groups")
"""The word of a statement that says which form it has."""


def wrong_labels(cells: pl.Series, said: dict[str, Any]) -> bool:
    """Whether any cell is no rung of what a manifest states.

    >>> wrong_labels(pl.Series(["[40, 50)", None, ">= 90"]), {"width": 10, "top": 90})
    False
    >>> wrong_labels(pl.Series(["[40, 45)"]), {"width": 10, "top": 90})
    True
    """
    word = next(word for word in WORDS if word in said)
    fits = _FITS[word](said)
    return not all(fits(text) for text in bare(cells).drop_nulls().unique().to_list())


def wrong_bounds(labels: pl.Series, ends: pl.Series, end: str, said: dict[str, Any]) -> bool:
    """Whether a column does not hold the lower, or the upper, end of each label beside it.

    >>> labels = pl.Series(["[40, 50)", ">= 90"])
    >>> wrong_bounds(labels, pl.Series([40.0, 90.0]), "lower", {"width": 10, "top": 90})
    False
    >>> wrong_bounds(labels, pl.Series([50.0, 90.0]), "upper", {"width": 10, "top": 90})
    True
    """
    pairs = pl.DataFrame({"label": bare(labels), "end": bare(ends)}).unique()
    side = ("lower", "upper").index(end)
    return any(_place(cell) != _known_end(label, side, said) for label, cell in pairs.iter_rows())


def _known_end(label: str | None, side: int, said: dict[str, Any]) -> float | None:
    """An end of a label as a number; none where it is open, or the label is missing."""
    if label is None:
        return None
    both = _calendar_ends(label) if "dates" in said else _reader_of(said)(label)
    return None if both is None or both[side] in (inf, -inf) else both[side]


def _place(cell: Any) -> float | None:
    return float(cell.toordinal() - 1) if isinstance(cell, date) else cell


def _calendar_ends(label: str) -> tuple[float, float] | None:
    """The first day of a part of the calendar, and the first day after it; a tail is open."""
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
    """The first day of a month, counted from the year 0; none beyond the calendar."""
    year, month = divmod(months, 12)
    if not 1 <= year <= date.max.year:
        return inf
    return float(date(year, month + 1, 1).toordinal() - 1)


def _in_groups(said: dict[str, Any]) -> Callable[[str], bool]:
    labels = set(said["groups"])
    return lambda text: text in labels


def _kept(said: dict[str, Any]) -> Callable[[str], bool]:
    kept = int(said["keep"])
    return lambda text: set(text[kept:]) <= {"*"}


def _in_calendar(said: dict[str, Any]) -> Callable[[str], bool]:
    pattern = re.compile(
        {
            "hour": r"(\d{4,}-\d\d-\d\d )?\d\d:00",
            "day": r"\d{4,}-\d\d-\d\d",
            "month": r"\d{4,}-\d\d",
            "quarter": r"\d{4,}-Q[1-4]",
            "year": r"\d{4,}",
            "decade": r"\d{3,}0s",
        }[said["dates"]]
    )
    open_ends = {f"< {said.get('bottom')}", f">= {said.get('top')}"}

    def fits(text: str) -> bool:
        if pattern.fullmatch(text) is None:
            return text in open_ends
        # A part beyond an end would be told apart from the tail that it belongs to.
        if said["dates"] == "hour" or (ends := _calendar_ends(text)) is None:
            return True
        low, high = (
            _point(said[e]) if e in said else o for e, o in (("bottom", -inf), ("top", inf))
        )
        return low <= ends[0] and ends[1] <= high

    return fits


def _between_cuts(said: dict[str, Any]) -> Callable[[str], bool]:
    cuts = [-inf, *map(_point, said["cuts"]), inf]
    pairs, ends = set(pairwise(cuts)), _reader_of(said)
    return lambda text: ends(text) in pairs


def _reader_of(said: dict[str, Any]) -> Callable[[str], tuple[float, float] | None]:
    """What reads the ends of intervals as they are written there."""
    return _whole_ends if said.get("whole") is True else _ends


def _whole_ends(text: str) -> tuple[float, float] | None:
    """The ends of an interval of whole numbers, of which the upper one is the first beyond it.

    >>> _whole_ends("57 to 62"), _whole_ends("0"), _whole_ends("17 or less"), _whole_ends("< 5")
    ((57.0, 63.0), (0.0, 1.0), (-inf, 18.0), None)
    """
    if found := re.fullmatch(r"(-?[0-9]+)(?: to (-?[0-9]+))?", text):
        return float(found[1]), float(found[2] or found[1]) + 1
    if found := re.fullmatch(r"(-?[0-9]+) or (less|more)", text):
        end = float(found[1])
        return (-inf, end + 1) if found[2] == "less" else (end, inf)
    return None


def _of_width(said: dict[str, Any]) -> Callable[[str], bool]:
    width = float(said["width"])
    bottom, top = (_point(said[end]) if end in said else None for end in ("bottom", "top"))

    def fits(text: str) -> bool:
        ends = _ends(text)
        if ends is None:
            return False
        low, high = ends
        if low == -inf or high == inf:
            return high == bottom if low == -inf else low == top
        begins, ends_so = low == bottom or _whole(low / width), high == top or _whole(high / width)
        return begins and ends_so and high - low <= width * (1 + 1e-9)

    return fits


def _at_ends(said: dict[str, Any]) -> Callable[[str], bool]:
    bottom, top = (
        _point(said["ends"][end]) if end in said["ends"] else open_end
        for end, open_end in (("bottom", -inf), ("top", inf))
    )

    def fits(text: str) -> bool:
        ends = _ends(text)
        if ends is not None:
            return ends in ((-inf, bottom), (top, inf))
        try:
            return bottom <= _point(text) < top
        except ValueError:
            return False

    return fits


def _whole(number: float) -> bool:
    return abs(number - round(number)) < 1e-6


def _ends(text: str) -> tuple[float, float] | None:
    """The ends of an interval as it is written; none if it is not written like one."""
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
    """A number, or the number of a day, counted from the first of January 1."""
    try:
        return float(end)
    except ValueError:
        return float(date.fromisoformat(end).toordinal() - 1)


_FITS: dict[str, Callable[[dict[str, Any]], Callable[[str], bool]]] = {
    "cuts": _between_cuts,
    "width": _of_width,
    "ends": _at_ends,
    "keep": _kept,
    "dates": _in_calendar,
    "groups": _in_groups,
}


def labels_of(
    values: pl.Series, labels: list[str], said: dict[str, Any], form: Any = None
) -> list[str | None] | None:
    """The label that each value has in a file; `None` for one that no row of it can have.

    Values are distinct and as they are before they are made coarser, none missing; labels are those
    of the file, of which the manifest says `said`. `form` is the level and the ladder of the
    holder's recipe, which has every value of a group; the whole is `None` where groups are stated
    and do not name every value.

    >>> labels_of(pl.Series([39, 41, 95]), ["[40, 50)", ">= 90"], {"width": 10, "top": 90})
    [None, '[40, 50)', '>= 90']
    >>> labels_of(pl.Series(["cook", "bard"]), ["manual"], {"groups": {"manual": ["cook"]}})
    """
    if "groups" in said:
        return _labels_of_groups(values, said, form)
    if "keep" in said:
        kept = int(said["keep"])
        return [text[:kept] + "*" * (len(text) - kept) for text in _texts(values)]
    if said.get("dates") == "hour":
        at = "%H:00" if values.dtype == pl.Time else "%Y-%m-%d %H:00"
        hours = values.dt.strftime(at).to_list()
        if values.dtype == pl.Time or not {"bottom", "top"} & set(said):
            return hours
        tails = _labels_between(_points(values), [x for x in labels if x[0] in "<>"], _ends)
        return [tail or hour for tail, hour in zip(tails, hours)]
    read = _ends_or_point if _reader_of(said) is _ends else _whole_ends
    ends = _calendar_ends if "dates" in said else read
    return _labels_between(_points(values), labels, ends)


def _labels_between(
    points: list[float], labels: list[str], ends: Callable[[str], tuple[float, float] | None]
) -> list[str | None]:
    known = sorted((*both, label) for label in labels if (both := ends(label)) is not None)
    lows = [low for low, _, _ in known]
    found: list[str | None] = []
    for point in points:
        place = bisect_right(lows, point) - 1
        inside = place >= 0 and (point < known[place][1] or point == known[place][0])
        found.append(known[place][2] if inside else None)
    return found


def _ends_or_point(label: str) -> tuple[float, float] | None:
    """The ends of an interval; of a value that is told as it is, the value twice."""
    if (found := _ends(label)) is not None:
        return found
    try:
        return (_point(label), _point(label))
    except ValueError:
        return None


def _points(values: pl.Series) -> list[float]:
    """Numbers as they are, dates in days from the first of January 1."""
    if values.dtype.is_numeric():
        return values.cast(pl.Float64).to_list()
    moments = values.cast(pl.Datetime("us")).to_physical().to_list()
    return [moment / 86_400_000_000 + EPOCH for moment in moments]


EPOCH = date(1970, 1, 1).toordinal() - 1


def _labels_of_groups(
    values: pl.Series, said: dict[str, Any], form: Any
) -> list[str | None] | None:
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
    """What a value of a group is compared by: numbers by their size, however they are written."""
    try:
        return float(text) if number else text
    except ValueError:
        return text


def _texts(values: pl.Series) -> list[str]:
    """Values as ladders write them: a whole number without a point."""
    if values.dtype == pl.Datetime:
        return values.dt.strftime(MOMENT).to_list()
    texts = values.cast(pl.String)
    return (texts.str.strip_suffix(".0") if values.dtype.is_float() else texts).to_list()
