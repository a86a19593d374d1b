"""What a release tells where its people are a sample of a larger population."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from tamis.arrays import Floats
from tamis.coarsen.ladder import Ladder
from tamis.errors import InputError, listed_as
from tamis.release import Release
from tamis.require.population import OfPopulation, refuse_unknown_population
from tamis.risk.population import (
    PopulationRisk,
    classes_risk,
    population_risk,
    population_weights,
)
from tamis.risk.presence import (
    CountedClasses,
    Presence,
    delta_presence,
    presence_of_counts,
    with_left_out,
)
from tamis.rows.large_table import LargeTable
from tamis.table import Roles, Table


@dataclass(frozen=True, eq=False)
class InPopulation:
    """What is known of the population: everybody in it, or the share that was sampled.

    Parameters
    ----------
    sampling : float, optional
        The share of the population that is in the table.
    register : Table, optional
        Everybody, including the people of the table, with the table's quasi-identifiers.
    weights : array of float, optional
        How many people of the population each row of the table stands for.

    Examples
    --------
    >>> from tamis.datasets import patients
    >>> from tamis.release import Recipe, released
    >>> table = patients(rows=400)
    >>> some = released(table, table.features[:2], "two columns", Recipe("hand"))
    >>> found = InPopulation(sampling=0.01).risk_of(some)
    >>> found.risk < found.sample_average
    True
    """

    sampling: float | None = None
    register: Table | None = None
    weights: Floats | None = None

    def __post_init__(self) -> None:
        known = (self.sampling, self.register, self.weights)
        if sum(each is not None for each in known) != 1:
            raise InputError(
                "the population is known by a register, by the share that was sampled or by "
                "weights; give one of them with --population, --sampling or --weight"
            )
        if self.sampling is not None and not 0 < self.sampling <= 1:
            raise InputError(
                f"the sampled share must be above 0 and at most 1, got {self.sampling:g}"
            )

    def covers(self, release: Release) -> bool:
        """Whether the register has every column that attackers may know of a release."""
        known = set(release.table.quasi)
        return self.register is None or known <= set(self.register.frame.columns)

    def risk_of(self, release: Release) -> PopulationRisk | None:
        """Population risk by the released quasi-identifiers; `None` where there are none.

        Altered releases count with their true values: altering gives no credit here.
        """
        table = release.true_values
        known = release.table.quasi
        if release.is_drawn or not known:
            return None
        if self.weights is not None:
            weights = release.cells(pl.Series(self.weights)).to_numpy()
            return population_risk(table, known, weights=weights)
        if self.register is None:
            return population_risk(table, known, sampling=self.sampling, people=release.people)
        everybody = self._as_released(release, self.register)
        return population_risk(table, known, population=everybody, people=release.people)

    def presence_of(self, release: Release) -> Presence | None:
        """Delta-presence of the people in the register; `None` without a register.

        The classes are also measured with suppressed rows included, so that suppression cannot
        hide a class nearly all of whose people are in the table.
        """
        if self.register is None or release.is_drawn:
            return None
        everybody = self._as_released(release, self.register)
        there, all_rows = (
            delta_presence(each.true_values, everybody, release.table.quasi, people=each.people)
            for each in (release, release.unsuppressed)
        )
        return with_left_out(there, all_rows)

    def _as_released(self, release: Release, register: Table) -> Table:
        """The register with its columns in the released forms."""
        columns = list(release.table.quasi)
        if strange := [c for c in columns if c not in register.frame.columns]:
            raise InputError(f"the register has no {listed_as('column', strange)}")
        series = {name: register.frame.get_column(name) for name in register.frame.columns}
        for name in columns:
            if name in release.forms:
                form = release.forms[name]
                series[name] = Ladder.from_dict(name, form.ladder).apply(series[name], form.level)
        return Table(pl.DataFrame(list(series.values())), register.roles)


@dataclass(frozen=True, eq=False, kw_only=True)
class CountedInPopulation(InPopulation):
    """`InPopulation` for a table behind an engine, which counts the equivalence classes.

    `classes` gives the classes of a release, or with `True` those of all rows, suppressed or not.
    """

    classes: Callable[[Release, bool], CountedClasses]

    def risk_of(self, release: Release) -> PopulationRisk | None:
        if not release.table.quasi:
            return None
        everybody = None if self.register is None else self._as_released(release, self.register)
        return classes_risk(self.classes(release, False), everybody, self.sampling)

    def presence_of(self, release: Release) -> Presence | None:
        if self.register is None:
            return None
        there, all_rows = (self.presence_among(release, self.register, all_) for all_ in (0, 1))
        return with_left_out(there, all_rows)

    def presence_among(self, release: Release, register: Table, everyone: int = 0) -> Presence:
        """Delta-presence counting the released rows only, or all rows if `everyone`."""
        classes = self.classes(release, bool(everyone))
        return presence_of_counts(*classes.beside(self._as_released(release, register)))


def population_of(
    sampling: float | None,
    register: Table | None,
    table: Any,
    required: Sequence[OfPopulation] = (),
) -> InPopulation | None:
    """What is known of the population; `None` if nothing. Raise if a requirement needs more.

    The table's weights are used where neither a sampled share nor a register is given.
    """
    population, known = None, sampling is not None or register is not None
    if known:
        population = InPopulation(sampling, register)
    elif isinstance(table, Table):
        needed = any(not each.of_register for each in required)
        weights = population_weights(table, needed=needed)
        population = None if weights is None else InPopulation(weights=weights)
    refuse_unknown_population(required, register=register is not None, known=population is not None)
    return population


def register_of(frame: pl.DataFrame, table: Table | LargeTable) -> Table:
    """The register reduced to the quasi-identifiers and the columns that identify a person.

    Rows belong to one person by the same identifiers as in the table, if the register has all of
    them; else each row is a person.
    """
    present = set(frame.columns)
    quasi = (table.shape if isinstance(table, LargeTable) else table).quasi
    if missing := [c for c in quasi if c not in present]:
        raise InputError(
            f"the register has no {listed_as('column', missing)}; it needs every column that "
            "attackers may know, see --quasi"
        )
    who = table.person_columns if present.issuperset(table.person_columns) else ()
    kept = [frame.get_column(c) for c in dict.fromkeys([*quasi, *who])]
    return Table(pl.DataFrame(kept), Roles(identifiers=who))
