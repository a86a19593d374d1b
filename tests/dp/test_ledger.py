"""The ledger: what was spent on which table, kept whatever happens to the run."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tamis.dp.ledger import Account, Entry, Ledger
from tamis.errors import CannotMeet, InputError


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger.json")


def spend(ledger: Ledger, epsilon: float, table: str = "/a.csv", sha256: str = "1", **more) -> None:
    with ledger.spending(Entry(table, sha256, epsilon), **more) as spent:
        spent.keep()


def test_costs_of_one_table_add_up_and_others_are_apart(ledger: Ledger) -> None:
    spend(ledger, 1.0)
    spend(ledger, 0.5)
    spend(ledger, 8.0, "/other.csv", "2")
    assert ledger.account("/a.csv", "1").epsilon == 1.5
    assert "1.5 is spent on this table in total, over 2 releases" in (
        ledger.account("/a.csv", "1").words()
    )
    assert stat.S_IMODE(ledger.path.stat().st_mode) == 0o600


def test_a_renamed_copy_and_a_changed_file_are_the_same_table(ledger: Ledger) -> None:
    spend(ledger, 1.0, "/a.csv", "1")
    spend(ledger, 1.0, "/a.csv", "2")  # the file was changed
    spend(ledger, 1.0, "/copy.csv", "2")  # and copied
    assert ledger.account("/copy.csv", "2").epsilon == 3.0
    assert ledger.account("/elsewhere.csv", "1").epsilon == 3.0
    assert ledger.account("/elsewhere.csv", "9").epsilon == 0.0


def test_a_total_is_kept(ledger: Ledger) -> None:
    spend(ledger, 1.0, most=2.0)
    spend(ledger, 1.0, most=2.0)
    with pytest.raises(CannotMeet, match=r"2 of epsilon is spent .* at most 0 is left"):
        spend(ledger, 0.1, most=2.0)
    assert ledger.account("/a.csv", "1").epsilon == 2.0


def test_bounds_from_the_data_keep_no_total(ledger: Ledger) -> None:
    with ledger.spending(Entry("/a.csv", "1", 1.0, guarantee=False)) as spent:
        spent.keep()
    assert "no epsilon holds" in ledger.account("/a.csv", "1").words()
    with pytest.raises(CannotMeet, match="no epsilon holds"):
        spend(ledger, 1.0, most=10.0)


def _stopped(ledger: Ledger, error: BaseException, kept: bool) -> None:
    with ledger.spending(Entry("/a.csv", "1", 1.0)) as spent:
        assert ledger.account("/a.csv", "1").epsilon == 1.0, "it stands there from the beginning"
        if kept:
            spent.keep()
        raise error


def test_what_comes_to_nothing_is_taken_out_again_and_what_is_kept_is_not(ledger: Ledger) -> None:
    with pytest.raises(InputError, match="no such column"):
        _stopped(ledger, InputError("no such column"), kept=False)
    assert ledger.account("/a.csv", "1").epsilon == 0.0
    with pytest.raises(KeyboardInterrupt):
        _stopped(ledger, KeyboardInterrupt(), kept=True)
    assert ledger.account("/a.csv", "1").epsilon == 1.0


BEGIN = "import sys, time; from tamis.dp.ledger import Entry, Ledger\n"
HANG = """
with Ledger(sys.argv[1]).spending(Entry("/a.csv", "1", 1.0)):
    print("begun", flush=True)
    time.sleep(60)
"""
OFTEN = """
for _ in range(20):
    with Ledger(sys.argv[1]).spending(Entry("/a.csv", "1", 0.25)) as spent:
        spent.keep()
"""


def started(script: str, ledger: Ledger) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", BEGIN + script, str(ledger.path)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_a_kill_loses_nothing(ledger: Ledger) -> None:
    with started(HANG, ledger) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        process.kill()
    assert ledger.account("/a.csv", "1").epsilon == 1.0


def test_runs_at_once_lose_nothing(ledger: Ledger) -> None:
    processes = [started(OFTEN, ledger) for _ in range(3)]
    for process in processes:
        process.communicate()
        assert process.returncode == 0
    assert ledger.account("/a.csv", "1").epsilon == 3 * 20 * 0.25
    left = {path.name for path in ledger.path.parent.iterdir()}
    assert left == {"ledger.json", ".ledger.json.lock"}


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        "null",
        '{"schema": "other"}',
        "[" * 100_000,
        '{"schema": "tamis-ledger"}',
        '{"schema": "tamis-ledger", "version": 3, "entries": []}',
        '{"schema": "tamis-ledger", "version": 2, "entries": []}',  # without its hash
        '{"schema": "tamis-ledger", "version": 1, "entries": {"id": 1}}',
    ],
)
def test_a_file_that_is_no_ledger_is_left_alone(ledger: Ledger, content: str) -> None:
    ledger.path.write_text(content)
    with pytest.raises(InputError, match="is not a ledger"):
        spend(ledger, 1.0)
    assert ledger.path.read_text() == content


@pytest.mark.parametrize("content", ["", "\n", " \n\n"])
def test_an_emptied_ledger_is_damaged_and_not_a_new_one(ledger: Ledger, content: str) -> None:
    spend(ledger, 1.0)
    ledger.path.write_text(content)
    with pytest.raises(InputError, match="is damaged: it is empty, so what was spent is unknown"):
        spend(ledger, 1.0)
    with pytest.raises(InputError, match="is damaged: it is empty"):
        ledger.account("/a.csv", "1")
    assert ledger.path.read_text() == content


def test_a_ledger_that_was_cut_short_is_refused_wherever_it_ends(ledger: Ledger) -> None:
    spend(ledger, 1.0)
    spend(ledger, 2.0)
    whole = ledger.path.read_bytes()
    for end in range(1, len(whole.rstrip())):
        ledger.path.write_bytes(whole[:end])
        with pytest.raises(InputError, match="is not a ledger"):
            ledger.account("/a.csv", "1")
    ledger.path.write_bytes(whole)
    assert ledger.account("/a.csv", "1").epsilon == 3.0


@pytest.mark.parametrize("lost", [0, 1, 2])
def test_a_ledger_that_lost_an_entry_is_refused(ledger: Ledger, lost: int) -> None:
    for epsilon in (1.0, 2.0, 4.0):
        spend(ledger, epsilon)
    content = json.loads(ledger.path.read_text())
    del content["entries"][lost]
    ledger.path.write_text(json.dumps(content))
    with pytest.raises(InputError, match="was cut short or edited"):
        spend(ledger, 1.0)


def test_a_ledger_of_the_first_version_is_read_and_becomes_one_of_this(ledger: Ledger) -> None:
    """It knew a table by its path and the bytes of its file alone."""
    old = {"table": "/a.csv", "sha256": "1", "epsilon": 1.0, "delta": 0.0, "into": "/x.csv"}
    old |= {"neighbours": "add-remove", "guarantee": True, "date": "2026-01-01", "id": "ab"}
    content = {"schema": "tamis-ledger", "version": 1, "entries": [old]}
    ledger.path.write_text(json.dumps(content))
    assert ledger.account("/a.csv", "").epsilon == 1.0
    spend(ledger, 0.5)
    assert ledger.account("/a.csv", "").epsilon == 1.5
    assert json.loads(ledger.path.read_text())["version"] == 2


@pytest.mark.parametrize(
    "odd",
    [
        {"id": ["a"]},
        {"rows": 1},
        {"columns": [None]},
        {"columns": 3},
        {"guarantee": "yes"},
        {"delta": -1.0},
        {"delta": 1.0},
        {"colour": "red"},
    ],
)
def test_an_entry_of_another_kind_is_refused(ledger: Ledger, odd: dict[str, object]) -> None:
    entry = {"table": "/a.csv", "sha256": "1", "epsilon": 1.0} | odd
    content = {"schema": "tamis-ledger", "version": 1, "entries": [entry]}
    ledger.path.write_text(json.dumps(content))
    with pytest.raises(InputError, match="is not a ledger"):
        ledger.account("/a.csv", "1")


def test_a_table_of_the_same_content_is_the_same_and_the_refusal_names_both(ledger: Ledger) -> None:
    with ledger.spending(Entry("/a.csv", "1", 1.0, rows="r", columns=("x", "y"))) as spent:
        spent.keep()
    same = Entry("/b.parquet", "2", 1.0, rows="r")
    part = Entry("/c.csv", "3", 1.0, rows="s", columns=("x", "y", "z"))
    other = Entry("/d.csv", "4", 1.0, rows="t", columns=("x", "v"))
    for entry in (same, part):
        with (
            pytest.raises(CannotMeet, match=r"1 of epsilon is spent on this table, and 1 more"),
            ledger.spending(entry, 1.5),
        ):
            pass
    with ledger.spending(same) as spent:
        spent.keep()
    with (
        pytest.raises(CannotMeet, match=r"2 of .* this table \(as '/a.csv', '/b.parquet'\), and"),
        ledger.spending(part, 1.5),
    ):
        pass
    with ledger.spending(other, 1.0) as spent:
        spent.keep()
    assert ledger.account("/e.csv", "5", rows="r").epsilon == 2.0
    assert ledger.account("/e.csv", "5", columns=("v", "x")).epsilon == 1.0


def test_costs_for_different_neighbours_are_added_with_a_word(ledger: Ledger) -> None:
    def words(*neighbours: str) -> str:
        return Account(tuple(Entry("/a", "1", 1.0, neighbours=n) for n in neighbours)).words()

    assert "different neighbours" not in words("substitute", "substitute")
    assert "different neighbours" in words("substitute", "add-remove")


def test_what_was_made_before_is_recalled_once(ledger: Ledger) -> None:
    made = Entry("/a.csv", "1", 1.0, into="/x")
    for _ in range(2):
        ledger.recall([made])
        ledger.recall([])
    ledger.recall([Entry("/a.csv", "1", 1.0, into="/y")])
    assert ledger.account("/a.csv", "1").epsilon == 2.0


def test_the_order_of_fields_in_an_entry_does_not_matter(ledger: Ledger) -> None:
    spend(ledger, 1.0)
    content = json.loads(ledger.path.read_text())
    content["entries"] = [dict(reversed(e.items())) for e in content["entries"]]
    ledger.path.write_text(json.dumps(content))
    assert ledger.account("/a.csv", "1").epsilon == 1.0


def test_an_entry_below_zero_is_no_credit(ledger: Ledger) -> None:
    spend(ledger, 1.0)
    content = json.loads(ledger.path.read_text())
    content["entries"][0]["epsilon"] = -5.0
    content["version"] = 1  # whose entries have no hash
    ledger.path.write_text(json.dumps(content))
    with pytest.raises(InputError, match="is not a ledger"):
        ledger.account("/a.csv", "1")


def test_odd_places_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--ledger FILE"):
        spend(Ledger(tmp_path / "none" / "ledger.json"), 1.0)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="not a regular file"):
        spend(Ledger(tmp_path / "pipe"), 1.0)
