"""Measures that check a written release, by other ways than those that chose it.

The selection counts patterns of rows and codes of values; here anonymity by containment is read
off one bitmap a column by its definition, and k-anonymity off a plain grouping of the cells.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.errors import CannotMeet, listed
from tamis.release import Promise
from tamis.table import only


def measure(promise: Promise, frame: pl.DataFrame) -> int:
    """The value that a written table reaches for a promise."""
    if missing := [c for c in promise.columns if c not in frame.columns]:
        raise CannotMeet(f"a promise is about column {listed(missing)}, which is not in the file")
    if not promise.columns:
        return frame.height
    cells = only(frame, promise.columns)
    if promise.name == "containment_anonymity":
        return containment_by_bitmaps(cells)
    return equals_by_grouping(cells)


def equals_by_grouping(cells: pl.DataFrame) -> int:
    """The number of rows of the rarest row of cells; a missing cell is a value.

    >>> equals_by_grouping(pl.DataFrame({"job": ["cook", "cook", None]}))
    1
    """
    # Numbered, for the name of a column could be that of the counts.
    cells = pl.DataFrame([s.alias(str(i)) for i, s in enumerate(cells.get_columns())])
    counts = cells.group_by(pl.all()).agg(pl.len().alias("rows"))
    return int(counts["rows"].min())  # type: ignore[arg-type]


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
