"""`tamis init`: a commented configuration file from a look at a table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tamis.catalogue.methods import BY_DEFAULT
from tamis.catalogue.models import MODELS
from tamis.cli.options import command
from tamis.cli.table_source import TableSource
from tamis.errors import InputError, plural
from tamis.files import in_toml

if TYPE_CHECKING:
    from tamis.read.guesses import ColumnGuess
    from tamis.table import Table


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
    names = {look: [c.name for c in columns if c.looks == look] for look in _LOOKS}
    target = next(iter(names["target"]), None)
    lines = [
        f"# tamis release {json.dumps(source.table, ensure_ascii=False)} --config THIS --out DIR",
        "# Flags on the command line override this file.",
        "",
        "# What a recipient will learn to predict.",
        f"target = {in_toml(target)}" if target else '# target = "..."',
        "",
        "# What must stay hard to guess; by default the target.",
        f"sensitive = {in_toml(source.sensitive)}" if source.sensitive else '# sensitive = "..."',
        "",
        "# Columns that identify people: never released. These hardly repeat, look like keys by",
        "# name and values, repeat like people with several rows, or hold direct identifiers. Move",
        "# one that is an ordinary column to feature = [...] below.",
        f"identifier = {_texts([*source.identifier, *names['identifier']])}",
        "",
        "# Which of these say who a person is, where people may have several rows; by default a",
        "# number rather than a name, a patient rather than a stay.",
        *_person_lines(table, columns),
        f"person = {_texts(list(source.person))}" if source.person else "# person = []",
        "",
        "# Whether every row is a different person, where no column identifies people.",
        f"row_is_person = {str(source.row_is_person).lower()}",
        "",
        "# Columns to ignore. These have only one value, or follow the order of the rows.",
        f"drop = {_texts([*source.drop, *names['constant'], *names['order']])}",
        "",
        "# Ordinary columns, although they look like keys: released like any other.",
        f"feature = {_texts(list(source.feature))}",
        "",
        "# Columns that an attacker may know from elsewhere; by default all features.",
        f"quasi = {_texts(list(source.quasi))}" if source.quasi else "# quasi = []",
        "",
        "# Texts that mean a missing value, besides an empty cell.",
        f"missing = {_texts(list(source.missing))}",
        "",
        *_text_lines(source),
        *_SETTINGS,
        "",
        "# What the columns hold:",
        *(_comment(c) for c in columns),
        "",
        *_METHODS,
    ]
    return "\n".join(lines) + "\n"


def _text_lines(source: TableSource) -> list[str]:
    """How the text file is written, as far as that was said."""
    said = [f"{name} = {in_toml(value)}" for name, value in source.text.items() if value]
    return ["# How the text file is written; the rest is found in it.", *said, ""] if said else []


def _person_lines(table: Table, columns: list[ColumnGuess]) -> list[str]:
    """What each identifier would mean if it said who is a person, where they differ."""
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
    """The table of ladders, a line each."""
    lines = [f"{in_toml(name)} = {in_toml(ladder)}" for name, ladder in ladders.items()]
    return "\n".join(["", *_LADDERS, *lines]) + "\n"


_LADDERS = [
    "[ladders]                  # coarser forms of columns, from fine to coarse; edit them freely:",
    "# width = [5, 10], bottom = 20, top = 90     intervals of equal width, open at both ends",
    "# cuts = [[20, 40, 60], [40]]                intervals between cuts, a list for each level",
    "# keep = [3, 2]                              the first characters of a code",
    '# dates = ["month", "quarter", "year"]       or hour, day, decade',
    '# common = [["a", "b"], ["a"]]               values to keep; all others become "other"',
    '# groups = { x = ["a", "b"], y = ["c"] }     named groups; unlisted = "other" for the rest',
    '# file = "job.csv"                           lines of value;level 1;...;*',
    "# tamis ladder TABLE --config THIS --column NAME shows one with the people in each group.",
]


_LOOKS = ("target", "identifier", "order", "constant")
_SETTINGS = [
    "# Everybody hides among at least this many people.",
    "k = 5",
    "",
    "# The release that keeps most of the target, less this many times what it tells of the",
    "# sensitive column. Above 1 is more careful.",
    "caution = 1.0",
    "",
    "# Hard limits.",
    "# min_kept = 0.8           # of what can be learnt about the target",
    "# max_told = 0.2           # of what the table tells about the sensitive column",
    "# max_features = 10",
    "# max_lost_rules = 0.5",
    "# max_population_risk = 0.05    # and what is known of the population, one of:",
    '# population = "register.csv"',
    "# sampling = 0.01",
    "",
    f"# What a recipient would train: {', '.join(MODELS)}.",
    'classifier = "nb"',
    "",
    "# What attackers would train; the strongest counts.",
    'attackers = ["c45", "nb"]',
    "",
    "# The share of rows used to choose, and again to report; no search sees either.",
    "holdout = 0.25",
    "",
    "# The methods that propose releases.",
    f"methods = {in_toml(list(BY_DEFAULT))}",
    "",
    "# Release only synthetic rows, drawn with differential privacy at this cost within bounds.",
    "# epsilon = 1.0",
    '# bounds = "bounds.toml"',
]
_METHODS = [
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


def _texts(values: list[str]) -> str:
    return in_toml(list(dict.fromkeys(values)))
