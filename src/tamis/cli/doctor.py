"""`tamis doctor`: what works on this machine, on one page, without a word about anybody's data.

`tamis warm` compiles every kernel ahead, so that no user of an image waits for it.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import redirect_stdout
from importlib import metadata
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tamis.cli.memory import LEAST, limit
from tamis.cli.options import command
from tamis.errors import CannotMeet

_BROWSERS = ("chromium", "google-chrome", "chrome", "msedge", "firefox", "safari")


class Working(NamedTuple):
    """One finding: what was checked, the result, and what to do where it is lacking."""

    about: str
    found: str
    works: bool = True
    then: str = ""


@command("doctor")
def doctor(as_json: bool, quiet: bool) -> None:
    """Say what works on this machine, for bug reports.

    Names versions, memory, locks and the optional parts. No path and nothing of your data is shown.
    """
    from tamis.cli.terminal import console, escape, print_json, rich_table

    found = list(findings())
    if as_json:
        print_json({"findings": [each._asdict() for each in found]})
        return
    table = rich_table("", "found", "")
    for each in found:
        table.add_row(each.about, each.found, escape(each.then) if not each.works else "")
    console().print(table)


def findings() -> Iterator[Working]:
    """All findings, in the order in which they matter."""
    yield Working("tamis", metadata.version("tamis"))
    yield Working("Python", f"{platform.python_version()} ({platform.python_implementation()})")
    yield Working("system", f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores")
    yield _memory()
    yield from _packages()
    yield _kernels()
    yield from _disk()
    yield _program("browser", _BROWSERS, "reports open in any browser of another machine")
    yield _java()
    encoding = sys.stdout.encoding or "unknown"
    letters = "utf" in encoding.lower()
    yield Working("console", encoding, letters, "letters that it lacks are escaped")


def _memory() -> Working:
    from tamis.rows import free_memory

    free, most = free_memory(), limit()
    words = "unknown" if free is None else f"{free / 1e9:.1f} GB free"
    if most is not None:
        words += f", a limit of {most / 1e9:.1f} GB"
    few = (most is not None and most < LEAST) or (free is not None and free < LEAST)
    return Working("memory", words, not few, f"allow {LEAST / 1e9:.0f} GB or more")


def _packages() -> Iterator[Working]:
    """The packages that tamis requires, each with the extra that installs it, if any."""
    extras: dict[str, str] = {}
    for line in metadata.requires("tamis") or ():
        of = re.search(r"extra == ['\"](\w+)['\"]", line)
        extras.setdefault(re.split(r"[^\w.-]", line, maxsplit=1)[0], of[1] if of else "")
    for name, extra in extras.items():
        try:
            yield Working(name, metadata.version(name))
        except metadata.PackageNotFoundError:
            how = f"pip install 'tamis[{extra}]'" if extra else "pip install tamis"
            yield Working(name, "not installed", False, how)


def _kernels() -> Working:
    from tamis.kernel_cache import is_kept, were_compiled_ahead

    if is_kept():
        return Working("compiled kernels", "kept from one run to the next")
    if were_compiled_ahead():
        return Working("compiled kernels", "compiled ahead, in a folder that can only be read")
    return Working(
        "compiled kernels",
        "compiled anew by every run",
        False,
        "run tamis warm as a user who may write, or set NUMBA_CACHE_DIR to a folder",
    )


def _disk() -> Iterator[Working]:
    from filelock import FileLock, Timeout

    from tamis.files import can_exchange

    with TemporaryDirectory() as folder:
        held, second = (FileLock(Path(folder) / "lock", is_singleton=False) for _ in range(2))
        with held:
            try:
                second.acquire(timeout=0)
                locks = False
            except (Timeout, RuntimeError):  # taken, or known to be held by this very thread
                locks = True
            second.release(force=True)
        yield Working(
            "locks", "hold" if locks else "do not hold", locks, "run one tamis at a time here"
        )
        swap = can_exchange(Path(folder))
        yield Working(
            "exchange of folders",
            "in one step" if swap else "in two steps",
            swap,
            "a release that is replaced is away for an instant",
        )


def _program(about: str, names: tuple[str, ...], then: str) -> Working:
    name = next((n for n in names if shutil.which(n)), None)
    return Working(about, name or "none found", name is not None, then)


def _java() -> Working:
    java = shutil.which("java")
    if java is None:
        return Working("Java", "none found", False, "only Spark needs it")
    done = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    version = re.search(r'"([\w.+-]+)"', done.stderr + done.stdout)
    return Working("Java", version[1] if version else "of unknown version")


@command("warm")
def warm(as_json: bool, quiet: bool) -> None:
    """Compile ahead what first runs would compile.

    For images and installations that several people share.

    Runs the commands on small simulated tables and throws away what they make. Takes a minute or
    two once. Where users can read the installation but not write to it, set NUMBA_CACHE_DIR to a
    folder that they can read, now and for them.
    """
    from tamis.cli.terminal import print_json, show_progress
    from tamis.files import scratch_folder
    from tamis.kernel_cache import is_kept

    if not is_kept():
        raise CannotMeet(
            "compiled kernels cannot be kept here: the installation cannot be written; run tamis "
            "warm as its owner, or set NUMBA_CACHE_DIR to a folder that stays"
        )
    began = time.monotonic()
    with scratch_folder() as folder, show_progress(not (quiet or as_json)) as say:
        jobs = list(_jobs(folder))
        for number, job in enumerate(jobs):
            say(f"compiling what tamis {job[0]} needs", number, len(jobs))
            _run(job)
    seconds = time.monotonic() - began
    if as_json:
        print_json({"warmed": True, "seconds": round(seconds, 1)})


def _run(job: list[str]) -> None:
    from tamis.cli import cli

    with redirect_stdout(StringIO()):
        cli.main(args=[*job, "--quiet"], prog_name="tamis", standalone_mode=False)


def _jobs(folder: Path) -> Iterator[list[str]]:
    """Commands that together call every kernel, on tables that are made here."""
    from tamis.datasets import behaviour, stays
    from tamis.table_file import write_table

    people, records, altered = (folder / f"{n}.csv" for n in ("stays", "records", "altered"))
    write_table(stays(rows=1_200).frame, people)
    sparse = behaviour(rows=400, features=30)
    columns = sparse.table()
    write_table(columns.frame, records)
    roles = ["--target", "readmitted", "--sensitive", "hiv", "--identifier", "patient,name"]
    known = "birth_year,sex"
    yield ["demo", "--rows", "1200", "--out", str(folder / "demo")]
    yield ["audit", str(people), *roles, "--quasi", known]
    for search in ("exact", "local"):
        limits = ["--l", "2", "--t", "0.9", "--max-suppressed", "0.1"]
        yield ["coarsen", str(people), *roles, "--quasi", known, "--search", search, *limits]
    for method in ("microaggregate", "suppress"):
        how = ["--method", method, "--columns", known, "-o", str(altered)]
        yield ["perturb", str(people), *roles, *how]
    yield ["attack", str(people), str(folder / "demo"), *roles]
    target = ["--target", str(columns.target)]
    for search in ("greedy", "improve", "maximal", "exact"):
        for privacy in ("containment", "equality") if search == "greedy" else ("containment",):
            how = ["--search", search, "--privacy", privacy]
            yield ["select", "containment", str(records), *target, *how]
    for more in (["--utility", "best"], ["--known-absences", "1"]):
        yield ["select", "containment", str(records), *target, *more]
    for classifier in ("c45", "nb"):
        yield ["select", "breach", str(people), *roles, "--classifier", classifier]
