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
        Everybody, including those in the table, with the quasi-identifiers of the table.
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
        """The risk in the columns that attackers may know; `None` where they know of no row.

        Altered values are taken for the true ones, so that altering them is no excuse.
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
        """How likely people of the register are in a release; `None` without one.

        Rows that are left out count as there, so that a crowded class is not hidden by that.
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
        """The register with its columns in the forms that they are released in."""
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
    """The same of a table behind an engine, whose classes are counted there.

    `classes` gives those of a release, or with `True` those of all rows, left out or not.
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
        """The same of those who are released, or of all."""
        classes = self.classes(release, bool(everyone))
        return presence_of_counts(*classes.beside(self._as_released(release, register)))


def population_of(
    sampling: float | None,
    register: Table | None,
    table: Any,
    required: Sequence[OfPopulation] = (),
) -> InPopulation | None:
    """What is known of the population; `None` if nothing, which is an error where it is needed.

    The weights of a table count where nothing better is known.
    """
    found, known = None, sampling is not None or register is not None
    if known:
        found = InPopulation(sampling, register)
    elif isinstance(table, Table):
        needed = any(not each.of_register for each in required)
        weights = population_weights(table, needed=needed)
        found = None if weights is None else InPopulation(weights=weights)
    refuse_unknown_population(required, register=register is not None, known=found is not None)
    return found


def register_of(frame: pl.DataFrame, table: Table | LargeTable) -> Table:
    """A register of everybody with the columns that count: what attackers may know, and who is who.

    People with several rows are told apart by the identifiers that do so in the table, the sample,
    where the register has all of them.
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
