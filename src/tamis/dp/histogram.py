"""`DPHistogram` and `DPMarginals`: noisy counts, and rows drawn to match them.

The one counts every cell that could occur, the other every column by the label.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tamis.dp.budget import Budget, Neighbours, laplace
from tamis.dp.domain import Axis, Bounds, Ints
from tamis.dp.private_table import MAX_CELLS, NO_LIMIT, PrivateTable, counts_of
from tamis.errors import InputError, check_whole
from tamis.table import Table


class DPHistogram(PrivateTable):
    """Draw a table from noisy counts over the whole domain of a few columns.

    Parameters
    ----------
    epsilon : float
        What looking at the table may cost.
    bounds : mapping of column to (low, high), to its values or to a longer declaration
        Public knowledge, which decides types, values and the order of the columns; see
        `tamis.dp.domain.axis`. Cells are converted accordingly; none is refused.
    bins : int
        Intervals that a column of numbers is cut into.
    missing : sequence of str
        Columns in which, as is publicly known, a cell may be missing.
    bounds_from_data : bool
        Take what is not given from the table. This voids the guarantee and issues a warning.
    neighbours : {"add-remove", "substitute"}
        Which tables must be indistinguishable; see `tamis.dp.budget.NEIGHBOURS`. `substitute`
        needs twice the noise and may reveal the number of rows.
    max_rows_per_person : int
        The most rows used per person, where a `Table` has identifiers: others are left out at
        random, and the noise grows with this number.
    negative : {"shift", "zero"}
        What to do with counts below zero. `zero` sets them to zero, which adds spurious rows where
        most cells are empty; `shift` lowers all counts by the same amount, so that there are as
        many rows as were measured.
    max_cells : int
        The most cells to count.
    random_state : int, numpy Generator or None
        For drawing rows from the noisy counts. The noise itself cannot be seeded.

    Attributes
    ----------
    counts_ : array of int
        The noisy counts, one dimension for each of `axes_`. They may be kept and published.
    axes_ : list of Axis
    budget_ : Budget
    recipe_ : dict
        What was spent, for which neighbours, within which bounds.

    Notes
    -----
    The private release of Zhang et al. (2017), section 5.2, after Dwork (2008). Under
    `add-remove` one row moves one count by one; under `substitute` it moves two, so the noise is
    twice as wide. Empty cells get noise too; otherwise their exact zeros would be revealing.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"smokes": [True, False] * 50, "ill": ["yes", "no"] * 50})
    >>> bounds = {"smokes": {"type": "boolean"}, "ill": ["no", "yes"]}
    >>> model = DPHistogram(2.0, bounds=bounds).fit(frame, target="ill")
    >>> model.counts_.shape, model.budget_.epsilon_spent
    ((2, 2), 2.0)
    >>> model.sample().columns
    ['smokes', 'ill']
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        bounds: Bounds | None = None,
        bins: int = 10,
        missing: Sequence[str] = (),
        bounds_from_data: bool = False,
        neighbours: Neighbours = "add-remove",
        max_rows_per_person: int = 1,
        negative: Literal["shift", "zero"] = "shift",
        max_cells: int = MAX_CELLS,
        random_state: int | np.random.Generator | None = 0,
    ) -> None:
        self.epsilon = epsilon
        self.bounds = bounds
        self.bins = bins
        self.missing = missing
        self.bounds_from_data = bounds_from_data
        self.max_rows_per_person = max_rows_per_person
        self.neighbours = neighbours
        self.negative = negative
        self.max_cells = max_cells
        self.random_state = random_state

    def _measure(self, table: Table, budget: Budget) -> None:
        check_whole("bins", self.bins)
        if self.negative not in ("shift", "zero"):
            raise InputError(f"negative must be 'shift' or 'zero', got {self.negative!r}")
        self.axes_ = self._axes(table, self.bins)
        counts = counts_of(table, self.axes_)
        budget.spend(self.epsilon, "counts of all cells")
        self.counts_ = laplace(counts, self._moved, self.epsilon)
        self._total = self._rows_to_draw(table, int(self.counts_.sum()))

    def _boxes(self) -> list[tuple[Ints, Ints]]:
        flat = self.counts_.ravel()
        whole = shifted(flat, self._total) if self.negative == "shift" else np.maximum(flat, 0)
        cells = np.repeat(np.arange(len(flat)), whole)
        return [(place, place + 1) for place in np.unravel_index(cells, self.counts_.shape)]


def shifted(counts: Ints, total: int) -> Ints:
    """The nearest counts that are not negative and add up to the total.

    Notes
    -----
    The projection onto a simplex: all counts fall by the same amount, and those below zero become
    zero; then they are rounded so that the total is kept, the largest remainders up.

    Examples
    --------
    >>> shifted(np.array([10, 4, -1, -2]), 12).tolist()
    [9, 3, 0, 0]
    """
    if total <= 0:
        return np.zeros_like(counts)
    falling = np.sort(counts)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, len(counts) + 1)
    last = int(np.flatnonzero(falling > excess)[-1])
    exact: NDArray[np.float64] = np.maximum(counts - excess[last], 0.0)
    whole = np.floor(exact + 1e-9).astype(np.int64)
    order = np.argsort(whole - exact, kind="stable")
    whole[order[: total - int(whole.sum())]] += 1
    return whole


class DPMarginals(PrivateTable):
    """Draw a table from noisy counts of each column by the label: a product of marginals.

    For more columns than `DPHistogram` can count together. How a column varies with the label is
    kept, how columns vary with each other within a label is not.

    Parameters
    ----------
    epsilon : float
        What looking at the table may cost.
    bounds : mapping of column to (low, high), to its values or to a longer declaration
        Public knowledge, which decides types, values and the order of the columns; see
        `tamis.dp.domain.axis`. Cells are converted accordingly; none is refused.
    bins : int
        Intervals that a column of numbers is cut into.
    missing : sequence of str
        Columns in which, as is publicly known, a cell may be missing.
    bounds_from_data : bool
        Take what is not given from the table. This voids the guarantee and issues a warning.
    neighbours : {"add-remove", "substitute"}
        Which tables must be indistinguishable; see `tamis.dp.budget.NEIGHBOURS`. `substitute`
        needs twice the noise and may reveal the number of rows.
    max_rows_per_person : int
        The most rows used per person, where a `Table` has identifiers: others are left out at
        random, and the noise grows with this number.
    random_state : int, numpy Generator or None
        For drawing rows from the noisy counts. The noise itself cannot be seeded.

    Attributes
    ----------
    counts_ : list of array of int
        The noisy counts by label and value, one array for each column. They may be published.
    axes_ : list of Axis
    budget_ : Budget
    recipe_ : dict
        What was spent, for which neighbours, within which bounds.

    Notes
    -----
    A row is counted once for each column, so with d columns the noise is d times as wide as that
    of one histogram: it grows with the columns, not with two to their power. Each table of counts
    estimates how often each label occurs; their mean is used.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({f"x{i}": [0, 1] * 200 for i in range(30)} | {"ill": [0, 1] * 200})
    >>> bounds = {name: [0, 1] for name in frame.columns}
    >>> model = DPMarginals(8.0, bounds=bounds).fit(frame, target="ill")
    >>> len(model.counts_), model.counts_[0].shape, model.sample().width
    (30, (2, 2), 31)
    """

    max_cells = NO_LIMIT

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        bounds: Bounds | None = None,
        bins: int = 10,
        missing: Sequence[str] = (),
        bounds_from_data: bool = False,
        neighbours: Neighbours = "add-remove",
        max_rows_per_person: int = 1,
        random_state: int | np.random.Generator | None = 0,
    ) -> None:
        self.epsilon = epsilon
        self.bounds = bounds
        self.bins = bins
        self.missing = missing
        self.bounds_from_data = bounds_from_data
        self.neighbours = neighbours
        self.max_rows_per_person = max_rows_per_person
        self.random_state = random_state

    def _measure(self, table: Table, budget: Budget) -> None:
        check_whole("bins", self.bins)
        self.axes_ = self._axes(table, self.bins)
        self._label = self.axes_[:1] if table.roles.target else []
        exact = [counts_of(table, of) for of in self._tables]
        words = " by label" if self._label else ""
        budget.spend(self.epsilon, f"counts of each column{words}")
        flat = np.concatenate([counts.ravel() for counts in exact])
        noisy = laplace(flat, self._moved * len(exact), self.epsilon)
        parts = np.split(noisy, np.cumsum([counts.size for counts in exact])[:-1])
        self.counts_ = [part.reshape(counts.shape) for part, counts in zip(parts, exact)]
        measured = round(float(np.mean([counts.sum() for counts in self.counts_])))
        self._total = self._rows_to_draw(table, measured)

    @property
    def _tables(self) -> list[list[Axis]]:
        """The axes of each table of counts."""
        columns = self.axes_[len(self._label) :]
        return [[*self._label, column] for column in columns] or [self._label]

    def _boxes(self) -> list[tuple[Ints, Ints]]:
        rng = _shuffler(self.random_state)
        of_label = self._rows_by_label()
        places = [np.repeat(np.arange(len(of_label)), of_label)] if self._label else []
        for axes, counts in zip(self._tables, self.counts_):
            if len(axes) == len(self._label):
                continue  # the label alone
            by_label = counts.reshape(len(of_label), -1)
            drawn = [_dealt(part, int(rows), rng) for part, rows in zip(by_label, of_label)]
            places.append(np.concatenate(drawn))
        return [(place, place + 1) for place in places]

    def _rows_by_label(self) -> Ints:
        """How many rows to draw for each label; for all together, where there is none."""
        labels = self._label[0].bins if self._label else 1
        measured = [counts.reshape(labels, -1).sum(axis=1) for counts in self.counts_]
        return shifted(np.rint(np.mean(measured, axis=0)).astype(np.int64), self._total)


def _dealt(counts: Ints, rows: int, rng: np.random.Generator) -> Ints:
    """Values for some rows as often as the noisy counts have them, in random order."""
    return rng.permutation(np.repeat(np.arange(len(counts)), shifted(counts, rows)))


def _shuffler(random_state: int | np.random.Generator | None) -> np.random.Generator:
    """Apart from the draws within bins, which start from the same seed."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(None if random_state is None else [random_state, 1])
