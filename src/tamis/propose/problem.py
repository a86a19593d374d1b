"""The problem that methods are given, what a method is, and how what it proposes is named."""

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
    most_columns: int | None = None
    """The most columns that the holder asked for: the best of so few are proposed, too."""
    most_pbi: float | None = None
    """The largest breach increase that the holder asked for, likewise."""
    codes: CodedFrame | None = None
    """The columns of the table as codes, where somebody has them; `None`: they are made here."""
    fronts: dict[int | None, Any] = field(default_factory=dict, repr=False)
    """Searches of whole columns that were run, by their budget: see `searched_front`."""

    def secret_draws(self, release: str) -> np.random.Generator:
        """Draws for the release of that name, a stream of its own that the secret determines."""
        return drawn_for(self.secret, release)

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
        whole = self.table.people.together  # then people are alike by all of their rows
        named = self.table.roles.quasi is not None or whole
        return not named and (self.is_binary or self.only_containment)

    @property
    def too_few(self) -> str | None:
        """Why k cannot be met whatever is released; `None` where there are enough people."""
        if self.table.everybody >= self.k:
            return None
        return f"The table has {self.table.everybody} {self.table.unit}, fewer than k = {self.k}."

    def promising(self, release: Release) -> Release:
        """A release that promises what is asked of every release of real rows, beside its own.

        No method has to remember that, and none can forget it.
        """
        if release.is_drawn:
            return release
        own = release.promises
        asked = [each for each in self._asked_of(release) if not any(_covers(p, each) for p in own)]
        return replace(release, promises=(*asked, *own)) if asked else release

    def _asked_of(self, release: Release) -> tuple[KAnonymity, ...]:
        """What must hold for a release.

        Where people hide by containment, whatever anybody has, k people have; else k people are
        alike in what each attacker may know.
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
    """Whether a promise leaves everybody at least as many people as another, by its own words.

    Who are alike have what any of them has, so k alike are k by containment as well.
    """
    if isinstance(own, ContainmentAnonymity):
        same = isinstance(asked, ContainmentAnonymity) and own.absences >= asked.absences
    else:
        same = own.linked == asked.linked
    same = same and own.attacker == asked.attacker
    return same and own.k >= asked.k and {*own.columns} >= {*asked.columns}


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

    def refine(self, problem: Problem, releases: Collection[Release]) -> list[Release]:
        """What more to propose, once all methods have proposed `releases`."""
        return []


MOST_NAMED = 4
"""The most differences that a name has room for."""


def form_words(release: Release, column: str) -> str:
    """The form of a column of the original: `8 bands`, `8 groups`, `as it is` or `held back`.

    Where yes/no columns were made of it, how many.
    """
    if made := [c for c in release.features if release.sources.get(c) == column]:
        return f"{len(made):,} yes/no {'column' if len(made) == 1 else 'columns'}"
    if column not in release.features:
        return "held back"
    form = release.forms.get(column)
    if form is None:
        return "as it is"
    if Multiples.word in form.ladder:
        return Multiples.from_dict(form.ladder).short(form.level)
    values = release.table.frame.get_column(column).drop_nulls().n_unique()
    noun = form_class(form.ladder).noun
    return f"{values:,} {noun}" if values == 1 else f"{values:,} {noun}s"


def named_with_forms(release: Release) -> list[str]:
    """The columns of a release with how coarse they are: `age in 8 bands`, `pay in steps of 10`."""
    found = []
    for column in release.features:
        words = form_words(release, column) if column in release.forms else ""
        joined = words if words.startswith("in ") else f"in {words}"
        found.append(f"{column} {joined}" if words else column)
    return found


def columns_of(release: Release) -> list[str]:
    """The columns of the original that something is released of, in the order of the release."""
    return list(dict.fromkeys(release.sources.get(c, c) for c in release.features))


def what_differs(release: Release, others: Collection[Release]) -> list[str]:
    """The columns that not all releases have in the same form, with the form in this one.

    What is released comes first; all that is held back is named once, at the end.
    """
    names = list(dict.fromkeys(c for each in (release, *others) for c in columns_of(each)))
    differing = [c for c in names if len({_key(each, c) for each in (release, *others)}) > 1]
    there = [f"{c}: {form_words(release, c)}" for c in differing if c in columns_of(release)]
    gone = [c for c in differing if c not in columns_of(release)]
    return [*there, *([f"without {', '.join(gone)}"] if gone else [])]


def differences(releases: Sequence[Release]) -> dict[str, str]:
    """What differs of each release from all the others, in words, by its name."""
    return {each.name: "; ".join(what_differs(each, releases)) for each in releases}


def _key(release: Release, column: str) -> str:
    """Equal where two releases have a column in the same form."""
    if made := [c for c in release.features if release.sources.get(c) == column]:
        return " ".join(sorted(made))
    if column not in release.features:
        return ""
    form = release.forms.get(column)
    return "as it is" if form is None else form.key


def form_name(release: Release) -> str:
    """A release by its columns, each with its form: `birth (8 bands) + sex`."""
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
    """Releases whose names are all different: by what differs among those of one name."""
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
    """What differs; where only the ends of as many bands or groups do, a value that others lack.

    Where groups of other values go by one name, it is said how many rows have it.
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
    """Of each column, the first value that not all releases have in as many rows, and in how many.

    >>> from tamis.release import Recipe, released
    >>> from tamis.table import Roles, Table
    >>> def one(jobs):
    ...     frame = pl.DataFrame({"job": jobs, "ill": [0, 1, 1]})
    ...     return released(Table(frame, Roles(target="ill")), ["job"], "", Recipe("hand"))
    >>> both = one(["cook", "cook", "bard"]), one(["cook", "bard", "bard"])
    >>> _rows_apart(both[0], both), _rows_apart(both[1], both)
    (['job: bard in 1 row'], ['job: bard in 2 rows'])
    """
    found = []
    for column in release.features:
        each = [_values(other, column) for other in others]
        mine = _values(release, column)
        if differing := [v for v in mine if len({other.get(v) for other in each}) > 1]:
            found.append(f"{column}: {differing[0]} in {plural(mine[differing[0]], 'row')}")
    return found


def _values(release: Release, column: str) -> dict[str, int]:
    """The values of a column and their rows, in the alphabet's order."""
    if column not in release.features:
        return {}
    cells = release.table.frame.get_column(column).cast(pl.String).drop_nulls()
    return dict(sorted(cells.value_counts(name="n").iter_rows()))
