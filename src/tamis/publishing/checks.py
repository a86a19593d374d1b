"""Measures that check a written release, by other ways than those that chose it.

The selection counts patterns of rows and codes of values; here anonymity by containment is read
off one bitmap a column by its definition, and k-anonymity off a grouping of the cells as they are
stored: two cells are equal where their bits are.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.errors import CannotMeet, listed
from tamis.release import Promise


def measure(promise: Promise, frame: pl.DataFrame) -> int:
    """The value that a written table reaches for a promise."""
    if missing := [c for c in promise.columns if c not in frame.columns]:
        raise CannotMeet(f"a promise is about column {listed(missing)}, which is not in the file")
    if not promise.columns:
        return frame.height
    cells = pl.DataFrame([frame.get_column(c) for c in promise.columns])
    if promise.name == "containment_anonymity":
        return containment_by_bitmaps(cells)
    return equals_by_grouping(cells)


def equals_by_grouping(cells: pl.DataFrame) -> int:
    """The number of rows of the rarest row of cells; a missing cell is a value.

    >>> equals_by_grouping(pl.DataFrame({"job": ["cook", "cook", None]}))
    1
    >>> equals_by_grouping(pl.DataFrame({"x": [0.0, -0.0]}))
    1
    """
    # Numbered, for the name of a column could be that of the counts.
    named = [s.alias(str(i)) for i, s in enumerate(cells.get_columns())]
    bits = pl.DataFrame([stored(s).alias(s.name) for s in named])
    counts = bits.group_by(pl.all()).agg(pl.len().alias("rows"))
    return int(counts["rows"].min())  # type: ignore[arg-type]


_BITS: dict[Any, Any] = {pl.Float16: np.uint16, pl.Float32: np.uint32, pl.Float64: np.uint64}


def stored(cells: pl.Series) -> pl.Series:
    """Cells as whole numbers or bytes: equal where what is stored is, bit by bit.

    polars takes 0.0 and -0.0 for one value, and all that are not a number for another.
    """
    if cells.dtype == pl.String:
        return cells.cast(pl.Binary)
    if not cells.dtype.is_float():
        return cells.to_physical()
    bits = cells.fill_null(0).to_numpy().view(_BITS[cells.dtype.base_type()]).astype(np.uint64)
    return pl.Series(bits).zip_with(cells.is_not_null(), pl.Series([None], dtype=pl.UInt64))


def unlike_a_table(frame: pl.DataFrame) -> str:
    """What is wrong with the types of a parquet file, in words; nothing where all are plain."""
    plain = (pl.Boolean, pl.String, pl.Date, pl.Time, pl.Datetime, pl.Duration)
    odd = [c for c, t in frame.schema.items() if not (t.is_numeric() or isinstance(t, plain))]
    if odd:
        return f"column {listed(odd)} holds neither numbers nor texts, truth values or dates"
    return ""


def hidden_in_parquet(path: Path) -> str:
    """What a parquet file tells beside its rows and the types of its columns, in words."""
    told = set(pl.read_parquet_metadata(path)) - {"ARROW:schema"}
    return f"the file tells more than its rows, in {listed(sorted(told))}" if told else ""


def without_repeats(frame: pl.DataFrame, columns: Iterable[str]) -> list[str]:
    """Columns with another value in every row, as names and numbers of people have.

    >>> without_repeats(pl.DataFrame({"who": [f"P{i}" for i in range(50)]}), ["who"])
    ['who']
    """
    if frame.height < 20:
        return []
    whole = [c for c in columns if not frame.get_column(c).null_count()]
    return [c for c in whole if frame.get_column(c).alias("").n_unique() == frame.height]


def containment_by_bitmaps(cells: pl.DataFrame) -> int:
    """The least number of rows that have all the ones of some row.

    Notes
    -----
    AC(D) of Zhang et al. (2017), Definitions 4 to 6, one AND a feature of each distinct row.

    >>> containment_by_bitmaps(pl.DataFrame({"a": ["1", "1", "1"], "b": ["1", "0", "1"]}))
    2
    """
    ones = _ones(cells)
    bitmaps = np.packbits(ones, axis=0).T.copy()
    bits = np.bitwise_count(bitmaps)
    rows = np.unique(np.packbits(ones, axis=1), axis=0)
    least = len(ones)
    for packed in rows:
        held = np.flatnonzero(np.unpackbits(packed, count=ones.shape[1]))
        if len(held) == 0:
            continue
        rarest_first = held[np.argsort(bits[held].sum(axis=1), kind="stable")]
        who = np.bitwise_and.reduce(bitmaps[rarest_first], axis=0)
        least = min(least, int(np.bitwise_count(who).sum()))
    return least


def _ones(cells: pl.DataFrame) -> NDArray[np.bool_]:
    texts = cells.cast(pl.String)
    odd = [c for c in texts.columns if not texts[c].is_in(["0", "1", "true", "false"]).all()]
    if odd or sum(texts.null_count().row(0)):
        raise CannotMeet(
            f"anonymity by containment is promised, but column {listed(odd or texts.columns[:1])} "
            "holds something beside 0 and 1"
        )
    found: NDArray[np.bool_] = texts.select(pl.all().is_in(["1", "true"])).to_numpy()
    return found
