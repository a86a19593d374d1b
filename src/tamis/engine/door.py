"""Sources -> a `LargeTable`: rows that stay where an engine can read them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import narwhals as nw
import polars as pl

from tamis.engine.backend import Engine, Frame
from tamis.engine.cells import count_distinct, count_rows, one_where, people_by
from tamis.errors import InputError, listed
from tamis.read.labelled import named_target, say_unlabelled
from tamis.table import Table


@dataclass(frozen=True, eq=False)
class LargeTable:
    """Rows behind an engine, and what each column is for.

    Parameters
    ----------
    engine : Engine
    frame : lazy frame
        Columns c0 to cn; numbers in one form: zero without a sign, NaN missing.
    names : tuple of str
        The real names, in the order of the columns.
    shape : Table
        The same columns and roles without any row.
    rows : int
    """

    engine: Engine
    frame: Frame
    names: tuple[str, ...]
    shape: Table
    rows: int

    def columns(self, names: Iterable[str]) -> list[str]:
        """The columns of the frame that have these names."""
        at = {name: f"c{i}" for i, name in enumerate(self.names)}
        return [at[name] for name in names]

    def name_of(self, column: str) -> str:
        """The real name of a column of the frame."""
        return self.names[int(column[1:])]

    @cached_property
    def told_apart_by(self) -> tuple[str, ...]:
        """The identifiers that distinguish people; empty if none do."""
        roles = self.shape.roles
        if roles.person is not None:
            return roles.person
        if not roles.identifiers:
            return ()
        columns = self.columns(roles.identifiers)
        found = people_by(self.engine, self.frame, columns, self.rows)
        return tuple(self.name_of(c) for c in found)

    @cached_property
    def who(self) -> list[str]:
        """The columns that tell people apart; empty if each row is a different person."""
        columns = self.columns(self.told_apart_by)
        if not columns or count_distinct(self.engine, self.frame, columns) == self.rows:
            return []
        return columns


def large_table(engine: Engine, frame: Frame, schema: pl.Schema, roles: Table) -> LargeTable:
    """Check and normalise an opened frame.

    Parameters
    ----------
    engine : Engine
    frame : lazy frame
        As opened: columns c0 to cn.
    schema : polars schema
        The real names and types, in the same order.
    roles : Table
        The columns and their roles, without rows.
    """
    refuse_nested(schema)
    plain = frame.with_columns(*one_value(frame, engine.has_nan))
    rows = count_rows(engine, plain)
    if not rows:
        raise InputError("the table has no rows")
    return LargeTable(engine, plain, tuple(schema), roles, rows)


def labelled_large(table: LargeTable) -> LargeTable:
    """The rows that have a label; a warning says how many have none."""
    target = named_target(table.shape.roles.target)
    (column,) = table.columns([target])
    frame = table.frame.filter(~nw.col(column).is_null())
    rows = count_rows(table.engine, frame)
    say_unlabelled(target, rows, table.rows)
    shape = replace(table.shape, unlabelled=table.rows - rows)
    return replace(table, frame=frame, rows=rows, shape=shape)


def check_large(table: LargeTable) -> None:
    """Refuse what no later step could use: empty columns, infinite numbers, a missing target."""
    names = [c for c in table.names if c in table.shape.frame.columns]
    columns, schema = table.columns(names), table.frame.collect_schema()
    gone = [one_where(nw.col(c).is_null()).alias(f"gone_{c}") for c in columns]
    endless = [
        one_where(nw.col(c).abs() == nw.lit(float("inf"))).alias(f"endless_{c}")
        for c in columns
        if schema[c].is_float()
    ]
    marked = table.frame.select(*gone, *endless)
    sums = [nw.col(c).sum().cast(nw.Int64) for c in marked.collect_schema().names()]
    found = table.engine.small(marked.select(*sums)).row(0, named=True)
    empty = [n for n, c in zip(names, columns) if found[f"gone_{c}"] == table.rows]
    if empty:
        raise InputError(
            f"column {listed(empty)} has no values at all; leave it out with --drop "
            f"{','.join(empty)}"
        )
    infinite = [n for n, c in zip(names, columns) if found.get(f"endless_{c}")]
    if infinite:
        raise InputError(
            f"column {listed(infinite)} has infinite numbers; replace them or make them missing"
        )
    target = table.shape.roles.target
    if target is not None and (count := found[f"gone_{table.columns([target])[0]}"]):
        raise InputError(
            f"the target {target!r} is missing in {count} of {table.rows} rows; give these rows a "
            "label, or leave them out with --drop-unlabelled"
        )


def refuse_nested(schema: pl.Schema) -> None:
    """Refuse columns whose cells are not one number or text, of a size that every engine has."""
    wide = (pl.Int128, pl.UInt128)
    if odd := [c for c, t in schema.items() if t in wide]:
        raise InputError(
            f"column {listed(odd)} holds whole numbers of 128 bits, which engines do not count; "
            "write them in 64 bits or as text, or pass --engine memory"
        )
    odd = [c for c, t in schema.items() if t.is_nested() or t in (pl.Object, pl.Binary)]
    if odd:
        raise InputError(
            f"column {listed(odd)} holds lists, records, bytes or objects; a cell must be one "
            "number or text: unpack or drop such columns first"
        )


def one_value(frame: Frame, has_nan: bool = True) -> list[nw.Expr]:
    """Each column in one form: decimals as floats, zero without a sign, NaN as missing."""
    found = []
    for name, kind in frame.collect_schema().items():
        column = nw.col(name)
        if kind.is_decimal():
            column = column.cast(nw.Float64)
        elif kind in (nw.Categorical, nw.Enum):
            column = column.cast(nw.String)
        if kind.is_float() or kind.is_decimal():
            present = nw.when(~column.is_nan()).then(column) if has_nan else column
            column = nw.when(present == 0).then(nw.lit(0.0)).otherwise(present)
        found.append(column.alias(name))
    return found
