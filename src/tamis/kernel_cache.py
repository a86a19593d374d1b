"""Numba's `njit` for our kernels, wherever tamis is installed.

Numba keeps compiled kernels beside their file, else in the user's home, and refuses to compile with
`cache=True` where it can write to neither: a read-only installation and a user without a home, as
in many containers. There the kernels are kept in a temporary folder of our own for as long as the
process runs, so that processes it starts find them too; without one they are compiled each time.
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
    """`numba.njit`, whose `cache=True` is a wish: kept where there is a place for it."""

    def compile_lazily(function: Callable[..., Any]) -> Any:
        if cache:
            for find_place in (_usual_place, _private_place):
                find_place()
                try:
                    return numba.njit(cache=True, **options)(function)
                except RuntimeError:  # how Numba says that it can write nowhere
                    continue
        return numba.njit(**options)(function)

    return compile_lazily


class _Teller(Listener):
    """Passes on that kernels are being compiled; what is taken from the cache is no such event."""

    def on_start(self, event: Event) -> None:
        for tell in tuple(when_compiling):
            tell(is_kept())

    def on_end(self, event: Event) -> None:
        """Nobody asks when one is done: others follow at once."""


register("numba:compile", _Teller())  # type: ignore[no-untyped-call]


def is_kept() -> bool:
    """Whether what is compiled here outlives this process."""
    try:
        numba.njit(cache=True)(is_kept)  # asks for a place beside this file; compiles nothing
    except RuntimeError:
        return False
    return not _PRIVATE


def were_compiled_ahead() -> bool:
    """Whether kernels that this process can only read, or works on a copy of, are there."""
    config: Any = numba.config
    folder = _PRIVATE[0] if _PRIVATE else config.CACHE_DIR
    return bool(folder) and any(Path(folder).rglob("*.nbc"))


def _usual_place() -> None:
    """Leave it to Numba, or to what the user or an earlier kernel has set."""


def _private_place() -> None:
    """Make Numba use a new folder, which nobody else can read, write or foresee."""
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
        # Numba uses no cache that it cannot write to, though it would only read this one.
        with suppress(OSError):
            _copy_files(Path(config.CACHE_DIR), Path(folder))
    os.environ["NUMBA_CACHE_DIR"] = folder  # for processes that are started from here
    config.CACHE_DIR = folder


def _copy_files(source: Path, folder: Path) -> None:
    """Copy files with their times, but not the rights of folders, which may forbid removal."""
    for path in source.rglob("*"):
        if path.is_file():
            place = folder / path.relative_to(source)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, place)


_PRIVATE: list[str] = []
"""The temporary folder, once there is one."""


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:  # a fork's end is not the end
        shutil.rmtree(folder, ignore_errors=True)
