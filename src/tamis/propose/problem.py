"""The problem that methods are given, and what a method is."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from tamis.binary.records import BinaryTable, Cut, binarise, from_wide, is_binary
from tamis.catalogue.methods import MethodRecord
from tamis.coarsen.ladder import Ladder
from tamis.coding import Coded, CodedFrame
from tamis.evaluate.bits_scorer import BitsScorer
from tamis.learn.holdout import HoldOut
from tamis.perturb import SECRET_BITS, random_source, secret_source
from tamis.release import Release
from tamis.require.base import Requirements
from tamis.require.containment import ContainmentAnonymity
from tamis.require.k import KAnonymity
from tamis.risk.attackers import Known, are_kept
from tamis.risk.suppression import AlikeRows, Suppression
from tamis.table import Table


@dataclass(frozen=True, eq=False)
class Problem:
    """A table to release, and the conditions."""

    table: Table
    split: HoldOut
    """The rows that a search may look at, and the rest."""
    k: int
    """The anonymity that every release must have; of several attackers, what most is asked of."""
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
    yardstick: BitsScorer | None = None
    """What columns keep and tell, for a search by it."""
    caution: float = 1.0
    """What told weighs against kept."""
    ladders: Mapping[str, Ladder] = field(default_factory=dict)
    """Coarser forms that people wrote, by column."""
    requirements: Requirements = field(default_factory=Requirements)
    """What is required of groups of people alike, by each attacker."""
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
    def views(self) -> tuple[tuple[tuple[str, ...], int], ...]:
        """What each attacker may know, and the k that is asked for there."""
        if not self.requirements.several:
            return ((self.table.quasi, self.k),)
        return tuple((known, some.k) for known, some in self.requirements.views.items())

    @cached_property
    def _alike(self) -> list[AlikeRows[str]]:
        return [
            AlikeRows({name: self.coded[name] for name in known}, k, self.most_suppressed)
            for known, k in self.views
        ]

    def keep_alike(self, names: Collection[str]) -> bool:
        """Whether k rows are alike in what attackers see of some columns, where that is all."""
        return all(
            rows.keep([name for name in names if name in known])
            for rows, (known, _) in zip(self._alike, self.views)
        )

    def keeps(self, known: Known) -> bool:
        """Whether columns, under the names by which attackers know them, keep what is required.

        A few people may be left out for that, where `suppression` says so.
        """
        if self.suppression is not None:
            return self.suppression.allows(known)
        asked, table = self.requirements.monotone, self.table
        if not asked.of_sizes:
            asked = Requirements((KAnonymity(self.k), *asked))
        return are_kept(asked, known, table.people, table.frame, self.beside)

    @property
    def only_k(self) -> bool:
        """Whether rows alike need only be counted: each is a person, and nothing else is asked.

        Whom several attackers see among too few is left out for all of them, and so counted anew.
        """
        plain = self.table.people.each_row and self.beside is None
        plain = plain and not (self.requirements.several and self.suppression is not None)
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
        return self.alike_in({name: name for name in features})

    def alike_in(self, made_of: Mapping[str, str]) -> tuple[KAnonymity, ...]:
        """Among how many everybody hides in some features, each made of a column of the table."""
        asked = [KAnonymity(self.k, columns=self.table.quasi)]
        if self.requirements.several:
            asked = [each for each in self.requirements if isinstance(each, KAnonymity)]
        return tuple(
            replace(each, columns=tuple(n for n, column in made_of.items() if column in known))
            for each, known in ((each, set(each.columns)) for each in asked)
        )


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
