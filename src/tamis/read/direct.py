"""The quick way into a delimited file: numbers parsed straight from its bytes.

Reading every cell as text and deciding afterwards costs three times as much as polars' own
reader. So the types are guessed from the first rows by the same rule, polars parses by the
guess, and whatever the guess cannot vouch for (quotes, leading zeros, infinite or very long
numbers, a word among numbers) sends the file the slow way.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import polars as pl

from tamis.errors import TamisWarning
from tamis.read.columns import EXACT, looks_numeric, typed
from tamis.table import bare

_SAMPLE = 1000
_CHUNK = 1 << 18


def direct_frame(
    data: bytes,
    separator: str,
    *,
    missing: Collection[str] = (),
    declared: Mapping[str, str] | None = None,
    untouched: Collection[str] = (),
) -> pl.DataFrame | None:
    """The typed frame, or `None` where only the slow way is sure to be right."""
    if b'"' in data or b"+" in data:
        return None
    options: dict[str, Any] = {"separator": separator, "quote_char": None}
    guided: dict[str, Any] = {"declared": declared, "untouched": untouched}
    try:
        sample = pl.read_csv(data, infer_schema=False, n_rows=_SAMPLE, **options)
        with warnings.catch_warnings():  # the slow way will say it of the whole file
            warnings.simplefilter("ignore", TamisWarning)
            first = typed(sample, missing=missing, **guided)
        if any(looks_numeric(first[c]) for c in first.columns if c not in untouched):
            return None
        with ThreadPoolExecutor(1) as beside:  # numpy scans while polars parses
            scan = beside.submit(_scan, data, separator, first.width)
            frame = pl.read_csv(data, schema=first.schema, null_values=list(missing), **options)
    except (pl.exceptions.PolarsError, ValueError):
        return None
    numbers = {i for i, kind in enumerate(first.dtypes) if kind.is_numeric()}
    fields, zero_led = scan.result()
    if fields != (frame.height + 1) * frame.width or numbers & zero_led or not _exact(frame):
        return None
    return typed(frame, missing=missing, infer=False)


def _exact(frame: pl.DataFrame) -> bool:
    return all(bool((bare(c).abs() < EXACT).all()) for c in frame.select(pl.selectors.float()))


def _scan(data: bytes, separator: str, width: int) -> tuple[int, set[int]]:
    """The number of fields, and the columns in which some number has a leading zero."""
    text = np.frombuffer(data, np.uint8)
    found: set[int] = set()
    before = 0  # fields that ended in earlier chunks
    for start in range(0, text.size, _CHUNK):
        chunk = text[start : start + _CHUNK + 2]
        ends = (chunk == ord(separator)) | (chunk == ord("\n"))
        led = ends | (chunk == ord("-"))
        led[:-1] &= chunk[1:] == ord("0")
        led[:-2] &= (chunk[2:] - np.uint8(ord("0"))) < 10
        if led[:-2].any():
            at = np.flatnonzero(led[: min(_CHUNK, len(led) - 2)])
            fields = before + np.searchsorted(np.flatnonzero(ends), at, side="right")
            found.update(np.unique(fields % width).tolist())
        before += int(np.count_nonzero(ends[:_CHUNK]))
    return before, found
