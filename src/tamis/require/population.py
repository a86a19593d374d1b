"""Requirements for tables whose people are a sample of a population.

They limit how many people can be found in the population, and how likely a person of it is in the
table. Both depend on a release and on what is known of the population, not on the release's classes
alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

from tamis.errors import InputError
from tamis.figures import exceeds, falls_short
from tamis.option import Asked, Option
from tamis.require.base import Side, Unit
from tamis.stated import sentence

of_population = partial(Option, section="The population", rare=True)
"""An option about the population."""


@dataclass(frozen=True)
class OfPopulation:
    """A requirement on a release whose people are a sample of a population."""

    option: ClassVar[Option]
    """The option that asks for it."""
    figure: ClassVar[str]
    """The limited figure, in words."""
    needs: ClassVar[str]
    """What must be known of the population, in words."""
    of_register: ClassVar[bool] = False
    """Whether it needs a register of everybody."""

    @classmethod
    def of(cls, given: Any) -> Self:
        """The requirement for a value of the option."""
        raise NotImplementedError

    @property
    def name(self) -> str:
        return self.option.dest

    @property
    def bounds(self) -> tuple[tuple[Side, float], ...]:
        """The bounds, each with the side that the figure must be on."""
        raise NotImplementedError

    def measure(self, known: Any, release: Any) -> Any:
        """Measure a release with an `InPopulation`; `None` if there is nothing to measure."""
        raise NotImplementedError

    def figures(self, measured: Any) -> tuple[float, ...]:
        """The figure for each bound, from what was measured."""
        raise NotImplementedError

    def short_by(self, measured: Any) -> float:
        """By how much the worst figure exceeds its bound; 0 if all are met."""
        gaps = [
            abs(figure - bound)
            for (side, bound), figure in zip(self.bounds, self.figures(measured))
            if (falls_short if side == "at_least" else exceeds)(figure, bound)
        ]
        return max(gaps, default=0.0)

    def lacking(self, measured: Any) -> str:
        """What was required and what was reached instead, in words."""
        raise NotImplementedError

    def lacking_in_short(self, measured: Any) -> str:
        """`lacking` in a few words, for reports."""
        raise NotImplementedError


@dataclass(frozen=True)
class PopulationRiskLimit(OfPopulation):
    """The largest share of a release's people who can be found in the population.

    Examples
    --------
    >>> PopulationRiskLimit(0.05).bounds
    (('at_most', 0.05),)
    """

    most: float

    @classmethod
    def of(cls, given: float) -> Self:
        return cls(given)

    option: ClassVar[Option] = of_population(
        "max_population_risk",
        "Largest share of people found in the population.",
        "share",
        least=0,
        most=1,
        example=0.05,
        asked=Asked(
            "The most people to be found",
            "The share of people whom somebody could find in the whole population. It needs one of "
            "the two above.",
            "At most {}% of the people can be found in the population.",
            "There is no limit on how many are found in the population.",
        ),
    )
    figure: ClassVar[str] = "share of people found in the population"
    needs: ClassVar[str] = (
        "needs to know the population: give a register of it with --population FILE, the share "
        "that is in the table with --sampling, or weights with --weight COL"
    )

    @property
    def bounds(self) -> tuple[tuple[Side, float], ...]:
        return (("at_most", self.most),)

    def measure(self, known: Any, release: Any) -> Any:
        return known.risk_of(release)

    def figures(self, measured: Any) -> tuple[float, ...]:
        return (measured.risk,)

    def lacking(self, measured: Any) -> str:
        return (
            f"the {self.figure} must be at most {self.most:.4g} but is {measured.risk:.4g} "
            f"({self.short_by(measured):.2g} too much)"
        )

    def lacking_in_short(self, measured: Any) -> str:
        return f"{self.figure} {measured.risk:.4g}, not at most {self.most:.4g}"


@dataclass(frozen=True)
class DeltaPresence(OfPopulation):
    """delta-presence: the range of the probability that a person of the population is in the table.

    Examples
    --------
    >>> asked = DeltaPresence.of([0.1, 0.5])
    >>> asked.bounds
    (('at_least', 0.1), ('at_most', 0.5))
    """

    low: float
    high: float

    option: ClassVar[Option] = of_population(
        "delta_presence",
        "With --population: the chance that somebody of it is in the table.",
        "shares",
        metavar="LOW,HIGH",
    )
    figure: ClassVar[str] = "chance that somebody is in the table"
    needs: ClassVar[str] = "needs a register of everybody; give --population FILE"
    of_register: ClassVar[bool] = True

    @classmethod
    def of(cls, given: Sequence[float]) -> Self:
        """The requirement for two shares, the smaller first.

        >>> DeltaPresence.of("0.5")
        Traceback (most recent call last):
        tamis.errors.InputError: delta-presence is asked for as LOW,HIGH within 0 and 1, got 0.5
        """
        shares = given.split(",") if isinstance(given, str) else given
        bounds = tuple(map(float, shares))
        if len(bounds) != 2 or not 0 <= bounds[0] <= bounds[1] <= 1:
            raise InputError(
                "delta-presence is asked for as LOW,HIGH within 0 and 1, got "
                f"{','.join(f'{share:g}' for share in bounds)}"
            )
        return cls(*bounds)

    @property
    def shares(self) -> tuple[float, float]:
        return self.low, self.high

    @property
    def bounds(self) -> tuple[tuple[Side, float], ...]:
        return (("at_least", self.low), ("at_most", self.high))

    def measure(self, known: Any, release: Any) -> Any:
        return known.presence_of(release)

    def figures(self, measured: Any) -> tuple[float, ...]:
        return (measured.least, measured.most)

    def lacking(self, measured: Any) -> str:
        return (
            f"the {self.figure} must be from {self.low:.4g} to {self.high:.4g} but is from "
            f"{measured.least:.4g} to {measured.most:.4g}"
        )

    def lacking_in_short(self, measured: Any) -> str:
        return "it reveals which people of the population are in the table"

    def to_dict(self, columns: Iterable[str], unit: Unit, *, altered: bool) -> dict[str, Any]:
        """Its entry in a manifest, for the quasi-identifiers.

        For altered values the claim is about the true ones, so nobody else can recount it.
        """
        entry = {
            "key": "delta_presence",
            "columns": sorted(columns),
            "unit": unit,
            "at_least": float(self.low),
            "at_most": float(self.high),
            "recount": "nobody" if altered else "register",
        }
        return {**entry, "claim": sentence(entry)}


OF_POPULATION: tuple[type[OfPopulation], ...] = (PopulationRiskLimit, DeltaPresence)
"""Requirements in the population; failures are reported in this order."""


def required_in_population(asked: Mapping[str, Any]) -> tuple[OfPopulation, ...]:
    """The requirements asked for, by the names of `Settings`; missing or `None` asks for none.

    >>> required_in_population({"max_population_risk": 0.05, "delta_presence": None})
    (PopulationRiskLimit(most=0.05),)
    """
    given = ((kind, asked.get(kind.option.dest)) for kind in OF_POPULATION)
    return tuple(kind.of(value) for kind, value in given if value is not None)


def refuse_unknown_population(
    required: Iterable[OfPopulation],
    *,
    register: bool,
    known: bool,
    named: Callable[[Option], str] = lambda option: option.dest,
) -> None:
    """Raise for a requirement that needs to know more of the population than is known."""
    for each in required:
        if not (register if each.of_register else known):
            raise InputError(f"{named(each.option)} {each.needs}")
