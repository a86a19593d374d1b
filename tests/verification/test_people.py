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
from tamis.flow import Settings, consider
from tamis.outcome import Outcome
from tamis.publication.bundle import publish
from tamis.release import Recipe, released
from tamis.require.k import ContainmentAnonymity, KAnonymity
from tamis.risk.anonymity import k_anonymity
from tamis.risk.containment import containment_anonymity
from tamis.table_file import read_written
from tamis.verification.checks import measure
from tamis.verification.people import (
    arrange_names,
    arrange_private,
    arranged,
    read_numbers,
    write_numbers,
)
from tests.verification import forged

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
    settings = Settings(k=4, methods=METHODS[request.param], attackers=("nb",), secret="5e" * 16)
    return consider(stays(), settings)


@pytest.fixture
def folder(outcome: Outcome, tmp_path: Path) -> Path:
    return publish(outcome, tmp_path / "out")


def promise_of(folder: Path) -> dict[str, Any]:
    entry: dict[str, Any]
    (entry,) = json.loads((folder / "manifest.json").read_text())["promises"]
    return entry


def edited(folder: Path, **changes: object) -> None:
    forged.edited(folder, lambda content: content["promises"][0].update(changes))


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

    assert not original.people.each_row
    assert held(rows, people) == held(kept, original.people.codes)
    assert sorted(set(people.tolist())) == list(range(50))


def test_numbers_depend_neither_on_the_order_nor_on_the_identifiers():
    table = stays()
    (who,) = table.roles.identifiers
    other = pl.Series(who, [text[::-1] for text in table.frame[who].cast(pl.String)])
    frames = (table.frame, table.frame.reverse(), table.frame.with_columns(other))
    secrets = np.arange(table.rows) % 3

    def numbers(frame: pl.DataFrame, secrets: np.ndarray) -> list[list[int]]:
        named = Table(frame, table.roles)
        kept = arrange_private(released(named, named.features, "", Recipe("")), secrets)
        assert kept[1] is not None
        return [kept[0].codes.tolist(), kept[1].tolist()]

    one, two, three = (
        numbers(frame, secrets[::-1] if i == 1 else secrets) for i, frame in enumerate(frames)
    )
    assert one == two == three
    assert len(set(one[0])) < len(one[0])


@given(st.integers(0, 200))
def test_identical_rows_are_in_the_order_of_people_and_then_of_secrets(seed):
    """Against plain Python: a person is the sorted list of their rows, with their secrets."""
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {"id": rng.integers(0, 4, 9), "a": rng.integers(0, 2, 9), "y": rng.choice(["u", "v"], 9)}
    )
    secrets = rng.integers(0, 3, 9)
    table = Table(frame, Roles(target="y", identifiers=("id",), person=("id",)))
    people, kept = arrange_private(released(table, ["a"], "", Recipe("")), secrets)
    rows = list(zip(frame["a"], frame["y"], secrets.tolist(), frame["id"]))
    owned = {who: sorted(row[:3] for row in rows if row[3] == who) for who in set(frame["id"])}
    number = {who: i for i, who in enumerate(sorted(owned, key=lambda who: owned[who]))}
    expected = sorted((a, y, number[who], secret) for a, y, secret, who in rows)
    assert kept is not None
    if people.each_row:
        assert len(owned) == len(rows)
    else:
        assert people.codes.tolist() == [row[2] for row in expected]
        assert kept.tolist() == [row[3] for row in expected]


def test_without_the_private_part_rows_are_counted(folder: Path, capsys):
    shutil.rmtree(folder / "private")
    found = verify(folder)
    assert not found.private
    assert not any("people" in words or "Everybody" in words for words in found.claims)
    assert any("not checked: " in words for words in found.not_checked)
    assert _run(["verify", str(folder)]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "figures about people, who cannot be counted from the file alone" in out
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
    equal = KAnonymity(1, columns=names).to_dict("rows")
    assert measure(equal, written, people) == k_anonymity(frame, people=people)
    contained = ContainmentAnonymity(1, columns=names).to_dict("rows")
    assert measure(contained, written, people) == containment_anonymity(cells, people=people)
    assert measure(KAnonymity(1).to_dict("rows"), written, people) == len(set(people.tolist()))


def test_what_is_written_is_read(tmp_path: Path):
    people = np.array([3, 0, 0, 2])
    write_numbers(tmp_path / "people.csv", people)
    assert read_numbers(tmp_path / "people.csv", 4).tolist() == people.tolist()
    secrets = np.array([[1, 2], [0, 3], [2, 2]])
    write_numbers(tmp_path / "secrets.csv", secrets)
    assert read_numbers(tmp_path / "secrets.csv", 3, 2).tolist() == secrets.tolist()


@pytest.mark.parametrize(
    "line",
    ["", "x", "-1", "+1", "1.0", "1 ", " 1", "1e3", "0x1", "1_0", "\N{ARABIC-INDIC DIGIT ONE}"],
)
def test_a_line_that_is_no_number_is_refused_for_what_it_holds(tmp_path: Path, line: str):
    path = tmp_path / "people.csv"
    path.write_text(f"person\n0\n{line}\n2\n", encoding="utf-8")
    with pytest.raises(CannotMeet, match=r"people\.csv does not hold a person for each of 3 rows"):
        read_numbers(path, 3)


@pytest.mark.parametrize(("digits", "fits"), [(18, True), (19, False)])
def test_a_number_has_as_many_digits_as_64_bits_hold(tmp_path: Path, digits: int, fits: bool):
    path = tmp_path / "people.csv"
    path.write_text(f"person\n{'9' * digits}\n0\n0\n")
    if fits:
        assert read_numbers(path, 3).tolist() == [int("9" * digits), 0, 0]
    else:
        with pytest.raises(CannotMeet, match="does not hold a person"):
            read_numbers(path, 3)


def test_a_file_of_numbers_is_as_long_as_its_rows_may_need(tmp_path: Path):
    path = tmp_path / "people.csv"
    write_numbers(path, np.array([10**17, 10**17]))
    padding = 20 * 3 - len(path.read_bytes())
    path.write_bytes(path.read_bytes() + b" " * padding)
    with pytest.raises(CannotMeet, match="does not hold"):  # it is read to its end
        read_numbers(path, 2)
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(CannotMeet, match="is longer than 2 rows need"):
        read_numbers(path, 2)


def test_the_order_is_that_of_the_file():
    table = released(stays(), list("abc"), "", Recipe("")).table
    rows = arranged(table)
    assert rows.equals(table.only(["a", "b", "c", "y"]).sort(pl.all()))


def test_a_row_without_a_name_lies_before_its_equals_wherever_it_was():
    table = Table(pl.DataFrame({"a": [1, 1], "y": [0, 0]}), Roles(target="y"))
    release = released(table, ["a"], "", Recipe(""))
    for cells in (["ann", None], [None, "ann"]):
        names = arrange_names(release, pl.DataFrame({"name": cells}))
        assert names["name"].to_list() == [None, "ann"]
