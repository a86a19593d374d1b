"""Whatever a command writes: safe cells, in a place that is there, and no trace of a stop."""

import itertools
import json
import os
import re
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tamis.publication import bundle
from tamis.table import sort_by_content
from tamis.verification.layout import SCHEMA_VERSION

ROWS = 120
TABLE = pl.DataFrame(
    {
        "=cmd": [("=1+1", "@x", "c")[i % 3] for i in range(ROWS)],
        "age": [20.0 + i % 7 for i in range(ROWS)],
        "s": [("a", "b")[i % 5 < 2] for i in range(ROWS)],
        "y": [("=no", "yes")[i % 3 == 0] for i in range(ROWS)],
    }
)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    TABLE.write_csv(tmp_path / "rows.csv")
    return tmp_path / "rows.csv"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def cells(path: Path) -> set[str]:
    return {cell for line in path.read_text().splitlines() for cell in line.split(",")}


@pytest.mark.parametrize(
    "command",
    [
        ("select", "--by", "breach", "--classifier", "nb", "--search", "forward", "--folds", "3"),
        ("perturb", "--method", "uniform", "--columns", "age"),
    ],
)
def test_no_command_writes_a_formula(run, table, tmp_path, command):
    out = tmp_path / "out.csv"
    name, *options = command
    code, _, err = run(name, table, "--target", "y", *options, "-o", out, "--quiet")
    assert code == 0, err
    assert "'=no" in cells(out)
    assert not [cell for cell in cells(out) if cell.startswith(("=", "@"))]


def test_selected_columns_of_nought_and_one_are_written_safely(run, tmp_path):
    frame = pl.DataFrame({"=a": [1, 0] * 30, "b": [1, 1, 0] * 20, "=y": ["=u", "v"] * 30})
    frame.write_csv(tmp_path / "bits.csv")
    for privacy in ("containment", "equality"):
        for name in ("out.csv", "out.parquet"):
            asked = ("--by", "containment", "--k", 2, "--privacy", privacy, "-o", tmp_path / name)
            code, _, err = run("select", tmp_path / "bits.csv", "--target", "=y", *asked)
            assert code == 0, err
    assert "'=a" in (tmp_path / "out.csv").read_text()
    assert {"=a", "=y"} <= set(pl.read_parquet(tmp_path / "out.parquet").columns)


IN_ORDER = [
    ("select", "--by", "breach", "--classifier", "nb", "--search", "forward", "--folds", "3"),
    ("select", "--by", "containment", "--k", "2"),
    ("coarsen", "--k", "3", "--quasi", "age"),
    ("perturb", "--method", "microaggregate", "--k", "3", "--quasi", "age"),
    ("perturb", "--method", "suppress", "--k", "3", "--quasi", "age"),
]


@pytest.mark.parametrize("command", IN_ORDER, ids=" ".join)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_no_line_of_a_written_file_tells_whose_it_was(run, tmp_path, command, ending):
    """Of a file sorted by name, the line would be the person."""
    rng = np.random.default_rng(5)
    people = pl.DataFrame(
        {
            "name": [f"Person{i:03}" for i in range(ROWS)],
            "age": rng.integers(0, 2 if "containment" in command else 40, ROWS),
            "s": rng.integers(0, 2, ROWS),
            "y": rng.choice(["no", "yes"], ROWS),
        }
    )
    made = []
    for i, frame in enumerate((people, people.reverse())):
        frame.write_csv(tmp_path / f"people{i}.csv")
        out = tmp_path / f"out{i}.{ending}"
        asked = ("--target", "y", "--identifier", "name", *command[1:], "-o", out, "--quiet")
        code, _, err = run(command[0], tmp_path / f"people{i}.csv", *asked)
        assert code == 0, err
        made.append(out)
    assert made[0].read_bytes() == made[1].read_bytes()
    frame = pl.read_csv(made[0]) if ending == "csv" else pl.read_parquet(made[0])
    assert frame.equals(sort_by_content(frame))
    assert frame["y"].to_list() != people["y"].to_list()


NOWHERE = [
    ("select", "--by", "breach", "-o", "none/x.csv"),
    ("select", "--by", "containment", "--plot", "none/x.svg"),
    ("perturb", "--method", "uniform", "-o", "none/x.csv"),
    ("rules", "-o", "none/x.txt"),
    ("init", "-o", "none/x.toml"),
    ("release", "--out", "none/out"),
    ("release", "--again", "somewhere", "--out", "none/out"),
]


@pytest.mark.parametrize("command", NOWHERE, ids=lambda c: " ".join(c[:1] + c[-2:]))
def test_a_place_that_is_not_there_is_said_before_the_work(
    run, table, tmp_path, monkeypatch, command
):
    """Before the table is even read: it is not there."""
    monkeypatch.chdir(tmp_path)
    table.unlink()
    name, *options = command
    code, _, err = run(name, table, "--target", "y", *options)
    assert code == 2
    assert "no folder none to write" in err


def test_plots_of_other_commands_too(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for command in (("choose", "none.csv", "--factor", "a:max"), ("retain", "a.csv", "b.csv")):
        code, _, err = run(*command, "--plot", "none/x.svg")
        assert code == 2
        assert "no folder none to write" in err
    assert "no folder none to write" in run("demo", "--out", "none/out").err


KILLED = """
import os, signal, sys
import tamis.publication.bundle as bundle
verify = bundle.verify
def killed(folder, *more):  # the draft; the release that it replaces is verified before
    if ".tamis-draft-" in str(folder):
        os.kill(os.getpid(), signal.SIGKILL)
    return verify(folder, *more)
bundle.verify = killed
from tamis.cli import main
from tests.quick_look import no_trees
with no_trees():
    main(sys.argv[1:])
"""
BESIDE = Path(__file__).resolve().parents[2]


RELEASE = (
    "release", "log.svm", "--out", "out", "--methods", "containment", "--attackers", "nb",
    "--quiet",
)  # fmt: skip


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with records from which a release is soon made."""
    rows = [
        f"{'+1' if i % 5 < 3 else '-1'} "
        + " ".join(f"{j}:1" for j in range(1, 9) if (i * j) % 5 < 3)
        for i in range(120)
    ]
    folder = tmp_path / "here"
    folder.mkdir()
    (folder / "log.svm").write_text("\n".join(rows) + "\n")
    monkeypatch.chdir(folder)
    return folder


def test_a_killed_release_leaves_the_old_one_and_the_next_run_cleans(run, here):
    assert run(*RELEASE).code == 0
    before = (here / "out" / "manifest.json").read_bytes()
    command = [sys.executable, "-c", KILLED, *RELEASE, "--force"]
    found = {**os.environ, "PYTHONPATH": str(BESIDE)}
    done = subprocess.run(command, capture_output=True, check=False, timeout=600, env=found)
    assert done.returncode == -signal.SIGKILL
    draft, *others = names(here)
    assert draft.startswith(".tamis-draft-")
    assert others == ["log.svm", "out"]
    assert (here / draft / "new" / "out" / "private" / "recipe.json").exists()
    assert (here / "out" / "manifest.json").read_bytes() == before
    assert run("verify", "out").code == 0
    code, _, err = run("release", "nothing.csv", "--target", "y", "--out", "other")
    assert code == 2
    assert f"removed {draft}, left behind by a stopped run, a draft of 'out'" in err
    assert names(here) == ["log.svm", "out"]


def test_a_closed_terminal_stops_while_writing_and_leaves_nothing(run, here, monkeypatch, stop):
    monkeypatch.setattr("tamis.publication.bundle.summarise", lambda *_, **__: stop(signal.SIGHUP))
    assert run(*RELEASE).code == 130
    assert names(here) == ["log.svm"]


def test_what_nohup_asks_for_is_kept(run, monkeypatch):
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    findings = []

    def look(*_: object, **__: object) -> None:
        findings.append(signal.getsignal(signal.SIGHUP))

    try:
        monkeypatch.setattr("tamis.cli.cli.main", look)
        run("verify", "x")
        assert findings == [signal.SIG_IGN]
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_full_disk_is_said_and_leaves_nothing(run, here, monkeypatch):
    """As long as files are written, none may be longer than a disk with little room allows."""
    publish = bundle.publish

    def limited(*args: Any, **options: Any) -> Any:
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (3_000, hard))
        try:
            return publish(*args, **options)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    monkeypatch.setattr(bundle, "publish", limited)
    code, _, err = run(*RELEASE)
    assert code == 1, err
    assert "there is no room to write out" in err
    assert names(here) == ["log.svm"]


def test_control_characters_are_spelled_out(run, tmp_path):
    steering = "\x1b]0;title\x07\x9b31m\u202e"
    folder = tmp_path / steering
    folder.mkdir()
    manifest = {"schema": "tamis-release", "schema_version": SCHEMA_VERSION, steering: 1}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    code, out, err = run("verify", folder)
    assert code == 1
    assert "title" in err.partition("manifest.json has")[2]
    assert all(c.isprintable() or c == "\n" for c in out + err)


def test_json_has_no_control_characters(capsys):
    from tamis.cli.terminal import print_json

    content = {"a\x1b\x7f\x9b\u202e\u2028": "é 🙂\n"}
    print_json(content)
    text = capsys.readouterr().out
    assert json.loads(text) == content
    assert all(c.isprintable() or c == "\n" for c in text)
    assert "é 🙂" in text


@pytest.mark.parametrize("json_asked", [[], ["--json"]])
def test_names_that_a_console_has_no_letters_for_are_escaped(tmp_path, json_asked):
    """As on Windows, whose consoles may know cp1252 only."""
    file = tmp_path / "t.csv"
    rows = "".join(f"{20 + i % 7 if i else 99},{'да' if i % 3 else 'нет'},🙂\n" for i in range(60))
    file.write_text("возраст,цель,лицо\n" + rows, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "tamis.cli", "audit", file, "--target", "цель", *json_asked],
        capture_output=True,
        check=False,
        env=os.environ | {"PYTHONIOENCODING": "cp1252"},
    )
    assert done.returncode == 0, done.stderr
    text = done.stdout.decode("cp1252")
    if json_asked:
        assert "🙂" not in text
        assert {"возраст", "лицо"} <= set(re.findall(r"\w+", repr(json.loads(text))))
    else:
        assert "\\u0446\\u0435\\u043b\\u044c" in text
        assert "#####" in text
        assert "\\u2588" not in text
        lines = text.partition("What gives people away")[2].splitlines()[1:]
        lines = list(itertools.takewhile(lambda line: line[:1] in "+|", lines))
        assert len({len(line) for line in lines}) == 1
