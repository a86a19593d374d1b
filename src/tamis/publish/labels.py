"""Whether the cells of a column in a coarser form are rungs of the ladder that a manifest states.

This reads the statement by itself: it knows no ladder, and none of the code that coarsens.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from itertools import pairwise
from math import inf
from typing import Any

import polars as pl

from tamis.table import bare


def wrong_labels(cells: pl.Series, said: dict[str, Any]) -> bool:
    """Whether any cell is no rung of what a manifest states.

    >>> wrong_labels(pl.Series(["[40, 50)", None, ">= 90"]), {"width": 10, "top": 90})
    False
    >>> wrong_labels(pl.Series(["[40, 45)"]), {"width": 10, "top": 90})
    True
    """
    word = next(word for word in _FITS if word in said)
    fits = _FITS[word](said)
    return not all(fits(text) for text in bare(cells).drop_nulls().unique().to_list())


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
    return lambda text: pattern.fullmatch(text) is not None


def _between_cuts(said: dict[str, Any]) -> Callable[[str], bool]:
    cuts = [-inf, *map(_point, said["cuts"]), inf]
    pairs = set(pairwise(cuts))
    return lambda text: _ends(text) in pairs


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
    "keep": _kept,
    "dates": _in_calendar,
    "groups": _in_groups,
}
