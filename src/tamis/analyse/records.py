"""Records as plain values, and as others may read them.

A report is made of frozen records. The holder's page and ``private/summary.json`` show them as they
are. Whoever else reads gets what a record says with `for_recipient`; a record that does not say it,
in a field that is not `SHARED`, is the holder's alone.

Here are also the records that an analysis gains once the rows are written: promises kept, the
recipe, the cost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from math import floor, log10
from typing import Any, Literal, Self

from tamis.evaluate.figure import Figure

Audience = Literal["holder", "recipient"]


def as_plain(value: Any) -> Any:
    """A record, however nested, as texts, numbers, lists and dicts.

    >>> as_plain((Figure(0.5, 0.25, 0.75), Figure(1.0)))
    [{'value': 0.5, 'interval': {'low': 0.25, 'high': 0.75}}, {'value': 1.0, 'interval': None}]
    """
    if isinstance(value, Figure):
        return {"value": value.value, "interval": as_plain(value.interval)}
    if is_dataclass(value):
        if hasattr(value, "to_dict"):
            return value.to_dict()
        return {each.name: as_plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {key: as_plain(part) for key, part in value.items()}
    return [as_plain(part) for part in value] if isinstance(value, list | tuple) else value


def rebuilt(value: Any, change: Callable[[Any], Any]) -> Any:
    """A copy of a record in which every part is changed, the outermost that `change` changes.

    >>> rebuilt({"a": (1, "b")}, lambda part: part + 1 if isinstance(part, int) else part)
    {'a': (2, 'b')}
    """
    if (changed := change(value)) is not value:
        return changed
    if is_dataclass(value) and not isinstance(value, type):
        parts = {each.name: getattr(value, each.name) for each in fields(value)}
        return replace(value, **{name: rebuilt(part, change) for name, part in parts.items()})
    if isinstance(value, dict):
        return {rebuilt(key, change): rebuilt(part, change) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(rebuilt(part, change) for part in value)
    return value


def in_hundredths(value: Any) -> Any:
    """Figures, however nested, no finer than people read them.

    An exact share gives away of how many rows it is, and so how many were left out.

    >>> in_hundredths({"share": Figure(0.7656, 0.6999, 0.81), "rows": 12})
    {'share': Figure(value=0.77, low=0.7, high=0.81), 'rows': 12}
    """
    return rebuilt(value, _in_hundredths)


def _in_hundredths(part: Any) -> Any:
    return round(part, 2) if isinstance(part, float) else part


def as_supported(value: Any) -> Any:
    """Figures for others, however nested, no finer than their intervals support.

    More digits say nothing of how good a release is, but by them whoever guesses how it was
    measured could confirm the guess. A figure and both ends of its interval are rounded alike, to
    between a half and a twentieth of half its width; one without an interval to hundredths.

    >>> as_supported((Figure(0.70667, 0.62938, 0.77364), Figure(0.70667, 0.70123, 0.71234)))
    (Figure(value=0.71, low=0.63, high=0.77), Figure(value=0.707, low=0.701, high=0.712))
    """
    return rebuilt(value, _as_supported)


def _as_supported(part: Any) -> Any:
    ends = part.interval if isinstance(part, Figure) else None
    if ends is None or not ends.high > ends.low:
        return _in_hundredths(part)
    low, high = ends.low, ends.high
    digits = max(0, -floor(log10((high - low) / 4)))
    return Figure(round(part.value, digits), round(low, digits), round(high, digits))


SHARED = {"shared": True}
"""Of a field that recipients read as it is."""


def for_recipient(record: Any) -> Any:
    """A record with the parts that others may read; the rest is nothing of its kind."""
    return replace(record, **{each.name: _for_recipient(record, each) for each in fields(record)})


def _for_recipient(record: Any, each: Any) -> Any:
    value = getattr(record, each.name)
    if each.metadata.get("shared") or value is None:
        return value
    if isinstance(value, tuple):
        seen = (part.for_recipient() for part in value if hasattr(part, "for_recipient"))
        return tuple(part for part in seen if part is not None)
    return value.for_recipient() if hasattr(value, "for_recipient") else None


@dataclass(frozen=True, kw_only=True)
class PromiseFacts:
    """Something that holds for the release. Recipients see it: it names no column held back."""

    key: str
    """As in the manifest: "k_anonymity"."""
    claim: str
    """In plain words: "Everybody shares all released values with at least 4 others."."""
    measured: str
    """What was measured on the written file, in a few words: "the smallest group has 7"."""
    value: float
    limit: float | None
    """What was asked for, where something was."""


@dataclass(frozen=True, kw_only=True)
class ThreatFacts:
    """Who might try, where attackers have names: what is left to each. Recipients see it."""

    name: str
    """Empty for the one who knows the quasi-identifiers."""
    knows: tuple[str, ...]
    """Released columns that this one may know."""
    alike: int
    """People in the smallest group that looks alike to this one."""
    asked: int
    """How many they must be."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One line of a recipe."""

    label: str
    value: str


@dataclass(frozen=True, kw_only=True)
class RecipeFacts:
    """How the release was made."""

    public: tuple[Setting, ...]
    """May be shared: versions, method, public parameters, date, hash of the file."""
    private: tuple[Setting, ...]
    """What only the holder keeps: seed, original file, command to reproduce the same bytes."""

    def for_recipient(self) -> Self:
        return replace(self, private=())


UNKNOWN = RecipeFacts(public=(), private=())
"""Before the rows are written."""


@dataclass(frozen=True, kw_only=True)
class BudgetFacts:
    """What drawing the rows has cost."""

    epsilon: float
    delta: float
    claim: str
    """What that means, in one sentence."""
    spent: str
    """What it was spent on, in a few words."""
