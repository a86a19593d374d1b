"""Names of the rows of a table, by which a later run finds the same people and rows again.

A row has one name from the columns of its person, one from all its identifiers, and one from all
its cells. Names are hashes, so that no identifier is in the file in clear text. They are no secret,
since whoever knows an identifier can compute its hash, so they stay in the private part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import polars as pl

from tamis.coarsen.value_groups import plain_text
from tamis.table import Table, bare, one_spelling

PERSON, ROW, CONTENT = "person", "row", "content"
KINDS = (PERSON, ROW, CONTENT)
"""The kinds of names, in the order of the columns of a file of names."""
BYTES = 10
"""Length of a hash: among 10**7 rows, a collision has a probability of n**2 / 2**81 < 1e-10."""


@dataclass(frozen=True, eq=False)
class RowNames:
    """The names of the rows of a table or of a released file, in its order.

    Parameters
    ----------
    columns : mapping of kind to tuple of str
        The columns that each kind of name is made of; empty where there is no identifier for it.
    names : polars.DataFrame
        A column of hashes for each of `KINDS`; missing where there is no such name.
    """

    columns: dict[str, tuple[str, ...]]
    names: pl.DataFrame

    @classmethod
    def of(cls, table: Table) -> RowNames:
        """The names of the rows of a table.

        Examples
        --------
        >>> stays = pl.DataFrame({"who": ["ann", "bob", "ann"], "age": [31, 47, 31]})
        >>> named = RowNames.of(Table(stays).with_roles(identifiers=("who",)))
        >>> named.columns["person"], named.names["person"].n_unique()
        (('who',), 2)
        """
        columns = {
            PERSON: table.person_columns,
            ROW: table.roles.identifiers,
            CONTENT: tuple(sorted(table.frame.columns)),
        }
        frame = _spelt(table)
        return cls(columns, pl.DataFrame([_hashes(frame, columns[k]).alias(k) for k in KINDS]))

    def contents_of(self, table: Table) -> pl.Series | None:
        """Names of another table's rows by the same columns; `None` if it lacks one of them."""
        columns = self.columns[CONTENT]
        if any(c not in table.frame.columns for c in columns):
            return None
        return _hashes(_spelt(table), columns)

    def __getitem__(self, kind: str) -> pl.Series:
        return self.names[kind]


def _spelt(table: Table) -> pl.DataFrame:
    """The cells, with identifiers in one spelling, as they may be spelled differently next time.

    This also holds where spellings count as different people here: to count fewer people is the
    cautious side.
    """
    naming = table.roles.identifiers
    cells = table.frame.get_columns()
    return pl.DataFrame([one_spelling(c) if c.name in naming else c for c in cells])


def _hashes(frame: pl.DataFrame, columns: Sequence[str]) -> pl.Series:
    """A hash of the cells of each row; missing where no column is given."""
    if not columns:
        return pl.Series([None] * frame.height, dtype=pl.String)
    texts = [plain_text(bare(frame.get_column(c))) for c in sorted(columns)]
    # Each text follows its length, so that different rows never give the same concatenation.
    cells = [
        (text.str.len_bytes().cast(pl.String) + ":" + text).fill_null("-").alias(f"c{i}")
        for i, text in enumerate(texts)
    ]
    texts_of_rows = pl.DataFrame(cells).select(pl.concat_str(pl.all())).to_series()
    known: dict[str, str] = {}
    return pl.Series([_hash(text, known) for text in texts_of_rows], dtype=pl.String)


def _hash(text: str, known: dict[str, str]) -> str:
    if text not in known:
        known[text] = blake2b(text.encode(), digest_size=BYTES).hexdigest()
    return known[text]
