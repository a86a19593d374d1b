"""A record of what tamis produces: make it before a refactoring, compare after each step.

::

    uv run python -m bench.freeze record FILE
    uv run python -m bench.freeze compare FILE

For a generated table and, if the real datasets are next to the checkout, samples of six of them,
as csv and as parquet: the SHA-256 of every file of a release, and the JSON of every command. What
is drawn with differential privacy has no seed, so only its structure is kept. A record is valid for
one machine and one set of versions. Names after FILE restrict it to some tables.
"""

from __future__ import annotations

import io
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, NamedTuple

import polars as pl

import tamis
from bench.labelled_tables import DATA
from tamis.cli import main as command_line
from tamis.datasets import patients
from tamis.errors import TamisError

DATE = "2000-01-01"
ROWS, MOST_COLUMNS = 400, 17
METHODS: dict[str, dict[str, Any]] = {
    "breach": {"most": 3},
    "containment": {"ks": [5, 20], "utilities": ["difference", "information"]},
    "noise": {},
    "flip": {},
}
ATTACKERS = ("c45", "nb", "logistic")
QUICK = ["--methods", "containment", "--attackers", "nb"]
Format = Literal["csv", "parquet"]
FORMATS: tuple[Format, ...] = ("csv", "parquet")


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
    """The generated table, then the real ones that can be found."""
    made = patients(ROWS)
    roles = {"quasi": made.quasi, "identifier": made.roles.identifiers}
    yield "patients", Sample(made.frame, made.target or "", made.sensitive or "", roles)
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
    for method in ("uniform", "gaussian", "flip"):
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
    yield "release", ["release", table, *flags, "--out", "released", *QUICK], False
    yield "verify", ["verify", "published"], False


def record(only: list[str]) -> dict[str, Any]:
    """Everything that is recorded, by table and format."""
    found = {}
    for name, sample in samples():
        for kind in FORMATS if not only or name in only else ():
            print(f"{name}.{kind}", file=sys.stderr)
            with inside_a_folder():
                found[f"{name}.{kind}"] = run_all(sample, kind)
    return found


def run_all(sample: Sample, kind: Format) -> dict[str, Any]:
    """What every command says of a table, and the digest of every file that is left."""
    for name, rows in (("table", sample.frame[:-100]), ("test", sample.frame[-100:])):
        (rows.write_csv if kind == "csv" else rows.write_parquet)(f"{name}.{kind}")
    pl.DataFrame({"name": list("xyz"), "a": [1, 3, 2], "b": [0.1, 0.2, 0.1]}).write_csv(
        "scores.csv"
    )
    found: dict[str, Any] = {"publish": publish(sample, kind)}
    for name, args, drawn in commands(sample, kind):
        begin = time.perf_counter()
        told = run([*args, "--json"])
        print(f"  {name} {time.perf_counter() - begin:.1f} s", file=sys.stderr)
        found[name] = structure(told) if drawn and not told["code"] else told
    found["files"] = {
        str(path): sha256(path.read_bytes()).hexdigest()
        for path in sorted(Path().rglob("*"))
        # A release made by the command line and the ledger bear today's date.
        if path.is_file()
        and path.parts[0] != "released"
        and not path.name.startswith(("dp-", "tamis-ledger"))
    }
    return found


def publish(sample: Sample, kind: Format) -> str:
    """A release of a set date in the folder `published`; why, where there can be none."""
    options: dict[str, Any] = {**sample.options}
    settings = tamis.Settings(methods=METHODS, attackers=ATTACKERS, format=kind)
    try:
        table = tamis.read_table(
            f"table.{kind}", target=sample.target, sensitive=sample.sensitive, **options
        )
        tamis.publish(tamis.consider(table, settings), "published", date=DATE)
    except TamisError as error:
        return str(error)
    return "published"


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
    page = Path("released", "report.html")
    if page.exists():
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
    if unknown := [name for name in only if name not in ("patients", *REAL)]:
        sys.exit(f"no table {', '.join(unknown)}; there are patients, {', '.join(REAL)}")
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
