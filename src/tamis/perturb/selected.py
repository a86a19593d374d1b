"""A private table of 0/1 records: half of the budget chooses columns, half counts them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from scipy import sparse

from tamis.binary.records import BinaryTable
from tamis.errors import InputError, TamisWarning, listed
from tamis.perturb.budget import Budget, Unit
from tamis.perturb.contribution import check_most, limited, unit_of
from tamis.perturb.domain import Axis, axis
from tamis.perturb.histogram import DPHistogram
from tamis.perturb.private_table import MAX_CELLS
from tamis.select.private import Mechanism, PrivateSelector
from tamis.table import Roles, Table

LABEL_CELLS = 2
ZERO_ONE = {"type": "integer", "low": 0, "high": 1}


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
    labels: Any = None,
    mechanism: Mechanism = "exponential",
    unit: Unit = "row",
    random_state: int | np.random.Generator | None = 0,
) -> Drawn:
    """Choose columns of 0/1 records and draw a table of them, both under one budget.

    Parameters
    ----------
    records : BinaryTable
        With labels; its columns and the number of its rows are public.
    features : int
        How many columns to choose.
    epsilon : float
        What both steps together may cost.
    labels : sequence or mapping, optional
        The two labels as they are publicly known, see `tamis.perturb.domain.axis`; another label
        counts as the declared `other`, else as the first. `None`: they are taken from the
        records, which voids the guarantee, and warns.
    mechanism : {"exponential", "laplace"}
        How to choose; see `PrivateSelector`.
    unit : {"row", "person"}
        What each record stands for.
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
    >>> from tamis.binary.records import from_matrix
    >>> y = np.repeat(["no", "yes"], 300)
    >>> ones = (y == "yes").astype(int)
    >>> records = from_matrix(np.column_stack([ones, 1 - ones, 0 * ones]), ["a", "b", "c"], y)
    >>> drawn = private_records(records, 2, epsilon=4.0, labels=["no", "yes"])
    >>> drawn.frame.columns, drawn.frame.height, drawn.recipe["epsilon"]
    (['a', 'b', 'label'], 600, 4.0)
    """
    if records.labels is None:
        raise InputError("choosing columns needs labels; name them with --target COL or --labels")
    budget = Budget(epsilon, neighbours="substitute", unit=unit)
    most = int(np.log2(MAX_CELLS // LABEL_CELLS))
    if features > most:
        raise InputError(
            f"features = {features} make 2^{features + 1} cells with the label; at most {most} "
            "features can be counted"
        )
    label = _label_axis(records, labels)
    classes = label.brought(pl.Series(records.target, records.labels.tolist()))
    selector = PrivateSelector(
        features, epsilon=epsilon / 2, mechanism=mechanism, classes=label.levels
    )
    selector.fit(records.matrix, np.asarray(classes.to_list()), budget=budget)
    chosen = records.select([int(i) for i in selector.get_support(indices=True)])
    counted = {**dict.fromkeys(chosen.features, ZERO_ONE), records.target: label.to_dict()}
    histogram = DPHistogram(
        epsilon / 2, bounds=counted, neighbours="substitute", random_state=random_state
    )
    roles = Roles(target=records.target, person=() if unit == "person" else None)
    whole = Table(chosen.frame().with_columns(classes.alias(records.target)), roles)
    frame = histogram.fit_sample(whole, budget=budget).frame
    recipe = {"features": list(chosen.features), "mechanism": mechanism, **histogram.recipe_}
    return Drawn(frame, recipe if labels is not None else recipe | _void(records.target))


def zero_one_records(table: Table, items: Sequence[str] = ()) -> tuple[BinaryTable, Unit]:
    """The records of a table by its public columns of 0 and 1, at most one a person.

    Cells that are neither count as the nearer of 0 and 1, and those that are no number as 0.

    Parameters
    ----------
    table : Table
    items : sequence of str
        The columns to choose among, as is publicly known; none: all features.

    Returns
    -------
    BinaryTable, and what each record stands for
    """
    check_most(1, table.roles, "substitute")
    table = limited(table, 1)
    if strange := [c for c in items if c not in table.features]:
        raise InputError(
            f"the items {listed(strange)} are no columns to release; there are "
            f"{listed(table.features)}"
        )
    names = tuple(items or table.features)
    cells = [axis(c, ZERO_ONE).codes(table.frame.get_column(c)) for c in names]
    ones = sparse.csr_array(np.column_stack(cells).astype(np.uint8))
    labels = table.frame.get_column(table.target).cast(pl.String).fill_null("")
    records = BinaryTable(ones, names, labels.to_numpy().astype(np.str_), table.target)
    return records, unit_of(table.roles)


def within_items(records: BinaryTable, items: Sequence[str]) -> BinaryTable:
    """The same records with the public items as columns, in their order, and no others.

    >>> from tamis.binary.records import from_matrix
    >>> records = from_matrix([[1, 0], [1, 1]], ["bread", "milk"], labels=["a", "b"])
    >>> within_items(records, ["milk", "salt"]).matrix.toarray().tolist()
    [[0, 0], [1, 0]]
    """
    place = {name: i for i, name in enumerate(records.features)}
    known = [(place[name], i) for i, name in enumerate(items) if name in place]
    move = sparse.csr_array(
        (np.ones(len(known), np.uint8), ([a for a, _ in known], [b for _, b in known])),
        shape=(len(place), len(items)),
    )
    return replace(records, matrix=sparse.csr_array(records.matrix @ move), features=tuple(items))


def _label_axis(records: BinaryTable, labels: Any) -> Axis:
    assert records.labels is not None
    if labels is None:
        warnings.warn(
            "NO DIFFERENTIAL PRIVACY: the labels were taken from the data, which reveals them; "
            "give the two labels before anything is published",
            TamisWarning,
            stacklevel=3,
        )
        labels = [str(label) for label in np.unique(records.labels)]
    found = axis(records.target, labels, label=True)
    if len(found.levels) != LABEL_CELLS or found.missing:
        raise InputError(
            f"columns are chosen for a target of two labels, none missing; the bounds give "
            f"{records.target!r} {found.bins}"
        )
    return found


def _void(target: str) -> dict[str, Any]:
    return {"bounds_from_data": [target], "guarantee": False}
