"""What all commands about a table share: how it is read, what counts it, what is printed."""

from __future__ import annotations

from functools import partial

from tamis.option import GENERAL, Option

_table = partial(Option, section="The table")
READING = (
    _table(
        "target",
        "What a recipient will learn to predict.",
        metavar="COL",
        note="What a recipient will learn to predict.",
        example="...",
    ),
    _table(
        "target_bins",
        "Classes of a numeric target: their number, or cut points.",
        "bins",
        default=(),
        metavar="N|x,y",
        rare=True,
    ),
    _table(
        "sensitive",
        "What must stay hard to guess.",
        "names",
        default=(),
        metavar="COLS",
        otherwise="target",
        note="What must stay hard to guess; by default the target.",
        example="...",
    ),
    _table(
        "quasi",
        "What an attacker may know.",
        "names",
        default=(),
        otherwise="all features",
        note="Columns that an attacker may know from elsewhere; by default all features.",
        example=[],
    ),
    _table(
        "identifier",
        "Columns that identify people; never released.",
        "names",
        default=(),
        note="Columns that identify people: never released. These hardly repeat, look like keys by "
        "name and values, repeat like people with several rows, or hold direct identifiers. Move "
        "one that is an ordinary column to feature = [...] below.",
    ),
    _table(
        "person",
        "Which of these identify people.",
        "names",
        default=(),
        otherwise="all",
        rare=True,
        note="Which of these say who a person is, where people may have several rows; by default a "
        "number rather than a name, a patient rather than a stay.",
        example=[],
    ),
    _table(
        "row_is_person",
        "Every row is a different person.",
        "flag",
        note="Whether every row is a different person, where no column identifies people.",
    ),
    _table("exact_identifiers", "p1 and P1 are two people, not one.", "flag", rare=True),
    _table(
        "drop",
        "Columns to ignore.",
        "names",
        default=(),
        note="Columns to ignore. These have only one value, or follow the order of the rows.",
    ),
    _table(
        "per_person",
        "Aggregate to one row per person: age=first,visits=count,*=last.",
        "pairs",
        default=(),
        metavar="COL=HOW",
        rare=True,
    ),
    _table("order", "Which row is first and last for --per-person.", metavar="COL", rare=True),
    _table("drop_unlabelled", "Leave out rows without a label.", "flag", rare=True),
    _table(
        "feature",
        "Identifier-like columns that may be released.",
        "names",
        default=(),
        rare=True,
        note="Ordinary columns, although they look like keys: released like any other.",
    ),
    _table(
        "weight",
        "How many of the population each row stands for; not released.",
        metavar="COL",
        rare=True,
        note="In a survey, how many people of the population each row stands for: never released, "
        "and risks are those in the population.",
        example="weight",
    ),
    _table(
        "missing",
        "Text that means missing; may be repeated.",
        multiple=True,
        metavar="TEXT",
        note="Texts that mean a missing value, besides an empty cell.",
    ),
    _table("schema", "Types, roles and 0/1 encoding.", metavar="FILE.toml", rare=True),
    _table(
        "format",
        "csv, tsv, parquet, arrow, sav, dta, sas, excel, svm or basket.",
        metavar="NAME",
        otherwise="by the name of the file",
        rare=True,
    ),
    _table(
        "encoding",
        "Encoding of text files: utf-8, windows-1252, ...",
        metavar="NAME",
        otherwise="found in the file",
        rare=True,
    ),
    _table(
        "separator",
        "Separator of cells or items in text files: , ; tab or another.",
        metavar="CHAR",
        otherwise="found in the file",
        rare=True,
    ),
    _table(
        "decimal",
        "Decimal mark in text files: point or comma.",
        metavar="MARK",
        otherwise="found in the file",
        rare=True,
    ),
    _table(
        "thousands",
        "Thousands separator: point, comma, space, apostrophe or none.",
        metavar="MARK",
        otherwise="found in the file",
        rare=True,
    ),
    _table(
        "dates",
        "Order of dates in text files: dmy, mdy or ymd.",
        metavar="ORDER",
        otherwise="found in the file",
        rare=True,
    ),
    _table(
        "long",
        "The columns of a long table.",
        "names",
        default=(),
        metavar="ENTITY,FEATURE",
        rare=True,
    ),
    _table("labels", "The labels of baskets or of a long table.", metavar="FILE", rare=True),
    _table("label_item", "Items that are labels.", "names", default=(), rare=True),
)
"""How a table is read and what its columns are: the fields of `TableSource`."""

_large = partial(Option, section="Large tables", rare=True)
ENGINE = (
    _large(
        "engine",
        "What counts the rows; auto: memory, or DuckDB for a table too large for it.",
        "choice",
        default="auto",
        choices=("auto", "memory", "polars", "duckdb", "spark"),
    ),
    _large("memory", "The most memory for DuckDB.", default="4GB", metavar="SIZE"),
    _large("scratch", "Folder for intermediate results.", metavar="DIR", otherwise="the system's"),
)
"""What counts the rows of a table that may not fit in memory."""
SAMPLING = (
    _large(
        "sample",
        "With an engine: the rows that models are trained on.",
        "count",
        default=50_000,
        least=100,
    ),
    _large("spark_master", "The Spark cluster.", default="local[2]", metavar="URL"),
)
"""The same where models are trained as well."""

_general = partial(Option, section=GENERAL)
CONFIG = _general("config", "A file with any options; flags override it.", metavar="FILE.toml")
JSON = _general("json", "Print one JSON document on stdout.", "flag", dest="as_json")
QUIET = _general("quiet", "No notes, no progress.", "flag")
COMMON = (CONFIG, JSON, QUIET)
SEED = _general("seed", "Seed of all random draws but secret ones.", "count", default=0, least=0)
SECRET_SEED = _general("seed", "Repeat a secret draw.", "count", least=0, otherwise="a new secret")
