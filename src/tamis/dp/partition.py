"""`DPPartition`: boxes found on noisy counts, counted again with noise, and filled evenly."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tamis.dp.budget import Budget, Neighbours, laplace
from tamis.dp.domain import Axis, Bounds, Ints
from tamis.dp.private_table import MAX_CELLS, PrivateTable, counts_of
from tamis.errors import TamisWarning, check_whole
from tamis.table import Table

ROWS_SHARE = 0.02
"""The share of epsilon spent on counting the rows where their number is not public."""
PER_CELL = 10
"""Rows, times epsilon, that a cell should hold on average."""
FEW = 2.0
"""A box of fewer rows than this many standard deviations of its noise is not split."""
SURE = 2.0
"""Standard errors by which counts must vary more than noise alone for a box to be split."""

Box = tuple[slice, ...]


class DPPartition(PrivateTable):
    """Draw a table from boxes of about even density.

    The domain is cut into a grid, whose cells are counted with noise; on these noisy counts alone
    the grid is cut into boxes; each box is counted again with noise, and filled with rows drawn
    evenly in it. The label is one more dimension.

    Parameters
    ----------
    epsilon : float
        What looking at the table may cost; half for the grid, half for the boxes.
    bounds : mapping of column to (low, high), to its values or to a longer declaration
        Public knowledge, which decides types, values and the order of the columns; see
        `tamis.dp.domain.axis`. Cells are converted accordingly; none is refused.
    bins : int, optional
        Intervals of a column of numbers. `None`: as many as the rows can fill.
    rows : int, optional
        About how many rows there are, if that is public; it decides the number of bins. `None`: a
        fiftieth of epsilon is spent on counting them, unless `bins` is given or `neighbours` is
        ``"substitute"``.
    missing : sequence of str
        Columns in which, as is publicly known, a cell may be missing.
    bounds_from_data : bool
        Take what is not given from the table. This voids the guarantee and issues a warning.
    neighbours : {"add-remove", "substitute"}
        Which tables must be indistinguishable; see `tamis.dp.budget.NEIGHBOURS`.
    max_rows_per_person : int
        The most rows used per person, where a `Table` has identifiers: others are left out at
        random, and the noise grows with this number.
    max_cells : int
        The most cells to count.
    random_state : int, numpy Generator or None
        For drawing rows in the boxes. The noise itself cannot be seeded.

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

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        bounds: Bounds | None = None,
        bins: int | None = None,
        rows: int | None = None,
        missing: Sequence[str] = (),
        bounds_from_data: bool = False,
        neighbours: Neighbours = "add-remove",
        max_rows_per_person: int = 1,
        max_cells: int = MAX_CELLS,
        random_state: int | np.random.Generator | None = 0,
    ) -> None:
        self.epsilon = epsilon
        self.bounds = bounds
        self.bins = bins
        self.rows = rows
        self.missing = missing
        self.bounds_from_data = bounds_from_data
        self.max_rows_per_person = max_rows_per_person
        self.neighbours = neighbours
        self.max_cells = max_cells
        self.random_state = random_state

    def _measure(self, table: Table, budget: Budget) -> None:
        if self.bins is not None:
            check_whole("bins", self.bins)
        if self.rows is not None:
            check_whole("rows", self.rows)
        with warnings.catch_warnings():
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
        counts = counts_of(table, self.axes_)
        budget.spend(left / 2, "counts of the grid")
        half = budget.spend(left / 2, "counts of the boxes")
        self.boxes_, self.counts_ = measured_boxes(counts, self._moved, half)

    def _fitting(self, coarse: list[Axis], bins: int) -> int:
        """Fewer bins than the rows could fill where these would make too many cells."""
        if self.bins is not None:
            return bins
        numbers, others = _split_axes(coarse)
        room: float = self.max_cells / math.prod(a.bins for a in others)
        gaps = any(a.missing for a in numbers)
        most = int(room ** (1 / max(1, len(numbers))) + 1e-9) - gaps
        return min(bins, max(2, most))

    def _boxes(self) -> list[tuple[Ints, Ints]]:
        each = np.repeat(np.arange(len(self.boxes_)), self.counts_)
        limits = np.array([[(s.start, s.stop) for s in box] for box in self.boxes_])
        return [(limits[each, a, 0], limits[each, a, 1]) for a in range(limits.shape[1])]


def _split_axes(of: Sequence[Axis]) -> tuple[list[Axis], list[Axis]]:
    """The axes that more bins would divide further, and the others."""
    finer = [a.is_number and a.values > 2 for a in of]
    return [a for a, f in zip(of, finer) if f], [a for a, f in zip(of, finer) if not f]


def _bins(of: Sequence[Axis], rows: int, epsilon: float) -> int:
    """How many intervals the rows can fill; a warning if not even two."""
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
    """Boxes found on noisy counts, and their own noisy counts; each step costs epsilon.

    Parameters
    ----------
    counts : array of int
        The true counts of a grid.
    moved : int
        By how much the counts change in total between neighbours.
    epsilon : float
    """
    boxes = split_grid(laplace(counts, moved, epsilon), moved / epsilon)
    inside = np.array([int(counts[box].sum()) for box in boxes])
    return boxes, np.maximum(laplace(inside, moved, epsilon), 0)


def split_grid(noisy: Ints, scale: float) -> list[Box]:
    """Cut a grid of noisy counts into boxes of about even density.

    Parameters
    ----------
    noisy : array of int
    scale : float
        Of the noise in the counts.

    Examples
    --------
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
    noise = 2 * scale**2  # the variance of Laplace noise; its kurtosis is 6
    if inside.size == 1 or inside.sum() < FEW * math.sqrt(noise):
        return True
    return bool(inside.var(ddof=1) <= noise * (1 + SURE * math.sqrt(5 / inside.size)))


def _halves(box: Box, inside: Ints, shape: tuple[int, ...]) -> list[Box]:
    """Cut the widest side, measured by the whole grid, where the count is nearest to half."""
    widths: NDArray[np.float64] = np.array(inside.shape) / np.array(shape)
    widths[np.array(inside.shape) == 1] = 0
    axis = int(widths.argmax())
    others = tuple(i for i in range(inside.ndim) if i != axis)
    below = np.cumsum(inside.sum(axis=others))
    cut = int(np.abs(below[:-1] - below[-1] / 2).argmin()) + 1
    side = box[axis]
    parts = (slice(side.start, side.start + cut), slice(side.start + cut, side.stop))
    return [(*box[:axis], part, *box[axis + 1 :]) for part in parts]
