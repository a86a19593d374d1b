"""The original in the coarser forms of a release: by the ladders that its manifest states, or, for
local recoding, by the groups of columns that its rows have."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.coarsen.ladder import NOTHING, Ladder
from tamis.coarsen.local import MISSING
from tamis.coarsen.value_groups import plain_text
from tamis.errors import CannotMeet
from tamis.table import Table, bare

Mask = NDArray[np.bool_]
WORDS = ("cuts", "width", "ends", "keep", "dates")
ABOUT = ("level", "read")
APART = "no group: "
"""Begins the text of a value that is in no group, so that it stays apart from all."""


def as_stated(original: Table, release: Table, stated: Mapping[str, Mapping[str, Any]]) -> Table:
    """The original with each column in the coarser form that a manifest states.

    Rare values are not named in groups. Such a value is in the only group that has as many rows
    left as the value has; where several have, it stays apart from all.

    Parameters
    ----------
    original, release : Table
    stated : mapping of column to what the manifest states

    Examples
    --------
    >>> one = Table(pl.DataFrame({"age": [41, 55], "job": ["cook", "bard"]}))
    >>> two = Table(pl.DataFrame({"age": ["[40, 50)", "[50, 60)"], "job": ["any", "other"]}))
    >>> said = {"age": {"level": 1, "width": 10}, "job": {"groups": {"any": ["cook"], "other": []}}}
    >>> as_stated(one, two, said).frame.rows()
    [('[40, 50)', 'any'), ('[50, 60)', 'other')]
    """
    mine = {c: said for c, said in stated.items() if c in original.frame.columns}
    try:
        new = [_stated(original.frame[c], release.frame[c], said) for c, said in mine.items()]
    except (AttributeError, KeyError, TypeError) as error:
        raise CannotMeet(
            f"the manifest is damaged where it states coarser columns ({type(error).__name__}); "
            "run tamis verify"
        ) from None
    return replace(original, frame=original.frame.with_columns(new)) if new else original


def _stated(column: pl.Series, released: pl.Series, said: Mapping[str, Any]) -> pl.Series:
    if "groups" in said:
        return _in_groups(column, released, said["groups"])
    rule = {word: [part] if word in WORDS else part for word, part in said.items()}
    ladder = Ladder.from_dict(column.name, {w: p for w, p in rule.items() if w not in ABOUT})
    return ladder.apply(column, 1)


def _in_groups(
    column: pl.Series, released: pl.Series, groups: Mapping[str, Sequence[str]]
) -> pl.Series:
    texts = plain_text(bare(column))
    label = {value: group for group, values in groups.items() for value in values}
    amount = Counter(texts.drop_nulls().to_list())
    left = Counter(bare(released).drop_nulls().to_list())
    for value, group in label.items():
        left[group] -= amount[value]
    for value, rows in amount.items():
        if value not in label:
            fits = [group for group in groups if left[group] >= rows]
            label[value] = fits[0] if len(fits) == 1 else APART + value
    return texts.replace(label).alias(column.name)


def in_local_groups(original: Table, release: Table) -> Table | None:
    """The original with the intervals and groups that local recoding gave to its rows.

    Each row is in the one class whose groups hold what attackers may know of it. `None` if the
    release has no such groups, or if a row fits several classes.

    Examples
    --------
    >>> one = Table(pl.DataFrame({"age": [31, 35, 33], "job": ["cook", "judge", "king"]}))
    >>> two = Table(pl.DataFrame({"age": ["[31, 35]", "33"], "job": ["{cook, judge}", "king"]}))
    >>> in_local_groups(one, two).frame.rows()
    [('[31, 35]', '{cook, judge}'), ('[31, 35]', '{cook, judge}'), ('33', 'king')]
    """
    shared = [c for c in original.quasi if c in release.frame.columns]
    columns = [c for c in shared if release.frame[c].dtype == pl.String]
    if not any(_local(release.frame[c]) for c in columns):
        return None
    rows = original.only(columns)
    places = _classes_of(rows, classes := release.only(columns).unique(maintain_order=True))
    if places is None:
        return None
    new = [_told(rows[c], classes[c], places) for c in columns]
    return replace(original, frame=original.frame.with_columns(new))


_CLOSED = re.compile(r"^\[(.+), (.+)\]$")


def _local(column: pl.Series) -> bool:
    labels = bare(column).drop_nulls().unique()
    return any(label.endswith((MISSING, "]", "}")) for label in labels)


def _classes_of(rows: pl.DataFrame, classes: pl.DataFrame) -> NDArray[np.intp] | None:
    """The class of each row, -1 for none; `None` if one fits several."""
    holds = [_holding(rows[c], classes[c]) for c in rows.columns]
    found = np.full(rows.height, -1)
    for number, labels in enumerate(zip(*(classes[c] for c in rows.columns))):
        fits = np.logical_and.reduce([held[label] for held, label in zip(holds, labels)])
        if (found[fits] >= 0).any():
            return None
        found[fits] = number
    return found


def _holding(cells: pl.Series, labels: pl.Series) -> dict[str | None, Mask]:
    """For each label, which cells it holds."""
    missing = bare(cells).is_null().to_numpy()
    return {label: _held(cells, label, missing) for label in bare(labels).unique()}


def _held(cells: pl.Series, label: str | None, missing: Mask) -> Mask:
    if label is None:
        return missing
    stem = label.removesuffix(MISSING)
    also = missing & ((stem != label) | (stem == NOTHING))
    return _inside(bare(cells), stem).fill_null(False).to_numpy() | also


def _inside(cells: pl.Series, label: str) -> pl.Series:
    texts = cells.cast(pl.String)
    if label == NOTHING:
        return cells.is_not_null()
    if cells.dtype != pl.String and (ends := _CLOSED.match(label)):
        low, high = ends.groups()
        if not cells.dtype.is_numeric():  # dates are written so that texts have their order
            return (texts >= low) & (texts <= high)
        numbers = cells.cast(pl.Float64)
        return (numbers >= float(low)) & (numbers <= float(high))
    if label.startswith("{") and label.endswith("}"):
        values = texts.unique().drop_nulls().to_list()
        body = f", {label[1:-1]}, "
        return texts.is_in([value for value in values if f", {value}, " in body])
    return texts == label


def _told(cells: pl.Series, labels: pl.Series, places: NDArray[np.intp]) -> pl.Series:
    alone = bare(cells).cast(pl.String).str.replace("^", APART)
    told = bare(labels).gather(np.maximum(places, 0))
    return told.zip_with(pl.Series(places >= 0), alone).alias(cells.name)
