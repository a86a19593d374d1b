"""Fingerprints of tables: whether two files hold the same people's data.

What counts is the rows as a multiset of values, not how they are stored: neither the format and
compression of the file, nor the order of rows and columns, nor the names of columns, nor whether
``1`` is a number or a text, ``1.0`` or ``true``. Two tables are the same

- if all their rows are, apart from columns that hold one value only, or
- if more than half of the telling columns of the one with fewer are among those of the other:
  columns were dropped, added or derived. A column is telling if it has many distinct values, so
  that nobody else's column has each of them as often by chance.

Where it is in doubt, two tables count as the same: to add a cost that was another table's is
harmless, and to forget one is not.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from tamis.binary.records import BinaryTable

FEWEST_VALUES = 10
"""The fewest distinct values of a telling column."""
MOST_COLUMNS = 256
"""How many telling columns are remembered: of more, those with the lowest hashes."""
DIGITS = 6
"""The significant digits of a number: as many as 32 bits keep."""
MISSING = ("", "na", "n/a", "#n/a", "nan", "null", "none", "nil", "missing", "?", ".", "-")
"""Texts that mean a missing cell somewhere, in small letters."""
_TRUTHS = {"true": "1", "false": "0"}
_DAY = r"\d{4}-\d\d-\d\d"
_MOMENTS = {
    rf"^({_DAY})[t ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(?:z|[+-]00:?00)?$": "$1 $2",
    rf"^({_DAY} \d\d:\d\d:\d\d(?:\.\d*[1-9])?)\.?0*$": "$1",
    rf"^({_DAY} \d\d:\d\d):00$": "$1",
    rf"^({_DAY}) 00:00$": "$1",
}
"""How the forms of a moment become one: without T, zone 0, and zeros at the end."""


@dataclass(frozen=True)
class Fingerprint:
    """What is remembered of a table: a hash of its rows, and one of each telling column."""

    rows: str = ""
    columns: tuple[str, ...] = ()

    def same(self, other: Fingerprint) -> bool:
        """Whether both are of the same table, or of one and a part of its columns."""
        if self.rows and self.rows == other.rows:
            return True
        # Beyond the highest hash of a full list, that list says nothing: compare below it.
        full = [f.columns[-1] for f in (self, other) if len(f.columns) == MOST_COLUMNS]
        mine, theirs = (
            {c for c in f.columns if all(c <= last for last in full)} for f in (self, other)
        )
        return 2 * len(mine & theirs) > min(len(mine), len(theirs))


def fingerprint(frame: pl.DataFrame, missing: Collection[str] = ()) -> Fingerprint:
    """The fingerprint of a table.

    Parameters
    ----------
    frame : polars frame
        The cells as they are stored; texts may be numbers.
    missing : texts, optional
        Further texts that mean a missing cell.

    Examples
    --------
    >>> typed = pl.DataFrame({"age": [31, 47], "ill": [True, None]})
    >>> texts = pl.DataFrame({"sick": ["?", "True"], "years": ["47.0", "31"]})
    >>> fingerprint(typed).same(fingerprint(texts))
    True
    """
    markers = {*MISSING, *(text.strip().lower() for text in missing)}
    coded = [_coded(frame.get_column(name), markers) for name in frame.columns]
    varied = sorted((c for c in coded if c.distinct > 1), key=lambda column: column.hash)
    telling = sorted({c.hash for c in varied if c.telling})
    return Fingerprint(_hash_rows(varied), tuple(telling[:MOST_COLUMNS]))


def fingerprint_records(records: BinaryTable) -> Fingerprint:
    """The same of sparse records, by the names of what each one has, and its label."""
    names = [name.strip().lower() for name in records.features]
    labels = [""] * records.rows if records.labels is None else records.labels.tolist()
    ends, items = records.matrix.indptr.tolist(), records.matrix.indices.tolist()
    rows = sorted(
        "\0".join([str(label), *sorted(names[i] for i in items[ends[row] : ends[row + 1]])])
        for row, label in enumerate(labels)
    )
    return Fingerprint(sha256("\n".join(rows).encode()).hexdigest())


@dataclass(frozen=True)
class _Coded:
    """A column: the hash of its values and how often each occurs, and the rank of each cell's."""

    hash: str
    codes: pl.Series
    distinct: int
    telling: bool


def _coded(column: pl.Series, markers: Collection[str]) -> _Coded:
    cells = _canonical(column, markers)
    values = cells.group_by("number", "text").len().sort("number", "text").with_row_index("code")
    codes = cells.join(
        values, on=["number", "text"], how="left", nulls_equal=True, maintain_order="left"
    ).get_column("code")
    digest = sha256(values.get_column("number").fill_null(np.nan).to_numpy().tobytes())
    digest.update(values.get_column("len").cast(pl.UInt64).to_numpy().tobytes())
    digest.update("\0".join(values.get_column("text").fill_null("").to_list()).encode())
    telling = values.height >= FEWEST_VALUES and not _is_count_up(values)
    return _Coded(digest.hexdigest()[:16], codes, values.height, telling)


def _canonical(column: pl.Series, markers: Collection[str]) -> pl.DataFrame:
    """Each cell as a number or else as a text; neither where it is missing."""
    text = _as_text(column).str.strip_chars().str.to_lowercase()
    for form, shorter in _MOMENTS.items():
        text = text.str.replace(form, shorter)
    text = text.replace(_TRUTHS)
    text = text.set(text.is_in(list(markers)).fill_null(True), None)
    number = text.cast(pl.Float64, strict=False)
    number = number.set(~number.is_finite().fill_null(True), None)
    number = number.round_sig_figs(DIGITS)
    number = number.set((number == 0.0).fill_null(False), 0.0)  # minus zero, too
    return pl.DataFrame({"number": number, "text": text.set(number.is_not_null(), None)})


def _as_text(column: pl.Series) -> pl.Series:
    kind = column.dtype
    if isinstance(kind, pl.Datetime):
        zone = column if kind.time_zone is None else column.dt.convert_time_zone("UTC")
        return zone.dt.replace_time_zone(None).dt.to_string("%Y-%m-%d %H:%M:%S%.f")
    if kind.is_nested() or kind in (pl.Binary, pl.Object):
        return pl.Series([repr(value) for value in column.to_list()], dtype=pl.String)
    if isinstance(kind, pl.Duration):
        column = column.dt.total_microseconds()
    return column.cast(pl.String)


def _is_count_up(values: pl.DataFrame) -> bool:
    """Whether they are consecutive whole numbers, each as often: numbers of rows, or a design."""
    number = values.get_column("number")
    steps = number.diff().drop_nulls()
    evenly = values.get_column("len").n_unique() == 1
    return not number.null_count() and evenly and bool((steps == 1).all())


def _hash_rows(columns: Sequence[_Coded]) -> str:
    """A hash of rows in any order; nothing where there is no column."""
    if not columns:
        return ""
    codes = np.column_stack([c.codes.to_numpy().astype(">u4") for c in columns])
    rows = np.ascontiguousarray(codes).view(np.dtype((np.void, 4 * len(columns)))).ravel()
    digest = sha256(" ".join(c.hash for c in columns).encode())  # what the codes stand for
    digest.update(np.sort(rows).tobytes())
    return digest.hexdigest()
