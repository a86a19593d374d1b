"""A browser for the tests of pages that must stay silent, and a small published release."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

from tamis.datasets import patients
from tamis.flow import Outcome, Settings, consider
from tamis.publish.bundle import publish
from tests.chromium import chromium
from tests.quick_look import few_trees

Opener = Callable[..., "Page"]


# For one module: while it lives, asyncio cannot be used in the same worker.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The chromium of this machine; skips where there is none."""
    with chromium() as found:
        yield found


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Opener]:
    """Opens a page; at the end it must have logged nothing and asked for nothing but itself."""
    findings: list[str] = []
    contexts = []

    def open_page(text: str, *, width: int = 1280, **settings: Any) -> Page:
        file = tmp_path / "report.html"
        file.write_text(text, encoding="utf-8")
        context = browser.new_context(viewport={"width": width, "height": 844}, **settings)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: findings.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: findings.append(f"error: {error}"))
        page.on("dialog", lambda dialog: findings.append(f"dialog: {dialog.message}"))
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(file.as_uri())
        findings.extend(f"request: {url}" for url in asked if url != file.as_uri())
        page.on("request", lambda request: findings.append(f"request: {request.url}"))
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert findings == []


@pytest.fixture(scope="module", autouse=True)
def quick_look() -> Iterator[None]:
    with few_trees():
        yield


FAST = Settings(
    methods={"breach": {"search": "walk", "folds": 3, "most": 3}, "containment": {"ks": [20]}},
    attackers=("nb",),
    weights={"performance": 0.4, "privacy": 0.4, "size": 0.2},
    seed=20261,
)
DATE = "2026-11-15"


@pytest.fixture(scope="session")
def outcome() -> Outcome:
    with few_trees():
        return consider(patients(rows=500), FAST)


@pytest.fixture(scope="session")
def published(outcome: Outcome, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder to read from, not to change."""
    folder = tmp_path_factory.mktemp("published") / "out"
    with few_trees():
        return publish(outcome, folder, date=DATE, origin={"name": "stays"})


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
