"""Synthetic rows from noisy counts: `DPHistogram`, `DPMarginals` and `DPPartition`.

The first counts every possible cell, the second each column by the label, and the third boxes of
cells that it finds on noisy counts.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tamis.arrays import Ints
from tamis.dp.budget import Budget, laplace
from tamis.dp.domain import Axis, cell_counts
from tamis.dp.private_table import MAX_CELLS, PrivateTable
from tamis.errors import InputError, TamisWarning, check_whole
from tamis.table import Table


@dataclass(eq=False, repr=False, kw_only=True)
class DPHistogram(PrivateTable):
    """Draw a table from noisy counts over the whole domain of a few columns.

    Parameters
    ----------
    epsilon : float
        The privacy budget to spend.
    bounds : mapping of column to (low, high), to its values or to a longer declaration
        Public knowledge, which decides types, values and the order of the columns; see
        `tamis.dp.domain.axis`. Cells are converted accordingly, and none causes an error.
    bins : int
        Intervals of a column of numbers.
    missing : sequence of str
        Columns in which, as is publicly known, a cell may be missing.
    bounds_from_data : bool
        Take bounds that are not given from the table. This voids the guarantee and issues a
        warning.
    neighbours : {"add-remove", "substitute"}
        The tables that must be indistinguishable; see `tamis.dp.budget.NEIGHBOURS`. `substitute`
        needs twice the noise and may reveal the number of rows.
    max_rows_per_person : int
        Most rows to use per person, if a `Table` has identifiers: the others are left out at
        random. The noise grows with this number.
    negative : {"shift", "zero"}
        How to treat counts below zero. `zero` sets them to zero, which adds spurious rows if most
        cells are empty; `shift` lowers all counts by the same amount, so that there are as many
        rows as were measured.
    max_cells : int
        Most cells to count.
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

    bins: int = 10
    negative: Literal["shift", "zero"] = "shift"
    max_cells: int = MAX_CELLS

    def _measure(self, table: Table, budget: Budget) -> None:
        check_whole("bins", self.bins)
        if self.negative not in ("shift", "zero"):
            raise InputError(f"negative must be 'shift' or 'zero', got {self.negative!r}")
        self.axes_ = self._axes(table, self.bins)
        counts = cell_counts(table.frame, self.axes_)
        budget.spend(self.epsilon, "counts of all cells")
        self.counts_ = laplace(counts, self._moved, self.epsilon)
        self._total = self._rows_to_draw(table, int(self.counts_.sum()))

    def _boxes(self) -> list[tuple[Ints, Ints]]:
        flat = self.counts_.ravel()
        whole = shifted(flat, self._total) if self.negative == "shift" else np.maximum(flat, 0)
        cells = np.repeat(np.arange(len(flat)), whole)
        return [(place, place + 1) for place in np.unravel_index(cells, self.counts_.shape)]


def shifted(counts: Ints, total: int) -> Ints:
    """The nearest non-negative counts that add up to the total.

    Notes
    -----
    The projection onto a simplex: all counts are lowered by the same amount, and those below zero
    become zero. They are rounded by the largest remainders, so that the total is kept.

    Examples
    --------
    >>> shifted(np.array([10, 4, -1, -2]), 12).tolist()
    [9, 3, 0, 0]
    """
    if total <= 0:
        return np.zeros_like(counts)
    # For each number m of counts that stay above zero: the amount that makes the m largest ones sum
    # to the total. The right m is the last one for which all m stay above zero.
    falling = np.sort(counts)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, len(counts) + 1)
    last = int(np.flatnonzero(falling > excess)[-1])
    exact: NDArray[np.float64] = np.maximum(counts - excess[last], 0.0)
    whole = np.floor(exact + 1e-9).astype(np.int64)  # a whole number may be just below itself
    order = np.argsort(whole - exact, kind="stable")
    whole[order[: total - int(whole.sum())]] += 1
    return whole


@dataclass(eq=False, repr=False, kw_only=True)
class DPMarginals(PrivateTable):
    """Draw a table from noisy counts of each column by the label: a product of marginals.

    For more columns than `DPHistogram` can count together. The association of each column with the
    label is kept; that of columns with each other, given the label, is not.

    Parameters
    ----------
    epsilon, bounds, bins, missing, bounds_from_data, neighbours, max_rows_per_person, random_state
        As for `DPHistogram`.

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
    A row is counted once for each column, so with d columns the noise is d times as wide as that of
    one histogram, while the number of cells grows with d, not with 2^d. Each table of counts gives
    an estimate of the label's frequencies; their mean is used.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({f"x{i}": [0, 1] * 200 for i in range(30)} | {"ill": [0, 1] * 200})
    >>> bounds = {name: [0, 1] for name in frame.columns}
    >>> model = DPMarginals(8.0, bounds=bounds).fit(frame, target="ill")
    >>> len(model.counts_), model.counts_[0].shape, model.sample().width
    (30, (2, 2), 31)
    """

    bins: int = 10

    def _measure(self, table: Table, budget: Budget) -> None:
        check_whole("bins", self.bins)
        self.axes_ = self._axes(table, self.bins)
        self._label = self.axes_[:1] if table.roles.target else []
        exact = [cell_counts(table.frame, of) for of in self._tables]
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
        """The axes of each table of counts: the label and a column."""
        columns = self.axes_[len(self._label) :]
        return [[*self._label, column] for column in columns] or [self._label]

    def _boxes(self) -> list[tuple[Ints, Ints]]:
        rng = row_shuffler(self.random_state)
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
        """The number of rows to draw for each label; without a label, in all."""
        labels = self._label[0].bins if self._label else 1
        measured = [counts.reshape(labels, -1).sum(axis=1) for counts in self.counts_]
        return shifted(np.rint(np.mean(measured, axis=0)).astype(np.int64), self._total)


def _dealt(counts: Ints, rows: int, rng: np.random.Generator) -> Ints:
    """Values for a number of rows, in proportion to the noisy counts, in random order."""
    return rng.permutation(np.repeat(np.arange(len(counts)), shifted(counts, rows)))


def row_shuffler(random_state: int | np.random.Generator | None) -> np.random.Generator:
    """The generator that deals values to rows, a stream apart from that of draws within bins."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(None if random_state is None else [random_state, 1])


ROWS_SHARE = 0.02
"""Share of epsilon to spend on counting the rows, if their number is not public."""
PER_CELL = 10
"""Rows, times epsilon, that a cell should hold on average."""
LEAST_DEVIATIONS = 2.0
"""A box with fewer rows than this many standard deviations of the noise is not split."""
NOISE_ERRORS = 2.0
"""Standard errors by which the variance of a box's counts must exceed that of noise to split it."""

Box = tuple[slice, ...]


@dataclass(eq=False, repr=False, kw_only=True)
class DPPartition(PrivateTable):
    """Draw a table from boxes of about uniform density.

    The domain is cut into a grid, whose cells are counted with noise; by these noisy counts alone
    the grid is partitioned into boxes; each box is counted again with noise, and filled with rows
    drawn uniformly in it. The label is one more dimension.

    Parameters
    ----------
    epsilon : float
        The privacy budget to spend; half for the grid, half for the boxes.
    bins : int, optional
        Intervals of a column of numbers. `None`: as many as the rows can fill.
    rows : int, optional
        Approximate number of rows, if that is public; it decides the number of bins. `None`: a
        fiftieth of epsilon is spent on counting them, unless `bins` is given or `neighbours` is
        ``"substitute"``.
    bounds, missing, bounds_from_data, neighbours, max_rows_per_person, max_cells, random_state
        As for `DPHistogram`.

    Attributes
    ----------
    boxes_ : list of tuple of slice
        The boxes, in bins of `axes_`.
    counts_ : array of int
        The noisy count of each box, none below zero.
    axes_ : list of Axis
    budget_ : Budget
    recipe_ : dict
        What was spent, for which neighbours, within which bounds.

    Notes
    -----
    Fletcher and Islam, section 7.2, after Xiao, Xiong and Yuan (2010). With d columns of numbers
    and K combinations of label and categories, each column gets
    b = max(2, round((n epsilon / (10 K))^(1/d))) bins. The widest side of a box is cut at its
    median until it is one cell, holds few rows, or its counts vary no more than the noise alone
    would make them. Useful as long as 2^d K is at most about n epsilon / 10.

    Examples
    --------
    >>> import numpy as np, polars as pl
    >>> x = np.random.default_rng(0).uniform(0, 1, 2000)
    >>> frame = pl.DataFrame({"x": x, "high": x > 0.5})
    >>> bounds = {"x": (0.0, 1.0), "high": {"type": "boolean"}}
    >>> model = DPPartition(1.0, bounds=bounds, rows=2000).fit(frame, target="high")
    >>> drawn = model.sample()
    >>> bool(((drawn["x"] > 0.5) == drawn["high"]).mean() > 0.9)
    True
    """

    bins: int | None = None
    rows: int | None = None
    max_cells: int = MAX_CELLS

    def _measure(self, table: Table, budget: Budget) -> None:
        if self.bins is not None:
            check_whole("bins", self.bins)
        if self.rows is not None:
            check_whole("rows", self.rows)
        with warnings.catch_warnings():  # the same warnings come with the final axes
            warnings.simplefilter("ignore", TamisWarning)
            coarse = self._axes(table, 2)
        left = self.epsilon
        rows = table.rows if self.neighbours == "substitute" else self.rows
        if rows is None and self.bins is None:
            share = budget.spend(ROWS_SHARE * self.epsilon, "number of rows")
            rows = max(1, int(laplace(np.array([table.rows]), self._moved, share)[0]))
            left -= share
        bins = self.bins if self.bins is not None else _bins(coarse, rows or 1, self.epsilon)
        self.axes_ = self._axes(table, self._fitting(coarse, bins))
        counts = cell_counts(table.frame, self.axes_)
        budget.spend(left / 2, "counts of the grid")
        half = budget.spend(left / 2, "counts of the boxes")
        self.boxes_, self.counts_ = measured_boxes(counts, self._moved, half)

    def _fitting(self, coarse: list[Axis], bins: int) -> int:
        """The number of bins, lowered if the grid would have too many cells."""
        if self.bins is not None:
            return bins
        numbers, others = _split_axes(coarse)
        room: float = self.max_cells / math.prod(a.bins for a in others)
        gaps = any(a.missing for a in numbers)
        most = int(room ** (1 / max(1, len(numbers))) + 1e-9) - gaps
        return min(bins, max(2, most))

    def _boxes(self) -> list[tuple[Ints, Ints]]:
        of_row = np.repeat(np.arange(len(self.boxes_)), self.counts_)
        limits = np.array([[(s.start, s.stop) for s in box] for box in self.boxes_])
        return [(limits[of_row, a, 0], limits[of_row, a, 1]) for a in range(limits.shape[1])]


def _split_axes(of: Sequence[Axis]) -> tuple[list[Axis], list[Axis]]:
    """The axes that more bins would divide further, and all others."""
    finer = [a.is_number and a.values > 2 for a in of]
    return [a for a, f in zip(of, finer) if f], [a for a, f in zip(of, finer) if not f]


def _bins(of: Sequence[Axis], rows: int, epsilon: float) -> int:
    """The number of intervals that the rows can fill; a warning if it is not even two."""
    numbers, others = _split_axes(of)
    cells = math.prod(a.bins for a in others)
    if 2 ** len(numbers) * cells > rows * epsilon / PER_CELL:
        warnings.warn(
            f"{len(numbers)} numeric columns and {cells} combinations of the others are too "
            f"many for about {rows:,} rows at epsilon = {epsilon:g}: most boxes will hold noise; "
            "release fewer columns",
            TamisWarning,
            stacklevel=5,
        )
    each: float = (rows * epsilon / (PER_CELL * cells)) ** (1 / max(1, len(numbers)))
    return max(2, round(each))


def measured_boxes(counts: Ints, moved: int, epsilon: float) -> tuple[list[Box], Ints]:
    """Boxes found on noisy counts of a grid, and their own noisy counts; each step costs epsilon.

    `moved` is the total change of the true counts between neighbours.
    """
    # The boxes depend on noisy counts alone; being disjoint, they have the grid's sensitivity.
    boxes = split_grid(laplace(counts, moved, epsilon), moved / epsilon)
    inside = np.array([int(counts[box].sum()) for box in boxes])
    return boxes, np.maximum(laplace(inside, moved, epsilon), 0)


def split_grid(noisy: Ints, scale: float) -> list[Box]:
    """Partition a grid of counts with noise of a given scale into boxes of about uniform density.

    >>> split_grid(np.array([0, 1, 0, 90]), scale=1.0)
    [(slice(0, 2, None),), (slice(2, 3, None),), (slice(3, 4, None),)]
    """
    waiting: list[Box] = [tuple(slice(0, bins) for bins in noisy.shape)]
    done: list[Box] = []
    while waiting:
        box = waiting.pop()
        inside = noisy[box]
        if _is_leaf(inside, scale):
            done.append(box)
        else:
            waiting.extend(reversed(_halves(box, inside, noisy.shape)))
    return done


def _is_leaf(inside: Ints, scale: float) -> bool:
    noise = 2 * scale**2  # the variance of Laplace noise
    if inside.size == 1 or inside.sum() < LEAST_DEVIATIONS * math.sqrt(noise):
        return True
    # With a kurtosis of 6, the relative standard error of a variance of n is about sqrt(5 / n).
    return bool(inside.var(ddof=1) <= noise * (1 + NOISE_ERRORS * math.sqrt(5 / inside.size)))


def _halves(box: Box, inside: Ints, shape: tuple[int, ...]) -> list[Box]:
    """Cut the side that is widest relative to the grid, where the count is nearest to half."""
    widths: NDArray[np.float64] = np.array(inside.shape) / np.array(shape)
    widths[np.array(inside.shape) == 1] = 0
    axis = int(widths.argmax())
    others = tuple(i for i in range(inside.ndim) if i != axis)
    below = np.cumsum(inside.sum(axis=others))
    cut = int(np.abs(below[:-1] - below[-1] / 2).argmin()) + 1
    side = box[axis]
    parts = (slice(side.start, side.start + cut), slice(side.start + cut, side.stop))
    return [(*box[:axis], part, *box[axis + 1 :]) for part in parts]
