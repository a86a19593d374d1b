"""How much a choice depends on the weights, with a picture of their triangle, and on the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from tamis.charts import COLOURS, INK, SOFT, Panel, Picture, line_chart, shortened
from tamis.errors import InputError, plural
from tamis.notebook import in_short
from tamis.rank.evaluation import TIE, Evaluation, Values, Weights

MOST_POINTS = 5_000
"""The most weightings on the grid."""
Corners = NDArray[np.float64]

_WIDTH, _HEIGHT = 760.0, 460.0
_TOP, _BOTTOM, _LEFT, _SIDE = 84.0, 404.0, 60.0, 370.0
"""Edges of the triangle in the picture."""
_COLOURS = (*COLOURS[:7], SOFT)


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """Which candidate wins under which weights.

    Attributes
    ----------
    winner : int
        The winner under the given weights.
    margin : float
        The least total weight that must move between factors before another candidate is as good,
        in [0, 1]; infinite if no weights make another one better.
    rival : int or None
        The candidate that catches up first.
    weights : array of shape (points, factors)
        An even grid over all possible weights, which form a triangle if there are three factors.
    winners : array of int
        The winner at each point.
    shares : dict of int to float
        For each candidate that wins anywhere, the fraction of all possible weights under which it
        does.
    """

    winner: int
    margin: float
    rival: int | None
    weights: Values
    winners: NDArray[np.int64]
    shares: dict[int, float]

    def __repr__(self) -> str:
        rival = None if self.rival is None else f"margin {self.margin:.3g} before {self.rival}"
        return in_short(self, f"winner {self.winner} of {len(self.shares)} that can win", rival)


def sensitivity(found: Evaluation, sizes: Values | None = None) -> Sensitivity:
    """Find the winner under all weights, and how far the given ones are from another winner.

    `sizes` break ties, as in `evaluation`: the smallest wins.

    >>> from tamis.rank.evaluation import evaluation
    >>> scores = {"accuracy": [0.9, 0.8], "features": [5, 2]}
    >>> found = sensitivity(evaluation(
    ...     scores, ["accuracy:max", "features:min"], "accuracy=.7,features=.3"))
    >>> found.winner, found.rival, round(found.margin, 3)
    (0, 1, 0.2)
    >>> {k: round(v, 2) for k, v in found.shares.items()}
    {0: 0.5, 1: 0.5}
    """
    ranks = np.column_stack(list(found.ranks.values())).astype(float)
    given = np.array(list(found.weights.values()))
    # Weights whose sum is only near one are used as they are, but margins need exact shares.
    margins = _margins(ranks, given / given.sum(), found.best)
    rival = int(np.argmin(margins))
    points = weight_grid(ranks.shape[1])
    sizes = np.zeros(len(ranks)) if sizes is None else np.asarray(sizes, dtype=float)
    winners = _winners(points @ ranks.T, sizes)
    counts = zip(*np.unique(winners, return_counts=True))
    shares = {int(who): int(count) / len(points) for who, count in counts}
    return Sensitivity(
        found.best,
        float(margins[rival]),
        rival if np.isfinite(margins[rival]) else None,
        points,
        winners,
        dict(sorted(shares.items(), key=lambda entry: -entry[1])),
    )


def weight_grid(factors: int, most: int = MOST_POINTS) -> Values:
    """Grid of at most `most` points, spread evenly over all weights that sum to one, none zero.

    >>> weight_grid(2, most=2).tolist()
    [[0.25, 0.75], [0.75, 0.25]]
    """
    # Stars and bars: `factors - 1` bars part `steps` stars into a part for each factor.
    steps = 0
    while comb(steps + factors, factors - 1) <= most and factors > 1:
        steps += 1
    bars = np.array(list(combinations(range(steps + factors - 1), factors - 1)), dtype=int)
    edges = np.full((len(bars), 1), steps + factors - 1)
    parts = np.diff(np.hstack([np.full((len(bars), 1), -1), bars, edges]), axis=1) - 1
    # Each point is the centre of its cell, so that no weight is zero and shares are not biased
    # towards the border.
    grid: Values = (parts + 1 / factors) / (steps + 1)
    return grid


def _winners(totals: Values, sizes: Values) -> NDArray[np.int64]:
    """The candidate with the largest sum in each row; ties: the smallest size, then the first."""
    top = totals.max(axis=1, keepdims=True)
    ahead = totals >= top - TIE * np.abs(top)
    smallest_first = np.argsort(sizes, kind="stable")
    # Of a row of booleans, argmax is the first that is true.
    winners: NDArray[np.int64] = smallest_first[ahead[:, smallest_first].argmax(axis=1)]
    return winners


def _margins(ranks: Values, weights: Values, winner: int) -> Values:
    """For each candidate, the least weight to move before it is as good as the winner."""
    margins = np.full(len(ranks), np.inf)
    for other in range(len(ranks)):
        if other != winner:
            margins[other] = _to_catch_up(ranks[other] - ranks[winner], weights)
    return margins


def _to_catch_up(gain: Values, weights: Values) -> float:
    """The least weight to move before a rival with these gains in rank is as good as the winner.

    Weight goes to the factor that favours the rival most, first from those where it loses most.
    """
    # Greedy is optimal: each unit of weight yields most when moved from the least gain to the most.
    best = float(gain.max())
    if best <= 0:
        return np.inf
    missing = -float(gain @ weights)
    moved = 0.0
    for factor in np.argsort(gain, kind="stable"):
        per_unit = best - float(gain[factor])
        if missing <= TIE or per_unit <= 0:
            break
        step = min(float(weights[factor]), missing / per_unit)
        moved += step
        missing -= step * per_unit
    return moved


Subset = tuple[str, ...]


@dataclass(frozen=True)
class Stability:
    """A set of features over several runs: the fraction that found it, and that chose it."""

    features: Subset
    found: float
    won: float


def stability(runs: Iterable[tuple[Collection[Subset], Subset]]) -> list[Stability]:
    """How often, over several runs, each set of features is found and wins.

    A run is its candidates and its winner, each a tuple of names in the same order in every run.
    Most wins come first, then most often found.

    >>> a, b = ("age",), ("age", "job")
    >>> stability([([a, b], a), ([a], a), ([b], b), ([a, b], a)])
    [Stability(features=('age',), found=0.75, won=0.75),
     Stability(features=('age', 'job'), found=0.75, won=0.25)]
    """
    seen = list(runs)
    if not seen:
        raise InputError("stability needs at least one run")
    found = Counter(subset for candidates, _ in seen for subset in set(candidates))
    won = Counter(winner for _, winner in seen)
    every = [
        Stability(subset, found[subset] / len(seen), won[subset] / len(seen)) for subset in found
    ]
    return sorted(every, key=lambda s: (-s.won, -s.found, len(s.features), s.features))


def weight_picture(found: Evaluation, moves: Sensitivity, names: Sequence[str]) -> Picture:
    """Picture of the weight triangle of three factors, divided among the winners.

    The given weights are a ring. Borders are computed exactly, not from the grid; `names` are
    those of the candidates.
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
    """Corners, as weights, of the part of the triangle in which a candidate has the largest sum.

    >>> ranks = np.array([[2.0, 1.0, 1.0], [1.0, 2.0, 1.0]])
    >>> [corner.tolist() for corner in winning_part(ranks, 0)]
    [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
    """
    corners = list(np.eye(3))
    for other in ranks:
        corners = _cut_off(corners, ranks[who] - other)
    return corners


def _cut_off(corners: list[Corners], ahead: NDArray[np.float64]) -> list[Corners]:
    """Clip a polygon to where a weighted sum is at least 0 (Sutherland and Hodgman)."""
    kept = []
    for here, after in zip(corners, [*corners[1:], *corners[:1]]):
        now, then = float(here @ ahead), float(after @ ahead)
        if now >= 0:
            kept.append(here)
        # The edge crosses the border: the crossing point is a corner of the part.
        if now * then < 0:
            kept.append(here + (after - here) * now / (now - then))
    return kept


def scores_picture(
    found: Evaluation, weightings: Sequence[Weights], names: Sequence[str]
) -> Picture:
    """Picture of E(S) of every candidate, one line for each weighting; the highest in words.

    Notes
    -----
    Jafer, Matwin and Sokolova (2017), Figures 9 to 16.
    """
    judged = {}
    for weights in weightings:
        other = found.reweighted(weights)
        words = ", ".join(f"{name} {share:.3g}" for name, share in other.weights.items())
        judged[words] = other
    best = "; ".join(f"{words}: {names[other.best]}" for words, other in judged.items())
    series = {words: other.scores.tolist() for words, other in judged.items()}
    panel = Panel("", list(names), series, y_title="E(S)")
    title = f"E(S) of {len(names)} candidates under {plural(len(judged), 'weighting')}"
    return line_chart(title, f"Highest: {best}.", [panel])


def _place(weights: Corners) -> tuple[float, float]:
    """Place of weights on the canvas; corners: top, bottom left and bottom right."""
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
