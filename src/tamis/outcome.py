"""Everything that was found on the way to a choice: what is analysed, published and shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from tamis.all_rows import AllRows
from tamis.binary.records import BinaryTable, Cut
from tamis.decide import Decision, taken
from tamis.errors import InputError
from tamis.evaluate.close_look import CloseLook, close_look
from tamis.evaluate.evaluator import Evaluator
from tamis.evaluate.in_population import InPopulation
from tamis.notebook import in_short
from tamis.propose import Proposals
from tamis.read.copies import Copy
from tamis.release import Release
from tamis.release_counts import left_out_numbers
from tamis.require.base import Requirements
from tamis.risk.population import PopulationRisk
from tamis.settings import Settings as Settings
from tamis.table import Table

if TYPE_CHECKING:
    from typing import Self


class MovedDates(NamedTuple):
    """Columns of dates that were moved, and how many people have none any more."""

    columns: tuple[str, ...]
    blanked: int


@dataclass(frozen=True, eq=False)
class Outcome:
    """Everything found on the way to a choice."""

    table: Table
    settings: Settings
    evaluator: Evaluator
    proposals: Proposals
    decision: Decision
    binary: Mapping[str, Cut] | None = None
    records: BinaryTable | None = None
    """The sparse records that `table` has some columns of; `None` where it has all."""
    population: InPopulation | None = None
    """What is known of the population that the table was drawn from."""
    copies: Mapping[str, Copy] = field(default_factory=dict)
    """Columns that were held back as copies of the target or the secret."""
    moved: MovedDates | None = None
    """The dates that were moved before anything else; `table` has them moved."""
    left_out: int = 0
    """Columns of the original that were never compared, nor are among those records."""
    engine: Mapping[str, Any] | None = None
    """What an engine sampled and counted before, as a manifest has it."""
    look: CloseLook | None = None
    """What slower learners make of the chosen release, once they were asked: see `closer`."""
    all_rows: AllRows | None = None
    """What all rows reach where `table` is a sample of them; `None` where it has them all."""

    @property
    def release(self) -> Release:
        """The one that was chosen."""
        return self.decision.chosen.release

    @property
    def required(self) -> Requirements:
        """What is required of all rows, by each attacker."""
        return self.evaluator.requirements if self.all_rows is None else self.all_rows.asked

    @property
    def left_out_people(self) -> dict[str, int] | None:
        """The people and rows that are left out, and all there are; `None` where nobody is."""
        return left_out_numbers(self.release) if self.all_rows is None else self.all_rows.left_out

    @property
    def least_k(self) -> int:
        """The smallest k that is asked for: no count of people from 1 to one less is told."""
        asked = self.required
        several = asked.views.values() if asked.several else ()
        return min([self.settings.k, *(some.k for some in several)])

    @cached_property
    def population_risk(self) -> PopulationRisk | None:
        """Of the chosen release; `None` where nothing is known of the population."""
        return None if self.population is None else self.population.risk_of(self.release)

    def __repr__(self) -> str:
        return in_short(self, f"{self.decision!r} of {self.table!r}")

    def _repr_html_(self) -> str:
        return self.decision._repr_html_()

    def taking(self, name: str) -> Self:
        """The same comparison with the named release taken, as `Settings.take` would have it."""
        if self.all_rows is not None:
            raise InputError(
                "of a table behind an engine, all rows were counted for the release that was "
                "chosen; name another one with --choose-release"
            )
        settings = replace(self.settings, take=name)
        decision = taken(self.decision, name, settings.limits)
        return replace(self, settings=settings, decision=decision, look=None)

    def closer(self) -> Self:
        """The same after a close look at the chosen release: told is the worst of all readings.

        It is taken once, whoever asks: all that is said of an outcome is then of the same figures.
        """
        return self._closer

    @cached_property
    def _closer(self) -> Self:
        if self.look is not None:
            return self
        decision, card = self.decision, self.decision.scorecard
        look = close_look(self.evaluator.yardstick, self.release, self.settings.k)
        numbers = (card.number(decision.chosen), card.number(card.baseline))
        # Of equal numbers the first reading is that of the release, which is everything.
        card = card.with_guesses(decision.shown)
        card = card.with_readings(dict(reversed([*zip(numbers, look.read)])))
        decision = decision.on(card, self.settings.limits)
        decision.measure()
        return replace(self, decision=decision, look=look)
