"""Choose on a sample of a table behind an engine, and check requirements on all of its rows.

A release that fails on all rows is passed over for the next best. If the best one failed, the
search is also repeated for a larger k, and the best release that holds is chosen.
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
"""Searches on the sample, each for twice the k of the one before."""

Known = frozenset[tuple[str, str]]
"""What attackers may know of a release: pairs of column and form."""


@dataclass(frozen=True, eq=False)
class AllRows:
    """All rows of the table that was sampled, and what the chosen release reaches on them."""

    large: LargeTable
    """The rows to release, with generalised columns in their released form."""
    sample: Sample
    k_of_sample: int
    """The k asked of the sample, so that all rows keep the k that was asked for."""
    asked: Requirements
    """The requirements on all rows, for each attacker."""
    reached: Reached
    """What the released rows reach of each requirement, counted in people."""
    coarse: Mapping[str, CoarseColumn]
    """The generalised columns."""
    left_out: dict[str, int] | None
    """Numbers of suppressed people and rows, and of all; `None` if nobody is suppressed."""
    population: CountedInPopulation | None
    """What is known of the population of which all rows are a sample."""

    @property
    def promises(self) -> list[KAnonymity]:
        """The release's promises of k on all rows, one for each attacker."""
        return [each for each in self.reached if isinstance(each, KAnonymity)]

    @property
    def known(self) -> list[str]:
        """The released columns that any attacker may know."""
        return sorted({column for each in self.promises for column in each.columns})

    @property
    def rows(self) -> int:
        """Number of rows, including suppressed ones."""
        return self.left_out["of_rows"] if self.left_out else self.large.rows

    def released(self, release: Release) -> ReleasedRows:
        """The rows to release, as the engine has them."""
        large, names = self.large, written_columns(release)
        columns = dict(zip(names, large.columns(names)))
        return ReleasedRows(large.engine, large.frame, columns, names[-1], large.who)

    def said(self) -> dict[str, Any]:
        """A manifest's entry on what was sampled and what was counted on all rows.

        With suppression, nothing here reveals how many rows there were.
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
    """Names of the released columns in the order of the file: sorted, the target last."""
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
        A table with a target.
    settings : Settings
    rows : int
        Approximate number of rows to sample.
    ladders : mapping of column to Ladder
        The holder's ladders, which may name any value.
    search : callable
        Chooses a release of a sample, given settings for it.
    register : Table, optional
        The population of which the large table is a sample.

    Returns
    -------
    Decision, AllRows
        Raises `CannotMeet` if no release meets the requirements on all rows.
    """
    sample = sampled(large, rows, settings.seed)
    crowds = Crowds.of(large, settings, ladders, register)
    all_stay = not settings.max_suppressed
    refuse_out_of_reach(crowds.asked, crowds.as_one_group, large.shape.unit, all_stay=all_stay)
    best: tuple[Decision, int] | None = None
    for times in (2**i for i in range(TRIES)):
        asked = _of_sample(settings, sample, times)
        try:
            decision_of_sample = _searched(sample.table, asked, search)
        except CannotMeet:
            if times == 1:
                raise
            break
        kept = _kept(sample.table, decision_of_sample, crowds, settings)
        if kept is not None and (best is None or _value(kept) > _value(best[0])):
            best = kept, asked.k
        if kept is not None and kept.chosen is decision_of_sample.chosen:
            break  # the sample's best holds on all rows; a larger k would only allow fewer
    if best is None:
        raise _nothing_holds(sample, large, crowds)
    decision, k = best
    return decision, crowds.all_rows(decision.chosen.release, sample, k)


def where_the_rows_are(settings: Settings) -> Settings:
    """The settings without methods that need memory; raise if one was asked for."""
    given = {name: getattr(settings, name, None) for name in RELEASING}
    given["known_rows"] = given["known_rows"] or knowing_rows(settings.threats)
    refuse_memory_only(given, RELEASING)
    return replace(settings, methods=methods_on_engines(settings.proposing))


def _of_sample(settings: Settings, sample: Sample, times: int) -> Settings:
    """Settings for the sample, whose groups are smaller: sizes are required in proportion.

    Each attacker's k is multiplied by `times`, to make up for the rows that the sample lacks.
    Requirements in the population are left to the count on all rows.
    """
    share = sample.table.rows / sample.of

    def scaled(asked: Requirements) -> dict[str, Any]:
        asks = {name: value for each in asked for name, value in each.on_sample(share).items()}
        return {**asks, "k": sample.k_for(asked.k) * times}

    threats = []
    for each in settings.threats:
        asks = scaled(requirements(**{"k": settings.k, **each.asks}))
        known = {"k": asks["k"], **{name: asks[name] for name in each.asks}}
        threats.append(_asking(each, known))
    alone: dict[str, Any] = {kind.option.dest: None for kind in OF_POPULATION}
    asks = {**scaled(settings.requirements), **alone, "sampling": None}
    return replace(settings, threats=tuple(threats), **asks)


def _asking(attacker: Attacker, asks: Mapping[str, Any]) -> Attacker:
    """A copy of an attacker with other requirements."""
    told = attacker.max_told
    return Attacker(attacker.name, attacker.knows, attacker.wants, max_told=told, **asks)


def _searched(
    sample: Table, asked: Settings, search: Callable[[Table, Settings], Decision]
) -> Decision:
    """The choice on a sample: under all requirements, or under k alone if nothing meets them all.

    Small groups are seldom diverse; the other requirements are checked on all rows anyway.
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
    """The choice among releases that meet the requirements on all rows; `None` if none does."""
    failing = {  # limits on single secrets, which are not among the measures
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
    """Why a release of the sample cannot be made of all rows, where only ladders are applied."""
    for name in release.features:
        cells = sample.frame[name]
        if form := release.forms.get(name):
            cells = Ladder.from_dict(name, form.ladder).apply(cells, form.level)
        if not cells.equals(release.unsuppressed.table.frame[name], check_dtypes=False):
            words = f"it has {name!r} in a form that is made in memory only"
            return Failure(words, words, 1.0)
    return crowds.lacks(release)


def _value(decision: Decision) -> float:
    """Kept less caution times told of the chosen release, on the choosing rows."""
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
    """Counts of a release on all rows."""

    reached: Reached
    rest: Rest | None
    """The rows that are not suppressed; `None` if none may be suppressed."""
    failure: Failure | None
    """Why it cannot be chosen, if so."""


@dataclass(eq=False)
class Crowds:
    """What the equivalence classes of releases reach, counted on all rows of a large table.

    The engine counts each combination of quasi-identifiers once; the classes of every release are
    merged from these counts.
    """

    large: LargeTable
    """The table as it is; its quasi-identifiers are what all attackers together may know."""
    asked: Requirements
    """The requirements for each attacker."""
    written: Mapping[str, Ladder]
    """The holder's ladders, which may name any value."""
    share: float = 0.0
    """Largest share of people who may be suppressed."""
    in_population: tuple[OfPopulation, ...] = ()
    """Requirements on people of a release in the population."""
    population: CountedInPopulation | None = None
    best: int = 0
    """The largest k that any release has reached."""
    enough: bool = False
    """Whether any release has kept k."""
    short: str = ""
    """What the last failing release lacked, in words."""
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
        """The counter of what settings require of all rows."""
        shape = large.shape
        asked = required_of(shape, settings.requirements, settings.threats)
        known = replace(large, shape=knowing_together(shape, settings.threats))
        required = settings.in_population
        crowds = cls(known, asked, written, settings.max_suppressed, required)
        population = population_of(settings.sampling, register, None, required)
        if population is not None:
            crowds.population = CountedInPopulation(
                population.sampling, register, classes=crowds.classes
            )
        return crowds

    @property
    def k(self) -> int:
        """The largest k of all attackers."""
        return self.asked.k

    @cached_property
    def secrets(self) -> list[str]:
        """The sensitive columns with requirements."""
        return list(filter(None, self.asked.by_secret))

    @cached_property
    def cells(self) -> Frame:
        """Distinct combinations of quasi-identifiers, secrets and persons, as the engine counts."""
        return cells_of(self.large, [*self.large.shape.quasi, *self.secrets])

    @cached_property
    def everybody(self) -> int:
        """Number of people; of rows, if each is a person."""
        large = self.large
        return count_distinct(large.engine, self.cells, large.who) if large.who else large.rows

    def as_one_group(self, secret: str | None) -> ClassCounts:
        """All people as one group, with one of the secrets."""
        return one_group_of_all(self.large, self.cells, secret)

    def all_rows(self, release: Release, sample: Sample, k: int) -> AllRows:
        """The facts about all rows for a chosen release; `k` is the one asked of the sample."""
        from tamis.coarsen.coarsener import with_coarse_columns

        coarse = {name: self.column(name, form) for name, form in release.forms.items()}
        large = with_coarse_columns(self.large, coarse.values())
        counts, numbers = self.count(release), None
        if counts.rest is not None and counts.rest.gone is not None:
            frame = counts.rest.without_gone(large.engine.near(large.frame))
            rows = count_rows(large.engine, frame)
            numbers = {"rows": large.rows - rows, "of_rows": large.rows}
            numbers |= {"people": counts.rest.people, "of_people": self.everybody}
            large = replace(large, frame=frame, rows=rows)
        reached, population = counts.reached, self.population
        return AllRows(large, sample, k, self.asked, reached, coarse, numbers, population)

    def lacks(self, release: Release) -> Failure | None:
        """Why a release cannot be chosen by the count on all rows; `None` if it can."""
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
        """The equivalence classes of a release; with `everyone`, including suppressed people."""
        rest = self.count(release).rest
        cells = self._labelled(release) if everyone or rest is None else rest.cells
        return classes_in_memory(self.large, release.table.quasi, cells, release.forms)

    def count(self, release: Release) -> Counted:
        """What the groups of a release reach of every requirement, cached by columns and forms."""
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
        """Count sizes first, for each attacker, and other requirements only if these suffice."""
        figures: dict[Requirement, float] = {}
        for names, some in asked.views.items():
            reached = self._smallest_group(release, names, some.k)
            self.best = max(self.best, reached)
            if reached < some.k:
                return Counted({}, None, self._too_few(some.of_sizes, reached))
            counts = ClassCounts(np.array([reached]))
            figures |= {each: each.reached(counts) for each in some.of_sizes}
        self.enough = True
        if beyond := asked.beyond_k:
            figures |= reached_by_all(beyond, self.large, self._labelled(release))
        figures = {each: figures[each] for each in asked}
        return Counted(figures, None, _short_of(figures))

    def _count_rest(self, release: Release, asked: Requirements, most: int) -> Counted:
        """Count all but the people whose groups break a requirement, if these are few enough."""
        large = self.large
        names = dict.fromkeys([*(c for each in asked.views for c in each), *self.secrets])
        columns = dict.fromkeys([*large.columns(names), *large.who])
        cells = merge_cells(self._labelled(release), list(columns))
        rest = without_few(asked, large, cells, most)
        if rest is None:
            words = f"more than {most:,} {large.shape.unit} must be left out to keep what is asked"
            return Counted({}, None, Failure(f"{words}, on all rows", words, 1.0))
        self.enough = True
        figures = reached_by_all(asked, large, rest.cells)
        return Counted(figures, rest, _short_of(figures))

    def _smallest_group(self, release: Release, names: tuple[str, ...], k: int) -> int:
        """The smallest class, or an upper bound below k.

        Adding columns only splits classes. So if a counted part of the columns is below k already,
        that count is a bound, and the engine is not asked again.
        """
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
        """A generalised column, cached by form."""
        from tamis.coarsen.coarsener import coarse_column

        key = name, form.key
        if key not in self._columns:
            self._columns[key] = coarse_column(self.large, name, form, self.k)
        return self._columns[key]

    def _names_few(self, name: str, form: Coarsening) -> bool:
        return name not in self.written and self.column(name, form).names_few

    def _labelled(self, release: Release) -> Frame:
        """The cells, with quasi-identifiers in their released forms."""
        from tamis.coarsen.coarsener import with_labels

        cells, known = self.cells, self.large.shape.quasi
        for name, form in release.forms.items():
            if name in known:
                (column,) = self.large.columns([name])
                cells = with_labels(cells, column, self.column(name, form))
        return cells


def _short_of(reached: Reached) -> Failure | None:
    """The failure of the first requirement that is not met."""
    for each, figure in reached.items():
        if each.is_short(figure):
            words = each.named(each.lacking(figure))
            return Failure(f"{words}, on all rows", words, 1.0)
    return None
