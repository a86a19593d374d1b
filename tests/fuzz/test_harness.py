"""The short form of `fuzz/`: a few cases of each part, and that each part notices a fault."""

from __future__ import annotations

import json
import signal
import warnings
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import pytest

from fuzz import claims, damaged, kills, privacy
from fuzz.doors import DOORS, MARK
from fuzz.mutate import mutated
from fuzz.page import kept, written
from fuzz.ready import Ready
from fuzz.tally import Tally
from tamis.errors import InputError
from tests.long import LONG, daily, long

QUICK = [name for name, door in DOORS.items() if door.file[0] in "tbl"]
"""Readers that need no release."""
LATER = ("Stata", "SAS", "csv out of memory", "parquet out of memory")
"""Those of which others do the same, and which take longest."""


@pytest.mark.parametrize("name", daily(QUICK, *(n for n in QUICK if n not in LATER)))
def test_intact_files_are_read_and_damaged_ones_are_read_or_refused(name, tmp_path, capfd):
    door, rng = DOORS[name], Random(7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        door_path = tmp_path / door.file
        door_path.write_bytes(door.intact())
        door.read(door_path)
    apart = name in ("SPSS", "Stata", "SAS")  # each in a process of its own
    for _ in range((2 if LONG else 1) if apart else 8 if LONG else 4):
        assert damaged.wrong(door, mutated(door.intact(), rng), tmp_path) == ""
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (KeyError("x"), "KeyError"),
        (InputError(f"the cell {MARK}3 is odd"), "shows a cell"),
        (damaged.Hang(), "not done in"),
    ],
)
def test_a_reader_that_fails_tells_or_hangs_is_noticed(tmp_path, error, words):
    def read(_: Path) -> object:
        raise error

    door = replace(DOORS["csv"], read=read)
    assert words in damaged.wrong(door, door.intact(), tmp_path)


def test_a_line_of_names_may_be_shown(tmp_path):
    def read(_: Path) -> object:
        raise InputError(f"no column {MARK}3")

    door = replace(DOORS["csv"], read=read)
    assert damaged.wrong(door, f"{MARK}3,b\n".encode(), tmp_path) == ""


PROMISE = {"key": "k_anonymity", "columns": ["a"], "at_least": 2, "measured": 2}


def release(folder: Path, cells: str, **changes: Any) -> Path:
    columns = [{"name": "a", "header": "a"}, {"name": "y", "header": "y"}]
    content = {"columns": columns, "file": {"rows": 4}, "promises": [{**PROMISE, **changes}]}
    (folder / "manifest.json").write_text(json.dumps(content))
    (folder / "release.csv").write_text("a,y\n" + cells)
    return folder


RIGHT = "1,u\n1,v\n,u\n,v\n"


def test_claims_are_counted_again_from_the_cells(tmp_path):
    assert claims.recount(release(tmp_path, RIGHT)) == []
    assert claims.recount(release(tmp_path, RIGHT, measured=3))
    assert claims.recount(release(tmp_path, "1,u\n1,v\n1.0,u\n1.0,v\n")) == []
    assert claims.recount(release(tmp_path, "é,u\ne\u0301,v\né,u\nz,v\n"))
    assert claims.recount(release(tmp_path, RIGHT + "1,u\n"))
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "people.csv").write_text("person\n0\n0\n1\n2\n")
    assert "below" in claims.recount(release(tmp_path, RIGHT))[0]


def test_containment_is_counted_by_its_definition():
    known = pd.DataFrame({"a": ["1", "1", "0"], "b": ["1", "0", "0"]})
    assert claims._least("containment_anonymity", known, range(3)) == 1
    assert claims._least("containment_anonymity", known[["a"]], range(3)) == 2
    assert claims._least("containment_anonymity", known, range(3), absences=1) == 1
    alone = pd.DataFrame({"a": ["1", "1", "0"], "b": ["0", "0", "0"]})
    assert claims._least("containment_anonymity", alone, range(3)) == 2
    assert claims._least("containment_anonymity", alone, range(3), absences=1) == 1


def test_the_least_epsilon_is_found_and_not_overstated():
    fair, biased = Counter(a=5_000, b=5_000), Counter(a=9_000, b=1_000)
    assert privacy.least_epsilon(fair, fair) == 0
    assert 1.3 < privacy.least_epsilon(fair, biased) < 1.61  # log(0.5 / 0.1)
    assert privacy.least_epsilon(Counter(a=3), Counter(b=3)) == 0  # too few to be sure


def test_a_mechanism_without_noise_is_caught(monkeypatch):
    monkeypatch.setitem(
        privacy.AUDITS, "bare count", (lambda frame: frame.height, privacy.ADDED, 1.0)
    )
    audit = privacy.Audit("bare count")
    audit.draw(100)
    assert audit.breaks


def test_every_mechanism_draws():
    pytest.importorskip("opendp", reason="opendp is not installed (the extra dp has it)")
    for name in privacy.AUDITS:
        audit = privacy.Audit(name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            audit.draw(3)
        assert [seen.total() for seen in audit.seen] == [3, 3]
        assert not audit.breaks


def test_draws_that_are_all_the_same_audit_nothing(monkeypatch):
    monkeypatch.setitem(privacy.AUDITS, "fails", (lambda frame: "no rows", privacy.ADDED, 1.0))
    audit = privacy.Audit("fails")
    audit.draw(20)
    assert not audit.varies
    tally = Tally("privacy", minutes=1)
    privacy.run(tally, most=100, only="fails")
    assert "nothing was audited" in tally.found[0]


def test_what_a_stopped_command_leaves_is_noticed(tmp_path):
    scene = kills.Scene(tmp_path)
    fine = kills.Ended(130, kills.STOPPED)
    assert list(scene.wrong(fine)) == []
    (scene.folder / "half").write_text("x")
    assert [words.partition(":")[0] for words in scene.wrong(fine)] == [
        "left behind",
        "not cleaned by the next run",
    ]
    (scene.folder / "half").unlink()
    assert "a traceback" in list(scene.wrong(kills.Ended(2, "Traceback (most recent")))
    scene.out.mkdir()
    assert any("does not verify" in words for words in scene.wrong(kills.Ended(0, "")))
    (scene.out / "manifest.json").write_text("{}")
    assert any("a new release although" in words for words in scene.wrong(kills.Ended(1, "")))
    (scene.out / "manifest.json").unlink()
    scene.out.rmdir()
    scene.old = b"{}"
    assert list(scene.wrong(fine)) == ["the earlier release is gone"]


SIGNS = [(signal.SIGKILL, -9), (signal.SIGTERM, 130), (signal.SIGUSR1, -10)]


@long
def test_a_stop_between_imports_and_end_is_as_of_the_real_command(tmp_path):
    scene = kills.Scene(tmp_path)
    with closing(Ready(scene.folder, scene.scratch)) as ready:
        code, said = ready.ran(["release", "none.svm", "--out", "out"])
        assert (code, "operations: 0" in said) == (2, True)
        for sign, right in SIGNS:
            ended = kills.Ended(*ready.ran(scene.command(), number=5, sign=sign))
            assert ended.code == right
            assert list(scene.wrong(ended)) == []


def test_a_run_of_some_cases_alone_stands_below_its_part(tmp_path):
    page = tmp_path / "withstood.md"
    for only in ("", "csv|SAS", "", "csv|SAS"):
        tally = Tally("input")
        kept(page, written(tally, "2026-11-16", only), "input", only)
    titles = [line for line in page.read_text().splitlines() if line.startswith("#")][1:]
    assert titles == ["## input", "### input: csv, SAS alone"]


def test_a_part_that_runs_again_replaces_its_section(tmp_path):
    page = tmp_path / "withstood.md"
    for part in ("privacy", "kills", "privacy"):
        tally = Tally(part)
        tally.tried["thing"] += 1
        kept(page, written(tally, "2026-11-16"), part)
    tally.check(False, "a fault")
    kept(page, written(tally, "2026-11-17"), "privacy")
    text = page.read_text()
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## kills",
        "## privacy",
    ]
    assert text.count("Found: nothing.") == 1
    assert "**found**: a fault" in text


def test_what_people_wrote_below_the_parts_stays(tmp_path):
    page = tmp_path / "withstood.md"
    kept(page, written(Tally("claims"), "2026-11-16"), "claims")
    page.write_text(page.read_text() + "\n## What others broke\n\nMuch.\n")
    for part in ("undo", "claims", "undo"):
        kept(page, written(Tally(part), "2026-11-18"), part)
    text = page.read_text()
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## claims",
        "## undo",
        "## What others broke",
    ]
    assert text.endswith("Much.\n")
