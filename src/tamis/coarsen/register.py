"""Who of a register is in the table, node by node of a lattice: delta-presence.

A coarser class is a union of finer ones, and its share of people who are in the table a mean of
theirs, weighted by their people in the register. So from a node to any coarser one the smallest
share only rises and the largest only falls: a node at which they are out of bounds closes all finer
ones. Where people have several rows, one person may be in two of the classes that are united, and
no node says anything about others.

Rows that are suppressed count as there. They are the few of their class, and who sees that nobody
of a class is in the release must not learn that the class was too crowded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
import polars as pl

from tamis.coarsen.classes import CodedRows, Ints, Levels, coded_rows
from tamis.coarsen.ladder import Ladder
from tamis.errors import CannotMeet
from tamis.risk.presence import Presence, presence_bounds, presence_of_counts, stacked
from tamis.table import Table, bare, kind_of

OF_TABLE, OF_REGISTER = 0, 1


@dataclass(frozen=True, eq=False)
class InRegister:
    """The distinct rows of a table and of a register, and what share may be in the table.

    Parameters
    ----------
    both : CodedRows
        Their `values` say whether a row is of the table (0) or of the register (1).
    low, high : float
        From what to what the share of a class of the register may be.

    Examples
    --------
    >>> town = pl.DataFrame({"job": ["cook"] * 4 + ["judge", "smith"]})
    >>> ladder = {"job": Ladder.from_dict("job", {"common": []})}
    >>> table = Table(pl.DataFrame({"job": ["cook", "judge"]}))
    >>> found = in_register(table, town, ["job"], ladder, (0.0, 0.5))
    >>> found.presence_at((0,)), found.presence_at((1,)).most, found.hides((1,))
    (Presence(least=0.0, most=1.0), 0.333..., True)
    """

    both: CodedRows
    low: float
    high: float

    @property
    def nested(self) -> bool:
        """Whether what a node lacks all finer ones lack: not where people have several rows."""
        return self.both.people is None

    @cached_property
    def _inside(self) -> Ints:
        return np.flatnonzero(self.both.values == OF_TABLE)

    @cached_property
    def _outside(self) -> Ints:
        return np.flatnonzero(self.both.values == OF_REGISTER)

    def presence_at(self, levels: Levels) -> Presence:
        """The smallest and the largest share of a class at a node, suppressed rows included."""
        class_of, classes = self.both.classes_at(levels)
        once = self.both.once_in_class(class_of)
        inside, outside = (
            np.bincount(class_of[rows], once[rows], classes)
            for rows in (self._inside, self._outside)
        )
        return presence_of_counts(inside, outside)

    def hides(self, levels: Levels) -> bool:
        """Whether every share at a node is within bounds."""
        return self.presence_at(levels).within(self.low, self.high)

    def hopeless_words(self, top: Levels) -> str:
        """Why no node hides enough, by the coarsest one."""
        found = self.presence_at(top)
        return (
            f"no levels keep the chance that somebody of the register is in the table from "
            f"{self.low:g} to {self.high:g} together with all else that is asked; with every "
            f"column at its coarsest level it is from {found.least:.4g} to {found.most:.4g}; allow "
            "a wider range with --delta-presence, or ask for less (k, l, t, ...)"
        )


def in_register(
    table: Table,
    population: Table | pl.DataFrame,
    quasi: Sequence[str],
    ladders: Mapping[str, Ladder],
    bounds: Sequence[float],
) -> InRegister:
    """Table and register with the same ladders.

    Values of the register that a ladder lacks go up it until a level covers them, as they would
    when the register is made as coarse as a release; nobody in the table is like these people.

    Parameters
    ----------
    table : Table
    population : Table or frame
        Everybody, those in the table included; one row each, unless it is a `Table` with people.
    quasi : sequence of str
    ladders : mapping of column to Ladder
    bounds : (float, float)
        From what to what the share of a class of the register may be.
    """
    low, high = presence_bounds(bounds)
    both, people, rows = stacked(table, population, quasi)
    leaves = [ladders[c].hierarchy(both.get_column(c), lacking=True) for c in quasi]
    codes, hierarchies = zip(*leaves)
    of = np.repeat([OF_TABLE, OF_REGISTER], [rows, both.height - rows])
    found = InRegister(coded_rows(codes, hierarchies, people=people, values=of), low, high)
    found.presence_at((0,) * len(quasi))  # an error where the register lacks people of the table
    return found


class RegisterPlaces(NamedTuple):
    """The place of each value of a table and of a register in one order, a line a column.

    As `tamis.coarsen.split_kernels.Register` takes them: -1 is missing, -2 a value without an order
    that the table lacks; `every` has the number of values of columns without an order, 0 of others.
    """

    mine: Ints
    theirs: Ints
    every: Ints
    people: Ints
    low: float
    high: float

    @classmethod
    def nowhere(cls, rows: int) -> Self:
        """No register at all."""
        none = np.zeros(0, np.int64)
        return cls(np.zeros((0, rows), np.int64), np.zeros((0, 0), np.int64), none, none, 0.0, 1.0)

    def presence(self, shares: Ints, told: int) -> Presence:
        """From the share of each class, and the rows of the register that none may be about."""
        if not len(shares):
            raise CannotMeet(
                "even the whole table as one class does not keep the chance that somebody of the "
                f"register is in it from {self.low:g} to {self.high:g}; allow a wider range with "
                "--delta-presence"
            )
        return Presence(0.0 if told else float(shares.min()), float(shares.max()))


def places_in(
    table: Table, population: Table | pl.DataFrame, quasi: Sequence[str], bounds: Sequence[float]
) -> RegisterPlaces:
    """Where the values of a table and of a register are, for classes that tell their own ends."""
    low, high = presence_bounds(bounds)
    both, people, rows = stacked(table, population, quasi)
    lines, every = zip(*(_line(both.get_column(c), rows) for c in quasi))
    places = np.array(lines, dtype=np.int64)
    who = np.zeros(0, np.int64) if people is None else people[rows:] - people[rows:].min()
    return RegisterPlaces(places[:, :rows], places[:, rows:], np.array(every), who, low, high)


def _line(column: pl.Series, rows: int) -> tuple[Ints, int]:
    """The places of a column whose first rows are the table's, and how many values these have."""
    cells = bare(column)
    if kind_of(cells.dtype) != "nominal":
        return cells.rank("dense").cast(pl.Int64).fill_null(-1).to_numpy(), 0
    texts = cells.cast(pl.String)
    known = pl.DataFrame({"cell": texts.head(rows).drop_nulls().unique()}).with_row_index("place")
    joined = pl.DataFrame({"cell": texts}).join(known, "cell", "left", maintain_order="left")
    places = joined["place"].cast(pl.Int64).fill_null(-2)
    return places.set(texts.is_null(), -1).to_numpy(), known.height
