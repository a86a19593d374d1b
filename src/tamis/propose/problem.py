"""The problem that methods solve, the base class of methods, and the names of releases."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import polars as pl

from tamis.binary.records import BinaryTable, Cut, binarise, from_wide, is_binary
from tamis.catalogue.methods import MethodRecord
from tamis.coarsen.intervals import Multiples
from tamis.coarsen.ladder import Ladder, form_class
from tamis.coding import Coded, CodedFrame
from tamis.errors import plural
from tamis.evaluate.bits_scorer import BitsScorer
from tamis.learn.holdout import HoldOut
from tamis.perturb import drawn_for
from tamis.release import Release
from tamis.require.base import Requirements
from tamis.require.k import ContainmentAnonymity, KAnonymity
from tamis.risk.attackers import Known, are_kept
from tamis.risk.suppression import AlikeRows, Suppression
from tamis.table import Table


@dataclass(frozen=True, eq=False)
class Problem:
    """A table to release and the conditions that releases must meet."""

    table: Table
    split: HoldOut
    """The rows that a search may see, and the held-out ones."""
    k: int
    """The k that every release must have; of several attackers, the largest one."""
    classifier: Any
    """The scikit-learn classifier that a recipient would train."""
    binary: Mapping[str, Cut] | None = None
    """How to convert columns of the table to 0/1; `None`: by their values."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """Weights of `performance`, `privacy` and `size` in the choice."""
    random_state: int = 0
    secret: str | None = field(default=None, repr=False)
    """Seed of alterations; `random_state` is for all other draws. `None`: a fresh one."""
    epsilon: float | None = None
    """Privacy budget for synthetic rows."""
    yardstick: BitsScorer | None = None
    """Scorer of kept and told, for searches by these."""
    caution: float = 1.0
    """Weight of told against kept."""
    ladders: Mapping[str, Ladder] = field(default_factory=dict)
    """The holder's ladders, by column."""
    requirements: Requirements = field(default_factory=Requirements)
    """What groups must meet, for each attacker."""
    beside: Coded | None = None
    """Equivalence classes by what earlier releases told; k holds over both together."""
    suppression: Suppression | None = None
    """How many people may be suppressed, and how they are selected; `None`: nobody."""
    absences: int = 0
    """How many of the things that a person lacks attackers may know, in 0/1 columns."""
    only_containment: bool = False
    """Whether the holder asked for releases by containment and for no others."""
    most_columns: int | None = None
    """The holder's limit on columns: the best sets within it are proposed, too."""
    most_pbi: float | None = None
    """The holder's limit on breach increase, likewise."""
    codes: CodedFrame | None = None
    """The columns of the table as codes, if the caller has them."""
    fronts: dict[int | None, Any] = field(default_factory=dict, repr=False)
    """Cached searches of whole columns, by budget, see `searched_front`."""

    def secret_draws(self, release: str) -> np.random.Generator:
        """The random stream of the release of that name, determined by the secret seed."""
        return drawn_for(self.secret, release)

    @cached_property
    def coded(self) -> CodedFrame:
        """The columns of the table as codes, shared by all methods."""
        return CodedFrame(self.table.frame) if self.codes is None else self.codes

    @cached_property
    def views(self) -> tuple[tuple[tuple[str, ...], int], ...]:
        """The columns that each attacker may know, and the k required in them."""
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
        """Whether some columns keep k for every attacker; only where `only_k`."""
        return all(
            rows.keep([name for name in names if name in known])
            for rows, (known, _) in zip(self._alike, self.views)
        )

    def keeps(self, known: Known) -> bool:
        """Whether coded columns, under the names that attackers know them by, meet requirements.

        If there is `suppression`, a few people may be suppressed to meet them.
        """
        if self.suppression is not None:
            return self.suppression.allows(known)
        asked, table = self.requirements.monotone, self.table
        if not asked.of_sizes:
            asked = Requirements((KAnonymity(self.k), *asked))
        return are_kept(asked, known, table.people, table.frame, self.beside)

    @property
    def only_k(self) -> bool:
        """Whether counting equal rows is enough: each row is a person and only k is required.

        Not with suppression for several attackers: a row suppressed because of one of them is gone
        for all, which changes the counts of the others.
        """
        plain = self.table.people.each_row and self.beside is None
        plain = plain and not (self.requirements.several and self.suppression is not None)
        return plain and not self.requirements.beyond_k

    @property
    def most_suppressed(self) -> int:
        """The most people who may be suppressed."""
        return 0 if self.suppression is None else self.suppression.most

    def trimmed(self, release: Release) -> Release:
        """A release without the few rows that break a requirement."""
        return release if self.suppression is None else self.suppression.trimmed(release)

    @cached_property
    def is_binary(self) -> bool:
        """Whether all features are 0 and 1."""
        return is_binary(self.table)

    @property
    def by_containment(self) -> bool:
        """Whether containment anonymity is enough: k people have whatever one person has.

        It is for 0/1 records, and where the holder asks for nothing else. A holder who names
        quasi-identifiers has an attacker in mind who looks people up and so knows the zeros, too:
        then k people must be equal in these columns.
        """
        whole = self.table.people.together  # equality is then by all rows of a person
        named = self.table.roles.quasi is not None or whole
        return not named and (self.is_binary or self.only_containment)

    @property
    def too_few(self) -> str | None:
        """Why no release at all can meet k; `None` if there are enough people."""
        if self.table.everybody >= self.k:
            return None
        return f"The table has {self.table.everybody} {self.table.unit}, fewer than k = {self.k}."

    def promising(self, release: Release) -> Release:
        """A release with the promises required of every release of real rows, besides its own.

        They are added here, so that no method can forget them.
        """
        if release.is_drawn:
            return release
        own = release.promises
        asked = [each for each in self._asked_of(release) if not any(_covers(p, each) for p in own)]
        return replace(release, promises=(*asked, *own)) if asked else release

    def _asked_of(self, release: Release) -> tuple[KAnonymity, ...]:
        """The promises required of a release.

        Containment anonymity where that is enough, else k-anonymity in each attacker's columns.
        """
        if self.by_containment and is_binary(release.table):
            return (ContainmentAnonymity(self.k, self.absences, columns=release.features),)
        linked = self.table.people.together
        asked = [KAnonymity(self.k, columns=self.table.quasi, linked=linked)]
        if self.requirements.several:
            asked = [each for each in self.requirements if isinstance(each, KAnonymity)]
        return tuple(
            replace(each, columns=tuple(c for c in release.features if release.source(c) in known))
            for each, known in ((each, set(each.columns)) for each in asked)
        )


def _covers(own: KAnonymity, asked: KAnonymity) -> bool:
    """Whether a promise implies another.

    Equal people have what each of them has, so k-anonymity implies containment anonymity.
    """
    if isinstance(own, ContainmentAnonymity):
        same = isinstance(asked, ContainmentAnonymity) and own.absences >= asked.absences
    else:
        same = own.linked == asked.linked
    same = same and own.attacker == asked.attacker
    return same and own.k >= asked.k and {*own.columns} >= {*asked.columns}


def as_records(table: Table, binary: Mapping[str, Cut] | None, k: int) -> BinaryTable:
    """The table as 0/1 records: converted, unless all its features are 0/1 already."""
    if binary is None and is_binary(table):
        return from_wide(table)
    return binarise(table, binary, k=k)


class Method(ABC):
    """A way to propose releases: a frozen record of its settings, which checks them."""

    about: ClassVar[MethodRecord]
    """Its description in the catalogue."""

    @property
    def name(self) -> str:
        return self.about.name

    @abstractmethod
    def applies(self, problem: Problem) -> str | None:
        """Why it does not apply to the table; `None` if it does."""

    @abstractmethod
    def propose(self, problem: Problem) -> list[Release]: ...

    def refine(self, problem: Problem, releases: Collection[Release]) -> list[Release]:
        """Further releases to propose, given what all methods have proposed."""
        return []


MOST_NAMED = 4
"""Most differences to list in a name."""


def form_words(release: Release, column: str) -> str:
    """The form of a column of the original: `8 bands`, `8 groups`, `as it is` or `held back`.

    For a column that became yes/no columns, their number; of synthetic rows every column is drawn.
    """
    if made := [c for c in release.features if release.sources.get(c) == column]:
        return f"{len(made):,} yes/no {'column' if len(made) == 1 else 'columns'}"
    if column not in release.features:
        return "held back"
    form = release.forms.get(column)
    if form is None:
        return "drawn" if release.is_drawn else "as it is"
    if Multiples.word in form.ladder:
        return Multiples.from_dict(form.ladder).short(form.level)
    values = release.table.frame.get_column(column).drop_nulls().n_unique()
    noun = form_class(form.ladder).noun
    return f"{values:,} {noun}" if values == 1 else f"{values:,} {noun}s"


def named_with_forms(release: Release) -> list[str]:
    """The columns of a release with their forms: `age in 8 bands`, `pay in steps of 10`."""
    names = []
    for column in release.features:
        words = form_words(release, column) if column in release.forms else ""
        joined = words if words.startswith("in ") else f"in {words}"
        names.append(f"{column} {joined}" if words else column)
    return names


def columns_of(release: Release) -> list[str]:
    """The original's columns behind a release's columns, in the order of the release."""
    return list(dict.fromkeys(release.sources.get(c, c) for c in release.features))


def what_differs(release: Release, others: Collection[Release]) -> list[str]:
    """The columns whose form differs between releases, with the form in this one.

    Released columns come first; those held back are listed together at the end.
    """
    names = list(dict.fromkeys(c for each in (release, *others) for c in columns_of(each)))
    differing = [c for c in names if len({_key(each, c) for each in (release, *others)}) > 1]
    there = [f"{c}: {form_words(release, c)}" for c in differing if c in columns_of(release)]
    gone = [c for c in differing if c not in columns_of(release)]
    return [*there, *([f"without {', '.join(gone)}"] if gone else [])]


def differences(releases: Sequence[Release]) -> dict[str, str]:
    """How each release differs from the others, in words, by name."""
    return {each.name: "; ".join(what_differs(each, releases)) for each in releases}


def _key(release: Release, column: str) -> str:
    """Key that is equal if two releases have a column in the same form."""
    if made := [c for c in release.features if release.sources.get(c) == column]:
        return " ".join(sorted(made))
    if column not in release.features:
        return ""
    form = release.forms.get(column)
    return form_words(release, column) if form is None else form.key


def form_name(release: Release) -> str:
    """The name of a release by its columns and forms: `birth (8 bands) + sex`."""
    return set_name(
        [
            f"{c} ({form_words(release, c)})" if c in release.forms else c
            for c in release.table.features
        ]
    )


def set_name(features: Sequence[str]) -> str:
    """A short name for a set of columns.

    >>> set_name(["a", "b"]), set_name(["a", "b", "c", "d", "e", "f"])
    ('a + b', 'a + b + c + 3 more')
    """
    if len(features) <= 4:
        return " + ".join(features)
    return " + ".join([*features[:3], f"{len(features) - 3} more"])


def name_once(releases: Iterable[Release]) -> Iterator[Release]:
    """Releases with unique names: equal names get what differs appended, or a number."""
    releases = list(releases)
    taken: set[str] = set()
    for release in releases:
        alike = [each for each in releases if each.name == release.name]
        name = release.name
        if len(alike) > 1 and (parts := _told_apart(release, alike)):
            more = f" and {len(parts) - MOST_NAMED} more" if len(parts) > MOST_NAMED else ""
            name = f"{name} ({'; '.join(parts[:MOST_NAMED])}{more})"
        base, number = name, 2
        while name in taken:
            name, number = f"{base} ({number})", number + 1
        taken.add(name)
        yield replace(release, name=name)


def _told_apart(release: Release, others: Collection[Release]) -> list[str]:
    """What tells a release apart from others of the same name.

    Its columns and forms; if these agree in words, a value that the others lack; if the values
    agree too, in how many rows a value occurs.
    """
    parts = what_differs(release, others)
    if [what_differs(each, others) for each in others].count(parts) == 1:
        return parts
    for column in release.forms:
        theirs = {v for each in others if each is not release for v in _values(each, column)}
        if own := [value for value in _values(release, column) if value not in theirs]:
            return [f"{column}: {own[0]}, ..."]
    rows = _rows_apart(release, others)
    return rows if [_rows_apart(each, others) for each in others].count(rows) == 1 else parts


def _rows_apart(release: Release, others: Collection[Release]) -> list[str]:
    """For each column, the first value whose number of rows differs between releases.

    >>> from tamis.release import Recipe, released
    >>> from tamis.table import Roles, Table
    >>> def one(jobs):
    ...     frame = pl.DataFrame({"job": jobs, "ill": [0, 1, 1]})
    ...     return released(Table(frame, Roles(target="ill")), ["job"], "", Recipe("hand"))
    >>> both = one(["cook", "cook", "bard"]), one(["cook", "bard", "bard"])
    >>> _rows_apart(both[0], both), _rows_apart(both[1], both)
    (['job: bard in 1 row'], ['job: bard in 2 rows'])
    """
    apart = []
    for column in release.features:
        each = [_values(other, column) for other in others]
        mine = _values(release, column)
        if differing := [v for v in mine if len({other.get(v) for other in each}) > 1]:
            apart.append(f"{column}: {differing[0]} in {plural(mine[differing[0]], 'row')}")
    return apart


def _values(release: Release, column: str) -> dict[str, int]:
    """The values of a column with their numbers of rows, in alphabetical order."""
    if column not in release.features:
        return {}
    cells = release.table.frame.get_column(column).cast(pl.String).drop_nulls()
    return dict(sorted(cells.value_counts(name="n").iter_rows()))
