"""A folder that appears whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp

from tamis.errors import InputError


def refuse_existing(out: Path, force: bool, mark: str) -> None:
    """An error where `out` is in the way; `force` lets only an earlier release be replaced."""
    if not out.parent.is_dir():
        raise InputError(f"no folder {out.parent} to write {out.name} into; make it first")
    if not os.path.lexists(out):
        return
    if not force:
        raise InputError(f"{out} is there already; pass --force to replace it, or another --out")
    if out.is_symlink() or not out.is_dir():
        raise InputError(f"{out} is not a folder, so --force does not replace it")
    if any(out.iterdir()) and not (out / mark).is_file():
        raise InputError(
            f"{out} does not hold a release (no {mark}), so --force does not replace it"
        )


@contextmanager
def written_folder(out: Path, *, force: bool, mark: str) -> Iterator[Path]:
    """A draft beside `out` that takes its name when the block ends well.

    What was there before stays until the draft is complete; whatever interrupts the block leaves
    it untouched and the draft gone.

    Parameters
    ----------
    out : Path
    force : bool
        Whether an earlier release may be replaced.
    mark : str
        The file by which an earlier release is known.
    """
    refuse_existing(out, force, mark)
    try:
        draft = Path(mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    except OSError as error:
        raise InputError(f"cannot write into {out.parent}: {error.strerror}") from None
    try:
        yield draft
        _sync(draft)
        draft.chmod(0o777 & ~_umask())
        refuse_existing(out, force, mark)
        _take_place(draft, out)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _take_place(draft: Path, out: Path) -> None:
    """Give the draft its name; what had it before goes only afterwards, or comes back."""
    if not out.exists():
        draft.rename(out)
        _sync_folder(out.parent)
        return
    old = Path(mkdtemp(prefix=f".{out.name}-old-", dir=out.parent))
    try:
        out.rename(old / out.name)
        draft.rename(out)
    except BaseException:
        with suppress(OSError):
            (old / out.name).rename(out)
        raise
    finally:
        _sync_folder(out.parent)
        if out.exists():
            shutil.rmtree(old, ignore_errors=True)


def _sync(folder: Path) -> None:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())
        else:
            _sync_folder(path)
    _sync_folder(folder)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _umask() -> int:
    now = os.umask(0)
    os.umask(now)
    return now
