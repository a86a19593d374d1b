"""A picture of the weight triangle: which candidate wins under which weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tamis.charts import COLOURS, INK, SOFT, Picture, shortened
from tamis.errors import InputError
from tamis.rank.evaluation import Evaluation
from tamis.rank.sensitivity import Sensitivity

Corners = NDArray[np.float64]

_WIDTH, _HEIGHT = 760.0, 460.0
_TOP, _BOTTOM, _LEFT, _SIDE = 84.0, 404.0, 60.0, 370.0
_COLOURS = (*COLOURS[:7], SOFT)


def weight_picture(found: Evaluation, moves: Sensitivity, names: Sequence[str]) -> Picture:
    """Each winner's part of the triangle, with exact borders, and the given weights as a ring.

    Parameters
    ----------
    found : Evaluation
        With three factors.
    moves : Sensitivity
        For the same evaluation.
    names : sequence of str
        The names of the candidates.
    """
    factors = list(found.factors)
    if len(factors) != 3:
        raise InputError(f"the weight triangle needs three factors, got {len(factors)}")
    picture = Picture(
        _WIDTH,
        _HEIGHT,
        "which candidate wins under which weights",
        "; ".join(f"{names[who]} {100 * s:.0f}%" for who, s in moves.shares.items()),
    )
    ranks = np.column_stack(list(found.ranks.values())).astype(float)
    for number, who in enumerate(moves.shares):
        points = [_place(corner) for corner in winning_part(ranks, who)]
        if points:
            colour = _COLOURS[min(number, len(_COLOURS) - 1)]
            picture.steps([*points, points[0]], fill=colour, fill_opacity=0.75, stroke="#ffffff")
    _corners(picture, factors)
    given = np.array(list(found.weights.values()))
    x, y = _place(given / given.sum())
    picture.circle(x, y, 7, "the given weights", fill="#ffffff", stroke=INK, stroke_width=2.5)
    _legend(picture, moves, names)
    picture.heading(_LEFT, 34, "Which candidate wins under which weights")
    return picture


def winning_part(ranks: NDArray[np.float64], who: int) -> list[Corners]:
    """The corners, as weights, of the part of the triangle where no sum exceeds a candidate's.

    >>> ranks = np.array([[2.0, 1.0, 1.0], [1.0, 2.0, 1.0]])
    >>> [corner.tolist() for corner in winning_part(ranks, 0)]
    [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
    """
    corners = list(np.eye(3))
    for other in ranks:
        corners = _cut_off(corners, ranks[who] - other)
    return corners


def _cut_off(corners: list[Corners], ahead: NDArray[np.float64]) -> list[Corners]:
    """The part of a polygon where a weighted sum is not below zero (Sutherland and Hodgman)."""
    kept = []
    for here, after in zip(corners, [*corners[1:], *corners[:1]]):
        now, then = float(here @ ahead), float(after @ ahead)
        if now >= 0:
            kept.append(here)
        if now * then < 0:
            kept.append(here + (after - here) * now / (now - then))
    return kept


def _place(weights: Corners) -> tuple[float, float]:
    """Weights on the canvas: the first factor at the top, then bottom left and bottom right."""
    x = _LEFT + _SIDE * (weights[0] / 2 + weights[2])
    return float(x), float(_BOTTOM - (_BOTTOM - _TOP) * weights[0])


def _corners(picture: Picture, factors: Sequence[str]) -> None:
    top, left, right = (_place(corner) for corner in np.eye(3))
    picture.steps([top, left, right, top], fill="none", stroke=INK)
    words = [f"{shortened(name, 24)} only" for name in factors]
    picture.text(top[0], top[1] - 12, words[0], anchor="middle")
    picture.text(left[0] - 40, left[1] + 26, words[1])
    picture.text(right[0] + 40, right[1] + 26, words[2], anchor="end")


def _legend(picture: Picture, moves: Sensitivity, names: Sequence[str]) -> None:
    x = _LEFT + _SIDE + 50
    for number, (who, share) in enumerate(list(moves.shares.items())[:10]):
        y = _TOP + 28 * number
        colour = _COLOURS[min(number, len(_COLOURS) - 1)]
        picture.rect(x, y - 12, 16, 16, fill=colour, fill_opacity=0.75)
        words = f"{shortened(names[who], 26)}, {100 * share:.0f}%"
        picture.text(x + 24, y + 1, words, font_weight="600" if who == moves.winner else None)
    picture.circle(x + 8, _BOTTOM - 4, 7, fill="#ffffff", stroke=INK, stroke_width=2.5)
    picture.text(x + 24, _BOTTOM + 1, "the given weights", fill=SOFT)
