"""What all rows of a table behind an engine reach, of which a sample was searched.

A release that falls short on all rows is passed over for the next best; where the best falls
short, the search is also repeated for a larger k, and the best of all that hold is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from tamis.coarsen.coarsener import (
    CoarseColumn,
    coarse_column,
    with_coarse_columns,
    with_labels,
)
from tamis.coarsen.ladder import Ladder
from tamis.decide import Decision, Failure, decide
from tamis.errors import CannotMeet, listed
from tamis.evaluate.scorecard import Row
from tamis.release import Coarsening, Release
from tamis.require.base import Requirements
from tamis.require.k import KAnonymity
from tamis.risk.behind_engine import cells_of, reached_beyond_k
from tamis.rows import other_engine
from tamis.rows.counts import ReleasedRows, smallest
from tamis.rows.engines import Frame
from tamis.rows.large_table import LargeTable, Sample, sampled
from tamis.rows.memory_only import RELEASING, methods_on_engines, refuse_memory_only
from tamis.settings import Settings
from tamis.table import Table

TRIES = 4
"""Searches on the sample, each for twice the anonymity of the one before."""

Known = frozenset[tuple[str, str]]
"""What attackers may know of a release: its columns and the forms that they are in."""


@dataclass(frozen=True, eq=False)
class AllRows:
    """All rows of the table of which a sample was searched, and what the choice reaches on them."""

    large: LargeTable
    """With the columns that are released in a coarser form in that form."""
    sample: Sample
    k_of_sample: int
    """What was asked of groups in the sample, so that all rows keep the k that was asked for."""
    promise: KAnonymity
    """Of the release, about all rows."""
    measured: int
    """What all rows reach of it, in people."""
    coarse: Mapping[str, CoarseColumn]
    """The columns in a coarser form."""
    beyond_k: Mapping[str, Any]
    """What all rows reach of l, t and whatever else was asked of groups."""

    def released(self, release: Release) -> ReleasedRows:
        """The rows to release, as the engine has them."""
        large, names = self.large, written_columns(release)
        columns = dict(zip(names, large.columns(names)))
        return ReleasedRows(large.engine, large.frame, columns, names[-1], large.who)

    def said(self) -> dict[str, Any]:
        """What was sampled, and what was counted on all rows, for a manifest."""
        rows, writer = self.large.rows, self.large.engine.name
        return {
            "sampled": {
                "rows": self.sample.table.rows,
                "of": rows,
                "by": self.sample.by,
                "for": "the search, the choice and every figure about models",
            },
            "counted": {
                "rows": rows,
                "by": writer,
                "again_by": other_engine(writer),
                "for": "promises and exposure",
            },
        }


def written_columns(release: Release) -> list[str]:
    """The names of the released columns, in the order of the file: the target last."""
    return [*sorted(release.features), release.table.target]


def choose_on_all_rows(
    large: LargeTable,
    settings: Settings,
    rows: int,
    ladders: Mapping[str, Ladder],
    search: Callable[[Table, Settings], Decision],
) -> tuple[Decision, AllRows]:
    """Choose a release on a sample, and count its promises on all rows.

    Parameters
    ----------
    large : LargeTable
        With a target.
    settings : Settings
    rows : int
        About how many rows to sample.
    ladders : mapping of column to Ladder
        Coarser forms that people wrote, which may name any value.
    search : callable
        Chooses a release of a sample, by settings for it.

    Returns
    -------
    Decision, AllRows
        `CannotMeet` where no release reaches on all rows what is asked for.
    """
    sample = sampled(large, rows, settings.seed)
    crowds = Crowds(large, settings.requirements, ladders)
    k, best, asked = sample.k_for(settings.k), None, _of_sample(settings, sample)
    for time in range(TRIES):
        try:
            found = _searched(sample.table, replace(asked, k=k), search)
        except CannotMeet:
            if time == 0:
                raise
            break
        kept = _kept(sample.table, found, crowds, settings)
        if kept is not None and (best is None or _value(kept) > _value(best[0])):
            best = kept, k
        if kept is not None and kept.chosen is found.chosen:
            break  # a larger k allows no more than this one
        k *= 2
    if best is None:
        raise _nothing_holds(sample, large, crowds)
    decision, k = best
    return decision, crowds.all_rows(decision.chosen.release, sample, k)


def where_the_rows_are(settings: Settings) -> Settings:
    """The settings without methods that work in memory; an error where one was asked for."""
    refuse_memory_only({name: getattr(settings, name, None) for name in RELEASING}, RELEASING)
    return replace(settings, methods=methods_on_engines(settings.proposing))


def _of_sample(settings: Settings, sample: Sample) -> Settings:
    """What to ask of a sample, in which groups are smaller: of their size only in proportion."""
    share = sample.table.rows / sample.of
    asked = (each.on_sample(share) for each in settings.requirements)
    return replace(settings, **{name: value for each in asked for name, value in each.items()})


def _searched(
    sample: Table, asked: Settings, search: Callable[[Table, Settings], Decision]
) -> Decision:
    """The choice on a sample: by all that is asked for, or by k alone where nothing keeps it all.

    Small groups are seldom diverse; whether a release keeps the rest is counted on all rows.
    """
    try:
        return search(sample, asked)
    except CannotMeet:
        if not asked.requirements.beyond_k:
            raise
        rest: dict[str, Any] = {each.name: None for each in asked.requirements.beyond_k}
        return search(sample, replace(asked, **rest))


def _kept(sample: Table, decision: Decision, crowds: Crowds, settings: Settings) -> Decision | None:
    """The choice among the releases that keep on all rows what is asked; none where none does."""
    failing: dict[str, tuple[Failure, ...]] = {}
    while lacks := _lacks(sample, decision.chosen.release, crowds):
        failing[decision.chosen.release.name] = (lacks,)
        if settings.take is not None:
            return None
        try:
            decision = decide(
                decision.scorecard,
                settings.limits,
                settings.weights,
                by=settings.choose,
                caution=settings.caution,
                allow_useless=settings.allow_useless,
                also=failing,
            )
        except CannotMeet:
            return None
    return decision


def _lacks(sample: Table, release: Release, crowds: Crowds) -> Failure | None:
    """Why a release of the sample cannot be one of all rows, which are given what a ladder says."""
    for name in release.features:
        cells = sample.frame[name]
        if form := release.forms.get(name):
            cells = Ladder.from_dict(name, form.ladder).apply(cells, form.level)
        if not cells.equals(release.table.frame[name], check_dtypes=False):
            words = f"it has {name!r} in a form that is made in memory only"
            return Failure(words, words, 1.0)
    return crowds.lacks(release)


def _value(decision: Decision) -> float:
    """What the chosen release keeps less what it tells, on the rows used to choose."""
    row: Row = decision.chosen
    kept, told = (row.value_for_choice(name) or 0.0 for name in ("kept", "told"))
    return kept - decision.caution * told


def _nothing_holds(sample: Sample, large: LargeTable, crowds: Crowds) -> CannotMeet:
    k, most = crowds.k, crowds.most
    wanted = f"k = {k}" if most < k else "what is asked of groups besides k"
    why = f"the best reached {most}" if most < k else crowds.short
    return CannotMeet(
        f"no release chosen on {sample.table.rows:,} sampled rows keeps {wanted} on all "
        f"{large.rows:,}; {why}. Ask for less, for a larger --sample, or say which columns "
        "attackers may know with --quasi"
    )


@dataclass(eq=False)
class Crowds:
    """Among how many people everybody hides in a release, counted on all rows of a large table.

    Rows alike in all that attackers may know are counted once; releases are counted from these.
    """

    large: LargeTable
    """With every column as it is."""
    asked: Requirements
    """How many must be alike, and what else is asked of them."""
    written: Mapping[str, Ladder]
    """Ladders that people wrote, which may name any value."""
    most: int = 0
    """The most that any release has reached."""
    short: str = ""
    """What a release lacked besides k."""
    _found: dict[Known, int] = field(default_factory=dict)
    _beyond: dict[Known, dict[str, Any]] = field(default_factory=dict)
    _columns: dict[tuple[str, str], CoarseColumn] = field(default_factory=dict)

    @cached_property
    def cells(self) -> Frame:
        """Each combination that occurs of what attackers may know, and whose it is."""
        return cells_of(self.large, self.large.shape.quasi, self.asked.of_secrets)

    @property
    def k(self) -> int:
        """How many must be alike."""
        return self.asked.k

    def all_rows(self, release: Release, sample: Sample, k: int) -> AllRows:
        """What is known of all rows once a release is chosen; `k` is that of the sample."""
        coarse = {name: self.column(name, form) for name, form in release.forms.items()}
        large = with_coarse_columns(self.large, coarse.values())
        promise, measured = self.promise(release), self.reached(release)
        return AllRows(large, sample, k, promise, measured, coarse, self.beyond_k(release))

    def promise(self, release: Release) -> KAnonymity:
        """What is promised about all rows."""
        quasi = self.large.shape.quasi
        return KAnonymity(self.k, columns=tuple(c for c in quasi if c in release.features))

    def lacks(self, release: Release) -> Failure | None:
        """Why a release cannot be taken, if anything is lacking on all rows."""
        if few := [name for name, form in release.forms.items() if self._names_few(name, form)]:
            words = f"the coarser form of {listed(few)} names a value that fewer than {self.k} have"
            return Failure(words, words, 1.0)
        reached = self.reached(release)
        self.most = max(self.most, reached)
        if reached >= self.k:
            return self._lacks_beyond_k(release)
        unit = self.large.shape.unit
        words = (
            f"k = {self.k} requires {self.k} {unit} alike, but on all rows some group has no more "
            f"than {reached}"
        )
        return Failure(words, f"fewer than {self.k} {unit} alike on all rows", 1 - reached / self.k)

    def reached(self, release: Release) -> int:
        """The smallest group; of forms that hold all of a counted one, never more than that."""
        known = self._known(release)
        if known not in self._found:
            fewer = [n for other, n in self._found.items() if other < known and n < self.k]
            self._found[known] = min(fewer) if fewer else self._count(release)
        return self._found[known]

    def _known(self, release: Release) -> Known:
        names, forms = self.promise(release).columns, release.forms
        return frozenset((c, forms[c].key if c in forms else "") for c in names)

    def beyond_k(self, release: Release) -> dict[str, Any]:
        """What the groups of a release reach of everything asked for but k."""
        if not self.asked.beyond_k:
            return {}
        known, names = self._known(release), self.promise(release).columns
        if known not in self._beyond:
            cells = self._labelled(release)
            self._beyond[known] = reached_beyond_k(self.asked.beyond_k, self.large, cells, names)
        return self._beyond[known]

    def _lacks_beyond_k(self, release: Release) -> Failure | None:
        words = self.asked.beyond_k.lacking(self.beyond_k(release))
        self.short = words or self.short
        return Failure(f"{words}, on all rows", words, 1.0) if words else None

    def column(self, name: str, form: Coarsening) -> CoarseColumn:
        """A column in a coarser form."""
        key = name, form.key
        if key not in self._columns:
            self._columns[key] = coarse_column(self.large, name, form, self.k)
        return self._columns[key]

    def _names_few(self, name: str, form: Coarsening) -> bool:
        return name not in self.written and self.column(name, form).names_few

    def _count(self, release: Release) -> int:
        large = self.large
        columns = large.columns(self.promise(release).columns)
        return smallest(large.engine, self._labelled(release), columns, large.who).k

    def _labelled(self, release: Release) -> Frame:
        """The cells, with the columns that attackers may know as they are released."""
        cells = self.cells
        for name in self.promise(release).columns:
            if name in release.forms:
                (column,) = self.large.columns([name])
                cells = with_labels(cells, column, self.column(name, release.forms[name]))
        return cells
