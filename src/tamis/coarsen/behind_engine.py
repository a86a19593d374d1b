"""Columns of a table behind an engine in coarser forms: labels are joined to the values.

The engine counts the values of a column; each gets its label here, by the code that coarsens tables
in memory; the engine joins the labels to its rows. So only different values travel.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import narwhals as nw
import polars as pl

from tamis.coarsen.intervals import Cuts
from tamis.coarsen.ladder import Ladder
from tamis.coarsen.value_groups import CommonValues, ValueGroups, listed_text, plain_text
from tamis.release import Coarsening
from tamis.rows.counts import ROWS, count_cells
from tamis.rows.engines import Frame
from tamis.rows.large_table import LargeTable

VALUE, LABEL = "value", "label"


@dataclass(frozen=True, eq=False)
class CoarseColumn:
    """One column of a large table in a coarser form."""

    name: str
    form: Coarsening
    mapping: Frame
    """`value` and `label`, each value of the table once, none missing."""
    labels: pl.Series
    """The labels that any row has."""
    named: Mapping[str, list[str]]
    """By label the values of k people or more; of forms that have groups."""
    names_few: bool
    """Whether the form names a value of fewer than k people."""

    @property
    def ladder(self) -> Ladder:
        return Ladder.from_dict(self.name, self.form.ladder)


class _Piece(NamedTuple):
    """Some values of a column, their labels, and which of them k people have or the form names."""

    cells: pl.Series
    """The values as the engine has them."""
    values: pl.Series
    labels: pl.Series
    many: pl.Series
    named: pl.Series

    def groups(self) -> Iterator[tuple[str, str]]:
        """The values that many have, each after its label."""
        frame = pl.DataFrame({LABEL: self.labels, VALUE: plain_text(self.values)})
        yield from frame.filter(self.many).iter_rows()


def coarse_column(large: LargeTable, name: str, form: Coarsening, k: int) -> CoarseColumn:
    """Label every value of a column, some at a time; those of fewer than k may not be named."""
    ladder = Ladder.from_dict(name, form.ladder)
    grouped = isinstance(ladder.form, ValueGroups | CommonValues)
    found: dict[str, list[str]] = {}
    few: list[bool] = []

    def mapped() -> Iterator[pl.DataFrame]:
        for part in _parts(large, ladder, form.level, k):
            found.update({label: [] for label in part.labels.unique() if label not in found})
            for label, value in part.groups() if grouped else ():
                found[label].append(value)
            few.append(bool((part.named & ~part.many).any()))
            yield pl.DataFrame({VALUE: part.cells, LABEL: part.labels})

    mapping = large.engine.keep(mapped())
    named = {label: sorted(found[label]) for label in sorted(found)}
    return CoarseColumn(name, form, mapping, pl.Series(list(named)), named, any(few))


def _parts(large: LargeTable, ladder: Ladder, level: int, k: int) -> Iterator[_Piece]:
    name = ladder.column
    (column,) = large.columns([name])
    counted = count_cells(large.frame, [column, *large.who])
    if large.who:
        counted = count_cells(counted, [column])
    present = counted.filter(~nw.col(column).is_null())
    kind = plain_kind(large.shape.frame.schema[name])
    for batch in large.engine.batches(present):
        values = batch[column].cast(kind)
        labels = ladder.apply(values, level)
        many, named = batch[ROWS] >= k, _named(values, ladder, level)
        yield _Piece(batch[column], values, labels, many, named)


def _named(values: pl.Series, ladder: Ladder, level: int) -> pl.Series:
    """Which values a level of a ladder names: those of its groups, and numbers that it cuts at.

    Whole numbers can be cut at whole ones only, whether anybody has them or not.
    """
    form = ladder.form
    if isinstance(form, Cuts) and not (form.dated or form.whole):
        return values.cast(pl.Float64).is_in(list(form.cuts[level - 1]))
    texts: Iterable[str] = ()
    if isinstance(form, ValueGroups):
        texts = [line[0] for line in form.lines]
    elif isinstance(form, CommonValues):
        texts = form.kept[level - 1]
    return plain_text(values).is_in(listed_text(list(texts), values.dtype).implode())


def plain_kind(kind: pl.DataType) -> pl.DataType:
    """The type of a column as it is written: categories are texts."""
    return pl.String() if isinstance(kind, pl.Categorical | pl.Enum) else kind


def with_labels(frame: Frame, column: str, coarse: CoarseColumn) -> Frame:
    """Rows, or cells, with the labels of a column in place of its values.

    Missing values match nothing in a join, and so stay missing.
    """
    names = frame.collect_schema().names()
    joined = frame.join(coarse.mapping, how="left", left_on=column, right_on=VALUE)
    return joined.drop(column).rename({LABEL: column}).select(*names)


def with_coarse_columns(large: LargeTable, columns: Iterable[CoarseColumn]) -> LargeTable:
    """A large table with some columns in coarser forms: texts, or numbers of fewer digits."""
    frame, schema = large.frame, dict(large.shape.frame.schema)
    for coarse in columns:
        frame = large.engine.near(frame)
        (column,) = large.columns([coarse.name])
        frame = with_labels(frame, column, coarse)
        numbers = coarse.labels.dtype.is_numeric()
        schema[coarse.name] = coarse.labels.dtype if numbers else pl.String()
    shape = replace(large.shape, frame=pl.DataFrame(schema=schema))
    return replace(large, frame=frame, shape=shape)
