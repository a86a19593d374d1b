"""The problem that methods are given, and what a method is."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from tamis.binary.records import BinaryTable, Cut, binarise, from_wide, is_binary
from tamis.catalogue.methods import MethodRecord
from tamis.coarsen.ladder import Ladder
from tamis.coding import Coded, CodedFrame, joined
from tamis.evaluate.yardstick import Yardstick
from tamis.learn.holdout import HoldOut
from tamis.perturb import SECRET_BITS, random_source, secret_source
from tamis.release import Release
from tamis.require.base import Requirements
from tamis.require.containment import ContainmentAnonymity
from tamis.require.k import KAnonymity
from tamis.risk.diversity import count_groups
from tamis.risk.grouping import Grouping
from tamis.risk.suppression import AlikeRows, Suppression
from tamis.table import Table


@dataclass(frozen=True, eq=False)
class Problem:
    """A table to release, and the conditions."""

    table: Table
    split: HoldOut
    """The rows that a search may look at, and the rest."""
    k: int
    """The anonymity that every release must have."""
    classifier: Any
    """What a recipient would train: a scikit-learn classifier."""
    binary: Mapping[str, Cut] | None = None
    """How to convert columns of the table to 0/1; `None`: by its values."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """Of `performance`, `privacy` and `size` in the choice."""
    random_state: int = 0
    secret: str | None = field(default=None, repr=False)
    """What alterations are drawn from, `random_state` is for all other draws; `None`: anew."""
    epsilon: float | None = None
    """What drawing rows with differential privacy may cost."""
    yardstick: Yardstick | None = None
    """What columns keep and tell, for a search by it."""
    caution: float = 1.0
    """What told weighs against kept."""
    ladders: Mapping[str, Ladder] = field(default_factory=dict)
    """Coarser forms that people wrote, by column."""
    requirements: Requirements = field(default_factory=Requirements)
    """What is required of groups of people alike, besides k of them."""
    beside: Coded | None = None
    """Classes of people alike in what earlier releases told; k holds over both."""
    suppression: Suppression | None = None
    """A few people who may be left out; `None`: nobody."""
    absences: int = 0
    """How many things that a person lacks attackers may know, in 0/1 columns."""
    only_containment: bool = False
    """Whether the holder asked for releases by containment and for no others."""
    codes: CodedFrame | None = None
    """The columns of the table as codes, where somebody has them; `None`: they are made here."""
    fronts: dict[int | None, Any] = field(default_factory=dict, repr=False)
    """Searches of whole columns that were run, by their budget: see `searched_front`."""

    def secret_draws(self, release: str) -> np.random.Generator:
        """Draws for the release of that name, a stream of its own that the secret determines."""
        if self.secret is None:
            return random_source(None)
        own = hashlib.sha256(f"{self.secret} {release}".encode()).digest()
        return secret_source(int.from_bytes(own[: SECRET_BITS // 8]))

    @cached_property
    def coded(self) -> CodedFrame:
        """The columns of the table as codes, each made once for all methods."""
        return CodedFrame(self.table.frame) if self.codes is None else self.codes

    @cached_property
    def alike(self) -> AlikeRows[str]:
        """Rows alike in what attackers may know, where these need only be counted."""
        known = {name: self.coded[name] for name in self.table.quasi}
        return AlikeRows(known, self.k, self.most_suppressed)

    def kept(self, classes: Coded) -> bool:
        """Whether classes of rows, equal in what attackers may know, keep what is required.

        A few may be left out for that, where `suppression` says so.
        """
        if self.suppression is not None:
            return self.suppression.allows(classes)
        if self.beside is not None:
            classes = joined(classes, self.beside)
        secret = self.table.frame[self.table.sensitive or self.table.target]
        counts = count_groups(Grouping.of_classes(classes, self.table.people), secret)
        return int(counts.people.min()) >= self.k and self.requirements.monotone.met(counts)

    @property
    def only_k(self) -> bool:
        """Whether rows alike need only be counted: each is a person, and nothing else is asked."""
        plain = self.table.people.each_row and self.beside is None
        return plain and not self.requirements.beyond_k

    @property
    def most_suppressed(self) -> int:
        """The most people who may be left out."""
        return 0 if self.suppression is None else self.suppression.most

    def trimmed(self, release: Release) -> Release:
        """A release without the few rows that keep it from what is required."""
        return release if self.suppression is None else self.suppression.trimmed(release)

    @cached_property
    def is_binary(self) -> bool:
        """Whether all features are 0 and 1."""
        return is_binary(self.table)

    @property
    def by_containment(self) -> bool:
        """Whether it is enough that k people have whatever anybody has.

        So it is in 0/1 records, and where the holder asks for nothing else. Whoever names columns
        has an attacker in mind who looks them up, and who thus knows the zeros, too: then k people
        must be alike in what a release shows of these columns.
        """
        return self.table.roles.quasi is None and (self.is_binary or self.only_containment)

    @property
    def too_few(self) -> str | None:
        """Why k cannot be met whatever is released; `None` where there are enough people."""
        if self.table.everybody >= self.k:
            return None
        return f"The table has {self.table.everybody} {self.table.unit}, fewer than k = {self.k}."

    def promises(self, features: Sequence[str]) -> tuple[KAnonymity, ...]:
        """What must hold for a release of some unaltered features.

        Where people hide by containment, whatever anybody has, k people have; else k people are
        alike in what an attacker may know.
        """
        if self.is_binary and self.by_containment:
            return (ContainmentAnonymity(self.k, self.absences, columns=tuple(features)),)
        known = tuple(c for c in self.table.quasi if c in set(features))
        return (KAnonymity(self.k, columns=known),)


def as_records(table: Table, binary: Mapping[str, Cut] | None, k: int) -> BinaryTable:
    """The table as 0/1 records: as it is where all features are 0 and 1, or else converted."""
    if binary is None and is_binary(table):
        return from_wide(table)
    return binarise(table, binary, k=k)


class Method(ABC):
    """A way to propose releases: a frozen record of its settings, which checks them."""

    about: ClassVar[MethodRecord]
    """What is known of it without running it."""

    @property
    def name(self) -> str:
        return self.about.name

    @abstractmethod
    def applies(self, problem: Problem) -> str | None:
        """Why it does not apply to the table; `None` where it does."""

    @abstractmethod
    def propose(self, problem: Problem) -> list[Release]: ...
