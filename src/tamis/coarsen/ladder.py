"""`Ladder`: the forms of one column, from exact values (level 0) to a single label (``*``).

Also the groups of each level as numbers (`Hierarchy`), the people with each label in a table, and a
picture of the levels.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.charts import BLUE, GRID, LETTER, SOFT, Picture, shortened
from tamis.coarsen import calendar, intervals, value_groups
from tamis.coarsen.intervals import Bounds, End
from tamis.coarsen.value_groups import ValueGroups, plain_text
from tamis.errors import InputError, plural
from tamis.notebook import in_short, quoted
from tamis.table import Table, bare, kind_of

NOTHING = "*"
"""The only label of the last level, which tells nothing."""
Groups = NDArray[Any]
_WIDTH, _LEFT, _TRACK, _TOP, _LINE = 760.0, 84.0, 652.0, 66.0, 62.0
"""Measures of the picture, in its own units."""


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Group of each leaf at each level; each level merges groups of the one before.

    Parameters
    ----------
    groups : tuple of arrays of int
        One array a level: the group number of each leaf, from 0 without a gap. At level 0 each
        leaf is a group of its own.

    Examples
    --------
    >>> jobs = Hierarchy((np.array([0, 1, 2]), np.array([0, 0, 1]), np.array([0, 0, 0])))
    >>> jobs.leaves, jobs.top, jobs.widths
    (3, 2, (3, 2, 1))
    >>> jobs.shares(1).tolist()
    [0.666..., 0.666..., 0.333...]
    """

    groups: tuple[Groups, ...]

    def __post_init__(self) -> None:
        if not self.groups or len(self.groups[0]) == 0:
            raise InputError("a hierarchy needs a level and a leaf")
        whole = tuple(np.ascontiguousarray(level, dtype=np.int32) for level in self.groups)
        object.__setattr__(self, "groups", whole)
        if not np.array_equal(whole[0], np.arange(self.leaves)):
            raise InputError("at level 0 of a hierarchy each leaf is a group of its own")
        for number, (finer, coarser) in enumerate(itertools.pairwise(whole), start=1):
            self._check_level(number, finer, coarser)

    def _check_level(self, number: int, finer: Groups, coarser: Groups) -> None:
        if len(coarser) != self.leaves:
            raise InputError(
                f"level {number} of a hierarchy has {len(coarser)} leaves, not {self.leaves}"
            )
        # Both are int32, so a pair fits one int64. As many pairs as finer groups: each is in one.
        pairs = np.unique(finer.astype(np.int64) << 32 | coarser)
        if split := len(pairs) - len(np.unique(finer)):
            raise InputError(
                f"level {number} of a hierarchy does not nest: groups of the level before are "
                f"split {split} times"
            )

    @property
    def leaves(self) -> int:
        """Number of values in the hierarchy, including those that a table lacks."""
        return len(self.groups[0])

    @property
    def top(self) -> int:
        """The number of the coarsest level."""
        return len(self.groups) - 1

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """Number of groups at each level."""
        return tuple(int(level.max()) + 1 for level in self.groups)

    def shares(self, level: int) -> NDArray[np.float64]:
        """For each leaf, the share of all leaves that its group covers."""
        counts: NDArray[Any] = np.bincount(self.groups[level])
        return counts[self.groups[level]] / self.leaves


class Form(Protocol):
    """How one kind of ladder labels values; its steps are the levels between 0 and ``*``."""

    noun: ClassVar[str]
    """What one of its labels is called: a band, or a group."""
    has_groups: ClassVar[bool]
    """Whether a manifest lists its groups with their values. If not, it states what `to_dict` says
    of a level, which `tamis.verification.labels` reads again."""

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> Self: ...

    @property
    def steps(self) -> int: ...

    def labels(self, values: pl.Series, step: int) -> pl.Series:
        """Label of each value at a step, from 1; null where no group covers the value."""

    def bounds(self, label: str, step: int) -> Bounds | None:
        """Smallest value of a group and the first beyond it; `None` if the label is no range."""

    def words(self, step: int) -> str:
        """How to read the labels of a step, in words for people."""

    def to_dict(self) -> dict[str, Any]:
        """The description that `from_dict` reads; a list has an entry for each step."""


FORMS = intervals.FORMS | calendar.FORMS | value_groups.FORMS
"""Each form by the key of a description that selects it."""


def form_class(description: Mapping[str, Any]) -> type[Form]:
    """The form that a plain description selects; an error unless it selects exactly one.

    >>> form_class({"keep": [3, 2]}).noun
    'group'
    """
    named = [word for word in FORMS if word in description]
    if not named and {"bottom", "top"} & set(description):
        named = ["ends"]
    if len(named) != 1:
        raise InputError(
            f"exactly one of {', '.join([*FORMS, 'file'])} is needed; got "
            f"{', '.join(named) or 'none of them'}"
        )
    return FORMS[named[0]]


ABOUT = ("level", "read")
"""What a manifest states of a level besides its description."""


def described_level(said: Mapping[str, Any]) -> dict[str, Any]:
    """The description of a ladder of one level, from what a manifest states of that level.

    >>> described_level({"level": 2, "width": 10, "top": 90, "read": "..."})
    {'width': [10], 'top': 90}
    """
    rule = ((word, part) for word, part in said.items() if word not in ABOUT)
    return {word: [part] if word in FORMS else part for word, part in rule}


class Leaves(NamedTuple):
    """The leaf of each row, as a code, and the groups of the leaves at each level."""

    codes: NDArray[np.int32]
    hierarchy: Hierarchy


@dataclass(frozen=True)
class Ladder:
    """The forms of one column: level 0 has its exact values, the last level is ``*``.

    Values that no group covers go up the ladder to the first level that does. Missing values stay
    missing, as a group of their own, at each level below ``*``.

    Parameters
    ----------
    column : str
    form : Cuts, Widths, Ends, Multiples, Prefixes, Calendar, CommonValues or ValueGroups
        Defines the levels in between.

    Examples
    --------
    >>> age = Ladder.from_dict("age", {"width": [5, 10], "top": 90})
    >>> ages = pl.Series("age", [43, 44, 48, 93, None])
    >>> age.apply(ages, 2).to_list()
    ['[40, 50)', '[40, 50)', '[40, 50)', '>= 90', None]
    >>> codes, hierarchy = age.hierarchy(ages)
    >>> codes.tolist(), hierarchy.widths
    ([0, 1, 2, 3, 4], (5, 4, 3, 1))
    >>> age.bounds(age.apply(ages, 1), 1).rows()
    [(40.0, 45.0), (40.0, 45.0), (45.0, 50.0), (90.0, None), (None, None)]
    """

    column: str
    form: Form

    def __repr__(self) -> str:
        form = type(self.form).__name__
        return in_short(self, quoted(self.column), f"levels 0 to {self.top} by {form}")

    def plot(self, values: pl.Series, *, least: int = 5) -> Picture:
        """Draw the groups of a column at each level, each as wide as its share of the rows.

        Parameters
        ----------
        values : polars series
            The column.
        least : int
            Groups of fewer rows go unnamed.
        """
        return ladder_picture(self, values, least)

    @classmethod
    def from_dict(cls, column: str, description: Mapping[str, Any]) -> Ladder:
        """Make a ladder from a plain description, such as a table of a TOML file."""
        try:
            return cls(column, form_class(description).from_dict(description))
        except InputError as error:
            raise InputError(f"the ladder of column {column!r}: {error}") from None

    def to_dict(self) -> dict[str, Any]:
        """A plain description, from which `from_dict` makes the same ladder."""
        return self.form.to_dict()

    def stated(self, level: int) -> dict[str, Any]:
        """What a manifest states of a level of a form that has no groups to list.

        >>> Ladder.from_dict("age", {"width": [5, 10], "top": 90}).stated(2)
        {'width': 10, 'top': 90}
        """
        parts = self.to_dict().items()
        return {word: at[level - 1] if isinstance(at, list) else at for word, at in parts}

    @property
    def top(self) -> int:
        """The number of the last level, ``*``."""
        return self.form.steps + 1

    def apply(self, values: pl.Series, level: int) -> pl.Series:
        """Generalise a column to a level: unchanged at 0, else texts, or numbers of fewer digits.

        Missing cells stay missing below ``*``.
        """
        self._check_level(level)
        if level == 0:
            return values
        if level == self.top:
            return pl.repeat(NOTHING, values.len(), dtype=pl.String, eager=True).alias(values.name)
        cells = _cells(values)
        known = cells.unique()
        # Distinct values are labelled once and joined, unless there are so many that the join
        # would cost more than labelling every cell.
        if 2 * known.len() > cells.len():
            return self._climb(cells, level).alias(values.name)
        labels = pl.DataFrame({"cell": known, "label": self._climb(known, level)})
        return _joined(cells, labels).get_column("label").alias(values.name)

    def hierarchy(self, values: pl.Series, *, lacking: bool = False) -> Leaves:
        """The leaf of each row, and the groups of all leaves, including those that no row has.

        Raises for values that the ladder lacks, unless `lacking` is set: they then go up it as in
        `apply`, and only values that occur are leaves. Where cells are missing, the last leaf is
        the missing value.
        """
        if not lacking:
            self.check(values)
        cells = _cells(values)
        # Listed values are leaves even if no row has them: metrics count how many a label covers.
        if isinstance(self.form, ValueGroups) and not lacking:
            cells, leaves, labels = self.form.tree(cells)
        else:
            leaves = cells.unique().sort(nulls_last=True)
            labels = [self._climb(leaves, level) for level in range(1, self.top)]
        bottom = np.arange(leaves.len(), dtype=np.int32)
        groups = (bottom, *map(_numbered, labels), np.zeros_like(bottom))
        return Leaves(_places(cells, leaves), Hierarchy(groups))

    def bounds(self, labels: pl.Series, level: int) -> pl.DataFrame:
        """Bounds of each label at a level: ``lower`` is included, ``upper`` is not.

        Null where there is none: open intervals, missing cells, labels that are no range.
        """
        self._check_level(level)
        known = bare(labels).unique()
        ends = [self._bounds_of(label, level) for label in known.cast(pl.String)]
        lower, upper = ([pair[end] for pair in ends] for end in (0, 1))
        kind = _kind_of([*lower, *upper])
        ranges = pl.DataFrame(
            {"cell": known, "lower": lower, "upper": upper}, schema_overrides=kind
        )
        return _joined(bare(labels), ranges).select("lower", "upper")

    def words(self, level: int) -> str:
        """How to read the column at a level, in words for people.

        >>> Ladder.from_dict("zip", {"keep": [3, 2]}).words(2)
        'the first 2 characters, with a star for each of the others'
        """
        self._check_level(level)
        ends = {0: "the values as they are", self.top: "nothing"}
        return ends.get(level) or self.form.words(level)

    def check(self, values: pl.Series) -> None:
        """Raise if a column has values that the ladder lacks."""
        cells = _cells(values)
        known = cells.drop_nulls().unique()
        if isinstance(self.form, ValueGroups):
            lacking = known.filter(self.form.lacks(known))
        elif self.form.steps:
            lacking = known.filter(self._labels(known, 1).is_null())
        else:
            return
        if lacking.len():
            rows = int(cells.is_in(lacking).sum())
            raise InputError(
                f"column {self.column!r} has {plural(lacking.len(), 'value')} in "
                f"{plural(rows, 'row')} that its ladder lacks; add them to the ladder, or give "
                'it unlisted = "other" in [ladders] of a schema or configuration'
            )

    def _climb(self, values: pl.Series, level: int) -> pl.Series:
        """Label each value at the first level, from the given one upwards, that covers it."""
        labels = self._labels(values, level)
        for higher in range(level + 1, self.top):
            if labels.null_count() == values.null_count():
                break
            labels = labels.zip_with(labels.is_not_null(), self._labels(values, higher))
        if labels.dtype != pl.String:  # numbers, which cover all
            return labels
        uncovered = labels.is_null() & values.is_not_null()
        return labels.set(uncovered, NOTHING)

    def _labels(self, values: pl.Series, step: int) -> pl.Series:
        try:
            return self.form.labels(values, step)
        except InputError as error:
            raise InputError(f"the ladder of column {self.column!r}: {error}") from None

    def _bounds_of(self, label: str | None, level: int) -> Bounds:
        if label is None or not 0 < level < self.top:
            return None, None
        # A value that this level does not cover has the label of a coarser one, see `_climb`.
        ranges = (self.form.bounds(label, step) for step in range(level, self.top))
        return next((bounds for bounds in ranges if bounds is not None), (None, None))

    def _check_level(self, level: int) -> None:
        if not 0 <= level <= self.top:
            raise InputError(
                f"the ladder of column {self.column!r} has levels 0 to {self.top}, got {level}"
            )


def _cells(values: pl.Series) -> pl.Series:
    """The values without their name; categories become texts."""
    cells = bare(values)
    return plain_text(cells) if isinstance(cells.dtype, pl.Categorical | pl.Enum) else cells


def _numbered(labels: pl.Series) -> NDArray[np.int32]:
    """Number the labels from 0 in order of appearance; missing gets a number of its own."""
    return _places(labels, labels.unique(maintain_order=True))


def _places(cells: pl.Series, known: pl.Series) -> NDArray[np.int32]:
    """Place of each cell among the known ones; missing may be one of these."""
    numbered = pl.DataFrame({"cell": known}).with_row_index("place")
    return _joined(cells, numbered).get_column("place").to_numpy().astype(np.int32)


def _joined(cells: pl.Series, known: pl.DataFrame) -> pl.DataFrame:
    rows = pl.DataFrame({"cell": cells})
    return rows.join(known, on="cell", how="left", maintain_order="left", nulls_equal=True)


def _kind_of(ends: list[Any]) -> dict[str, Any]:
    numbers = all(end is None or isinstance(end, float) for end in ends)
    return dict.fromkeys(("lower", "upper"), pl.Float64 if numbers else pl.Date)


@dataclass(frozen=True)
class CountedLabel:
    """One label of a level, with the number of people who have it."""

    label: str | None
    """`None` for missing."""
    people: int
    lower: End = None
    """The smallest number or date that it includes."""
    upper: End = None
    """The first number or date beyond it."""

    def to_dict(self) -> dict[str, Any]:
        """A plain record; bounds only where there are any."""
        bounds = {"lower": _plain(self.lower), "upper": _plain(self.upper)}
        known = {end: value for end, value in bounds.items() if value is not None}
        return {"label": self.label, "people": self.people, **known}


def rungs(ladder: Ladder, table: Table, level: int) -> list[CountedLabel]:
    """Labels of a column at a level with their people, by value, or alphabetically if nominal.

    Examples
    --------
    >>> table = Table(pl.DataFrame({"age": [43, 44, 91, None]}))
    >>> ladder = Ladder.from_dict("age", {"width": [5, 10], "top": 90})
    >>> [(r.label, r.people) for r in rungs(ladder, table, 1)]
    [('[40, 45)', 2), ('>= 90', 1), (None, 1)]
    """
    values = table.frame.get_column(ladder.column)
    cells = pl.DataFrame(
        {
            "label": ladder.apply(bare(values), level).cast(pl.String),
            "least": bare(values).rank("dense") if kind_of(values.dtype) != "nominal" else None,
            "who": table.people.codes,
        }
    )
    counted = cells.group_by("label").agg(pl.col("who").n_unique(), pl.col("least").min())
    counted = counted.sort("least", "label", nulls_last=True)
    bounds = ladder.bounds(counted.get_column("label"), level).rows()
    pairs = zip(counted.select("label", "who").rows(), bounds)
    return [CountedLabel(label, people, *ends) for (label, people), ends in pairs]


def _plain(end: End) -> Any:
    return end.isoformat() if isinstance(end, date) else end


def ladder_picture(ladder: Ladder, values: pl.Series, least: int = 5) -> Picture:
    """Draw a line for each level; a group is named if it has room and at least `least` rows.

    No group of level 0 is named, since these are exact values of the table.

    Examples
    --------
    >>> ages = Ladder.from_dict("age", {"width": [10]})
    >>> svg = ages.plot(pl.Series("age", [43, 44, 48, 57]), least=3).svg()
    >>> "[40, 50)" in svg, "[50, 60)" in svg
    (True, False)
    """
    picture = Picture(
        _WIDTH,
        _TOP + _LINE * (ladder.top + 1),
        f"the levels of {shortened(ladder.column)}",
        "; ".join(f"level {n}: {ladder.words(n)}" for n in range(ladder.top + 1)),
    )
    picture.heading(16, 28, f"The levels of {shortened(ladder.column, 50)}")
    picture.text(16, 48, f"groups of {plural(values.len(), 'row')}", size=13, fill=SOFT)
    for level in range(ladder.top + 1):
        groups = _groups(ladder, values, level)
        y = _TOP + _LINE * level
        picture.text(16, y + 20, f"level {level}")
        _level(picture, groups, y, least if level else values.len() + 1)
        words = f"{plural(len(groups), 'group')}: {ladder.words(level)}"
        picture.text(_LEFT, y + 44, shortened(words, 96), size=12, fill=SOFT)
    return picture


def _groups(ladder: Ladder, values: pl.Series, level: int) -> list[tuple[str, int]]:
    """The groups of a level with their rows, ordered by smallest value."""
    ordered = bare(values).sort(nulls_last=True)
    labels = bare(ladder.apply(ordered, level)).cast(pl.String).fill_null("missing")
    counted = pl.DataFrame({"label": labels}).group_by("label", maintain_order=True).len()
    return [(str(label), int(rows)) for label, rows in counted.iter_rows()]


def _level(picture: Picture, groups: list[tuple[str, int]], y: float, least: int) -> None:
    total, x = sum(rows for _, rows in groups), _LEFT
    for number, (label, rows) in enumerate(groups):
        wide = _TRACK * rows / max(total, 1)
        # No gap between narrow groups: it would be wider than they are.
        gap = 1.5 if wide > 4 else 0.0
        shade = 0.9 if number % 2 else 0.7
        picture.rect(x, y, wide - gap, 28, fill=BLUE, fill_opacity=shade, rx=2, stroke=None)
        if rows >= least and wide > LETTER * len(label) + 8:
            picture.text(x + wide / 2, y + 19, label, size=12, anchor="middle", fill="#ffffff")
        x += wide
    picture.line(_LEFT, y + 29, _LEFT + _TRACK, y + 29, stroke=GRID)
