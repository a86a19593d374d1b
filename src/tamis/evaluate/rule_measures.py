"""What became of rules, as single numbers.

Each is a function of a `Comparison`; 0 means that nothing changed. The paper gives the name
Rule Accuracy to three things; here `rule_accuracy` is the distance of equation 1, and
`right_share` the accuracy itself, of which one minus is the error of its Figure 4.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tamis.errors import InputError
from tamis.evaluate.comparison import Comparison
from tamis.rules.count import Counts

Reading = Literal["pairs", "first", "default"]

LEAST_SUPPORT = 5
"""Rows of the original below which the shares of labels of a rule say nothing."""

Shares = NDArray[np.float64]


def right_share(
    counts: Counts,
    predicted: NDArray[np.int64],
    weights: Shares,
    reading: Reading = "pairs",
    default: int = 0,
) -> float:
    """How often the rules are right in a table; 0 where they match nothing.

    Parameters
    ----------
    reading : {"pairs", "first", "default"}
        `"pairs"`: over all pairs of a row and a rule that it meets, which does not depend on
        the order of the rules. `"first"`: each row by its first rule, a row that meets none is
        wrong. `"default"`: the same, but such a row is predicted to have the label `default`.

    Notes
    -----
    On the leaves of a tree all readings are the same: the alpha of the paper.
    """
    rows = np.arange(len(predicted))
    if reading == "pairs":
        met = float(weights @ counts.support)
        return float(weights @ counts.by_label[rows, predicted]) / met if met else 0.0
    if counts.first is None:
        raise InputError(f"the reading {reading!r} needs the counts of first matches")
    right = int(counts.first[rows, predicted].sum())
    if reading == "default":
        right += int((counts.totals - counts.covered)[default])
    return right / counts.rows if counts.rows else 0.0


def rule_accuracy(
    comparison: Comparison, reading: Reading = "pairs", default: int | None = None
) -> float:
    """How far apart the rules are right in the two tables.

    `default` is the position of the label for rows without a rule; `None`: the commonest label
    of the original.

    Notes
    -----
    Equation 1: the absolute difference of alpha on the original and on the release.
    """
    before, after = right_shares(comparison, reading, default)
    return abs(before - after)


def right_shares(
    comparison: Comparison, reading: Reading = "pairs", default: int | None = None
) -> tuple[float, float]:
    """How often the rules are right in the original and in the release."""
    label = int(np.argmax(comparison.before.totals)) if default is None else default
    before, after = (
        right_share(counts, comparison.predicted, comparison.weights, reading, label)
        for counts in (comparison.before, comparison.after)
    )
    return before, after


def support_shares(counts: Counts) -> Shares:
    """The share of rows that meet each rule."""
    shares: Shares = counts.support / max(counts.rows, 1)
    return shares


def rsd(comparison: Comparison) -> float:
    """Rule Support Distance: the mean change of the share of rows that meet a rule.

    Notes
    -----
    Equation 2, with each support divided by the rows of its own table, so that a release with
    fewer or more rows stays within 1.
    """
    return float(comparison.weights @ _support_changes(comparison))


def total_variation(comparison: Comparison) -> float:
    """Half the sum of the changes of support; on the leaves of a tree at most 1.

    RSD of a tree cannot exceed 2 / rules, however bad the release; this can reach 1.
    """
    return float(_support_changes(comparison).sum()) / 2


def label_distances(comparison: Comparison) -> Shares:
    """The chi-squared distance of the shares of labels of each rule; NaN without rows before.

    A rule that is lost, or that no row of the release meets, is at distance 1.

    Notes
    -----
    Equation 3; a term 0/0 is 0.
    """
    before, after = (label_shares(c.by_label) for c in (comparison.before, comparison.after))
    both = before + after
    terms = np.divide((before - after) ** 2, both, out=np.zeros_like(both), where=both > 0)
    distance: Shares = terms.sum(axis=1) / 2
    distance[comparison.after.support == 0] = 1.0
    distance[comparison.before.support == 0] = np.nan
    return distance


def label_shares(by_label: NDArray[np.int64]) -> Shares:
    """The shares of the labels among the rows of each rule; NaN where there is no row."""
    support = by_label.sum(axis=1, keepdims=True)
    nowhere = np.full(by_label.shape, np.nan)
    shares: Shares = np.divide(by_label, support, out=nowhere, where=support > 0)
    return shares


def noise_floors(comparison: Comparison) -> Shares:
    """The distance that chance alone gives a rule with so few rows left; NaN without rows.

    Notes
    -----
    (labels - 1) / (4 rows of the release that meet the rule), at most 1.
    """
    support = comparison.after.support
    extra = len(comparison.after.labels) - 1
    floors = np.divide(extra, 4 * support, out=np.full(len(support), np.nan), where=support > 0)
    capped: Shares = np.minimum(floors, 1.0)
    return capped


def rld(comparison: Comparison, least_support: int = LEAST_SUPPORT) -> float:
    """Rule Label Distance: the mean distance of the labels over rules with enough rows before.

    NaN where no rule has `least_support` rows in the original.

    Notes
    -----
    Equation 4, without the rules that the paper advises to discount.
    """
    return _mean(comparison, label_distances(comparison), least_support)


def rld_floor(comparison: Comparison, least_support: int = LEAST_SUPPORT) -> float:
    """The mean of the noise floors over the rules that `rld` is the mean of and that have rows."""
    return _mean(comparison, noise_floors(comparison), least_support)


def relative_error(comparison: Comparison) -> float:
    """RE: the mean of the change of support as a share of the support before.

    Taken over rules that have rows in the original; NaN where none has.
    """
    before, after = comparison.before.support, comparison.after.support
    errors = np.divide(
        np.abs(before - after), before, out=np.full(len(before), np.nan), where=before > 0
    )
    return _mean(comparison, errors, 1)


def _support_changes(comparison: Comparison) -> Shares:
    return np.abs(support_shares(comparison.before) - support_shares(comparison.after))


def _mean(comparison: Comparison, values: Shares, least_support: int) -> float:
    used = (comparison.before.support >= least_support) & np.isfinite(values)
    weights = comparison.weights[used]
    return float(weights @ values[used] / weights.sum()) if weights.sum() > 0 else float("nan")
