"""`Ladder`: the forms of one column, from its values as they are (level 0) to nothing (``*``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.coarsen.calendar_steps import Calendar
from tamis.coarsen.hierarchy import Hierarchy
from tamis.coarsen.intervals import Bounds, Cuts, Ends, Widths
from tamis.coarsen.value_groups import CommonValues, Prefixes, ValueGroups, plain_text
from tamis.errors import InputError, plural
from tamis.notebook import in_short, quoted
from tamis.table import bare

if TYPE_CHECKING:
    from tamis.charts import Picture

NOTHING = "*"
"""The label of the last level, which tells nothing."""


class Form(Protocol):
    """How one kind of ladder names the group of a value; its steps are the levels below ``*``."""

    @property
    def steps(self) -> int: ...

    def labels(self, values: pl.Series, step: int) -> pl.Series:
        """The label of each value at a step, from 1; null where the value is not covered."""

    def bounds(self, label: str, step: int) -> Bounds | None:
        """The smallest value of a group and the first beyond it; `None` if there are no such."""

    def words(self, step: int) -> str:
        """How to read the labels of a step."""

    def to_dict(self) -> dict[str, Any]: ...


FORMS: dict[str, type[Any]] = {
    "cuts": Cuts,
    "width": Widths,
    "ends": Ends,
    "keep": Prefixes,
    "dates": Calendar,
    "common": CommonValues,
    "groups": ValueGroups,
    "values": ValueGroups,
}
"""The word of a description that says which form it is."""


class Leaves(NamedTuple):
    """The leaf of each row, as a number, and the groups of the leaves at each level."""

    codes: NDArray[np.int32]
    hierarchy: Hierarchy


@dataclass(frozen=True)
class Ladder:
    """The forms of one column: level 0 is the column as it is, the last level is ``*``.

    Values that the ladder was not made for go up it until a level covers them. Missing values stay
    missing, a group of their own, at each level below ``*``.

    Parameters
    ----------
    column : str
    form : Cuts, Widths, Ends, Prefixes, Calendar, CommonValues or ValueGroups
        What the levels in between are.

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
        """The groups of a column at each level, as wide as the rows they hold.

        Parameters
        ----------
        values : polars series
            The column.
        least : int
            Groups of fewer rows have no name in the picture.
        """
        from tamis.coarsen.picture import ladder_picture

        return ladder_picture(self, values, least)

    @classmethod
    def from_dict(cls, column: str, description: Mapping[str, Any]) -> Ladder:
        """The ladder that a plain description, such as a table of a TOML file, speaks of."""
        named = [word for word in FORMS if word in description]
        if not named and {"bottom", "top"} & set(description):
            named = ["ends"]
        if len(named) != 1:
            raise InputError(
                f"the ladder of column {column!r} needs exactly one of "
                f"{', '.join([*FORMS, 'file'])}; got {', '.join(named) or 'none of them'}"
            )
        try:
            return cls(column, FORMS[named[0]].from_dict(description))
        except InputError as error:
            raise InputError(f"the ladder of column {column!r}: {error}") from None

    def to_dict(self) -> dict[str, Any]:
        """A plain description, from which `from_dict` makes the same ladder."""
        return self.form.to_dict()

    @property
    def top(self) -> int:
        """The number of the last level, ``*``."""
        return self.form.steps + 1

    def apply(self, values: pl.Series, level: int) -> pl.Series:
        """The column at a level: as it is at level 0, else as texts; missing cells below ``*``
        stay missing."""
        self._check_level(level)
        if level == 0:
            return values
        if level == self.top:
            return pl.repeat(NOTHING, values.len(), dtype=pl.String, eager=True).alias(values.name)
        cells = _cells(values)
        known = cells.unique()
        found = pl.DataFrame({"cell": known, "label": self._climb(known, level)})
        return _joined(cells, found).get_column("label").alias(values.name)

    def hierarchy(self, values: pl.Series, *, lacking: bool = False) -> Leaves:
        """The leaf of each row and the groups of all leaves, also those that no row has.

        Refuses values that the ladder lacks, unless these may be `lacking`: then they go up it, as
        in `apply`, and only values that occur are leaves. Where any is missing, the last leaf is
        the missing value.
        """
        if not lacking:
            self.check(values)
        cells = _cells(values)
        if isinstance(self.form, ValueGroups) and not lacking:
            cells, leaves, labels = self.form.tree(cells)
        else:
            leaves = cells.unique().sort(nulls_last=True)
            labels = [self._climb(leaves, level) for level in range(1, self.top)]
        bottom = np.arange(leaves.len(), dtype=np.int32)
        groups = (bottom, *map(_numbered, labels), np.zeros_like(bottom))
        return Leaves(_places(cells, leaves), Hierarchy(groups))

    def bounds(self, labels: pl.Series, level: int) -> pl.DataFrame:
        """The bounds of each label at a level: ``lower`` belongs to it, ``upper`` no longer does.

        Null where there is none: open intervals, missing cells, labels that are no range.
        """
        self._check_level(level)
        known = bare(labels).unique()
        ends = [self._bounds_of(label, level) for label in known]
        lower, upper = ([each[end] for each in ends] for end in (0, 1))
        kind = _kind_of([*lower, *upper])
        found = pl.DataFrame({"cell": known, "lower": lower, "upper": upper}, schema_overrides=kind)
        return _joined(bare(labels), found).select("lower", "upper")

    def words(self, level: int) -> str:
        """How to read the column at a level, in words for people.

        >>> Ladder.from_dict("zip", {"keep": [3, 2]}).words(2)
        'the first 2 characters, with a star for each of the others'
        """
        self._check_level(level)
        ends = {0: "the values as they are", self.top: "nothing"}
        return ends.get(level) or self.form.words(level)

    def check(self, values: pl.Series) -> None:
        """Refuse a column with values that no level below ``*`` covers."""
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
        """The label of each value at the first level, from the given one on, that covers it."""
        labels = self._labels(values, level)
        for higher in range(level + 1, self.top):
            if labels.null_count() == values.null_count():
                break
            labels = labels.zip_with(labels.is_not_null(), self._labels(values, higher))
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
        found = (self.form.bounds(label, step) for step in range(level, self.top))
        return next((bounds for bounds in found if bounds is not None), (None, None))

    def _check_level(self, level: int) -> None:
        if not 0 <= level <= self.top:
            raise InputError(
                f"the ladder of column {self.column!r} has levels 0 to {self.top}, got {level}"
            )


def _cells(values: pl.Series) -> pl.Series:
    """The values without their name, and categories as the texts that they are."""
    cells = bare(values)
    return plain_text(cells) if isinstance(cells.dtype, pl.Categorical | pl.Enum) else cells


def _numbered(labels: pl.Series) -> NDArray[np.int32]:
    """Numbers from 0 in order of appearance; what is missing has a number of its own."""
    return _places(labels, labels.unique(maintain_order=True))


def _places(cells: pl.Series, known: pl.Series) -> NDArray[np.int32]:
    """The place of each cell among those known; a missing one is known too."""
    numbered = pl.DataFrame({"cell": known}).with_row_index("place")
    return _joined(cells, numbered).get_column("place").to_numpy().astype(np.int32)


def _joined(cells: pl.Series, known: pl.DataFrame) -> pl.DataFrame:
    rows = pl.DataFrame({"cell": cells})
    return rows.join(known, on="cell", how="left", maintain_order="left", nulls_equal=True)


def _kind_of(ends: list[Any]) -> dict[str, Any]:
    numbers = all(end is None or isinstance(end, float) for end in ends)
    return dict.fromkeys(("lower", "upper"), pl.Float64 if numbers else pl.Date)
