"""Kernels are compiled wherever tamis is installed, also where nothing can be written."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numba
import pytest

from tamis import kernel_cache
from tamis.datasets import patients
from tests.long import long
from tests.source import SOURCE

config: Any = numba.config
NOBODY = 65534
"""A user who owns nothing."""
UNLISTED = 54_321
"""A user whom the machine has never heard of, as in containers."""


class Installation:
    """A copy of the package that only root can write, and two folders that anybody can."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.work, self.tmp = folder, folder / "work", folder / "tmp"
        self.python = ""
        shutil.copytree(
            SOURCE, folder / "lib" / "tamis", ignore=shutil.ignore_patterns("__pycache__")
        )
        for path in folder.rglob("*"):
            path.chmod(0o555 if path.is_dir() else 0o444)
        folder.chmod(0o755)
        for each in (self.work, self.tmp):
            each.mkdir()
            each.chmod(0o777)

    def find_python(self) -> bool:
        """Whether there is a Python that others may use: this one, or the system's of its kind."""
        system = f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}"
        for self.python in (sys.executable, system):
            with suppress(OSError):
                done = self.run("-c", "import numba, polars, tamis; print(tamis.__file__)")
                if done.returncode == 0:
                    assert done.stdout.strip() == f"{self.folder}/lib/tamis/__init__.py"
                    return True
        return False

    def run(
        self, *args: str, user: int = NOBODY, **variables: str | None
    ) -> subprocess.CompletedProcess[str]:
        """Run Python as a user who owns nothing and has no home."""
        asked = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": f"{self.folder / 'lib'}{os.pathsep}{sysconfig.get_path('purelib')}",
            "HOME": "/nonexistent",
            "TMPDIR": str(self.tmp),
            **variables,
        }
        return subprocess.run(
            [self.python, *args],
            cwd=self.work,
            env={name: value for name, value in asked.items() if value is not None},
            user=user,
            group=user,
            extra_groups=[],
            capture_output=True,
            text=True,
            timeout=600,
        )


@pytest.fixture(scope="module")
def installation() -> Iterator[Installation]:
    if os.name != "posix" or os.geteuid():
        pytest.skip("only root can run a program as another user")
    folder = Path(mkdtemp(prefix="tamis-test-"))  # what pytest makes is closed to others
    try:
        made = Installation(folder)
        if not made.find_python():
            pytest.skip("other users cannot use this Python and its packages")
        yield made
    finally:
        shutil.rmtree(folder)


def test_an_audit_needs_no_place_to_write(installation: Installation):
    patients(rows=40).frame.write_csv(installation.work / "stays.csv")
    asked = ["audit", "stays.csv", "--target=readmitted", "--sensitive=hiv"]
    done = installation.run("-m", "tamis.cli", *asked)
    assert done.returncode == 0, done.stderr
    assert "of 40 rows" in done.stdout
    assert list(installation.tmp.iterdir()) == []


@long
def test_the_whole_job_needs_no_place_to_write_but_its_own_folder(installation: Installation):
    done = installation.run("-m", "tamis.cli", "demo", "--rows=300", "--out=made")
    assert done.returncode == 0, done.stderr
    assert (installation.work / "made" / "manifest.json").is_file()
    assert list(installation.tmp.iterdir()) == []


KERNEL = """
import os, stat, subprocess, sys
from pathlib import Path
from tamis.risk.kernels import *
folder = Path(os.environ["NUMBA_CACHE_DIR"])
found = folder.stat()
assert stat.S_IMODE(found.st_mode) == 0o700 and found.st_uid == os.geteuid()
if len(sys.argv) == 1:
    print(folder)
    subprocess.run([sys.executable, __file__, "child"], check=True)
    assert folder.is_dir(), "a child removed it"
"""


def test_the_temporary_place_is_private_and_shared_and_removed(installation: Installation):
    script = installation.work / "script.py"
    script.write_text(KERNEL)
    done = installation.run(str(script))
    assert done.returncode == 0, done.stderr
    folder = Path(done.stdout.strip())
    assert folder.parent == installation.tmp
    assert not folder.exists()


COMPILED = """
import os
from pathlib import Path
from tamis.kernel_cache import njit

@njit(cache=True)
def twice(number):
    return 2 * number

assert twice(21) == 42
folder = Path(os.environ["NUMBA_CACHE_DIR"])
print(folder, *sorted(f"{path.name}:{path.stat().st_mtime_ns}" for path in folder.rglob("*.nbc")))
"""


def test_what_was_compiled_ahead_is_used_where_it_can_only_be_read(installation: Installation):
    ahead = installation.folder / "kernels"
    ahead.mkdir(mode=0o777)
    ahead.chmod(0o777)
    script = installation.folder / "script.py"
    script.write_text(COMPILED)
    first = installation.run(str(script), NUMBA_CACHE_DIR=str(ahead))
    assert first.returncode == 0, first.stderr
    place, *compiled = first.stdout.split()
    assert place == str(ahead)
    assert compiled
    for path in [ahead, *ahead.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
        os.chown(path, 0, 0)
    again = installation.run(str(script), NUMBA_CACHE_DIR=str(ahead))
    assert again.returncode == 0, again.stderr
    place, *copied = again.stdout.split()
    assert Path(place).parent == installation.tmp
    assert copied == compiled  # none is newer: a copy keeps the time
    assert list(installation.tmp.iterdir()) == []
    said = installation.run("-m", "tamis.cli", "doctor", NUMBA_CACHE_DIR=str(ahead)).stdout
    assert "compiled ahead, in a folder that can only be read" in said


def test_a_user_without_a_home_gets_no_folder_in_place_of_it(installation: Installation):
    """What Numba would call `~`, among the files of whoever runs tamis there."""
    script = installation.folder / "homeless.py"
    script.write_text(COMPILED)
    before = set(installation.work.iterdir())
    done = installation.run(str(script), user=UNLISTED, HOME=None)
    assert done.returncode == 0, done.stderr
    assert set(installation.work.iterdir()) == before
    assert Path(done.stdout.split()[0]).parent == installation.tmp


def test_a_place_that_numba_finds_is_left_to_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(kernel_cache, "mkdtemp", lambda **_: pytest.fail("a folder was made"))

    def twice(x: int) -> int:
        return 2 * x

    before = config.CACHE_DIR
    assert kernel_cache.njit(cache=True)(twice)(21) == 42
    assert before == config.CACHE_DIR


def test_whoever_asks_is_told_before_kernels_are_compiled(monkeypatch: pytest.MonkeyPatch):
    told: list[bool] = []
    monkeypatch.setattr(kernel_cache, "when_compiling", [told.append])

    def thrice(x: int) -> int:
        return 3 * x

    kernel = kernel_cache.njit(cache=False)(thrice)
    assert told == []
    assert kernel(14) == 42
    assert told == [kernel_cache.is_kept()]
    assert kernel(15) == 45
    assert len(told) == 1  # for these types it is compiled


@pytest.mark.parametrize("disk", ["writable", "read-only"])
def test_without_any_place_kernels_are_compiled_each_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, disk: str
):
    def refuse(**_: str) -> str:
        raise FileNotFoundError("no usable temporary directory")

    monkeypatch.setattr(
        kernel_cache, "mkdtemp", refuse if disk == "read-only" else lambda **_: str(tmp_path)
    )
    monkeypatch.setattr(kernel_cache, "_PRIVATE", [])
    monkeypatch.setattr("atexit.register", lambda *_: None)
    monkeypatch.setattr(config, "CACHE_DIR", config.CACHE_DIR)
    monkeypatch.setenv("NUMBA_CACHE_DIR", os.environ.get("NUMBA_CACHE_DIR", ""))
    space: dict[str, Any] = {}
    # Numba caches no function that has no file.
    exec("def twice(x):\n    return 2 * x", space)
    with pytest.raises(RuntimeError, match="cannot cache function"):
        numba.njit(cache=True)(space["twice"])
    compiled = kernel_cache.njit(cache=True)(space["twice"])
    assert compiled(21) == 42
    assert compiled.signatures
