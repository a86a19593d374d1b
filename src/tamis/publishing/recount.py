"""Who stands alone in a written release, counted from its cells by code that did not make it."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.errors import CannotMeet, listed
from tamis.publishing.checks import as_stored, zeros_and_ones


def wrong_exposure(frame: pl.DataFrame, content: dict[str, Any]) -> str:
    """What of a manifest's exposure is not so; empty where all is.

    Where people have several rows, the file does not tell whose a row is: what is said of rows is
    counted, and what is said of people can only be held against that.
    """
    said = content.get("exposure")
    if said is None:
        lacks = content.get("budget") is None
        return "the manifest does not say who stands alone in the release" if lacks else ""
    target = next(c["name"] for c in content["columns"] if c["role"] == "target")
    found = recounted(frame, said["known"]["columns"], said["known"]["kind"], target)
    in_rows = said.get("rows", said)
    for part, figures in found.items():
        for name, value in figures.items():
            if in_rows[part][name] != value or type(in_rows[part][name]) is not int:
                words = f"{name} of {part.replace('_', ' ')}"
                return f"{words} is {value}, the manifest says {in_rows[part][name]!r}"
    if in_rows["total"] != frame.height:
        return f"{frame.height} rows are in the file, the manifest says {in_rows['total']!r}"
    known = [p["columns"] for p in content["promises"]]
    if known and sorted(said["known"]["columns"]) != sorted(known[0]):
        return "who stands alone is counted in other columns than the promise is about"
    return "" if said is in_rows else _wrong_people(said, in_rows)


def _wrong_people(said: dict[str, Any], in_rows: dict[str, Any]) -> str:
    """People are fewer than their rows, in every crowd."""
    if said["known"]["columns"] != in_rows["known"]["columns"]:
        return "people and rows are counted in different columns"
    if not 0 < said["total"] < in_rows["total"]:
        return "there are no fewer people than rows"
    for part, name in (("known", "k"), ("everything", "k"), ("same_target", "members")):
        value = said[part][name]
        if value is not None and not 0 <= value <= in_rows[part][name]:
            return f"{name} of {part.replace('_', ' ')} is more of people than of rows"
    return ""


def recounted(
    frame: pl.DataFrame, known: list[str], kind: str, target: str
) -> dict[str, dict[str, int]]:
    """The figures of `tamis.publishing.exposure`, of rows.

    >>> rows = pl.DataFrame({"job": ["cook", "cook", "judge"], "ill": ["no", "yes", "no"]})
    >>> recounted(rows, ["job"], "equal", "ill")["known"]
    {'k': 1, 'unique': 1}
    """
    if missing := [c for c in (*known, target) if c not in frame.columns]:
        raise CannotMeet(f"column {listed(missing)} is said to be known and is not in the file")
    label = frame.get_column(target)
    whole = _of_equals(frame.get_columns(), label)
    cells = [frame.get_column(c) for c in known]
    part = _of_holders(cells, label) if kind == "containment" else _of_equals(cells, label)
    return {
        "known": _smallest(part),
        "everything": _smallest(whole),
        "same_target": {
            "groups": part.filter("same").height,
            "of": part.height,
            "members": int(part.filter("same")["equals"].sum()),
        },
    }


def _smallest(kinds: pl.DataFrame) -> dict[str, int]:
    least: Any = kinds["crowd"].min()
    alone = kinds.filter(pl.col("crowd") == 1)["equals"].sum()
    return {"k": int(least), "unique": int(alone)}


def _of_equals(cells: list[pl.Series], label: pl.Series) -> pl.DataFrame:
    """A row for each kind of row: its equals, its crowd, and whether all of that share the label.

    Where no cells are given, all rows are of one kind.
    """
    every = pl.repeat(0, len(label), eager=True).alias("every")
    stored = as_stored(pl.DataFrame([*cells, every]))
    return (
        stored.with_columns(label=label)
        .group_by(stored.columns)
        .agg(equals=pl.len(), crowd=pl.len(), same=pl.col("label").n_unique() == 1)
    )


def _of_holders(cells: list[pl.Series], label: pl.Series) -> pl.DataFrame:
    """The same where a crowd is all who have what a row has: one AND a column of each kind."""
    ones = zeros_and_ones(pl.DataFrame([s.alias(str(i)) for i, s in enumerate(cells)]))
    kinds, first, equals = np.unique(
        np.packbits(ones, axis=1), axis=0, return_index=True, return_counts=True
    )
    bitmaps = np.packbits(ones, axis=0).T.copy()
    everybody = np.packbits(np.ones(len(ones), dtype=np.bool_))
    codes = label.cast(pl.String).rank("dense").fill_null(0).to_numpy()
    by_label = {code: np.packbits(codes == code) for code in np.unique(codes)}
    crowd, same = np.empty(len(kinds), np.int64), np.empty(len(kinds), np.bool_)
    for i, at in enumerate(first):
        who = np.bitwise_and.reduce([everybody, *bitmaps[np.flatnonzero(ones[at])]], axis=0)
        crowd[i] = _bits(who)
        same[i] = crowd[i] == _bits(who & by_label[codes[at]])
    return pl.DataFrame({"equals": equals, "crowd": crowd, "same": same})


def _bits(bitmap: NDArray[np.uint8]) -> int:
    return int(np.bitwise_count(bitmap).sum())
