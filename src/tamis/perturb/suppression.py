"""`LocalSuppression`: blank single cells until every row equals at least k - 1 others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, combinations
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from tamis.arrays import Codes
from tamis.coding import CODE_LIMIT, Coded, coded, dense
from tamis.errors import InputError, listed
from tamis.people import People, PeopleLike
from tamis.perturb import columns_to_alter, input_frame, with_fractions
from tamis.risk.grouping import sizes_of
from tamis.select.containment.selection import check_k, keeping
from tamis.table import Table, bare, only

Pattern = tuple[int, ...]
"""A set of columns that a row blanks, by number."""
Weights = Sequence[float] | NDArray[Any]
Missing = Literal["value", "anything"]
MOST_IMAGES = 1 << 23
"""Most rows times patterns, which bounds the memory of the images."""
MOST_FREE = 9
"""Most columns of which all combinations are tried: 2**9 patterns."""
MOST_ROUNDS = 50
"""A stop that no search has been seen to reach; each round but the last saves something."""


class LocalSuppression(BaseEstimator):  # type: ignore[misc]
    """Blank single cells, as few as possible, until every row equals at least k - 1 others.

    Cells that are not blanked stay as they are. If people in a `Table` have several rows, each
    group of equal rows has rows of at least k people.

    Parameters
    ----------
    k : int
        The least number of rows alike, or of people who have them.
    columns : sequence of str, optional
        The columns an attacker may know, in which cells are blanked and rows become alike.
        `None`: the quasi-identifiers of a `Table`, every column of a frame or array.
    weights : mapping of column to number, optional
        Cost of a blank in a column; 1 for columns that are not named.
    missing : {"value", "anything"}
        What a missing cell equals. By default it is a value of its own, so that rows alike are
        blank in the same columns. With `"anything"`, as in sdcMicro, it matches every value: then
        far fewer blanks are enough, but a few rows with many blanks count as equal to everybody,
        and other people may still be the only ones with their values.

    Attributes
    ----------
    columns_ : tuple of str
    blanked_ : dict of column to int
        The number of blanked cells of each column.
    anonymity_ : int
        The least number of rows, or of people, alike by the rule of `missing`.

    Notes
    -----
    Each row chooses which of its cells to blank, and at least k rows must end up with the same
    cells: facility location with lower bounds, which is NP-hard even for k = 3 (Meyerson and
    Williams 2004). Rows are settled by the cheapest patterns of blanks, then moved one by one and
    in groups while that saves blanks. All patterns are tried over up to nine columns, those with
    the most values; the others are only blanked together with all of these, one after another.

    A value that fewer than k rows have is blanked in all of them.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"job": ["cook", "cook", "judge"], "sex": ["f", "f", "f"]})
    >>> hide = LocalSuppression(k=3)
    >>> hide.fit_transform(people).rows()
    [(None, 'f'), (None, 'f'), (None, 'f')]
    >>> hide.blanked_, hide.anonymity_
    ({'job': 3, 'sex': 0}, 3)
    """

    def __init__(
        self,
        k: int = 5,
        *,
        columns: Sequence[str] | None = None,
        weights: Mapping[str, float] | None = None,
        missing: Missing = "value",
    ) -> None:
        self.k = k
        self.columns = columns
        self.weights = weights
        self.missing = missing

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Blank cells of a `Table`, a pandas, polars or pyarrow frame, or an array of fractions.

        The same kind comes back, with the same rows in the same order.
        """
        data = input_frame(with_fractions(X))
        usual = X.quasi if isinstance(X, Table) else None
        columns = columns_to_alter(data, self.columns, usual)
        check_k(self.k, data.frame.height)
        weights = _checked_weights(self.weights, columns)
        order = data.order
        back = np.argsort(order)
        people = data.people[order]
        true = codes_of(only(data.frame, columns)[order])
        blanked = suppressed(true, self.k, weights, self.missing, people)
        self.columns_ = tuple(columns)
        self.blanked_ = dict(zip(columns, ((blanked == 0) & (true != 0)).sum(axis=0).tolist()))
        self.anonymity_ = _alike(blanked, self.missing, people)
        return data.back(data.frame.with_columns(_blanked(data.frame, columns, blanked[back])))


def suppressed(
    codes: Codes,
    k: int,
    weights: Weights,
    missing: Missing = "value",
    people: PeopleLike = None,
) -> Codes:
    """The codes with cells set to 0 (missing) until k rows or people are alike.

    >>> suppressed(np.array([[1, 1], [1, 2], [1, 2]]), 3, [1, 1]).tolist()
    [[1, 0], [1, 0], [1, 0]]
    """
    if missing not in get_args(Missing):
        raise InputError(f"missing must be one of {listed(get_args(Missing))}, got {missing!r}")
    who = People.named(people, len(codes))
    if missing == "anything":
        if not who.each_row:
            raise InputError(
                "where a missing cell matches anything, rows are counted, and here people have "
                "several; ask for missing='value'"
            )
        return _unblanked(codes, _suppressed_rows(codes, k, weights), k, weights)
    if who.each_row:
        return _suppressed_rows(codes, k, weights)
    return keeping(
        k,
        who,
        lambda rows: _suppressed_rows(codes, rows, weights),
        lambda blanked: _alike(blanked, "value", who),
    )


def _suppressed_rows(codes: Codes, k: int, weights: Weights) -> Codes:
    blanked = _only_common(codes, k)
    rows = _worth_searching(blanked, k)
    searched = blanked[rows]
    patterns = patterns_tried(searched, weights)
    choice = _Blanking.of(searched, patterns, np.asarray(weights, dtype=float)).choices(k)
    for number, pattern in enumerate(patterns):
        if pattern:
            blanked[np.ix_(rows[choice == number], np.array(pattern))] = 0
    return blanked


def _only_common(codes: Codes, k: int) -> Codes:
    """The codes without values of fewer than k rows, which no k rows can share."""
    common = codes.copy()
    for column in common.T:
        column[np.bincount(column)[column] < k] = 0
    return common


def _worth_searching(codes: Codes, k: int) -> Codes:
    """The rows to search: of large groups of equal rows only a part.

    Of 4k or more equal rows, 3k are searched, for others to join them. At least k are left out,
    enough to be a group by themselves.
    """
    classes = _classes(codes)
    order = np.argsort(classes, kind="stable")
    sizes = np.bincount(classes)
    place = np.empty(len(classes), dtype=np.int64)
    place[order] = np.arange(len(classes)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.flatnonzero((sizes[classes] < 4 * k) | (place < 3 * k))


def _classes(codes: Codes) -> Codes:
    """Number rows so that equal ones share a number."""
    image, _ = _images(codes, [()])
    return image[:, 0].astype(np.int64)


def patterns_tried(codes: Codes, weights: Weights) -> list[Pattern]:
    """The patterns to search, from no column to all, sorted by weight.

    >>> patterns_tried(np.array([[1, 1], [1, 2]]), [1, 1])
    [(), (0,), (1,), (0, 1)]
    """
    rows, width = codes.shape
    by_values = np.argsort([-len(np.unique(column)) for column in codes.T], kind="stable").tolist()
    free = min(width, MOST_FREE, max(1, int(np.log2(max(MOST_IMAGES / rows, 2)))))
    patterns = [p for size in range(free + 1) for p in combinations(sorted(by_values[:free]), size)]
    longer = accumulate([tuple(by_values[:free]), *((c,) for c in by_values[free:])])
    patterns += [tuple(sorted(p)) for p in longer if len(p) > free]
    return sorted(patterns, key=lambda p: (sum(weights[c] for c in p), p))


class _Blanking(NamedTuple):
    """The images of all rows by all patterns, their costs, and the rows that can have each image.

    The rows of image i are ``rows[start[i]:start[i + 1]]``, by the `patterns` at the same places.
    int32 and float32 halve the memory of the largest arrays.
    """

    image: NDArray[np.int32]
    cost: NDArray[np.float32]
    weight: NDArray[np.float64]
    start: NDArray[np.int64]
    rows: NDArray[np.int32]
    patterns: NDArray[np.int32]

    @classmethod
    def of(
        cls, codes: Codes, patterns: Sequence[Pattern], weights: NDArray[np.float64]
    ) -> _Blanking:
        image, images = _images(codes, patterns)
        cost = np.empty(image.shape, np.float32)
        for number, pattern in enumerate(patterns):
            held = list(pattern)
            cost[:, number] = (codes[:, held] != 0) @ weights[held] if held else 0.0
        order = np.argsort(image, axis=None, kind="stable")
        group, row = image.reshape(-1)[order], order // len(patterns)
        # A row that lacks a cell has the same image with and without blanking it: list it once.
        once = np.r_[True, (np.diff(group) != 0) | (np.diff(row) != 0)]
        start = np.searchsorted(group[once], np.arange(images + 1))
        return cls(
            image,
            cost,
            np.array([weights[list(p)].sum() for p in patterns]),
            start,
            row[once].astype(np.int32),
            (order[once] % len(patterns)).astype(np.int32),
        )

    def choices(self, k: int) -> NDArray[np.int64]:
        """The pattern that the search chooses for each row."""
        from tamis.perturb.suppression_kernels import UNSETTLED, settle

        choice = np.full(len(self.image), UNSETTLED, dtype=np.int64)
        size = np.zeros(len(self.start) - 1, dtype=np.int64)
        settle(self.image, self.weight, k, choice, size)
        self._improve(k, choice, size)
        while (choice == UNSETTLED).any():
            self._blank_out(choice, size, k)
            self._improve(k, choice, size)
        return choice

    def _improve(self, k: int, choice: NDArray[np.int64], size: NDArray[np.int64]) -> None:
        from tamis.perturb.suppression_kernels import close_groups, move_single_rows, open_groups

        now, who = (self.image, self.cost, k, choice, size), (self.start, self.rows)
        for _ in range(MOST_ROUNDS):
            saved = move_single_rows(*now)
            saved += open_groups(*now, *who, self.patterns)
            saved += close_groups(*now, *who)
            if not saved:
                return

    def _blank_out(self, choice: NDArray[np.int64], size: NDArray[np.int64], k: int) -> None:
        """Blank all cells of unsettled rows, and of the cheapest groups until there are k such."""
        from tamis.perturb.suppression_kernels import UNSETTLED

        everything = int(np.argmax(self.weight))
        blank = int(self.image[0, everything])
        choice[choice == UNSETTLED] = everything
        while (count := int((choice == everything).sum())) < k:
            rows = np.arange(len(choice))
            group = self.image[rows, choice]
            loss = self.cost[rows, everything] - self.cost[rows, choice]
            of_group = np.bincount(group, loss, minlength=len(size))
            others = np.setdiff1d(np.unique(group), [blank])
            choice[group == others[np.argmin(of_group[others])]] = everything
            assert (choice == everything).sum() > count
        size[:] = np.bincount(self.image[np.arange(len(choice)), choice], minlength=len(size))


def _images(codes: Codes, patterns: Sequence[Pattern]) -> tuple[NDArray[np.int32], int]:
    """Number the distinct images of all rows by all patterns, in the order of the patterns.

    Returns the numbers, rows by patterns, and how many there are.
    """
    kept = np.ones((codes.shape[1], len(patterns)), dtype=np.int64)
    for number, pattern in enumerate(patterns):
        kept[list(pattern), number] = 0
    keys, radix = np.zeros((len(codes), len(patterns)), dtype=np.int64), 1
    for column, keeps in zip(codes.T, kept):
        values = int(column.max()) + 1
        if radix * values >= CODE_LIMIT:  # renumber without gaps before the keys overflow
            used, numbers = np.unique(keys, return_inverse=True)
            keys, radix = numbers.reshape(keys.shape), len(used)
        keys = keys * values + np.multiply.outer(column, keeps)
        radix *= values
    _, first, image = np.unique(keys.T, return_index=True, return_inverse=True)
    place = np.empty(len(first), dtype=np.int32)
    place[np.argsort(first)] = np.arange(len(first))
    return np.ascontiguousarray(place[image].reshape(keys.T.shape).T), len(first)


def _unblanked(true: Codes, blanked: Codes, k: int, weights: Weights) -> Codes:
    """Restore cells that are not needed if a blank matches anything, the most costly first."""
    from tamis.perturb.suppression_kernels import unblank

    restored = blanked.copy()
    cells = np.flatnonzero((true != 0) & (restored == 0))
    dearest = np.argsort(-np.asarray(weights, dtype=float)[cells % true.shape[1]], kind="stable")
    classes = _classes(restored)
    unblank(true, restored, k, cells[dearest], np.bincount(classes)[classes])
    return restored


def _alike(codes: Codes, missing: Missing, people: People) -> int:
    """The smallest number of rows alike, or of people who have them."""
    from tamis.perturb.suppression_kernels import matches

    classes = _classes(codes)
    if missing == "anything":
        return int(matches(codes, np.bincount(classes)[classes]).min())
    return int(sizes_of(Coded(classes, int(classes.max()) + 1), people).min())


def codes_of(frame: pl.DataFrame) -> Codes:
    """The cells of a frame as numbers from 1; 0 is missing.

    >>> codes_of(pl.DataFrame({"job": ["cook", None, "judge", "cook"]}))[:, 0].tolist()
    [1, 0, 2, 1]
    """
    columns = [dense(coded(column)).codes + 1 for column in frame.get_columns()]
    present = [_present(column) for column in frame.get_columns()]
    return np.column_stack([np.where(there, codes, 0) for codes, there in zip(columns, present)])


def _present(column: pl.Series) -> NDArray[np.bool_]:
    cells = bare(column)
    return (cells.fill_nan(None) if cells.dtype.is_float() else cells).is_not_null().to_numpy()


def _blanked(frame: pl.DataFrame, columns: Sequence[str], codes: Codes) -> list[pl.Series]:
    nothing = {name: pl.Series([None], dtype=frame.schema[name]) for name in columns}
    return [
        frame[name].zip_with(pl.Series(cells != 0), nothing[name])
        for name, cells in zip(columns, codes.T)
    ]


def _checked_weights(weights: Mapping[str, float] | None, columns: Sequence[str]) -> list[float]:
    given = weights or {}
    if unknown := [name for name in given if name not in columns]:
        raise InputError(f"weights for {listed(unknown)}, which is not a column to blank")
    for name, weight in given.items():
        if not isinstance(weight, int | float) or not 0 < weight < 1e6:
            raise InputError(f"the weight of column {name!r} must be above 0 and below a million")
    return [float(given.get(name, 1)) for name in columns]
