"""What may be required where the people of a table are a sample of a population.

How many of them can be found in it, and how likely somebody of it is in the table. Both are asked
of a release and of what is known of the population, not of groups of people alike: who knows the
population counts more than the release shows.
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
"""The record of an option about the population."""


@dataclass(frozen=True)
class OfPopulation:
    """Something that must hold of a release whose people are a sample of a population."""

    option: ClassVar[Option]
    """What asks for it."""
    figure: ClassVar[str]
    """What is limited, in words."""
    needs: ClassVar[str]
    """What must be known of the population, in words."""
    of_register: ClassVar[bool] = False
    """Whether only a register of everybody will do."""

    @classmethod
    def of(cls, given: Any) -> Self:
        """As the option gives it."""
        raise NotImplementedError

    @property
    def name(self) -> str:
        return self.option.dest

    @property
    def bounds(self) -> tuple[tuple[Side, float], ...]:
        """Each bound, and on which side of it the figure must be."""
        raise NotImplementedError

    def measure(self, known: Any, release: Any) -> Any:
        """What an `InPopulation` measures of a release; `None` where there is nothing."""
        raise NotImplementedError

    def figures(self, measured: Any) -> tuple[float, ...]:
        """Of what was measured, the figure for each bound."""
        raise NotImplementedError

    def short_by(self, measured: Any) -> float:
        """By how much the worst figure is beyond its bound; 0 where all hold."""
        found = [
            abs(figure - bound)
            for (side, bound), figure in zip(self.bounds, self.figures(measured))
            if (falls_short if side == "at_least" else exceeds)(figure, bound)
        ]
        return max(found, default=0.0)

    def lacking(self, measured: Any) -> str:
        """What was asked for and what was reached instead, in words."""
        raise NotImplementedError

    def lacking_in_short(self, measured: Any) -> str:
        """The same in a few words, for reports."""
        raise NotImplementedError


@dataclass(frozen=True)
class PopulationRiskLimit(OfPopulation):
    """Of the people of a release, so many at most can be found in the population.

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
    """By what is released, somebody of the population is in the table with a chance in this range.

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
        """Two shares, the smaller first.

        >>> DeltaPresence.of("0.5")
        Traceback (most recent call last):
        tamis.errors.InputError: delta-presence is asked for as LOW,HIGH within 0 and 1, got 0.5
        """
        shares = given.split(",") if isinstance(given, str) else given
        found = tuple(map(float, shares))
        if len(found) != 2 or not 0 <= found[0] <= found[1] <= 1:
            raise InputError(
                "delta-presence is asked for as LOW,HIGH within 0 and 1, got "
                f"{','.join(f'{share:g}' for share in found)}"
            )
        return cls(*found)

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
        """Its entry in a manifest, by the columns that attackers may know.

        Where values were altered, the claim is about the true ones, and nobody else can count it.
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
"""What may be asked of a release in its population; failures are told in this order."""


def required_in_population(asked: Mapping[str, Any]) -> tuple[OfPopulation, ...]:
    """What is asked, by the names of `Settings`; what is missing or `None` is not.

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
    """Refuse what needs to know more of the population than is known."""
    for each in required:
        if not (register if each.of_register else known):
            raise InputError(f"{named(each.option)} {each.needs}")
