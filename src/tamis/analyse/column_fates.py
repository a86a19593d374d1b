"""What happened to each column of the original and why, and the ladders of coarser forms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
import polars as pl

from tamis.analyse.examination import Examination
from tamis.analyse.records import as_plain
from tamis.binary.records import from_wide, is_binary, is_zero_one
from tamis.catalogue.measures import CHOICES
from tamis.catalogue.methods import METHODS
from tamis.coarsen.ladder import Ladder
from tamis.coding import coded
from tamis.errors import others
from tamis.evaluate.column_bits import NeighbourRung
from tamis.outcome import Outcome
from tamis.propose.unaltered import contained
from tamis.release import Recipe
from tamis.require import requirements
from tamis.risk.attackers import are_kept
from tamis.select.containment.source import Projection
from tamis.table import Unit, bare

NOTICEABLE = 0.01
"""Smallest share of what all columns teach, or tell, that is worth mentioning to a reader."""
SHOWN_LABELS = 40
"""Most labels to list; further ones are only counted."""
Fate = Literal["released", "coarsened", "altered", "target", "held back", "identifier", "dropped"]
KEPT_FATES = ("released", "coarsened", "altered", "target")
"""The fates of released columns."""


@dataclass(frozen=True, kw_only=True)
class ColumnShares:
    """What one column teaches and tells, as shares of what all columns do."""

    teaches: float
    teaches_beyond: float | None
    """Beyond the other released columns, or, of very many, beyond earlier waves; `None` if the
    released columns are altered."""
    tells: float | None
    """`None` if no column but the target is sensitive."""
    tells_beyond: float | None


@dataclass(frozen=True, kw_only=True)
class LabelFacts:
    """One label of a column, and the values of at least k people that it stands for."""

    label: str
    values: tuple[str, ...]
    """Empty for intervals, dates and codes, whose labels explain themselves."""


@dataclass(frozen=True, kw_only=True)
class RungFacts:
    """What would change with the column one rung finer or coarser."""

    finer: bool
    words: str
    kept: float
    """Change of kept."""
    told: float | None
    """Change of told; `None` if no column but the target is sensitive."""
    allowed: bool
    """Whether the groups would still meet every requirement."""


@dataclass(frozen=True, kw_only=True)
class LadderFacts:
    """The ladder of a column, with the released level."""

    level: int
    levels: int
    """The number of the last level, which drops the column; 0 on the recipient's page."""
    words: str
    """How to read the labels."""
    labels: tuple[LabelFacts, ...]
    more: int
    """Number of labels not listed."""
    rungs: tuple[RungFacts, ...]
    """The neighbouring rungs; empty on the recipient's page."""
    stability: float | None = None
    """For learnt groups, the share of people in the same group when learnt from other rows; `None`
    on the recipient's page."""

    def for_recipient(self) -> Self:
        """How to read the column, without what else it could have been."""
        return replace(self, levels=0, rungs=(), stability=None)


@dataclass(frozen=True, kw_only=True)
class ColumnFate:
    """What happened to one column."""

    name: str
    fate: Fate
    """`coarsened`: released in a coarser form. `altered`: released with changed values. `target`:
    released as what is to be predicted."""
    why: str
    """One plain sentence with a full stop, which columns can share; empty on the recipient's page,
    since it may name a column that was held back."""
    shares: ColumnShares | None = None
    """`None` for columns that are not features, and on the recipient's page."""
    ladder: LadderFacts | None = None
    """For coarsened columns only."""

    def for_recipient(self) -> Self | None:
        if self.fate not in KEPT_FATES:
            return None
        ladder = self.ladder and self.ladder.for_recipient()
        return replace(self, why="", shares=None, ladder=ladder)

    def to_dict(self) -> dict[str, Any]:
        """As plain values, without `shares` and `ladder` where they are `None`."""
        plain = {"name": self.name, "fate": self.fate, "why": self.why}
        parts = {"shares": self.shares, "ladder": self.ladder}
        return plain | {name: as_plain(part) for name, part in parts.items() if part is not None}


def _is_altered(name: str, recipe: Recipe) -> bool:
    """Whether a method altered the values of this column; yes if the recipe lists no columns."""
    return name in recipe.public.get("columns", [name])


def sources(outcome: Outcome) -> dict[str, list[str]]:
    """Released columns by the column of the original that they come from."""
    by_origin: dict[str, list[str]] = {}
    for name in outcome.release.features:
        origin = outcome.release.sources.get(name, name)
        if origin in outcome.table.features:
            by_origin.setdefault(origin, []).append(name)
    return by_origin


MOVED = "Its dates were moved, all of a person by the same number of days."


def column_fates(examined: Examination) -> tuple[ColumnFate, ...]:
    """Every column of the original with its fate and the reason."""
    outcome = examined.outcome
    table = outcome.table
    reasons = _Reasons(examined)
    fates: list[ColumnFate] = []
    for name in table.frame.columns:
        if name == table.target:
            also = ", and also sensitive" if table.sensitive == table.target else ""
            why = f"What recipients learn to predict{also}."
            fates.append(ColumnFate(name=name, fate="target", why=why))
        elif name in table.roles.identifiers:
            fates.append(ColumnFate(name=name, fate="identifier", why="Identifies people."))
        elif name in table.held_back:
            why = "A weight: how many people of the population a row stands for."
            fates.append(ColumnFate(name=name, fate="held back", why=why))
        elif name in table.secrets and name not in table.released_secrets:
            why = "Must stay hard to guess."
            fates.append(ColumnFate(name=name, fate="held back", why=why))
        else:
            story = reasons.story(name)
            if outcome.moved is not None and name in outcome.moved.columns:
                story = replace(story, why=f"{MOVED} {story.why}")
            fates.append(story)
    for name in table.roles.dropped:
        if copy := outcome.copies.get(name):
            why = f"Nobody would know it beforehand: {copy.why}."
            fates.append(ColumnFate(name=name, fate="held back", why=why))
        else:
            fates.append(ColumnFate(name=name, fate="dropped", why="Left out on request."))
    return tuple(fates)


@dataclass(frozen=True, eq=False)
class _Reasons:
    """Why each feature is released or held back, by what it teaches and tells beyond the release.

    A reason does not name its column, so that columns can share it.
    """

    examined: Examination

    @property
    def outcome(self) -> Outcome:
        return self.examined.outcome

    @cached_property
    def projection(self) -> Projection | None:
        return projection_on(self.outcome)

    @cached_property
    def kept(self) -> dict[str, list[str]]:
        return sources(self.outcome)

    @cached_property
    def secret(self) -> str | None:
        """The sensitive column; `None` if that is the target."""
        told = self.outcome.decision.scorecard.compared.choosing
        return self.outcome.evaluator.sensitive if told.secret_gains is not None else None

    @cached_property
    def as_they_are(self) -> bool:
        """Whether the released columns are unchanged, so that what others would add is known."""
        release = self.outcome.release
        return self.outcome.evaluator.yardstick.columns(release) is not None

    def story(self, name: str) -> ColumnFate:
        fate, why = self._fate(name)
        coarser = name in self.outcome.release.forms
        ladder = ladder_facts(self.examined, name) if coarser else None
        return ColumnFate(name=name, fate=fate, why=why, shares=self._shares(name), ladder=ladder)

    def _shares(self, name: str) -> ColumnShares:
        bits, told = self.examined.column_bits[name], self.secret is not None
        return ColumnShares(
            teaches=bits.teaches,
            teaches_beyond=bits.teaches_beyond if self.as_they_are else None,
            tells=bits.tells if told else None,
            tells_beyond=bits.tells_beyond if told and self.as_they_are else None,
        )

    def _fate(self, name: str) -> tuple[Fate, str]:
        if name not in self.kept:
            return "held back", self._held_back(name)
        became, release = self.kept[name], self.outcome.release
        if became == [name] and release.is_altered and _is_altered(name, release.recipe):
            return "altered", METHODS[release.recipe.method].became
        if name in release.forms:
            return "coarsened", self._coarsened(name)
        if became == [name]:
            return "released", self._released(name)
        return "altered", f"Released as columns of 0 and 1 that enough {self.unit} share."

    @property
    def unit(self) -> Unit:
        return self.outcome.table.unit

    def _beyond(self, name: str) -> tuple[float, float]:
        bits = self.examined.column_bits[name]
        return bits.teaches_beyond, 0.0 if self.secret is None else bits.tells_beyond

    def _released(self, name: str) -> str:
        target = self.outcome.table.target
        teaches, tells = self._beyond(name)
        if self.examined.waves:
            return self._in_order(teaches, tells)
        if max(teaches, tells) <= NOTICEABLE:
            return "The other released columns say nearly the same."
        if self.secret is None:
            return f"Without it, less would be learnt about {target}."
        if tells <= NOTICEABLE:
            return (
                f"More is learnt about {target}, and next to nothing more is told about "
                f"{self.secret}."
            )
        if teaches > tells:
            return f"More is learnt about {target} than told about {self.secret}."
        return (
            f"More is told about {self.secret} than learnt about {target}, but the release as a "
            "whole was the best."
        )

    def _in_order(self, teaches: float, tells: float) -> str:
        """Why one of very many columns is released, where no single one is missed."""
        target = self.outcome.table.target
        if max(teaches, tells) <= NOTICEABLE:
            return "Adds too little to those before it to be seen alone; many may add up."
        if teaches >= tells:
            return f"Adds to what those before it teach about {target}."
        return (
            f"Adds more to what those before it tell about {self.secret} than to what they teach "
            f"about {target}, but the release as a whole was the best."
        )

    def _coarsened(self, name: str) -> str:
        """Why a column is not released one rung finer."""
        table, decision = self.outcome.table, self.outcome.decision
        finer = next(iter(self.examined.neighbour_rungs.get(name, ())), None)
        if finer is None:
            return "In a coarser form."
        if not finer.allowed:
            return f"In a coarser form: one rung finer, too few {self.unit} would be alike."
        if finer.told > NOTICEABLE and finer.kept < decision.caution * finer.told:
            return (
                f"In a coarser form: one rung finer, what would be learnt about {table.target} is "
                f"not worth what would be told about {self.secret}."
            )
        if finer.kept <= NOTICEABLE:
            return f"In a coarser form: one rung finer teaches hardly more about {table.target}."
        return "In a coarser form: one rung finer was not clearly worth more."

    def _held_back(self, name: str) -> str:
        release, target = self.outcome.release, self.outcome.table.target
        if release.is_drawn:
            chosen = release.recipe.public.get("kind") == "selected"
            return (
                "The choice, made with noise, fell on other columns."
                if chosen
                else "No public bounds were given, so nothing could be drawn."
            )
        if breaks_k(self.outcome, name, self.projection):
            k = self.outcome.settings.k
            if release.by_containment:
                return f"With it, fewer than {k} {self.unit} would have all that some of them have."
            few = f"fewer than {others(k, self.unit)}" if k > 2 else "no other"
            return (
                f"Known to attackers: with it, some {self.unit} would share their values with "
                f"{few}."
            )
        if release.forms:
            return "Other columns, some in a coarser form, were worth more without it."
        if not self.as_they_are:
            return "Other columns were chosen in an altered form."
        teaches, tells = self._beyond(name)
        if tells > NOTICEABLE and teaches < self.outcome.decision.caution * tells:
            return (
                f"What would be learnt about {target} is not worth what would be told about "
                f"{self.secret}."
            )
        if teaches <= NOTICEABLE:
            return f"Next to nothing more would be learnt about {target}."
        return CHOICES[self.outcome.decision.by].smaller


def projection_on(outcome: Outcome) -> Projection | None:
    """The projection of a 0/1 table on the chosen columns, which quickly tells what fits beside.

    `None` if more is required than containment anonymity of rows, or if columns are not 0/1.
    """
    table, settings = outcome.table, outcome.settings
    plain = not settings.absences and outcome.evaluator.suppression is None
    plain = plain and table.people.each_row and table.roles.quasi is None
    if not (plain and outcome.release.by_containment and is_binary(table)):
        return None
    number = {name: i for i, name in enumerate(table.features)}
    projection = Projection(from_wide(table).matrix, settings.k)
    fitted = [projection.offer(number[name]) for name in outcome.release.features if name in number]
    return projection if all(fitted) else None


def breaks_k(outcome: Outcome, name: str, projection: Projection | None = None) -> bool:
    """Whether adding this column as it is would break the release's promise of k.

    A `projection_on` the release is faster, if there is one.
    """
    release, table = outcome.release, outcome.table
    if name not in table.quasi:
        return False
    # Under containment, people are counted in the original's columns, which are 0/1 themselves.
    some = table.features if release.by_containment else release.features
    known = [*(c for c in release.table.quasi if c in set(some) and c != name), name]
    if release.by_containment and is_zero_one(table.frame[name]):
        if projection is not None and name not in release.features:
            return not projection.fits(table.features.index(name))
        return not _contained(outcome, known)
    whole, suppression = release.unsuppressed.table.frame, outcome.evaluator.suppression
    made = {*release.forms, *release.sources}
    coarse = [whole[c] if c in made else table.frame[c] for c in known]
    seen = [(release.source(c), coded(cells)) for c, cells in zip(known, coarse)]
    if suppression is not None:
        return not suppression.allows(seen)
    several = outcome.evaluator.requirements.several
    asked = outcome.evaluator.requirements.of_sizes if several else requirements(outcome.settings.k)
    return not are_kept(asked, seen, table.people, table.frame)


def _contained(outcome: Outcome, names: Sequence[str]) -> bool:
    """Whether some 0/1 columns have containment anonymity k."""
    k, suppression = outcome.settings.k, outcome.evaluator.suppression
    cells = outcome.table.only(names).to_numpy().astype(np.uint8)
    if suppression is not None:
        return suppression.allows_contained(cells, k)
    return contained(cells, k, outcome.settings.absences, outcome.table.people)


def ladder_facts(examined: Examination, name: str) -> LadderFacts:
    """The ladder of one column; the values of its labels are filled in from the manifest."""
    outcome = examined.outcome
    release = outcome.release
    form = release.forms[name]
    ladder = Ladder.from_dict(name, form.ladder)
    labels = list(_labels(ladder, form.level, release.table.frame[name]))
    told = outcome.decision.scorecard.compared.choosing.secret_gains is not None
    rungs = examined.neighbour_rungs.get(name, ())
    return LadderFacts(
        level=form.level,
        levels=ladder.top,
        words=ladder.words(form.level),
        labels=tuple(labels[:SHOWN_LABELS]),
        more=max(0, len(labels) - SHOWN_LABELS),
        rungs=tuple(_rung(each, form.level, told) for each in rungs),
        stability=form.stability,
    )


def _rung(neighbour: NeighbourRung, level: int, told: bool) -> RungFacts:
    return RungFacts(
        finer=neighbour.level < level,
        words=neighbour.words.partition(",")[0],  # the released rung has the rest of the words
        kept=neighbour.kept,
        told=neighbour.told if told else None,
        allowed=neighbour.allowed,
    )


def _labels(ladder: Ladder, level: int, cells: pl.Series) -> Iterator[LabelFacts]:
    """The released labels; intervals and dates in their natural order."""
    labels = bare(cells).drop_nulls().unique().sort()
    ends = ladder.bounds(labels, level).rows()
    order = sorted(range(labels.len()), key=lambda i: _place(ends[i][0], ends[i][1]))
    for i in order:
        yield LabelFacts(label=str(labels[i]), values=())


def with_values(
    columns: Sequence[ColumnFate], stated: Mapping[str, Mapping[str, Any]]
) -> tuple[ColumnFate, ...]:
    """The columns with the values of each label, as stated in the manifest."""
    return tuple(
        replace(c, ladder=c.ladder and _with_values(c.ladder, stated[c.name])) for c in columns
    )


def _with_values(ladder: LadderFacts, stated: Mapping[str, Any]) -> LadderFacts:
    groups = stated.get("groups", {})
    labels = (replace(each, values=tuple(groups.get(each.label, ()))) for each in ladder.labels)
    return replace(ladder, labels=tuple(labels))


def _place(lower: Any, upper: Any) -> float:
    """Sort key of an interval: open below first; labels without ends keep their order."""
    if lower is None and upper is None:
        return 0.0
    if lower is None:
        return float("-inf")
    return float(lower.toordinal()) if isinstance(lower, date) else float(lower)
