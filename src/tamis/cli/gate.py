"""Limits that a table must meet: where it does not, the command ends with exit code 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from tamis.catalogue.measures import PRESETS
from tamis.cli.terminal import console
from tamis.errors import CannotMeet, InputError, plural
from tamis.option import as_flag
from tamis.options.release import ATTACKER, PRESET, K
from tamis.require.population import (
    OF_POPULATION,
    OfPopulation,
    refuse_unknown_population,
    required_in_population,
)

if TYPE_CHECKING:
    from tamis.require.base import Requirements
    from tamis.risk.limits import LimitCheck
    from tamis.risk.population import PopulationRisk
    from tamis.risk.presence import Presence
    from tamis.rows.large_table import LargeTable
    from tamis.table import Table


@dataclass(frozen=True)
class Gate:
    """The limits that a table must meet."""

    groups: Requirements
    in_population: tuple[OfPopulation, ...]
    flags: frozenset[str]
    """Limits given on the command line. Those of a configuration file are for the release to be
    made: where the table does not meet them, that is only reported."""

    @classmethod
    def of(cls, options: dict[str, Any]) -> Gate:
        """The limits among the options, which are removed from them."""
        ctx = click.get_current_context()
        flags = {n for n in options if ctx.get_parameter_source(n) == ParameterSource.COMMANDLINE}
        if ctx.get_parameter_source(PRESET.dest) == ParameterSource.COMMANDLINE:
            flags |= set(PRESETS[ctx.params[PRESET.dest]].asks)
        from tamis.require import options_of_groups, requirements

        groups = requirements(**{name: options.pop(name) for name in options_of_groups()})
        asked = {kind.option.dest: options.pop(kind.option.dest) for kind in OF_POPULATION}
        return cls(groups, required_in_population(asked), frozenset(flags))

    @property
    def k(self) -> int:
        """The k that is asked for, or the usual one."""
        k: int = self.groups.k if self.groups.of_sizes else K.default
        return k

    def refuse_population(self) -> None:
        if self.in_population:
            flags = " and ".join(kind.option.flag for kind in OF_POPULATION)
            raise InputError(f"the population is counted for tables; leave {flags} out")

    def check(
        self, table: Table, population: PopulationRisk | None, presence: Presence | None
    ) -> list[LimitCheck]:
        """The figure of each limit for a table in memory."""
        from tamis.risk.grouping import scope
        from tamis.risk.limits import check_groups

        found = check_groups(self._asked(table), scope(table)) if self.groups else []
        return found + self._check_in_population(population, presence)

    def _check_in_population(
        self, population: PopulationRisk | None, presence: Presence | None
    ) -> list[LimitCheck]:
        from tamis.risk.limits import check_figure

        found = []
        measured = {"max_population_risk": population, "delta_presence": presence}
        for each in self.in_population:
            refuse_unknown_population(
                [each],
                register=presence is not None,
                known=population is not None,
                named=lambda option: option.flag,
            )
            figures = each.figures(measured[each.name])
            found += [
                check_figure(each.name, side, bound, figure, f"the {each.figure}")
                for (side, bound), figure in zip(each.bounds, figures)
            ]
        return found

    def _asked(self, table: Table) -> Requirements:
        """The requirements, about the columns and the secret of a table."""
        number = bool(table.sensitive) and table.kind(str(table.sensitive)) == "number"
        return self.groups.about(table.quasi, table.sensitive, number=number)

    def check_large(
        self, large: LargeTable, population: PopulationRisk | None, presence: Presence | None
    ) -> list[LimitCheck]:
        """The figure of each limit for a table behind an engine, by counts of all its rows."""
        from tamis.risk.behind_engine import cells_of, reached_by_all
        from tamis.risk.limits import check_limits
        from tamis.rows.memory_only import RELEASING, refuse_memory_only

        refuse_memory_only({each.name: True for each in self.groups}, RELEASING, ["known_rows"])
        found = self._check_in_population(population, presence)
        if not self.groups:
            return found
        names = tuple(c for c in large.shape.quasi if c != large.shape.sensitive)
        asked = self._asked(large.shape.with_roles(quasi=names))
        cells = cells_of(large, [*names, *filter(None, asked.by_secret)])
        reached = reached_by_all(asked, large, cells)
        figures = {each.name: figure for each, figure in reached.items()}
        return check_limits(asked, figures) + found

    def check_records(self, fewest: int) -> list[LimitCheck]:
        """The figure of each limit for sparse records, where only containment is counted."""
        from tamis.require.k import ContainmentAnonymity
        from tamis.risk.limits import check_limits

        if others := [each.name for each in self.groups if each.name != "k"]:
            raise InputError(f"of sparse records only --k is checked, not {as_flag(others[0])}")
        holders = [ContainmentAnonymity(self.groups.k)] if self.groups else []
        return check_limits(holders, {"k": fewest})

    def _is_flag(self, check: LimitCheck) -> bool:
        """Whether the command line asks for the limit."""
        return (ATTACKER.dest if check.attacker else check.name) in self.flags

    def decide(self, checks: Sequence[LimitCheck], silent: bool) -> None:
        """Raise an error that names the limits that fail, or print a line where all hold."""
        from tamis.risk.limits import gate_words

        mine = [each for each in checks if self._is_flag(each)]
        others = [each for each in checks if not self._is_flag(each)]
        if (failed := gate_words(others)) and not silent:
            words = f"of the file given with --config, {failed}; only a flag makes this an error"
            console(stderr=True).print(words, markup=False, soft_wrap=True)
        if failed := gate_words(mine):
            raise CannotMeet(failed)
        if mine and not silent:
            console(stderr=True).print(f"All limits hold ({plural(len(mine), 'limit')}).")
