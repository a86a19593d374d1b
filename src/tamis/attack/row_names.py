"""Names for the rows of a table, by which a later run finds the same people and rows again.

A row has a name by its person, by all its identifiers, and by all its cells: hashes, so that no
identifier stands in a file in clear. They are not secret: whoever knows an identifier can compute
its hash. So they are kept with what is private, like the table itself.
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
"""What rows are named by, in the order of a file of names."""
BYTES = 10
"""Of a hash: among ten million rows, two that differ share one with a chance below 1e-10."""


@dataclass(frozen=True, eq=False)
class RowNames:
    """The names of the rows of a table or of a released file, in its order.

    Parameters
    ----------
    columns : mapping of kind to tuple of str
        The columns that each kind of name is made of; none where people, or rows, have no
        identifier.
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
        >>> found = RowNames.of(Table(stays).with_roles(identifiers=("who",)))
        >>> found.columns["person"], found.names["person"].n_unique()
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
        """The names of a table's rows by the same cells; `None` if it lacks a column of them."""
        columns = self.columns[CONTENT]
        if any(c not in table.frame.columns for c in columns):
            return None
        return _hashes(_spelt(table), columns)

    def __getitem__(self, kind: str) -> pl.Series:
        return self.names[kind]


def _spelt(table: Table) -> pl.DataFrame:
    """The cells, with identifiers in one spelling, in which they may be next time.

    Also where spellings count as different people: fewer of them is the cautious count.
    """
    naming = table.roles.identifiers
    cells = table.frame.get_columns()
    return pl.DataFrame([one_spelling(c) if c.name in naming else c for c in cells])


def _hashes(frame: pl.DataFrame, columns: Sequence[str]) -> pl.Series:
    """A hash of the cells of each row; missing where no column is given."""
    if not columns:
        return pl.Series([None] * frame.height, dtype=pl.String)
    texts = [plain_text(bare(frame.get_column(c))) for c in sorted(columns)]
    # Each text is led by its length, so that no two rows of different cells are written alike.
    cells = [
        (text.str.len_bytes().cast(pl.String) + ":" + text).fill_null("-").alias(f"c{i}")
        for i, text in enumerate(texts)
    ]
    whole = pl.DataFrame(cells).select(pl.concat_str(pl.all())).to_series()
    known: dict[str, str] = {}
    return pl.Series([_hash(text, known) for text in whole], dtype=pl.String)


def _hash(text: str, known: dict[str, str]) -> str:
    if text not in known:
        known[text] = blake2b(text.encode(), digest_size=BYTES).hexdigest()
    return known[text]
