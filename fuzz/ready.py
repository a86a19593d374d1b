"""The command in children of a process that has imported everything: `python -m fuzz.ready`.

Most of the time of a short command goes into imports. A stop while files are written does not
depend on them, so hundreds of such stops can share one process that has imported, and forks.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

DEFAULT = (1, 2, 3, 10, 12, 13, 14, 15, 24)
"""Signals that a child takes as a command that was started anew would."""


IMPORTED = (
    *("scipy.stats", "sklearn.ensemble", "sklearn.linear_model"),
    *(
        "tamis.cli.release.run",
        "tamis.flow",
        "tamis.publication.bundle",
        "tamis.publication.report",
    ),
)


class Ready:
    """A process that waits to run the command, each time in a child of its own.

    Parameters
    ----------
    folder : Path
        Where the commands run.
    scratch : Path
        Where they keep temporary files.
    """

    def __init__(self, folder: Path, scratch: Path) -> None:
        self.said = scratch.parent / "said"
        here = str(Path(__file__).resolve().parents[1])
        self.process = subprocess.Popen(
            [sys.executable, "-m", "fuzz.ready", str(self.said)],
            cwd=folder,
            env=dict(os.environ, TMPDIR=str(scratch), OMP_NUM_THREADS="1", PYTHONPATH=here),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def close(self) -> None:
        """Let it end; it has no children left."""
        self.process.communicate()

    def ran(
        self, words: list[str], number: int = 0, sign: int = 0, longest: int = -1
    ) -> tuple[int, str]:
        """Run the command, with a signal at its n-th operation on drafts; its code and words.

        No file may be longer than `longest` bytes, if it is given.
        """
        asked = {"words": words, "number": number, "sign": sign, "longest": longest}
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps(asked), file=self.process.stdin, flush=True)
        code = int(self.process.stdout.readline())
        return code, self.said.read_text(encoding="utf-8", errors="replace")


def _serve(said: str) -> None:
    _imported()
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _child(said, **json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _imported() -> None:
    """Everything that the command needs; none of it starts a thread before it is used."""
    for name in IMPORTED:
        import_module(name)
    from tamis.evaluate import regression

    regression.PENALTIES = regression.PENALTIES[:1]  # type: ignore[assignment]
    regression.BOOSTING = replace(regression.BOOSTING, rounds=5)


def _child(said: str, words: list[str], number: int, sign: int, longest: int) -> None:
    """Run the command in this process, which it ends."""
    import signal

    for each in DEFAULT:
        signal.signal(each, signal.default_int_handler if each == 2 else signal.SIG_DFL)
    for stream, file in ((0, os.devnull), (1, os.devnull), (2, said)):
        os.dup2(os.open(file, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), stream)
    if longest >= 0:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (longest, longest))
    count = 0

    def watch(event: str, given: tuple[Any, ...]) -> None:
        nonlocal count
        if event.startswith(("open", "os.", "shutil.")) and ".tamis-draft-" in repr(given):
            count += 1
            if count == number:
                os.kill(os.getpid(), sign)

    from tamis.cli import _run

    sys.addaudithook(watch)
    code = 70
    try:
        code = _run(words)
        print("operations:", count, file=sys.stderr)
    finally:
        os._exit(code)


if __name__ == "__main__":
    _serve(sys.argv[1])
