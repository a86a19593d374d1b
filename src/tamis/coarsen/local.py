"""Local recoding: each class of rows gets its own intervals and groups of values.

The rows are cut in two, across one column, as long as both parts keep what is required (after
Mondrian, LeFevre et al. 2006). What is left are the classes; nothing is suppressed. A number or a
date is then told as the interval of its class, any other value as the group of values that occur in
its class.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import polars as pl

from tamis.arrays import Floats, Integers
from tamis.coarsen.ladder import NOTHING
from tamis.coding import Coded
from tamis.errors import CannotMeet, InputError
from tamis.people import People, PeopleLike
from tamis.require.base import Requirements
from tamis.require.counts import ClassCounts
from tamis.require.population import DeltaPresence
from tamis.risk.diversity import count_groups
from tamis.risk.grouping import Grouping
from tamis.risk.presence import Presence, stacked
from tamis.table import Table, bare, kind_of

SplitBy = Literal["range", "target"]
MISSING = " or missing"
LOCAL_METRICS = ("loss", "discernability", "aecs")
"""What needs no levels."""


class PartBounds(NamedTuple):
    """Requirements as the plain numbers by which kernels judge a part, see `kernel_bounds` of each.

    `l` is 0, all others are infinite where nobody bounds. With `entropy`, l is by the entropy of
    the values; with a finite `c` it is recursive. `alpha`, `beta` and `delta` are as in
    `tamis.risk.diversity.likeness`.
    """

    k: int = 1
    l: int = 0  # noqa: E741 - the field's name for it
    t: float = np.inf
    ordered: bool = False
    missing: bool = False
    entropy: bool = False
    c: float = np.inf
    alpha: float = np.inf
    beta: float = np.inf
    enhanced: bool = False
    delta: float = np.inf

    @classmethod
    def of(cls, asked: Requirements, missing: bool) -> Self:
        """Those that kernels know of what is asked; the largest k counts."""
        known = [bounds for each in asked if (bounds := each.kernel_bounds()) is not None]
        merged = {name: bound for bounds in known for name, bound in bounds.items()}
        return cls(**{**merged, "k": asked.k, "missing": missing})


class Labelled(NamedTuple):
    """What the rows are about; an array without entries where it does not matter.

    `people` and `values` are numbers from 0 without gaps, `pairs` those of a person and a value
    together; `usual` has the share of each value in the whole table, `target` what is to be
    predicted.
    """

    people: Any
    values: Any
    pairs: Any
    usual: Any
    target: Any


class Register(NamedTuple):
    """Everybody, and what share of those whom a class may stand for may be in it.

    A line a column: `mine` has the place of each row's value, `theirs` that of each row of the
    register, in one order; -1 is missing, -2 a value without an order that no row of the table has.
    Of columns without an order `every` has the number of values, of others 0. `people` are the
    people of the register, as in `Labelled`.
    """

    mine: Integers
    theirs: Integers
    every: Integers
    people: Integers
    low: float
    high: float

    @classmethod
    def of(
        cls,
        table: Table,
        population: Table | pl.DataFrame,
        quasi: Sequence[str],
        asked: DeltaPresence,
    ) -> Self:
        """Where the values of a table and of a register are."""
        both, people, rows = stacked(table, population, quasi)
        lines, every = zip(*(_line(both.get_column(c), rows) for c in quasi))
        places = np.array(lines, dtype=np.int64)
        who = people[rows:].renumbered()
        others = places[:, rows:]
        return cls(places[:, :rows], others, np.array(every), _if_several(who), *asked.shares)

    @classmethod
    def nobody(cls, rows: int) -> Self:
        """No register at all."""
        none = np.zeros(0, np.int64)
        return cls(np.zeros((0, rows), np.int64), np.zeros((0, 0), np.int64), none, none, 0.0, 1.0)

    def presence(self, shares: Integers, told: int) -> Presence:
        """From the share of each class, and the rows of the register that none may be about."""
        if not len(shares):
            raise CannotMeet(
                "even the whole table as one class does not keep the chance that somebody of the "
                f"register is in it from {self.low:g} to {self.high:g}; allow a wider range with "
                "--delta-presence"
            )
        return Presence(0.0 if told else float(shares.min()), float(shares.max()))


def _line(column: pl.Series, rows: int) -> tuple[Integers, int]:
    """The places of a column whose first rows are the table's, and how many values these have."""
    cells = bare(column)
    if kind_of(cells.dtype) != "nominal":
        return cells.rank("dense").cast(pl.Int64).fill_null(-1).to_numpy(), 0
    texts = cells.cast(pl.String)
    known = pl.DataFrame({"cell": texts.head(rows).drop_nulls().unique()}).with_row_index("place")
    joined = pl.DataFrame({"cell": texts}).join(known, "cell", "left", maintain_order="left")
    places = joined["place"].cast(pl.Int64).fill_null(-2)
    return places.set(texts.is_null(), -1).to_numpy(), known.height


@dataclass(frozen=True, eq=False)
class LocalClasses:
    """The class of each row, the number of classes, and who of a register they may be about."""

    class_of: Integers
    classes: int
    presence: Presence | None = None


def local_classes(
    leaves: Sequence[Integers],
    widths: Sequence[int],
    asked: Requirements,
    *,
    people: PeopleLike = None,
    values: Integers | None = None,
    missing: bool = False,
    target: Integers | None = None,
    register: Register | None = None,
) -> LocalClasses:
    """Cut the rows into classes.

    Parameters
    ----------
    leaves : arrays of int, one a column
        The leaf of each row, in the order in which ranges are taken.
    widths : ints, one a column
        The number of leaves, whether rows have them or not.
    asked : Requirements
    people : People or array, optional
        The person of each row; by default each row is a person.
    values : array of int, optional
        The sensitive value of each row, from 0 without gaps.
    missing : bool
        Whether the last sensitive value means missing.
    target : array of int, optional
        What is to be predicted: each cut is then the one that tells most about it, instead of one
        in the middle of the column with the widest range.
    register : Register, optional
        Where the values of the table and of a register are, and how likely people of the latter
        may be in the table.

    Examples
    --------
    >>> from tamis.require import requirements
    >>> ages = np.array([0, 0, 1, 5, 6, 9])
    >>> local_classes([ages], [10], requirements(k=3)).class_of.tolist()
    [1, 1, 1, 0, 0, 0]
    """
    from tamis.coarsen.kernels import may_be_class, split_classes

    everyone = register or Register.nobody(len(leaves[0]))
    who = People.named(people, len(leaves[0]))
    about = _about(who, values if asked.of_secrets else None, target)
    lines = np.array(leaves, dtype=np.int32)
    first, everybody = np.cumsum([0, *widths]), np.arange(lines.shape[1])

    bounds = PartBounds.of(asked, missing)

    def divided(k: int) -> LocalClasses:
        least = bounds._replace(k=k)
        if not may_be_class(everybody, about, least, np.zeros(lines.shape[1], np.int8)):
            raise CannotMeet(
                f"the whole table of {lines.shape[1]:,} rows does not satisfy the constraints as "
                "one class, so no part of it can; ask for less (k, l, alpha, ...)"
            )
        class_of, classes, shares, told = split_classes(lines, first, about, least, everyone)
        presence = None if register is None else register.presence(shares, told)
        return LocalClasses(class_of, int(classes), presence)

    rest = Requirements(tuple(each for each in asked if each.kernel_bounds() is None))
    if not rest:
        return divided(bounds.k)
    return _large_enough(divided, bounds.k, rest, who, values)


def _large_enough(
    divided: Callable[[int], LocalClasses],
    k: int,
    asked: Requirements,
    people: People,
    values: Integers | None,
) -> LocalClasses:
    """Classes of so many people, k or more, that what kernels do not judge is kept, too.

    Such as a mean: it is not a property of one class, so no single cut can be judged by it. Larger
    classes everywhere keep more of what is lost by splitting. The smallest size that keeps all is
    searched for by halving, after a size that does was found by doubling.
    """
    secret = None if values is None else pl.Series(values)

    def counts(found: LocalClasses) -> ClassCounts:
        classes = Coded(found.class_of, found.classes)
        return count_groups(Grouping.of_classes(classes, people), secret)

    found = divided(k)
    if asked.met(counts(found)):
        return found
    low, high = k, max([k, *(each.enough_people for each in asked)])
    found = divided(high)
    while not asked.met(counts(found)):
        if found.classes == 1:
            raise CannotMeet(
                f"even as one class the whole table falls short: {asked.short_of(counts(found))}"
            )
        low, high = high, min(2 * high, people.count)
        found = divided(high)
    while high - low > 1:
        middle = (low + high) // 2
        other = divided(middle)
        if asked.met(counts(other)):
            high, found = middle, other
        else:
            low = middle
    return found


def _if_several(people: People) -> Integers:
    """The person of each row; no entries if each row is a person."""
    return np.zeros(0, np.int64) if people.each_row else people.codes


def _about(people: People, values: Integers | None, target: Integers | None) -> Labelled:
    none, pairs, usual = np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
    if values is not None:
        counted = values
        if not people.each_row:
            joint = people.codes * (values.max() + 1) + values
            known, pairs = np.unique(joint, return_inverse=True)
            counted = known % (values.max() + 1)
        usual = np.bincount(counted) / len(counted)
    what, told = (none if each is None else each.astype(np.int64) for each in (values, target))
    return Labelled(_if_several(people), what, pairs.astype(np.int64), usual, told)


def local_shares(column: pl.Series, codes: Integers, width: int, found: LocalClasses) -> Floats:
    """For each class, the share of the column's leaves that a cell might be."""
    if kind_of(column.dtype) == "nominal":
        pairs = np.unique(found.class_of * width + codes)
        return np.bincount(pairs // width, minlength=found.classes) / width
    low = np.full(found.classes, width)
    high = np.full(found.classes, -1)
    np.minimum.at(low, found.class_of, codes)
    np.maximum.at(high, found.class_of, codes)
    shares: Floats = (high - low + 1) / width
    return shares


def local_loss(shares: Sequence[Floats], widths: Sequence[int], found: LocalClasses) -> float:
    """The loss of `tamis.coarsen.metrics`, with each cell's own share.

    >>> whole = LocalClasses(np.zeros(4, int), 1)
    >>> local_loss([np.ones(1)], [4], whole)
    1.0
    """
    rows = len(found.class_of)
    sizes = np.bincount(found.class_of, minlength=found.classes)
    means = [float(sizes @ each) / rows for each in shares]
    columns = [
        max(0.0, (mean - 1 / width) / (1 - 1 / width)) if width > 1 else 0.0
        for mean, width in zip(means, widths)
    ]
    return float(np.expm1(np.mean(np.log1p(columns))))


def local_form(column: pl.Series, found: LocalClasses) -> pl.Series:
    """The column as each class tells it: intervals, or groups of values.

    All cells are texts. A group of all values is told as ``*``; missing cells are told together
    with the others of their class.

    Examples
    --------
    >>> two = LocalClasses(np.array([0, 0, 1, 1]), 2)
    >>> local_form(pl.Series("age", [31, 35, 47, 47]), two).to_list()
    ['[31, 35]', '[31, 35]', '47', '47']
    >>> local_form(pl.Series("job", ["cook", "judge", "king", None]), two).to_list()
    ['{cook, judge}', '{cook, judge}', 'king or missing', 'king or missing']
    """
    cells = pl.DataFrame({"class": found.class_of, "cell": bare(column)})
    if kind_of(column.dtype) == "nominal":
        labels = _groups(cells.with_columns(pl.col("cell").cast(pl.String)))
    else:
        labels = _intervals(cells)
    told = cells.join(labels, on="class", how="left", maintain_order="left")
    return told.get_column("label").alias(column.name)


def _intervals(cells: pl.DataFrame) -> pl.DataFrame:
    cell = pl.col("cell")
    ends = cells.group_by("class").agg(
        cell.min().cast(pl.String).alias("low"),
        cell.max().cast(pl.String).alias("high"),
        cell.is_null().any().alias("missing"),
    )
    low, high = pl.col("low"), pl.col("high")
    wide = pl.format("[{}, {}]", low, high)
    return _labelled(ends, pl.when(low == high).then(low).otherwise(wide))


def _groups(cells: pl.DataFrame) -> pl.DataFrame:
    everything = cells.get_column("cell").drop_nulls().n_unique()
    cell = pl.col("cell")
    sets = cells.group_by("class").agg(
        cell.drop_nulls().unique().sort().alias("values"),
        cell.is_null().any().alias("missing"),
    )
    values = pl.col("values")
    many = values.list.len()
    group = pl.lit("{") + values.list.join(", ") + pl.lit("}")
    label = (
        pl.when(many == 0)
        .then(None)
        .when(many == 1)
        .then(values.list.first())
        .when(many == everything)
        .then(pl.lit(NOTHING))
        .otherwise(group)
    )
    return _labelled(sets, label)


def _labelled(classes: pl.DataFrame, label: pl.Expr) -> pl.DataFrame:
    """The label of each class; one of nothing but missing cells is missing."""
    missing = pl.when(pl.col("missing")).then(pl.lit(MISSING)).otherwise(pl.lit(""))
    return classes.select("class", (label + missing).alias("label"))


def check_local_metric(metric: str) -> None:
    """Refuse a metric that needs levels."""
    if metric not in LOCAL_METRICS:
        raise InputError(
            f"local recoding has no levels, so there is no {metric}; choose from "
            f"{', '.join(LOCAL_METRICS)}"
        )


def local_score(metric: str, loss: float, found: LocalClasses) -> float:
    """The score by a metric that needs no levels."""
    sizes = np.bincount(found.class_of, minlength=found.classes)
    if metric == "discernability":
        return float(sizes @ sizes)
    return len(found.class_of) / found.classes if metric == "aecs" else loss
