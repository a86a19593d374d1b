"""A browser, one server for all tests that do not end it, and axe."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.chromium import chromium
from tests.long import LONG
from tests.serve.running import Server, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser

AXE = "axe-core@4.11.0"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("served")) as found:
        yield found


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The script that finds barriers for people with disabilities; empty where it is not asked.

    That is every day, as it takes longer than all else on a page, and where there is no npm.
    """
    npm = shutil.which("npm")
    if npm is None or not LONG:
        return ""
    folder = tmp_path_factory.mktemp("axe")
    packed = subprocess.run([npm, "pack", AXE], cwd=folder, capture_output=True, timeout=60)
    archives = list(folder.glob("*.tgz"))
    if packed.returncode or not archives:
        pytest.skip(f"npm cannot get {AXE} here")
    shutil.unpack_archive(archives[0], folder, filter="data")
    return (Path(folder) / "package" / "axe.min.js").read_text(encoding="utf-8")
