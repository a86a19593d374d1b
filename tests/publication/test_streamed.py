"""A release of a table behind an engine: searched on a sample, counted and written whole."""

from __future__ import annotations

import errno
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from shutil import copytree
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

from tamis import Attacker
from tamis.errors import CannotMeet, InputError
from tamis.evaluate.in_population import register_of
from tamis.flow import Settings, consider
from tamis.outcome import Outcome
from tamis.publication import streamed
from tamis.publication.bundle import publish
from tamis.rows.engines import DuckDB, Engine, Polars
from tamis.rows.sources import open_large
from tamis.table import Table, sort_by_content
from tamis.verification.verify import verify
from tests.long import daily
from tests.quick_look import no_trees


def visits(rows: int = 3000, seed: int = 0) -> pl.DataFrame:
    """A table that teaches, with people who have several rows and a rare combination."""
    rng = np.random.default_rng(seed)
    age, dose = rng.integers(0, 6, rows), np.round(rng.normal(size=rows), 1) + 0.0
    ill = age + dose + 0.5 * rng.normal(size=rows) > 3
    return pl.DataFrame(
        {
            "who": rng.integers(0, rows, rows),
            "age": age * 10,
            "dose": dose,
            "place": [f"p{i}" for i in rng.integers(0, 4, rows)],
            "ill": np.where(ill, "yes", "no"),
            "hiv": np.where(rng.random(rows) < 0.2 + 0.1 * age, "p", "n"),
        }
    )


SETTINGS = Settings(k=5, methods={"breach": {}}, attackers=("nb",), format="csv")
ROLES: dict[str, Any] = {
    "target": "ill",
    "sensitive": "hiv",
    "quasi": ("age", "place"),
    "drop": ("who",),
}
PEOPLE = {**ROLES, "drop": (), "identifier": ("who",)}


def released(
    frame: pl.DataFrame, folder: Path, kind: type[Engine], settings: Settings = SETTINGS, **roles
) -> Path:
    folder.mkdir()
    (folder / "scratch").mkdir()
    frame.write_parquet(folder / "rows.parquet")
    engine = kind(folder / "scratch")
    try:
        large = open_large(engine, str(folder / "rows.parquet"), **(roles or ROLES))
        found = consider(large, settings, sample=1000)
        return publish(found, folder / "out", date="2026-01-01")
    finally:
        engine.close()


@pytest.mark.parametrize("roles", daily([ROLES, PEOPLE], PEOPLE), ids=["rows", "people"])
def test_both_engines_publish_the_same_bytes_in_any_order(tmp_path, roles):
    frame = visits()
    one = released(frame, tmp_path / "a", DuckDB, **roles)
    two = released(frame.sample(fraction=1, shuffle=True, seed=3), tmp_path / "b", Polars, **roles)
    assert (one / "release.csv").read_bytes() == (two / "release.csv").read_bytes()
    for out in (one, two):
        verify(out)
    said = json.loads((one / "manifest.json").read_text())
    assert said["file"]["rows"] == frame.height
    assert said["engine"]["counted"]["rows"] == frame.height
    assert said["engine"]["counted"]["again_by"] == "polars"
    assert said["engine"]["sampled"]["rows"] < 1300
    assert (one / "private" / "people.csv").exists() == (roles is PEOPLE)


def test_the_file_holds_the_rows_of_the_table(tmp_path):
    frame = visits()
    out = released(frame, tmp_path / "a", DuckDB, replace(SETTINGS, format="parquet"))
    found = pl.read_parquet(out / "release.parquet")
    columns = found.columns
    assert found.equals(sort_by_content(frame.select(columns)))
    assert not found.equals(frame.select(columns))


ODD = pl.DataFrame(
    {
        "age": [10.0, 9.5, None, -0.0, float("nan"), 0.0] * 60,
        "place": ["Z", "a", "", None, "é", "z"] * 60,
        "well": [True, None, False, False, True, True] * 60,
        "y": ["u", "v", "v"] * 120,
    }
)


@pytest.mark.parametrize("kind", [DuckDB, Polars])
def test_every_engine_has_the_order_of_memory(tmp_path, kind):
    asked = replace(SETTINGS, format="parquet", methods={"front": {}})
    roles = {"target": "y", "feature": ("place",)}  # which gives y away
    out = released(ODD.reverse(), tmp_path / "a", kind, asked, **roles)
    found = pl.read_parquet(out / "release.parquet")
    assert found.width > 1
    assert found.equals(sort_by_content(ODD.select(found.columns)))


def test_k_is_counted_on_rows_that_the_sample_lacks(tmp_path):
    """One rare person among thousands is not in the sample, but must not be released alone."""
    frame = visits()
    rare = frame.head(1).with_columns(age=pl.lit(990, pl.Int64), place=pl.lit("nowhere"))
    found = released(pl.concat([frame, rare]), tmp_path / "a", DuckDB)
    promise = json.loads((found / "manifest.json").read_text())["promises"][0]
    assert promise["columns"] == []  # neither age nor place hides this person
    assert "990" not in (found / "release.csv").read_text()


def test_columns_of_zeros_and_ones_are_promised_by_equality(tmp_path):
    """A sample can only seem to be of 0 and 1: here one row of all has a 2."""
    rng = np.random.default_rng(0)
    ill = rng.random(1200) < 0.4
    bits = (rng.random((1200, 3)) < np.where(ill, 0.6, 0.2)[:, None]).astype(np.int64)
    bits[0, 0] = 2
    frame = pl.DataFrame({f"x{i}": bits[:, i] for i in range(3)})
    out = released(
        frame.with_columns(ill=pl.Series(np.where(ill, "yes", "no"))),
        tmp_path / "a",
        Polars,
        target="ill",
    )
    (promise,) = json.loads((out / "manifest.json").read_text())["promises"]
    assert promise["key"] == "k_anonymity"
    assert promise["measured"] >= 5
    assert "x0" not in promise["columns"]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (Settings(methods={"noise": {}}), "alters cells"),
        (Settings(methods={"containment": {}}), "--engine memory"),
        (Settings(absences=1), "--known-absences needs the table in memory: it is for"),
    ],
)
def test_what_is_done_in_memory_only_is_refused(tmp_path, asked, words):
    with pytest.raises(InputError, match=words):
        released(visits(300), tmp_path / "a", Polars, asked)


def test_rows_that_get_lost_on_the_way_stop_the_release(tmp_path, monkeypatch):
    whole = streamed._shaped

    def short(found, batches):
        return (batch.head(-1) for batch in whole(found, batches))

    monkeypatch.setattr(streamed, "_shaped", short)
    with pytest.raises(CannotMeet, match="2999 rows, but the manifest says 3000"):
        released(visits(), tmp_path / "a", Polars)
    assert not (tmp_path / "a" / "out").exists()


def out_of_memory(engine):
    if engine.name == "polars":
        raise MemoryError("could not allocate, cell 'secret-cell'")
    raise duckdb.OutOfMemoryException("could not allocate, cell 'secret-cell'")


def out_of_disk(engine):
    raise OSError(errno.ENOSPC, "No space left on device", "secret-cell")


def session_lost(engine):
    """The database is closed, or the files of one that is none are gone."""
    file = next(engine.scratch.glob("*.parquet"))
    engine.close()
    if engine.name == "polars":
        file.unlink()
    engine.small(engine.open(file))


@pytest.fixture(scope="module", params=[DuckDB, Polars], ids=["duckdb", "polars"])
def considered(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Path, Outcome]]:
    """What was chosen of a table, before anything is written."""
    folder = tmp_path_factory.mktemp("faults")
    visits(800).write_parquet(folder / "rows.parquet")
    (folder / "scratch").mkdir()
    engine = request.param(folder / "scratch")
    large = open_large(engine, str(folder / "rows.parquet"), **ROLES)
    yield folder, consider(large, SETTINGS, sample=600)
    engine.close()


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (out_of_memory, "ran out of memory"),
        (out_of_disk, "the disk is full"),
        (session_lost, "stopped before the end"),  # the last, since it takes the engine
    ],
)
def test_a_fault_while_rows_are_written_leaves_nothing(considered, monkeypatch, fault, words):
    folder, found = considered
    assert found.all_rows is not None
    whole, engine = streamed._shaped, found.all_rows.large.engine

    def stopping(*given):
        yield next(whole(*given)).head(10)
        fault(engine)

    monkeypatch.setattr(streamed, "_shaped", stopping)
    before = sorted(folder.iterdir())
    with pytest.raises(CannotMeet, match=words) as caught, engine.trouble():
        publish(found, folder / "out")
    assert re.search("nothing was (published|left behind)", str(caught.value))
    assert "secret-cell" not in str(caught.value)
    assert sorted(folder.iterdir()) == before


def stays_of(rows: int = 1500, seed: int = 5) -> pl.DataFrame:
    """A table that teaches, with a few people in groups of their own and two secrets."""
    rng = np.random.default_rng(seed)
    age, month = rng.integers(2, 6, rows) * 10, rng.integers(1, 4, rows)
    job, sex = (rng.choice(2, rows) for _ in range(2))
    ill = rng.random(rows) < 0.05 + 0.3 * (age > 40) + 0.3 * job + 0.3 * sex
    rare = rng.choice(rows, (2, 5), replace=False)
    jobs, sexes = (np.array(names, dtype=object)[of] for names, of in ((JOBS, job), (SEXES, sex)))
    jobs[rare[0]], sexes[rare[1]] = None, "x"
    return pl.DataFrame(
        {
            "who": rng.integers(0, rows, rows),
            "age": age,
            "sex": pl.Series(sexes.tolist()),
            "job": pl.Series(jobs.tolist()),
            "month": month,
            "hiv": np.where(rng.random(rows) < 0.1 + 0.2 * (month > 2), "yes", "no"),
            "ward": rng.choice(["a", "b", "c"], rows),
            "ill": np.where(ill, "yes", "no"),
        }
    )


JOBS, SEXES = ["cook", "judge"], ["f", "m"]
BOTH: dict[str, Any] = {"target": "ill", "sensitive": ("hiv", "ward"), "quasi": ("sex",)}
THREATS = (
    Attacker("clerk", ["age", "sex"], ["ward"], k=8, l=2),
    Attacker("boss", ["job", "month"], ["hiv"], k=4, t=0.5),
)
KNOWS: dict[str | None, set[str]] = {None: {"sex"}} | {each.name: {*each.knows} for each in THREATS}
FEW = Settings(
    k=6,
    l=2,
    threats=THREATS,
    max_suppressed=0.05,
    methods={"front": {}},
    attackers=("nb",),
    allow_useless=True,
)


@pytest.fixture(scope="module", params=["rows", "people"])
def few(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release without a few, that three attackers are left with enough of."""
    roles = BOTH | ({"drop": ("who",)} if request.param == "rows" else {"identifier": ("who",)})
    folder = tmp_path_factory.mktemp("few") / "a"
    with no_trees():
        return released(stays_of(), folder, DuckDB, FEW, **roles)


def test_each_attacker_is_left_with_what_was_asked_and_few_are_left_out(few):
    content = verify(few).manifest
    assert verify(few, engine="polars").claims == verify(few, engine="memory").claims
    rows = pl.read_csv(few / "release.csv", infer_schema=False)
    private = few / "private"
    people = private / "people.csv"
    whose = pl.read_csv(people)["person"].to_list() if people.exists() else range(rows.height)
    recipe = json.loads((private / "recipe.json").read_text())
    kept = pl.read_csv(private / "secrets.csv", has_header=False, skip_rows=1)
    order = list(dict.fromkeys(entry["column"] for entry in recipe["diversity"]))
    assert {e.get("attacker") for e in content["promises"]} == KNOWS.keys()
    assert content["exposure"]["known"]["kind"] == "together"
    assert content["exposure"]["asked"] == 4
    for entry in (*content["promises"], *content.get("diversity", ()), *recipe["diversity"]):
        shown = [c for c in rows.columns if c in KNOWS[entry.get("attacker")]]
        assert sorted(entry["columns"]) == sorted(shown)
        groups: dict[tuple[Any, ...], set[Any]] = {}
        hidden = entry["key"] == "l_diversity" and entry["column"] in order
        secret = kept[:, order.index(entry["column"])] if hidden else rows["ill"]
        if entry["key"] == "t_closeness":
            continue  # which `verify` has counted by its definition
        of = secret if entry["key"] == "l_diversity" else whose
        for row, one in zip(rows.select(shown).rows() or [()] * rows.height, of):
            groups.setdefault(row, set()).add(one)
        assert entry["measured"] == min(map(len, groups.values())) >= entry["at_least"]
    numbers = recipe["suppressed"]
    assert 0 < numbers["people"] <= 0.05 * numbers["of_people"]
    assert (numbers["of_rows"], numbers["rows"]) == (1500, 1500 - rows.height)
    assert people.exists() == (numbers["of_people"] < 1500)
    stated = {(e["key"], e.get("attacker"), e["column"]) for e in recipe["diversity"]}
    assert stated == {
        ("l_diversity", None, "hiv"),
        ("l_diversity", None, "ward"),
        ("l_diversity", "clerk", "ward"),
        ("t_closeness", "boss", "hiv"),
    }


def test_how_many_were_left_out_is_told_to_nobody(few):
    content = json.loads((few / "manifest.json").read_text())
    recipe = json.loads((few / "private" / "recipe.json").read_text())
    left = content["file"]["rows"]
    assert content["suppressed"].keys() == {"unit", "share_at_most"}
    assert content["engine"]["counted"]["rows"] == content["engine"]["sampled"]["of"] == left
    assert content["engine"]["sampled"]["rows"] == 1000  # as asked for, not as drawn
    shared = (few / "manifest.json").read_text() + (few / "report.html").read_text()
    for words in ("1,500", "1500", str(recipe["suppressed"]["of_people"])):
        assert words not in shared
    assert "left out" in (few / "private" / "report.html").read_text()


@pytest.mark.parametrize("engine", ["polars", "memory"])
@pytest.mark.parametrize(
    ("name", "of", "words"),
    [
        ("secrets.csv", "1,1", "l_diversity is 1"),
        ("people.csv", "1", "in people, but the manifest says"),
    ],
)
def test_changed_numbers_of_the_holder_are_found(few, tmp_path, engine, name, of, words):
    copytree(few, tmp_path / "out")
    path = tmp_path / "out" / "private" / name
    if not path.exists():
        pytest.skip("each row is a person")
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], *[of] * (len(lines) - 1)]) + "\n")
    with pytest.raises(CannotMeet, match=words):
        verify(tmp_path / "out", engine=engine)


def test_a_share_that_leaves_out_too_few_is_passed_over(tmp_path):
    """Of 400 rows, 2 may go; the five of a rare sex, or job, are more."""
    roles = {"target": "ill", "quasi": ("sex", "job"), "drop": ("who", "age", "month", "ward")}
    asked = replace(FEW, threats=(), l=None, max_suppressed=0.005, methods={"breach": {}})
    out = released(stays_of(400), tmp_path / "a", Polars, asked, **roles)
    content = json.loads((out / "manifest.json").read_text())
    assert "suppressed" not in content
    (promise,) = content["promises"]
    assert promise["columns"] == []


TOWN = pl.concat([stays_of(), stays_of(4500, seed=8).with_columns(pl.col("who") + 10_000)])


@pytest.fixture(scope="module", params=["rows", "people"])
def in_town(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Table]:
    """A release whose people are a sample of a town; a few of them are left out."""
    folder = tmp_path_factory.mktemp("town")
    roles: dict[str, Any] = {
        "target": "ill",
        "quasi": ("sex", "age"),
        "drop": ("hiv", "ward", "who"),
    }
    if request.param == "people":
        roles |= {"drop": ("hiv", "ward"), "identifier": ("who",)}
    stays_of().write_parquet(folder / "rows.parquet")
    (folder / "scratch").mkdir()
    engine = DuckDB(folder / "scratch")
    large = open_large(engine, str(folder / "rows.parquet"), **roles)
    register = register_of(TOWN, large)
    asked = replace(
        FEW, l=None, threats=(), delta_presence=(0.05, 0.4), max_population_risk=0.5, k=8
    )
    with no_trees():
        found = consider(large, asked, sample=1000, register=register)
        out = publish(found, folder / "out", date="2026-01-01")
    assert found.population_risk is not None
    assert found.population_risk.risk <= 0.5
    engine.close()
    return out, register


def test_who_of_a_register_is_released_is_stated_and_counted_again(in_town):
    out, register = in_town
    content = json.loads((out / "manifest.json").read_text())
    kept = json.loads((out / "private" / "recipe.json").read_text())["presence"]
    columns = content["presence"]["columns"]
    assert columns
    rows = pl.read_csv(out / "release.csv", schema_overrides=dict(register.frame.schema))
    path = out / "private" / "people.csv"
    whose = pl.read_csv(path)["person"].to_list() if path.exists() else range(rows.height)
    here, there = defaultdict(set), defaultdict(set)
    for row, one in zip(rows.select(columns).rows(), whose):
        here[row].add(one)
    for row, one in zip(register.frame.select(columns).rows(), register.people.codes.tolist()):
        there[row].add(one)
    shares = [len(here[row]) / len(people) for row, people in there.items()]
    assert (kept["least"], kept["most"]) == pytest.approx((min(shares), max(shares)))
    assert 0.05 <= max(shares) <= 0.4
    for engine in ("polars", "memory"):
        assert verify(out, register, engine=engine).uncounted == []
        assert len(verify(out, engine=engine).uncounted) == 1


@pytest.mark.parametrize("engine", ["polars", "memory"])
def test_another_register_is_noticed(in_town, engine):
    out, register = in_town
    twice = pl.concat([register.frame, register.frame.with_columns(pl.all())])
    if "who" in twice.columns:
        twice = pl.concat([register.frame, register.frame.with_columns(pl.col("who") + 90_000)])
    with pytest.raises(CannotMeet, match=r"is not what was promised|is it the same register"):
        verify(out, Table(twice, register.roles), engine=engine)
