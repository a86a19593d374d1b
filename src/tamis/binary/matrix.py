"""Check 0/1 tables and class labels on entry, and count the ones of each column by class."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tamis.errors import InputError, listed, plural

Binary = NDArray[np.uint8] | sparse.csr_array | sparse.csc_array


def zero_one(X: Any, names: list[str] | None = None) -> Binary:
    """Check a 0/1 table; return a byte array, or a CSR or CSC array whose stored values are all 1.

    Parameters
    ----------
    X : array, sparse matrix or array, or frame
        Rows are entities, columns are features; booleans count as 0 and 1.
    names : list of str, optional
        Column names for messages; by default those of a frame, else numbers.

    Examples
    --------
    >>> zero_one([[True, False], [False, False]])
    array([[1, 0],
           [0, 0]], dtype=uint8)
    """
    if sparse.issparse(X):
        return _sparse_ones(X)
    values = np.asarray(X)
    names = [str(name) for name in getattr(X, "columns", [])] if names is None else names
    if values.ndim != 2:
        raise InputError(
            f"a 0/1 table must have two dimensions, rows and columns, got {values.ndim}; "
            "reshape a single column with .reshape(-1, 1)"
        )
    if values.dtype == object:
        values = _numbers(values, names)
    if values.dtype.kind not in "biuf":
        raise InputError(f"a 0/1 table must contain numbers or booleans, got {values.dtype}")
    if values.dtype.itemsize == 1 and values.view(np.uint8).max(initial=0) <= 1:
        return np.ascontiguousarray(values).view(np.uint8)
    return _bytes(values, names)


def sparse_rows(X: Any) -> sparse.csr_array:
    """A 0/1 table as CSR with sorted columns.

    >>> sparse_rows([[0, 1], [1, 1]]).indices.tolist()
    [1, 0, 1]
    """
    table = zero_one(X)
    if isinstance(table, np.ndarray):
        where, which = np.nonzero(table)
        # Kernels compile once for each index type, so both arrays are 32 bits where these suffice.
        starts = np.zeros(len(table) + 1, dtype=np.int32 if len(which) < 2**31 else np.int64)
        np.cumsum(np.bincount(where, minlength=len(table)), out=starts[1:])
        ones = np.ones(len(which), dtype=np.uint8)
        return sparse.csr_array((ones, which.astype(np.int32), starts), shape=table.shape)
    return sparse.csr_array(table)


def sparse_columns(X: Any) -> sparse.csc_array:
    """A 0/1 table as CSC with sorted rows.

    >>> sparse_columns([[0, 1], [1, 1]]).indices.tolist()
    [1, 0, 1]
    """
    table = zero_one(X)
    return sparse.csc_array(table if not isinstance(table, np.ndarray) else sparse_rows(table))


def two_classes(y: Any, rows: int | None = None) -> NDArray[np.bool_]:
    """Labels of two classes as booleans; the label that sorts last is true.

    >>> two_classes(["spam", "ham", "spam"]).tolist()
    [True, False, True]
    """
    labels = _one_each(y, rows)
    if labels.dtype == np.bool_ and labels.any() and not labels.all():
        return labels
    which = class_numbers(labels)
    classes = int(which.max(initial=-1)) + 1
    if classes != 2:
        raise InputError(_not_two(classes))
    return np.asarray(which == 1)


def class_numbers(y: Any, rows: int | None = None) -> NDArray[np.intp]:
    """Labels of any number of classes as numbers from 0, in sorted order of the labels.

    >>> class_numbers(["b", "a", "c", "a"]).tolist()
    [1, 0, 2, 0]
    """
    labels = _one_each(y, rows)
    if _missing(labels).any():
        raise InputError(
            f"{int(_missing(labels).sum())} labels are missing (NaN or None); drop those rows first"
        )
    return np.unique(labels.astype(str) if labels.dtype == object else labels, return_inverse=True)[
        1
    ]


def _one_each(y: Any, rows: int | None) -> NDArray[Any]:
    """Check that labels have one dimension, and one label for each row."""
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise InputError(f"labels must have one dimension, got {labels.ndim}")
    if rows is not None and len(labels) != rows:
        raise InputError(f"expected {plural(rows, 'label')}, one per row, got {len(labels)}")
    return labels


def _not_two(classes: int) -> str:
    if classes > 2:
        return (
            f"two classes are needed, got {classes}; pick one class against the rest "
            "(for example y == label) and run once for each class, or let tamis release compare "
            "sets of columns for all classes at once"
        )
    return f"two classes are needed to separate, got {classes} class"


def _sparse_ones(X: Any) -> sparse.csr_array | sparse.csc_array:
    table = sparse.csc_array(X) if X.format == "csc" else sparse.csr_array(X)
    if X.format in ("csc", "csr"):
        # Ask X itself, which caches the answer for the next call.
        table.has_canonical_format = X.has_canonical_format
    if not table.has_canonical_format:
        table = table.copy()
        table.sum_duplicates()
    # Nearly always all stored values are 1: only otherwise are copies and closer looks needed.
    if any((part != 1).any() for part in _parts(table.data)):
        if table.dtype.kind == "f" and np.isnan(table.data).any():
            raise InputError(_MISSING)
        if not np.all((table.data == 1) | (table.data == 0)):
            raise InputError(_OTHER)
        table = table.copy()
        table.eliminate_zeros()
    if table.nnz < 2**31 and table.indices.dtype != np.int32:
        # 32-bit indices for all tables that allow it: half the memory, and kernels compile once.
        parts = (table.data, table.indices.astype(np.int32), table.indptr.astype(np.int32))
        table = type(table)(parts, shape=table.shape)
    return table


_PART = 2**20


def _parts(data: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Pieces of an array, so that testing all of it needs no temporary array of its length."""
    return (data[i : i + _PART] for i in range(0, len(data), _PART))


_MISSING = (
    "a 0/1 table cannot have missing values (NaN); give them a 0/1 column of their own, or fill or "
    "drop them first"
)
_OTHER = "only 0 and 1 are allowed, some cells have other values; turn each value into a 0/1 column"


def _bytes(values: NDArray[Any], names: list[str]) -> NDArray[np.uint8]:
    """Check cells and narrow them to bytes, a few rows at a time so that copies stay in cache."""
    table = np.empty(values.shape, np.uint8)
    step = max(1, 2**16 // max(values.shape[1], 1))
    for begin in range(0, len(values), step):
        block = values[begin : begin + step]
        with np.errstate(invalid="ignore"):
            narrow = block.astype(np.uint8)
        # What does not survive the narrowing (NaN, 0.5, 257) differs from its original.
        if (narrow > 1).any() or (narrow != block).any():
            raise InputError(_what_is_wrong(values, names))
        table[begin : begin + step] = narrow
    return table


def _what_is_wrong(values: NDArray[Any], names: list[str]) -> str:
    if values.dtype.kind == "f" and np.isnan(values).any():
        return f"{_MISSING}; columns with NaN: {_where(np.isnan(values), names)}"
    if values.dtype.kind == "f" and np.isinf(values).any():
        return f"only 0 and 1 are allowed; columns with inf: {_where(np.isinf(values), names)}"
    wrong = (values != 0) & (values != 1)
    return f"{_OTHER}; columns with other values: {_where(wrong, names)}"


def _where(cells: NDArray[np.bool_], names: list[str]) -> str:
    return listed(names[i] if names else str(i) for i in np.flatnonzero(cells.any(axis=0)))


def _numbers(values: NDArray[Any], names: list[str]) -> NDArray[np.float64]:
    missing = _missing(values)
    if missing.any():
        raise InputError(f"{_MISSING}; columns with missing values: {_where(missing, names)}")
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{_OTHER}, not text") from None


def _missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values))
    if values.dtype != object:
        return np.zeros(values.shape, dtype=bool)
    flat = [v is None or v != v for v in values.ravel()]  # only NaN differs from itself
    return np.array(flat, dtype=bool).reshape(values.shape)


def class_counts(table: Binary, positive: NDArray[np.bool_]) -> tuple[NDArray[np.int64], ...]:
    """Ones of each column of a checked table, in all rows and in rows of the true class.

    >>> support, ones = class_counts(np.array([[1, 1], [1, 0]]), np.array([True, False]))
    >>> support.tolist(), ones.tolist()
    ([2, 1], [1, 1])
    """
    if isinstance(table, np.ndarray):
        return table.sum(axis=0, dtype=np.int64), table[positive].sum(axis=0, dtype=np.int64)
    if table.format == "csc":
        # Running counts over the stored ones: the difference at its two ends counts a column.
        inside = np.concatenate([[0], np.cumsum(positive[table.indices])])
        starts = table.indptr.astype(np.int64)
        return np.diff(starts), np.diff(inside[starts])
    from tamis.binary.kernels import counts_by_class

    return counts_by_class(table, positive)


def differing_pairs(
    support: NDArray[np.int64], ones: NDArray[np.int64], rows: int, positives: int
) -> NDArray[np.int64]:
    """For each column alone, the number of pairs of rows of opposite classes that differ in it."""
    others = support - ones
    pairs: NDArray[np.int64] = ones * (rows - positives - others) + others * (positives - ones)
    return pairs
