"""Former names of options keep working, as flags and in a configuration file."""

from __future__ import annotations

import pytest

from tamis.cli import all_commands
from tamis.cli.options import TableOption, named_once
from tamis.errors import InputError
from tamis.option import as_flag
from tamis.options.commands import all_options, options_of

OLD = {
    "take": "--choose-release",
    "again": "--reproduce",
    "beside": "--earlier",
    "write": "--output-format",
    "absences": "--known-absences",
}


def test_every_name_that_was_replaced_is_known():
    assert {old: o.flag for o in options_of("release") for old in o.old} == OLD


@pytest.mark.parametrize("old", OLD)
def test_a_former_flag_is_taken_and_not_shown(run, old):
    (release,) = (each for each in all_commands() if each.name == "release")
    dest = next(option.dest for option in options_of("release") if old in option.old)
    value = {"absences": "1", "write": "csv"}.get(old, "x")
    found = release.make_context("release", ["t.csv", as_flag(old), value]).params
    same = release.make_context("release", ["t.csv", OLD[old], value]).params
    assert found[dest] == same[dest] not in (None, (), 0)
    assert as_flag(old) not in run("release", "--help-all").out.split()


@pytest.mark.parametrize("old", OLD)
def test_who_gives_a_former_flag_is_told_the_new_one(run, old):
    said = f"tamis: {as_flag(old)} is now called {OLD[old]}; both work\n"
    given = [f"{as_flag(old)}=1", "--target", "y"]
    assert run("release", "no.csv", *given).err.startswith(said)
    assert said not in run("release", "no.csv", *given, "--quiet").err
    assert said not in run("release", "no.csv", OLD[old], "1", "--target", "y").err


def test_a_former_name_in_a_file_is_the_same_option():
    own = options_of("release")
    assert named_once("f", {"write": "csv"}, own) == {"output_format": "csv"}
    assert named_once("f", {"choose_release": "a"}, own) == {"take": "a"}
    assert named_once("f", {"beside": ["d"]}, options_of("curve")) == {"compare_with": ["d"]}
    with pytest.raises(InputError, match=r"f: .* are one option; give it once"):
        named_once("f", {"write": "csv", "output_format": "csv"}, own)


def test_no_name_of_an_option_is_that_of_another_of_the_same_command():
    for command in {name for name, _ in all_options()}:
        spelt = [name for option in options_of(command) for name in option.spellings]
        assert len(spelt) == len(set(spelt)), command


def test_what_click_has_is_what_the_table_lists():
    commands = {each.name: each for each in all_commands()}
    for name in commands:
        table = next(
            o for o in ("select " + str(name), str(name)) if o in {c for c, _ in all_options()}
        )
        params = [p for p in commands[name].params if isinstance(p, TableOption)]
        assert tuple(p.option for p in params) == options_of(table)
