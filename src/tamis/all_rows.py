"""What all rows of a table behind an engine reach, of which a sample was searched.

A release that falls short on all rows is passed over for the next best; where the best falls
short, the search is also repeated for a larger k, and the best of all that hold is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tamis.coarsen.ladder import Ladder
from tamis.decide import Decision, decide
from tamis.errors import CannotMeet, listed
from tamis.evaluate.in_population import CountedInPopulation, population_of
from tamis.evaluate.scorecard import Row
from tamis.limits import Failure, lacking_in_population, too_told
from tamis.release import Coarsening, Release
from tamis.require import requirements
from tamis.require.attacker import Attacker, knowing_rows
from tamis.require.base import Requirement, Requirements
from tamis.require.counts import ClassCounts
from tamis.require.k import KAnonymity
from tamis.require.population import OF_POPULATION, OfPopulation
from tamis.risk.attackers import (
    in_release,
    knowing_together,
    refuse_out_of_reach,
    required_of,
)
from tamis.risk.behind_engine import (
    Reached,
    Rest,
    cells_of,
    classes_in_memory,
    one_group_of_all,
    reached_by_all,
    without_few,
)
from tamis.risk.presence import CountedClasses
from tamis.risk.suppression import most_suppressed
from tamis.rows import other_engine
from tamis.rows.counts import (
    ReleasedRows,
    count_distinct,
    count_rows,
    merge_cells,
    smallest,
)
from tamis.rows.engines import Frame
from tamis.rows.large_table import LargeTable, Sample, sampled
from tamis.rows.memory_only import RELEASING, methods_on_engines, refuse_memory_only
from tamis.settings import Settings
from tamis.table import Table

if TYPE_CHECKING:
    from tamis.coarsen.coarsener import CoarseColumn

TRIES = 4
"""Searches on the sample, each for twice the anonymity of the one before."""

Known = frozenset[tuple[str, str]]
"""What attackers may know of a release: its columns and the forms that they are in."""


@dataclass(frozen=True, eq=False)
class AllRows:
    """All rows of the table of which a sample was searched, and what the choice reaches on them."""

    large: LargeTable
    """The rows to release, with columns that are released in a coarser form in that form."""
    sample: Sample
    k_of_sample: int
    """What was asked of groups in the sample, so that all rows keep the k that was asked for."""
    asked: Requirements
    """What is required of all rows, by each attacker."""
    reached: Reached
    """What the rows to release reach of it, of the released columns among those known, in people.
    """
    coarse: Mapping[str, CoarseColumn]
    """The columns in a coarser form."""
    left_out: dict[str, int] | None
    """The people and rows that are left out, and all there are; `None` where nobody is."""
    population: CountedInPopulation | None
    """What is known of the population, in which all rows are counted."""

    @property
    def promises(self) -> list[KAnonymity]:
        """Of the release, about all rows: one for each attacker."""
        return [each for each in self.reached if isinstance(each, KAnonymity)]

    @property
    def known(self) -> list[str]:
        """The released columns that attackers may know, all of them together."""
        return sorted({column for each in self.promises for column in each.columns})

    @property
    def rows(self) -> int:
        """How many there are, those that are left out included."""
        return self.left_out["of_rows"] if self.left_out else self.large.rows

    def released(self, release: Release) -> ReleasedRows:
        """The rows to release, as the engine has them."""
        large, names = self.large, written_columns(release)
        columns = dict(zip(names, large.columns(names)))
        return ReleasedRows(large.engine, large.frame, columns, names[-1], large.who)

    def said(self) -> dict[str, Any]:
        """What was sampled, and what was counted on all rows, for a manifest.

        Where rows are left out, nothing here tells how many there were.
        """
        rows, writer, table = self.large.rows, self.large.engine.name, self.sample.table
        drawn = table.rows if self.left_out is None else min(self.sample.asked, rows)
        return {
            "sampled": {
                "rows": drawn,
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
    register: Table | None = None,
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
    register : Table, optional
        Everybody of whom the large table is a sample.

    Returns
    -------
    Decision, AllRows
        `CannotMeet` where no release reaches on all rows what is asked for.
    """
    sample = sampled(large, rows, settings.seed)
    crowds = Crowds.of(large, settings, ladders, register)
    all_stay = not settings.max_suppressed
    refuse_out_of_reach(crowds.asked, crowds.as_one_group, large.shape.unit, all_stay=all_stay)
    best: tuple[Decision, int] | None = None
    for times in (2**i for i in range(TRIES)):
        asked = _of_sample(settings, sample, times)
        try:
            found = _searched(sample.table, asked, search)
        except CannotMeet:
            if times == 1:
                raise
            break
        kept = _kept(sample.table, found, crowds, settings)
        if kept is not None and (best is None or _value(kept) > _value(best[0])):
            best = kept, asked.k
        if kept is not None and kept.chosen is found.chosen:
            break  # a larger k allows no more than this one
    if best is None:
        raise _nothing_holds(sample, large, crowds)
    decision, k = best
    return decision, crowds.all_rows(decision.chosen.release, sample, k)


def where_the_rows_are(settings: Settings) -> Settings:
    """The settings without methods that work in memory; an error where one was asked for."""
    given = {name: getattr(settings, name, None) for name in RELEASING}
    given["known_rows"] = given["known_rows"] or knowing_rows(settings.threats)
    refuse_memory_only(given, RELEASING)
    return replace(settings, methods=methods_on_engines(settings.proposing))


def _of_sample(settings: Settings, sample: Sample, times: int) -> Settings:
    """What to ask of a sample, in which groups are smaller: of their size only in proportion.

    Of each attacker so many times the k, since the sample lacks rows. Of the population nothing:
    that is counted on all rows.
    """
    share = sample.table.rows / sample.of

    def scaled(asked: Requirements) -> dict[str, Any]:
        found = {name: value for each in asked for name, value in each.on_sample(share).items()}
        return {**found, "k": sample.k_for(asked.k) * times}

    threats = []
    for each in settings.threats:
        asks = scaled(requirements(**{"k": settings.k, **each.asks}))
        known = {"k": asks["k"], **{name: asks[name] for name in each.asks}}
        threats.append(_asking(each, known))
    alone: dict[str, Any] = {kind.option.dest: None for kind in OF_POPULATION}
    asks = {**scaled(settings.requirements), **alone, "sampling": None}
    return replace(settings, threats=tuple(threats), **asks)


def _asking(attacker: Attacker, asks: Mapping[str, Any]) -> Attacker:
    """The same attacker, of whom something else is asked."""
    told = attacker.max_told
    return Attacker(attacker.name, attacker.knows, attacker.wants, max_told=told, **asks)


def _searched(
    sample: Table, asked: Settings, search: Callable[[Table, Settings], Decision]
) -> Decision:
    """The choice on a sample: by all that is asked for, or by k alone where nothing keeps it all.

    Small groups are seldom diverse; whether a release keeps the rest is counted on all rows.
    """
    try:
        return search(sample, asked)
    except CannotMeet:
        plain = tuple(_asking(each, {"k": each.asks["k"]}) for each in asked.threats)
        rest: dict[str, Any] = {each.name: None for each in asked.requirements.beyond_k}
        if not rest and plain == asked.threats:
            raise
        return search(sample, replace(asked, threats=plain, **rest))


def _kept(sample: Table, decision: Decision, crowds: Crowds, settings: Settings) -> Decision | None:
    """The choice among the releases that keep on all rows what is asked; none where none does."""
    failing = {  # what is told of single secrets is limited besides the measures
        row.release.name: too_told(row.assessment.evaluator, row.release, settings.told_limits)
        for row in decision.scorecard.rows
    }
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
        if not cells.equals(release.unsuppressed.table.frame[name], check_dtypes=False):
            words = f"it has {name!r} in a form that is made in memory only"
            return Failure(words, words, 1.0)
    return crowds.lacks(release)


def _value(decision: Decision) -> float:
    """What the chosen release keeps less what it tells, on the rows used to choose."""
    row: Row = decision.chosen
    kept, told = (row.value_for_choice(name) or 0.0 for name in ("kept", "told"))
    return kept - decision.caution * told


def _nothing_holds(sample: Sample, large: LargeTable, crowds: Crowds) -> CannotMeet:
    wanted = "what is asked of groups besides k" if crowds.enough else f"k = {crowds.k}"
    why = crowds.short if crowds.enough or crowds.share else f"the best reached {crowds.best}"
    return CannotMeet(
        f"no release chosen on {sample.table.rows:,} sampled rows keeps {wanted} on all "
        f"{large.rows:,}; {why}. Ask for less, for a larger --sample, or say which columns "
        "attackers may know with --quasi"
    )


class Counted(NamedTuple):
    """What was counted of a release on all rows."""

    reached: Reached
    rest: Rest | None
    """The rows that stay where some may be left out; `None` where none may."""
    failure: Failure | None
    """Why it cannot be taken."""


@dataclass(eq=False)
class Crowds:
    """Among how many people everybody hides in a release, counted on all rows of a large table.

    Rows alike in all that attackers may know are counted once; releases are counted from these.
    """

    large: LargeTable
    """With every column as it is; attackers may know its quasi-identifiers, some of them each."""
    asked: Requirements
    """How many must be alike, and what else is asked of them, by each attacker."""
    written: Mapping[str, Ladder]
    """Ladders that people wrote, which may name any value."""
    share: float = 0.0
    """Of the people who may be left out."""
    in_population: tuple[OfPopulation, ...] = ()
    """What is asked of the people of a release in the population."""
    population: CountedInPopulation | None = None
    best: int = 0
    """The most people alike that any release has reached."""
    enough: bool = False
    """Whether any has kept k."""
    short: str = ""
    """What the last release lacked."""
    _smallest: dict[Known, int] = field(default_factory=dict)
    _counted: dict[Known, Counted] = field(default_factory=dict)
    _columns: dict[tuple[str, str], CoarseColumn] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        large: LargeTable,
        settings: Settings,
        written: Mapping[str, Ladder],
        register: Table | None = None,
    ) -> Crowds:
        """What settings ask of all rows."""
        shape = large.shape
        asked = required_of(shape, settings.requirements, settings.threats)
        known = replace(large, shape=knowing_together(shape, settings.threats))
        required = settings.in_population
        found = cls(known, asked, written, settings.max_suppressed, required)
        population = population_of(settings.sampling, register, None, required)
        if population is not None:
            found.population = CountedInPopulation(
                population.sampling, register, classes=found.classes
            )
        return found

    @property
    def k(self) -> int:
        """How many must be alike, by whom most is asked."""
        return self.asked.k

    @cached_property
    def secrets(self) -> list[str]:
        """The sensitive columns that something is asked of."""
        return list(filter(None, self.asked.by_secret))

    @cached_property
    def cells(self) -> Frame:
        """Each combination that occurs of what attackers may know, the secrets, and whose it is."""
        return cells_of(self.large, [*self.large.shape.quasi, *self.secrets])

    @cached_property
    def everybody(self) -> int:
        """All people; rows where each is one."""
        large = self.large
        return count_distinct(large.engine, self.cells, large.who) if large.who else large.rows

    def as_one_group(self, secret: str | None) -> ClassCounts:
        """All people as one group, with one of the secrets."""
        return one_group_of_all(self.large, self.cells, secret)

    def all_rows(self, release: Release, sample: Sample, k: int) -> AllRows:
        """What is known of all rows once a release is chosen; `k` is that of the sample."""
        from tamis.coarsen.coarsener import with_coarse_columns

        coarse = {name: self.column(name, form) for name, form in release.forms.items()}
        large = with_coarse_columns(self.large, coarse.values())
        found, numbers = self.count(release), None
        if found.rest is not None and found.rest.gone is not None:
            frame = found.rest.without_gone(large.engine.near(large.frame))
            rows = count_rows(large.engine, frame)
            numbers = {"rows": large.rows - rows, "of_rows": large.rows}
            numbers |= {"people": found.rest.people, "of_people": self.everybody}
            large = replace(large, frame=frame, rows=rows)
        reached, population = found.reached, self.population
        return AllRows(large, sample, k, self.asked, reached, coarse, numbers, population)

    def lacks(self, release: Release) -> Failure | None:
        """Why a release cannot be taken, if anything is lacking on all rows."""
        if few := [name for name, form in release.forms.items() if self._names_few(name, form)]:
            words = f"the coarser form of {listed(few)} names a value that fewer than {self.k} have"
            failure: Failure | None = Failure(words, words, 1.0)
        else:
            failure = self.count(release).failure or self._lacks_in_population(release)
        self.short = self.short if failure is None else failure.words
        return failure

    def _lacks_in_population(self, release: Release) -> Failure | None:
        if self.population is None or not self.in_population:
            return None
        return next(iter(lacking_in_population(release, self.population, self.in_population)), None)

    def classes(self, release: Release, everyone: bool) -> CountedClasses:
        """Those of a release; with `everyone` those who are left out are in them, too."""
        rest = self.count(release).rest
        cells = self._labelled(release) if everyone or rest is None else rest.cells
        return classes_in_memory(self.large, release.table.quasi, cells, release.forms)

    def count(self, release: Release) -> Counted:
        """What the groups of a release reach of everything that is asked."""
        asked = in_release(self.asked, release)
        known = self._known(release, [name for names in asked.views for name in names])
        if known not in self._counted:
            most = most_suppressed(self.share, self.everybody) if self.share else 0
            count = self._count_rest if most else self._count_all
            self._counted[known] = count(release, asked, most)
        return self._counted[known]

    def _known(self, release: Release, names: Iterable[str]) -> Known:
        forms = release.forms
        return frozenset((c, forms[c].key if c in forms else "") for c in names)

    def _count_all(self, release: Release, asked: Requirements, most: int) -> Counted:
        """Sizes first, by each attacker; the rest only where these are enough."""
        found: dict[Requirement, float] = {}
        for names, some in asked.views.items():
            reached = self._smallest_group(release, names, some.k)
            self.best = max(self.best, reached)
            if reached < some.k:
                return Counted({}, None, self._too_few(some.of_sizes, reached))
            counts = ClassCounts(np.array([reached]))
            found |= {each: each.reached(counts) for each in some.of_sizes}
        self.enough = True
        if beyond := asked.beyond_k:
            found |= reached_by_all(beyond, self.large, self._labelled(release))
        found = {each: found[each] for each in asked}
        return Counted(found, None, _short_of(found))

    def _count_rest(self, release: Release, asked: Requirements, most: int) -> Counted:
        """The same of all but the few whose groups break it, where these are few enough."""
        large = self.large
        names = dict.fromkeys([*(c for each in asked.views for c in each), *self.secrets])
        columns = dict.fromkeys([*large.columns(names), *large.who])
        cells = merge_cells(self._labelled(release), list(columns))
        rest = without_few(asked, large, cells, most)
        if rest is None:
            words = f"more than {most:,} {large.shape.unit} must be left out to keep what is asked"
            return Counted({}, None, Failure(f"{words}, on all rows", words, 1.0))
        self.enough = True
        found = reached_by_all(asked, large, rest.cells)
        return Counted(found, rest, _short_of(found))

    def _smallest_group(self, release: Release, names: tuple[str, ...], k: int) -> int:
        """The smallest group; of forms that hold all of a counted one, never more than that."""
        known, large = self._known(release, names), self.large
        if known not in self._smallest:
            fewer = [n for other, n in self._smallest.items() if other < known and n < k]
            cells, columns = self._labelled(release), large.columns(names)
            self._smallest[known] = (
                min(fewer) if fewer else smallest(large.engine, cells, columns, large.who).k
            )
        return self._smallest[known]

    def _too_few(self, asked: Requirements, reached: int) -> Failure:
        unit, k = self.large.shape.unit, asked.k
        words = (
            f"k = {k} requires {k} {unit} alike, but on all rows some group has no more than "
            f"{reached}"
        )
        short = f"fewer than {k} {unit} alike on all rows"
        first = next(iter(asked))
        return Failure(first.named(words), first.named(short), 1 - reached / k)

    def column(self, name: str, form: Coarsening) -> CoarseColumn:
        """A column in a coarser form."""
        from tamis.coarsen.coarsener import coarse_column

        key = name, form.key
        if key not in self._columns:
            self._columns[key] = coarse_column(self.large, name, form, self.k)
        return self._columns[key]

    def _names_few(self, name: str, form: Coarsening) -> bool:
        return name not in self.written and self.column(name, form).names_few

    def _labelled(self, release: Release) -> Frame:
        """The cells, with the columns that attackers may know as they are released."""
        from tamis.coarsen.coarsener import with_labels

        cells, known = self.cells, self.large.shape.quasi
        for name, form in release.forms.items():
            if name in known:
                (column,) = self.large.columns([name])
                cells = with_labels(cells, column, self.column(name, form))
        return cells


def _short_of(reached: Reached) -> Failure | None:
    """The first requirement that does not hold."""
    for each, figure in reached.items():
        if each.is_short(figure):
            words = each.named(each.lacking(figure))
            return Failure(f"{words}, on all rows", words, 1.0)
    return None
