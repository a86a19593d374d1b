"""The private folder in which tables that were dropped in, drafts and settings are kept."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import gettempdir, mkdtemp

from tamis.errors import InputError
from tamis.serve.project import Project

try:
    import fcntl
except ImportError:  # not on Windows: nothing is locked there, and nothing taken for a leftover
    fcntl = None  # type: ignore[assignment]

PREFIX = "tamis-serve-"
MOST_DIGITS = 10
MARK = "tamis-workspace"
"""A file that tells a workspace from any other folder, and that its server holds locked."""


class Workspace:
    """The projects of a server, each in a folder of its own."""

    def __init__(self, folder: Path, kept: bool) -> None:
        self.folder, self.kept = folder, kept
        self._tables, self._checks = folder / "tables", folder / "checks"
        for each in (self._tables, self._checks):
            each.mkdir(mode=0o700, exist_ok=True)
        self.projects = {p.id: p for p in map(_loaded, sorted(self._tables.iterdir())) if p}

    def new_folder(self, *, check: bool = False) -> Path:
        """A new folder for a table, or for a release that is to be verified."""
        above = self._checks if check else self._tables
        number = max((int(p.name) for p in above.iterdir() if p.name.isdigit()), default=0) + 1
        folder = above / str(number)
        folder.mkdir(mode=0o700)
        return folder

    def check_folder(self, number: str) -> Path | None:
        folder = self._checks / number
        is_number = number.isdigit() and len(number) < MOST_DIGITS
        return folder if is_number and folder.is_dir() else None

    def add(self, project: Project) -> Project:
        (project.folder / "drafts").mkdir(mode=0o700)
        project.save()
        self.projects[project.id] = project
        return project

    def forget(self, project: Project) -> None:
        del self.projects[project.id]
        shutil.rmtree(project.folder, ignore_errors=True)


def _loaded(folder: Path) -> Project | None:
    """The project of a folder; one that was not completed is removed."""
    try:
        return Project.load(folder)
    except (OSError, ValueError, TypeError):
        shutil.rmtree(folder, ignore_errors=True)
        return None


@contextmanager
def opened_workspace(folder: str | None = None) -> Iterator[Workspace]:
    """A workspace that this process alone uses; without a name, one that is removed at the end."""
    if folder is None:
        remove_leftovers(Path(gettempdir()))
    path = Path(mkdtemp(prefix=PREFIX)) if folder is None else _named(Path(folder))
    try:
        with _locked(path):
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
def _locked(path: Path) -> Iterator[None]:
    with open(os.open(path / MARK, os.O_RDWR | os.O_CREAT, 0o600), "rb") as file:
        if not _lock(file.fileno()):
            raise InputError(
                f"another tamis serve is using {path}; end it first, or name another --workspace"
            )
        yield


def _lock(handle: int) -> bool:
    if fcntl is None:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def remove_leftovers(above: Path) -> None:
    """Remove the workspaces of servers that were killed before they could do so."""
    if fcntl is None:
        return
    for path in above.glob(f"{PREFIX}*"):
        with suppress(OSError):
            found = path.lstat()
            if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
                continue
            with open(path / MARK, "rb") as file:  # one without a mark is just being made
                if _lock(file.fileno()):
                    shutil.rmtree(path, ignore_errors=True)
