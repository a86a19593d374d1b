"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile

from tamis.errors import InputError


@contextmanager
def written(path: str | Path) -> Iterator[Path]:
    """A draft beside `path` that takes its name when the block ends well.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with written(Path(folder) / "note.txt") as draft:
    ...         _ = draft.write_text("whole")
    ...     (Path(folder) / "note.txt").read_text()
    'whole'
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise InputError(f"no folder {path.parent} to write {path.name} into; make it first")
    try:
        with NamedTemporaryFile(
            dir=path.parent, prefix=f".{path.stem}-", suffix=path.suffix, delete=False
        ) as file:
            draft = Path(file.name)
    except OSError as error:
        raise InputError(f"cannot write into {path.parent}: {error.strerror}") from None
    try:
        yield draft
        draft.chmod(0o666 & ~_umask())
        with draft.open("rb") as file:
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _umask() -> int:
    now = os.umask(0)
    os.umask(now)
    return now
