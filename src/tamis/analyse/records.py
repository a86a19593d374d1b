"""Records as plain values, and as recipients may read them.

A report is made of frozen records. The holder's page and ``private/summary.json`` show them as they
are. Recipients get what a record's `for_recipient` returns; a record without that method, in a
field that is not `SHARED`, is for the holder only.

Here are also the records that are added to an analysis once the rows are written: the measured
promises, the recipe, the privacy budget.
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
    """A copy of a nested record with `change` applied, from the outside in.

    A part that `change` changes is not searched any further.

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
    """A copy of nested records with all floats rounded to hundredths.

    An exact share reveals its denominator, and so how many rows were suppressed.

    >>> in_hundredths({"share": Figure(0.7656, 0.6999, 0.81), "rows": 12})
    {'share': Figure(value=0.77, low=0.7, high=0.81), 'rows': 12}
    """
    return rebuilt(value, _in_hundredths)


def _in_hundredths(part: Any) -> Any:
    return round(part, 2) if isinstance(part, float) else part


def as_supported(value: Any) -> Any:
    """A copy of nested records with figures rounded to what their intervals support.

    Further digits say nothing of how good a release is, but would let an attacker confirm a guess
    of how it was measured. A figure and both ends of its interval are rounded alike, to between a
    half and a twentieth of half its width; a figure without an interval to hundredths.

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
"""Metadata of a field that recipients read as it is."""


def for_recipient(record: Any) -> Any:
    """A record with the parts that recipients may read; all others are `None` or empty."""
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
    """A promise of the release. Recipients see it: it names no column that was held back."""

    key: str
    """Its key in the manifest: "k_anonymity"."""
    claim: str
    """In plain words: "Everybody shares all released values with at least 4 others."."""
    measured: str
    """What was measured on the written file, in a few words: "the smallest group has 7"."""
    value: float
    limit: float | None
    """The value asked for, if any."""


@dataclass(frozen=True, kw_only=True)
class ThreatFacts:
    """A named attacker and the smallest class that is left. Recipients see it."""

    name: str
    """Empty for the default attacker, who knows the quasi-identifiers."""
    knows: tuple[str, ...]
    """Released columns that this attacker may know."""
    alike: int
    """People in the smallest class by these columns."""
    asked: int
    """The k asked for against this attacker."""


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
"""The recipe before the rows are written."""


@dataclass(frozen=True, kw_only=True)
class BudgetFacts:
    """The privacy budget that drawing the rows has used."""

    epsilon: float
    delta: float
    claim: str
    """What that means, in one sentence."""
    spent: str
    """What it was spent on, in a few words."""
