"""A figure and its confidence interval.

::

    share, accuracy   Wilson's interval
    change            the score interval of a ratio of paired shares (Nam and Blackwelder)
    auc               DeLong's variance, on the logit scale, for two labels or more
    f_measure         the variance of its linear part, on the logit scale

No interval has zero width, and none needs a random draw. Rows of one person are not independent:
where people have several, counts are divided by the `design_effect`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import copysign, exp, inf, log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.arrays import Floats
from tamis.learn.holdout import Predictions
from tamis.people import People, PeopleLike

_Z = 1.959963984540054  # the normal quantile of 0.975


@dataclass(frozen=True)
class Interval:
    """A 95% confidence interval."""

    low: float
    high: float


@dataclass(frozen=True)
class Figure:
    """A number with its 95% confidence interval, if one makes sense.

    Examples
    --------
    >>> wilson_share(8, 10)
    Figure(value=0.8, low=0.49..., high=0.94...)
    """

    value: float
    low: float | None = None
    high: float | None = None

    @property
    def interval(self) -> Interval | None:
        """Both ends; `None` for a figure without an interval."""
        return None if self.low is None or self.high is None else Interval(self.low, self.high)

    def as_share(self) -> Figure:
        """The same figure with its interval clipped to [0, 1].

        >>> Figure(0.75, 0.5, 1.25).as_share()
        Figure(value=0.75, low=0.5, high=1.0)
        """
        ends = self.interval
        return self if ends is None else Figure(self.value, max(0.0, ends.low), min(1.0, ends.high))

    def to_dict(self) -> dict[str, float | None]:
        return {"value": self.value, "low": self.low, "high": self.high}


def wilson_share(right: float, of: float) -> Figure:
    """A share of independent rows, with Wilson's interval."""
    p = right / of
    middle = (p + _Z**2 / (2 * of)) / (1 + _Z**2 / of)
    half = _Z * sqrt(p * (1 - p) / of + _Z**2 / (4 * of * of)) / (1 + _Z**2 / of)
    # Rounding may push an end past the share itself where that is 0 or 1.
    return Figure(p, min(p, max(0.0, middle - half)), max(p, min(1.0, middle + half)))


def accuracy(right: NDArray[np.bool_], people: PeopleLike = None) -> Figure:
    """The share of correct rows, where several rows may belong to the same person.

    >>> accuracy(np.array([True, True, False, False]))
    Figure(value=0.5, low=0.15..., high=0.84...)
    >>> accuracy(np.array([True, True, False, False]), np.array([0, 0, 1, 1]))
    Figure(value=0.5, low=0.06..., high=0.93...)
    """
    alike = design_effect(right - right.mean(), people)
    interval = wilson_share(float(right.sum()) / alike, len(right) / alike)
    return Figure(float(right.mean()), interval.low, interval.high)


def accuracy_change(
    now: NDArray[np.bool_], before: NDArray[np.bool_], people: PeopleLike = None
) -> Figure | None:
    """Relative change in accuracy between two models on the same rows, as a fraction.

    `None` if `before` is never correct.

    Notes
    -----
    The interval contains every ratio of the two shares that the score test does not reject. Nam and
    Blackwelder (2002), "Analysis of the ratio of marginal probabilities in a matched-pair
    setting", give the test and its constrained estimates in closed form.

    >>> accuracy_change(np.array([True, False]), np.array([True, True])).value
    -0.5
    """
    if not before.any():
        return None
    ratio = now.sum() / before.sum()
    alike = design_effect(now - ratio * before, people)
    counts = [(now & before).sum(), (now & ~before).sum(), (before & ~now).sum(), len(now)]
    low, high = ratio_interval(*(float(count / alike) for count in counts))
    return Figure(float(ratio - 1), min(low, ratio) - 1, max(high, ratio) - 1)


def f_measure(predictions: Predictions, people: PeopleLike = None) -> Figure:
    """Macro-averaged F-measure over the labels of the held-out rows.

    >>> yes, no = np.array(["y", "n"]), np.array(["y", "y"])
    >>> round(f_measure(Predictions(yes, no, yes, None)).value, 3)
    0.333
    """
    labels = np.unique(predictions.truth)
    each, parts, spare = [], np.zeros(len(predictions.truth)), 0.0
    for label in labels:
        is_so, called = predictions.truth == label, predictions.predicted == label
        total = int(is_so.sum() + called.sum())
        f = 2 * int((is_so & called).sum()) / total
        each.append(f)
        # The linear part of F = 2 hits / total: each row's derivative, which sums to 0.
        parts += (2.0 * (is_so & called) - f * (is_so.astype(float) + called)) / total
        nearer = (f * total + _Z**2) / (total + 2 * _Z**2)  # Wilson's middle, for half the rows
        spare += nearer * (1 - nearer) * (2 / total) ** 2
    # One more row of each label, of unknown outcome, keeps a rare label from seeming certain.
    variance = _with_one_more(parts, spare, people) / len(labels) ** 2
    return _between(float(np.mean(each)), variance, _fewest(predictions.truth, people))


def auc(predictions: Predictions, people: PeopleLike = None) -> Figure | None:
    """Area under the ROC curve, one label against the rest, averaged over the labels.

    `None` if the model has no probabilities, or the held-out rows have only one label.

    Notes
    -----
    DeLong, DeLong and Clarke-Pearson (1988): the area of a label is a mean over pairs of rows, and
    each row's share in it (its structural component) comes from midranks. A row has a share in the
    area of every label; summed over the labels, these give the variance of their mean, with all
    covariances. One more row of each label, with the greatest variance that components can have,
    keeps a few rows from seeming certain.
    """
    present, rows = np.unique(predictions.truth, return_counts=True)
    if predictions.probabilities is None or len(present) < 2:
        return None
    nothing = np.zeros(len(predictions.truth))
    known = {label: predictions.probabilities[:, i] for i, label in enumerate(predictions.classes)}
    areas, parts, spread = [], np.zeros(len(predictions.truth)), np.zeros(len(present))
    for i, label in enumerate(present):
        mine = predictions.truth == label
        component = structural_components(known.get(label, nothing), mine)
        area = float(component[mine].mean())
        areas.append(area)
        parts += (component - area) / np.where(mine, rows[i], len(mine) - rows[i])
        widest = sqrt(max(0.0, area * (1 - area)))
        spread += widest / np.where(np.arange(len(present)) == i, rows[i], len(mine) - rows[i])
    variance = _with_one_more(parts, float((spread**2).sum()), people) / len(present) ** 2
    return _between(float(np.mean(areas)), variance, _fewest(predictions.truth, people))


def structural_components(score: Floats, mine: NDArray[np.bool_]) -> Floats:
    """For each row, the share of rows of the other class that it is ranked correctly against.

    Ties count half. The mean over either class is the area under the ROC curve.

    >>> structural_components(np.array([0.9, 0.4, 0.4]), np.array([True, True, False])).tolist()
    [1.0, 0.5, 0.75]
    """
    below = _ranks(score)
    for side in (mine, ~mine):
        below[side] -= _ranks(score[side])
    others = np.where(mine, (~mine).sum(), mine.sum())
    shares: Floats = np.where(mine, below, others - below) / others
    return shares


def _ranks(score: Floats) -> Floats:
    """Midranks from 1: equal scores share the mean of their ranks."""
    _, place, counts = np.unique(score, return_inverse=True, return_counts=True)
    ranks: Floats = (np.cumsum(counts) - (counts - 1) / 2)[place]
    return ranks


def ratio_interval(both: float, first: float, second: float, rows: float) -> tuple[float, float]:
    """The confidence interval of the ratio of two shares of the same rows.

    By the rows where both are correct, where only the first is, and where only the second is.

    >>> low, high = ratio_interval(50, 0, 0, 100)
    >>> round(low, 3), round(high, 3)
    (0.929, 1.077)
    """
    from scipy.optimize import brentq

    value = (both + first) / (both + second)

    def beyond(ratio: float, side: int) -> float:
        return side * _ratio_score(both, first, second, rows, ratio) - _Z

    # The score falls as the ratio grows, so each end is bracketed by halving or doubling the
    # estimate and then solved for.
    low = value
    if value > 0:
        low = value / 2
        while beyond(low, 1) < 0:
            low /= 2
        low = brentq(beyond, low, value, args=(1,))
    high = 2 * value or 1 / rows
    while beyond(high, -1) < 0:
        high *= 2
    return low, brentq(beyond, value, high, args=(-1,)) if high > value else high


def _ratio_score(both: float, first: float, second: float, rows: float, ratio: float) -> float:
    """Score statistic of the hypothesis that `ratio` is the true ratio, in standard errors."""
    apart = (both + first) - ratio * (both + second)
    if apart == 0:
        return 0.0
    only_first, only_second = _most_likely(both, first, second, rows, ratio)
    variance = rows * ratio * (only_first + only_second)
    return apart / sqrt(variance) if variance > 0 else copysign(inf, apart)


def _most_likely(
    both: float, first: float, second: float, rows: float, ratio: float
) -> tuple[float, float]:
    """Maximum likelihood probabilities that only the first or only the second is correct.

    The ratio does not constrain the probability that neither is correct, so it is as observed; that
    of only the first being correct is the larger root of a quadratic equation.
    """
    any_right = both + first + second
    some = any_right / rows
    square = ratio * (1 + ratio) * any_right
    linear = some * (both * (ratio**2 - 1) + first * (2 * ratio**2 - 1) + second * ratio**2)
    constant = first * ratio * (ratio - 1) * some**2
    root = (linear + sqrt(max(0.0, linear**2 - 4 * square * constant))) / (2 * square)
    least, most = max(0.0, (ratio - 1) * some / ratio), ratio * some / (1 + ratio)
    only_first = min(max(root, least), most)
    return only_first, max(0.0, ratio * only_first - (ratio - 1) * some)


def design_effect(parts: NDArray[Any], people: PeopleLike) -> float:
    """Design effect of drawing people instead of rows: how many rows count as one, at least 1.

    `parts` is what each row contributes to a figure, relative to its mean. The effect is the
    variance of their sum when people are drawn, divided by that when rows are drawn. If no part
    differs from the mean, rows of a person count as identical. Without `people`, every row is a
    person.

    >>> design_effect(np.array([0.5, 0.5, -0.5, -0.5]), np.array([0, 0, 1, 1]))
    3.0
    >>> design_effect(np.array([0.5, -0.5, 0.5, -0.5]), np.array([0, 0, 1, 1]))
    1.0
    """
    who = People.named(people, len(parts))
    if who.each_row:
        return 1.0
    number = np.unique(who.codes, return_inverse=True)[1]
    rows_of = np.bincount(number)
    rows, persons = len(parts), len(rows_of)
    alone = float((parts**2).sum())
    if persons == 1 or alone < 1e-12:
        return float((rows_of.astype(float) ** 2).sum() / rows)
    together = float((np.bincount(number, weights=parts) ** 2).sum())
    fewer = (persons / (persons - 1)) / (rows / (rows - 1))
    return max(1.0, together / alone * fewer)


def _with_one_more(parts: Floats, spare: float, people: PeopleLike) -> float:
    """Variance of a sum of parts, plus that of one more row or person of each label."""
    alike = design_effect(parts, people)
    return float((parts**2).sum()) * alike + spare * alike**2


def _fewest(truth: NDArray[Any], people: PeopleLike) -> int:
    """The number of people with the rarest label."""
    who = People.named(people, len(truth))
    return min(who.among(truth == label) for label in np.unique(truth))


def _between(value: float, variance: float, fewest: int) -> Figure:
    """Interval on the logit scale; at 0 and 1, Wilson's for the rarest label's people."""
    if not 1e-9 < value < 1 - 1e-9:
        end = wilson_share(round(value) * fewest, fewest)
        return Figure(value, end.low, end.high)
    middle, half = log(value / (1 - value)), _Z * sqrt(variance) / (value * (1 - value))
    return Figure(value, _expit(middle - half), _expit(middle + half))


def _expit(x: float) -> float:
    return 1 / (1 + exp(-x)) if x > -700 else 0.0  # exp overflows from 710 on
