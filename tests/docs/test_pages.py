"""The pages of the documentation do what they say.

Code is run and commands are given, in the order of the page and in one folder. Below a command
stands what it prints; a line of ``...`` stands for any lines. The how-to pages go on where the
tutorial of the hospital ends, in its folder. Commands of other pages are read but not run.
"""

import io
import re
import shlex
import tomllib
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

import click
import polars as pl
import pytest

from tamis import Settings, consider
from tamis.cli import _run, cli
from tamis.cli.release import DEMO_METHODS
from tamis.coarsen.ladder_sources import ladder_from
from tamis.datasets import patients, stays
from tamis.errors import InputError
from tests.long import daily, long
from tests.quick_look import no_trees

DOCS = Path(__file__).resolve().parents[2] / "docs"
README = DOCS.parent / "README.md"
TUTORIALS = sorted((DOCS / "tutorials").glob("*.md"))
HOW_TO = sorted((DOCS / "how-to").glob("*.md"))
SHORT = [page for page in TUTORIALS if page.stem != "log"]
QUICK = [p for p in HOW_TO if p.stem not in ("larger-than-memory", "reproduce", "several-releases")]
"""What these do has tests of its own; whether the pages say what is printed is seen less often."""
EVERY = [README, *sorted(DOCS.rglob("*.md"))]
BLOCK = re.compile(r'^```(\w*)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)


def blocks(page):
    """The language, the title and the content of each block of a page."""
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def follow(page, folder):
    """Do what a page says, in a folder."""
    names: dict[str, object] = {}
    with chdir(folder):
        for language, title, content in blocks(page):
            if title:
                Path(title).write_text(content, encoding="utf-8")
            elif language == "python" and not content.startswith(">>>"):  # else a doctest
                exec(compile(content, page.name, "exec"), names)
            elif language == "console":
                for command, said in commands(content):
                    assert_said(said, answer(command))


@pytest.fixture(scope="module")
def hospital(tmp_path_factory):
    """Where somebody stands who has followed the tutorial of the hospital."""
    folder = tmp_path_factory.mktemp("hospital")
    with no_trees():
        follow(DOCS / "tutorials" / "hospital.md", folder)
    pl.read_csv(folder / "stays.csv").write_parquet(folder / "stays.parquet")
    return folder


@pytest.mark.filterwarnings("ignore::tamis.errors.TamisWarning")
@pytest.mark.parametrize("page", daily(TUTORIALS, *SHORT), ids=lambda page: page.stem)
def test_a_tutorial_can_be_followed(page, tmp_path, request):
    assert any(language in ("python", "console") for language, _, _ in blocks(page))
    if page.stem == "hospital":
        assert (request.getfixturevalue("hospital") / "release" / "manifest.json").exists()
    else:
        with no_trees():
            follow(page, tmp_path)


@pytest.mark.parametrize("page", daily(HOW_TO, *QUICK), ids=lambda page: page.stem)
def test_a_how_to_goes_on_from_the_hospital(page, hospital):
    with no_trees():
        follow(page, hospital)


def test_most_how_to_pages_have_something_to_run():
    running = [p.stem for p in HOW_TO if any(block[0] == "console" for block in blocks(p))]
    assert len(running) >= 6


@long
def test_the_readme_says_what_is_printed(tmp_path):
    patients().frame.write_csv(tmp_path / "patients.csv")
    follow(README, tmp_path)


@long
def test_the_readme_shows_what_the_demo_makes():
    kept = (DOCS / "pictures" / "plane.svg").read_text(encoding="utf-8")
    made = consider(stays(), Settings(methods=DEMO_METHODS)).decision.plot().svg()
    words = re.compile(r"<(?:desc|title|text)[^>]*>([^<]*)")
    assert words.findall(kept) == words.findall(made), "make it anew: docs/build.py"


def commands(block):
    """Each command of a block, and the lines that it should print."""
    for part in re.split(r"^\$ ", block.replace("\\\n", " "), flags=re.MULTILINE)[1:]:
        command, *said = part.splitlines()
        yield command, said


def answer(command):
    program, *arguments = shlex.split(command)
    assert program == "tamis"
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = _run(arguments)
    assert code == 0, f"{command}: {err.getvalue()}"
    return out.getvalue()


def assert_said(expected, out):
    """The words as printed, in order, with `...` for any others; where lines end does not count."""
    words = [each for line in expected for each in line.split() if each.strip("─")]
    said = " ".join(each for each in out.split() if each.strip("─"))
    pattern = " ".join(map(re.escape, words)).replace(re.escape("..."), ".*?")
    # Where `...` stands for nothing, there is one space, not two.
    assert re.fullmatch(pattern.replace(" .*?", " ?.*?"), said), out


def test_what_is_not_said_is_noticed():
    assert_said(["a  b", "...", "d"], "a b\nc\nd\n")
    assert_said(["a", "...", "d"], "a d\n")
    for said in ("a\nc\nd\n", "ad\n"):
        with pytest.raises(AssertionError):
            assert_said(["a", "d"], said)


def written(page):
    """The commands in the blocks of a page, run or not."""
    for language, _, content in blocks(page):
        if language in ("", "console", "bash"):
            lines = content.replace("\\\n", " ").splitlines()
            yield from (each for each in lines if re.match(r"(\$ )?tamis [a-z]", each))


def understood(line):
    """A written command as the program would take it; files that it names need not be there.

    What is in brackets may be left out and is tried, of ``a|b`` the first is.
    """
    plain = re.sub(r"[][]", "", line.removeprefix("$ "))
    words = [w.partition("|")[0] for w in shlex.split(plain, comments=True) if w != "..."]
    command: click.Command = cli
    context, rest = click.Context(cli, info_name="tamis"), words[1:]
    while isinstance(command, click.Group):
        _, found, rest = command.resolve_command(context, rest)
        assert found is not None
        context = click.Context(found, info_name=found.name, parent=context)
        command = found
    given, _, _ = command.make_parser(context).parse_args(rest)
    for param in command.params:
        if param.name in given and isinstance(param.type, click.Choice):
            param.type_cast_value(context, given[param.name])
    return command.name


@pytest.mark.parametrize("page", EVERY, ids=lambda page: page.stem)
def test_every_written_command_exists(page):
    for line in written(page):
        assert understood(line), line


def test_a_command_that_does_not_exist_is_noticed():
    assert understood("$ tamis audit TABLE [--quasi a,b] ...   # how exposed") == "audit"
    for line, reason in (
        ("tamis adit TABLE", "adit"),
        ("tamis audit T --quasy a", "--quasy"),
        ("tamis coarsen T --search best", "best"),
    ):
        with pytest.raises((click.ClickException, InputError), match=reason):
            understood(line)
    assert sum(1 for page in EVERY for _ in written(page)) > 40


@pytest.mark.parametrize("page", EVERY, ids=lambda page: page.stem)
def test_every_written_setting_can_be_read(page):
    for language, _, content in blocks(page):
        if language == "toml":
            found = tomllib.loads(content)
            for column, steps in found.get("ladders", {}).items():
                if "file" not in steps:
                    assert ladder_from(column, steps).top > 0


def test_the_site_has_every_page():
    nav = (DOCS.parent / "zensical.toml").read_text(encoding="utf-8")
    named = set(re.findall(r'"([\w/-]+\.md)"', nav))
    assert {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")} <= named


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "SECURITY.md"])
def test_every_file_that_is_named_exists(name):
    root = DOCS.parent
    text = (root / name).read_text(encoding="utf-8")
    named = re.findall(r"`((?:[\w*]+/)+[\w*]*\.py)`", text)
    assert len(named) > 10
    for path in named:
        assert [*root.glob(path), *(root / "src" / "tamis").glob(path)], path
