"""The page of what was withstood: a section for each part, replaced when the part runs again."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from textwrap import fill

from fuzz.tally import Tally

TOP = """# What tamis withstood

Written by `uv run --group fuzz python -m fuzz`, which attacks what tamis promises for as long as
one likes; [SECURITY.md](../SECURITY.md) lists the promises. What is listed here was tried and
counted. It shows no absence of faults: it says how hard somebody looked.
"""
ABOUT = {
    "kills": "The command is stopped, starved and raced. Always: the whole verified release or the "
    "old one, the right exit code and message, nothing left that the next run does not clean. "
    "Signals at operations on files and full disks are tried in children of a process that has "
    "imported everything; all else on the command as a user starts it.",
    "input": "Damaged files for every reader, and damaged requests to the server: no traceback, no "
    "hang, memory bounded, no cell in a message.",
    "claims": "Random tables are published, and what the manifest claims is counted again by a "
    "reader that shares no code with tamis: pandas, with every cell as text.",
    "privacy": "Each mechanism draws from two neighbouring tables, from the public function to its "
    "result; intervals of Clopper and Pearson give an epsilon that it surely has at least. And a "
    "row of odd cells must not change the form of what is published.",
    "crafted": "Random releases are published in every format, and a forger changes one thing in "
    "each copy of the folder: a key or a value of the manifest, its bytes, rows, their order, "
    "bytes and hidden parts of the table, files. Hashes and counts fit again. `verify` "
    "passes none, save what it says that nobody can check.",
    "mutants": "Small faults are put into the modules that keep promises, one at a time: a limit "
    "moved by one, a comparison turned, a condition dropped. Each must make a test of its module "
    "fail, or is listed in `fuzz/equivalent.toml` with the reason why it makes no difference.",
    "undo": "Random tables are altered by `tamis perturb` and `tamis release`. Whoever has the "
    "file tries small seeds and every number that was said, reads seeds off the order of rows, and "
    "draws the alteration again to take it back. No cell comes back that a guess would not give, "
    "and the order of a file follows from its rows.",
    "composition": "Random people are released two or three times, while they come, leave, change "
    "and are recoded, each time beside the releases before. Who is alike in all written files, and "
    "in the same of them, is counted by brute force: never fewer people than k.",
}


def written(tally: Tally, date: str | None = None, only: str = "") -> str:
    """The section of a part: what was tried, how often, and what was found.

    A run of some of its cases alone gives a section below that of the part.

    >>> tally = Tally("input")
    >>> tally.tried["csv"] += 1200
    >>> [line for line in written(tally, "2026-11-16").splitlines() if "csv" in line]
    ['| csv | 1,200 |']
    >>> written(tally, "2026-11-16", only="csv|SAS").splitlines()[0]
    '### input: csv, SAS alone'
    """
    day = date or datetime.now(UTC).date().isoformat()
    head = [f"## {tally.part}", "", fill(ABOUT[tally.part], 100)]
    lines = [
        *([f"### {_titled(tally.part, only)}"] if only else head),
        "",
        f"{day}, tamis {version('tamis')}: {tally.total:,} in {tally.seconds / 60:.0f} minutes.",
        "",
        "| tried | times |",
        "|---|---:|",
        *(f"| {kind} | {count:,} |" for kind, count in sorted(tally.tried.items())),
        "",
        *(f"- {words}" for words in tally.notes),
        *([""] if tally.notes else []),
        *([f"- **found**: {words}" for words in tally.found] or ["Found: nothing."]),
    ]
    return "\n".join(lines)


def kept(page: Path, section: str, part: str, only: str = "") -> None:
    """Put a section into the page, in place of the last one of the same part and cases.

    What people wrote below those of all parts stays.
    """
    text = page.read_text(encoding="utf-8") if page.exists() else TOP
    sections = {_title(s): s for s in re.split(r"\n(?=###? )", text)[1:]}
    sections[_titled(part, only)] = section
    ordered = [
        sections[title].rstrip() + "\n"
        for name in ABOUT
        for title in sorted(sections, key=lambda title: (title != name, title))
        if title.partition(":")[0] == name
    ]
    others = [
        section.rstrip() + "\n"
        for title, section in sections.items()
        if title.partition(":")[0] not in ABOUT
    ]
    page.write_text("\n".join([TOP, *ordered, *others]), encoding="utf-8")


def _titled(part: str, only: str) -> str:
    return f"{part}: {only.replace('|', ', ')} alone" if only else part


def _title(section: str) -> str:
    return section.split("\n", 1)[0].lstrip("# ")
