"""A small table, considered once and published where a test wants it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tamis.datasets import patients
from tamis.flow import Outcome, Settings, consider
from tamis.publish.bundle import publish_release

FAST = Settings(
    methods={"breach": {"search": "walk", "folds": 3, "most": 3}, "containment": {"ks": [20]}},
    attackers=("nb",),
    weights={"performance": 0.4, "privacy": 0.4, "size": 0.2},
    seed=20261,
)
DATE = "2026-11-15"


@pytest.fixture(scope="session")
def outcome() -> Outcome:
    return consider(patients(rows=500), FAST)


@pytest.fixture(scope="session")
def published(outcome: Outcome, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder to read from, not to change."""
    folder = tmp_path_factory.mktemp("published") / "out"
    return publish_release(outcome, folder, date=DATE, origin={"name": "stays"})


@pytest.fixture
def copy(published: Path, tmp_path: Path) -> Callable[..., Path]:
    """A copy of the published folder that may be tampered with."""

    def copied(private: bool = True) -> Path:
        target = tmp_path / "copy"
        shutil.copytree(published, target)
        if not private:
            shutil.rmtree(target / "private")
        return target

    return copied
