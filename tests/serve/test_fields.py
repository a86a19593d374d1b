"""What can be asked for: read from forms, shown in forms, and an option of the command."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tamis.catalogue.methods import METHODS
from tamis.cli.release import _check_population
from tamis.errors import InputError
from tamis.options.commands import options_of
from tamis.require.attacker import Attacker
from tamis.serve.access import PostedForm
from tamis.serve.app_state import AppState
from tamis.serve.fields import FIELDS, AttackerRow, check_together
from tamis.serve.project import Project
from tamis.serve.steps import settings_sent


def test_what_is_asked_are_options_of_the_command():
    assert [f.name for f in FIELDS.values() if not f.asked.more] == [
        *("k", "l", "t", "max_suppressed", "max_told")
    ]
    assert {f.option for f in FIELDS.values()} <= set(options_of("release"))
    assert len(FIELDS) == 21


def test_methods_are_those_of_the_command_each_with_words():
    field = FIELDS["methods"]
    assert set(METHODS) - set(field.choices or ()) == {"dp"}
    assert field.read(["noise"]) == ["noise"]
    with pytest.raises(InputError, match="Ways to find releases: choose one of"):
        field.read(["dp"])


def test_models_that_are_offered_exist():
    from tamis.flow import Settings

    for name in FIELDS["classifier"].choices or ():
        assert Settings(classifier=name).classifier == name


@pytest.mark.parametrize(
    ("name", "typed", "value"),
    [
        ("k", "7", 7),
        ("min_performance", "72,5", 0.725),
        ("max_pbi", "-5", -0.05),
        ("k", "", None),
        ("classifier", "c45", "c45"),
        ("known_absences", "2", 2),
        ("max_suppressed", "2.5", 0.025),
        ("sampling", "0.001", 0.00001),
        ("population", " everybody.csv ", "everybody.csv"),
        ("attacker", "a: knows x; k=3\r\n\n b: knows x, y", ["a: knows x; k=3", "b: knows x, y"]),
        ("attacker", " \n", None),
    ],
)
def test_what_is_typed_is_read_and_shown_again(name: str, typed: str, value: object):
    field = FIELDS[name]
    assert field.read([typed]) == value
    assert field.read([field.typed(value)]) == value


@pytest.mark.parametrize(
    ("name", "typed", "words"),
    [
        ("k", "0", "a whole number from 1 to 1000000"),
        ("k", "2.5", "a whole number"),
        ("k", "nan", "a whole number"),
        ("k", "1e999", "a whole number"),
        ("min_performance", "101", "a percentage from 0 to 100"),
        ("min_performance", "many", "a percentage"),
        ("classifier", "python", "choose one of"),
        ("known_absences", "5", "a whole number from 0 to 4"),
        ("max_suppressed", "51", "a percentage from 0 to 50"),
        ("sampling", "0", "a percentage above 0 and up to 100"),
        ("max_population_risk", "101", "a percentage from 0 to 100"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_what_is_allowed(name: str, typed: str, words: str):
    with pytest.raises(InputError, match=re.escape(f"{FIELDS[name].asked.label}: {words}")):
        FIELDS[name].read([typed])


def test_every_number_has_words_for_being_set_and_for_being_left_empty():
    for field in FIELDS.values():
        if field.kind in ("count", "share", "number"):
            assert "{}" in field.asked.says
            assert field.asked.unset or field.default is not None


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"population": "a.csv", "sampling": 0.1}, "counts everybody"),
        ({"max_population_risk": 0.1}, "needs to know the population"),
        ({"max_population_risk": 0.0, "population": None}, "needs to know the population"),
    ],
)
def test_settings_that_do_not_go_together_are_refused_as_by_the_command(settings, words):
    with pytest.raises(InputError, match=words):
        check_together(settings)
    unset = ("population", "sampling", "max_population_risk", "delta_presence")
    with pytest.raises(InputError, match=words):
        _check_population(dict.fromkeys(unset) | settings)


@pytest.mark.parametrize("more", [{"sampling": 0.1}, {"population": "a.csv"}])
def test_either_way_to_know_the_population_allows_a_limit(more):
    check_together({"max_population_risk": 0.1, **more})
    check_together(more)


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("neighbour", "an attacker is given as"),
        ("neighbour: k=5", "knows no column"),
        ("neighbour: knows age; k=0", "k must be a whole number of at least 1"),
        ("neighbour: knows age; kk=5", "an attacker has no 'kk'"),
        ("boss: knows age\nBoss: knows sex", "two attackers are called"),
        ("two: knows age, age", "twice; name each once"),
    ],
)
def test_who_is_no_attacker_is_refused_in_the_words_of_the_command(typed: str, words: str):
    with pytest.raises(InputError, match=re.escape(words)):
        FIELDS["attacker"].read([typed])


class Opened:
    """A server with one open folder."""

    place = AppState.place

    def __init__(self, folder: Path) -> None:
        self.opened = (folder.resolve(),)


def asked_for(folder: Path, path: str) -> dict[str, Any]:
    form = PostedForm({"k": ["5"], "population": [path]})
    project = Project(folder, "t.csv", "t.csv")
    return settings_sent(Opened(folder), project, form)  # type: ignore[arg-type]


def test_a_register_is_a_file_in_a_folder_that_is_open(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "all.csv").write_text("a\n1\n")
    (tmp_path / "out.csv").write_text("a\n1\n")
    found = {n: v for n, v in asked_for(tmp_path / "in", "all.csv").items() if v}
    assert found == {"k": 5, "population": str(tmp_path / "in" / "all.csv")}
    assert asked_for(tmp_path / "in", "")["population"] is None
    with pytest.raises(InputError, match="lies outside the folders"):
        asked_for(tmp_path / "in", "../out.csv")
    for path in ("none.csv", "."):
        with pytest.raises(InputError, match="A register of everybody: no file at"):
            asked_for(tmp_path / "in", path)


@pytest.mark.parametrize(
    "line",
    [
        "boss: knows job",
        "boss: knows job,age; wants ill; k=9; l=2; max_told=0.1; t=0.3; known_rows=2",
    ],
)
def test_a_row_says_what_a_line_says(line: str):
    again = AttackerRow.of(line).line
    assert Attacker.parse(again) == Attacker.parse(line)
    assert AttackerRow.of(again) == AttackerRow.of(line)


def test_a_row_that_cannot_be_a_line_is_refused():
    assert AttackerRow().line == ""
    with pytest.raises(InputError, match="has a comma or a semicolon in its name"):
        AttackerRow("boss", ("a, b",)).line  # noqa: B018
    with pytest.raises(InputError, match="must be a percentage, got 'much'"):
        AttackerRow("boss", ("a",), told="much").line  # noqa: B018
    with pytest.raises(InputError, match="the name of an attacker"):
        FIELDS["attacker"].read([AttackerRow("", ("age",)).line])


def test_the_column_that_links_rows_is_a_name_and_no_file():
    assert FIELDS["link"].kind == "column"
    assert FIELDS["link"].read([" course "]) == "course"
