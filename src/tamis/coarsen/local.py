"""Local recoding: each equivalence class gets its own intervals and groups of values.

Rows are split in two across one column, recursively, as long as both parts meet the requirements
(after Mondrian, LeFevre et al. 2006). The parts that cannot be split are the classes; nothing is
suppressed. A number or a date is released as the interval of its class, any other value as the set
of values that occur in its class.
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
"""The metrics that are defined without levels."""


class PartBounds(NamedTuple):
    """Requirements as plain numbers for kernels, from the `kernel_bounds` of each.

    Where nothing is asked, `l` is 0 and the others are infinite. With `entropy`, l-diversity is by
    the entropy of the values; with a finite `c` it is recursive. `alpha`, `beta` and `delta` are
    as in `tamis.risk.diversity.likeness`.
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
        """Bounds of the requirements that kernels can judge; of several k the largest."""
        known = [bounds for r in asked if (bounds := r.kernel_bounds()) is not None]
        merged = {name: bound for bounds in known for name, bound in bounds.items()}
        return cls(**{**merged, "k": asked.k, "missing": missing})


class Labelled(NamedTuple):
    """People, sensitive values and target of the rows; empty arrays where they play no part.

    `people` and `values` are codes from 0 without gaps, and `pairs` codes of person and value
    together. `usual` has the share of each value in the whole table; `target` is what is to be
    predicted. Empty arrays, not `None`, keep the types that Numba compiles for the same.
    """

    people: Any
    values: Any
    pairs: Any
    usual: Any
    target: Any


class Register(NamedTuple):
    """A register of people, and the bounds (`low`, `high`) of delta-presence.

    Arrays have a line for each column: `mine` has the rank of each row's value, `theirs` that of
    each row of the register, in one common order; -1 is missing, and -2 a nominal value that no row
    of the table has. `every` is the number of values of a nominal column, 0 for others. `people`
    are the people of the register, as in `Labelled`.
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
        """Rank the values of table and register together."""
        both, people, rows = stacked(table, population, quasi)
        lines, every = zip(*(_line(both.get_column(c), rows) for c in quasi))
        places = np.array(lines, dtype=np.int64)
        who = people[rows:].renumbered()
        others = places[:, rows:]
        return cls(places[:, :rows], others, np.array(every), _if_several(who), *asked.shares)

    @classmethod
    def nobody(cls, rows: int) -> Self:
        """An empty register, for kernels: one without people bounds nothing."""
        none = np.zeros(0, np.int64)
        return cls(np.zeros((0, rows), np.int64), np.zeros((0, 0), np.int64), none, none, 0.0, 1.0)

    def presence(self, shares: Integers, told: int) -> Presence:
        """Delta-presence from the share of each class and the rows that no class covers (`told`).

        Someone whom no class covers is certainly not in the table: a share of 0.
        """
        if not len(shares):
            raise CannotMeet(
                "even the whole table as one class does not keep the chance that somebody of the "
                f"register is in it from {self.low:g} to {self.high:g}; allow a wider range with "
                "--delta-presence"
            )
        return Presence(0.0 if told else float(shares.min()), float(shares.max()))


def _line(column: pl.Series, rows: int) -> tuple[Integers, int]:
    """Ranks of a column whose first rows are the table's; for a nominal one, how many these have.

    The second figure is the number of values of the table's rows; 0 for numbers and dates.
    """
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
    """The class of each row, the number of classes, and with a register delta-presence."""

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
    """Split the rows into classes.

    Parameters
    ----------
    leaves : arrays of int, one a column
        The leaf of each row; intervals are ranges of leaves.
    widths : ints, one a column
        The number of leaves, including those that no row has.
    asked : Requirements
    people : People or array, optional
        The person of each row; by default each row is a person.
    values : array of int, optional
        The sensitive value of each row, from 0 without gaps.
    missing : bool
        Whether the last sensitive value means missing.
    target : array of int, optional
        What is to be predicted: each cut is then the one that gains most about it, instead of one
        in the middle of the column with the widest range.
    register : Register, optional
        The register of delta-presence, ranked together with the table.

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

    rest = Requirements(tuple(r for r in asked if r.kernel_bounds() is None))
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
    """Raise k until the requirements that kernels cannot judge are met, too.

    A mean, for instance, is not a property of one class, so no single cut can be judged by it, but
    larger classes improve it. Doubling k finds a size that is enough; bisection then looks for the
    smallest. Not every larger size need be enough, so the size found may not be the smallest.
    """
    secret = None if values is None else pl.Series(values)

    def counts(recoding: LocalClasses) -> ClassCounts:
        classes = Coded(recoding.class_of, recoding.classes)
        return count_groups(Grouping.of_classes(classes, people), secret)

    best = divided(k)
    if asked.met(counts(best)):
        return best
    low, high = k, max([k, *(requirement.enough_people for requirement in asked)])
    best = divided(high)
    while not asked.met(counts(best)):
        if best.classes == 1:
            raise CannotMeet(
                f"even as one class the whole table falls short: {asked.short_of(counts(best))}"
            )
        low, high = high, min(2 * high, people.count)
        best = divided(high)
    while high - low > 1:  # `high` is enough, `low` is not
        middle = (low + high) // 2
        trial = divided(middle)
        if asked.met(counts(trial)):
            high, best = middle, trial
        else:
            low = middle
    return best


def _if_several(people: People) -> Integers:
    """The person of each row; empty if each row is a person."""
    return np.zeros(0, np.int64) if people.each_row else people.codes


def _about(people: People, values: Integers | None, target: Integers | None) -> Labelled:
    none, pairs, usual = np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
    if values is not None:
        counted = values
        if not people.each_row:  # a person's repeated rows with one value count once
            joint = people.codes * (values.max() + 1) + values
            known, pairs = np.unique(joint, return_inverse=True)
            counted = known % (values.max() + 1)  # the value of each distinct pair
        usual = np.bincount(counted) / len(counted)
    secret, aim = (none if codes is None else codes.astype(np.int64) for codes in (values, target))
    return Labelled(_if_several(people), secret, pairs.astype(np.int64), usual, aim)


def local_shares(column: pl.Series, codes: Integers, width: int, found: LocalClasses) -> Floats:
    """For each class, the fraction of the column's leaves that its label covers."""
    if kind_of(column.dtype) == "nominal":
        pairs = np.unique(found.class_of * width + codes)
        return np.bincount(pairs // width, minlength=found.classes) / width
    # The label of a class covers its whole range, including leaves that no row of it has.
    low = np.full(found.classes, width)
    high = np.full(found.classes, -1)
    np.minimum.at(low, found.class_of, codes)
    np.maximum.at(high, found.class_of, codes)
    shares: Floats = (high - low + 1) / width
    return shares


def local_loss(shares: Sequence[Floats], widths: Sequence[int], found: LocalClasses) -> float:
    """Loss as in `tamis.coarsen.metrics`, from the fraction that each class's label covers.

    >>> whole = LocalClasses(np.zeros(4, int), 1)
    >>> local_loss([np.ones(1)], [4], whole)
    1.0
    """
    rows = len(found.class_of)
    sizes = np.bincount(found.class_of, minlength=found.classes)
    means = [float(sizes @ by_class) / rows for by_class in shares]
    # Rescaled, so that a column of exact values (1 / width each) costs 0 and one of ``*`` costs 1.
    columns = [
        max(0.0, (mean - 1 / width) / (1 - 1 / width)) if width > 1 else 0.0
        for mean, width in zip(means, widths)
    ]
    return float(np.expm1(np.mean(np.log1p(columns))))


def local_form(column: pl.Series, found: LocalClasses) -> pl.Series:
    """The column as released: the interval of each class, or its set of values.

    All cells are texts. A set of all values is released as ``*``. Missing cells share the label of
    their class, which then says "or missing".

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
    labelled = cells.join(labels, on="class", how="left", maintain_order="left")
    return labelled.get_column("label").alias(column.name)


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
    """The label of each class; a class of nothing but missing cells stays missing."""
    # Null plus a text is null, so `label` decides what stays missing.
    missing = pl.when(pl.col("missing")).then(pl.lit(MISSING)).otherwise(pl.lit(""))
    return classes.select("class", (label + missing).alias("label"))


def check_local_metric(metric: str) -> None:
    """Raise for a metric that needs levels."""
    if metric not in LOCAL_METRICS:
        raise InputError(
            f"local recoding has no levels, so there is no {metric}; choose from "
            f"{', '.join(LOCAL_METRICS)}"
        )


def local_score(metric: str, loss: float, found: LocalClasses) -> float:
    """Score by a metric that needs no levels."""
    sizes = np.bincount(found.class_of, minlength=found.classes)
    if metric == "discernability":
        return float(sizes @ sizes)
    return len(found.class_of) / found.classes if metric == "aecs" else loss
