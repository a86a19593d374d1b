"""Where the real datasets are."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from tamis.errors import InputError


@dataclass(frozen=True)
class Data:
    """A folder of datasets.

    Parameters
    ----------
    folder : Path
    """

    folder: Path

    def path(self, name: str) -> Path:
        """A dataset by file name."""
        path = self.folder / name
        if not path.is_file():
            raise InputError(
                f"no file {name} in the folder of --data; name the folder that contains it"
            )
        return path

    def digest(self, *names: str) -> str:
        """A short name for what is in some datasets, for the settings of a piece."""
        whole = sha256()
        for name in names:
            whole.update(self.path(name).read_bytes())
        return whole.hexdigest()[:16]
