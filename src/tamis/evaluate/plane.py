"""A picture of kept and told: nothing at the lower left, everything at the upper right."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from tamis.charts import BLUE, INK, ORANGE, SOFT, Axes, Picture, Scale, percentage, shortened
from tamis.errors import plural
from tamis.notebook import share_words

if TYPE_CHECKING:
    from tamis.evaluate.scorecard import Row, Scorecard

_WIDTH, _HEIGHT = 500.0, 420.0
_LETTER = 7.5
"""The width of a letter in a name, rather too much than too little."""
Place = tuple[float, float]


def plane_picture(
    card: Scorecard,
    front: Sequence[Row] = (),
    chosen: Row | None = None,
    barred: Collection[str] = (),
) -> Picture:
    """Every release by what it keeps and tells, on the rows that figures are reported from.

    Where nothing is told, the number of columns takes the place of told.

    Parameters
    ----------
    card : Scorecard
    front : sequence of Row
        Joined by a line.
    chosen : Row, optional
        Ringed and named.
    barred : collection of str
        The names of releases that do not meet the limits, drawn as crosses.
    """
    every = (card.floor, *card.rows)
    told = all(row.value("told") is not None for row in every)
    picture = Picture(
        _WIDTH, _HEIGHT, "releases by what they keep and tell", _description(card, chosen)
    )
    axes = Axes(picture, 58, _WIDTH - 18, 56, _HEIGHT - 56)
    across, up = _scales(axes, every, told)
    places = {id(row): (across(_told(row, told)), up(row.value("kept") or 0.0)) for row in every}
    points = [places[id(row)] for row in front]
    picture.steps(points, fill="none", stroke=SOFT, stroke_width=1.5)
    for row in every:
        _mark(picture, row, places[id(row)], row in front, row.release.name in barred)
    taken = list(places.values())
    if chosen is not None:
        at = places[id(chosen)]
        picture.circle(*at, 11, fill="none", stroke=INK, stroke_width=2)
        _name(picture, shortened(chosen.release.name, 30), at, taken, INK)
    for row, words in ((card.floor, "nothing"), (card.baseline, "everything")):
        if row is not chosen:
            _name(picture, words, places[id(row)], taken, SOFT)
    picture.heading(16, 28, "What is kept, and what is told" if told else "What is kept")
    return picture


def _description(card: Scorecard, chosen: Row | None) -> str:
    words = f"{plural(len(card.candidates), 'release')} besides everything and nothing."
    if chosen is None:
        return words
    kept, told = (share_words(chosen.value(m)) or "an unknown share" for m in ("kept", "told"))
    return f"{words} The chosen one keeps {kept} and tells {told}."


def _told(row: Row, told: bool) -> float:
    return float(row.value("told") or 0.0) if told else float(row.release.size)


def _scales(axes: Axes, rows: Sequence[Row], told: bool) -> tuple[Scale, Scale]:
    """The scales, with their grid and titles."""
    most = max([1.0, *(_told(row, told) for row in rows)])
    across = axes.across(-0.05 * most, 1.06 * most)
    up = axes.up(-0.08, max(1.1, *((row.value("kept") or 0.0) + 0.1 for row in rows)))
    ticks = [0.0, 0.25, 0.5, 0.75, 1.0]
    axes.rows(up, ticks, percentage)
    below = ticks if told else [t for t in across.ticks(6) if t == int(t) and t >= 0]
    axes.columns(across, below, percentage if told else "{:g}".format, grid=False)
    table = rows[0].release.table
    axes.title_below(_HEIGHT - 14, "told of the sensitive column" if told else "columns released")
    axes.title_beside(18, f"kept of {shortened(str(table.target), 24)}")
    return across, up


def _mark(picture: Picture, row: Row, at: Place, front: bool, barred: bool) -> None:
    x, y = at
    told = share_words(row.value("told"))
    tip = f"{row.release.name}: keeps {share_words(row.value('kept'))}" + (
        f", tells {told}" if told else ""
    )
    if barred:
        for x1, x2 in ((x - 4, x + 4), (x + 4, x - 4)):
            picture.line(x1, y - 4, x2, y + 4, stroke=ORANGE, stroke_width=1.5)
        return
    picture.circle(x, y, 5, tip, fill=BLUE if front else "#ffffff", stroke=BLUE, stroke_width=1.5)


def _name(picture: Picture, words: str, at: Place, taken: list[Place], fill: str) -> None:
    """A name beside a point, where it covers the fewest of the points and names that are taken."""
    wide = _LETTER * len(words)
    spots = [
        (at[0] + (16 if right else -16 - wide), at[1] + down)
        for down in (4, -14, 24, -32, 42)
        for right in (at[0] < _WIDTH / 2, at[0] >= _WIDTH / 2)
    ]
    x, y = min(spots, key=lambda spot: _hidden(spot, wide, taken))
    taken.extend((x + wide * part / 4, y - 4) for part in range(5))
    picture.text(
        x, y, words, size=12, fill=fill, stroke="#ffffff", stroke_width=3, paint_order="stroke"
    )


def _hidden(spot: Place, wide: float, taken: Sequence[Place]) -> int:
    x, y = spot
    outside = x < 58 or x + wide > _WIDTH - 4 or not 56 < y < _HEIGHT - 58
    covered = sum(x - 7 < a < x + wide + 7 and y - 17 < b < y + 9 for a, b in taken)
    return 1000 * outside + covered
