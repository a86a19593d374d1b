"""Releases as dots: the higher, the more they keep; the further left, the less they tell."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from tamis.charts import (
    ACCENT,
    INK,
    LETTER,
    ORANGE,
    SOFT,
    Axes,
    Picture,
    Place,
    Scale,
    percentage,
    shortened,
)
from tamis.errors import plural
from tamis.notebook import share_words

if TYPE_CHECKING:
    from tamis.evaluate.scorecard import Row, Scorecard

_WIDTH, _HEIGHT = 560.0, 470.0
_NEAR = 10.5
"""Least distance between the centres of two dots: a dot's diameter and a gap."""


def kept_told_picture(
    card: Scorecard,
    front: Sequence[Row] = (),
    chosen: Row | None = None,
    forbidden: Collection[str] = (),
    named: Sequence[Row] = (),
) -> Picture:
    """Draw every release by what it keeps and tells on the reporting rows.

    Without a secret, the number of columns takes the place of told. The rows of the `front` are
    joined by a line, the `chosen` one is ringed and named; releases of `forbidden` names break a
    limit and are drawn as crosses. Those in `named` are labelled. Dots that would cover each other
    are moved side by side.
    """
    every = (card.floor, *card.rows)
    told = all(row.value("told") is not None for row in every)
    picture = Picture(
        _WIDTH, _HEIGHT, "releases by what they keep and tell", _description(card, chosen)
    )
    axes = Axes(picture, 58, _WIDTH - 18, 56, _HEIGHT - 82)
    across, up = _scales(axes, every, told)
    exact = {id(row): (across(_told(row, told)), up(row.value("kept") or 0.0)) for row in every}
    # Whoever is placed first keeps the exact place, so the chosen release is.
    first = [*([] if chosen is None else [chosen]), *front]
    places = _side_by_side(exact, [*map(id, first), *exact], None if chosen is None else id(chosen))
    points = [exact[id(row)] for row in front]
    picture.steps(points, fill="none", stroke=ACCENT, stroke_width=2)
    for row in every:
        _mark(picture, row, places[id(row)], row in front, row.release.name in forbidden)
    taken = list(places.values())
    if chosen is not None:
        at = places[id(chosen)]
        picture.circle(*at, 4.5, fill=ACCENT, stroke=ACCENT, stroke_width=1.5)
        picture.circle(*at, 9, fill="none", stroke=INK, stroke_width=2)
        _name(picture, shortened(chosen.release.name, 30), at, taken, INK)
    for words, at in _names_of_places([(row.release.name, places[id(row)]) for row in named]):
        _name(picture, words, at, taken, INK)
    for row, words in ((card.floor, "nothing"), (card.baseline, "everything")):
        if row is not chosen:
            _name(picture, words, places[id(row)], taken, SOFT)
    picture.heading(16, 28, "What is kept, and what is told" if told else "What is kept")
    _legend(picture, chosen is not None, len(front) > 1, bool(forbidden))
    return picture


def _side_by_side(
    exact: Mapping[int, Place], order: Iterable[int], ringed: int | None
) -> dict[int, Place]:
    """Places at which no dot covers another: each moves sideways, as little as possible."""
    places: dict[int, Place] = {}
    for key in order:
        if key in places:
            continue
        x, y = exact[key]
        around = [(at, _NEAR + 5 * (other == ringed)) for other, at in places.items()]
        # Alternately right and left, so that a cluster stays centred on its true place.
        steps = (_NEAR / 2 * ((i + 1) // 2) * (1 if i % 2 else -1) for i in range(1, 80))
        for move in (0.0, *steps):
            free = all(math.hypot(x + move - a, y - b) >= apart for (a, b), apart in around)
            if free and 58 <= x + move <= _WIDTH - 18:
                x += move
                break
        places[key] = x, y
    return places


def _legend(picture: Picture, chosen: bool, front: bool, forbidden: bool) -> None:
    x, y = 16.0, _HEIGHT - 14
    if chosen:
        picture.circle(x + 6, y - 4, 3.5, fill=ACCENT)
        picture.circle(x + 6, y - 4, 7, fill="none", stroke=INK, stroke_width=1.5)
        picture.text(x + 20, y, "chosen", size=12, fill=SOFT)
        x += 82
    picture.circle(x + 6, y - 4, 4.5, fill="#ffffff", stroke=ACCENT, stroke_width=1.5)
    picture.text(x + 18, y, "a release", size=12, fill=SOFT)
    x += 94
    if front:
        picture.line(x, y - 4, x + 18, y - 4, stroke=ACCENT, stroke_width=2)
        picture.circle(x + 9, y - 4, 4.5, fill=ACCENT)
        picture.text(x + 24, y, "beaten by no other", size=12, fill=SOFT)
        x += 160
    if forbidden:
        _cross(picture, x + 6, y - 4)
        picture.text(x + 18, y, "breaks a limit", size=12, fill=SOFT)


def _description(card: Scorecard, chosen: Row | None) -> str:
    words = f"{plural(len(card.candidates), 'release')} besides everything and nothing."
    if chosen is None:
        return words
    kept, told = (share_words(chosen.value(m)) or "an unknown share" for m in ("kept", "told"))
    return f"{words} The chosen one keeps {kept} and tells {told}."


def _told(row: Row, told: bool) -> float:
    return float(row.value("told") or 0.0) if told else float(row.release.size)


def _scales(axes: Axes, rows: Sequence[Row], told: bool) -> tuple[Scale, Scale]:
    """Draw the grid and the titles; return the scales."""
    most = max([1.0, *(_told(row, told) for row in rows)])
    across = axes.across(-0.12 * most, 1.1 * most)
    up = axes.up(-0.08, max(1.1, *((row.value("kept") or 0.0) + 0.1 for row in rows)))
    ticks = [0.0, 0.25, 0.5, 0.75, 1.0]
    axes.rows(up, ticks, percentage)
    below = ticks if told else [t for t in across.ticks(6) if t == int(t) and t >= 0]
    axes.columns(across, below, percentage if told else "{:g}".format, grid=False)
    table = rows[0].release.table
    axes.title_below(_HEIGHT - 42, "told of the sensitive column" if told else "columns released")
    axes.title_beside(18, f"kept of {shortened(str(table.target), 24)}")
    return across, up


def _mark(picture: Picture, row: Row, at: Place, front: bool, forbidden: bool) -> None:
    x, y = at
    told = share_words(row.value("told"))
    tip = f"{row.release.name}: keeps {share_words(row.value('kept'))}" + (
        f", tells {told}" if told else ""
    )
    if forbidden:
        _cross(picture, x, y)
        return
    fill = ACCENT if front else "#ffffff"
    picture.circle(x, y, 4.5, tip, fill=fill, stroke=ACCENT, stroke_width=1.5)


def _cross(picture: Picture, x: float, y: float) -> None:
    for x1, x2 in ((x - 3.5, x + 3.5), (x + 3.5, x - 3.5)):
        picture.line(x1, y - 3.5, x2, y + 3.5, stroke=ORANGE, stroke_width=1.5)


def _names_of_places(named: Sequence[tuple[str, Place]]) -> list[tuple[str, Place]]:
    """Merge the names of points that cover each other, since they would be unreadable.

    >>> _names_of_places([("a.csv", (9.0, 9.0)), ("b.csv", (10.0, 8.0)), ("c.csv", (90.0, 9.0))])
    [('a.csv and 1 more', (9.0, 9.0)), ('c.csv', (90.0, 9.0))]
    """
    names_at: dict[Place, list[str]] = {}
    for name, at in named:
        near = (p for p in names_at if abs(p[0] - at[0]) < 10 and abs(p[1] - at[1]) < 10)
        names_at.setdefault(next(near, at), []).append(shortened(name, 30))
    return [
        (names[0] + (f" and {len(names) - 1} more" if len(names) > 1 else ""), at)
        for at, names in names_at.items()
    ]


def _name(picture: Picture, words: str, at: Place, taken: list[Place], fill: str) -> None:
    """Write a name beside a point, where it covers the fewest points and other names."""
    wide = LETTER * len(words)
    spots = [
        (at[0] + (16 if right else -16 - wide), at[1] + down)
        for down in (4, -14, 24, -32, 42)
        for right in (at[0] < _WIDTH / 2, at[0] >= _WIDTH / 2)
    ]
    picture.name(words, spots, taken, (58, _WIDTH - 4, 56, _HEIGHT - 84), fill=fill)
