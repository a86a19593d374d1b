"""The whole way through in a browser: by keyboard, with hostile names, in two tabs, on a phone.

With TAMIS_SCREENSHOTS=docs/serve the pictures of the documentation are made again.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from tamis.catalogue.methods import METHODS
from tamis.datasets import patients
from tests.long import long
from tests.publication.hard_summaries import HOSTILE
from tests.serve.running import Server, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

WAIT = 400_000
"""Milliseconds that a release may take on a busy machine."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("way")) as found:
        yield found


@pytest.fixture
def tab(browser: Browser, server: Server) -> Iterator[Callable[[], Page]]:
    """Opens tabs; at the end none has logged anything or asked for anything beyond this server."""
    context = browser.new_context(viewport={"width": 1100, "height": 800}, reduced_motion="reduce")
    findings: list[str] = []
    asked: list[str] = []

    def open_tab() -> Page:
        page = context.new_page()
        page.on("console", lambda message: findings.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: findings.append(f"error: {error}"))
        page.on("dialog", lambda dialog: findings.append(f"dialog: {dialog.message}"))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(server.address)
        page.wait_for_url(f"{server.root}/")
        return page

    yield open_tab
    context.close()
    assert findings == []
    assert [url for url in asked if not _own(url, server)] == []


def _own(url: str, server: Server) -> bool:
    return url.startswith((f"{server.root}/", "data:image/svg+xml,"))


@pytest.fixture
def looked_at(axe: str, server: Server) -> Callable[[Page, str], None]:
    """A page as people see it: without barriers, on a phone, and as a picture if asked for."""
    folder = os.environ.get("TAMIS_SCREENSHOTS")

    def look(page: Page, name: str) -> None:
        if axe:
            page.emulate_media(color_scheme="dark")
            assert barriers(page, axe, CONTRAST) == []
            page.emulate_media(color_scheme="light")
        assert barriers(page, axe) == []
        if folder:
            shot(page, Path(folder) / f"{name}.png", server.folder)
        page.set_viewport_size({"width": 360, "height": 740})
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        page.set_viewport_size({"width": 1100, "height": 800})

    return look


CONTRAST: dict[str, Any] = {"runOnly": {"type": "rule", "values": ["color-contrast"]}}
"""All that another colour scheme can change."""


def barriers(page: Page, axe: str, rules: dict[str, Any] | None = None) -> list[str]:
    """What axe calls serious or critical, and what can be seen without it."""
    found: list[str] = page.evaluate(PLAIN_CHECKS)
    if axe:
        # As if it were typed into the console: the policy of the page allows no other script.
        if not page.evaluate("'axe' in window"):
            page.evaluate(axe)
        options = {"resultTypes": ["violations"], "iframes": False, **(rules or {})}
        violations = page.evaluate("o => axe.run(document, o).then(r => r.violations)", options)
        found += [
            f"{v['id']}: {v['nodes'][0]['html'][:200]}"
            for v in violations
            if v["impact"] in ("serious", "critical")
        ]
    return found


PLAIN_CHECKS = """() => {
  const named = (e) => e.getAttribute("aria-label") || e.textContent.trim() || e.title
    || [...(e.labels ?? [])].some((l) => l.textContent.trim());
  const controls = "input:not([type=hidden]), select, button, a, iframe, svg[role]";
  const found = [...document.querySelectorAll(controls)]
    .filter((e) => !named(e)).map((e) => `no name: ${e.outerHTML.slice(0, 100)}`);
  const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
  found.push(...ids.filter((id, at) => ids.indexOf(id) !== at).map((id) => `twice: ${id}`));
  for (const one of ["main", "header", "footer", "h1"]) {
    if (document.querySelectorAll(one).length !== 1) found.push(`not one ${one}`);
  }
  return document.documentElement.lang === "en" && document.title ? found : [...found, "no title"];
}"""


def shot(page: Page, path: Path, folder: Path) -> None:
    """A picture of what fits a screen, in few colours so that it stays small.

    It shows a folder that says something to a reader instead of that of the test.
    """
    from PIL import Image

    path.parent.mkdir(parents=True, exist_ok=True)
    page.wait_for_timeout(300)
    page.evaluate(SAY_INSTEAD, [str(folder), "/home/ana/stays"])
    page.screenshot(path=path)
    page.evaluate(SAY_INSTEAD, ["/home/ana/stays", str(folder)])
    Image.open(path).convert("RGB").quantize(64).save(path, optimize=True)


SAY_INSTEAD = """([old, now]) => {
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) walk.currentNode.data = walk.currentNode.data.replaceAll(old, now);
  for (const input of document.querySelectorAll("input[type=text]")) {
    input.value = input.value.replaceAll(old, now);
  }
}"""


def reach(page: Page, wanted: Locator) -> None:
    """Tab until the element is focused; it must not take a walk through the browser itself."""
    sought = wanted.element_handle()  # looked for once: to find it by its role takes a while
    for _ in range(300):
        if sought.evaluate("e => e === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{wanted} cannot be reached by keyboard")


def press(page: Page, wanted: Locator, key: str = "Enter") -> None:
    reach(page, wanted)
    page.keyboard.press(key)


def at(page: Page, step: str) -> None:
    page.wait_for_url(re.compile(rf"/{step}(\?.*)?$"), timeout=WAIT)


def test_the_first_page_opens_silently(
    tab: Callable[[], Page], looked_at: Callable[[Page, str], None]
):
    page = tab()
    assert page.get_by_role("button", name="Use the demo table").is_enabled()
    looked_at(page, "1-table")


@long
def test_the_whole_way_on_the_demo_table_by_keyboard(
    tab: Callable[[], Page], server: Server, looked_at: Callable[[Page, str], None], tmp_path: Path
):
    page = tab()
    press(page, page.get_by_role("button", name="Use the demo table"))
    at(page, "columns")
    assert page.locator("#tally").inner_text() == "1 target, 1 secret, 4 known, 2 name, 7 ordinary."
    looked_at(page, "2-columns")
    press(page, page.get_by_role("button", name="Measure how exposed it is"))
    at(page, "exposure")
    assert "stand alone" in page.locator("h1").inner_text()
    looked_at(page, "3-exposure")
    press(page, page.get_by_role("link", name="Say what you ask for"))
    at(page, "settings")
    reach(page, page.locator("#f-k"))
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("7")
    assert "at least 7 people" in page.locator("#words").inner_text()
    # Until the command says so too, it is marked and cannot be copied.
    page.locator(".command pre[aria-busy=false]").wait_for()
    assert "--k=7" in page.locator("#command").inner_text()
    looked_at(page, "4-limits")
    press(page, page.get_by_text("More limits and choices"))
    press(page, page.get_by_label(METHODS["front"].asked), "Space")  # the others take their time
    press(page, page.get_by_role("button", name="Look for releases"))
    at(page, "work")
    other = tab()
    other.goto(page.url)
    page.locator("#bar[value]").wait_for(state="attached", timeout=WAIT)
    looked_at(page, "5-progress")
    for each in (page, other):  # both tabs are told
        at(each, "compare")
    report = page.frame_locator("iframe").locator("h1")
    report.wait_for(timeout=WAIT)
    looked_at(page, "6-comparison")
    page.locator("iframe").scroll_into_view_if_needed()
    looked_at(page, "6-report")
    command = page.locator("#command").inner_text()
    assert command.startswith("tamis release patients.csv --target=readmitted --sensitive=hiv")
    assert "--k=7" in command
    reach(page, page.locator("input[type=radio]:checked"))
    page.keyboard.press("ArrowDown")
    taken = page.locator("input[type=radio]:checked").get_attribute("value")
    press(page, page.get_by_role("button", name="Show what it would publish"))
    at(page, "preview")
    assert page.locator(".intro .name").inner_text() == taken
    shown = page.locator(".cells th").all_inner_texts()
    stay = page.locator(".cells tbody tr").first.locator("td:has(.struck)").count()
    looked_at(page, "7-preview")
    out = Path(page.locator("#out").input_value())
    assert out.parent == server.folder
    assert not out.exists()
    press(page, page.get_by_role("button", name="Publish and verify"))
    at(page, "published")
    looked_at(page, "8-published")
    with page.context.expect_page() as opened:
        press(page, page.get_by_role("link", name="The dossier"))
    opened.value.get_by_role("heading", name="Dossier").wait_for()
    opened.value.close()
    assert json.loads((out / "private" / "recipe.json").read_text())["release"] == taken
    assert (out / "release.csv").read_text().splitlines()[0].split(",") == shown[:-stay]
    assert 'choose_release = "' in out.with_name(f"{out.name}.toml").read_text()
    with page.expect_download() as download:
        press(page, page.get_by_role("link", name="Download what is to be handed on"))
    archive = tmp_path / download.value.suggested_filename
    download.value.save_as(archive)
    assert not [name for name in zipfile.ZipFile(archive).namelist() if "private" in name]
    press(page, page.get_by_role("link", name="Verify a release"))
    at(page, "verify")
    looked_at(page, "9-verify")
    page.locator("#file").set_input_files(archive)
    at(page, r"checks/\d+")
    assert page.locator("h1").inner_text() == "It keeps its promises"
    looked_at(page, "10-verified")
    tampered(archive)
    page.goto(f"{server.root}/verify")
    page.locator("#file").set_input_files(archive)
    page.get_by_text("does not match its manifest").wait_for(timeout=WAIT)


def tampered(archive: Path) -> None:
    with zipfile.ZipFile(archive) as packed:
        files = {name: packed.read(name) for name in packed.namelist()}
    with zipfile.ZipFile(archive, "w") as packed:
        for name, content in files.items():
            packed.writestr(name, content.replace(b"female", b"male") + b" ")


@long
def test_two_files_are_dropped_and_the_judgement_is_read(
    tab: Callable[[], Page], looked_at: Callable[[Page, str], None], server: Server
):
    frame = patients(rows=600).frame
    frame.write_csv(server.folder / "original.csv")
    digits = pl.col("zip").cast(pl.String).str.slice(0, 3)
    coarse = frame.select((digits + "**").alias("zip"), "sex", "stay_days", "readmitted")
    coarse.reverse().write_csv(server.folder / "colleague.csv")
    frame.select("job", "ward", "readmitted").write_csv(server.folder / "other.csv")
    page = tab()
    press(page, page.get_by_role("link", name="Judge a table made elsewhere"))
    at(page, "judge")
    looked_at(page, "11-judge")
    press(page, page.get_by_role("button", name="Judge"))
    page.get_by_text("give one original").wait_for()
    page.goto(f"{server.root}/judge")
    page.locator("#file-original").set_input_files(server.folder / "original.csv")
    made = [server.folder / name for name in ("colleague.csv", "other.csv")]
    page.locator("#file-released").set_input_files(made)
    page.get_by_label("What others shall learn to predict").fill("readmitted")
    page.get_by_label("The secret").fill("hiv")
    page.get_by_label("What others may know").fill("zip,sex,job")
    page.get_by_label("Names and numbers of people").fill("patient")
    press(page, page.get_by_role("button", name="Judge"))
    at(page, r"judged/\d+")
    inside = page.frame_locator("iframe")
    inside.get_by_role("heading", name="2 releases judged").wait_for()
    assert "colleague.csv" in inside.locator("table").first.inner_text()
    looked_at(page, "12-judged")
    with page.expect_download() as download:
        press(page, page.get_by_role("link", name="Keep it as a page"))
    assert "other.csv" in Path(download.value.path()).read_text()


@long
def test_the_whole_way_on_a_real_table_from_its_path(
    tab: Callable[[], Page], server: Server, dataset: Callable[[str], Path]
):
    shutil.copy(dataset("pima.csv.gz"), server.folder / "pima.csv.gz")
    page = tab()
    page.locator("#path").fill("pima.csv.gz")
    page.get_by_role("button", name="Open").click()
    at(page, "columns")
    page.get_by_label("What plas is").select_option("feature")
    page.get_by_label("Every row is a different person").check()
    page.get_by_role("button", name="Measure how exposed it is").click()
    at(page, "exposure")
    page.get_by_role("link", name="Say what you ask for").click()
    page.get_by_text("More limits and choices").click()
    page.get_by_label("Choose yes/no facts").check()
    page.get_by_role("button", name="Look for releases").click()
    at(page, "compare")
    page.get_by_role("button", name="Show what it would publish").click()
    at(page, "preview")
    page.locator("#out").fill("/etc/release")
    page.get_by_role("button", name="Publish and verify").click()
    page.get_by_text("outside the folders").wait_for()
    page.locator("#out").fill("pima-out")
    page.get_by_role("button", name="Publish and verify").click()
    at(page, "published")
    assert (server.folder / "pima-out" / "manifest.json").is_file()
    assert str(server.folder / "pima.csv.gz") in page.locator("#command").inner_text()


@long
def test_stopped_in_the_middle_it_leaves_nothing_and_can_be_begun_again(
    tab: Callable[[], Page], server: Server
):
    patients(rows=60).frame.drop("patient").write_csv(server.folder / "stays.csv")
    page = tab()
    page.locator("#path").fill("stays.csv")
    page.get_by_role("button", name="Open").click()
    at(page, "columns")
    page.get_by_label("What hiv is").select_option("target")
    assert "1 target," in page.locator("#tally").inner_text()  # the other one no longer is
    page.get_by_label("What hiv is").select_option("sensitive")
    page.get_by_role("button", name="Measure how exposed it is").click()
    page.get_by_text("choose the target").wait_for()
    page.get_by_label("What readmitted is").select_option("target")
    page.get_by_label("What cd4_count is").select_option("drop")
    page.get_by_role("button", name="Measure how exposed it is").click()
    at(page, "exposure")
    page.get_by_role("link", name="Say what you ask for").click()
    page.get_by_role("button", name="Look for releases").click()
    at(page, "work")
    number = page.url.split("/")[-2]
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("heading", name="Stopped").wait_for(timeout=WAIT)
    drafts = server.workspaces()[0] / "tables" / number / "drafts"
    assert list(drafts.iterdir()) == []
    page.get_by_role("link", name="Go back").click()
    at(page, "settings")
    assert page.get_by_role("button", name="Look for releases").is_enabled()


@long
def test_attackers_are_named_in_rows(
    tab: Callable[[], Page], server: Server, looked_at: Callable[[Page, str], None]
):
    patients(rows=90).frame.drop("patient").write_csv(server.folder / "asked.csv")
    page = tab()
    page.locator("#path").fill("asked.csv")
    page.get_by_role("button", name="Open").click()
    at(page, "columns")
    page.get_by_label("What readmitted is").select_option("target")
    page.get_by_label("What hiv is").select_option("sensitive")
    page.get_by_role("button", name="Measure how exposed it is").click()
    at(page, "exposure")
    page.get_by_role("link", name="Say what you ask for").click()
    page.get_by_text("Who might try?").first.click()
    usual = page.get_by_role("group", name="Anybody")
    assert usual.get_by_role("checkbox", name="hiv").is_checked()  # the default, filled in
    first = page.locator("[data-who]").first
    first.get_by_label("Who might try?").fill("neighbour")
    first.get_by_role("checkbox", name="zip").check()
    first.get_by_role("checkbox", name="hiv").check()
    first.get_by_label("People who look alike").fill("9")
    page.get_by_role("button", name="Somebody else, too").click()
    second = page.locator("[data-who]").nth(1)
    assert second.get_by_label("Who might try?").input_value() == ""
    assert second.get_by_role("checkbox", name="zip").is_checked() is False
    second.get_by_label("Who might try?").fill("boss")
    second.get_by_role("checkbox", name="job").check()
    second.get_by_label("The most that may be told").fill("10")
    line = "neighbour: knows zip; wants hiv; k=9\nboss: knows job; max_told=0.1"
    assert line in page.locator("#words").inner_text()
    page.locator(".command pre[aria-busy=false]").wait_for()
    assert "neighbour: knows zip; wants hiv; k=9" in page.locator("#command").inner_text()
    looked_at(page, "4-attackers")
    second.get_by_label("Who might try?").fill("neighbour")
    page.get_by_role("button", name="Look for releases").click()
    page.get_by_text("two attackers are called").wait_for(timeout=WAIT)
    kept = page.locator("[data-who]")
    assert kept.count() == 3  # what was typed, and an empty one
    assert kept.nth(1).get_by_role("checkbox", name="job").is_checked()


@long
def test_hostile_names_stay_text(tab: Callable[[], Page], tmp_path: Path):
    names = [*HOSTILE[:7], "class"]
    rows = {name: [f"v{(i * (at + 3)) % 4}" for i in range(60)] for at, name in enumerate(names)}
    path = tmp_path / "<img src=x onerror=alert(1)>.csv"
    pl.DataFrame(rows).write_csv(path)
    page = tab()
    page.locator("#file").set_input_files(path)
    at(page, "columns")
    text = page.locator("main").inner_text()
    for name in HOSTILE[:7]:
        assert " ".join(name.split()) in " ".join(text.split())
    page.get_by_role("button", name="Measure how exposed it is").click()
    at(page, "exposure")
    assert page.locator("main img, main script, main b, main iframe").count() == 0


@long
def test_a_wrong_file_is_said_and_the_way_back_is_there(tab: Callable[[], Page], tmp_path: Path):
    photo, folder = tmp_path / "photo.csv", tmp_path / "letter.docx"
    photo.write_bytes(b"\x89PNG\r\n" + bytes(range(256)) * 8)
    folder.write_text("Dear all")
    page = tab()
    for wrong, words in ((photo, "photo.csv"), (folder, "cannot infer the format")):
        page.locator("#file").set_input_files(wrong)
        page.get_by_role("heading", name="This cannot be done").wait_for(timeout=WAIT)
        assert words in page.locator(".note").inner_text()
        page.get_by_role("link", name="Go back and change it").click()
        page.wait_for_url(re.compile(r"/$"))


@long
def test_a_page_says_when_its_server_is_gone(browser: Browser, tmp_path: Path):
    with serving(tmp_path) as server:
        context = browser.new_context()
        page = context.new_page()
        page.goto(server.address)
        page.wait_for_url(f"{server.root}/")
        page.locator("#file").set_input_files({"name": "t.csv", "mimeType": "", "buffer": SLOW})
        page.wait_for_url(re.compile("/work$"))
        server.process.kill()
        server.process.wait(20)
        page.get_by_text("The server does not answer").wait_for(timeout=WAIT)
        context.close()


SLOW = b"a,b\n" + b"1,2\n" * 500_000
"""A table that takes a moment to read."""
