"""The outcome of considering a table: everything that is analysed, published and shown."""

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
    """Columns of dates that were moved, and the number of people whose dates became missing."""

    columns: tuple[str, ...]
    blanked: int


@dataclass(frozen=True, eq=False)
class Outcome:
    """A choice with the table, settings, evaluator and proposals that led to it."""

    table: Table
    settings: Settings
    evaluator: Evaluator
    proposals: Proposals
    decision: Decision
    binary: Mapping[str, Cut] | None = None
    records: BinaryTable | None = None
    """The full sparse records, if `table` has only some of their columns."""
    population: InPopulation | None = None
    """What is known of the population that the table was drawn from."""
    copies: Mapping[str, Copy] = field(default_factory=dict)
    """Columns that were held back as copies of the target or the secret."""
    moved: MovedDates | None = None
    """Dates that were moved before anything else; `table` has the moved dates."""
    left_out: int = 0
    """Number of the original's columns that were never compared and are not in `records`."""
    engine: Mapping[str, Any] | None = None
    """What an engine sampled and counted, as a manifest's entry."""
    look: CloseLook | None = None
    """The close look of slower learners at the chosen release, once taken, see `closer`."""
    all_rows: AllRows | None = None
    """What all rows reach, if `table` is a sample of them."""

    @property
    def release(self) -> Release:
        """The chosen release."""
        return self.decision.chosen.release

    @property
    def required(self) -> Requirements:
        """The requirements on all rows, for each attacker."""
        return self.evaluator.requirements if self.all_rows is None else self.all_rows.asked

    @property
    def left_out_people(self) -> dict[str, int] | None:
        """Numbers of suppressed people and rows, and of all; `None` if nobody is suppressed."""
        return left_out_numbers(self.release) if self.all_rows is None else self.all_rows.left_out

    @property
    def least_k(self) -> int:
        """The smallest k asked for; counts of people from 1 to `least_k` - 1 are not published."""
        asked = self.required
        several = asked.views.values() if asked.several else ()
        return min([self.settings.k, *(some.k for some in several)])

    @cached_property
    def population_risk(self) -> PopulationRisk | None:
        """Population risk of the chosen release; `None` if nothing is known of the population."""
        return None if self.population is None else self.population.risk_of(self.release)

    def __repr__(self) -> str:
        return in_short(self, f"{self.decision!r} of {self.table!r}")

    def _repr_html_(self) -> str:
        return self.decision._repr_html_()

    def taking(self, name: str) -> Self:
        """The outcome with a named release instead of the best, as by `Settings.take`."""
        if self.all_rows is not None:
            raise InputError(
                "of a table behind an engine, all rows were counted for the release that was "
                "chosen; name another one with --choose-release"
            )
        settings = replace(self.settings, take=name)
        decision = taken(self.decision, name, settings.limits)
        return replace(self, settings=settings, decision=decision, look=None)

    def closer(self) -> Self:
        """The outcome after a close look at the chosen release: told is the worst of all readings.

        It is cached, so that everything reported of an outcome shows the same figures.
        """
        return self._closer

    @cached_property
    def _closer(self) -> Self:
        if self.look is not None:
            return self
        decision, card = self.decision, self.decision.scorecard
        look = close_look(self.evaluator.yardstick, self.release, self.settings.k)
        numbers = (card.number(decision.chosen), card.number(card.baseline))
        # Reversed, so that if the baseline is chosen, the release's reading replaces that of
        # everything under the same number.
        card = card.with_guesses(decision.shown)
        card = card.with_readings(dict(reversed([*zip(numbers, look.read)])))
        decision = decision.on(card, self.settings.limits)
        decision.measure()
        return replace(self, decision=decision, look=look)
