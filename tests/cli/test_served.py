"""Another release than the best: named on the command line, or asked of a process that stays."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tamis.datasets import patients
from tamis.serve import SERVED
from tests.cli.test_release import CONFIG, FEW_METHODS, ROLES
from tests.long import long

BESIDE = Path(__file__).resolve().parents[2]
QUICK = """
import sys
from tamis.cli import main
from tests.quick_look import no_trees
with no_trees():
    main(sys.argv[1:])
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served")
    patients(rows=600).frame.write_csv(folder / "stays.csv")
    (folder / "fast.toml").write_text(CONFIG)
    return folder


@contextmanager
def started(folder: Path, out: Path) -> Iterator[subprocess.Popen[str]]:
    table, config = folder / "stays.csv", folder / "fast.toml"
    args = ["release", str(table), *ROLES, *FEW_METHODS, "--config", str(config)]
    process = subprocess.Popen(
        [sys.executable, "-c", QUICK, *args, "--out", str(out)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, SERVED: "1", "PYTHONPATH": str(BESIDE)},
    )
    with process:
        yield process
        process.kill()


def told(process: subprocess.Popen[str]) -> Iterator[dict[str, str]]:
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("{"):
            yield json.loads(line)


def candidates(out: Path) -> dict[str, list[str]]:
    summary = json.loads((out / "private" / "summary.json").read_text())
    return {c["name"]: c["fails"] for c in summary["candidates"]}


def chosen(out: Path) -> str:
    name: str = json.loads((out / "private" / "recipe.json").read_text())["release"]
    return name


def until(answers: Iterator[dict[str, str]], *ends: str) -> list[dict[str, str]]:
    seen = []
    for answer in answers:
        seen.append(answer)
        if set(ends) & set(answer):
            return seen
    raise AssertionError(f"the process ended after {seen}")


def ask(process: subprocess.Popen[str], name: str, out: Path) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps({"take": name, "out": str(out)}) + "\n")
    process.stdin.flush()


@long
def test_others_of_one_comparison_are_made_on_request_as_take_makes_them(run, folder, tmp_path):
    first, other, again = (tmp_path / name for name in ("first", "other", "again"))
    with started(folder, first) as process:
        answers = told(process)
        seen = until(answers, "made", "failed")
        assert seen[-1] == {"made": str(first)}
        assert {"doing", "done", "total"} == set(seen[0])
        found = candidates(first)
        name = next(n for n, fails in found.items() if not fails and n != chosen(first))
        forbidden = next(n for n, fails in found.items() if fails)
        ask(process, forbidden, tmp_path / "forbidden")
        assert "cannot be taken" in until(answers, "made", "failed")[-1]["failed"]
        ask(process, name, other)
        assert until(answers, "made", "failed")[-1] == {"made": str(other)}
        assert process.stdin is not None
        process.stdin.close()
        process.wait(20)
    assert chosen(other) == name
    assert {p.name for p in tmp_path.iterdir()} == {
        *("first", "first-shown.json", "other", "other-shown.json")
    }
    table, config = folder / "stays.csv", folder / "fast.toml"
    args = (table, *ROLES, *FEW_METHODS, "--config", config)
    made = run("release", *args, "--take", name, "--out", again)
    assert made.code == 0, made.err
    for file in ("release.csv", "manifest.json", "report.html"):
        assert (again / file).read_bytes() == (other / file).read_bytes()


@long
def test_a_process_whose_server_is_gone_stops_in_the_middle(folder, tmp_path):
    with started(folder, tmp_path / "out") as process:
        until(told(process), "doing")
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(20) == 130
    assert list(tmp_path.iterdir()) == []
