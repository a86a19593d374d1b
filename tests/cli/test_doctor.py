"""What works here, and kernels that are compiled ahead."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from tamis import kernel_cache
from tamis.cli import doctor, memory
from tests.long import long


def test_what_works_is_named_and_nobodys_paths_are(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret-patients.csv").touch()
    code, out, _ = run("doctor", "--json")
    found = {each["about"]: each for each in json.loads(out)["findings"]}
    assert code == 0
    assert found["polars"]["found"] == metadata.version("polars")
    assert found["locks"]["works"]
    assert str(tmp_path) not in out
    assert "secret" not in out
    code, out, _ = run("doctor")
    assert code == 0
    assert "numba" in out


def test_what_is_lacking_comes_with_what_to_do(monkeypatch):
    def version(name: str) -> str:
        if name in ("duckdb", "polars"):
            raise metadata.PackageNotFoundError(name)
        return "1"

    monkeypatch.setattr(metadata, "version", version)
    monkeypatch.setattr("shutil.which", lambda _: None)
    monkeypatch.setattr(doctor, "limit", lambda: memory.LEAST - 1)
    monkeypatch.setattr(kernel_cache, "_PRIVATE", ["somewhere"])
    lacking = {each.about: each.then for each in doctor.findings() if not each.works}
    assert lacking["duckdb"] == "pip install 'tamis[duckdb]'"
    assert lacking["polars"] == "pip install tamis"
    assert "GB or more" in lacking["memory"]
    assert "tamis warm" in lacking["compiled kernels"]
    assert "Spark" in lacking["Java"]
    assert "browser" in lacking


def test_kernels_that_can_only_be_read_are_known(monkeypatch, tmp_path):
    monkeypatch.setattr(kernel_cache, "_PRIVATE", [str(tmp_path)])
    about = {each.about: each for each in doctor.findings()}
    assert not about["compiled kernels"].works
    (tmp_path / "of").mkdir()
    (tmp_path / "of" / "a.nbc").touch()
    about = {each.about: each for each in doctor.findings()}
    assert about["compiled kernels"].works
    assert "compiled ahead" in about["compiled kernels"].found


def test_nothing_is_compiled_ahead_where_nothing_can_be_kept(run, monkeypatch):
    monkeypatch.setattr(kernel_cache, "_PRIVATE", ["somewhere"])
    code, _, err = run("warm")
    assert code == 1
    assert "set NUMBA_CACHE_DIR" in err


@long
def test_what_was_compiled_ahead_is_not_compiled_again(tmp_path: Path):
    def tamis(*args: object) -> set[str]:
        done = subprocess.run(
            [sys.executable, "-m", "tamis.cli", *map(str, args)],
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "kernels")},
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return {path.name for path in (tmp_path / "kernels").rglob("*.nbc")}

    compiled = tamis("warm", "--quiet")
    assert len(compiled) > 30
    assert tamis("demo", "--out", tmp_path / "demo", "--quiet") == compiled


@pytest.mark.parametrize("command", ["doctor", "warm"])
def test_their_help_says_what_for(run, command):
    code, out, _ = run(command, "--help")
    assert code == 0
    assert "--json" in out
