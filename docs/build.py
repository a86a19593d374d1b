"""Build the documentation site: `uv run --group docs python docs/build.py`.

The pages are copied to build/docs, where pictures and the reference are added to them, and from
there made into build/site. Nothing in the site is loaded from elsewhere when it is viewed; it
can be opened from the file system, search included.
"""

from __future__ import annotations

import inspect
import json
import re
import shutil
import subprocess
import sys
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tamis.cli.options import TableCommand
from tamis.option import NUMBERS, Option, as_flag
from tamis.options.commands import all_options

if TYPE_CHECKING:
    from tamis.charts import Picture

ROOT = Path(__file__).resolve().parents[1]
PAGES, SITE = ROOT / "build" / "docs", ROOT / "build" / "site"
TOP = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
}
TOP |= {"SECURITY.md": "security.md", "CITATION.cff": "papers.md"}
"""Files beside the pages, and the page that stands for each in the site."""
MADE = ("patients", "stays", "behaviour")
"""The made tables, in `tamis.datasets`."""
BOUNDS: dict[str, list[Any]] = {
    "birth_year": [1925, 2007],
    "sex": ["female", "male"],
    "job": ["care", "factory", "farm", "none", "office", "school"],
    "ward": ["emergency", "maternity", "medicine", "surgery"],
    "stay_days": [1, 25],
    "visits": [0, 20],
    "albumin": [20.0, 55.0],
    "blood_group": ["A", "AB", "B", "O"],
    "viral_load_test": ["no", "yes"],
    "cd4_count": [0, 2000],
    "hiv": ["negative", "positive"],
    "readmitted": ["no", "yes"],
}
"""What is public of the made patients: what a codebook would say."""
PLANE = "plane.svg"
"""The picture of the README and of the first page."""
MARK = {
    "rim": 'fill="none" stroke="{}" stroke-width="2.2"',
    "mesh": 'fill="none" stroke="{}" stroke-width="0.9" opacity="0.55"',
    "grain": 'fill="{}"',
}
"""How the parts of the product's mark are drawn where no style sheet reaches."""
SHIM = "https://unpkg.com/iframe-worker/shim"
WORKER = """
// Browsers start no worker from a file; where the site is opened from the file system, the search
// runs in a hidden frame instead.
if (location.protocol === "file:") window.Worker = class {
  constructor(url) {
    const frame = document.createElement("iframe"), early = []
    frame.hidden = true
    document.documentElement.append(frame)
    const inside = frame.contentWindow, script = inside.document.createElement("script")
    inside.postMessage = data => setTimeout(() => this.onmessage?.({ data }))
    this.postMessage = data => early.push(data)
    this.terminate = () => frame.remove()
    script.onload = () => {
      this.postMessage = data => setTimeout(() => inside.onmessage?.({ data }))
      early.forEach(this.postMessage)
    }
    script.src = url
    inside.document.body.append(script)
  }
}
"""


SCHEMAS = ROOT / "src" / "tamis" / "schemas"
SCHEMA_WORDS = """\
What programs can rely on in a manifest and in what commands print with `--json`, as JSON Schema
2020-12. The files are in the package as well, in `tamis/schemas/`. Fields may be added.
"""
OPTIONS_WORDS = """\
In a file given with `--config`, an option has the same name with `_` for `-`, such as
`max_told = 0.1`; lists are written as `["a", "b"]`. Flags override the file. A name in brackets is
a table that only such a file can hold. Former names keep working."""
KINDS = {
    "flag": "given or not",
    "names": "names, separated by commas",
    "shares": "shares, separated by commas",
    "weights": "numbers by name",
    "bins": "a number, or numbers separated by commas",
    "output": "a file to write",
    "table": "a table",
    "attacker": "a text such as this, or tables of a file",
}
"""What may be given, by the kind of an option."""


def main() -> None:
    """Copy, generate, build, and see that nothing is loaded from elsewhere."""
    from followed import filled  # beside this file: found where it is run, not where it is read

    shutil.rmtree(ROOT / "build", ignore_errors=True)
    shutil.copytree(ROOT / "docs", PAGES, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    for name, page in TOP.items():
        if not (PAGES / page).exists():
            shutil.copy(ROOT / name, PAGES / page)
    (PAGES / "reference").mkdir()
    (PAGES / "reference" / "commands.md").write_text(commands(), encoding="utf-8")
    (PAGES / "reference" / "options.md").write_text(options(), encoding="utf-8")
    (PAGES / "reference" / "python.md").write_text(names(), encoding="utf-8")
    (PAGES / "reference" / "python").mkdir()
    write_objects(PAGES / "reference" / "python")
    shutil.copytree(SCHEMAS, PAGES / "reference" / "schemas")
    (PAGES / "reference" / "schemas.md").write_text(schemas(), encoding="utf-8")
    (PAGES / "pictures").mkdir(exist_ok=True)
    draw(PAGES / "pictures")
    for tutorial in sorted((PAGES / "tutorials").glob("*.md")):
        text = filled(tutorial, PAGES / "pictures", screenshot)
        tutorial.write_text(text, encoding="utf-8")
    dress(PAGES)
    for file in PAGES.rglob("*.md"):
        file.write_text(relinked(file), encoding="utf-8")
    subprocess.run([sys.executable, "-m", "zensical", "build", "--strict"], cwd=ROOT, check=True)
    close(SITE)


def relinked(page: Path) -> str:
    """The text of a page, with links to files beside the pages led to where these are now."""
    depth = len(page.relative_to(PAGES).parts) - 1
    text = page.read_text(encoding="utf-8")
    at_top = page.name in TOP.values() and not (ROOT / "docs" / page.name).exists()
    if at_top:  # was beside docs/, and its links start there
        text = re.sub(r"\]\(docs/", "](", text)
    for name, target in TOP.items():
        before = "" if at_top else "../" * (depth + 1)
        text = re.sub(
            rf"\]\({re.escape(before + name)}(#[^)]*)?\)", f"]({'../' * depth}{target})", text
        )
    return text


def commands() -> str:
    """A page with the help of every command, as the program prints it."""
    from tamis.cli import cli
    from tamis.options.commands import COMMANDS

    parts = ["# Commands\n"]
    with click.Context(cli, info_name="tamis") as top:
        for name in COMMANDS:
            command = cli.get_command(top, name)
            assert command is not None
            parts += _described(command, click.Context(command, info_name=name, parent=top))
    return "\n".join(parts)


def schemas() -> str:
    """A page with a link to each JSON Schema, as it is in the package."""
    lines = []
    for file in sorted(SCHEMAS.glob("*.json")):
        said = json.loads(file.read_text(encoding="utf-8"))
        lines.append(f"- [{said['title']}](schemas/{file.name}): {said['description']}")
    return "\n".join(["# JSON Schemas\n", SCHEMA_WORDS, *lines]) + "\n"


def _described(command: click.Command, context: click.Context) -> list[str]:
    text = command.get_help(context)
    if isinstance(command, TableCommand):
        text = command.complete_help(context)
    parts = [f"## `{context.command_path}`\n", f"```text\n{text}\n```\n"]
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            parts += _described(inner, click.Context(inner, info_name=name, parent=context))
    return parts


def options() -> str:
    """A page with every option: what may be given, what is used otherwise, which commands take it.

    Options that a command understands in its own way have a line of their own.
    """
    takers: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for command, option in all_options():
        takers.setdefault((option.section, _cells(option)), []).append(command)
    sections: dict[str, list[str]] = {}
    for (title, cells), commands in sorted(takers.items()):
        texts = (*cells, ", ".join(commands))
        line = " | ".join(text.replace("|", "\\|") for text in texts)
        sections.setdefault(title, []).append(f"| {line} |")
    head = "| option | meaning | may be | by default | of |\n|---|---|---|---|---|"
    tables = (f"## {title}\n\n{head}\n" + "\n".join(lines) for title, lines in sections.items())
    return "\n\n".join(["# Options", OPTIONS_WORDS, *tables]) + "\n"


def _cells(option: Option) -> tuple[str, ...]:
    """An option: its name, what it means, what may be given, what is used otherwise."""
    former = ", ".join(f"`{as_flag(name)}`" for name in option.old)
    name = f"`[{option.name}]`" if option.kind == "table" else f"`{option.flag}`"
    default = "" if option.default in (None, ()) else f"{option.default}"
    said = KINDS.get(option.kind) or (f"`{option.metavar}`" if option.metavar else "a text")
    return (
        f"{name} (formerly {former})" if former else name,
        option.help,
        option.allowed if option.kind in (*NUMBERS, "choice") else said,
        option.otherwise or default or "nothing",
    )


def public() -> dict[str, list[str]]:
    """The public names by what they are, each below `tamis`."""
    import tamis

    found: dict[str, list[str]] = {"Classes": [], "Functions": []}
    for name in sorted(tamis.__all__):
        if not name.startswith("_"):
            found["Classes" if isinstance(getattr(tamis, name), type) else "Functions"].append(name)
    return {**found, "Made tables": [f"datasets.{name}" for name in MADE]}


def names() -> str:
    """A page that lists every public name with its first sentence; each has a page of its own."""
    import tamis
    import tamis.datasets

    parts = ["# Python\n", "Public are these names, `tamis.datasets` and `tamis.errors`.\n"]
    for kind, found in public().items():
        parts += [f"## {kind}\n", "| name | what it is |\n|---|---|"]
        for name in found:
            said = inspect.getdoc(attrgetter(name)(tamis)) or ""
            first = said.partition("\n\n")[0].replace("\n", " ").replace("|", "\\|")
            parts.append(f"| [`{name}`](python/{name}.md) | {first} |")
        parts.append("")
    return "\n".join(parts)


def write_objects(folder: Path) -> None:
    """A page for each public name; the docstrings are filled in by the build."""
    for name in chain.from_iterable(public().values()):
        text = f"::: tamis.{name}\n\n[All names](../python.md)\n"
        (folder / f"{name}.md").write_text(text, encoding="utf-8")


def draw(folder: Path) -> None:
    """The plane of the demo's releases, the first screen of its report, one table three ways.

    The plane is kept in docs/ as well, since the README shows it.
    """
    from tamis import Settings, consider, publish
    from tamis.cli.release import DEMO_METHODS
    from tamis.datasets import stays

    outcome = consider(stays(), Settings(methods=DEMO_METHODS))
    outcome.decision.plot().save(ROOT / "docs" / "pictures" / PLANE)
    shutil.copy(ROOT / "docs" / "pictures" / PLANE, folder / PLANE)
    report = publish(outcome, folder / "demo") / "private" / "report.html"
    screenshot(report, folder / "report.png")
    shutil.rmtree(folder / "demo")
    three_ways().save(folder / "three-ways.svg")


def dress(pages: Path) -> None:
    """The report's mark and colours for the site, so that both are seen to be one thing."""
    templates = ROOT / "src" / "tamis" / "publication" / "templates"
    colours = (templates / "report.css").read_text(encoding="utf-8").partition("}")[0] + "}\n"
    style = pages / "site.css"
    style.write_text(colours + style.read_text(encoding="utf-8"), encoding="utf-8")
    top = (templates / "top.html.j2").read_text(encoding="utf-8")
    shapes = re.search(r'<svg class="mark"[^>]*>(.*?)</svg>', top)
    accent = re.search(r"--accent: (#\w+);", colours)
    assert shapes
    assert accent
    painted = shapes[1]
    for name, style_of in MARK.items():
        painted = painted.replace(f'class="{name}"', style_of.format(accent[1]))
    box = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">'
    (pages / "mark.svg").write_text(f"{box}{painted}</svg>\n", encoding="utf-8")


def three_ways() -> Picture:
    """The made patients as fewer columns, as coarser ones and as synthetic rows."""
    from tamis import DPSynthesiser, Settings, Table, consider, judge
    from tamis.datasets import patients

    table, others = patients(3000), patients(3000, random_state=1)
    coarser = consider(table, Settings(methods={"coarsen": {}})).decision.chosen.release.table
    few = ["stay_days", "visits", "albumin", "readmitted"]

    def drawn(columns: list[str]) -> Table:
        bounds = {name: BOUNDS[name] for name in columns}
        missing = [name for name in ("albumin", "job", "cd4_count") if name in columns]
        model = DPSynthesiser(1, delta=1e-9, bounds=bounds, missing=missing)
        return Table(model.fit(table.frame.select(columns), target="readmitted").sample())

    releases = {
        "fewer columns": Table(table.only(few)),
        "coarser columns": Table(coarser.frame),
        "synthetic rows of these": drawn(few),
        "synthetic rows of all": drawn(list(BOUNDS)),
    }
    return judge(table, releases, control=others).plot()


def screenshot(page: Path, file: Path) -> None:
    """The first screen of a page, by the machine's chromium."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        raise SystemExit("the pictures need chromium; install it (Debian: apt install chromium)")
    subprocess.run(
        [
            *(browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
            *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
            *("--window-size=1100,900", f"--screenshot={file}", page.as_uri()),
        ],
        check=True,
        capture_output=True,
    )


def close(site: Path) -> None:
    """Replace the one script that would come from elsewhere, and refuse any other."""
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        # Anchors of single lines of code have no words, and a screen reader would read out each.
        text = re.sub(r'<a id="__codelineno[^>]*></a>', "", text)
        # Nor is there anything to read behind the dash of what has a type and no description.
        text = re.sub(r'\s\u2013\s*<div class="doc-md-description">\s*</div>', "", text)
        text = re.sub(rf'<script src="{SHIM}"[^>]*></script>', f"<script>{WORKER}</script>", text)
        if found := re.findall(
            r'<(?:script|link|img|iframe)[^>]*(?:src|href)="(https?:[^"]*)', text
        ):
            raise SystemExit(f"{page.relative_to(site)} would load {found[0]}")
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
