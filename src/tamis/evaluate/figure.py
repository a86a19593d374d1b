"""A figure, and from where to where it may lie."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.evaluate.holdout import Said

LEVEL = 0.95
RESAMPLES = 400
_Z = 1.959963984540054  # the normal quantile of 0.975


@dataclass(frozen=True)
class Figure:
    """A number with its interval at the level 0.95, where one makes sense.

    Examples
    --------
    >>> share(8, 10)
    Figure(value=0.8, low=0.49..., high=0.94...)
    """

    value: float
    low: float | None = None
    high: float | None = None

    def to_dict(self) -> dict[str, float | None]:
        return {"value": self.value, "low": self.low, "high": self.high}


def share(right: int, of: int) -> Figure:
    """A share of independent rows, with Wilson's interval."""
    p = right / of
    middle = (p + _Z**2 / (2 * of)) / (1 + _Z**2 / of)
    half = _Z * sqrt(p * (1 - p) / of + _Z**2 / (4 * of * of)) / (1 + _Z**2 / of)
    return Figure(p, min(p, max(0.0, middle - half)), max(p, min(1.0, middle + half)))


def change(
    now: NDArray[np.bool_], before: NDArray[np.bool_], random_state: int = 0
) -> Figure | None:
    """How much more often one is right than the other on the same rows, as a fraction.

    The interval is of the bootstrap over rows. `None` where the other is never right.

    >>> change(np.array([True, False]), np.array([True, True])).value
    -0.5
    """
    if not before.any():
        return None
    counts = _resampled(np.column_stack([now, before]), random_state)
    counts = counts[counts[:, 1] > 0]
    low, high = _middle(counts[:, 0] / counts[:, 1] - 1)
    return Figure(float(now.sum() / before.sum() - 1), low, high)


def f_measure(said: Said, random_state: int = 0) -> Figure:
    """The mean over the labels of the held-out rows of the F-measure of each.

    >>> yes, no = np.array(["y", "n"]), np.array(["y", "y"])
    >>> round(f_measure(Said(yes, no, yes, None)).value, 3)
    0.333
    """
    labels = np.unique(said.truth)
    parts = []
    for label in labels:
        is_so, called = said.truth == label, said.said == label
        parts += [is_so & called, is_so, called]
    marks = np.column_stack(parts)
    low, high = _middle(_mean_f(_resampled(marks, random_state)))
    return Figure(float(_mean_f(marks.sum(axis=0)[None, :])[0]), low, high)


def auc(said: Said) -> Figure | None:
    """The area under the ROC curve, the mean over the labels, each against the rest.

    Of two labels the interval is that of Hanley and McNeil (1982). `None` where the model has no
    probabilities, or the held-out rows one label only.
    """
    from sklearn.metrics import roc_auc_score

    present = np.unique(said.truth)
    if said.surely is None or len(present) < 2:
        return None
    nothing = np.zeros(len(said.truth))
    known = {label: said.surely[:, i] for i, label in enumerate(said.classes)}
    areas = [roc_auc_score(said.truth == c, known.get(c, nothing)) for c in present]
    value = float(np.mean(areas))
    if len(present) > 2:
        return Figure(value)
    half = _Z * _hanley_mcneil(value, int((said.truth == present[0]).sum()), len(said.truth))
    return Figure(value, max(0.0, value - half), min(1.0, value + half))


def _hanley_mcneil(area: float, ones: int, rows: int) -> float:
    first, second = area / (2 - area), 2 * area**2 / (1 + area)
    others = rows - ones
    variance = (
        area * (1 - area) + (ones - 1) * (first - area**2) + (others - 1) * (second - area**2)
    )
    return sqrt(max(0.0, variance) / (ones * others))


def _mean_f(counts: NDArray[Any]) -> NDArray[np.float64]:
    both, so, called = counts[:, 0::3], counts[:, 1::3], counts[:, 2::3]
    total = so + called
    f = np.divide(2 * both, total, out=np.zeros(total.shape), where=total > 0)
    mean: NDArray[np.float64] = f.mean(axis=1)
    return mean


def _resampled(marks: NDArray[np.bool_], random_state: int) -> NDArray[np.float64]:
    """Column sums of the marks over rows drawn with replacement, many times."""
    draw = np.random.default_rng(random_state)
    kinds, counts = np.unique(marks, axis=0, return_counts=True)
    drawn = draw.multinomial(len(marks), counts / len(marks), size=RESAMPLES)
    sums: NDArray[np.float64] = (drawn @ kinds).astype(np.float64)
    return sums


def _middle(values: NDArray[np.float64]) -> tuple[float, float]:
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)
