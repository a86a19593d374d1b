"""The package itself: what an installation weighs, and how long it takes to start."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.ratio import Ratio, seconds, show

MEGABYTE = 1e6


def main() -> None:
    bare = seconds(lambda: _python("pass"), repeat=5)
    ours = seconds(lambda: _python("import tamis"), repeat=5)
    helped = seconds(lambda: _python("from tamis.cli import main; main(['--help'])"), repeat=5)
    show(
        "start",
        [
            Ratio("import tamis", "python -c pass", ours, bare, 2.0),
            Ratio("tamis --help", "python -c pass", helped, bare, 8.0),
        ],
    )
    sizes = {name: _size(name) for name in sorted(_needed("tamis"))}
    for name, size in sorted(sizes.items(), key=lambda item: -item[1])[:8]:
        print(f"{name:24} {size / MEGABYTE:7.1f} MB")
    total = sum(sizes.values()) / MEGABYTE
    print(f"tamis and the {len(sizes) - 1} packages it needs: {total:.0f} MB of at most 600 MB")


def _python(program: str) -> None:
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)


def _needed(name: str, seen: frozenset[str] = frozenset()) -> set[str]:
    """A package and everything that it needs, without extras."""
    found = {name}
    for other in _requirements(name):
        if other not in seen | found:
            found |= _needed(other, seen | found)
    return found


def _requirements(name: str) -> Iterator[str]:
    for line in importlib.metadata.requires(name) or ():
        requirement, _, marker = line.partition(";")
        other = re.split(r"[^\w.-]", requirement.strip())[0].lower().replace("_", "-")
        if "extra" not in marker and _installed(other):
            yield other


def _installed(name: str) -> bool:
    try:
        importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _size(name: str) -> int:
    """The bytes of a package's files, without the byte code that Python adds."""
    files = importlib.metadata.distribution(name).files or ()
    paths = [file.locate() for file in files if file.suffix != ".pyc"]
    return sum(path.stat().st_size for path in map(_path, paths) if path.is_file())


def _path(place: object) -> Path:
    return Path(str(place))
