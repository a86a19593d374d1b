"""A picture of the classes of an audit: how many hide among how many."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tamis.charts import BLUE, ORANGE, SOFT, Picture

if TYPE_CHECKING:
    from tamis.risk.audit import Exposure

BINS = ((1, 1), (2, 4), (5, 9), (10, 19), (20, 49), (50, 99), (100, None))
SMALL = 5
"""Groups of fewer are drawn as ones to avoid."""
_WIDTH, _LEFT, _TRACK, _TOP, _LINE = 500.0, 110.0, 300.0, 66.0, 30.0


def classes_picture(found: Exposure) -> Picture:
    """A bar for each range of group sizes; the longest fills its track.

    Examples
    --------
    >>> import polars as pl
    >>> from tamis.risk.audit import exposure
    >>> svg = classes_picture(exposure(pl.DataFrame({"sex": ["f", "m", "m"]}))).svg()
    >>> "alone" in svg and "2 to 4" in svg
    True
    """
    counts = [(low, high, _people(found, low, high)) for low, high in BINS]
    shown = [each for each in counts if each[2] or each[0] == 1]
    most = max(people for _, _, people in shown)
    picture = Picture(
        _WIDTH,
        _TOP + _LINE * len(shown),
        f"how many {found.unit} look alike",
        "; ".join(f"{_label(low, high)}: {people:,}" for low, high, people in shown),
    )
    picture.heading(16, 28, f"How well {found.unit} hide")
    picture.text(16, 48, f"{found.unit} by how many look alike", size=13, fill=SOFT)
    for i, (low, high, people) in enumerate(shown):
        y = _TOP + _LINE * i
        picture.text(_LEFT - 12, y + 14, _label(low, high), anchor="end")
        picture.rect(
            _LEFT, y, _TRACK * people / most, 18, fill=ORANGE if low < SMALL else BLUE, rx=2
        )
        picture.text(_WIDTH - 16, y + 14, f"{people:,}", anchor="end")
    return picture


def _people(found: Exposure, low: int, high: int | None) -> int:
    return sum(s.people for s in found.class_sizes if low <= s.size <= (high or s.size))


def _label(low: int, high: int | None) -> str:
    if high is None:
        return f"{low} or more"
    return "alone" if high == 1 else f"{low} to {high}"
