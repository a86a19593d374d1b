"""A browser for the tests of pages that must stay silent, and a small published release."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

from tamis.analyse import Analysis, analyse
from tamis.datasets import patients
from tamis.flow import Settings, consider
from tamis.outcome import Outcome
from tamis.publication.bundle import publish
from tests.chromium import chromium
from tests.quick_look import no_trees

Opener = Callable[..., "Page"]


# For one module: while it lives, asyncio cannot be used in the same worker.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The chromium of this machine; skips where there is none."""
    with chromium() as found:
        yield found


def listened(page: Page) -> tuple[Page, list[str]]:
    """A page, and what it logs and asks for from now on."""
    heard: list[str] = []
    page.on("console", lambda message: heard.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: heard.append(f"error: {error}"))
    page.on("dialog", lambda dialog: heard.append(f"dialog: {dialog.message}"))
    page.on("request", lambda request: heard.append(f"request: {request.url}"))
    return page, heard


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Iterator[tuple[Page, list[str]]]:
    """A page that tests have one after another: a new one takes longer than all that they do."""
    context = browser.new_context()
    yield listened(context.new_page())
    context.close()


@pytest.fixture
def opened(browser: Browser, tab: tuple[Page, list[str]], tmp_path: Path) -> Iterator[Opener]:
    """Opens a page; at the end it must have logged nothing and asked for nothing but itself."""
    file = tmp_path / "report.html"
    own = f"request: {file.as_uri()}"
    contexts = []
    seen: list[tuple[Page, list[str]]] = []

    def open_page(text: str, *, width: int = 1280, **settings: Any) -> Page:
        file.write_text(text, encoding="utf-8")
        if settings or tab in seen:
            contexts.append(browser.new_context(**settings))
            page, heard = listened(contexts[-1].new_page())
        else:
            page, heard = tab
            page.mouse.move(0, 0)
            page.emulate_media(media="screen", color_scheme="light")
            heard.clear()
        seen.append((page, heard))
        page.set_viewport_size({"width": width, "height": 844})
        page.goto(file.as_uri())
        heard.remove(own)
        return page

    yield open_page
    for page, _ in seen:
        page.evaluate("0")  # what came before is heard by then
    for context in contexts:
        context.close()
    assert [words for _, heard in seen for words in heard] == []


@pytest.fixture(scope="module", autouse=True)
def quick_look() -> Iterator[None]:
    with no_trees():
        yield


FAST = Settings(
    methods={"breach": {"search": "walk", "folds": 3, "most": 3}, "containment": {"ks": [20]}},
    attackers=("nb",),
    weights={"performance": 0.4, "privacy": 0.4, "size": 0.2},
    seed=20265,
)
DATE = "2026-11-15"


@pytest.fixture(scope="session")
def outcome() -> Outcome:
    with no_trees():
        return consider(patients(rows=500), FAST)


@pytest.fixture(scope="session")
def analysis(outcome: Outcome) -> Analysis:
    with no_trees():
        return analyse(outcome)


@pytest.fixture(scope="session")
def published(
    outcome: Outcome, analysis: Analysis, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A folder to read from, not to change."""
    folder = tmp_path_factory.mktemp("published") / "out"
    return publish(outcome, folder, analysis=analysis, date=DATE, origin={"name": "stays"})


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
