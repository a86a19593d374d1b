"""The audit: every risk measure of a table as it is, from one grouping, in memory or by engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from tamis.charts import BLUE, ORANGE, SOFT, Picture
from tamis.coding import Coded, dense, joined
from tamis.errors import InputError, plural
from tamis.notebook import html_table, in_short
from tamis.people import People
from tamis.require.counts import Spread
from tamis.require.k import MOST_SETS, sets_of_rows
from tamis.risk.anonymity import THRESHOLD, Reidentification, matched, matched_by_sizes
from tamis.risk.behind_engine import spreads
from tamis.risk.diversity import LDiversity, Likeness, measure_secrets, spread
from tamis.risk.grouping import NO_QUASI, ClassSize, Grouping, Scope, as_table, people_in, scope
from tamis.rows.counts import count_cells, sensitive_counts, sizes_of_classes
from tamis.rows.large_table import LargeTable
from tamis.table import Unit

BINS = ((1, 1), (2, 4), (5, 9), (10, 19), (20, 49), (50, 99), (100, None))
"""Ranges of group sizes, one bar each."""
SMALL_GROUP = 5
"""Bars of groups smaller than this are drawn in the warning colour."""
_WIDTH, _LEFT, _TRACK, _TOP, _LINE = 500.0, 110.0, 300.0, 66.0, 30.0
"""Measures of the picture, in pixels."""


@dataclass(frozen=True)
class ColumnEffect:
    """The effect of leaving one column out.

    Parameters
    ----------
    column : str
    k_anonymity, unique_rows : int
        The figures of the table without the column.
    k_gain : int
        How much k rises without it.
    fewer_unique : int
        How many people are no longer unique without it.
    unique_people : int
        The people who are unique without it.
    """

    column: str
    k_anonymity: int
    unique_rows: int
    k_gain: int
    fewer_unique: int
    unique_people: int


def riskiest_columns(
    data: Any, quasi: Sequence[str] | None = None, *, people: Any = None
) -> tuple[ColumnEffect, ...]:
    """The effect of leaving out each quasi-identifier, the riskiest column first.

    The riskiest column is the one without which the fewest people are unique; among equals, the
    one without which k rises most; then the order of the columns.

    Parameters
    ----------
    data, quasi, people
        As in `k_anonymity`.

    Returns
    -------
    tuple of ColumnEffect

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"sex": ["f", "f", "m", "m"], "zip": ["010", "011", "011", "011"]})
    >>> for effect in riskiest_columns(frame):
    ...     print(effect.column, effect.k_anonymity, effect.fewer_unique)
    zip 2 2
    sex 1 1
    """
    return column_effects(scope(data, quasi, people=people).grouped())


def column_effects(grouping: Grouping) -> tuple[ColumnEffect, ...]:
    """`riskiest_columns` of grouped rows: classes are merged without going back to the rows."""
    without = [
        (column, *_merged(grouping, classes))
        for column, classes in zip(grouping.columns, _without_each(grouping.class_codes))
    ]
    return _effects(grouping.k_anonymity, grouping.unique_people, without)


def _effects(
    k: int, unique: int, without: Iterable[tuple[str, int, int, int]]
) -> tuple[ColumnEffect, ...]:
    """Sort the effects, given each column's k, unique rows and unique people without it."""
    effects = [
        ColumnEffect(column, least, rows, least - k, unique - people, people)
        for column, least, rows, people in without
    ]
    return tuple(sorted(effects, key=lambda e: (-e.fewer_unique, -e.k_gain)))


def _merged(grouping: Grouping, classes: Coded) -> tuple[int, int, int]:
    """k, unique rows and unique people after classes are merged into larger ones."""
    if grouping.people.each_row:
        sizes = np.bincount(classes.codes, weights=grouping.sizes)
        alone = int(np.count_nonzero(sizes == 1))
        return int(sizes.min()), alone, alone
    members, everybody = grouping.members, grouping.everybody
    # A person counts once in the merged class, even if they were in several of its parts.
    larger = Coded(classes.codes[members.classes], classes.radix)
    sizes = people_in(larger, People.of(members.people))
    alone = sizes[larger.codes] == 1
    people = np.bincount(members.people[alone], minlength=everybody)
    return int(sizes.min()), int(members.rows[alone].sum()), int(np.count_nonzero(people))


def _without_each(columns: list[Coded], others: Coded | None = None) -> Iterator[Coded]:
    """For each column in turn, all the others joined into one, `others` included.

    Divide and conquer: m columns take m log m joins instead of m * m.
    """
    if others is None:
        others = Coded(np.zeros(len(columns[0].codes), dtype=np.int64), 1)
    if len(columns) == 1:
        yield dense(others)
        return
    half = len(columns) // 2
    left, right = columns[:half], columns[half:]
    yield from _without_each(left, reduce(joined, right, others))
    yield from _without_each(right, reduce(joined, left, others))


class TwoRows(NamedTuple):
    """How many of the people with two or more rows are identified by one row, and by two.

    `found_by_one` have a row that nobody else has, `found_by_two` a pair of rows.
    """

    people: int
    found_by_one: int
    found_by_two: int


def two_rows_known(grouping: Grouping) -> TwoRows | None:
    """`TwoRows` of grouped rows; `None` if nobody has two, or there are too many pairs to count.

    >>> import polars as pl
    >>> from tamis.risk.grouping import grouped
    >>> jobs = pl.DataFrame({"job": ["cook", "judge", "cook", "judge"]})
    >>> two_rows_known(grouped(jobs, ["job"], [1, 1, 2, 3]))
    TwoRows(people=1, found_by_one=0, found_by_two=1)
    """
    people = grouping.people
    if people.each_row or sets_of_rows(people.codes, 2) > MOST_SETS:
        return None
    several = np.bincount(people.codes) > 1
    if not several.any():
        return None
    one, two = (
        int(np.count_nonzero(grouping.holders_of_rows(rows)[several] == 1)) for rows in (1, 2)
    )
    return TwoRows(int(np.count_nonzero(several)), one, two)


@dataclass(frozen=True)
class Exposure:
    """The risk of a table over its quasi-identifiers, in plain figures.

    `l_diversity`, `t_closeness` and `likeness` are `None` if there is no sensitive column;
    `columns` has the riskiest column first. If a person has several rows, `people` is smaller
    than `rows` and every figure counts people: `unique_people` are those with a row that
    nobody else's row equals, `unique_share` is their share, `unique_rows` are those rows; `unit`
    is what is counted, see `Table.unit`.
    """

    rows: int
    quasi: tuple[str, ...]
    sensitive: str | None
    k_anonymity: int
    unique_rows: int
    unique_share: float
    classes: int
    class_sizes: tuple[ClassSize, ...]
    reidentification: Reidentification
    l_diversity: LDiversity | None
    t_closeness: float | None
    columns: tuple[ColumnEffect, ...]
    people: int
    unique_people: int
    unit: Unit
    likeness: Likeness | None = None
    two_rows: TwoRows | None = None
    """How many are identified by two rows; `None` if nobody has two, or pairs are too many."""

    def __repr__(self) -> str:
        return in_short(
            self,
            f"{self.unique_people:,} of {self.people:,} {self.unit} unique",
            f"k = {self.k_anonymity:,}",
            f"{plural(len(self.quasi), 'quasi-identifier')}",
            None if self.l_diversity is None else f"l = {self.l_diversity.distinct}",
            None if self.t_closeness is None else f"t = {self.t_closeness:.3g}",
        )

    def _repr_html_(self) -> str:
        lines = [[e.column, e.k_anonymity, e.unique_people] for e in self.columns]
        title = (
            f"Exposure: {self.unique_people:,} of {self.people:,} {self.unit} unique, "
            f"k = {self.k_anonymity:,}"
        )
        heads = ["without the column", "k", f"unique {self.unit}"]
        return html_table(title, heads, lines, self._secrets())

    def _secrets(self) -> str:
        if self.l_diversity is None or self.t_closeness is None:
            return ""
        return f"l-diversity {self.l_diversity.distinct}, t-closeness {self.t_closeness:.3g}"

    def plot(self) -> Picture:
        """A bar chart of the people by the size of their group."""
        return classes_picture(self)

    def to_dict(self) -> dict[str, Any]:
        """The same figures as plain values, ready for JSON; infinite ones are `None`."""
        figures = asdict(self)
        if self.likeness is not None:
            likeness = figures["likeness"].items()
            figures["likeness"] = {k: v if np.isfinite(v) else None for k, v in likeness}
        if self.two_rows is not None:
            figures["two_rows"] = self.two_rows._asdict()
        return {k: list(v) if isinstance(v, tuple) else v for k, v in figures.items()}


def exposure(
    data: Any,
    *,
    quasi: Sequence[str] | None = None,
    sensitive: str | None = None,
    population: Any = None,
    threshold: float = THRESHOLD,
    people: Any = None,
) -> Exposure:
    """Measure how exposed a table is.

    Parameters
    ----------
    data : Table, LargeTable or pandas, polars or pyarrow frame
        The table as it would be released. Behind an engine all rows are counted where they are.
    quasi : sequence of str, optional
        The columns an attacker may know; by default the quasi-identifiers of the table, else all
        features; in a bare frame, all columns except the sensitive one.
    sensitive : str, optional
        The column that must stay hard to guess; by default that of the table's roles, if any.
    population, threshold
        As in `reidentification`.
    people : array, optional
        The person each row belongs to, by name or number; by default from the identifiers, see
        `Table.people`; in a bare frame each row is a person. Neither people nor a population can
        be given for a table behind an engine.

    Returns
    -------
    Exposure

    Examples
    --------
    >>> import polars as pl
    >>> from tamis import Roles, Table
    >>> frame = pl.DataFrame({"age": [30, 30, 40, None], "ill": ["no", "yes", "no", "no"]})
    >>> found = exposure(Table(frame, Roles(target="ill")))
    >>> found.k_anonymity, found.unique_rows, found.unique_share
    (1, 2, 0.5)
    >>> found.to_dict()["l_diversity"]["distinct"]
    1
    """
    if isinstance(data, LargeTable):
        if population is not None or people is not None:
            raise InputError(
                "people and a population are given for tables in memory; behind an engine, "
                "identifiers say who is a person"
            )
        return _large_exposure(data, quasi, sensitive, threshold)
    table = as_table(data)
    scoped = scope(table, quasi, sensitive, people)
    unit = table.unit if people is None else "people"
    return exposed(scoped, scoped.grouped(), unit, population, threshold)


def exposed(
    scoped: Scope,
    grouping: Grouping,
    unit: Unit,
    population: Any = None,
    threshold: float = THRESHOLD,
) -> Exposure:
    """`exposure` of rows that are already grouped."""
    parts: Callable[[], Iterable[Spread]] | None = None
    if scoped.sensitive is not None:
        counts = spread(grouping, scoped.sensitive_column)
        parts = lambda: [counts]  # noqa: E731
    return _exposure(
        scoped.quasi,
        scoped.sensitive,
        unit,
        grouping.class_sizes,
        matched(scoped, grouping, population, threshold),
        parts,
        column_effects(grouping),
        two_rows_known(grouping),
    )


def _large_exposure(
    large: LargeTable, quasi: Sequence[str] | None, sensitive: str | None, threshold: float
) -> Exposure:
    """`exposure` behind an engine: exact, on all rows; only pairs of rows are not counted."""
    engine, shape, who = large.engine, large.shape, large.who
    secret = shape.sensitive if sensitive is None else sensitive
    names = tuple(quasi or (c for c in shape.quasi if c != secret))
    if not names:
        raise InputError(NO_QUASI)
    known, about = large.columns(names), [] if secret is None else large.columns([secret])
    cells = engine.hold(count_cells(large.frame, [*known, *about, *who]))
    table, dropped = sizes_of_classes(engine, cells, known, who)
    sizes = tuple(ClassSize(**row) for row in table.iter_rows(named=True))
    parts: Callable[[], Iterable[Spread]] | None = None
    if secret is not None:
        number = shape.frame.schema[secret].is_numeric()
        counts = sensitive_counts(engine, cells, known, about[0], who, number)
        parts = lambda: spreads(counts)  # noqa: E731
    without = [(large.name_of(d.column), d.k, d.unique_rows, d.unique_people) for d in dropped]
    effects = _effects(sizes[0].size, _alone(sizes).people, without)
    matching = matched_by_sizes(sizes, threshold)
    return _exposure(names, secret, shape.unit, sizes, matching, parts, effects)


def _exposure(
    quasi: tuple[str, ...],
    sensitive: str | None,
    unit: Unit,
    sizes: tuple[ClassSize, ...],
    matching: Reidentification,
    secrets: Callable[[], Iterable[Spread]] | None,
    columns: tuple[ColumnEffect, ...],
    two_rows: TwoRows | None = None,
) -> Exposure:
    """Assemble the figures from the class sizes and the spread of sensitive values over them."""
    alone, everybody = _alone(sizes), sum(each.people for each in sizes)
    found = None if secrets is None else measure_secrets(secrets)
    return Exposure(
        rows=sum(each.rows for each in sizes),
        quasi=quasi,
        sensitive=sensitive,
        k_anonymity=sizes[0].size,
        unique_rows=alone.rows,
        unique_share=alone.people / everybody,
        classes=sum(each.classes for each in sizes),
        class_sizes=sizes,
        reidentification=matching,
        l_diversity=None if found is None else found.l_diversity,
        t_closeness=None if found is None else found.t_closeness,
        columns=columns,
        people=everybody,
        unique_people=alone.people,
        unit=unit,
        likeness=None if found is None else found.likeness,
        two_rows=two_rows,
    )


def _alone(sizes: tuple[ClassSize, ...]) -> ClassSize:
    """The classes of one person, which come first if there are any; else an empty entry."""
    return sizes[0] if sizes[0].size == 1 else ClassSize(1, 0, 0, 0)


def classes_picture(found: Exposure) -> Picture:
    """A bar for each range of group sizes, scaled so that the longest fills its track.

    Examples
    --------
    >>> import polars as pl
    >>> svg = classes_picture(exposure(pl.DataFrame({"sex": ["f", "m", "m"]}))).svg()
    >>> "alone" in svg and "2 to 4" in svg
    True
    """
    counts = [(low, high, _people(found, low, high)) for low, high in BINS]
    shown = [each for each in counts if each[2] or each[0] == 1]
    most = max(people for _, _, people in shown)
    picture = Picture(
        _WIDTH,
        _TOP + _LINE * len(shown),
        f"how many {found.unit} look alike",
        "; ".join(f"{_label(low, high)}: {people:,}" for low, high, people in shown),
    )
    picture.heading(16, 28, f"How well {found.unit} hide")
    picture.text(16, 48, f"{found.unit} by how many look alike", size=13, fill=SOFT)
    for i, (low, high, people) in enumerate(shown):
        y = _TOP + _LINE * i
        picture.text(_LEFT - 12, y + 14, _label(low, high), anchor="end")
        picture.rect(
            _LEFT, y, _TRACK * people / most, 18, fill=ORANGE if low < SMALL_GROUP else BLUE, rx=2
        )
        picture.text(_WIDTH - 16, y + 14, f"{people:,}", anchor="end")
    return picture


def _people(found: Exposure, low: int, high: int | None) -> int:
    return sum(s.people for s in found.class_sizes if low <= s.size <= (high or s.size))


def _label(low: int, high: int | None) -> str:
    if high is None:
        return f"{low} or more"
    return "alone" if high == 1 else f"{low} to {high}"
