"""Every way that bytes of others come into tamis, each with an intact file to begin from."""

from __future__ import annotations

import gzip
import io
import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import polars as pl

from fuzz import asked

MARK = "zqcell"
"""Every cell of the intact tables holds it, so that a message that shows a cell is noticed."""
ROWS = 24


@dataclass(frozen=True)
class Door:
    """A reader: an intact file, the name it is read under, and what reads it."""

    name: str
    file: str
    intact: Callable[[], bytes]
    read: Callable[[Path], object]
    header: bool = True
    """Whether the first line names columns, which messages may show."""


def frame() -> pl.DataFrame:
    """A small table of every kind of column."""
    return pl.DataFrame(
        {
            "who": [f"{MARK}{i}" for i in range(ROWS)],
            "thing": [f"{MARK}-{i % 3}é" for i in range(ROWS)],
            "x": [i / 7 - 1 for i in range(ROWS)],
            "n": [None if i % 5 == 0 else i for i in range(ROWS)],
            "day": [f"2024-0{1 + i % 9}-11" for i in range(ROWS)],
            "y": [(f"{MARK} yes", f'{MARK} "no", maybe')[i % 2] for i in range(ROWS)],
        }
    ).with_columns(pl.col("day").str.to_date())


def _csv(separator: str = ",") -> bytes:
    return frame().write_csv(separator=separator).encode()


def _parquet() -> bytes:
    file = io.BytesIO()
    frame().write_parquet(file)
    return file.getvalue()


def _arrow() -> bytes:
    file = io.BytesIO()
    frame().write_ipc(file)
    return file.getvalue()


@cache
def _duckdb() -> bytes:
    import duckdb

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.duckdb"
        with duckdb.connect(str(path)) as database:
            database.execute(
                f"CREATE TABLE t AS SELECT i AS n, '{MARK}' || i AS thing, "
                "CASE WHEN i % 2 = 0 THEN 'u' ELSE 'v' END AS y FROM range(24) AS r(i)"
            )
        return path.read_bytes()


def _statistical(ending: str) -> Callable[[], bytes]:
    """The small table as a program of statistics has it, with labels."""

    @cache
    def written() -> bytes:
        from tamis.spreadsheet import write_sheet
        from tamis.statistical_file import write_statistical

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"t.{ending}"
            if ending == "xlsx":
                write_sheet(frame(), path)
            else:
                write_statistical(frame(), path, ending)
            return path.read_bytes()

    return written


SAS = "TAMIS_SAS_FILE"
"""The environment variable that names an intact .sas7bdat file: none can be written here."""


def _sas() -> bytes:
    return Path(os.environ[SAS]).read_bytes()


def _read_sas(path: Path) -> object:
    from tamis.statistical_file import read_statistical

    return read_statistical(path, "sas")


def _unpacked_sheet() -> bytes:
    """The sheet of the spreadsheet alone, so that damage meets cells and not an archive."""
    with ZipFile(io.BytesIO(_statistical("xlsx")())) as packed:
        return packed.read("xl/worksheets/sheet1.xml")


def _read_unpacked_sheet(path: Path) -> object:
    book = path.with_suffix(".xlsx")
    with ZipFile(io.BytesIO(_statistical("xlsx")())) as intact, ZipFile(book, "w") as packed:
        for name in intact.namelist():
            damaged = name == "xl/worksheets/sheet1.xml"
            packed.writestr(name, path.read_bytes() if damaged else intact.read(name))
    return _read_table(book)


def _svm() -> bytes:
    lines = (f"{'+1' if i % 3 else '-1'} {1 + i % 4}:1 {6 + i % 5}:1 # {MARK}" for i in range(ROWS))
    return "\n".join(lines).encode()


def _basket() -> bytes:
    return "\n".join(f"{MARK}{i % 3} {MARK}{3 + i % 4} {7 + i % 2}" for i in range(ROWS)).encode()


RULES = f"""# two rules
r1: age >= 40 and job = '{MARK} a' -> ill = yes
r2: 3 < `body mass` <= 7.5 & job in {{a, "b c"}} -> ill ~ {{yes: 0.25, no: 0.75}}
{{sex=Male,job={MARK}}} => {{ill=yes}}
"""
SCHEMA = """missing = ["?"]
[columns]
x = "number"
who = "text"
[roles]
target = "y"
quasi = ["x", "thing"]
identifier = ["who"]
[binary]
x = { cuts = [-0.5, 0.5] }
n = { quantiles = 4 }
thing = "values"
[ladders]
x = { width = [1, 2], top = 3 }
day = { dates = ["month", "year"] }
thing = { keep = [3, 2] }
"""
BOUNDS = """missing = ["n"]
rows = 24
[bounds]
y = ["u", "v"]
x = { type = "number", low = -1, high = 3, decimals = 1 }
n = [0, 99]
thing = { type = "category", values = ["a"], other = "else" }
"""
LADDER = "\n".join(f"{MARK}{i};group {i % 3};*" for i in range(9))


def _read_table(path: Path) -> object:
    from tamis import read_table

    return read_table(path, target="y", identifier=["who"])


def _read_duckdb(path: Path) -> object:
    from tamis import read_table

    return read_table(f"{path}::t", target="y")


def _read_sparse(path: Path) -> object:
    from tamis.read import read_binary

    return read_binary(path).frame()


def _read_labelled(path: Path) -> object:
    from tamis.read import read_binary

    return read_binary(path, label_items=["7"])


def _read_long(path: Path) -> object:
    from tamis.read import read_binary

    return read_binary(path, long=("who", "thing"), target="y")


def _read_rules(path: Path) -> object:
    from tamis import RuleSet

    rules = RuleSet.parse(path.read_bytes().decode("utf-8", "replace"))
    if RuleSet.parse(rules.to_text(), target=rules.target) != rules:
        raise AssertionError("rules written and read again differ")
    return rules


def _json_rules() -> bytes:
    from tamis import RuleSet

    return RuleSet.parse(RULES).to_json().encode()


def _read_json_rules(path: Path) -> object:
    from tamis import RuleSet

    return RuleSet.from_json(path.read_bytes().decode("utf-8", "replace"))


def _read_schema(path: Path) -> object:
    from tamis.coarsen.ladder_sources import ladder_from
    from tamis.read.schema import load_schema

    schema = load_schema(path)
    return {name: ladder_from(name, each) for name, each in schema.ladders.items()}


def _read_bounds(path: Path) -> object:
    from tamis.cli.dp import public_bounds
    from tamis.dp.domain import axis

    public = public_bounds(str(path))
    return [axis(name, declared) for name, declared in public.bounds.items()]


def _read_ladder(path: Path) -> object:
    from tamis.coarsen.ladder_sources import read_ladder

    ladder = read_ladder(path, "job", unlisted="other")
    return [ladder.apply(pl.Series("job", [f"{MARK}1", None]), i) for i in range(ladder.top + 1)]


def _read_large(engine: str) -> Callable[[Path], object]:
    """A reader of tables that are not taken into memory: every cell is read once."""

    def read(path: Path) -> object:
        from tamis.rows import EngineOptions, running
        from tamis.rows.counts import count_rows
        from tamis.rows.sources import open_large

        source = f"{path}::t" if path.suffix == ".duckdb" else str(path)
        with running(EngineOptions(scratch=str(path.parent)), engine) as ran:  # type: ignore[arg-type]
            large = open_large(ran, source, target="y")
            ran.hold(large.frame)
            return count_rows(ran, large.frame)

    return read


COARSE = "thing,x,n,y\n" + "\n".join(
    f'"{{{MARK}-0é, {MARK}-{1 + i % 2}é}}","[{-1 + i // 8}, {i // 8})",{i},{MARK} {i % 2}'
    for i in range(ROWS)
)


def _read_attacked(path: Path) -> object:
    """A released file as an attacker takes it: in the terms of the original, then linked."""
    from tamis import Roles, Table, read_table
    from tamis.attack.linkage import linkage
    from tamis.attack.scene import Scene
    from tamis.attack.sources import in_its_groups, in_its_terms

    original = Table(frame(), Roles(target="y", identifiers=("who",), quasi=("thing", "x", "n")))
    release = read_table(path, target="y")
    terms = in_its_groups(in_its_terms(original, release), release)
    return linkage(Scene(terms, release, most=4), (0.3,))


RELEASE = "TAMIS_FUZZ_RELEASE"
"""The environment variable by which a process tells its children where the releases are."""
METHODS: dict[str, dict[str, Any]] = {
    "facts": {"containment": {"ks": [20], "utilities": ["difference"]}},
    "ladders": {"coarsen": {}},
}


@cache
def published(kind: str = "facts") -> Path:
    """A release made once, whose folder is copied and damaged: of 0/1 columns or coarser ones."""
    if RELEASE in os.environ:
        return Path(os.environ[RELEASE]) / kind
    from dataclasses import replace

    from tamis.datasets import patients
    from tamis.flow import Settings, consider
    from tamis.publication.bundle import publish

    settings = Settings(methods=METHODS[kind], attackers=("nb",))
    outcome = consider(patients(rows=400), settings)
    decision = outcome.decision
    met = [r for r in decision.scorecard.candidates if r.release.name not in decision.failures]
    chosen = max(met, key=lambda row: len(row.release.forms))
    taken = replace(outcome, decision=replace(decision, chosen=chosen))
    return publish(taken, _folder() / kind)


@cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp())


def all_published() -> Path:
    """The folder that has every release."""
    for kind in METHODS:
        published(kind)
    return _folder()


def part_of_release(name: str, kind: str = "facts") -> Callable[[], bytes]:
    return lambda: (published(kind) / name).read_bytes()


def verified(name: str, kind: str = "facts") -> Callable[[Path], object]:
    """Verify a copy of the release with one of its files replaced by the damaged one.

    Digests are those of the damaged files, else nothing but the digest would be checked.
    """

    def read(path: Path) -> object:
        import shutil

        from tamis import verify

        copy = path.parent / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(published(kind), copy)
        (copy / name).write_bytes(path.read_bytes())
        if not name.startswith("private"):
            _as_if_intact(copy, name)
        return verify(copy).alone

    return read


def _as_if_intact(folder: Path, name: str) -> None:
    import shutil
    from hashlib import sha256

    from tamis.verification.layout import write_json
    from tamis.verification.shape import in_place

    shutil.rmtree(folder / "private")
    manifest = folder / "manifest.json"
    try:
        content = json.loads(manifest.read_text())
        if name != "manifest.json":
            content["file"]["sha256"] = sha256((folder / name).read_bytes()).hexdigest()
        # In the one form, else nothing but that would be checked.
        write_json(manifest, in_place(content))
    except (
        ValueError,
        RecursionError,
    ):  # damaged so that it is no JSON, which is for verify to say
        return


def _plain_manifest(kind: str = "facts") -> bytes:
    """Without indentation: more of the damage hits figures and names."""
    return json.dumps(json.loads((published(kind) / "manifest.json").read_text())).encode()


DOORS = {
    door.name: door
    for door in (
        Door("csv", "t.csv", _csv, _read_table),
        Door("tsv", "t.tsv", lambda: _csv("\t"), _read_table),
        Door("gzipped csv", "t.csv.gz", lambda: gzip.compress(_csv()), _read_table),
        Door("parquet", "t.parquet", _parquet, _read_table),
        Door("arrow", "t.arrow", _arrow, _read_table),
        Door("DuckDB", "t.duckdb", _duckdb, _read_duckdb),
        Door("SPSS", "t.sav", _statistical("sav"), _read_table, header=False),
        Door("Stata", "t.dta", _statistical("dta"), _read_table, header=False),
        Door("spreadsheet", "t.xlsx", _statistical("xlsx"), _read_table, header=False),
        Door("spreadsheet's cells", "t.xml", _unpacked_sheet, _read_unpacked_sheet, header=False),
        Door("libsvm", "t.svm", _svm, _read_sparse, header=False),
        Door("basket", "t.basket", _basket, _read_sparse, header=False),
        Door("basket with a label", "t.basket", _basket, _read_labelled, header=False),
        Door("long table", "t.csv", _csv, _read_long),
        Door("rules", "t.rules", RULES.encode, _read_rules, header=False),
        Door("rules in JSON", "t.json", _json_rules, _read_json_rules, header=False),
        Door("schema", "t.toml", SCHEMA.encode, _read_schema, header=False),
        Door("bounds", "b.toml", BOUNDS.encode, _read_bounds, header=False),
        Door("ladder", "l.csv", LADDER.encode, _read_ladder, header=False),
        Door("csv out of memory", "t.csv", _csv, _read_large("duckdb")),
        Door("parquet out of memory", "t.parquet", _parquet, _read_large("duckdb")),
        Door("parquet, polars lazily", "t.parquet", _parquet, _read_large("polars")),
        Door("DuckDB out of memory", "t.duckdb", _duckdb, _read_large("duckdb")),
        Door("release that is attacked", "t.csv", COARSE.encode, _read_attacked),
        Door("request to serve", "t.http", asked.request, asked.ask, header=False),
        Door("archive of a release", "t.zip", asked.archive, asked.opened, header=False),
        Door("manifest", "m.json", _plain_manifest, verified("manifest.json"), header=False),
        Door(
            "manifest with ladders", "m.json", lambda: _plain_manifest("ladders"),
            verified("manifest.json", "ladders"), header=False,
        ),
        Door(
            "released intervals and groups", "r.csv", part_of_release("release.csv", "ladders"),
            verified("release.csv", "ladders"),
        ),
        Door("released csv", "r.csv", part_of_release("release.csv"), verified("release.csv")),
        Door(
            "recipe", "p.json", part_of_release("private/recipe.json"),
            verified("private/recipe.json"), header=False,
        ),
    )
}  # fmt: skip
if SAS in os.environ:
    DOORS["SAS"] = Door("SAS", "t.sas7bdat", _sas, _read_sas, header=False)
