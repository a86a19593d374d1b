"""Ladders over nominal values: groups of values, common values, prefixes of codes."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, time
from typing import Any, ClassVar, Self

import polars as pl

from tamis.coarsen.intervals import Bounds, as_levels, only_words
from tamis.errors import InputError, plural
from tamis.table_file import MOMENT

OTHER = "other"
"""The default label of values that have no group of their own."""


@dataclass(frozen=True)
class ValueGroups:
    """Groups of listed values; each line has a value and then its group at each level.

    >>> jobs = ValueGroups((("cook", "manual"), ("judge", "office")), unlisted="other")
    >>> jobs.labels(pl.Series(["judge", "falconer"]), 1).to_list()
    ['office', 'other']
    """

    noun: ClassVar[str] = "group"
    has_groups: ClassVar[bool] = True
    lines: tuple[tuple[str, ...], ...]
    unlisted: str | None = None
    """The group of values without a line; `None` if there must not be any."""

    def __post_init__(self) -> None:
        if not self.lines:
            raise InputError("there is no value in it")
        times = Counter(line[0] for line in self.lines)
        if twice := sum(count > 1 for count in times.values()):
            raise InputError(f"{plural(twice, 'value')} {_have(twice)} more than one line")
        width = len(self.lines[0]) - 1
        other = () if self.unlisted is None else (("", *[self.unlisted] * width),)
        levels = list(zip(*self.lines, *other))
        for number, (finer, coarser) in enumerate(itertools.pairwise(levels[1:]), start=2):
            _check_groups(number, finer, coarser)

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> Self:
        unlisted = unlisted_label(description)
        if "values" in description:
            only_words(description, ("values", "unlisted"))
            values = description["values"]
            if not isinstance(values, list | tuple):
                raise InputError("values must be a list of values")
            return cls(tuple((_value_text(value),) for value in values), unlisted)
        only_words(description, ("groups", "unlisted"))
        given = description["groups"]
        levels = given if isinstance(given, list | tuple) and given else [given]
        return cls(_lines([_members(level) for level in levels], unlisted), unlisted)

    def to_dict(self) -> dict[str, Any]:
        levels: list[dict[str, list[str]]] = []
        for step in range(1, self.steps + 1):
            pairs = dict.fromkeys((line[step], line[step - 1]) for line in self.lines)
            level: dict[str, list[str]] = {}
            for label, member in pairs:
                level.setdefault(label, []).append(member)
            levels.append(level)
        unlisted = {} if self.unlisted is None else {"unlisted": self.unlisted}
        groups = {"groups": levels} if levels else {"values": [line[0] for line in self.lines]}
        return {**groups, **unlisted}

    @property
    def steps(self) -> int:
        return len(self.lines[0]) - 1

    def words(self, step: int) -> str:
        rest = "" if self.unlisted is None else f"; values that none lists are {self.unlisted!r}"
        return f"groups of values{rest}"

    def leaves(self, dtype: pl.DataType) -> pl.Series:
        """The listed values, written as `plain_text` writes a column of that type."""
        leaves = listed_text([line[0] for line in self.lines], dtype)
        if twice := leaves.len() - leaves.n_unique():
            raise InputError(f"{plural(twice, 'number')} {_have(twice)} more than one line")
        return leaves

    def labels(self, values: pl.Series, step: int) -> pl.Series:
        places = [line[step] for line in self.lines]
        known = pl.DataFrame({"text": self.leaves(values.dtype), "label": places})
        rows = pl.DataFrame({"text": plain_text(values)})
        joined = rows.join(known, on="text", how="left", maintain_order="left")
        labels = joined.get_column("label")
        if self.unlisted is not None:
            labels = labels.set(labels.is_null() & values.is_not_null(), self.unlisted)
        return labels

    def lacks(self, values: pl.Series) -> pl.Series:
        """Which values have no group: no line, and no group of unlisted values."""
        listed = plain_text(values).is_in(self.leaves(values.dtype).implode())
        return ~listed & (self.unlisted is None)

    def tree(self, values: pl.Series) -> tuple[pl.Series, pl.Series, list[pl.Series]]:
        """The values as texts, all leaves, and the label of each leaf at each step.

        Every line is a leaf, whether a row has its value or not; then come the values without a
        line, and missing comes last.
        """
        cells, listed = plain_text(values), self.leaves(values.dtype)
        present = cells.unique().sort(nulls_last=True)
        others = present.filter(present.is_null() | ~present.is_in(listed.implode()))
        outside = pl.repeat(self.unlisted, others.len(), dtype=pl.String, eager=True)
        outside = outside.set(others.is_null(), None)
        steps = [pl.Series([line[s] for line in self.lines]) for s in range(1, self.steps + 1)]
        return cells, pl.concat([listed, others]), [pl.concat([s, outside]) for s in steps]

    def bounds(self, label: str, step: int) -> Bounds | None:
        return None


@dataclass(frozen=True)
class CommonValues:
    """The values that keep their name, one list per level; all others become "other".

    Rare values are not named, so a published description of the ladder does not reveal them.
    Without any list, there is no level between the exact values and ``*``.

    >>> jobs = CommonValues((("cook", "judge"), ("cook",)))
    >>> jobs.labels(pl.Series(["judge", "bard"]), 1).to_list()
    ['judge', 'other']
    """

    noun: ClassVar[str] = "group"
    has_groups: ClassVar[bool] = True
    kept: tuple[tuple[str, ...], ...]
    other: str = OTHER

    def __post_init__(self) -> None:
        for number, (finer, coarser) in enumerate(itertools.pairwise(map(set, self.kept)), start=2):
            if new := len(coarser - finer):
                wrong = "is finer than" if coarser > finer else "does not nest in"
                raise InputError(
                    f"level {number} {wrong} the one before: {plural(new, 'value')} of it "
                    f"{_have(new)} no place there"
                )

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> Self:
        only_words(description, ("common", "other"))
        given = description["common"]
        levels = [] if given == [] else as_levels(given, "common")
        other = description.get("other", OTHER)
        if not isinstance(other, str) or not other:
            raise InputError('other must be a text, such as "other"')
        return cls(tuple(tuple(map(_value_text, level)) for level in levels), other)

    def to_dict(self) -> dict[str, Any]:
        other = {} if self.other == OTHER else {"other": self.other}
        return {"common": [list(level) for level in self.kept], **other}

    @property
    def steps(self) -> int:
        return len(self.kept)

    def words(self, step: int) -> str:
        return f"the common values; all others are {self.other!r}"

    def labels(self, values: pl.Series, step: int) -> pl.Series:
        texts = plain_text(values)
        common = texts.is_in(listed_text(self.kept[step - 1], values.dtype).implode())
        return texts.set(~common & values.is_not_null(), self.other)

    def bounds(self, label: str, step: int) -> Bounds | None:
        return None


@dataclass(frozen=True)
class Prefixes:
    """The first characters of codes, one number per level; a star replaces each of the others.

    >>> Prefixes((3, 2)).labels(pl.Series(["01000", "75011"]), 2).to_list()
    ['01***', '75***']
    """

    noun: ClassVar[str] = "group"
    has_groups: ClassVar[bool] = False
    keep: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.keep or any(number < 1 for number in self.keep):
            raise InputError("keep must list how many characters to keep, each at least 1")
        for number, (finer, coarser) in enumerate(itertools.pairwise(self.keep), start=2):
            if coarser > finer:
                raise InputError(f"level {number} is finer than the one before; keep must fall")

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> Self:
        only_words(description, ("keep",))
        given = description["keep"]
        numbers = given if isinstance(given, list | tuple) else [given]
        if not all(isinstance(n, int) and not isinstance(n, bool) for n in numbers):
            raise InputError("keep must be whole numbers, such as [5, 3, 2]")
        return cls(tuple(numbers))

    def to_dict(self) -> dict[str, Any]:
        return {"keep": list(self.keep)}

    @property
    def steps(self) -> int:
        return len(self.keep)

    def words(self, step: int) -> str:
        kept = plural(self.keep[step - 1], "character")
        return f"the first {kept}, with a star for each of the others"

    def labels(self, values: pl.Series, step: int) -> pl.Series:
        kept = self.keep[step - 1]
        texts = plain_text(values)
        starts, gone = texts.str.slice(0, kept), texts.str.slice(kept)
        return starts + gone.str.replace_all(r"(?s).", "*")

    def bounds(self, label: str, step: int) -> Bounds | None:
        return None


def unlisted_label(description: Mapping[str, Any]) -> str | None:
    """The label of unlisted values, if the description has one."""
    label = description.get("unlisted")
    if label is not None and not (isinstance(label, str) and label):
        raise InputError('unlisted must be a text, such as "other"')
    return label


def plain_text(values: pl.Series) -> pl.Series:
    """Values as texts; a whole number reads the same as integer and as float.

    >>> plain_text(pl.Series([1.0, 2.5])).to_list()
    ['1', '2.5']
    """
    if values.dtype == pl.Datetime:
        return values.dt.strftime(MOMENT)
    texts = values.cast(pl.String)
    return texts.str.strip_suffix(".0") if values.dtype.is_float() else texts


def listed_text(texts: Sequence[str], dtype: pl.DataType) -> pl.Series:
    """Listed values as `plain_text` writes those of a column; for numbers, 17.0 becomes 17.

    >>> listed_text(["17.0", "18", "?"], pl.Int64()).to_list()
    ['17', '18', '?']
    """
    listed = pl.Series(texts, dtype=pl.String)
    if not dtype.is_numeric():
        return listed
    trimmed = listed.str.strip_chars()
    if dtype.is_integer():
        return trimmed.str.replace(r"^(-?\d+)\.0*$", "$1")
    numbers = plain_text(trimmed.cast(pl.Float64, strict=False))
    return numbers.zip_with(numbers.is_not_null(), trimmed)


def _members(level: Any) -> dict[str, list[str]]:
    if not isinstance(level, Mapping) or not level:
        raise InputError('groups must be tables of lists, such as { manual = ["cook", "builder"] }')
    for label, members in level.items():
        if not label or not isinstance(members, list | tuple) or not members:
            raise InputError("each group needs a name and a list of values")
    return {label: [_value_text(member) for member in members] for label, members in level.items()}


def _value_text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float | date | time):
        return str(value).removesuffix(".0") if isinstance(value, float) else str(value)
    raise InputError("a value must be a text, a number or a date")


def _lines(levels: list[dict[str, list[str]]], unlisted: str | None) -> tuple[tuple[str, ...], ...]:
    """A line for each value, from the members of each level's groups: values, then groups."""
    lines: list[tuple[str, ...]]
    lines = [(member, label) for label, members in levels[0].items() for member in members]
    for number, level in enumerate(levels[1:], start=2):
        place = {member: label for label, members in level.items() for member in members}
        if twice := sum(map(len, level.values())) - len(place):
            raise InputError(
                f"level {number} does not nest: {plural(twice, 'group')} of the level before "
                f"{_have(twice)} more than one place"
            )
        if lost := len({line[-1] for line in lines} - set(place)) * (unlisted is None):
            raise InputError(
                f"level {number} does not place {plural(lost, 'group')} of the level before; "
                'add them, or set unlisted = "other"'
            )
        lines = [(*line, place.get(line[-1], unlisted or OTHER)) for line in lines]
    return tuple(lines)


def _check_groups(number: int, finer: Sequence[Any], coarser: Sequence[Any]) -> None:
    pairs = set(zip(finer, coarser))
    if split := len(pairs) - len(set(finer)):
        is_finer = len(pairs) == len(set(coarser))
        raise InputError(
            f"level {number} {'is finer than' if is_finer else 'does not nest in'} the one before: "
            f"groups of level {number - 1} are split {plural(split, 'time')}"
        )


def _have(count: int) -> str:
    return "has" if count == 1 else "have"


FORMS: dict[str, type[Any]] = {
    "keep": Prefixes,
    "common": CommonValues,
    "groups": ValueGroups,
    "values": ValueGroups,
}
"""Each form by the key of a description that selects it."""
