"""Input: damaged files for every reader. No traceback, no hang, bounded memory, no cell shown.

Files are tried in processes of their own, whose memory is limited, so that a crash of a reader
written in another language is noticed and told with the file that caused it.
"""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from random import Random
from types import FrameType

from fuzz.doors import DOORS, MARK, RELEASE, SAS, Door, all_published
from fuzz.mutate import mutated
from fuzz.tally import Tally

BATCH, HOUR = 250, 3600
SECONDS, LONGEST = 20, 300
"""How long a small file may take: of a processor, and by the clock."""
MEMORY = 6 << 30
"""The address space of a process that reads small files; libraries map two of these."""
GUIDED = ("csv", "libsvm", "basket", "rules")
"""Readers written in Python, where coverage can guide what is tried."""


class Hang(BaseException):
    """A file took too long; not an `Exception`, so that no reader takes it for damage."""


def wrong(door: Door, data: bytes, folder: Path, said: Path | None = None) -> str:
    """What was wrong about how a reader took some bytes; empty where it read or refused them."""
    from tamis.errors import TamisError

    path = folder / door.file
    path.write_bytes(data)
    try:
        with _in_time(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            door.read(path)
    except TamisError as error:
        if found := _shown(door, data, str(error).replace(str(folder), "")):
            return found
    except Hang:
        return f"{door.name}: not done in {SECONDS} seconds"
    except BaseException as error:
        return f"{door.name}: {type(error).__name__} at {_place(error)}"
    if said is not None and said.stat().st_size:
        written = said.read_bytes().strip(b"\0")
        return f"{door.name}: wrote to the terminal past Python: {written[:200]!r}"
    return ""


def _shown(door: Door, data: bytes, message: str) -> str:
    first_line = data.split(b"\n", 1)[0]
    if door.header and first_line != door.intact().split(b"\n", 1)[0]:
        return ""  # a line of cells may have become the line of names
    return f"{door.name}: a message shows a cell" if MARK in message else ""


def _place(error: BaseException) -> str:
    """The innermost line of tamis that an error came through."""
    place, trace = "?", error.__traceback__
    while trace is not None:
        file = Path(trace.tb_frame.f_code.co_filename)
        if "tamis" in file.parts:
            place = f"{file.parent.name}/{file.name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place


@contextmanager
def _in_time() -> Iterator[None]:
    def stop(_: int, __: FrameType | None) -> None:
        raise Hang

    clocks = ((signal.SIGALRM, signal.ITIMER_REAL), (signal.SIGPROF, signal.ITIMER_PROF))
    before = [signal.signal(sign, stop) for sign, _ in clocks]
    for (_, clock), seconds in zip(clocks, (LONGEST, SECONDS)):
        signal.setitimer(clock, seconds)
    try:
        yield
    finally:
        for (sign, clock), handler in zip(clocks, before):
            signal.setitimer(clock, 0)
            signal.signal(sign, handler)


def run(tally: Tally, most: int = 10_000, seed: int = 0, only: str = "") -> None:
    """Batches of damaged files over all readers, then files that coverage chooses."""
    if SAS not in os.environ and re.search(only, "SAS"):
        tally.note(f"SAS: no intact file was named by {SAS}, so none was damaged.")
    guided = find_spec("atheris") is not None and not only
    if not only:
        os.environ[RELEASE] = str(all_published())
    share = 0.75 if guided else 1.0
    mutating = Tally(tally.part, tally.minutes * share, tried=tally.tried)
    for number in mutating.until(-(-int(most * share) // BATCH)):
        _batch(tally, seed * 1_000_003 + number, mutating.left, only)
    if guided:
        for name in GUIDED:
            seconds = max(5, int(min(tally.left, HOUR) / len(GUIDED)))
            _guided(tally, name, seconds, -(-(most - int(most * share)) // len(GUIDED)))
    elif not only:
        tally.note("atheris is not installed, so damage was random, not guided by coverage.")


def _batch(tally: Tally, seed: int, left: float, only: str = "") -> None:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "fuzz.damaged", str(seed), folder, str(left), only]
        with subprocess.Popen(command, stdout=subprocess.PIPE, preexec_fn=_limited) as process:
            try:
                out, _ = process.communicate(timeout=HOUR)
            except subprocess.TimeoutExpired:
                process.kill()
                out, _ = process.communicate()
        last = {"at": "the start"}
        for line in out.decode().splitlines():
            last = json.loads(line)
            if "wrong" in last:
                tally.tried[last["at"]] += 1
                tally.check(not last["wrong"], f"{last['wrong']} (seed {seed})")
        if process.returncode:
            where = f"{last['at']} (seed {seed}, case {last.get('case')})"
            tally.check(False, f"the process ended with {process.returncode} at {where}")


def _limited() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _worker(seed: int, folder: Path, left: float, only: str) -> None:
    """Try a batch of files; a line before and after each, so that the last one is known."""
    tally, rng = Tally("batch", left / 60), Random(seed)
    talk = os.fdopen(os.dup(1), "w", buffering=1)
    said = folder / "said"
    os.dup2(os.open(said, os.O_CREAT | os.O_WRONLY), 2)
    names = list(DOORS)
    asked = [name for name in names if re.search(only, name)]
    for case in tally.until(BATCH):
        door = DOORS[rng.choice(asked)]
        intact = door.intact()
        others = [intact, DOORS[rng.choice(names[:5])].intact()]
        data = mutated(intact, rng, others)
        print(json.dumps({"at": door.name, "case": case}), file=talk)
        os.truncate(said, 0)  # our own line on how far we are may stand there
        found = wrong(door, data, folder, said)
        print(json.dumps({"at": door.name, "wrong": found, "case": case}), file=talk)


def _guided(tally: Tally, name: str, seconds: int, most: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "fuzz.guided", name, folder, str(seconds), str(most)]
        done = subprocess.run(command, capture_output=True, check=False, timeout=seconds + 300)
    text = done.stderr.decode("utf-8", "replace")
    runs = [line for line in text.splitlines() if "number_of_executed_units" in line]
    tally.tried[f"{name}, guided by coverage"] += int(runs[-1].split()[1]) if runs else 0
    lines = [line for line in text.splitlines() if "found:" in line or "ERROR" in line]
    tally.check(done.returncode == 0, f"{name}, guided: {lines[:1] or done.returncode}")


if __name__ == "__main__":
    _worker(int(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3]), sys.argv[4])
