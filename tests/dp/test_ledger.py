"""The ledger: what was spent on which table, kept whatever happens to the run."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tamis.dp.ledger import Entry, Ledger
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
    with pytest.raises(InputError):
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
    assert [path.name for path in ledger.path.parent.iterdir()] == [ledger.path.name]


@pytest.mark.parametrize(
    "content", ["{", "[]", '{"schema": "other"}', "[" * 100_000, '{"schema": "tamis-ledger"}']
)
def test_a_file_that_is_no_ledger_is_left_alone(ledger: Ledger, content: str) -> None:
    ledger.path.write_text(content)
    with pytest.raises(InputError, match="is not a ledger"):
        spend(ledger, 1.0)
    assert ledger.path.read_text() == content


def test_an_entry_below_zero_is_no_credit(ledger: Ledger) -> None:
    spend(ledger, 1.0)
    content = json.loads(ledger.path.read_text())
    content["entries"][0]["epsilon"] = -5.0
    ledger.path.write_text(json.dumps(content))
    with pytest.raises(InputError, match="is not a ledger"):
        ledger.account("/a.csv", "1")


def test_odd_places_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--ledger FILE"):
        spend(Ledger(tmp_path / "none" / "ledger.json"), 1.0)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="not a regular file"):
        spend(Ledger(tmp_path / "pipe"), 1.0)
