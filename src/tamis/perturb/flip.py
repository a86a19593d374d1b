"""`RandomFlip`: flip cells of a 0/1 table until every row equals at least k - 1 others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator

from tamis.binary.matrix import sparse_rows, zero_one
from tamis.binary.records import BinaryTable
from tamis.errors import CannotMeet, InputError
from tamis.people import People
from tamis.perturb import RandomState, input_frame, random_source
from tamis.select.containment.selection import check_k, equal_people, keeping
from tamis.table import Table, only

ORDERS = 8
"""Number of orders of the rows in which neighbours are looked up."""
REACH = 8
"""Neighbours to look at on each side in each order; k if that is more."""
KEY = 64
"""Columns that an order sorts by: the bits of one word."""
Disagreement = Literal["majority", "coin"]


@dataclass(frozen=True, eq=False)
class Flipped:
    """A 0/1 table whose rows are identical within clusters.

    Parameters
    ----------
    matrix : CSR array
        The rows in their original order.
    clusters : array of int
        The cluster of each row.
    flipped_share : float
        The share of all cells that changed.
    anonymity : int
        The least number of identical rows, or of people who have them, measured on the matrix.
    """

    matrix: sparse.csr_array
    clusters: NDArray[np.int64]
    flipped_share: float
    anonymity: int


class RandomFlip(BaseEstimator):  # type: ignore[misc]
    """Flip cells of a 0/1 table so that it becomes k-anonymous over all its columns.

    Rows are grouped into clusters of at least k similar rows; within a cluster each column takes
    one value: by default that of most rows, ties being broken at random. If people in a `Table` or
    `BinaryTable` have several rows, each cluster has rows of at least k people.

    Parameters
    ----------
    k : int
        The least number of identical rows, or of people who have them.
    disagreement : {"majority", "coin"}
        The value of a column on which a cluster disagrees: that of most of its rows, or 0 or 1 with
        equal probability. The paper does not say; its shares of flipped cells are nearer to those
        of `coin`, which flips more.
    random_state : int, numpy Generator or None
        For the orders of neighbours, then for ties and coins.

    Attributes
    ----------
    flipped_share_ : float
        The share of cells that were flipped.
    clusters_ : array of int
        The cluster of each row.
    anonymity_ : int
        The k-anonymity of the result, measured on it.

    Notes
    -----
    RF of Zhang et al. (2017), section 5.2, after the greedy k-member clustering of Byun, Kamra,
    Bertino and Li (2007), whose exact form compares each row with all others. Here a row is
    compared with its neighbours in eight orders of the rows: each sorts them along the Gray code
    of up to 64 columns, drawn with a probability that grows with how evenly a column is split. Rows
    that occur k times are already clusters. With n rows of L ones each this takes
    O(n log n + n k L) steps with k of at least 8: near-linear in the rows.

    It works on the rows it is given, so there is `fit_transform` and no `transform`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1, 1, 0], [1, 1, 1], [0, 0, 0], [0, 0, 0]])
    >>> flip = RandomFlip(k=2, random_state=0)
    >>> Z = flip.fit_transform(X)
    >>> flip.anonymity_, round(flip.flipped_share_, 3)
    (2, 0.083)
    >>> bool((Z[0] == Z[1]).all())
    True
    """

    def __init__(
        self,
        k: int = 5,
        *,
        disagreement: Disagreement = "majority",
        random_state: RandomState = None,
    ) -> None:
        self.k = k
        self.disagreement = disagreement
        self.random_state = random_state

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Flip cells of a 0/1 array, sparse array, frame or `BinaryTable`, or a `Table`'s features.

        The same kind comes back, with the same rows in the same order; sparse tables as CSR.
        """
        table, back = _cells_and_way_back(X)
        people = X.people if isinstance(X, BinaryTable | Table) else None
        found = flip(
            table,
            self.k,
            disagreement=self.disagreement,
            random_state=self.random_state,
            people=people,
        )
        self.flipped_share_, self.clusters_ = found.flipped_share, found.clusters
        self.anonymity_ = found.anonymity
        return back(found.matrix)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.input_tags.sparse = True
        return tags


def flip(
    X: Any,
    k: int,
    *,
    disagreement: Disagreement = "majority",
    random_state: RandomState = None,
    people: Any = None,
) -> Flipped:
    """Flip cells of a 0/1 array, sparse array or frame until each row equals k - 1 others.

    `disagreement` is that of `RandomFlip`. With `people`, the person of each row by name or number,
    cells are flipped until each row is shared by k people, and the anonymity counts people.

    Examples
    --------
    >>> flip([[1, 0], [1, 1], [1, 1]], k=3).matrix.toarray().tolist()
    [[1, 1], [1, 1], [1, 1]]
    """
    table = sparse_rows(X)
    check_k(k, table.shape[0])
    if disagreement not in get_args(Disagreement):
        raise InputError(f"disagreement must be 'majority' or 'coin', got {disagreement!r}")
    support = np.bincount(table.indices, minlength=table.shape[1])
    if not ((support > 0) & (support < table.shape[0])).any():
        raise InputError("every column is constant, so all rows are identical already")
    who, coin = People.named(people, table.shape[0]), disagreement == "coin"

    def attempt(rows: int) -> Flipped:
        flipped = _flipped(table, rows, random_state, coin)
        return replace(flipped, anonymity=equal_people(flipped.matrix, who))

    return keeping(k, who, attempt, lambda flipped: flipped.anonymity)


def _flipped(table: sparse.csr_array, k: int, random_state: RandomState, coin: bool) -> Flipped:
    rng = random_source(random_state)
    clusters = _clusters(table, k, rng)
    matrix, flips = _levelled(table, clusters, rng, coin)
    anonymity = _least_equal(matrix)
    if anonymity < k:
        raise CannotMeet(f"flipping reached only {anonymity} identical rows, below k = {k}")
    return Flipped(matrix, clusters, flips / (table.shape[0] * table.shape[1]), anonymity)


def _clusters(table: sparse.csr_array, k: int, rng: np.random.Generator) -> NDArray[np.int64]:
    from tamis.perturb.kernels import gathered
    from tamis.risk.kernels import distinct_rows

    first, weight, of_row = distinct_rows(table.indptr, table.indices)
    rows = table[first]
    orders = _orders(rows, rng)
    reach = max(REACH, k)
    of_distinct = gathered(
        rows.indptr, rows.indices, weight, orders, orders[0], k, reach, table.shape[1]
    )
    clusters: NDArray[np.int64] = of_distinct[of_row]
    return _with_left_over(table, clusters)


def _orders(rows: sparse.csr_array, rng: np.random.Generator) -> NDArray[np.int64]:
    """Orders of the rows in which similar rows tend to be close together.

    Neighbours in a Gray code differ in one bit, so no step of an order changes many columns.
    """
    share = np.bincount(rows.indices, minlength=rows.shape[1]) / rows.shape[0]
    even = np.log(np.maximum(share * (1 - share), np.finfo(float).tiny))
    orders = []
    for _ in range(ORDERS):
        # Gumbel noise on the log weights: a draw without replacement, in proportion to them.
        columns = np.argsort(-(even + rng.gumbel(size=len(even))), kind="stable")[:KEY]
        bits = np.zeros((rows.shape[0], KEY), np.uint8)
        bits[:, : len(columns)] = rows[:, columns].toarray()
        key = np.packbits(bits, axis=1).view(">u8")[:, 0].astype(np.uint64)
        # A prefix XOR turns the bits, read as a Gray code, into their place in its sequence.
        for shift in (1, 2, 4, 8, 16, 32):
            key ^= key >> np.uint64(shift)
        orders.append(np.argsort(key, kind="stable"))
    return np.array(orders)


def _with_left_over(table: sparse.csr_array, clusters: NDArray[np.int64]) -> NDArray[np.int64]:
    """Add the fewer than k rows that have no cluster to the one whose majority row is nearest."""
    left = np.flatnonzero(clusters < 0)
    if not len(left):
        return clusters
    inside = np.flatnonzero(clusters >= 0)
    ones, size = _counts(table[inside], clusters[inside])
    ones.data = (2 * ones.data > size[_rows_of(ones)]).astype(np.int64)
    alone = table[left].astype(np.int64)
    # Hamming distances, less the ones of each row itself, which are the same for every cluster.
    apart = ones.sum(axis=1)[:, None] - 2 * (ones @ alone.T).toarray()
    joined = clusters.copy()
    joined[left] = apart.argmin(axis=0)
    return joined


def _levelled(
    table: sparse.csr_array, clusters: NDArray[np.int64], rng: np.random.Generator, coin: bool
) -> tuple[sparse.csr_array, int]:
    """Replace every row by that of its cluster; also return the number of cells that changed."""
    ones, size = _counts(table, clusters)
    others = size[_rows_of(ones)] - ones.data
    # One draw for every entry, needed or not, so that the draws do not depend on the rule.
    heads = rng.random(ones.nnz) < 0.5
    open_to_chance = (others > 0) if coin else (ones.data == others)
    kept = np.where(open_to_chance, heads, ones.data > others)
    flips = int(np.where(kept, others, ones.data).sum())
    ones.data = kept.astype(np.uint8)
    ones.eliminate_zeros()
    ones.sort_indices()
    return sparse.csr_array(ones[clusters]), flips


def _counts(
    table: sparse.csr_array, clusters: NDArray[np.int64]
) -> tuple[sparse.csr_array, NDArray[np.int64]]:
    """The ones of each column in each cluster, and the size of each cluster."""
    size = np.bincount(clusters)
    place = (clusters, np.arange(len(clusters)))
    member = sparse.csr_array((np.ones(len(clusters), np.int64), place))
    return sparse.csr_array(member @ table.astype(np.int64)), size


def _rows_of(table: sparse.csr_array) -> NDArray[np.int64]:
    return np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))


def _least_equal(table: sparse.csr_array) -> int:
    from tamis.risk.kernels import distinct_rows

    _, weight, _ = distinct_rows(table.indptr, table.indices)
    return int(weight.min())


def _cells_and_way_back(X: Any) -> tuple[Any, Callable[[sparse.csr_array], Any]]:
    """The 0/1 cells of any kind of table, and a function that converts back to that kind."""
    if isinstance(X, BinaryTable):
        return X.matrix, lambda new: replace(X, matrix=new)
    if sparse.issparse(X):
        stored: Any = X
        return X, lambda new: new.astype(stored.dtype)
    if isinstance(X, np.ndarray | list):
        values = np.asarray(X)
        return values, lambda new: new.toarray().astype(values.dtype)
    data = input_frame(X)
    names = list(data.features)
    cells = zero_one(only(data.frame, names).to_numpy(), names)

    def back(new: sparse.csr_array) -> Any:
        dense = new.toarray()
        columns = [
            pl.Series(c, dense[:, i]).cast(data.frame.schema[c]) for i, c in enumerate(names)
        ]
        return data.back(data.frame.with_columns(columns))

    return cells, back
