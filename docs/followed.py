"""Pages with what their commands print, and the pictures that they draw.

A page in docs/ shows the lines of a command's output that matter and ``...`` for the others; the
tests hold those lines. Here the page is followed for the site, in a folder of its own, and all of
the output takes their place.
"""

from __future__ import annotations

import io
import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

BLOCK = re.compile(r'^```(\w*)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
MOST_LINES = 80
"""Longer output is cut: a screen of it shows what there is."""


def filled(page: Path, pictures: Path, shot: Callable[[Path, Path], None]) -> str:
    """The text of a page whose commands were run, with pictures of what they drew and wrote.

    Parameters
    ----------
    page : Path
        A tutorial: blocks of files, of Python, and of commands with their output.
    pictures : Path
        The folder to put pictures into, beside that of the page.
    shot : callable
        Writes a picture of the page given first to the file given second.
    """
    folder = pictures / f".{page.stem}"
    folder.mkdir()
    names: dict[str, object] = {}
    seen: set[Path] = set()

    def replaced(block: re.Match[str]) -> str:
        language, title, content = block.groups()
        if title:
            Path(title).write_text(content, encoding="utf-8")
        elif language == "python" and not content.startswith(">>>"):  # else a doctest
            exec(compile(content, page.name, "exec"), names)
        elif language == "console":
            said = "".join(f"$ {typed}\n{answer(typed)}" for typed in typed_in(content))
            return f"```console\n{said}```\n" + "".join(_shown(page, pictures, seen, shot))
        return block[0]

    try:
        with chdir(folder):
            return BLOCK.sub(replaced, page.read_text(encoding="utf-8"))
    finally:
        shutil.rmtree(folder)


def typed_in(content: str) -> list[str]:
    """The commands of a block, as they were typed."""
    parts = re.split(r"^\$ ", content, flags=re.MULTILINE)[1:]
    return [re.match(r"(?:.*\\\n)*.*", part)[0] for part in parts]  # type: ignore[index]


def answer(typed: str) -> str:
    """What a command prints; what it says on the way is left out."""
    from tamis.cli import _run

    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(io.StringIO()):
        _run(shlex.split(typed.replace("\\\n", " "))[1:])
    lines = out.getvalue().rstrip().splitlines()
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], f"... ({len(lines) - MOST_LINES} more lines)"]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _shown(
    page: Path, pictures: Path, seen: set[Path], shot: Callable[[Path, Path], None]
) -> Iterator[str]:
    """The pictures that were drawn, and the first screens of the reports that were written."""
    for drawn in sorted({*Path().glob("*.svg"), *Path().glob("*/private/report.html")} - seen):
        seen.add(drawn)
        name = f"{page.stem}-{drawn.parts[0].removesuffix('.svg')}"
        if drawn.suffix == ".svg":
            target, words = pictures / f"{name}.svg", drawn.stem
            shutil.copy(drawn, target)
        else:
            target, words = pictures / f"{name}.png", "The first screen of the report"
            shot(drawn.resolve(), target)
        yield f"\n![{words}](../pictures/{target.name})\n"
