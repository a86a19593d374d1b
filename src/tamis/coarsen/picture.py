"""A picture of a ladder: the groups of a column at each level, as wide as the rows they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from tamis.charts import BLUE, GRID, SOFT, Picture, shortened
from tamis.errors import plural
from tamis.table import bare

if TYPE_CHECKING:
    from tamis.coarsen.ladder import Ladder

_WIDTH, _LEFT, _TRACK, _TOP, _LINE = 760.0, 84.0, 652.0, 66.0, 62.0
_LETTER = 7.0
"""The width of a letter in a name."""


def ladder_picture(ladder: Ladder, values: pl.Series, least: int = 5) -> Picture:
    """One line for each level; a group is named where it has room and at least `least` rows.

    Level 0 holds the values of the table, and none of them is named.

    Examples
    --------
    >>> from tamis.coarsen.ladder import Ladder
    >>> ages = Ladder.from_dict("age", {"width": [10]})
    >>> svg = ages.plot(pl.Series("age", [43, 44, 48, 57]), least=3).svg()
    >>> "[40, 50)" in svg, "[50, 60)" in svg
    (True, False)
    """
    picture = Picture(
        _WIDTH,
        _TOP + _LINE * (ladder.top + 1),
        f"the levels of {shortened(ladder.column)}",
        "; ".join(f"level {n}: {ladder.words(n)}" for n in range(ladder.top + 1)),
    )
    picture.heading(16, 28, f"The levels of {shortened(ladder.column, 50)}")
    picture.text(16, 48, f"groups of {plural(values.len(), 'row')}", size=13, fill=SOFT)
    for level in range(ladder.top + 1):
        groups = _groups(ladder, values, level)
        y = _TOP + _LINE * level
        picture.text(16, y + 20, f"level {level}")
        _level(picture, groups, y, least if level else values.len() + 1)
        words = f"{plural(len(groups), 'group')}: {ladder.words(level)}"
        picture.text(_LEFT, y + 44, shortened(words, 96), size=12, fill=SOFT)
    return picture


def _groups(ladder: Ladder, values: pl.Series, level: int) -> list[tuple[str, int]]:
    """The groups of a level and their rows, in the order of the smallest value of each."""
    ordered = bare(values).sort(nulls_last=True)
    labels = bare(ladder.apply(ordered, level)).cast(pl.String).fill_null("missing")
    counted = pl.DataFrame({"label": labels}).group_by("label", maintain_order=True).len()
    return [(str(label), int(rows)) for label, rows in counted.iter_rows()]


def _level(picture: Picture, groups: list[tuple[str, int]], y: float, least: int) -> None:
    total, x = sum(rows for _, rows in groups), _LEFT
    for number, (label, rows) in enumerate(groups):
        wide = _TRACK * rows / max(total, 1)
        # A gap would hide groups that are narrower than it.
        gap = 1.5 if wide > 4 else 0.0
        shade = 0.9 if number % 2 else 0.7
        picture.rect(x, y, wide - gap, 28, fill=BLUE, fill_opacity=shade, rx=2, stroke=None)
        if rows >= least and wide > _LETTER * len(label) + 8:
            picture.text(x + wide / 2, y + 19, label, size=12, anchor="middle", fill="#ffffff")
        x += wide
    picture.line(_LEFT, y + 29, _LEFT + _TRACK, y + 29, stroke=GRID)
