"""Pieces of work that are done once: a second run continues where the first one ended."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from tamis import __version__
from tamis.files import written

T = TypeVar("T")
Told = Callable[[str, float | None], object]
"""Told the name of a piece, with `None` when it starts and its seconds when it is done."""

_NAME = re.compile(r"[a-z0-9][a-z0-9/._-]*")


class Store:
    """A folder of finished pieces, one JSON file each, named by its settings.

    Parameters
    ----------
    folder : Path
    progress : callable, optional
        See `Told`; a piece that was kept takes 0 seconds.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     store = Store(Path(folder))
    ...     store.piece("sum", {"seed": 1}, lambda: 2), store.piece("sum", {"seed": 1}, lambda: 3)
    (2, 2)
    """

    def __init__(self, folder: Path, progress: Told | None = None) -> None:
        self._folder = folder
        self._progress = progress or (lambda name, seconds: None)

    def piece(self, name: str, settings: Mapping[str, Any], work: Callable[[], T]) -> T:
        """What `work` gives, from an earlier run if there was one with these settings.

        What comes back has been through JSON in either case, so a tuple is a list.
        """
        path = self._path(name, settings)
        if path.exists():
            self._progress(name, 0.0)
            kept: T = json.loads(path.read_text(encoding="utf-8"))["result"]
            return kept
        self._progress(name, None)
        start = time.perf_counter()
        result = work()
        seconds = time.perf_counter() - start
        self._keep(path, {"settings": settings, "seconds": round(seconds, 3), "result": result})
        self._progress(name, seconds)
        found: T = json.loads(path.read_text(encoding="utf-8"))["result"]
        return found

    def _path(self, name: str, settings: Mapping[str, Any]) -> Path:
        if not _NAME.fullmatch(name):
            raise ValueError(
                f"a piece must be named by lower-case letters, digits and -._/, got {name!r}"
            )
        named = json.dumps([name, __version__, settings], sort_keys=True, allow_nan=False)
        return self._folder / f"{name}-{sha256(named.encode()).hexdigest()[:12]}.json"

    @staticmethod
    def _keep(path: Path, record: Mapping[str, Any]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with written(path) as draft:
            draft.write_text(json.dumps(record, indent=1, allow_nan=False), encoding="utf-8")
