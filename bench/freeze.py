"""A record of what tamis produces: make it before a refactoring, compare after each step.

::

    uv run python -m bench.freeze record FILE
    uv run python -m bench.freeze compare FILE

For three generated tables (patients; stays, with several rows a person; shopping, sparse records)
and, if the real datasets are next to the checkout, samples of six of them, as csv and as parquet:
the SHA-256 of every file of releases that ask for each promise and use each method, and the JSON of
every command, through DuckDB too. What is drawn with differential privacy has no seed, so only its
structure is kept. A record is valid for one machine and one set of versions. Names after FILE
restrict it to some tables.

A change of bytes that is intended is written down with its reason in the message of its commit.
"""

from __future__ import annotations

import io
import json
import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, NamedTuple

import duckdb
import numpy as np
import polars as pl

import tamis
from bench.labelled_tables import DATA
from tamis.binary.records import BinaryTable
from tamis.cli import main as command_line
from tamis.datasets import behaviour, patients, stays
from tamis.errors import TamisError

DATE = "2000-01-01"
ROWS, SPARSE_ROWS, MOST_COLUMNS = 400, 2000, 17
SECRET = "0123456789abcdef" * 2
BY_CONTAINMENT: dict[str, Any] = {"ks": [5, 20], "utilities": ["difference", "information"]}
RELEASES: dict[str, dict[str, Any]] = {
    "papers": {
        "methods": {"breach": {"most": 3}, "containment": BY_CONTAINMENT, "noise": {}, "flip": {}},
        "attackers": ("c45", "nb", "logistic"),
        "secret": SECRET,
    },
    "usual": {},
    "ranks": {"choose": "ranks", "max_features": 6},
    "diverse": {"l": 2, "t": 0.5},
    "entropy": {"l": 2, "l_kind": "entropy", "max_suppressed": 0.1},
    "recursive": {"l": 2, "l_kind": "recursive", "c": 9.0, "max_average_risk": 0.2},
    "alike": {"alpha": 0.95, "beta": 4.0, "delta_disclosure": 2.5, "max_risk": 0.15},
    "suppressed": {"k": 10, "max_suppressed": 0.05},
    "absences": {"methods": {"containment": BY_CONTAINMENT}, "absences": 1},
    "population": {"max_population_risk": 0.5, "sampling": 0.1},
    "presence": {"delta_presence": (0.0, 0.95)},
    "known_rows": {"known_rows": 2, "k": 3},
    "attackers": {"threats": ("neighbour: knows {known}; k=6; l=2", "clerk: knows {known}; t=.4")},
    "dates": {"methods": {name: {} for name in ("shift", "front", "coarsen")}, "secret": SECRET},
    "altered": {
        "methods": {name: {} for name in ("microaggregate", "suppress", "swap", "pram")},
        "secret": SECRET,
    },
}
"""What each release asks for. The first is made in every format, the others as csv. What attackers
know stands for two columns of the table."""
QUICK = ["--methods", "containment", "--attackers", "nb"]
Format = Literal["csv", "parquet"]
FORMATS: tuple[Format, ...] = ("csv", "parquet")
SPARSE = "shopping"
MADE = ("patients", "stays", SPARSE)


class Sample(NamedTuple):
    """A table and the options that say what its columns are for."""

    frame: pl.DataFrame
    target: str
    sensitive: str
    options: Mapping[str, tuple[str, ...]] = {}

    @property
    def flags(self) -> list[str]:
        several = [
            x for name, given in self.options.items() for x in (f"--{name}", ",".join(given))
        ]
        return ["--target", self.target, "--sensitive", self.sensitive, *several]

    @property
    def columns_with_ladders(self) -> list[str]:
        """Two of the columns that attackers may know."""
        return list(self.options.get("quasi", self.frame.columns))[:2]


REAL = {
    "adult_train": ("class", "sex", {"quasi": ("age", "race"), "drop": ("fnlwgt",)}),
    "bank_marketing": ("y", "housing", {}),
    "credit_approval": ("class", "A9", {}),
    "ilpd": ("Selector", "Gender", {}),
    "mushroom": ("class", "class", {}),
    "pima": ("class", "class", {}),
}
"""Of each real table: what to predict, what is sensitive, other roles."""


def samples() -> Iterator[tuple[str, Sample]]:
    """The generated tables, then the real ones that can be found."""
    for name, made in (("patients", patients(ROWS)), ("stays", stays(ROWS))):
        roles = {"quasi": made.quasi, "identifier": made.roles.identifiers}
        yield name, Sample(made.frame, made.target or "", made.sensitive or "", roles)
    for name, (target, sensitive, options) in REAL.items():
        path = DATA / f"{name}.csv.gz"
        if not path.exists():
            print(f"{path.name} is not next to this checkout", file=sys.stderr)
            continue
        whole = pl.read_csv(path, null_values="?", infer_schema_length=None)
        some = whole.sample(min(ROWS, whole.height), seed=0)
        yield name, Sample(some[:, -MOST_COLUMNS:], target, sensitive, options)


def commands(sample: Sample, kind: Format) -> Iterator[tuple[str, list[str], bool]]:
    """Name, arguments and whether no seed makes the result the same, in the order to be run."""
    table, flags = f"table.{kind}", sample.flags
    few = [f"chosen.{kind}", "--target", sample.target]  # a few 0/1 columns
    select = ["select", table, *flags]
    contained = [*select, "--by", "containment", "--k", "8"]
    breach = [*select, "--by", "breach", "--repeats", "1"]
    perturb = ["perturb", table, *flags, "--method"]
    yield "audit", ["audit", table, *flags], False
    yield "init", ["init", table, *flags, "-o", "tamis.toml"], False
    for search in ("greedy", "improve", "maximal"):
        yield f"select {search}", [*contained, "--search", search], False
    yield "select stop", [*contained, "--on-violation", "stop", "-o", f"chosen.{kind}"], False
    hard = ["--by", "containment", "--k", "20", "--search", "exact"]
    yield "select exact", ["select", *few, *hard], False
    for utility in ("hamdist", "cm", "difference", "information", "likelihood", "auc", "best"):
        yield f"select {utility}", [*contained, "--utility", utility], False
    yield "select equality", [*contained, "--privacy", "equality"], False
    yield "select breach", breach, False
    yield "select breach c45", [*breach, "--classifier", "c45", "--folds", "3"], False
    for method in ("uniform", "gaussian", "flip", "microaggregate", "suppress", "swap", "pram"):
        yield (
            f"perturb {method}",
            [*perturb, method, "--seed", "1", "-o", f"{method}.{kind}"],
            False,
        )
    for method in ("dp-histogram", "dp-partition"):
        drawn = ["--method", method, "--epsilon", "100", "-o", f"{method}.{kind}"]
        yield method, ["perturb", *few, *drawn, "--bounds-from-data"], True
    yield "rules", ["rules", table, *flags, "-o", "rules.txt"], False
    yield "retain", ["retain", table, f"uniform.{kind}", *flags, "--test", f"test.{kind}"], False
    yield "choose", ["choose", "scores.csv", "--factor", "a:max", "--factor", "b:min"], False
    yield "release", ["release", table, *flags, "--out", "released/quick", *QUICK], False
    for name in RELEASES:
        if Path("published", name).exists():
            yield f"verify {name}", ["verify", f"published/{name}"], False
    if kind == "csv":
        yield from commands_on_csv(sample)


def commands_on_csv(sample: Sample) -> Iterator[tuple[str, list[str], bool]]:
    """More commands, which do the same whatever format a table is read from."""
    flags = sample.flags
    coarsen = ["coarsen", "table.csv", *flags]
    release = ["release", *flags, *QUICK]
    for search in ("exact", "local", "learning"):
        yield f"coarsen {search}", [*coarsen, "--search", search, "-o", f"{search}.csv"], False
    yield "coarsen diverse", [*coarsen, "--l", "2", "--t", "0.5", "--max-suppressed", "0.1"], False
    for column in sample.columns_with_ladders:
        yield f"ladder {column}", ["ladder", "table.csv", *flags, "--column", column], False
    yield "curve", ["curve", "table.csv", *flags, "--levels", "0,0.2", "--draws", "2"], False
    yield "audit sampled", ["audit", "table.csv", *flags, "--sampling", "0.1"], False
    yield "attack", ["attack", "table.csv", "published/usual", *flags], False
    judged = ["judge", "table.csv", "swap.csv", "exact.csv", "-o", "judged.html"]
    yield "judge", [*judged, *flags], False
    yield "front", [*release, "table.csv", "--choose", "front"], False
    yield "attack file", ["attack", "table.csv", "swap.csv", *flags, "--people", "100"], False
    beside = ["table.csv", "--beside", "published/usual", "--out", "released/beside"]
    yield "release beside", ["release", *flags, *beside], False
    whole = "whole.duckdb::rows"
    yield "audit engine", ["audit", whole, *flags], False
    yield "release engine", [*release, whole, "--out", "released/engine"], False
    yield "verify engine", ["verify", "released/engine"], False


def sparse_commands() -> Iterator[tuple[str, list[str], bool]]:
    """What is asked of sparse records."""
    contained = ["select", "table.svm", "--by", "containment", "--k", "8"]
    yield "audit", ["audit", "table.svm"], False
    for search in ("greedy", "improve", "maximal"):
        yield f"select {search}", [*contained, "--search", search], False
    for form in ("csv", "long", "svm"):
        out = ["--write", form, "--out", f"released/{form}"]
        yield f"release {form}", ["release", "table.svm", *out], False
        yield f"verify {form}", ["verify", f"released/{form}"], False


def record(only: list[str]) -> dict[str, Any]:
    """Everything that is recorded, by table and format."""
    found = {}
    for name, sample in samples():
        for kind in FORMATS if not only or name in only else ():
            print(f"{name}.{kind}", file=sys.stderr)
            with inside_a_folder():
                found[f"{name}.{kind}"] = run_all(sample, kind)
    if not only or SPARSE in only:
        print(SPARSE, file=sys.stderr)
        with inside_a_folder():
            write_log(behaviour(SPARSE_ROWS))
            found[SPARSE] = {**run_each(sparse_commands()), "files": digests()}
    return found


def write_log(log: BinaryTable) -> None:
    """Sparse records as a file, the label first."""
    ends, labels = log.matrix.indptr, np.asarray(log.labels) == "buyer"
    with open("table.svm", "w", encoding="utf-8") as file:
        for row, label in enumerate(labels):
            columns = log.matrix.indices[ends[row] : ends[row + 1]]
            print(int(label), *(f"{column + 1}:1" for column in columns), file=file)


def run_all(sample: Sample, kind: Format) -> dict[str, Any]:
    """What every command says of a table, and the digest of every file that is left."""
    parts = {"table": sample.frame[:-100], "test": sample.frame[-100:], "whole": sample.frame}
    for name, rows in parts.items():
        (rows.write_csv if kind == "csv" else rows.write_parquet)(f"{name}.{kind}")
    pl.DataFrame({"name": list("xyz"), "a": [1, 3, 2], "b": [0.1, 0.2, 0.1]}).write_csv(
        "scores.csv"
    )
    found: dict[str, Any] = {}
    for name, asked in RELEASES.items():
        if kind == "csv" or name == next(iter(RELEASES)):
            with timed(f"publish {name}"):
                found[f"publish {name}"] = publish(sample, kind, name, asked)
    if kind == "csv":
        with duckdb.connect("whole.duckdb") as base:
            base.execute("create table rows as from read_csv('table.csv')")
    return {**found, **run_each(commands(sample, kind)), "files": digests()}


def run_each(asked: Iterable[tuple[str, list[str], bool]]) -> dict[str, Any]:
    """What each command says."""
    found = {}
    for name, args, drawn in asked:
        with timed(name):
            told = run([*args, "--json"])
        found[name] = structure(told) if drawn and not told["code"] else told
    return found


def digests() -> dict[str, str]:
    """The hash of every file that is the same on every day."""
    return {
        str(path): sha256(path.read_bytes()).hexdigest()
        for path in sorted(Path().rglob("*"))
        # A release made by the command line and the ledger bear today's date.
        if path.is_file()
        and path.parts[0] != "released"
        and path.suffix != ".duckdb"
        and not path.name.startswith(("dp-", "tamis-ledger"))
    }


def publish(sample: Sample, kind: Format, name: str, asked: Mapping[str, Any]) -> str:
    """A release of a set date in a folder below `published`; why, where there can be none."""
    roles: dict[str, Any] = {"target": sample.target, "sensitive": sample.sensitive}
    roles |= sample.options
    known = ",".join(sample.columns_with_ladders)
    named = {"threats": tuple(t.format(known=known) for t in asked.get("threats", ()))}
    try:
        settings = tamis.Settings(**{"format": kind, **asked, **named})
        table = tamis.read_table(f"table.{kind}", **roles)
        register = None
        if settings.delta_presence is not None:
            register = tamis.read_table("whole.csv", **roles)
        outcome = tamis.consider(table, settings, register=register)
        tamis.publish(outcome, f"published/{name}", date=DATE)
    except TamisError as error:
        return neutral(str(error))
    return "published"


@contextmanager
def timed(name: str) -> Iterator[None]:
    begin = time.perf_counter()
    yield
    print(f"  {name} {time.perf_counter() - begin:.1f} s", file=sys.stderr)


def run(args: list[str]) -> dict[str, Any]:
    """The exit code of a command, its JSON and, if it failed, its message."""
    out, err = io.StringIO(), io.StringIO()
    code: Any = 0
    with redirect_stdout(out), redirect_stderr(err):
        try:
            command_line(args)
        except SystemExit as stop:
            code = stop.code
    told = neutral(out.getvalue())
    return {"code": code, "told": json.loads(told) if told else None} | (
        {"error": neutral(err.getvalue())} if code else {}
    )


def neutral(text: str) -> str:
    """Text without the folder and the day it was made in, nor the hash of a page that states it."""
    here, today = os.getcwd(), datetime.now(UTC).date().isoformat()
    for page in sorted(Path("released").rglob("report.html")):
        text = text.replace(sha256(page.read_bytes()).hexdigest(), "OF A DATED PAGE")
    return text.replace(here, "HERE").replace(today, DATE)


def structure(value: Any) -> Any:
    """Keys and kinds, without what was drawn."""
    if isinstance(value, dict):
        return {key: structure(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return sorted({json.dumps(structure(entry)) for entry in value})
    return "number" if isinstance(value, (int, float)) else type(value).__name__


@contextmanager
def inside_a_folder() -> Iterator[None]:
    """A working directory of its own, so that paths are short and the same."""
    before = os.getcwd()
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        for made in ("published", "released"):
            Path(made).mkdir()
        try:
            yield
        finally:
            os.chdir(before)


def differences(before: Any, after: Any, place: str = "") -> Iterator[str]:
    """What differs, each with the way to it."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            there = f"{place} / {key}" if place else key
            if key not in after or key not in before:
                yield f"{there}: {'new' if key in after else 'gone'}"
            else:
                yield from differences(before[key], after[key], there)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for i in range(len(before)):
            yield from differences(before[i], after[i], f"{place}[{i}]")
    elif before != after:
        yield f"{place}: {json.dumps(before)[:100]} -> {json.dumps(after)[:100]}"


def main(args: list[str]) -> None:
    if len(args) < 2 or args[0] not in ("record", "compare"):
        sys.exit("usage: python -m bench.freeze record|compare FILE [TABLE ...]")
    file, only = Path(args[1]), args[2:]
    if unknown := [name for name in only if name not in (*MADE, *REAL)]:
        sys.exit(f"no table {', '.join(unknown)}; there are {', '.join((*MADE, *REAL))}")
    if args[0] == "record":
        file.write_text(json.dumps(record(only), indent=1))
        return
    before, after = json.loads(file.read_text()), record(only)
    kept = {name: made for name, made in before.items() if name in after or not only}
    differing = list(differences(kept, after))
    print("\n".join(differing) or "nothing differs")
    sys.exit(bool(differing))


if __name__ == "__main__":
    main(sys.argv[1:])
