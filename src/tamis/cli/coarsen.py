"""`tamis coarsen` and `tamis ladder`: columns in coarser forms, so that people look alike."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tamis.cli.options import command, given_ladders
from tamis.cli.population import (
    check_register,
    presence_words,
    read_register,
)
from tamis.cli.table_source import TableSource
from tamis.cli.terminal import bar, console, escape, print_json, rich_table
from tamis.errors import InputError, plural
from tamis.figures import count_words

if TYPE_CHECKING:
    from rich.table import Table as RichTable

    from tamis.coarsen.ladder import CountedLabel, Ladder
    from tamis.coarsen.search import Coarsened
    from tamis.outcome import Outcome
    from tamis.table import Table

MOST_LABELS = 25
"""The most labels of a level that are printed; --json gives all."""


@command("coarsen")
def coarsen(
    source: TableSource,
    ladder: tuple[str, ...],
    ladders: dict[str, Any] | None,
    output: str | None,
    as_json: bool,
    quiet: bool,
    population: str | None,
    **asked: Any,
) -> None:
    """Make columns coarser until people look alike.

    Each quasi-identifier of TABLE has a ladder of forms, from its values to nothing: of a csv file
    (--ladder COL=FILE), of [ladders] in a schema or configuration, or else one that tamis makes.
    """
    from tamis.table_file import format_named

    if output is not None:
        format_named(output)
    check_register({"population": population, **asked})
    table = source.read_with_roles()
    given = given_ladders(source, ladder, ladders)
    register = None if population is None else read_register(source, population, table)
    search = _learnt if asked["search"] == "learning" else _searched
    found = search(table, given, register, asked)
    if output is not None:
        _write(found, Path(output))
    if as_json:
        print_json(_result(found, table))
    else:
        _print_found(found, table, output)


def _searched(
    table: Table, given: dict[str, Ladder], register: Table | None, asked: dict[str, Any]
) -> Coarsened:
    """The best levels, or each class's own intervals and groups."""
    from tamis.coarsen.search import coarsened
    from tamis.require import options_of_groups, requirements

    required = requirements(**{name: asked.pop(name) for name in options_of_groups()})
    return coarsened(table, given, required, population=register, **asked)


def _learnt(
    table: Table, given: dict[str, Ladder], register: Table | None, asked: dict[str, Any]
) -> Coarsened:
    """The forms of columns that are worth most by what they keep and tell."""
    from tamis.flow import Settings, consider
    from tamis.require import options_of_groups

    if asked["metric"] != "loss":
        raise InputError(
            "--search learning goes by what is kept and told, not by a metric; leave out --metric"
        )
    if table.roles.target is None:
        raise InputError("--search learning needs a target; name it with --target")
    names = (*options_of_groups(), "max_suppressed", "delta_presence")
    limits = {name: asked[name] for name in names}
    settings = Settings(methods={"front": {}, "coarsen": {}}, **limits)
    return _coarsened_as(consider(table, settings, ladders=given, register=register))


def _coarsened_as(outcome: Outcome) -> Coarsened:
    """The chosen release as a generalised table."""

    from tamis.coarsen.ladder import Ladder
    from tamis.coarsen.search import Coarsened
    from tamis.risk.grouping import grouped

    table = outcome.table
    row, forms = outcome.decision.chosen, outcome.release.forms
    ladders = {c: Ladder.from_dict(c, form.ladder) for c, form in forms.items()}
    ladders |= {c: Ladder.from_dict(c, {"common": []}) for c in table.features if c not in forms}
    levels = {
        c: forms[c].level if c in forms else int(c not in row.release.features)
        for c in table.features
    }
    release = row.release.table
    known = grouped(release.frame, release.quasi, row.release.people) if release.quasi else None
    return Coarsened(
        release,
        row.release.mask,
        {c: ladders[c] for c in table.features},
        levels,
        "kept - told",
        (row.value("kept") or 0.0) - (row.value("told") or 0.0),
        0.0,
        1 if known is None else len(known.sizes),
        int(row.value("k_anonymity") or 0),
        None if outcome.population is None else outcome.population.presence_of(row.release),
    )


def _result(found: Coarsened, table: Table) -> dict[str, Any]:
    return {
        "levels": found.levels,
        "ladders": {column: ladder.to_dict() for column, ladder in found.ladders.items()},
        "metric": found.metric,
        "score": found.score,
        "bound": found.bound,
        "proven": found.proven,
        "rows": found.table.rows,
        "suppressed_rows": found.suppressed_rows,
        "classes": found.classes,
        "k_anonymity": found.k_anonymity,
        "unit": table.unit,
        "presence": found.presence and asdict(found.presence),
    }


def _write(found: Coarsened, path: Path) -> None:
    """Write the rows without identifiers, once the draft was read again and counted."""
    from tamis.table import only
    from tamis.verification.checks import equals_by_grouping, write_counted

    table = found.table
    leaving = [c for c in table.frame.columns if c not in table.held_back]
    known = [c for c in found.ladders if c in leaving and c in table.quasi]
    write_counted(
        only(table.frame, leaving),
        path,
        lambda again, people: equals_by_grouping(only(again, known), people),
        found.k_anonymity if known else 0,
        people=table.people,
        dictionary=table.dictionary,
    )


def _print_found(found: Coarsened, table: Table, output: str | None) -> None:
    out = console()
    if found.levels is None:
        out.print("Each class has its own intervals and groups of values.")
    else:
        out.print(_levels(found))
    out.print(_score_words(found), markup=False)
    rows = f"{plural(found.table.rows, 'row')} in {plural(found.classes, 'class', 'classes')}"
    left_out = f"{plural(found.suppressed_rows, 'row')} left out"
    least = count_words(found.k_anonymity, table.unit)
    out.print(f"{rows}, the smallest of {least}; {left_out}.", markup=False)
    if found.presence is not None:
        out.print(presence_words(found.presence), markup=False)
    if output is not None:
        out.print(f"written to {output}", markup=False)


def _levels(found: Coarsened) -> Any:
    table = rich_table("column", "level", "of", "", numbers=("level", "of"))
    for column, level in (found.levels or {}).items():
        top = found.ladders[column].top
        words = "as it is" if level == 0 else "held back" if level == top else ""
        table.add_row(escape(column), str(level), str(top), words)
    return table


def _score_words(found: Coarsened) -> str:
    score = f"{found.metric} {found.score:.4g}"
    if found.levels is None or found.metric == "kept - told":
        return f"{score}."
    if found.proven:
        return f"{score}: no levels are better."
    return (
        f"{score}; there are too many combinations of levels to try them all, and none is better "
        f"than {found.bound:.4g}."
    )


@command("ladder")
def ladder(
    source: TableSource,
    column: str,
    ladder: tuple[str, ...],
    ladders: dict[str, object] | None,
    k: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Show the coarser forms of a column, with the people in each.

    The ladder of the column of TABLE is the one of a csv file (--ladder COL=FILE), of [ladders] in
    a schema or configuration, or else one that tamis makes.
    """
    from tamis.coarsen.ladder import rungs
    from tamis.coarsen.ladder_sources import ladders_of

    table = source.read()
    given = given_ladders(source, ladder, ladders)
    shown = ladders_of(table, given, [column], k=k)[column]
    shown.check(table.frame.get_column(column))
    levels = [rungs(shown, table, level) for level in range(shown.top + 1)]
    if as_json:
        each = (_level_json(shown, number, found) for number, found in enumerate(levels))
        said = {"column": column, "given": column in given, "unit": table.unit}
        print_json({**said, "ladder": shown.to_dict(), "levels": list(each)})
    else:
        _print_ladder(shown, table, levels, column in given)


def _level_json(shown: Ladder, number: int, found: list[CountedLabel]) -> dict[str, object]:
    return {
        "level": number,
        "words": shown.words(number),
        "groups": len(found),
        "smallest": min(rung.people for rung in found),
        # Level 0 has a label for each value of the table, which nobody needs to see again.
        **({"labels": [rung.to_dict() for rung in found]} if number else {}),
    }


def _print_ladder(
    shown: Ladder, table: Table, levels: list[list[CountedLabel]], given: bool
) -> None:
    out = console()
    by = "as given" if given else "made by tamis; tamis init writes it where you can change it"
    out.print(f"{shown.column!r}: levels 0 to {shown.top}, {by}", markup=False)
    for number, found in enumerate(levels):
        few = count_words(min(rung.people for rung in found), table.unit)
        groups = f"{plural(len(found), 'group')}, the smallest of {few}"
        out.print(f"level {number}: {groups} ({shown.words(number)})", markup=False)
        if 0 < number < shown.top:
            out.print(_labels(found, table))


def _labels(found: list[CountedLabel], table: Table) -> RichTable:
    from tamis.cli import printable

    lines = rich_table("label", table.unit, "", numbers=(table.unit,))
    for rung in found[:MOST_LABELS]:
        label = "missing" if rung.label is None else escape(printable(rung.label))
        lines.add_row(label, f"{rung.people:,}", bar(rung.people / table.everybody))
    if len(found) > MOST_LABELS:
        lines.add_row(f"and {len(found) - MOST_LABELS:,} more", "", "")
    return lines
