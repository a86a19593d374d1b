"""Kills: the real command, stopped, starved and raced at many moments.

Always: the whole verified release or the old one, the right exit code and message, and nothing
left behind that the next run does not clean.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, redirect_stderr
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from random import Random

from fuzz.ready import Ready
from fuzz.tally import Tally

CLEANED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
"""Signals that the command cleans up after."""
SUDDEN = (signal.SIGKILL, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM)
"""Signals that end a process at once, as others do that nobody handles."""
SIGNALS = (*CLEANED, *CLEANED, *SUDDEN)
STOPPED = "no file or folder was left half-written"
LONGEST = 600


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    err: str


class Scene:
    """A folder with records to release, a place for temporary files, and maybe a release."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.scratch = folder / "here", folder / "scratch"
        self.folder.mkdir()
        self.scratch.mkdir()
        self.table = self.folder / "log.svm"
        self.table.write_text("\n".join(map(_record, range(120))) + "\n")
        self.out = self.folder / "out"
        self.old: bytes | None = None
        self.k = 5

    def command(self, *more: str) -> list[str]:
        methods = ["--methods", "containment", "--attackers", "nb", "--quiet"]
        return ["release", "log.svm", "--out", "out", "--k", str(self.k), *methods, *more]

    def start(
        self, *words: str, limit: Callable[[], None] | None = None
    ) -> subprocess.Popen[bytes]:
        """Start the command with what limits it."""
        return subprocess.Popen(
            [sys.executable, "-m", "tamis.cli", *words],
            cwd=self.folder,
            env=dict(os.environ, TMPDIR=str(self.scratch), OMP_NUM_THREADS="1"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            preexec_fn=limit,
        )

    def keep(self) -> None:
        """What is there now is the earlier release; the next one promises another k."""
        manifest, recipe = self.out / "manifest.json", self.out / "private" / "recipe.json"
        self.old = manifest.read_bytes() if manifest.exists() else None
        if recipe.exists():
            self.k = 11 - int(json.loads(recipe.read_text())["settings"]["k"])

    def wrong(self, ended: Ended) -> Iterator[str]:
        """What does not hold after a command has ended, and the next one has begun."""
        if "Traceback" in ended.err:
            yield "a traceback"
        killed = ended.code < 0
        left = self._left()
        if left and not killed:
            yield f"left behind: {', '.join(sorted({p.name[:13] for p in left}))}"
        self._next_run()
        if left := self._left():
            yield f"not cleaned by the next run: {', '.join(sorted(p.name[:13] for p in left))}"
        if not self.out.exists():
            if self.old is not None:
                yield "the earlier release is gone"
            elif ended.code == 0:
                yield "no release although the command ended with 0"
            return
        yield from _unverified(self.out)
        # A stop may come when the new release has its name already; a failure may not.
        manifest = self.out / "manifest.json"
        new = manifest.exists() and manifest.read_bytes() != self.old
        if ended.code in (1, 2) and new:
            yield f"a new release although the command ended with {ended.code}"
        if ended.code == 0 and not new:
            yield "the earlier release although the command ended with 0"

    def _left(self) -> list[Path]:
        found = [*self.folder.iterdir(), *self.scratch.iterdir()]
        return [path for path in found if path not in (self.table, self.out)]

    def _next_run(self) -> None:
        """The next command cleans both folders before it fails for want of a table."""
        from tamis.files import scratch_folder

        with redirect_stderr(StringIO()), _quietly():
            from tamis.cli import _run

            _run(["release", "none.csv", "--target", "y", "--out", str(self.folder / "other")])
            with scratch_folder(self.scratch):
                pass


def _record(i: int) -> str:
    label = "+1" if i % 5 < 3 else "-1"
    return " ".join([label, *(f"{j}:1" for j in range(1, 9) if (i * j) % 5 < 3)])


@contextmanager
def _quietly() -> Iterator[None]:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _unverified(out: Path) -> Iterator[str]:
    from tamis import verify
    from tamis.errors import TamisError

    try:
        verify(out)
    except TamisError as error:
        yield f"a release that does not verify: {str(error).replace(str(out), '')[:200]}"


def _ended(process: subprocess.Popen[bytes]) -> Ended:
    try:
        _, err = process.communicate(timeout=LONGEST)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return Ended(1000, "it hung")
    return Ended(process.returncode, err.decode("utf-8", "replace"))


def stopped_while_writing(
    scene: Scene, ready: Ready, rng: Random, operations: int
) -> Iterator[str]:
    """A signal at one of the operations on files."""
    sign, number = rng.choice(SIGNALS), rng.randint(1, operations)
    ended = Ended(*ready.ran(scene.command("--force"), number, sign))
    right = 130 if sign in CLEANED else -sign
    if ended.code not in (right, 0):
        yield f"{sign.name} at operation {number} ended with {ended.code}"
    if ended.code == 130 and STOPPED not in ended.err:
        yield f"{sign.name} at operation {number} without the right message"
    yield from (f"{words} after {sign.name} at operation {number}" for words in scene.wrong(ended))


def stopped_at_a_time(scene: Scene, rng: Random, seconds: float) -> Iterator[str]:
    """A signal after some seconds, wherever the command is then."""
    sign = rng.choice(SIGNALS)
    process = scene.start(*scene.command("--force"))
    time.sleep(rng.uniform(0.5, 1.05 * seconds))
    process.send_signal(sign)
    ended = _ended(process)
    # Before tamis runs, Python itself ends by the signal.
    if ended.code not in (0, 130, -sign):
        yield f"{sign.name} ended with {ended.code}"
    if ended.code == 130 and STOPPED not in ended.err:
        yield f"{sign.name} without the right message"
    yield from (f"{words} after {sign.name}" for words in scene.wrong(ended))


def _limited(what: int, most: int, processor: int) -> Callable[[], None]:
    """A limit of something, and of the seconds of a processor."""

    def limit() -> None:
        resource.setrlimit(what, (most, most))
        resource.setrlimit(resource.RLIMIT_CPU, (processor, processor))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    return limit


def disk_full(scene: Scene, ready: Ready, rng: Random) -> Iterator[str]:
    """No file may be longer than some bytes."""
    most = int(10 ** rng.uniform(3, 5))
    ended = Ended(*ready.ran(scene.command("--force"), longest=most))
    if ended.code == 1 and "no room to write" not in ended.err and "disk is full" not in ended.err:
        yield f"files of at most {most} bytes: the message does not say that there is no room"
    if ended.code not in (0, 1):
        yield f"files of at most {most} bytes: ended with {ended.code}"
    yield from (f"{words} after a full disk" for words in scene.wrong(ended))


def out_of_memory(scene: Scene, rng: Random) -> Iterator[str]:
    """An address space between what Python alone needs and what the command needs."""
    most = int(rng.uniform(0.2, 3.0) * 2**30)
    environment = _limited(resource.RLIMIT_AS, most, processor=120)
    ended = _ended(scene.start(*scene.command("--force"), limit=environment))
    # Libraries in C and Rust abort where an allocation fails, and the allocator of polars may try
    # to start its thread without end; Python code must not.
    if ended.code > 2:
        yield f"{most >> 20} MB: ended with {ended.code}"
    yield from (f"{words} with {most >> 20} MB of memory" for words in scene.wrong(ended))


def _bound_by_rights() -> None:
    """Give up root's right to write everywhere (CAP_DAC_OVERRIDE, from the next exec on)."""
    if os.geteuid() == 0:
        ctypes.CDLL(None).prctl(24, 1, 0, 0, 0)


def read_only(scene: Scene, rng: Random) -> Iterator[str]:
    """A folder that the user may not write to, not even as root."""
    scene.folder.chmod(0o555)
    try:
        ended = _ended(scene.start(*scene.command("--force"), limit=_bound_by_rights))
    finally:
        scene.folder.chmod(0o755)
    if ended.code != 2 or "permission denied" not in ended.err.lower():
        yield f"a read-only folder: ended with {ended.code}"
    yield from (f"{words} after a read-only folder" for words in scene.wrong(ended))


def changing_input(scene: Scene, rng: Random) -> Iterator[str]:
    """The table grows, shrinks and is damaged while the command reads it."""
    intact = scene.table.read_bytes()
    process = scene.start(*scene.command("--force"))
    try:
        while process.poll() is None:
            cut = rng.randrange(len(intact))
            scene.table.write_bytes(rng.choice([intact[:cut], intact * 2, intact[cut:] + b"?"]))
            time.sleep(rng.uniform(0.001, 0.05))
    finally:
        scene.table.write_bytes(intact)
    ended = _ended(process)
    if ended.code not in (0, 1, 2) or "unexpected" in ended.err:
        yield f"a changing table: ended with {ended.code}"
    yield from (f"{words} after a changing table" for words in scene.wrong(ended))


def two_at_once(scene: Scene, rng: Random) -> Iterator[str]:
    """Two commands for one folder: without --force only one may have it."""
    force = ["--force"] if scene.old is not None or rng.random() < 0.5 else []
    both = [scene.start(*scene.command(*force)) for _ in range(2)]
    first, second = map(_ended, both)
    codes = sorted((first.code, second.code))
    if codes not in ([[0, 0]] if force else [[0, 2]]):
        yield f"two at once {force}: ended with {codes}"
    last = first if first.code else second
    yield from (f"{words} after two at once" for words in scene.wrong(Ended(0, last.err)))


HAPPENINGS = {
    "out of memory": out_of_memory,
    "read-only folder": read_only,
    "table that changes while it is read": changing_input,
    "two at once": two_at_once,
}


def rehearsed(scene: Scene, ready: Ready, tally: Tally) -> tuple[int, float]:
    """How many operations on files, and how many seconds, an undisturbed command takes."""
    code, said = ready.ran(scene.command())
    tally.check(code == 0, f"the undisturbed command ended with {code}")
    started = time.monotonic()
    _ended(scene.start(*scene.command("--force")))
    return int(said.rpartition("operations: ")[2] or 1), time.monotonic() - started


def run(tally: Tally, most: int = 200, seed: int = 0) -> None:
    """A signal at `most` moments, and between them everything else that can go wrong."""
    rng = Random(seed)
    with tempfile.TemporaryDirectory() as place:
        scene = Scene(Path(place))
        with closing(Ready(scene.folder, scene.scratch)) as ready:
            operations, seconds = rehearsed(scene, ready, tally)
            for number in tally.until(most):
                _prepare(scene, earlier=rng.random() < 0.7)
                if number % 5:
                    found = stopped_while_writing(scene, ready, rng, operations)
                    _count(tally, scene, "signal at an operation on files", found)
                else:
                    found = stopped_at_a_time(scene, rng, seconds)
                    _count(tally, scene, "signal at a time", found)
                if number % 4 == 2:
                    _prepare(scene, earlier=rng.random() < 0.7)
                    _count(tally, scene, "disk full", disk_full(scene, ready, rng))
                if number % 4 == 0:
                    _prepare(scene, earlier=rng.random() < 0.7)
                    kind = list(HAPPENINGS)[number // 4 % len(HAPPENINGS)]
                    _count(tally, scene, kind, HAPPENINGS[kind](scene, rng))


def _count(tally: Tally, scene: Scene, kind: str, found: Iterator[str]) -> None:
    for words in found:
        tally.check(False, words)
    tally.tried[f"{kind}, {'with' if scene.old else 'without'} an earlier release"] += 1


def _prepare(scene: Scene, earlier: bool) -> None:
    """Begin with an earlier release, if one was ever made, or move it out of the way."""
    import shutil

    aside = scene.folder.parent / "aside"
    if not aside.exists() and scene.out.exists():
        shutil.copytree(scene.out, aside)
    if not earlier:
        shutil.rmtree(scene.out, ignore_errors=True)
    elif not scene.out.exists() and aside.exists():
        shutil.copytree(aside, scene.out)
    scene.keep()
