"""Recognising and reporting too little memory, which libraries say in many ways, or by crashing."""

from __future__ import annotations

import re
import sys
from pathlib import Path

try:
    import resource
except ImportError:  # not on Windows, which has no such limits
    resource = None  # type: ignore[assignment]

_SAID = re.compile(
    r"(unable|cannot|could not|failed) (to )?allocate|memory allocation|bad_alloc|out of memory"
    r"|can't start new thread|pthread_create|resource temporarily unavailable|map segment",
    re.IGNORECASE,
)
"""How Python, the dynamic linker, Rust, LLVM and BLAS say that memory ran out."""
_TRIAL = "import numpy, polars; polars.DataFrame({'a': [1, 2]}).lazy().select('a').collect()"
_SECONDS = 120
LEAST = 2_000_000_000
"""The least limit in bytes to start with. On two cores, `release` of 2,000 rows maps 1.95 GB, most
of it for stacks and code that is never touched. With less, the libraries load and then end the
process, or wait for a thread that never started, wherever the first piece is refused.
"""
_NEARLY = 0.7
"""The share of the limit beyond which an odd error is put down to it: libraries take memory, and
space for their own code, in large pieces, so the one that did not fit is missing from the count."""


def too_little() -> str:
    """The message that there is not enough memory, and what to do."""
    most = limit()
    known = "" if most is None else f" (a limit of {most / 1e9:.1f} GB is set, see ulimit -v)"
    if most is not None and most < LEAST:
        return (
            f"there is not enough memory{known}; nothing was written; allow {LEAST / 1e9:.0f} GB "
            "or more"
        )
    return (
        f"there is not enough memory{known}; nothing was left half-written; close other programs, "
        "use fewer rows or columns, or pass --engine duckdb where it is offered"
    )


def limit() -> int | None:
    """The most memory in bytes that this process may map, as `ulimit -v` sets it."""
    if resource is None or not hasattr(resource, "RLIMIT_AS"):
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else int(soft)


def cannot_start() -> bool:
    """Whether tamis cannot run within the limit; without a limit, nothing is tried.

    From `LEAST` on, another process tries to load the libraries, which map more with every core:
    where threads cannot be started, Rust tells the terminal about it and BLAS ends the process.
    """
    most = limit()
    if most is None or most < LEAST:
        return most is not None
    import subprocess

    try:
        tried = subprocess.run(
            [sys.executable, "-c", _TRIAL], capture_output=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError, MemoryError):
        return True
    return tried.returncode != 0


def is_short(error: BaseException | None) -> bool:
    """Whether an error means that there is not enough memory.

    >>> is_short(MemoryError()), is_short(RuntimeError("can't start new thread"))
    (True, True)
    >>> is_short(ValueError("no such column"))
    False
    """
    while error is not None:
        if isinstance(error, MemoryError) or _SAID.search(str(error)):
            return True
        error = error.__cause__ or error.__context__
    most = limit()
    return most is not None and _most_mapped() > _NEARLY * most


def _most_mapped() -> int:
    """The peak of mapped memory of this process, in bytes; 0 where the system does not say."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except (OSError, ValueError):
        return 0
    found = re.search(r"VmPeak:\s*(\d+) kB", status)
    return int(found[1]) << 10 if found else 0
