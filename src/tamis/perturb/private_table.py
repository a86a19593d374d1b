"""What `DPHistogram` and `DPPartition` share: noisy counts first, then rows drawn from them.

`fit` looks at the table once, through noise that cannot be seeded, and spends the budget.
`sample` looks at the noisy counts only: it costs nothing, and its seed gives the same rows.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from tamis.errors import CannotMeet, InputError, listed
from tamis.perturb.budget import Budget, Neighbours, check_epsilon, check_neighbours
from tamis.perturb.domain import Axis, Bounds, Ints, axes, cell_counts, drawn_rows
from tamis.perturb.draws import opendp
from tamis.read import polars_frame
from tamis.read.frames import native_kind
from tamis.table import Roles, Table

MAX_CELLS = 1 << 18
"""Cells up to which counts are drawn: some four seconds of noise."""


class PrivateTable(BaseEstimator):  # type: ignore[misc]
    """A table of drawn rows, from counts that were measured with noise."""

    epsilon: float
    bounds: Bounds | None
    missing: Sequence[str]
    bounds_from_data: bool
    neighbours: Neighbours
    max_cells: int
    random_state: Any

    def fit(self, data: Any, target: str | None = None, *, budget: Budget | None = None) -> Self:
        """Measure the table with noise.

        Parameters
        ----------
        data : Table, or pandas, polars or pyarrow frame
            Of a `Table` the features and the target.
        target : str, optional
            The label of a frame.
        budget : Budget, optional
            Where to spend epsilon; `None`: a budget of its own.
        """
        check_epsilon(self.epsilon)
        check_neighbours(self.neighbours)
        if isinstance(self.missing, str):
            raise InputError("missing is a list of column names, got one text")
        opendp()
        table = _released(data, target)
        budget = Budget(self.epsilon, neighbours=self.neighbours) if budget is None else budget
        budget.check_neighbours(self.neighbours)
        budget.check(self.epsilon, type(self).__name__)
        self._measure(table, budget)
        self._empty = replace(table, frame=table.frame.clear())
        self._as_table = isinstance(data, Table)
        self.budget_ = budget
        self.recipe_ = self._recipe()
        return self

    def sample(self) -> Any:
        """Rows drawn from the noisy counts, as the kind of table that was fitted."""
        check_is_fitted(self, "axes_")
        frame = drawn_rows(self._boxes(), self.axes_, np.random.default_rng(self.random_state))
        if not frame.height:
            raise CannotMeet(
                f"the noise of epsilon = {self.epsilon:g} left no rows; fewer columns or bins, or "
                "a larger epsilon, leave more"
            )
        table = replace(self._empty, frame=frame.select(self._empty.frame.columns))
        return table if self._as_table else table.native()

    def fit_sample(
        self, data: Any, target: str | None = None, *, budget: Budget | None = None
    ) -> Any:
        """`fit`, then `sample`."""
        return self.fit(data, target, budget=budget).sample()

    @abstractmethod
    def _measure(self, table: Table, budget: Budget) -> None:
        """Spend the budget; set `axes_` and the noisy counts."""

    @abstractmethod
    def _boxes(self) -> list[tuple[Ints, Ints]]:
        """The box of each row to draw."""

    def _axes(self, table: Table, bins: int) -> list[Axis]:
        """The axes, the label first; an error where they have too many cells."""
        label = [table.target] if table.roles.target else []
        found = axes(
            table.frame.select(*label, *table.features),
            self.bounds,
            bins=bins,
            missing=self.missing,
            from_data=self.bounds_from_data,
            label=table.roles.target,
        )
        check_cells(found, len(label), self.max_cells)
        return found

    def _recipe(self) -> dict[str, Any]:
        given = {*(self.bounds or {})}
        taken = [a.name for a in self.axes_ if a.name not in given and a.dtype != pl.Boolean]
        return {
            **self.budget_.to_dict(),
            "bounds": {a.name: a.to_list() for a in self.axes_},
            "bounds_from_data": taken,
            "guarantee": not taken and not self._gaps,
        }

    @property
    def _gaps(self) -> list[str]:
        return [a.name for a in self.axes_ if a.missing and a.name not in self.missing]


def _released(data: Any, target: str | None) -> Table:
    """Features and target only: identifiers and another sensitive column stay behind."""
    if isinstance(data, Table):
        whole = data
        target = data.roles.target if target is None else target
    else:
        whole = Table(polars_frame(data), Roles(target=target), native_kind(data))
    names = [c for c in whole.frame.columns if c in whole.features or c == target]
    if not names or not whole.rows:
        raise InputError("there are no rows or no columns to release")
    return Table(whole.frame.select(names), Roles(target=target), whole.library)


def check_cells(of: Sequence[Axis], labels: int, most: int) -> None:
    """Refuse more cells than can be counted; say how many features would fit."""
    cells = math.prod(a.bins for a in of)
    if cells <= most:
        return
    room = most // math.prod(a.bins for a in of[:labels])
    fit = 0
    for bins in sorted(a.bins for a in of[labels:]):
        room //= bins
        fit += room > 0
    features = [a.name for a in of[labels:]]
    raise CannotMeet(
        f"{len(features)} features ({listed(features, 5)}) make {cells:.3g} cells with the label, "
        f"and at most {most:,} can be counted: at most {fit} of them fit, those with the fewest "
        "bins; choose features first, or give numbers fewer bins"
    )


def counts_of(table: Table, of: Sequence[Axis]) -> Ints:
    """The true counts: never to leave this package without noise."""
    return cell_counts(table.frame, of)
