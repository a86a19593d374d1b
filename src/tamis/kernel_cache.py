"""Numba's `njit` with a cache that works wherever tamis is installed.

Numba caches compiled kernels beside their file, else in the user's home, and refuses to compile
with `cache=True` if it can write to neither: a read-only installation and a user without a home, as
in many containers. Then the cache is a temporary folder for as long as the process runs, which
child processes share; if that fails too, kernels are compiled in each process.
"""

from __future__ import annotations

import atexit
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numba
from numba.core.event import Event, Listener, register

from tamis.errors import when_compiling

if os.path.expanduser("~") == "~":  # a user without a home: Numba would make a folder `~` here
    os.environ["HOME"] = os.path.abspath(os.sep)  # as engines of containers do

Decorator = Callable[[Callable[..., Any]], Any]


def njit(*, cache: bool, **options: Any) -> Decorator:
    """`numba.njit` that falls back to other places, or no cache, if `cache=True` cannot write."""

    def compile_lazily(function: Callable[..., Any]) -> Any:
        if cache:
            for find_place in (_usual_place, _private_place):
                find_place()
                try:
                    return numba.njit(cache=True, **options)(function)
                except RuntimeError:  # Numba found no place that it can write to
                    continue
        return numba.njit(**options)(function)

    return compile_lazily


class _Teller(Listener):
    """Reports compilations to `when_compiling`; loading from the cache is no such event."""

    def on_start(self, event: Event) -> None:
        for tell in tuple(when_compiling):
            tell(is_kept())

    def on_end(self, event: Event) -> None:
        """Nothing to report: the next compilation usually follows at once."""


register("numba:compile", _Teller())  # type: ignore[no-untyped-call]


def is_kept() -> bool:
    """Whether the cache of compiled kernels outlives this process."""
    try:
        numba.njit(cache=True)(is_kept)  # only looks for a cache location; compiles nothing
    except RuntimeError:
        return False
    return not _PRIVATE


def were_compiled_ahead() -> bool:
    """Whether there is a cache of kernels that this process can only read, or has copied."""
    config: Any = numba.config
    folder = _PRIVATE[0] if _PRIVATE else config.CACHE_DIR
    return bool(folder) and any(Path(folder).rglob("*.nbc"))


def _usual_place() -> None:
    """Leave the location to Numba, the user's setting, or that of an earlier kernel."""


def _private_place() -> None:
    """Make Numba use a new folder that nobody else can read, write or predict."""
    if _PRIVATE:
        return
    try:
        folder = mkdtemp(prefix="tamis-kernels-")  # mode 0700
    except OSError:
        return
    _PRIVATE.append(folder)
    atexit.register(_remove, folder, os.getpid())
    config: Any = numba.config  # read when Numba was imported, so the variable alone is too late
    if config.CACHE_DIR and os.path.isdir(config.CACHE_DIR):
        # Numba refuses a cache that it cannot write to, even to read from, so it gets a copy.
        with suppress(OSError):
            _copy_files(Path(config.CACHE_DIR), Path(folder))
    os.environ["NUMBA_CACHE_DIR"] = folder  # for processes that are started from here
    config.CACHE_DIR = folder


def _copy_files(source: Path, folder: Path) -> None:
    """Copy files with their times, but not folder permissions, which may forbid removal.

    Numba compares times to tell whether a cached kernel is current.
    """
    for path in source.rglob("*"):
        if path.is_file():
            place = folder / path.relative_to(source)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, place)


_PRIVATE: list[str] = []
"""The temporary folder, once there is one."""


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:  # not when a forked child exits
        shutil.rmtree(folder, ignore_errors=True)
