"""What an analysis gains once the rows are written: promises kept, the recipe, the cost."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self


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
