"""Files and folders that appear whole or not at all, and the one way to read TOML."""

from __future__ import annotations

import ctypes
import errno
import os
import re
import shutil
import stat
import tomllib
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from tamis.errors import CannotMeet, InputError, TamisWarning, listed

try:
    import fcntl
except ImportError:  # not on Windows: drafts are not locked there, and never taken for left over
    fcntl = None  # type: ignore[assignment]

PREFIX = ".tamis-draft-"
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_UNKNOWN = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)
_AT_FDCWD = -100
_NO_REPLACE, _EXCHANGE = 1, 2
"""Flags of Linux's renameat2."""


@contextmanager
def written(path: str | Path) -> Iterator[Path]:
    """A draft of a file that takes its name when the block ends well.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with written(Path(folder) / "note.txt") as draft:
    ...         _ = draft.write_text("whole")
    ...     (Path(folder) / "note.txt").read_text()
    'whole'
    """
    path = Path(path)
    check_place(path)
    with _disk_may_be_full(path), _workspace(path.parent) as space:
        draft = space / "new" / path.name
        draft.touch()
        yield draft
        _sync(draft)
        draft.replace(path)
        _sync(path.parent)


@contextmanager
def written_folder(out: Path, in_the_way: Callable[[], object]) -> Iterator[Path]:
    """A draft of a folder that takes its name when the block ends well.

    What had the name stays until the draft is complete, and changes place with it at once.

    Parameters
    ----------
    out : Path
    in_the_way : callable
        Raises where what has the name must not be replaced; asked before the work and after it.
    """
    check_place(out, folder=True)
    in_the_way()
    with _disk_may_be_full(out), _workspace(out.parent) as space:
        draft = space / "new" / out.name
        draft.mkdir()
        yield draft
        for path in sorted(draft.rglob("*")):
            _sync(path)
        _sync(draft)
        in_the_way()
        _take_place(draft, out, space / "old" / out.name)
        _sync(out.parent)


def check_place(path: Path, *, folder: bool = False) -> None:
    """An error where a file or folder cannot be written; what stopped runs left is cleaned up.

    Parameters
    ----------
    path : Path
    folder : bool
        Whether `path` is to be a folder.
    """
    above = path.parent
    if path.name in ("", ".."):
        raise InputError(f"{path} does not name what to write; give it a name of its own")
    if not above.is_dir():
        raise InputError(f"no folder {above} to write {path.name} into; make it first")
    if not os.access(above, os.W_OK | os.X_OK):
        raise InputError(
            f"cannot write into {above}: permission denied; choose another folder, or change its "
            "rights"
        )
    if not folder and path.exists() and not path.is_file():
        raise InputError(f"{path} is there already and is no file; name another file to write")
    clean(above)


def clean(folder: Path) -> None:
    """Give back or remove what stopped runs left in a folder, and say so."""
    for space in sorted(folder.glob(f"{PREFIX}*")):
        with suppress(OSError), _locked(space) as mine:
            if mine and _is_left_over(space):
                _clean_one(space)


def _clean_one(space: Path) -> None:
    for old in _inside(space / "old"):
        place, unused = space.parent / old.name, space / "new" / old.name
        if not os.path.lexists(place):
            old.rename(place)
            _say(f"a stopped run had moved {place} away; it is back")
        elif unused.exists():
            _say(
                f"a stopped run had moved {place} away to {old}, and something else has its name "
                "now; look at both and remove one"
            )
            return
    names = [path.name for path in _inside(space / "new")]
    shutil.rmtree(space, ignore_errors=True)
    what = f", a draft of {listed(names)}" if names else ""
    _say(f"removed {space}, left by a run that was stopped{what}")


def _inside(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _is_left_over(space: Path) -> bool:
    """Whether a folder looks as `_workspace` makes it, and is ours."""
    found = space.lstat()
    names = {path.name for path in _inside(space)}
    return found.st_uid == os.geteuid() and names <= {"new", "old"}


def _say(words: str) -> None:
    warnings.warn(words, TamisWarning, stacklevel=2)


@contextmanager
def _workspace(folder: Path) -> Iterator[Path]:
    """A hidden folder that only we may read, locked until it is removed."""
    while True:
        try:
            space = Path(mkdtemp(prefix=PREFIX, dir=folder))
        except OSError as error:
            if _is_full(error):
                raise
            raise InputError(f"cannot write into {folder}: {error.strerror}") from None
        with _locked(space, wait=True) as mine:
            # Another run may have taken it for left over before it was locked.
            if fcntl is not None and mine is None:
                continue
            try:
                (space / "old").mkdir()
                (space / "new").mkdir()
                yield space
            finally:
                if not _inside(space / "old"):
                    shutil.rmtree(space, ignore_errors=True)
            return


@contextmanager
def _locked(space: Path, wait: bool = False) -> Iterator[bool | None]:
    """Whether a workspace could be locked; `None` where it is gone."""
    if fcntl is None:
        yield wait
        return
    try:
        handle = os.open(space, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except FileNotFoundError:
        yield None
        return
    try:
        yield _lock(handle, space, wait)
    finally:
        os.close(handle)


def _lock(handle: int, space: Path, wait: bool) -> bool | None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:  # another run holds it, or the file system knows no locks
        return wait
    try:
        same = os.path.samestat(os.fstat(handle), space.lstat())
    except FileNotFoundError:
        return None
    return same or None


def _take_place(draft: Path, out: Path, aside: Path) -> None:
    """Give the draft its name; what had it takes the draft's, or comes back if that fails."""
    if not os.path.lexists(out):
        if not _renamed(draft, out, _NO_REPLACE):
            draft.rename(out)
        return
    if _renamed(draft, out, _EXCHANGE):
        return
    try:
        out.rename(aside)
        draft.rename(out)
    except BaseException:
        if aside.exists() and not os.path.lexists(out):
            aside.rename(out)
        raise
    shutil.rmtree(aside, ignore_errors=True)


def _renamed(source: Path, target: Path, flag: int) -> bool:
    """Rename by Linux's renameat2; false where system or file system do not know it."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    done = rename(
        ctypes.c_int(_AT_FDCWD),
        ctypes.c_char_p(os.fsencode(source)),
        ctypes.c_int(_AT_FDCWD),
        ctypes.c_char_p(os.fsencode(target)),
        ctypes.c_uint(flag),
    )
    if done == 0:
        return True
    number = ctypes.get_errno()
    if number in _UNKNOWN:
        return False
    raise OSError(number, os.strerror(number), str(target))


def _sync(path: Path) -> None:
    """Have a file, or the names in a folder, on the disk."""
    if stat.S_ISLNK(path.lstat().st_mode):
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _disk_may_be_full(path: Path) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if not _is_full(error):
            raise
        raise CannotMeet(
            f"there is no room to write {path}: the disk is full, or a quota or limit of file "
            "sizes is reached; make room, or write elsewhere; nothing was left behind"
        ) from None


def _is_full(error: Exception) -> bool:
    """Whether an error says that there is no room; polars tells the number in words only."""
    told = re.search(r"\(os error (\d+)\)", str(error))
    number = int(told[1]) if told else getattr(error, "errno", None)
    return number in _FULL


MOST_BYTES = 10_000_000


def load_toml(source: str | Path, what: str) -> dict[str, Any]:
    """The content of a TOML file; `what` names it in messages, such as "--config"."""
    path = Path(source)
    try:
        if path.is_file() and path.stat().st_size > MOST_BYTES:
            raise InputError(
                f"{path} for {what} is larger than {MOST_BYTES // 10**6} MB; it should hold names "
                "and settings only"
            )
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        why = "is a folder" if path.is_dir() else f"cannot be read: {error.strerror}"
        said = f"{path} for {what} {why}" if path.exists() else f"no file {path} for {what}"
        raise InputError(said) from None
    except RecursionError:
        raise InputError(f"{path} for {what} nests too many brackets to be read") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not a TOML file: {error}") from None
