"""The population that a table was drawn from: its options, its register, what is printed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tamis.cli.table_source import TableSource
from tamis.cli.terminal import rich_table
from tamis.errors import InputError
from tamis.figures import percent
from tamis.require.population import refuse_unknown_population, required_in_population

if TYPE_CHECKING:
    from rich.console import Console

    from tamis.risk.population import PopulationRisk
    from tamis.risk.presence import Presence
    from tamis.rows.large_table import LargeTable
    from tamis.table import Table

_NAMES = {"pitman": "Pitman", "zayatz": "Zayatz", "snb": "Chen and McNulty"}


def check_register(asked: Mapping[str, Any], weighed: bool = False) -> None:
    """Raise, before any work is done, for limits in the population if none is known."""
    register = asked["population"] is not None
    refuse_unknown_population(
        required_in_population(asked),
        register=register,
        known=register or weighed or asked.get("sampling") is not None,
        named=lambda option: option.flag,
    )


def read_register(source: TableSource, path: str, table: Table | LargeTable) -> Table:
    """The register in a file, its columns of the same types as those of the table."""
    from tamis.evaluate.in_population import register_of
    from tamis.read import read_table
    from tamis.table import Table

    rules = source.rules()
    shape = table if isinstance(table, Table) else table.shape
    kinds = {c: _declared(shape, c) for c in shape.quasi}
    everybody = read_table(
        path,
        missing=source.missing,
        schema=replace(
            rules,
            columns={**rules.columns, **{c: kind for c, kind in kinds.items() if kind}},
            roles={},
        ),
        **source.text,
        check=False,
    )
    return register_of(everybody.frame, table)


def _declared(table: Table, column: str) -> str:
    """The kind of a column, as a schema would declare it; empty where it has no such word."""
    import polars as pl

    if table.kind(column) == "nominal":
        return "text" if table.frame.schema[column] == pl.String else ""
    return "date" if table.frame.schema[column] in (pl.Date, pl.Datetime) else "number"


@dataclass(frozen=True)
class PopulationOptions:
    """The options that say what the population is, and how people are to be singled out."""

    population: str | None
    sampling: float | None
    weight: str | None
    missing_matches: bool
    combine: int | None

    def __post_init__(self) -> None:
        given = [self.population, self.sampling, self.weight]
        if sum(each is not None for each in given) > 1:
            raise InputError("give one of --population, --sampling and --weight")
        if self.missing_matches and self.weight is None:
            raise InputError(
                "--missing-matches goes with --weight COL; otherwise, missing is a value of its own"
            )

    def refuse(self, why: str) -> None:
        """Refuse the options where they cannot be used."""
        if any(each is not None for each in (self.population, self.sampling, self.weight)):
            raise InputError(f"{why}; leave --population, --sampling and --weight out")


def in_population(
    source: TableSource, table: Table, asked: PopulationOptions
) -> tuple[PopulationRisk | None, Presence | None]:
    """The risk in the population, where that is known, and which people of a register are here."""
    from tamis.risk.population import population_risk, population_weights
    from tamis.risk.presence import delta_presence

    weights = population_weights(table)
    if weights is not None:
        missing: Any = "anything" if asked.missing_matches else "value"
        return population_risk(table, weights=weights, missing=missing), None
    if asked.population is not None:
        register = read_register(source, asked.population, table)
        return population_risk(table, population=register), delta_presence(table, register)
    if asked.sampling is not None:
        return population_risk(table, sampling=asked.sampling), None
    return None, None


def in_population_of_large(
    source: TableSource, large: LargeTable, asked: PopulationOptions
) -> tuple[PopulationRisk | None, Presence | None]:
    """The risk in the population for a table behind an engine, which counts its classes."""
    from tamis.risk.behind_engine import cells_of, classes_in_memory
    from tamis.risk.population import classes_risk
    from tamis.risk.presence import presence_of_counts

    if asked.population is None and asked.sampling is None:
        return None, None
    names = tuple(c for c in large.shape.quasi if c != large.shape.sensitive)
    classes = classes_in_memory(large, names, cells_of(large, names))
    if asked.population is None:
        return classes_risk(classes, None, asked.sampling), None
    register = read_register(source, asked.population, large)
    return classes_risk(classes, register), presence_of_counts(*classes.beside(register))


def print_population(
    out: Console, found: PopulationRisk, unit: str, presence: Presence | None
) -> None:
    """The table and the population side by side."""
    there = "the population" if found.source == "register" else "the population, estimated"
    numbers = ("in the table", f"in {there}")
    table = rich_table("share", *numbers, numbers=numbers)
    alone = f"{unit} who are the only one" if unit == "people" else "rows that are the only one"
    table.add_row(alone, percent(found.sample_unique_share), percent(found.unique_share))
    average, risk = percent(found.sample_average), percent(found.risk)
    table.add_row("found by matching them all", average, risk)
    out.print(table)
    if presence is not None:
        out.print(presence_words(presence), markup=False)
    for line in _words(found):
        out.print(line + "\n", markup=False)


def presence_words(found: Presence) -> str:
    """Delta-presence, in words."""
    return (
        f"By these columns, somebody of the register is in the table with a chance from "
        f"{percent(found.least)} to {percent(found.most)} (delta-presence)."
    )


def _words(found: PopulationRisk) -> list[str]:
    """What the figures of the population are based on."""
    size = f"{found.size:,.0f} people"
    if found.source == "register":
        return [f"Counted in the register of {size}."]
    if found.estimates is None:
        return [f"The weights stand for {size}; risks after Benedetti and Franconi."]
    each = {name: getattr(found.estimates, name) for name in _NAMES}
    shares = [f"{_NAMES[name]} {'none' if s is None else percent(s)}" for name, s in each.items()]
    trusted = _NAMES[found.estimates.trusted]
    return [f"Of {size}, unique are: {', '.join(shares)}; Dankar's rule trusts {trusted}."]
