"""`tamis audit`: how exposed is this table as it stands?"""

from __future__ import annotations

import warnings
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tamis.cli.gate import Gate
from tamis.cli.options import command, named_engine
from tamis.cli.population import (
    PopulationOptions,
    in_population,
    in_population_of_large,
    print_population,
)
from tamis.cli.table_source import TableSource
from tamis.cli.terminal import (
    bar,
    console,
    escape,
    print_json,
    print_large,
    print_understood,
    rich_table,
    understood,
    understood_large,
)
from tamis.errors import InputError, TamisWarning, plural
from tamis.figures import ONE, count_words, percent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from tamis.binary.records import BinaryTable
    from tamis.evaluate.column_bits import ColumnAlone
    from tamis.read.copies import Copy
    from tamis.read.harbour import HarbourItem
    from tamis.require.attacker import Attacker
    from tamis.risk.attackers import AttackerExposure
    from tamis.risk.audit import Exposure
    from tamis.risk.diversity import Likeness
    from tamis.risk.limits import LimitCheck
    from tamis.risk.population import PopulationRisk
    from tamis.risk.presence import Presence
    from tamis.risk.suda import SpecialUniques
    from tamis.rows import EngineName, EngineOptions
    from tamis.table import Table, Unit

_BINS = (1, 2, 3, 5, 10, 20, 50, 100, 1000, 10000)
_SHOWN = 10
_SHOWN_COLUMNS = 30
_SETS = 3
"""The most sets of columns that are listed."""


@command("audit")
def audit(
    source: TableSource,
    engine: EngineOptions,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Measure how exposed a table is as it stands.

    All figures are about the quasi-identifiers of TABLE; a missing value counts as a value of its
    own. A table larger than memory is counted on all rows by DuckDB or Spark. With limits, such as
    --k 5, the exit code is 1 where one is not met.
    """
    from tamis.read.copies import warn_of_copies
    from tamis.read.keys import warn_of_unstated_identifiers
    from tamis.require.attacker import knowing_rows
    from tamis.risk.attackers import NOT_OF_RECORDS, expose
    from tamis.rows.memory_only import RELEASING, refuse_memory_only

    gate, threats = Gate.of(options), options.pop("threats")
    asked = PopulationOptions(weight=source.weight, **options)
    name = named_engine(source, engine, quiet or as_json)
    if source.sparse:
        asked.refuse("the population is counted for tables")
        gate.refuse_population()
        if threats:
            raise InputError(NOT_OF_RECORDS)
    if name != "memory":
        refuse_memory_only({"known_rows": knowing_rows(threats)}, RELEASING, ["known_rows"])
        _audit_large(source, engine, name, gate, asked, threats, as_json, quiet)
        return
    if source.sparse:
        _audit_records(source.read_binary(), gate, as_json)
        return
    table = source.read()
    warn_of_unstated_identifiers(table)
    given_away = warn_of_copies(table)
    if not (quiet or as_json):
        print_understood(table)
    result = audit_table(table, source.rules().binary, asked.combine)
    result["population"], result["presence"] = in_population(source, table, asked)
    result["threats"] = expose(table, threats, gate.k)
    checks = gate.check(table, result["population"], result["presence"])
    checks += [check for each in result["threats"] for check in each.limits]
    if as_json:
        _print_as_json(table, result, asked, given_away, checks)
    else:
        print_audit(**result, target=table.roles.target or "")
    gate.decide(checks, quiet or as_json)


def _print_as_json(
    table: Table,
    result: dict[str, Any],
    asked: PopulationOptions,
    found_copies: Mapping[str, Copy],
    checks: Sequence[LimitCheck],
) -> None:
    found, risk = result["uniques"], result["population"]
    print_json(
        {
            "table": understood(table),
            **result["exposure"].to_dict(),
            "told_apart_by": table.person_columns,
            "person_candidates": [c._asdict() for c in table.person_candidates],
            "copies": {name: copy._asdict() for name, copy in found_copies.items()},
            "unlabelled": table.unlabelled,
            "attacker": result["attacker"],
            **result["containment"],
            "alone": [asdict(column) for column in result["alone"]],
            "special_uniques": None if found is None else found.to_dict(fraction=asked.sampling),
            "population": None if risk is None else risk.to_dict(),
            "presence": result["presence"] and asdict(result["presence"]),
            "safe_harbour": [
                {"number": i.number, "what": i.what, "found": [f._asdict() for f in i.found]}
                for i in result["harbour"]
            ],
            "limits": [each.to_dict() for each in checks],
            "attackers": [each.to_dict() for each in result["threats"]],
        }
    )


def _audit_large(
    source: TableSource,
    options: EngineOptions,
    name: EngineName,
    gate: Gate,
    asked: PopulationOptions,
    threats: Sequence[Attacker],
    as_json: bool,
    quiet: bool,
) -> None:
    """The exposure of a table that stays behind an engine; learners see a sample of it."""
    from tamis.read.keys import warn_of_unstated_identifiers
    from tamis.risk.attackers import expose
    from tamis.risk.audit import exposure
    from tamis.rows import running
    from tamis.rows.large_table import sampled

    with running(options, name) as engine:
        large = source.open_large(engine)
        if not (quiet or as_json):
            print_large(large)
        found = exposure(large)
        seen = expose(large, threats, gate.k)
        population, presence = in_population_of_large(source, large, asked)
        checks = gate.check_large(large, population, presence)
        checks += [check for each in seen for check in each.limits]
        drawn = sampled(large, options.sample, seed=0)
    warn_of_unstated_identifiers(drawn.table)
    attacker = _attacker(drawn.table)
    if attacker is not None:
        attacker["rows"] = drawn.table.rows
    if as_json:
        print_json(
            {
                "table": understood_large(large),
                **found.to_dict(),
                "told_apart_by": large.person_columns,
                "unlabelled": large.shape.unlabelled,
                "attacker": attacker,
                "engine": name,
                "population": None if population is None else population.to_dict(),
                "presence": presence and asdict(presence),
                "limits": [each.to_dict() for each in checks],
                "attackers": [each.to_dict() for each in seen],
            }
        )
    else:
        print_audit(found, {}, attacker, population=population, presence=presence, threats=seen)
    gate.decide(checks, quiet or as_json)


def audit_table(table: Table, encoding: Any = None, combine: int | None = None) -> dict[str, Any]:
    """The exposure of a table, and of its 0/1 form where it has one; counts people if known.

    `encoding` says how columns become 0/1, and `combine` is the most columns by which people are
    singled out.
    """
    from tamis.binary.records import binarise, from_wide, is_binary
    from tamis.read.harbour import safe_harbour
    from tamis.risk.audit import exposed
    from tamis.risk.grouping import scope
    from tamis.risk.suda import MOST_COLUMNS, singled_out

    scoped = scope(table)
    grouping = scoped.grouped()
    found: dict[str, Any] = {"exposure": exposed(scoped, grouping, table.unit), "containment": {}}
    few = len(scoped.quasi) <= MOST_COLUMNS
    found["uniques"] = singled_out(grouping, combine) if few else None
    found["attacker"] = _attacker(table)
    found["harbour"] = safe_harbour(table)
    found["alone"] = _columns_alone(table)
    if encoding is not None:
        found["containment"] = _containment(binarise(table, encoding))
    elif is_binary(table):
        found["containment"] = _containment(from_wide(table))
    return found


def _attacker(table: Table) -> dict[str, Any] | None:
    """Accuracy of naive Bayes in guessing the sensitive column, on held-out rows."""
    if table.sensitive is None or not table.features:
        return None
    from tamis.risk.breach import bayes_accuracy

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TamisWarning)  # the two figures stand side by side anyway
        try:
            found = bayes_accuracy(table)
        except InputError as error:
            return {"name": "naive Bayes", "reason": str(error)}
    sampled = {"rows": found.rows} if found.rows < table.rows else {}
    return {
        "name": "naive Bayes",
        "accuracy": found.accuracy,
        "majority": found.majority,
        **sampled,
    }


def _columns_alone(table: Table) -> list[ColumnAlone]:
    """What each column teaches and tells by itself; empty without a target."""
    if table.roles.target is None or not table.features:
        return []
    from tamis.errors import TamisError
    from tamis.evaluate.column_bits import columns_alone

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TamisWarning)
        try:
            return columns_alone(table)
        except TamisError:  # too few rows, or too many classes: there is nothing to measure
            return []


def _containment(records: BinaryTable) -> dict[str, Any]:
    import numpy as np

    from tamis.risk.containment import entity_anonymity

    each = entity_anonymity(records.matrix, people=records.people)
    weakest = each.argsort(kind="stable")[:_SHOWN]
    least = records.people.least(each)  # a person counts by their most revealing row
    sizes = np.arange(each.max() + 1)
    rows, people = (np.bincount(a, minlength=len(sizes)) for a in (each, least))
    return {
        "containment_anonymity": int(each.min()),
        "below_5": int((least < 5).sum()),
        "weakest": [{"row": row + 1, "anonymity": int(each[row])} for row in weakest.tolist()],
        "anonymity_sizes": [
            {"size": int(size), "rows": int(rows[size]), "people": int(people[size])}
            for size in sizes[rows > 0]
        ],
    }


def _audit_records(records: BinaryTable, gate: Gate, as_json: bool) -> None:
    found: dict[str, Any] = {
        "rows": records.rows,
        "unit": records.unit,
        "features": len(records.features),
        "ones": int(records.matrix.nnz),
        **_containment(records),
    }
    checks = gate.check_records(found["containment_anonymity"])
    if as_json:
        print_json({**found, "limits": [each.to_dict() for each in checks]})
        gate.decide(checks, silent=True)
        return
    out = console()
    out.print(
        f"{plural(records.rows, 'row')}, {plural(len(records.features), 'feature')}, "
        f"{found['ones'] / records.rows:.1f} ones per row"
    )
    _print_containment(out, found, records.rows, records.unit)
    gate.decide(checks, silent=False)


def print_audit(
    exposure: Exposure,
    containment: dict[str, Any],
    attacker: dict[str, Any] | None,
    uniques: SpecialUniques | None = None,
    population: PopulationRisk | None = None,
    presence: Presence | None = None,
    harbour: tuple[HarbourItem, ...] = (),
    alone: Sequence[ColumnAlone] = (),
    target: str = "",
    threats: Sequence[AttackerExposure] = (),
) -> None:
    """Print the audit in words, then in figures, then as a picture."""
    out, found = console(), exposure
    several, one = found.people < found.rows, found.unique_people == 1
    only = f"{'is' if one else 'are'} the only one"
    if several:
        only = f"{'has' if one else 'have'} a row that matches nobody else's"
    out.print(
        f"\n[bold]{found.unique_people:,} of {found.people:,} {found.unit} "
        f"({percent(found.unique_share)}) {only}[/bold] "
        f"{'in the' if several else 'with their'} values of {_joined(found.quasi)}."
    )
    if found.unique_people:
        out.print("Anyone who knows these values of a person finds that person's row.")
    if (pairs := found.two_rows) is not None:
        out.print(
            f"{pairs.people:,} people have two rows or more: by one row "
            f"{pairs.found_by_one:,} of them are found, by two rows {pairs.found_by_two:,} "
            "(tamis release --known-rows 2 asks for k people then, too)."
        )
    out.print()
    _print_figures(out, found, attacker)
    if threats:
        _print_threats(out, threats, found.unit)
    if population is not None:
        print_population(out, population, found.unit, presence)
    if containment:
        _print_containment(out, containment, found.people, found.unit)
    sizes = [(c.size, c.people) for c in found.class_sizes]
    _print_sizes(out, sizes, f"How many share a {ONE[found.unit]}'s values", found.unit)
    _print_columns(out, found)
    if alone:
        _print_alone(out, alone, found, target)
    if uniques is not None and uniques.exposed:
        _print_uniques(out, uniques, found.unit)
    if any(item.found for item in harbour):
        _print_harbour(out, harbour)


def _print_threats(out: Console, threats: Sequence[AttackerExposure], unit: Unit) -> None:
    """Print the exposure to each attacker, the worst first, with the limits that are not met."""
    numbers = ("k", f"unique {unit}")
    table = rich_table("attacker", "knows", *numbers, "asked for", numbers=numbers)
    for each in threats:
        short = sum(not check.met for check in each.limits)
        said = f"{short} of {len(each.limits)} not met" if short else "holds"
        cells = (f"{each.k_anonymity:,}", f"{each.unique_people:,}", said)
        table.add_row(escape(each.name), _joined(each.knows), *cells)
    out.print(table)


def _print_alone(out: Console, alone: Sequence[ColumnAlone], found: Exposure, target: str) -> None:
    """Print what each column tells and teaches by itself, the most telling first."""
    one = ONE[found.unit]
    tells, teaches = f"tells of {found.sensitive}", f"teaches of {target}"
    if alone[0].tells is None:
        table = rich_table("column", teaches, numbers=(teaches,))
        rows = [[c.column, f"{c.teaches:.3f}"] for c in alone]
    else:
        table = rich_table("column", tells, teaches, numbers=(tells, teaches))
        rows = [[c.column, f"{c.tells or 0.0:.3f}", f"{c.teaches:.3f}"] for c in alone]
    for name, *figures in rows[:_SHOWN_COLUMNS]:
        table.add_row(escape(name), *figures)
    out.print(f"\nWhat each column says by itself, in bits a {one}\n")
    out.print(table)


def _joined(names: tuple[str, ...]) -> str:
    shown = [escape(name) for name in names[:6]]
    rest = f" and {plural(len(names) - 6, 'more column')}" if len(names) > 6 else ""
    return ", ".join(shown) + rest


def _print_figures(out: Console, found: Exposure, attacker: dict[str, Any] | None) -> None:
    risk, unit = found.reidentification, found.unit
    table = rich_table("measure", "value", "in words", numbers=("value",))
    table.add_row("k-anonymity", str(found.k_anonymity), f"{unit} in the smallest group")
    table.add_row("classes", f"{found.classes:,}", f"groups of {unit} with the same values")
    who_is_in = "chance of finding a person known to be in it"
    table.add_row("prosecutor", percent(risk.prosecutor), who_is_in)
    above = f"{unit} found with a chance above {percent(risk.threshold)}"
    table.add_row("  at risk", percent(risk.prosecutor_above), above)
    table.add_row("journalist", percent(risk.journalist), "chance of finding somebody, anybody")
    table.add_row("marketer", percent(risk.marketer), f"share of {unit} found by matching them all")
    who = escape(repr(found.sensitive))
    if found.l_diversity is not None:
        spread = found.l_diversity
        least = f"values of {who} in the least diverse group"
        table.add_row("l-diversity", str(spread.distinct), least)
        table.add_row(
            "  entropy", f"{spread.entropy:.2f}", "the same, weighted by how even they are"
        )
        lean = f"how skewed {who} is in some group, 0 to 1"
        table.add_row("t-closeness", f"{found.t_closeness:.2f}", lean)
        _add_likeness(table, found.likeness, who)
    if attacker and "accuracy" in attacker:
        rows = f"{attacker['rows']:,} sampled rows" if "rows" in attacker else "rows"
        table.add_row(
            "attacker", percent(attacker["accuracy"]), f"{rows} whose {who} is guessed correctly"
        )
        table.add_row("  guessing", percent(attacker["majority"]), "the same without any column")
    out.print(table)


def _add_likeness(table: Any, found: Likeness | None, who: str) -> None:
    if found is None:
        return
    rows = (
        ("alpha", found.alpha, f"largest share of a group with the same {who}"),
        ("beta", found.beta, "how far such a share exceeds the usual one, times that"),
        ("delta", found.delta_disclosure, "largest logarithm of the ratio of both"),
    )
    for name, value, words in rows:
        table.add_row(name, "infinite" if value == float("inf") else f"{value:.2f}", words)


def _print_containment(out: Console, found: dict[str, Any], everybody: int, unit: str) -> None:
    out.print(
        f"[bold]Containment anonymity {found['containment_anonymity']:,}[/bold]: whatever a "
        f"{ONE[unit]} has, at least that many {unit} have."
    )
    out.print(f"{found['below_5']:,} of {everybody:,} {unit} hide among fewer than five.")
    weakest = ", ".join(f"{w['row']:,} ({w['anonymity']:,})" for w in found["weakest"])
    out.print(f"Weakest rows, with the number that have everything they have: {weakest}.\n")
    sizes = [(s["size"], s["people"]) for s in found["anonymity_sizes"]]
    _print_sizes(out, sizes, f"How many have everything that a {ONE[unit]} has", unit)


def _print_sizes(out: Console, sizes: list[tuple[int, int]], title: str, unit: str) -> None:
    """A histogram of how many people are alike, from pairs of (group size, people)."""
    table = rich_table(f"{unit} alike", unit, "", title=title, numbers=(unit,))
    bins = list(zip(_BINS, (*_BINS[1:], float("inf"))))
    counts = [sum(n for size, n in sizes if low <= size < high) for low, high in bins]
    for (low, high), people in zip(bins, counts):
        if people or low == 1:
            name = str(low) if high == low + 1 else f"{low} to {high - 1:.0f}"
            name = f"{low} or more" if high == float("inf") else name
            table.add_row(name, f"{people:,}", bar(people / max(counts)))
    out.print(table)


def _print_columns(out: Console, found: Exposure) -> None:
    numbers = (f"unique {found.unit}", "change", "k")
    table = rich_table("held back", *numbers, title="Riskiest columns", numbers=numbers)
    for effect in found.columns[:_SHOWN]:
        cells = (effect.unique_people, -effect.fewer_unique, effect.k_anonymity)
        table.add_row(escape(effect.column), *(f"{c:,}" for c in cells))
    out.print(table)


def _print_uniques(out: Console, found: SpecialUniques, unit: Unit) -> None:
    """Print which columns single people out, and which to generalise first."""
    table = rich_table("column", "part", "", title="What gives people away", numbers=("part",))
    for column, share in list(found.column_shares.items())[:_SHOWN]:
        table.add_row(escape(column), percent(share), bar(share))
    out.print(table)
    for line in _giveaway_words(found, unit):
        out.print(line, markup=False)


def _giveaway_words(found: SpecialUniques, unit: Unit) -> list[str]:
    """Print how few columns single people out, which these are, and what to generalise first."""
    needed = [
        f"{size} for {count_words(count, unit)}"
        for size, count in enumerate(found.by_size, start=1)
        if count
    ]
    sets = [
        f"{' + '.join(each.columns)} ({count_words(each.people, unit)})"
        for each in found.sets[:_SETS]
    ]
    return [
        f"Columns that single somebody out: {', '.join(needed)}.",
        f"Most often by: {'; '.join(sets)}.",
        f"Make coarser or hold back first: {', '.join(found.worst_columns)}.",
    ]


def _print_harbour(out: Console, harbour: tuple[HarbourItem, ...]) -> None:
    """Print which of the eighteen kinds of identifiers were found, and where."""
    found = [item for item in harbour if item.found]
    title = f"HIPAA's safe harbour: {len(found)} of {len(harbour)} kinds of identifiers found"
    table = rich_table("", "kind", "column", "why", title=title)
    for item in found:
        for column, why in item.found[:_SHOWN]:
            table.add_row(str(item.number), item.what, escape(column), why)
    out.print(table)
