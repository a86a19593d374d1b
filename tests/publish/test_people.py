"""A release of people with several rows: what is promised, kept, and counted again."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Roles, Table, verify
from tamis.cli import _run
from tamis.errors import CannotMeet
from tamis.flow import Outcome, Settings, consider
from tamis.publish.bundle import publish
from tamis.publish.checks import measure
from tamis.publish.people import arranged, arranged_people, read_numbers, write_numbers
from tamis.release import Promise, Recipe, released
from tamis.risk.anonymity import k_anonymity
from tamis.risk.containment import containment_anonymity
from tamis.table_file import read_written

EACH = 6
METHODS: dict[str, Any] = {
    "containment": {"containment": {"ks": [4], "utilities": ["difference"]}},
    "k_anonymity": {"flip": {"ks": [4]}},
}


def stays() -> Table:
    rng = np.random.default_rng(8)
    who = np.repeat(np.arange(50), EACH)
    cells = {c: rng.integers(0, 2, 50)[who] for c in "abcdef"}
    y = np.where(rng.random(len(who)) < 0.8, cells["a"] > 0, cells["b"] > 0)
    frame = pl.DataFrame({"who": who, **cells}).with_columns(y=np.where(y, "u", "v"))
    return Table(frame.sample(fraction=1, shuffle=True, seed=3), Roles("y", identifiers=("who",)))


@pytest.fixture(scope="module", params=sorted(METHODS))
def outcome(request: pytest.FixtureRequest) -> Outcome:
    return consider(stays(), Settings(k=4, methods=METHODS[request.param], attackers=("nb",)))


@pytest.fixture
def folder(outcome: Outcome, tmp_path: Path) -> Path:
    return publish(outcome, tmp_path / "out")


def promise_of(folder: Path) -> dict[str, Any]:
    entry: dict[str, Any]
    (entry,) = json.loads((folder / "manifest.json").read_text())["promises"]
    return entry


def edited(folder: Path, **changes: object) -> None:
    path = folder / "manifest.json"
    content = json.loads(path.read_text())
    content["promises"][0].update(changes)
    path.write_text(json.dumps(content))


def test_the_manifest_counts_people(outcome: Outcome, folder: Path):
    entry, assessment = promise_of(folder), outcome.decision.chosen.assessment
    equal = entry["key"] == "k_anonymity"
    assert entry["unit"] == "people"
    assert entry["measured"] == (assessment.k_anonymity if equal else assessment.containment)
    assert entry["measured"] >= 4
    assert entry["rows_measured"] >= entry["measured"] * 2
    assert entry["recount"] == "private"
    told = json.loads((folder / "manifest.json").read_text())["not_promised"]
    assert any("who knows several" in words for words in told)
    assert "people" in {check.name for check in verify(folder).checks}


def test_the_private_numbers_are_those_of_the_rows(outcome: Outcome, folder: Path):
    """Whose a row is follows from the values of all rows: six equal ones of each person."""
    path = folder / "private" / "people.csv"
    assert path.stat().st_mode & 0o077 == 0
    rows = read_written(folder / "release.csv", "csv")
    people = read_numbers(path, rows.height)
    original = outcome.decision.chosen.release
    kept = original.table.only(rows.columns).cast(pl.String)

    def held(frame: pl.DataFrame, who: np.ndarray) -> list[list[tuple[Any, ...]]]:
        parts = frame.with_columns(pl.Series("who", who)).partition_by("who", include_key=False)
        return sorted(sorted(part.rows()) for part in parts)

    assert original.people is not None
    assert held(rows, people) == held(kept, original.people)
    assert sorted(set(people.tolist())) == list(range(50))


def test_numbers_are_drawn_and_do_not_depend_on_the_order():
    table = stays()
    turned = Table(table.frame.reverse(), table.roles)
    one, two = (
        arranged_people(released(t, t.features, "", Recipe("")), 5) for t in (table, turned)
    )
    assert one is not None
    assert two is not None
    assert one.tolist() == two.tolist()
    in_order = table.people
    assert in_order is not None
    assert one.tolist() != in_order.tolist()


def test_without_the_private_part_rows_are_counted(folder: Path, capsys):
    shutil.rmtree(folder / "private")
    assert not verify(folder).private
    assert _run(["verify", str(folder)]) == 0
    assert "people cannot be counted from the file alone" in capsys.readouterr().out
    edited(folder, rows_measured=promise_of(folder)["rows_measured"] + 1)
    with pytest.raises(CannotMeet, match="the manifest says"):
        verify(folder)


def test_a_wrong_count_of_people_is_found(folder: Path):
    entry = promise_of(folder)
    edited(folder, measured=entry["measured"] + 1)
    with pytest.raises(CannotMeet, match=f"is {entry['measured']} in people, but the manifest"):
        verify(folder)
    edited(folder, measured=entry["rows_measured"], recount="file")
    with pytest.raises(CannotMeet, match="not whose they are"):
        verify(folder)
    edited(folder, measured=entry["rows_measured"] + 1, recount="private")
    with pytest.raises(CannotMeet, match="which is impossible"):
        verify(folder)


@pytest.mark.parametrize("content", ["", "person\n1\n", "who\n" + "1\n" * 300, "person\nx\n" * 150])
def test_other_files_of_people_are_refused(folder: Path, content: str):
    path = folder / "private" / "people.csv"
    path.write_text(content)
    with pytest.raises(CannotMeet, match="a person for each of 300 rows"):
        verify(folder)
    path.write_text("person\n" + "1" * 30_000)
    with pytest.raises(CannotMeet, match="longer than 300 rows need"):
        verify(folder)
    path.unlink()
    with pytest.raises(CannotMeet, match=r"no people\.csv"):
        verify(folder)


def test_rows_that_are_people_need_no_file(tmp_path: Path):
    table = stays()
    alone = Table(table.frame.drop("who"), Roles("y"))
    methods = METHODS["k_anonymity"]
    out = publish(
        consider(alone, Settings(k=4, methods=methods, attackers=("nb",))), tmp_path / "o"
    )
    assert not (out / "private" / "people.csv").exists()
    entry = promise_of(out)
    assert (entry["unit"], entry["recount"]) == ("rows", "file")
    assert entry["measured"] == entry["rows_measured"]


@given(st.integers(0, 10**6), st.integers(1, 25), st.integers(1, 5))
def test_counts_agree_with_the_measures_that_choose(seed: int, rows: int, columns: int):
    rng = np.random.default_rng(seed)
    cells = rng.integers(0, 2, (rows, columns))
    people = rng.integers(0, max(1, rows // 2), rows)
    frame = pl.DataFrame(cells, schema=[f"c{i}" for i in range(columns)])
    written = frame.cast(pl.String)
    names = tuple(frame.columns)
    equal = Promise("k_anonymity", 1, names)
    assert measure(equal, written, people) == k_anonymity(frame, people=people)
    contained = Promise("containment_anonymity", 1, names)
    assert measure(contained, written, people) == containment_anonymity(cells, people=people)
    assert measure(Promise("k_anonymity", 1, ()), written, people) == len(set(people.tolist()))


def test_what_is_written_is_read(tmp_path: Path):
    people = np.array([3, 0, 0, 2])
    write_numbers(tmp_path / "people.csv", people)
    assert read_numbers(tmp_path / "people.csv", 4).tolist() == people.tolist()


def test_the_order_is_that_of_the_file():
    table = released(stays(), list("abc"), "", Recipe("")).table
    rows = arranged(table, 4)
    assert rows.equals(table.only(["a", "b", "c", "y"]).sort(pl.all())[_drawn(rows.height, 4)])


def _drawn(rows: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).permutation(rows)
