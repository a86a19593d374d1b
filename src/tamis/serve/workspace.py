"""The folder in which a server keeps its tables, and which it alone uses."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import gettempdir, mkdtemp

from tamis.errors import InputError
from tamis.serve.project import Project, is_folder_number

try:
    import fcntl
except ImportError:  # not on Windows: nothing is locked there, and nothing taken for a leftover
    fcntl = None  # type: ignore[assignment]

PREFIX = "tamis-serve-"
MARK = "tamis-workspace"
"""A file that tells a workspace from any other folder, and that its server holds locked."""
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
    with open(os.open(path / MARK, os.O_RDWR | os.O_CREAT, 0o600), "r+b", buffering=0) as file:
        if not _lock(file.fileno()):
            raise InputError(
                f"another tamis serve is using {path}; end it first, or name another --workspace"
            )
        file.truncate()
        file.write(mark)
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
                # A folder that somebody named stays, whatever its name begins with.
                if _lock(file.fileno()) and file.read(len(TEMPORARY) + 1) == TEMPORARY:
                    shutil.rmtree(path, ignore_errors=True)
