"""A project on disk: what was said, the options it means, what is still current."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.cli.release import release
from tamis.errors import InputError
from tamis.require.attacker import Attacker
from tamis.serve.access import PostedForm
from tamis.serve.app_state import AppState
from tamis.serve.project import LONGEST_FLAGS, Project, arguments, flags, in_shell, toml
from tamis.serve.steps import ColumnsForm
from tamis.serve.workspace import MARK, TEMPORARY, Workspace, opened_workspace, remove_leftovers

LOOK: dict[str, Any] = {
    "rows": 30,
    "columns": [
        {"name": "who", "role": "identifier", "telling": True},
        {"name": "code", "role": "identifier", "telling": True},
        {"name": "age", "role": "quasi", "telling": False},
        {"name": "x", "role": "quasi", "telling": False},
        {"name": "ill", "role": "target", "telling": False},
    ],
}
names = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=8)
listed = st.lists(names, min_size=1, max_size=3, unique=True)
options = st.fixed_dictionaries(
    {"target": names},
    optional={
        "sensitive": listed,
        "quasi": listed,
        "identifier": listed,
        "row_is_person": st.just(True),
        "missing": listed,
        "k": st.integers(1, 99),
        "min_performance": st.sampled_from([0.5, 0.725, 1.0]),
        "methods": st.just(["breach", "containment"]),
        "attacker": st.just(["boss: knows a, b; k=9", "nurse: knows c; wants d"]),
    },
)


@pytest.fixture
def space(tmp_path: Path):
    with opened_workspace(str(tmp_path / "space")) as found:
        yield found


@pytest.fixture
def project(space: Workspace) -> Project:
    made = space.add(Project(space.new_folder(), "stays.csv", "/data/stays.csv"))
    made.write("look.json", json.dumps(LOOK))
    made.believe(LOOK)
    return made


def said(**roles: str) -> dict[str, str]:
    usual = {"who": "identifier", "code": "drop", "age": "quasi", "x": "quasi", "ill": "target"}
    return usual | roles


@pytest.mark.parametrize(
    ("roles", "options"),
    [
        ({}, {"target": "ill", "identifier": ["who"], "drop": ["code"]}),  # all features are known
        ({"x": "feature"}, {"quasi": ["age"]}),
        ({"code": "feature"}, {"quasi": ["age", "x"], "feature": ["code"]}),
        ({"code": "quasi"}, {"quasi": ["code", "age", "x"]}),
        ({"x": "sensitive"}, {"sensitive": ["x"]}),
        ({"x": "sensitive", "code": "sensitive"}, {"sensitive": ["code", "x"]}),
    ],
)
def test_roles_become_options(project: Project, roles: dict[str, str], options: dict[str, Any]):
    project.set_roles(said(**roles))
    assert project.source_options | options == project.source_options
    named = [c for v in project.source_options.values() for c in (v if isinstance(v, list) else [])]
    assert len(named) == len(set(named))  # no column has two roles


@pytest.mark.parametrize(
    ("roles", "words"),
    [
        ({"ill": "quasi"}, "choose the target"),
        ({"x": "target"}, "only one column can be the target, but 'x', 'ill' are"),
        ({"x": "drop", "age": "drop"}, "every column is left out"),
        ({"y": "quasi"}, "not the columns of this table"),
        ({"x": "king"}, "not the columns of this table"),
    ],
)
def test_roles_that_cannot_be_are_refused_and_change_nothing(
    project: Project, roles: dict[str, str], words: str
):
    before = dict(project.roles)
    with pytest.raises(InputError, match=words):
        project.set_roles(said(**roles))
    assert project.roles == before


def test_what_was_said_stays_when_the_table_is_read_again(project: Project):
    project.set_roles(said(x="target", ill="drop"))
    project.believe(
        {"columns": [*LOOK["columns"], {"name": "new", "role": "target", "telling": False}]}
    )
    assert project.roles["x"] == "target"
    assert project.roles["new"] == "quasi"  # there is a target already


def test_everything_is_found_again_after_a_restart(project: Project, tmp_path: Path):
    project.settings = {"k": 7, "max_pbi": None, "methods": []}
    project.row_is_person = True
    project.save()
    again = Workspace(tmp_path / "space", kept=True).projects[project.id]
    assert again == project
    assert again.release_options["k"] == 7
    assert "max_pbi" not in again.release_options
    assert 'target = "ill"' in (project.folder / "tamis.toml").read_text()


def test_a_change_makes_what_was_found_stale(project: Project):
    project.audited, project.compared = project.source_options, dict(project.release_options)
    project.write("audit.json", "{}")
    project.drafts = {"a": "0"}
    assert project.is_audited
    assert project.is_compared
    project.settings = {"k": 9}
    assert project.is_audited
    assert not project.is_compared
    project.roles["x"] = "feature"
    assert not project.is_audited


def test_the_suggested_release_needs_no_name_and_any_other_is_taken(project: Project):
    project.suggested = "a + b"
    assert "--choose-release" not in project.release_command("a + b")
    assert project.release_command("c", "out").endswith("--choose-release=c --out out")


def test_only_drafts_that_no_page_shows_are_deleted_after_a_stop(project: Project):
    project.forget_drafts()
    project.drafts = {"age": "0"}
    drafts = project.folder / "drafts"
    for name in ("0", "1"):
        (drafts / name).mkdir()
        (drafts / f"{name}-shown.json").touch()
    project.forget_unfinished()
    assert {left.name for left in drafts.iterdir()} == {"0", "0-shown.json"}


def test_a_dropped_table_is_named_as_the_person_knows_it(project: Project):
    assert project.command("audit", {}) == "tamis audit /data/stays.csv"
    project.own = True
    assert project.command("audit", {}) == "tamis audit stays.csv"
    assert project.arguments("audit", {}) == ["audit", "/data/stays.csv"]


def test_a_workspace_is_private_used_by_one_server_and_no_other_folder(tmp_path: Path):
    with opened_workspace(str(tmp_path / "space")) as space:
        assert space.folder.stat().st_mode & 0o777 == 0o700
        with (
            pytest.raises(InputError, match="another tamis serve is using"),
            opened_workspace(str(tmp_path / "space")),
        ):
            pass
    with opened_workspace(str(tmp_path / "space")):
        pass
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.doc").touch()
    refused = {"full": "has other files", "full/thesis.doc": "is a file", "none/space": "cannot"}
    for wrong, words in refused.items():
        with pytest.raises(InputError, match=words), opened_workspace(str(tmp_path / wrong)):
            pass
    assert [p.name for p in (tmp_path / "full").iterdir()] == ["thesis.doc"]


def test_a_workspace_without_a_name_is_removed_and_so_is_what_a_killed_server_left(
    tmp_path: Path, monkeypatch
):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    with opened_workspace() as left:
        (left.folder / "tables" / "file.csv").touch()
        remove_leftovers(tmp_path)
        assert left.folder.is_dir()  # it is in use
    assert list(tmp_path.iterdir()) == []
    dead = tmp_path / "tamis-serve-dead"
    dead.mkdir()
    (dead / MARK).write_bytes(TEMPORARY)
    other = tmp_path / "tamis-serve-unmarked"
    other.mkdir()
    with opened_workspace():
        assert not dead.exists()
        assert other.exists()


def contents(folder: Path) -> dict[str, bytes | None]:
    return {
        str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None
        for p in folder.rglob("*")
    }


def test_a_loader_names_what_it_cannot_read_and_leaves_it_alone(tmp_path: Path):
    with opened_workspace(str(tmp_path / "space")) as space:
        good = space.add(Project(space.new_folder(), "stays.csv", "/data/stays.csv"))
        known = json.loads((good.folder / "project.json").read_text())
        odd = {
            "2": known | {"colour": "red"},
            "3": {"name": "x"},
            "4": known | {"drafts": None},
            "5": known | {"keys": [1]},
            "6": known | {"roles": {"a": ["quasi"]}},
            "7": [],
            "notes": known,
            "\N{SUPERSCRIPT TWO}": known,
        }
        tables = space.folder / "tables"
        for name, content in odd.items():
            (tables / name).mkdir()
            (tables / name / "project.json").write_text(json.dumps(content))
        for name, text in {"8": "{", "9": "[" * 100_000, "10": "\ud800"}.items():
            (tables / name).mkdir()
            (tables / name / "project.json").write_bytes(text.encode("utf-8", "surrogatepass"))
        (tables / "11" / "file").mkdir(parents=True)  # a table that did not arrive whole
        (tables / "11" / "file" / "stays.csv").write_text("half")
        (tables / "12").write_text("a file of somebody's")
        (tables / "13" / "project.json").mkdir(parents=True)
        before = contents(tables)
    with opened_workspace(str(tmp_path / "space")) as again:
        assert list(again.projects) == ["1"]
        assert again.unread.keys() == {p.name for p in tables.iterdir()} - {"1"}
        assert "another version of tamis" in again.unread["2"]
        assert "no project.json" in again.unread["11"]
        assert "by a number" in again.unread["notes"]
        assert contents(tables) == before
        new = again.add(Project(again.new_folder(), "new.csv", "/data/new.csv"))
        assert new.id == "14"
        again.forget(new)
    assert contents(tables) == before


def test_a_new_table_takes_a_free_number_where_the_last_is_taken(tmp_path: Path):
    with opened_workspace(str(tmp_path / "space")) as space:
        for taken in ("1", "999999999", "9" * 40):
            (space.folder / "tables" / taken).mkdir()
        assert space.new_folder().name == "2"


def test_a_workspace_that_was_named_is_never_taken_for_a_leftover(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    for before in (None, TEMPORARY):  # a leftover that was given a name since, too
        folder = tmp_path / f"tamis-serve-mine-{before is None}"
        if before:
            folder.mkdir()
            (folder / MARK).write_bytes(before)
        with opened_workspace(str(folder)) as space:
            space.add(Project(space.new_folder(), "stays.csv", "/data/stays.csv"))
        remove_leftovers(tmp_path)
        assert (folder / "tables" / "1" / "project.json").is_file()


def test_a_workspace_whose_tables_are_no_folder_is_refused(tmp_path: Path):
    with opened_workspace(str(tmp_path / "space")) as space:
        (space.folder / "tables").rmdir()
        (space.folder / "tables").write_text("notes")
    with (
        pytest.raises(InputError, match=r"cannot use .* as a workspace"),
        opened_workspace(str(tmp_path / "space")),
    ):
        pass
    assert (tmp_path / "space" / "tables").read_text() == "notes"


def test_rows_without_a_target_are_left_out_where_that_is_ticked(project: Project):
    form = PostedForm({"role-4": ["target"], "drop_unlabelled": ["yes"]})
    said_there = ColumnsForm.sent(project, form)
    assert said_there.ticked == {
        "row_is_person": False,
        "person": "",
        "drop_unlabelled": True,
        "target_bins": "",
    }
    project.audited = project.source_options
    project.drop_unlabelled = said_there.drop_unlabelled
    assert project.source_options["drop_unlabelled"] is True
    assert not project.is_audited
    assert "--drop-unlabelled" in project.command("audit", project.source_options)
    assert ColumnsForm.kept(project).drop_unlabelled


def understood(words: list[str]) -> dict[str, Any]:
    """The options as `tamis release` understands them."""
    with click.Context(release) as ctx:
        release.parse_args(ctx, ["table.csv", *words])
        return dict(ctx.params)


@given(options)
def test_the_flags_mean_what_the_configuration_file_means(given_options: dict[str, Any]):
    with TemporaryDirectory() as folder:
        config = Path(folder) / "tamis.toml"
        config.write_text(toml(given_options), encoding="utf-8")
        wanted = understood(["--config", str(config)])
        found = understood(arguments(given_options, str(config)))
    for name, value in given_options.items():
        meant = tuple(value) if isinstance(value, list) else value
        if name == "attacker":
            name, meant = "threats", tuple(map(Attacker.parse, value))
        assert wanted[name] == found[name] == meant


@given(options)
def test_a_shell_gives_the_command_back_word_for_word(given_options: dict[str, Any]):
    words = ["release", "my 'table'.csv", *arguments(given_options, "tamis.toml")]
    assert shlex.split(in_shell(words)) == ["tamis", *words]


def test_a_command_that_nobody_can_read_becomes_a_file():
    assert flags({"quasi": [f"column {i}" for i in range(LONGEST_FLAGS // 8)]}) is None
    for odd in ("a,b", " a", "a\nb", ""):
        assert flags({"quasi": [odd, "c"]}) is None
        assert arguments({"quasi": [odd]}, "x.toml") == ["--config", "x.toml"]
    assert flags({"target": "a,b"}) == ["--target=a,b"]


def test_who_is_a_person_can_be_chosen(project: Project):
    names = {name: f"role-{at}" for at, name in enumerate(project.roles)}
    roles = {field: ["quasi"] for field in names.values()}
    first = next(iter(names))
    form = PostedForm({**roles, names[first]: ["identifier"], "person": [first]})
    said_there = ColumnsForm.sent(project, form)
    said_there.check_person()
    project.roles, project.person = said_there.roles, said_there.person
    assert project.source_options["person"] == [first]
    assert f"--person={first}" in project.command("audit", project.source_options)
    with pytest.raises(InputError, match="call it “Name”"):
        said_there._replace(roles=dict.fromkeys(names, "quasi")).check_person()
    with pytest.raises(InputError, match="choose one of them"):
        said_there._replace(row_is_person=True).check_person()


def test_a_target_of_numbers_is_cut_where_that_is_typed(project: Project):
    said_there = ColumnsForm.sent(project, PostedForm({"target_bins": [" 10, 20 "]}))
    project.target_bins = said_there.target_bins
    assert project.source_options["target_bins"] == ["10", "20"]
    assert "--target-bins=10,20" in project.command("audit", project.source_options)


def test_the_usual_attacker_knows_what_others_may_know_and_wants_the_secret(project: Project):
    project.set_roles(said(x="feature"))
    assert project.usual_attacker == (["age"], ["ill"])
    project.set_roles(said(x="sensitive"))
    assert project.usual_attacker == (["age"], ["x"])
    project.set_roles(said(x="feature", age="feature"))  # where nothing is said, all may be known
    assert project.usual_attacker == (["age", "x"], ["ill"])


def test_attackers_are_asked_for_as_often_as_there_are(project: Project):
    project.set_roles(said())
    project.settings = {"k": 5, "attacker": ["boss: knows age; k=9", "nurse: knows code, x"]}
    command = project.command("release", project.release_options)
    assert "'--attacker=boss: knows age; k=9' '--attacker=nurse: knows code, x'" in command
    project.check_attackers(project.settings["attacker"])


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("boss: knows agee", "attacker 'boss': no column 'agee' in the table; its columns are"),
        ("boss: knows age; wants ilness", "no column 'ilness'"),
        ("boss: knows who", "knows 'who', which the table has as identifier"),
        ("boss: knows ill", "knows 'ill', which the table has as target"),
        ("boss: knows age; wants x", "wants 'x', which the table has as quasi-identifier"),
        ("boss: knows age; wants code", "wants 'code', which the table has as dropped"),
    ],
)
def test_attackers_who_know_or_want_what_is_something_else_are_refused(
    project: Project, line: str, words: str
):
    project.set_roles(said())
    with pytest.raises(InputError, match=re.escape(words)):
        project.check_attackers([line])


def test_the_audit_is_not_stopped_by_who_might_try(project: Project):
    """Whoever renames a role finds the limits again only behind the audit."""
    project.set_roles(said(x="identifier"))
    project.roles["a, b"] = "drop"  # so that a file has to name it
    project.settings = {"k": 5, "attacker": ["boss: knows x"]}
    project.save()
    ran: list[list[str]] = []

    class State:
        tamis = ("tamis",)

        async def run(self, key: str, work: object, arguments: list[str]) -> None:
            ran.append(arguments)

    asyncio.run(AppState.audit(State(), project))  # type: ignore[arg-type]
    file = Path(ran[0][ran[0].index("--config") + 1])
    assert tomllib.loads(file.read_text()) == project.source_options
