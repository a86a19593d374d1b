"""The folder of a release: where it may be written, and what it may replace."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tamis import files
from tamis.errors import CannotMeet, InputError, listed
from tamis.publish.layout import is_folder, strangers
from tamis.publish.verify import verify


def refuse_existing(out: Path, force: bool) -> None:
    """An error where `out` cannot be written; `force` lets only an earlier release be replaced."""
    files.check_place(out, folder=True)
    _refuse(out, force)


@contextmanager
def written_release(out: Path, *, force: bool) -> Iterator[Path]:
    """A draft beside `out` that takes its name when the block ends without an error.

    What was there before stays until the draft is complete; if anything interrupts the block, it
    is left untouched and the draft is removed.

    Parameters
    ----------
    out : Path
    force : bool
        Whether an earlier release may be replaced.
    """
    with files.written_folder(out, lambda: _refuse(out, force)) as draft:
        yield draft


def _refuse(out: Path, force: bool) -> None:
    if not os.path.lexists(out):
        return
    if not force:
        raise InputError(f"{out} already exists; pass --force to replace it, or another --out")
    if not is_folder(out):
        raise InputError(f"{out} is not a folder, so --force does not replace it")
    try:
        if not any(out.iterdir()):
            return
        if odd := strangers(out):
            raise InputError(
                f"{out} contains {listed(odd)}, which is not part of a release, so --force does "
                "not replace it; move that elsewhere, or choose another --out"
            )
        verify(out)
    except (CannotMeet, OSError) as error:
        raise InputError(
            f"{out} is not a release as tamis wrote it, so --force does not replace it; move it "
            f"elsewhere, or choose another --out ({error})"
        ) from None
