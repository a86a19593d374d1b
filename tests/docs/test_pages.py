"""The pages of the documentation do what they say.

Code is run and commands are given, in the order of the page and in one folder. Below a command
stands what it prints; a line of ``...`` stands for any lines.
"""

import re
import shlex
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from tamis.cli import _run
from tests.quick_look import few_trees

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = sorted((DOCS / "tutorials").glob("*.md"))
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)


@pytest.mark.filterwarnings("ignore::tamis.errors.TamisWarning")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_can_be_followed(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    assert blocks
    for language, title, content in blocks:
        if title:
            Path(title).write_text(content, encoding="utf-8")
        elif language == "python":
            exec(compile(content, page.name, "exec"), names)
        elif language == "console":
            for command, said in commands(content):
                assert_said(said, answer(command))


def commands(block):
    """Each command of a block, and the lines that it should print."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, *said = part.splitlines()
        yield command, said


def answer(command):
    program, *arguments = shlex.split(command)
    assert program == "tamis"
    said, wrong = StringIO(), StringIO()
    with redirect_stdout(said), redirect_stderr(wrong), few_trees():
        code = _run(arguments)
    assert code == 0, f"{command}: {wrong.getvalue()}"
    return said.getvalue()


def assert_said(expected, out):
    """Lines as printed, in order, with `...` for any others; the width of columns may differ."""
    lines = [" ".join(line.split()) for line in out.splitlines() if line.strip()]
    wanted = [" ".join(line.split()) for line in expected if line.strip()]
    pattern = "".join(
        "(?:.*\n)*?" if line == "..." else ".*".join(map(re.escape, line.split("..."))) + "\n"
        for line in wanted
    )
    assert re.fullmatch(pattern, "".join(f"{line}\n" for line in lines)), out


def test_what_is_not_said_is_noticed():
    assert_said(["a  b", "...", "d"], "a b\nc\nd\n")
    with pytest.raises(AssertionError):
        assert_said(["a", "d"], "a\nc\nd\n")


def test_the_site_has_every_page():
    nav = (DOCS.parent / "zensical.toml").read_text(encoding="utf-8")
    named = set(re.findall(r'"([\w/-]+\.md)"', nav))
    assert {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")} <= named
