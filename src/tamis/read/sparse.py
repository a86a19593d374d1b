"""Sparse 0/1 files: libsvm lines, baskets of items, and long tables of (entity, feature)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from tamis.binary.records import BinaryTable
from tamis.errors import InputError, listed, listed_as, plural
from tamis.read import named_target, say_unlabelled
from tamis.read.text import read_utf8

_CHUNK = 1 << 25
MOST_DIGITS = 100
"""Items with more digits than this are sorted as texts, not as numbers."""


def svm_table(path: Path, encoding: str | None = None) -> BinaryTable:
    """Read a libsvm (svmlight) file: on each line a label, then `index:1` for each feature."""
    indices, counts, labels = [], [], []
    for first, lines in _lines(path, encoding):
        if lines.str.contains("#", literal=True).any():
            lines = lines.str.replace("#.*$", "")
        words = lines.str.strip_chars_end().str.split(" ")
        label = words.list.first()
        if (label == "").any():
            line = first + int(np.flatnonzero((label == "").to_numpy())[0])
            raise InputError(f"{path}: line {line} has no label; every line must begin with one")
        items = words.list.slice(1)
        indices.append(_svm_indices(path, first, items))
        counts.append(items.list.len().to_numpy())
        labels.append(label)
    occurring, columns = _numbered(np.concatenate(indices))
    matrix = _csr(columns, np.concatenate(counts), len(occurring))
    names = tuple(map(str, occurring.tolist()))
    return BinaryTable(matrix, names, pl.concat(labels).to_numpy().astype(str))


def _numbered(indices: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The indices that occur, in order, and the position of each among them.

    Only indices that occur become columns, so that a single large one does not make billions.
    """
    # A table by index is faster than sorting, unless a few large indices would make it huge.
    if indices.max(initial=0) > 10 * len(indices) + 1_000_000:
        occurring, places = np.unique(indices, return_inverse=True)
        return occurring.astype(np.int64), places.astype(np.int32)
    there = np.bincount(indices, minlength=1) > 0
    place = np.cumsum(there, dtype=np.int32) - np.int32(1)
    return np.flatnonzero(there), place[indices]


def _svm_indices(path: Path, first: int, items: pl.Series) -> NDArray[np.int32]:
    words = items.list.explode(empty_as_null=False)
    # The fast path: every word is a number followed by ":1", which the lengths prove.
    plain = words.str.strip_suffix(":1")
    numbers = plain.cast(pl.Int32, strict=False)
    good = (numbers >= 0) & (plain.str.len_bytes() + 2 == words.str.len_bytes())
    if not good.fill_null(False).all():
        numbers = _svm_careful(path, first, items, words)
    return numbers.to_numpy().astype(np.int32)


def _svm_careful(path: Path, first: int, items: pl.Series, words: pl.Series) -> pl.Series:
    """The slow path: accept ones written as 1.0, and raise with the line of anything else."""
    parts = words.str.split_exact(":", 1).struct.unnest()
    index = parts["field_0"].cast(pl.Int64, strict=False)
    value = parts["field_1"].cast(pl.Float64, strict=False)
    for bad, said in (
        (words == "", "two spaces in a row; put one space between words"),
        (index.is_null(), "an index that is not a whole number; write index:1"),
        (index < 0, "a negative index; indices count from 1"),
        (index >= 2**31 - 1, "an index of more than 31 bits; renumber the features"),
        (value.is_null(), "an index without a value; write index:1"),
        (value != 1, "a value other than 1; leave zeros out, and binarise other values first"),
    ):
        at = np.flatnonzero(bad.fill_null(False).to_numpy())
        if at.size:
            ends = np.cumsum(items.list.len().to_numpy())
            line = first + int(np.searchsorted(ends, at[0], side="right"))
            raise InputError(f"{path}: line {line} has {said}")
    return index


def basket_table(
    path: Path,
    *,
    labels: str | Path | None = None,
    label_items: Sequence[str] = (),
    encoding: str | None = None,
    separator: str | None = None,
) -> BinaryTable:
    """Read baskets: the items of one row per line; labels from a second file, or from given items.

    With one label item, the classes are having it and not having it; with several, every row must
    have exactly one of them. Label items are not features.
    """
    known: dict[str, int] = {}
    indices, counts = [], []
    for _, lines in _lines(path, encoding):
        words = lines.str.strip_chars().str.split(separator or " ")
        words = words.list.eval(pl.element().str.strip_chars()).list.eval(
            pl.element().filter(pl.element() != "")
        )
        items = words.list.explode(empty_as_null=False)
        fresh = [item for item in items.unique(maintain_order=True) if item not in known]
        known.update(zip(fresh, range(len(known), len(known) + len(fresh))))
        codes = items.replace_strict(known, return_dtype=pl.Int32) if items.len() else items
        indices.append(codes.to_numpy().astype(np.int32))
        counts.append(words.list.len().to_numpy())
    names = _in_order(known)
    rank = np.empty(len(names), np.int32)
    rank[[known[name] for name in names]] = np.arange(len(names), dtype=np.int32)
    matrix = _csr(rank[np.concatenate(indices)], np.concatenate(counts), len(names))
    if label_items:
        return labelled_by_item(path, BinaryTable(matrix, tuple(names)), label_items)
    given = None if labels is None else _label_lines(Path(labels), matrix.shape[0], encoding)
    return BinaryTable(matrix, tuple(names), given)


def _in_order(items: dict[str, int]) -> list[str]:
    """Sorted as numbers if all are numbers, else as text: independent of the order of the rows."""
    # Python refuses to convert texts of more than some thousand digits to numbers.
    numbers = all(i.isdecimal() and len(i) <= MOST_DIGITS for i in items)
    return sorted(items, key=int) if numbers else sorted(items)


def labelled_by_item(
    path: str | Path, records: BinaryTable, label_items: Sequence[str]
) -> BinaryTable:
    """Label records by which of some items they have; these items are not features."""
    matrix, names = records.matrix, list(records.features)
    items = [str(item) for item in label_items]
    if absent := [item for item in items if item not in names]:
        raise InputError(
            f"{path}: no row has the label item {listed(absent)}; "
            "a label item is a whole item as the file has it, whose rows get one label and all "
            "others the other; give --label-item once for each class where there are more"
        )
    has = matrix[:, [names.index(item) for item in items]].toarray().astype(bool)
    if len(items) == 1:
        labels = np.where(has[:, 0], items[0], f"not {items[0]}")
    elif (wrong := int((has.sum(axis=1) != 1).sum())) == 0:
        labels = np.asarray(items)[has.argmax(axis=1)]
    else:
        raise InputError(
            f"{path}: not every row has exactly one of the label items ({wrong} do not); name one "
            "item, or mutually exclusive items"
        )
    keep = [i for i, name in enumerate(names) if name not in items]
    return BinaryTable(matrix[:, keep], tuple(names[i] for i in keep), labels)


def _label_lines(path: Path, rows: int, encoding: str | None) -> NDArray[np.str_]:
    lines = read_utf8(path, encoding).decode().splitlines()
    if len(lines) != rows:
        has = f"{plural(len(lines), 'label')} for {plural(rows, 'row')}"
        raise InputError(f"{path} has {has}; give one label per line")
    return np.asarray(lines)


def long_table(
    pairs: pl.DataFrame,
    entity: str,
    feature: str,
    labels: pl.DataFrame | None = None,
    target: str | None = None,
    drop_unlabelled: bool = False,
) -> BinaryTable:
    """Records from a long table (one line per feature of an entity) and a table of labels.

    Entities that only the label table has are without features. Without a label table the target,
    if any, is a column of the long table with one value per entity; a line without a feature then
    states that the entity exists.
    """
    _need(pairs, [entity, feature], "the long table")
    if labels is None and target is not None:
        labels = _labels_within(pairs, entity, target)
        pairs = pairs.filter(pairs[feature].is_not_null())
    if pairs[entity].null_count() or pairs[feature].null_count():
        raise InputError(f"{entity!r} or {feature!r} is missing in some rows; remove these rows")
    left_out = 0
    if drop_unlabelled:
        pairs, labels, left_out = _labelled_entities(pairs, entity, labels, target)
    entities, classes = _entities(pairs, entity, labels, target)
    names = pairs[feature].cast(pl.String).unique().sort()
    row = (
        pairs[entity]
        .cast(pl.String)
        .replace_strict(entities, np.arange(len(entities)), default=None, return_dtype=pl.Int32)
    )
    if unlabelled := row.null_count():
        raise InputError(
            f"{plural(unlabelled, 'line')} of the long table have an entity without a label; "
            "label these entities, or leave them out with --drop-unlabelled"
        )
    column = (
        pairs[feature]
        .cast(pl.String)
        .replace_strict(names, np.arange(len(names)), return_dtype=pl.Int32)
    )
    order = np.argsort(row.to_numpy(), kind="stable")
    counts = np.bincount(row.to_numpy(), minlength=len(entities))
    matrix = _csr(column.to_numpy()[order], counts, len(names))
    return BinaryTable(matrix, tuple(names), classes, target or "label", unlabelled=left_out)


def _labelled_entities(
    pairs: pl.DataFrame, entity: str, labels: pl.DataFrame | None, target: str | None
) -> tuple[pl.DataFrame, pl.DataFrame, int]:
    """Pairs and labels of the entities that have a label, and the number of those that do not."""
    target = named_target(None if labels is None else target)
    assert labels is not None
    _need(labels, [entity, target], "the label table")
    known = labels.filter(labels.get_column(target).is_not_null())
    names, lines = (frame.get_column(entity).cast(pl.String) for frame in (known, pairs))
    everybody = pl.concat([labels.get_column(entity).cast(pl.String), lines]).n_unique()
    left = names.n_unique()
    say_unlabelled(target, left, everybody)
    return pairs.filter(lines.is_in(names.implode())), known, everybody - left


def _labels_within(pairs: pl.DataFrame, entity: str, target: str) -> pl.DataFrame:
    _need(pairs, [target], "the long table")
    labels = pairs.select(entity, target).unique(maintain_order=True)
    if labels[entity].n_unique() < labels.height:
        raise InputError(f"some entities have several values of {target!r}; give each entity one")
    return labels


def _entities(
    pairs: pl.DataFrame, entity: str, labels: pl.DataFrame | None, target: str | None
) -> tuple[pl.Series, NDArray[np.str_] | None]:
    if labels is None:
        return pairs[entity].cast(pl.String).unique(maintain_order=True), None
    if target is None:
        raise InputError("a label table needs the name of its label column; pass --target COL")
    _need(labels, [entity, target], "the label table")
    names = labels[entity].cast(pl.String)
    if twice := names.len() - names.n_unique():
        raise InputError(
            f"the label table has more than one line for some entities ({twice}); keep one line "
            "each"
        )
    if missing := labels[target].null_count():
        raise InputError(
            f"the target {target!r} is missing in {plural(missing, 'row')} of the label table"
        )
    return names, labels[target].cast(pl.String).to_numpy().astype(str)


def _need(frame: pl.DataFrame, columns: list[str], what: str) -> None:
    if absent := [c for c in columns if c not in frame.columns]:
        raise InputError(
            f"no {listed_as('column', absent)} in {what}; its columns are {listed(frame.columns)}"
        )


def _lines(path: Path, encoding: str | None) -> Iterator[tuple[int, pl.Series]]:
    """Yield the lines of a file in chunks, each with the number of its first line."""
    data = read_utf8(path, encoding)
    start, first = 0, 1
    while start < len(data):
        stop = data.find(b"\n", min(start + _CHUNK, len(data) - 1))
        stop = len(data) if stop < 0 else stop + 1
        lines = pl.Series(data[start:stop].decode().removesuffix("\n").split("\n"))
        yield first, lines
        start, first = stop, first + lines.len()


def _csr(indices: NDArray[Any], counts: NDArray[Any], width: int) -> sparse.csr_array:
    """Build a 0/1 matrix from the column numbers of each row; repeats within a row count once."""
    starts = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    if starts[-1] < 2**31:  # 32-bit positions where they fit take half the memory
        starts = starts.astype(np.int32)
    ones = np.ones(len(indices), np.uint8)
    matrix = sparse.csr_array((ones, indices, starts), shape=(len(counts), width))
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix
