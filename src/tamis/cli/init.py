"""`tamis init`: a commented configuration file for a table."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from tamis.cli.options import command
from tamis.cli.table_source import TableSource
from tamis.errors import InputError, plural
from tamis.files import in_toml
from tamis.option import Option
from tamis.options.reading import READING
from tamis.options.release import RELEASE

if TYPE_CHECKING:
    from tamis.read.guesses import ColumnGuess
    from tamis.table import Table

WIDTH = 92
"""The longest line of a comment."""


@command("init")
def init(source: TableSource, output: str, force: bool, as_json: bool, quiet: bool) -> None:
    """Write a commented configuration file for a table.

    Look at TABLE, guess what its columns are, and write what tamis release needs to know.
    """
    from tamis.cli.terminal import console, print_json
    from tamis.files import written
    from tamis.read.guesses import guess_columns

    path = Path(output)
    if path.exists() and not force:
        raise InputError(f"{path} already exists; pass --force, or another name with -o")
    table = source.read()
    columns = guess_columns(table)
    ladders = likely_ladders(source, table, columns)
    content = configuration(source, table, columns) + ladder_lines(ladders)
    with written(path) as draft:
        draft.write_text(content, encoding="utf-8")
    if as_json:
        shown = {"columns": [vars(c) for c in columns], "ladders": ladders}
        print_json({"config": str(path), **shown})
    elif not quiet:
        console().print(
            f"Wrote {path}. Read it, correct it, then run:\n\n  "
            f"tamis release {source.table} --config {path} --out DIR",
            markup=False,
        )


def configuration(source: TableSource, table: Table, columns: list[ColumnGuess]) -> str:
    """The text of the file; every name is quoted."""
    lines = [
        f"# tamis release {json.dumps(source.table, ensure_ascii=False)} --config THIS --out DIR",
        "# Flags on the command line override this file.",
        "",
        *_column_lines(source, table, columns),
        *_text_lines(source),
        *setting_lines(),
        "# What the columns hold:",
        *(_comment(c) for c in columns),
        "",
        *_METHODS,
    ]
    return "\n".join(lines) + "\n"


def _column_lines(source: TableSource, table: Table, columns: list[ColumnGuess]) -> list[str]:
    """The roles of the columns, as far as they were given or can be guessed."""
    said = asdict(source)
    for role, looks in _LOOKS.items():
        said[role] = [*said[role], *(c.name for c in columns if c.looks in looks)]
    for role in ("target", "weight"):
        found = next((c.name for c in columns if c.looks == role), None)
        said[role] = found if role == "target" else said[role] or found
    lines = []
    for option in READING:
        if option.note:
            more = _person_lines(table, columns) if option.name == "person" else []
            lines += [*_wrapped(option.note), *more, _entry(option, said[option.name]), ""]
    return lines


def setting_lines() -> list[str]:
    """The options of a release with their defaults; limits without a default are comments."""
    lines = []
    for section, options in _by_section(RELEASE).items():
        for option in (o for o in options if o.default is not None):
            lines += [*_wrapped(option.note), _entry(option, option.default), ""]
        unset = [option for option in options if option.default is None]
        if unset:
            lines.append(f"# {section}: remove the # of what you ask for.")
            lines += [f"{_entry(option, None):30} # {option.help}" for option in unset] + [""]
    return lines


def _by_section(options: Iterable[Option]) -> dict[str, list[Option]]:
    """The options that the file names, by their section."""
    found: dict[str, list[Option]] = {}
    for option in options:
        if option.note or option.example is not None:
            found.setdefault(option.section, []).append(option)
    return found


def _entry(option: Option, value: Any) -> str:
    """A line of the file; a comment where the option has no value and no default."""
    if isinstance(value, tuple | list):
        value = list(dict.fromkeys(value))
    if option.example is not None and not value:
        return f"# {option.name} = {in_toml(option.example)}"
    return f"{option.name} = {in_toml(value)}"


def _wrapped(note: str) -> list[str]:
    return wrap(note, WIDTH, initial_indent="# ", subsequent_indent="# ")


def _text_lines(source: TableSource) -> list[str]:
    """How the text file is written, as far as that was given."""
    said = [f"{name} = {in_toml(value)}" for name, value in source.text.items() if value]
    return ["# How the text file is written; the rest is found in it.", *said, ""] if said else []


def _person_lines(table: Table, columns: list[ColumnGuess]) -> list[str]:
    """How many people there would be by each identifier, where these differ."""
    found = [c.name for c in columns if c.looks == "identifier"]
    roles = {"identifiers": tuple(found), "person": None, "quasi": None, "plain": ()}
    candidates = table.with_roles(**roles).person_candidates
    if len({each.people for each in candidates}) < 2:
        return []
    return [f"#   {each.words()}" for each in candidates]


def likely_ladders(
    source: TableSource, table: Table, columns: list[ColumnGuess]
) -> dict[str, dict[str, Any]]:
    """The ladders of the ordinary columns: the given ones, or else those that tamis makes."""
    from tamis.cli.options import given_ladders
    from tamis.coarsen.ladder_sources import ladders_of

    features = [c.name for c in columns if c.name in table.features and not c.looks]
    ladders = ladders_of(table, given_ladders(source, (), None), features)
    return {name: ladder.to_dict() for name, ladder in ladders.items()}


def ladder_lines(ladders: dict[str, dict[str, Any]]) -> str:
    """The table of ladders, one line per column."""
    lines = [f"{in_toml(name)} = {in_toml(ladder)}" for name, ladder in ladders.items()]
    return "\n".join(["", *_LADDERS, *lines]) + "\n"


_LADDERS = [
    "[ladders]                  # coarser forms of columns, from fine to coarse; edit them freely:",
    "# width = [5, 10], bottom = 20, top = 90     intervals of equal width, open at both ends",
    "# cuts = [[20, 40, 60], [40]]                intervals between cuts, a list for each level",
    "# step = [10, 100]                          numbers cut down to a multiple, still numbers",
    "# keep = [3, 2]                              the first characters of a code",
    '# dates = ["month", "quarter", "year"]       or hour, day, decade',
    '# common = [["a", "b"], ["a"]]               values to keep; all others become "other"',
    '# groups = { x = ["a", "b"], y = ["c"] }     named groups; unlisted = "other" for the rest',
    '# file = "job.csv"                           lines of value;level 1;...;*',
    "# tamis ladder TABLE --config THIS --column NAME shows one with the people in each group.",
]


_LOOKS = {"identifier": ("identifier",), "drop": ("constant", "order")}
"""The values of `ColumnGuess.looks` by which a column gets each role."""
_METHODS = [
    "# [[attacker]]             # who might try: a table for each, with what must hold then",
    '# name = "neighbour"',
    '# knows = ["age", "sex", "zip"]',
    '# wants = ["illness"]      # of the sensitive columns; without this line all of them',
    "# k = 5",
    "",
    "[breach]                   # unaltered columns that teach without giving people away",
    'search = "auto"            # or walk, exhaustive, forward, backward',
    "folds = 10",
    "most = 4                   # candidates to compare",
    "",
    "[containment]              # 0/1 columns; whatever anyone has, k people have",
    "ks = []                    # empty: k, twice k and four times k",
    'utilities = ["difference", "distcnt"]',
]


def _comment(c: ColumnGuess) -> str:
    missing = f", {c.missing:,} missing" if c.missing else ""
    looks = f", looks like: {c.looks}" if c.looks else ""
    looks += f" ({c.content or c.why})" if c.content or c.why else ""
    return f"#   {in_toml(c.name)}: {c.kind}, {plural(c.distinct, 'value')}{missing}{looks}"
