"""`tamis warm`: compile every kernel ahead, so that no user of an image waits for it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from tamis.cli.options import command
from tamis.errors import CannotMeet


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
    """Commands that between them call every kernel, on tables that are made here."""
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
