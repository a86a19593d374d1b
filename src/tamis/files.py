"""Write files and folders atomically, open plain files only, and read and write TOML."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import re
import shutil
import stat
import tomllib
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from tempfile import gettempdir
from typing import Any, BinaryIO

from tamis.errors import CannotMeet, InputError, TamisWarning, listed

try:
    import fcntl
except ImportError:  # not on Windows: drafts are not locked there, and never taken for leftovers
    fcntl = None  # type: ignore[assignment]

WINDOWS = os.name == "nt"
PREFIX = ".tamis-draft-"
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_UNKNOWN = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)
_AT_FDCWD = -100
_NO_REPLACE, _EXCHANGE = 1, 2
"""Flags of Linux's renameat2."""


@contextmanager
def written(path: str | Path) -> Iterator[Path]:
    """A draft file that takes its final name when the block succeeds.

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
    """A draft folder that takes its final name when the block succeeds.

    Whatever has that name stays until the draft is complete; then the two swap atomically.
    `in_the_way` raises if what has the name must not be replaced; called before the work and after.
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
    """Raise if a file or folder cannot be written; clean up what stopped runs left behind."""
    above = path.parent
    if path.name in ("", ".."):
        raise InputError(f"{path} does not name a file or folder to write; add a name")
    if not above.is_dir():
        raise InputError(f"there is no folder {above} to write {path.name} to; create it first")
    if not os.access(above, os.W_OK | os.X_OK):
        raise InputError(
            f"cannot write to {above}: permission denied; choose another folder, or change its "
            "rights"
        )
    if not folder and path.exists() and not path.is_file():
        raise InputError(f"{path} already exists and is not a file; choose another name")
    clean(above)


def clean(folder: Path) -> None:
    """Restore or remove what stopped runs left in a folder, and report it."""
    for space in sorted(folder.glob(f"{PREFIX}*")):
        with suppress(OSError), _locked(space) as mine:
            if mine and _is_left_over(space):
                _clean_one(space)


def _clean_one(space: Path) -> None:
    for old in _inside(space / "old"):
        place, unused = space.parent / old.name, space / "new" / old.name
        if not os.path.lexists(place):
            old.rename(place)
            _say(f"a stopped run had moved {place} away; it has been restored")
        elif unused.exists():
            _say(
                f"a stopped run had moved {place} to {old}, and something else has its name "
                "now; inspect both and remove one"
            )
            return
    names = [path.name for path in _inside(space / "new")]
    shutil.rmtree(space, ignore_errors=True)
    what = f", a draft of {listed(names)}" if names else ""
    _say(f"removed {space}, left behind by a stopped run{what}")


def _inside(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _is_left_over(space: Path) -> bool:
    """Whether a folder looks like one of `_workspace` and belongs to the current user."""
    status = space.lstat()
    names = {path.name for path in _inside(space)}
    return status.st_uid == os.geteuid() and names <= {"new", "old"}


def _say(words: str) -> None:
    warnings.warn(words, TamisWarning, stacklevel=2)


@contextmanager
def scratch_folder(place: str | Path | None = None) -> Iterator[Path]:
    """A private folder for files that only one run needs, removed at the end.

    By default it is in the system's temporary folder. What killed runs left there is removed first.

    >>> with scratch_folder() as folder:
    ...     _ = (folder / "rows.parquet").write_bytes(b"")
    >>> folder.exists()
    False
    """
    above = Path(gettempdir() if place is None else place)
    if not above.is_dir():
        raise InputError(f"there is no folder {above} for scratch files; create it first")
    clean(above)
    with _disk_may_be_full(above), _workspace(above) as space:
        yield space / "new"


@contextmanager
def _workspace(folder: Path) -> Iterator[Path]:
    """A hidden folder that only the current user may read, locked until it is removed."""
    made = False
    while not made:
        space = folder / f"{PREFIX}{token_hex(8)}"
        try:
            _make(space)
            with _locked(space, wait=True) as mine:
                # Another run may have taken it for a leftover before it was locked.
                if fcntl is not None and mine is None:
                    continue
                made = True
                try:
                    (space / "old").mkdir()
                    (space / "new").mkdir()
                    yield space
                finally:
                    _remove(space)
        except KeyboardInterrupt:  # may come before the folder is locked as well as after
            _remove(space)
            raise


def _make(space: Path) -> None:
    try:
        space.mkdir(mode=0o700)
    except OSError as error:
        if _is_full(error):
            raise
        raise InputError(f"cannot write to {space.parent}: {error.strerror}") from None


def _remove(space: Path) -> None:
    """Remove a workspace, unless it holds a replaced folder that must still be restored.

    An interrupt during the removal does not leave the rest behind.
    """
    if _inside(space / "old"):
        return
    try:
        shutil.rmtree(space, ignore_errors=True)
    except KeyboardInterrupt:
        shutil.rmtree(space, ignore_errors=True)
        raise


@contextmanager
def _locked(space: Path, wait: bool = False) -> Iterator[bool | None]:
    """Whether a workspace could be locked; `None` if it is gone."""
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
    except OSError:  # another run holds it, or the file system has no locks
        return wait
    try:
        same = os.path.samestat(os.fstat(handle), space.lstat())
    except FileNotFoundError:
        return None
    return same or None


def _take_place(draft: Path, out: Path, aside: Path) -> None:
    """Give the draft its final name; whatever had it is moved away, or restored on failure."""
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


def can_exchange(folder: Path) -> bool:
    """Whether the file system of an empty folder can swap two folders atomically."""
    first, second = folder / "first", folder / "second"
    for each in (first, second):
        each.mkdir()
    return _renamed(first, second, _EXCHANGE)


def _renamed(source: Path, target: Path, flag: int) -> bool:
    """Rename with Linux's renameat2; false if the system or file system does not support it."""
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
    """Flush a file, or the names in a folder, to disk."""
    mode = path.lstat().st_mode
    # Windows flushes only handles opened for writing, and opens no folders; its file system
    # journals names itself.
    if stat.S_ISLNK(mode) or (WINDOWS and stat.S_ISDIR(mode)):
        return
    handle = os.open(path, os.O_RDWR if WINDOWS else os.O_RDONLY)
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
            f"there is no room to write {path}: the disk is full, or a quota or file size "
            "limit was reached; free some space, or write elsewhere; nothing was left behind"
        ) from None


def _is_full(error: Exception) -> bool:
    """Whether an error means a full disk; polars has the error number only in its message."""
    match = re.search(r"\(os error (\d+)\)", str(error))
    number = int(match[1]) if match else getattr(error, "errno", None)
    return number in _FULL


@contextmanager
def open_plain_file(path: Path) -> Iterator[BinaryIO]:
    """Open a plain file to read; anything else is an error and is not opened."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            raise CannotMeet(f"{path.name} is not a plain file")
        # The path may be swapped after the check, so links are not followed and pipes not awaited;
        # the open file is then checked again.
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        with open(os.open(path, flags | getattr(os, "O_BINARY", 0)), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise CannotMeet(f"{path.name} is not a plain file")
            yield file
    except FileNotFoundError:
        raise CannotMeet(f"there is no {path.name} in {path.parent}") from None
    except OSError as error:
        raise CannotMeet(f"{path.name} cannot be read: {error.strerror}") from None


MOST_BYTES = 10_000_000


def load_toml(source: str | Path, what: str) -> dict[str, Any]:
    """The content of a TOML file; `what` names its option in messages, such as "--config"."""
    path = Path(source)
    try:
        if path.is_file() and path.stat().st_size > MOST_BYTES:
            raise InputError(
                f"{path} for {what} is larger than {MOST_BYTES // 10**6} MB; it should "
                "contain only names and settings"
            )
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except InputError:
        raise
    except OSError as error:
        why = "is a folder" if path.is_dir() else f"cannot be read: {error.strerror}"
        said = f"{path} for {what} {why}" if path.exists() else f"no file {path} for {what}"
        raise InputError(said) from None
    except RecursionError:
        raise InputError(f"{path} for {what} has too many nested brackets to be read") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not a TOML file: {error}") from None
    except ValueError:  # Python converts no more than some thousand digits
        raise InputError(f"{path} for {what} has a number of too many digits") from None


def in_toml(value: Any) -> str:
    """A plain value as TOML on one line, with non-printable characters escaped.

    >>> in_toml({"width": [5, 10.5], "top": 90, "a b": "c"})
    '{ width = [5, 10.5], top = 90, "a b" = "c" }'
    """
    if isinstance(value, Mapping):
        entries = (f"{toml_key(name)} = {in_toml(entry)}" for name, entry in value.items())
        return f"{{ {', '.join(entries)} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(in_toml, value))}]"
    if isinstance(value, str):
        # A JSON string is also a TOML string, except for characters that JSON need not escape.
        return "".join(map(_sign, json.dumps(value, ensure_ascii=False)))
    return json.dumps(value) if isinstance(value, bool) else repr(value)


def toml_key(name: str) -> str:
    """A name as a key of a TOML table."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else in_toml(name)


def _sign(sign: str) -> str:
    return sign if sign.isprintable() else f"\\U{ord(sign):08x}"
