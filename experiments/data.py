"""Where the real datasets and the figures measured elsewhere are."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from tamis.errors import InputError


@dataclass(frozen=True)
class Data:
    """A folder of datasets, and one of figures measured with Weka.

    Parameters
    ----------
    folder : Path
    golden_folder : Path, optional
        By default `golden` beside `folder`.
    """

    folder: Path
    golden_folder: Path | None = None

    def path(self, name: str) -> Path:
        """A dataset by file name."""
        return _file(self.folder, name, "--data")

    def golden(self, name: str) -> Path:
        """A file of figures measured elsewhere."""
        return _file(self.golden_folder or self.folder.parent / "golden", name, "--golden")

    def digest(self, *names: str) -> str:
        """A short name for what is in some datasets, for the settings of a piece."""
        whole = sha256()
        for name in names:
            whole.update(self.path(name).read_bytes())
        return whole.hexdigest()[:16]


def _file(folder: Path, name: str, option: str) -> Path:
    path = folder / name
    if not path.is_file():
        raise InputError(f"no file {name} in the folder of {option}; name the one that holds it")
    return path
