"""What happened to each column of the original, and why, in one sentence."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from tamis.flow import Outcome
from tamis.learn.bayes import AdditiveNaiveBayes
from tamis.learn.columns import Features
from tamis.learn.subset_scores import SubsetScores
from tamis.learn.task import Task
from tamis.publish.promises import others
from tamis.publish.summary import ColumnFate
from tamis.risk.classes import k_anonymity
from tamis.table import Table

FOLDS = 5
NOTICEABLE = 0.002
"""A loss of accuracy worth mentioning to a reader."""


def source_of(name: str, columns: tuple[str, ...]) -> str | None:
    """The column of the original that a released column comes from.

    >>> source_of("age <= 25", ("age", "age at birth"))
    'age'
    """
    if name in columns:
        return name
    begun = [c for c in columns if name.startswith(f"{c} ")]
    return max(begun, key=len, default=None)


def sources(outcome: Outcome) -> dict[str, list[str]]:
    """Columns of the original that are in the release in some form, and what they became."""
    found: dict[str, list[str]] = {}
    for name in outcome.decision.chosen.release.features:
        origin = source_of(name, outcome.table.features)
        if origin is not None:
            found.setdefault(origin, []).append(name)
    return found


def column_stories(outcome: Outcome) -> list[ColumnFate]:
    """Every column of the original with its fate and the reason."""
    table = outcome.table
    reasons = _Reasons(outcome)
    found: list[ColumnFate] = []
    for name in table.frame.columns:
        if name == table.target:
            why = f"It is what recipients learn to predict{_also(table)}."
            found.append({"name": name, "fate": "target", "why": why})
        elif name in table.roles.identifiers:
            found.append({"name": name, "fate": "identifier", "why": "It identifies people."})
        elif name == table.sensitive:
            why = "It must stay hard to guess."
            found.append({"name": name, "fate": "held back", "why": why})
        else:
            found.append(reasons.story(name))
    for name in table.roles.dropped:
        found.append({"name": name, "fate": "dropped", "why": "It was left out on request."})
    return found


def _also(table: Table) -> str:
    return ", and it is also sensitive" if table.sensitive == table.target else ""


@dataclass(frozen=True, eq=False)
class _Reasons:
    """What each feature teaches and reveals, measured on the rows that the search has seen."""

    outcome: Outcome

    @cached_property
    def kept(self) -> dict[str, list[str]]:
        return sources(self.outcome)

    @cached_property
    def teaches(self) -> dict[str, float]:
        return self._losses(self.outcome.evaluator.labels)

    @cached_property
    def tells(self) -> dict[str, float]:
        return self._losses(self.outcome.evaluator.secrets)

    @cached_property
    def seen(self) -> Features:
        table = self.outcome.table
        return Features.of(table.only(table.features)[self.outcome.evaluator.split.seen])

    def _losses(self, labels: NDArray[Any]) -> dict[str, float]:
        """What naive Bayes loses in accuracy without each feature."""
        table, seen = self.outcome.table, self.outcome.evaluator.split.seen
        scores = SubsetScores(Task(self.seen, labels[seen]), AdditiveNaiveBayes(), cv=FOLDS)
        whole = scores.of(table.features).mean
        return {name: whole - without.mean for name, without in scores.drop_ones().items()}

    def story(self, name: str) -> ColumnFate:
        if name not in self.kept:
            return {"name": name, "fate": "held back", "why": self._held_back(name)}
        became, release = self.kept[name], self.outcome.decision.chosen.release
        if became == [name] and release.unaltered is not None:
            why = "Some of its values were changed on purpose."
            if release.is_drawn:
                why = "Its values are synthetic, drawn with noise within its public bounds."
            return {"name": name, "fate": "altered", "why": why}
        if became == [name]:
            return {"name": name, "fate": "released", "why": self._released(name)}
        many = "one column" if len(became) == 1 else f"{len(became)} columns"
        why = f"It is released as {many} of 0 and 1 that enough {self.outcome.table.unit} share."
        return {"name": name, "fate": "altered", "why": why}

    def _released(self, name: str) -> str:
        target, sensitive = self.outcome.table.target, self.outcome.evaluator.sensitive
        teaches = self.teaches[name] > NOTICEABLE
        first = f"It helps to predict {target}" if teaches else "Releasing it does no harm"
        if sensitive == target:
            return f"{first}."
        tells = self.tells[name] > NOTICEABLE
        how_much = ", although it reveals something" if tells else " and reveals little"
        return f"{first}{how_much} about {sensitive}."

    def _held_back(self, name: str) -> str:
        table, sensitive = self.outcome.table, self.outcome.evaluator.sensitive
        release = self.outcome.decision.chosen.release
        if release.is_drawn:
            chosen = release.recipe.public.get("kind") == "selected"
            return (
                "The choice, made with noise, fell on other columns."
                if chosen
                else "No public bounds were given for it, so it could not be drawn."
            )
        if self._breaks_k(name):
            unit, k = table.unit, self.outcome.settings.k
            few = f"fewer than {others(k, unit)}" if k > 2 else "no other"
            return (
                f"Attackers may know it, and with it some {unit} would share their values with "
                f"{few}."
            )
        if sensitive != table.target and self.tells[name] > NOTICEABLE:
            return f"It would help an attacker to guess {sensitive}."
        if self.teaches[name] <= NOTICEABLE:
            return f"It adds next to nothing to what the other columns say about {table.target}."
        return "Under the given weights, the release as a whole is better without it."

    def _breaks_k(self, name: str) -> bool:
        """Whether the release with this column as it is would not keep k equals."""
        release, table = self.outcome.decision.chosen.release, self.outcome.table
        as_they_are = [c for c in release.features if c in table.features]
        known = [c for c in (*as_they_are, name) if c in table.quasi]
        return name in table.quasi and k_anonymity(table, known) < self.outcome.settings.k
