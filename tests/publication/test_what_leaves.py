"""Every byte that is handed on: nothing in it tells of what stays."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tamis import GaussianNoise, Pram, RankSwap, Roles, Table
from tamis.datasets import patients
from tamis.errors import InputError
from tamis.flow import Settings, consider
from tamis.outcome import Outcome
from tamis.publication.bundle import publish
from tests.long import daily

from .conftest import DATE

ROWS = 300
SEED = 918_273_645
ORIGIN = {"name": "MARKfile", "path": "/MARKfolder/MARKfile.csv"}
WORDS = Roles(
    target="again",
    sensitive="MARKill",
    quasi=("ward", "MARKplace", "dose"),
    identifiers=("MARKname",),
    dropped=("MARKgone",),
)


def stays() -> Table:
    """Two columns that teach, and four that must stay: each cell of them is marked too."""
    rng = np.random.default_rng(5)
    dose, ward = rng.integers(0, 4, ROWS), rng.integers(0, 3, ROWS)
    ill = rng.random(ROWS) < 0.4
    again = (dose + ward + rng.normal(0, 0.7, ROWS)) > 2.5
    frame = pl.DataFrame(
        {
            "ward": np.array(["west", "south", "north"])[ward],
            "MARKname": [f"MARKperson{i}" for i in range(ROWS)],
            "MARKplace": [f"MARKzip{i % 37}" for i in range(ROWS)],
            "MARKpay": np.where(ill, 7_340_033.25, 7_340_047.75) + rng.integers(0, 30, ROWS),
            "dose": dose,
            "MARKill": np.where(ill, "MARKyes", "MARKno"),
            "MARKother": [f"MARKpart{i}" for i in rng.integers(0, 2, ROWS)],
            "again": np.where(again, "yes", "no"),
            "MARKgone": ["MARKaside"] * ROWS,
        }
    )
    return Table(frame, WORDS)


WAYS: dict[str, dict[str, Any]] = {
    "breach": {"breach": {"search": "walk", "folds": 3}},
    "containment": {"containment": {"ks": [20], "utilities": ["difference"]}},
}


def considered(table: Table, way: str, **changes: Any) -> Outcome:
    """What is found of a table, the choice being that of dose and ward in some form."""
    settings = Settings(methods=WAYS[way], attackers=("nb",), seed=SEED)
    outcome = consider(table, replace(settings, **changes))
    (chosen,) = (
        row
        for row in outcome.decision.scorecard.candidates
        if {name.split()[0] for name in row.release.features} == {"dose", "ward"}
    )
    return replace(outcome, decision=replace(outcome.decision, chosen=chosen))


def handed_on(outcome: Outcome, out: Path, origin: Any = ORIGIN) -> dict[str, bytes]:
    """The public files by their names."""
    folder = publish(outcome, out, origin=origin, date=DATE)
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.fixture(scope="module", params=daily(WAYS, "breach"))
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def first(way: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return handed_on(considered(stays(), way), tmp_path_factory.mktemp("first") / "out")


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_no_public_byte_is_marked(way: str, format: Any, tmp_path: Path):
    outcome = considered(stays(), way, format=format)
    for name, content in handed_on(outcome, tmp_path / "out").items():
        for mark in (b"MARK", b"73400", str(SEED).encode(), str(tmp_path).encode()):
            assert mark not in content, f"{mark!r} is in {name}"


def other_names(table: Table) -> Table:
    frame = table.frame.rename({c: f"another {c}" for c in table.frame.columns if "MARK" in c})
    code, name, ill = (f"another {c}" for c in ("MARKplace", "MARKname", "MARKill"))
    roles = replace(
        WORDS, sensitive=ill, quasi=("ward", code, "dose"), identifiers=(name,), dropped=("else",)
    )
    return Table(frame, roles)


def other_order(table: Table) -> Table:
    frame = table.only(sorted(table.frame.columns, reverse=True))
    return Table(frame, replace(WORDS, quasi=("dose", "ward", "MARKplace")))


def other_secret(table: Table) -> Table:
    return table.with_roles(sensitive="MARKother", quasi=("ward", "MARKplace", "dose"))


def other_cells(table: Table) -> Table:
    """What stays has other values, as many of each."""
    shuffled = table.frame.get_column("MARKpay").shuffle(seed=3)
    return Table(table.frame.with_columns(shuffled), WORDS)


@pytest.mark.parametrize("change", [other_names, other_order, other_secret, other_cells])
def test_originals_that_differ_in_what_stays_give_the_same_bytes(
    way: str, first: dict[str, bytes], change: Callable[[Table], Table], tmp_path: Path
):
    other = considered(change(stays()), way)
    origin = {"name": "another", "path": "/elsewhere/another.parquet"}
    found = without_kept(handed_on(other, tmp_path / "out", origin))
    assert found == without_kept(first)
    assert b"Keeps" in first["report.html"]
    assert b"Keeps" not in found["report.html"]


def without_kept(files: dict[str, bytes]) -> dict[str, bytes]:
    """All that is handed on but the one figure, in whole percent, that compares with what stays."""
    content = json.loads(files["manifest.json"])
    (kept,) = (entry for entry in content["measured"] if entry["key"] == "kept")
    assert all(round(100 * kept[key], 9).is_integer() for key in ("value", "low", "high"))
    content["measured"].remove(kept)
    del content["report"]["sha256"]
    headline = re.compile(rb'<div class="headline">.*?</div>', re.DOTALL)
    return {
        **files,
        "manifest.json": json.dumps(content).encode(),
        "report.html": headline.sub(b"", files["report.html"]),
    }


def test_rows_in_another_order_give_the_same_rows(
    way: str, first: dict[str, bytes], tmp_path: Path
):
    table = stays()
    turned = considered(Table(table.frame.reverse(), WORDS), way)
    assert handed_on(turned, tmp_path / "out")["release.csv"] == first["release.csv"]


def numbers_known() -> Table:
    """Columns with many ties, all of which attackers may know."""
    rng = np.random.default_rng(3)
    dose = rng.integers(0, 12, 150)
    ward = rng.choice(["west", "south", "north"], 150)
    again = np.where(dose + rng.normal(0, 2, 150) > 6, "yes", "no")
    return Table(pl.DataFrame({"dose": dose, "ward": ward, "again": again}), Roles(target="again"))


def visits() -> Table:
    """People with several visits each, of whom some look alike."""
    rng = np.random.default_rng(8)
    who = np.repeat(np.arange(100), 4)
    cells = {c: rng.integers(0, 3, 100)[who] for c in "abcd"}
    y = np.where(rng.random(400) < 0.8, cells["a"] > 0, cells["b"] > 0)
    frame = pl.DataFrame({"who": who, **cells, "s": rng.choice(["u", "v"], 400)})
    roles = Roles("y", sensitive="s", identifiers=("who",), quasi=("a", "b", "c", "d"))
    return Table(frame.with_columns(y=np.where(y, "yes", "no")), roles)


def twins() -> Table:
    """People of one row, many of them alike in all but their secret."""
    rng = np.random.default_rng(12)
    ward, dose = rng.choice(["west", "south", "north"], 240), rng.integers(0, 4, 240)
    again = np.where(dose + rng.normal(0, 1, 240) > 1.5, "yes", "no")
    ill = np.where(rng.random(240) < 0.6, ward, rng.choice(["west", "south", "north"], 240))
    cells = {"who": np.arange(240), "ward": ward, "dose": dose, "ill": ill, "again": again}
    return Table(pl.DataFrame(cells), Roles("again", sensitive="ill", identifiers=("who",)))


def renamed(table: Table, rng: np.random.Generator) -> pl.DataFrame:
    """The same people under other identifiers, which sort in another way."""
    (name,) = table.roles.identifiers
    people = table.frame[name].unique().sort()
    other = rng.permutation(people.to_numpy())
    return table.frame.with_columns(table.frame[name].replace_strict(people, pl.Series(other)))


ORDERED: dict[str, tuple[Callable[[], Table], dict[str, Any]]] = {
    "rows": (lambda: patients(rows=300), {"methods": {"front": {}, "coarsen": {}}}),
    "people": (visits, {"methods": {"front": {}, "breach": {"folds": 3}}, "l": 2}),
    "twins": (twins, {"methods": {"front": {}, "coarsen": {}}}),
    "left out": (lambda: patients(rows=300), {"methods": {"front": {}}, "max_suppressed": 0.1}),
    "grouped": (numbers_known, {"methods": {"microaggregate": {}}, "k": 3}),
    "grouped people": (visits, {"methods": {"microaggregate": {}}, "k": 3}),
    "blanked people": (visits, {"methods": {"suppress": {}}, "k": 3}),
    "blanked": (numbers_known, {"methods": {"suppress": {}}, "k": 3}),
}


@pytest.mark.parametrize("case", sorted(ORDERED))
def test_neither_the_order_nor_the_names_of_people_change_a_public_byte(case: str, tmp_path: Path):
    """Whoever guesses the order of the original cannot confirm the guess by any figure."""
    made, asked = ORDERED[case]
    table, rng = made(), np.random.default_rng(4)
    settings = Settings(attackers=("nb",), allow_useless=True, secret="5e" * 16, **asked)
    frames = [table.frame, table.frame[rng.permutation(table.rows)]]
    if table.roles.identifiers:
        frames.append(renamed(table, rng)[rng.permutation(table.rows)])
    found = []
    for number, frame in enumerate(frames):
        out = tmp_path / f"{number}"
        public = handed_on(consider(Table(frame, table.roles), settings), out)
        kept = [out / "private" / name for name in ("people.csv", "secrets.csv")]
        found.append((public, [path.read_bytes() for path in kept if path.exists()]))
    assert all(each == found[0] for each in found)


ALTERING: dict[str, tuple[str, Any, float]] = {
    "noise": ("gaussian noise, 0.5", GaussianNoise, 0.5),
    "swap": ("rank swapping, 0.2", RankSwap, 0.2),
    "pram": ("PRAM, 0.3", Pram, 0.3),
}


def numbers(rows: int = 300) -> Table:
    """Columns that each way of altering finds something in, sorted by who they are."""
    rng = np.random.default_rng(2)
    dose = rng.normal(3, 1, rows).round(2)
    frame = pl.DataFrame(
        {
            "dose": dose,
            "ward": rng.choice(["west", "south", "north"], rows),
            "again": np.where(dose + rng.normal(0, 0.4, rows) > 3, "yes", "no"),
        }
    )
    return Table(frame, Roles(target="again", plain=("dose", "ward"), quasi=()))


@pytest.mark.parametrize("method", sorted(ALTERING))
def test_no_seed_undoes_an_alteration_and_its_secret_stays(tmp_path: Path, method: str):
    """An attacker who has the table repeats the draws of every seed that can be tried."""
    table, (name, kind, level) = numbers(), ALTERING[method]
    settings = Settings(
        k=2, methods={method: {"levels": [level]}}, attackers=("nb",), seed=SEED, take=name
    )
    one, two = (consider(table, settings) for _ in range(2))
    made = [publish(outcome, tmp_path / f"{i}", date=DATE) for i, outcome in enumerate((one, two))]
    rows = [(folder / "release.csv").read_bytes() for folder in made]
    assert rows[0] != rows[1]
    for seed in (*range(20), SEED):
        guess = kind(level, random_state=seed).fit_transform(table)
        assert not guess.frame.equals(one.release.table.frame)
    recipe = json.loads((made[0] / "private" / "recipe.json").read_text())
    secret = recipe["settings"]["secret"]
    assert re.fullmatch("[0-9a-f]{32}", secret)
    for path in made[0].iterdir():
        assert path.is_dir() or secret not in path.read_text()
    again = consider(table, Settings(**recipe["settings"]))
    publish(again, tmp_path / "again", date=DATE)
    for path in made[0].iterdir():
        assert path.is_dir() or (tmp_path / "again" / path.name).read_bytes() == path.read_bytes()
    assert secret not in repr(again.settings)
    assert secret not in repr(again)


def test_nothing_that_is_published_unaltered_needs_a_secret():
    assert Settings().with_secret().secret is None
    with pytest.raises(InputError, match="secret must have 32 hexadecimal digits"):
        Settings(secret="0" * 31)
