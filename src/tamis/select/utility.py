"""What a single 0/1 feature is worth: utilities that are sums over the features."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tamis.evaluate.separation import differing_pairs

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]


def hamming(support: Counts, ones: Counts, rows: int, positives: int) -> Floats:
    """Share of the pairs of opposite classes in which the feature differs."""
    pairs = differing_pairs(support, ones, rows, positives)
    return pairs / (positives * (rows - positives))


def difference(support: Counts, ones: Counts, rows: int, positives: int) -> Floats:
    """How far the shares of ones in the two classes lie apart."""
    apart = np.abs(ones * (rows - positives) - (support - ones) * positives)
    return apart / (positives * (rows - positives))


def mutual_information(support: Counts, ones: Counts, rows: int, positives: int) -> Floats:
    """Mutual information of feature and label, in nats.

    >>> mutual_information(np.array([2, 4]), np.array([2, 2]), 4, 2).round(3).tolist()
    [0.693, 0.0]
    """
    total = np.zeros(len(support))
    for cell, feature, label in (
        (ones, support, positives),
        (support - ones, support, rows - positives),
        (positives - ones, rows - support, positives),
        (rows - positives - support + ones, rows - support, rows - positives),
    ):
        present = cell > 0
        share = cell[present] / rows
        total[present] += share * np.log(cell[present] * rows / (feature[present] * label))
    # Rounded, so that columns of equal worth tie and do not fall apart in the last bit.
    return np.maximum(np.round(total, 12), 0.0)


MODULAR: dict[str, Callable[[Counts, Counts, int, int], Floats]] = {
    "hamdist": hamming,
    "difference": difference,
    "information": mutual_information,
}
