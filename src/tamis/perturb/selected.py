"""A private table of 0/1 records: half of the budget chooses columns, half counts them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.binary import BinaryTable
from tamis.errors import InputError
from tamis.perturb.budget import Budget
from tamis.perturb.histogram import DPHistogram
from tamis.perturb.private_table import MAX_CELLS
from tamis.select.private import Mechanism, PrivateSelector

LABEL_CELLS = 2


@dataclass(frozen=True, eq=False)
class Drawn:
    """Rows that were drawn, and what telling them has cost."""

    frame: pl.DataFrame
    recipe: dict[str, Any]


def private_records(
    records: BinaryTable,
    features: int,
    epsilon: float,
    *,
    mechanism: Mechanism = "exponential",
    random_state: int | np.random.Generator | None = 0,
) -> Drawn:
    """Choose columns of 0/1 records and draw a table of them, both under one budget.

    Parameters
    ----------
    records : BinaryTable
        With labels of two classes, whose sizes and values are public.
    features : int
        How many columns to choose.
    epsilon : float
        What both steps together may cost.
    mechanism : {"exponential", "laplace"}
        How to choose; see `PrivateSelector`.
    random_state : int, numpy Generator or None
        Of drawing rows from the noisy counts. The noise itself cannot be seeded.

    Returns
    -------
    Drawn
        Columns of 0 and 1 and the label.

    Notes
    -----
    Laplace-DP and Exponential-DP of Zhang et al. (2017), section 5.2. The sensitivity of the
    choice is that of substituting one row, so the counts are made noisy for the same neighbours;
    the paper's Laplace(1/epsilon) would hide adding or removing a row only.

    Examples
    --------
    >>> from tamis.binary import from_matrix
    >>> y = np.repeat([0, 1], 300)
    >>> records = from_matrix(np.column_stack([y, 1 - y, 0 * y]), ["a", "b", "c"], y)
    >>> drawn = private_records(records, 2, epsilon=4.0)
    >>> drawn.frame.columns, drawn.frame.height, drawn.recipe["epsilon"]
    (['a', 'b', 'label'], 600, 4.0)
    """
    if records.labels is None:
        raise InputError("choosing columns needs labels; name them with --target COL or --labels")
    budget = Budget(epsilon, neighbours="substitute")
    most = int(np.log2(MAX_CELLS // LABEL_CELLS))
    if features > most:
        raise InputError(
            f"features = {features} make 2^{features + 1} cells with the label; at most {most} "
            "features can be counted"
        )
    selector = PrivateSelector(features, epsilon=epsilon / 2, mechanism=mechanism)
    selector.fit(records.matrix, records.labels, budget=budget)
    chosen = records.select([int(i) for i in selector.get_support(indices=True)])
    histogram = DPHistogram(
        epsilon / 2,
        bounds={**dict.fromkeys(chosen.features, (0, 1)), records.target: _classes(records.labels)},
        neighbours="substitute",
        random_state=random_state,
    )
    frame = histogram.fit_sample(chosen.frame(), target=records.target, budget=budget)
    recipe = {"features": list(chosen.features), "mechanism": mechanism, **histogram.recipe_}
    return Drawn(frame, recipe)


def _classes(labels: NDArray[np.str_]) -> list[str]:
    return [str(label) for label in np.unique(labels)]
