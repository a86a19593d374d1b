"""The frame of the command line: light help, one way to fail, options from a file."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import click
import numpy as np
import pytest

from tamis.cli import all_commands, memory
from tamis.errors import when_compiling
from tamis.options.commands import COMMANDS, options_of

HEAVY = {"numpy", "polars", "sklearn", "duckdb", "numba", "scipy", "pandas", "pyarrow", "rich"}
HEAVY |= {"starlette", "uvicorn", "asyncio"}


@pytest.mark.parametrize(
    "args",
    [
        ["--help"],
        ["audit", "--help"],
        ["select", "breach", "--help"],
        ["serve", "-h"],
        ["--version"],
    ],
)
def test_help_imports_nothing_heavy(args):
    code = (
        "import sys\n"
        "from tamis.cli import _run\n"
        f"_run({args!r})\n"
        "print(*sys.modules, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "tamis" in done.stdout
    assert not HEAVY & set(done.stderr.split())


LEARNING = {"sklearn", "scipy", "pandas", "numba", "joblib", "duckdb", "pyarrow"}


LIGHT = [
    ["choose", "scores.csv", "--factor", "a:max", "--factor", "b:min"],
    ["init", "table.csv"],
    ["audit", "table.csv"],
]
"""With a target, an audit learns what each column teaches of it."""


def test_what_needs_no_learner_imports_none(tmp_path):
    """One command after another, in one process: what an earlier one imports, stays."""
    (tmp_path / "scores.csv").write_text("name,a,b\nx,1,2\ny,3,4\n")
    (tmp_path / "table.csv").write_text("age,job\n" + "30,cook\n40,judge\n" * 20)
    code = (
        "import sys\n"
        "from tamis.cli import _run\n"
        f"for args in {LIGHT!r}:\n"
        "    code = _run(args)\n"
        f"    print('learning:', code, *sorted({LEARNING!r} & set(sys.modules)))\n"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    found = [line for line in done.stdout.splitlines() if line.startswith("learning:")]
    assert found == ["learning: 0"] * 3


def test_the_flow_is_there_without_what_only_some_releases_need():
    slow = {"sklearn", "pandas", "scipy.stats", "joblib"}
    code = f"import sys, tamis.flow\nprint(*sorted({slow!r} & set(sys.modules)))"
    command = [sys.executable, "-c", code]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "\n"


def test_every_command_has_help_and_every_option_of_it(run):
    listed = run("--help").out
    assert all(name in listed for name in COMMANDS)
    for command in all_commands():
        assert command.get_short_help_str()
        for param in command.params:
            if isinstance(param, click.Option):
                assert param.help or param.name == "rows", (
                    f"{command.name} --{param.name} lacks help"
                )


def test_wrong_usage_is_exit_code_2(run):
    cases = (
        (["audit"], "Missing argument 'TABLE'"),
        (["adit"], "No such command 'adit'"),
        (["audit", "x.csv", "--nonsense"], "No such option '--nonsense'"),
    )
    for words, why in cases:
        code, _, err = run(*words)
        assert code == 2
        assert why in err


def test_too_little_memory_is_said(run, monkeypatch):
    def starve(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("tamis.cli.cli.main", starve)
    code, _, err = run("verify", "x")
    assert code == 1
    assert "not enough memory" in err
    assert "report it" not in err


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]), resource.RLIM_INFINITY))
from tamis.cli import main
main(sys.argv[2:])
"""


def audited_within(limit: int, place: Path) -> subprocess.CompletedProcess[str]:
    rng = np.random.default_rng(0)
    rows = zip(*(rng.integers(0, n, 300).tolist() for n in (40, 9, 2)))
    cells = "".join(f"{a},{b},{c}\n" for a, b, c in rows)
    (place / "t.csv").write_text("a,b,c\n" + cells)
    return subprocess.run(
        [sys.executable, "-c", LIMITED, str(limit), "audit", "t.csv", "--target", "c"],
        cwd=place,
        env=os.environ | {"RUST_BACKTRACE": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.parametrize("megabytes", [150, 450, 600, 700, 800, 1000, 1500, 1999])
def test_a_limit_within_which_nothing_starts_is_said_without_a_backtrace(tmp_path, megabytes):
    done = audited_within(megabytes * 10**6, tmp_path)
    assert done.returncode == 1
    known = f"a limit of {megabytes / 1e3:.1f} GB is set, see ulimit -v"
    advice = "nothing was written; allow 2 GB or more"
    assert done.stderr == f"tamis: error: there is not enough memory ({known}); {advice}\n"
    assert done.stdout == ""


@pytest.mark.parametrize("limit", [memory.LEAST, 2 * memory.LEAST])
def test_within_a_larger_limit_the_work_is_done_or_memory_is_missing_in_words(tmp_path, limit):
    """Libraries map more with every core, so a machine with many may need more than the least."""
    done = audited_within(limit, tmp_path)
    said = done.returncode == 1 and "not enough memory" in done.stderr
    assert said or (done.returncode == 0 and "rows (" in done.stdout)
    assert "backtrace" not in done.stderr


def test_an_odd_error_near_the_limit_is_put_down_to_it(run, monkeypatch):
    def explode(*_: object, **__: object) -> None:
        raise SystemError("something odd")

    monkeypatch.delenv("TAMIS_DEBUG", raising=False)
    monkeypatch.setattr("tamis.cli.cli.main", explode)
    monkeypatch.setattr("tamis.cli.cannot_start", lambda: False)
    monkeypatch.setattr("tamis.cli.memory._most_mapped", lambda: 71)
    for most, code, words in ((100, 1, "not enough memory"), (102, 2, "unexpected SystemError")):
        monkeypatch.setattr("tamis.cli.memory.limit", lambda most=most: most)
        done = run("verify", "x")
        assert done.code == code
        assert words in done.err


def test_the_memory_of_this_process_is_counted():
    assert memory._most_mapped() > 10_000_000


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_is_a_stop_whatever_a_library_makes_of_it(run, stop, monkeypatch, name):
    def query(*_: object, **__: object) -> None:
        try:  # as DuckDB does where it looks for signals during a query
            stop(getattr(signal, name))
        except KeyboardInterrupt:
            raise RuntimeError("Query interrupted") from None

    monkeypatch.setattr("tamis.cli.cli.main", query)
    done = run("verify", "x")
    assert done.code == 130
    assert done.err == "tamis: stopped; no file or folder was left half-written\n"


def test_an_unforeseen_error_shows_neither_a_traceback_nor_its_text(run, monkeypatch, tmp_path):
    def explode(*args, **kwargs):
        raise RuntimeError("S3CRET")

    monkeypatch.delenv("TAMIS_DEBUG", raising=False)
    monkeypatch.setattr("tamis.cli.audit.audit_table", explode)
    table = tmp_path / "t.csv"
    table.write_text("a,b\n1,2\n")
    code, _, err = run("audit", table)
    assert code == 2
    assert "unexpected RuntimeError" in err
    assert "S3CRET" not in err
    assert "Traceback" not in err


def test_a_configuration_file_gives_options_and_flags_win(run, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("a,b,c\n1,x,?\n2,y,7\n")
    config = tmp_path / "tamis.toml"
    config.write_text('target = "b"\nquasi = ["a"]\nmissing = ["?"]\n')
    out = run("audit", table, "--config", config).err
    assert "quasi-identifier" in out
    assert "number" in run("audit", table, "--config", config).err.split("c ")[-1]
    assert "no column 'z'" in run("audit", table, "--config", config, "--target", "z").err
    config.write_text("tarjet = 'b'\n")
    bad = run("audit", table, "--config", config)
    assert bad.code == 2
    assert "no option 'tarjet'; did you mean 'target'?" in bad.err
    config.write_text("tarjet = 'b'\nquasy = ['a']\nzzz = 1\n")
    several = run("audit", table, "--config", config).err
    assert (
        "'tarjet'; did you mean 'target'?, nor 'quasy'; did you mean 'quasi'?, nor 'zzz'" in several
    )
    config.write_text("target = 'b'\n[privacy]\nmax_supressed = 0.1\n")
    assert "section 'privacy' is not read" in run("audit", table, "--config", config).err
    config.write_text("zzz = 1\n")
    assert "known are" in run("audit", table, "--config", config).err
    code, _, err = run("audit", table, "--config", tmp_path / "none.toml")
    assert code == 2
    assert "no file" in err
    assert "for --config" in err


def test_notes_are_said_on_stderr_and_hushed_by_quiet(run, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("a,b\n" + "".join(f"{i},1\n" for i in range(30)) + "NA,2\n")
    assert "note: column 'a' is read as text" in run("audit", table).err
    assert run("audit", table, "--quiet").err == ""


def test_the_list_of_commands_cuts_no_sentence(run):
    lines = run("--help").out.partition("Commands:")[2].partition("Exit codes")[0].strip()
    assert [line.split()[0] for line in lines.splitlines()] == list(COMMANDS)
    assert all(line.endswith(".") and "..." not in line for line in lines.splitlines())


def test_the_help_lists_each_option_once_by_section_with_its_default(run):
    found = run("release", "--help-all").out
    titles = [line[:-1] for line in found.splitlines() if line.endswith(":") and line[0] != " "]
    assert titles[:2] == ["Options", "Promises"]
    assert titles[-3:] == ["The table", "Large tables", "General"]
    listed = [line.split()[0] for line in found.splitlines() if line.startswith("  --")]
    known = {option.flag for option in options_of("release") if not option.hidden}
    assert sorted(flag for flag in listed if "--help" not in flag) == sorted(known)
    assert "[default: found in the file]" in found
    assert "[default: all features]" in found
    assert "[default: 0.0; 0<=x<=0.5]" in found


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_fits_one_screen(run, name):
    found = run(name, "--help").out
    assert len(found.splitlines()) <= 45
    rare = [option.flag for option in options_of(name) if option.rare and not option.hidden]
    if name != "select":  # whose kinds have their own
        assert ("--help-all" in found) == bool(rare)
        assert not [flag for flag in rare if f"  {flag} " in found]


@pytest.mark.parametrize("flags", [[], ["--quiet"], ["--json"]])
def test_compiling_is_said_once_while_it_happens(tmp_path, flags):
    (tmp_path / "people.csv").write_text("age,sex\n31,f\n32,m\n33,f\n33,m\n")
    asked = [sys.executable, "-m", "tamis.cli", "audit", "people.csv", "--row-is-person"]
    kernels = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "kernels")}
    said = [
        subprocess.run([*asked, *flags], cwd=tmp_path, env=kernels, capture_output=True, text=True)
        for _ in range(2)
    ]
    assert [each.returncode for each in said] == [0, 0], said[0].stderr
    expected = [0, 0] if flags else [1, 0]
    assert [each.stderr.count("compiling, once per installation") for each in said] == expected


def test_nothing_is_told_of_compiling_after_a_command(run):
    assert run("--version").code == 0
    assert when_compiling == []
