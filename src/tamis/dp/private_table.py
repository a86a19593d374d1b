"""`PrivateTable`, the base of all models of synthetic rows: first noisy counts, then rows.

`fit` looks at the table once, through noise that cannot be seeded, and spends the budget.
`sample` looks only at the noisy counts: it costs nothing, and the same seed gives the same rows.

Each person contributes a bounded number of rows; others are left out at random. Who is a person
follows from the roles alone, never from cells: the values of the one identifier (or of those in
`Roles.person`) are people; if the roles say that every row is a person, or name no identifier, each
row stands for itself. Several identifiers of which none is named as the person are an error: only
the cells could show whether one of them is finer than another.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, Self

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from tamis.arrays import Ints
from tamis.dp.budget import MOVED, Budget, Neighbours, Unit, check_epsilon, check_neighbours, opendp
from tamis.dp.domain import Axis, Bounds, axes, drawn_rows
from tamis.errors import CannotMeet, InputError, check_whole, listed
from tamis.read import polars_frame
from tamis.read.frames import native_kind
from tamis.table import Roles, Table

MAX_CELLS = 1 << 18
"""Most cells to draw noise for, which takes about four seconds."""


def naming(roles: Roles) -> tuple[str, ...]:
    """The columns that identify people; none if each row stands for itself."""
    if roles.person is not None:
        return roles.person
    if len(roles.identifiers) > 1:
        raise InputError(
            f"columns {listed(roles.identifiers)} are identifiers, and differential privacy must "
            "know which of them identifies people; name it with --person COL (Roles.person), or "
            "pass --row-is-person if every row is a person"
        )
    return roles.identifiers


def unit_of(roles: Roles) -> Unit:
    """The unit of the guarantee: a person if people are known, otherwise a row."""
    return "person" if naming(roles) or roles.person is not None else "row"


def check_most(most: Any, roles: Roles, neighbours: str) -> None:
    """Raise if a number of rows per person does not fit these roles and neighbours."""
    check_whole("max_rows_per_person", most)
    if most > 1 and not naming(roles):
        raise InputError(
            f"max_rows_per_person = {most} needs to know whose row each row is; name the column "
            "with --identifier COL"
        )
    if most > 1 and neighbours == "substitute":
        raise InputError(
            "neighbours 'substitute' takes the number of rows as public, which it is not where "
            "people have several; use 'add-remove', or at most one row per person"
        )


def limited(table: Table, most: int) -> Table:
    """Sample at most `most` rows of each person; the rows stay in order.

    Like the noise, the draw has no seed: for the guarantee each person's rows must be drawn
    independently of who else is in the table, even for an attacker who knows everything else.

    >>> stays = pl.DataFrame({"patient": ["a", "a", "b"], "ill": [0, 1, 1]})
    >>> limited(Table(stays, Roles(target="ill", identifiers=("patient",))), 1).rows
    2
    """
    columns = naming(table.roles)
    if not columns:
        return table
    order = np.random.default_rng().permutation(table.rows)
    people = [
        table.frame.get_column(c).cast(pl.String)[order].alias(f"{i}")
        for i, c in enumerate(columns)
    ]
    names = [person.name for person in people]
    rank = pl.DataFrame(people).select(pl.int_range(pl.len()).over(names)).to_series()
    # The first `most` rows of each person in a random order, then back in table order.
    kept = np.sort(order[(rank < most).to_numpy()])
    return replace(table, frame=table.frame[kept])


@dataclass(eq=False, repr=False)
class PrivateTable(BaseEstimator):  # type: ignore[misc]
    """A table of synthetic rows, drawn from counts that were measured with noise.

    The fields are the parameters that all kinds share; `DPHistogram` documents them.
    """

    epsilon: float = 1.0
    _: KW_ONLY
    bounds: Bounds | None = None
    missing: Sequence[str] = ()
    bounds_from_data: bool = False
    neighbours: Neighbours = "add-remove"
    max_rows_per_person: int = 1
    max_cells: int = field(init=False, default=1 << 62)
    """No limit, except for models that count all columns together."""
    delta: float = field(init=False, default=0.0)
    """Above 0 only for models with Gaussian noise."""
    random_state: int | np.random.Generator | None = None

    def fit(self, data: Any, target: str | None = None, *, budget: Budget | None = None) -> Self:
        """Measure the table with noise.

        Parameters
        ----------
        data : Table, or pandas, polars or pyarrow frame
            Of a `Table` the features and the target are used; its identifiers say who is a person.
        target : str, optional
            The label of a frame.
        budget : Budget, optional
            The budget to spend epsilon from; `None`: a budget of its own.
        """
        check_epsilon(self.epsilon)
        check_neighbours(self.neighbours)
        if isinstance(self.missing, str):
            raise InputError("missing must be a list of column names, got a single text")
        opendp()
        whole = _whole(data, target)
        check_most(self.max_rows_per_person, whole.roles, self.neighbours)
        self._unit, self._people = unit_of(whole.roles), bool(naming(whole.roles))
        table = _released(limited(whole, self.max_rows_per_person))
        if budget is None:
            budget = Budget(self.epsilon, self.delta, neighbours=self.neighbours, unit=self._unit)
        budget.check_neighbours(self.neighbours, self._unit)
        budget.check(self.epsilon, type(self).__name__, self.delta)
        self._measure(table, budget)
        self._roles, self._library = table.roles, table.library
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
                f"the noise at epsilon = {self.epsilon:g} left no rows; use fewer columns or bins, "
                "or a larger epsilon"
            )
        public = pl.DataFrame([frame.get_column(name) for name in self._order])
        table = Table(public, self._roles, self._library)
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

    @property
    def _moved(self) -> int:
        """The total change of the counts between neighbours."""
        return MOVED[self.neighbours] * (self.max_rows_per_person if self._people else 1)

    def _rows_to_draw(self, table: Table, measured: int) -> int:
        """The number of rows: public under substitution, otherwise estimated by noisy counts."""
        return table.rows if self.neighbours == "substitute" else measured

    @property
    def _order(self) -> list[str]:
        """The columns to draw: in the order of the bounds, then the others."""
        names = [a.name for a in self.axes_]
        given = [c for c in self.bounds or {} if c in names]
        label = [c for c in (self._roles.target,) if c in names]
        rest = [c for c in names if c not in given and c not in label]
        return [*given, *rest, *(c for c in label if c not in given)]

    def _axes(self, table: Table, bins: int) -> list[Axis]:
        """The axes, the label first; an error if they have too many cells."""
        label = [table.target] if table.roles.target else []
        declared = axes(
            table.only([*label, *table.features]),
            self.bounds,
            bins=bins,
            missing=self.missing,
            from_data=self.bounds_from_data,
            label=table.roles.target,
        )
        check_cells(declared, len(label), self.max_cells)
        return declared

    def _recipe(self) -> dict[str, Any]:
        given = {*(self.bounds or {})}
        taken = [a.name for a in self.axes_ if a.name not in given]
        return {
            **self.budget_.to_dict(),
            "max_rows_per_person": self.max_rows_per_person if self._people else None,
            "bounds": {a.name: a.to_list() for a in self.axes_},
            "domain": {a.name: a.to_dict() for a in self.axes_},
            "bounds_from_data": taken,
            "guarantee": not taken and not self._gaps,
        }

    @property
    def _gaps(self) -> list[str]:
        """Columns whose missing cells were found in the data, not declared."""
        if not self.bounds_from_data:
            return []
        return [a.name for a in self.axes_ if a.missing and not self._says_missing(a.name)]

    def _says_missing(self, name: str) -> bool:
        declared = (self.bounds or {}).get(name)
        long = declared if isinstance(declared, Mapping) else {}
        return name in self.missing or bool(long.get("missing"))


def _whole(data: Any, target: str | None) -> Table:
    if not isinstance(data, Table):
        return Table(polars_frame(data), Roles(target=target), native_kind(data))
    return data if target is None else data.with_roles(target=target)


def _released(whole: Table) -> Table:
    """Only features and target: identifiers and a separate sensitive column are left out."""
    target = whole.roles.target
    names = [c for c in whole.frame.columns if c in whole.features or c == target]
    if not names:
        raise InputError("there are no columns to release")
    return Table(whole.only(names), Roles(target=target), whole.library)


def check_cells(of: Sequence[Axis], labels: int, most: int) -> None:
    """Raise if there are more cells than can be counted, and say how many features would fit."""
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
        "bins; choose features first, or use fewer bins for numbers"
    )
