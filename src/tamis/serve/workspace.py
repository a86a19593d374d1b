"""The folder in which a server keeps its tables, and which it alone uses."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from typing import Any

from filelock import AcquireReturnProxy, FileLock, Timeout

from tamis.errors import InputError
from tamis.serve.project import Project, is_folder_number

PREFIX = "tamis-serve-"
MARK = "tamis-workspace"
"""A file that tells a workspace from any other folder."""
LOCK = ".lock"
"""A file that the server of a workspace holds locked."""
TEMPORARY = b"removed at the end\n"
"""What the mark of a workspace without a name holds; nothing without it is taken for a leftover."""


class Workspace:
    """The projects of a server, each in a folder of its own."""

    def __init__(self, folder: Path, kept: bool) -> None:
        self.folder, self.kept = folder, kept
        self._tables, self._checks = folder / "tables", folder / "checks"
        try:
            for each in (self._tables, self._checks):
                each.mkdir(mode=0o700, exist_ok=True)
            found = sorted(self._tables.iterdir())
        except OSError as error:
            raise InputError(f"cannot use {folder} as a workspace: {error.strerror}") from None
        self.projects: dict[str, Project] = {}
        self.unread: dict[str, str] = {}
        """Why each other file or folder among the tables is no project; none is ever touched."""
        for path in found:
            try:
                self.projects[path.name] = Project.load(path)
            except ValueError as error:
                self.unread[path.name] = str(error)

    def new_folder(self, *, check: bool = False) -> Path:
        """A new folder for a table, or for a release that is to be verified."""
        above = self._checks if check else self._tables
        used = {int(p.name) for p in above.iterdir() if is_folder_number(p.name)}
        # Beyond the last, so that no address ever means another table; then whatever is free.
        number = max(used, default=0) + 1
        if not is_folder_number(str(number)):
            number = next(n for n in range(1, len(used) + 2) if n not in used)
        folder = above / str(number)
        folder.mkdir(mode=0o700)
        return folder

    def check_folder(self, number: str) -> Path | None:
        folder = self._checks / number
        return folder if is_folder_number(number) and folder.is_dir() else None

    def add(self, project: Project) -> Project:
        (project.folder / "drafts").mkdir(mode=0o700)
        project.save()
        self.projects[project.id] = project
        return project

    def forget(self, project: Project) -> None:
        del self.projects[project.id]
        shutil.rmtree(project.folder, ignore_errors=True)


@contextmanager
def opened_workspace(folder: str | None = None) -> Iterator[Workspace]:
    """A workspace that this process alone uses; without a name, one that is removed at the end."""
    if folder is None:
        remove_leftovers(Path(gettempdir()))
    path = Path(mkdtemp(prefix=PREFIX)) if folder is None else _named(Path(folder))
    try:
        with _locked(path, b"" if folder is not None else TEMPORARY):
            yield Workspace(path, kept=folder is not None)
    finally:
        if folder is None:
            shutil.rmtree(path, ignore_errors=True)


def _named(path: Path) -> Path:
    if path.exists() and not path.is_dir():
        raise InputError(f"the workspace {path} is a file; name a folder with --workspace")
    if path.is_dir() and any(path.iterdir()) and not (path / MARK).is_file():
        raise InputError(
            f"{path} has other files in it; give --workspace a new or empty folder, or one that "
            "tamis serve used before"
        )
    try:
        path.mkdir(mode=0o700, exist_ok=True)
        path.chmod(0o700)
    except OSError as error:
        raise InputError(f"cannot use {path} as a workspace: {error.strerror}") from None
    return path.resolve()


@contextmanager
def _locked(path: Path, mark: bytes) -> Iterator[None]:
    lock = _lock(path)
    if lock is None:
        raise InputError(
            f"another tamis serve is using {path}; end it first, or name another --workspace"
        )
    with lock:
        # After the lock: what has a mark and no lock was left behind.
        with open(os.open(path / MARK, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(mark)
        yield


def _lock(path: Path) -> AcquireReturnProxy[Any] | None:
    """The lock of a workspace, given up at the end of a `with`; `None` where another has it."""
    try:
        # Not for one thread alone: a server may end in another than it began in.
        return FileLock(path / LOCK, mode=0o600, thread_local=False).acquire(blocking=False)
    except Timeout:
        return None


def remove_leftovers(above: Path) -> None:
    """Remove the workspaces of servers that were killed before they could do so."""
    for path in above.glob(f"{PREFIX}*"):
        with suppress(OSError):
            # A folder that somebody named stays, whatever its name begins with.
            if not _is_mine(path) or (path / MARK).read_bytes() != TEMPORARY:
                continue
            if (lock := _lock(path)) is not None:
                with lock:
                    shutil.rmtree(path, ignore_errors=True)
                # Where an open file cannot be removed, the lock is left, and the folder with it.
                shutil.rmtree(path, ignore_errors=True)


def _is_mine(path: Path) -> bool:
    """Whether it is a folder, no link, of the user who runs this."""
    found = path.lstat()
    user = getattr(os, "geteuid", lambda: found.st_uid)()  # Windows has a temporary folder a user
    return stat.S_ISDIR(found.st_mode) and found.st_uid == user
