"""`Settings` take what the table of options says: names, ranges, defaults; and group it."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, get_args

import pytest

from tamis import Settings
from tamis.cli import all_commands
from tamis.errors import InputError
from tamis.option import NUMBERS
from tamis.options.commands import option_of, options_of
from tamis.options.release import FORMATS
from tamis.require import options_of_groups
from tamis.require.k import ContainmentAnonymity
from tamis.rows import EngineName, EngineOptions
from tamis.settings import Format, PromiseSettings
from tamis.stated import MOST_ABSENCES

NAMES = {each.name for each in fields(Settings)}
OPTIONS = {o.dest: o for o in options_of("release") if o.dest in NAMES and o.name != "format"}
BEYOND = {"methods": None}
"""What Python calls nothing, where the command line names what is used."""


def test_every_setting_but_the_secret_is_an_option():
    assert set(OPTIONS) == NAMES - {"secret", "format"}
    assert get_args(Format) == (*FORMATS, "auto")


def test_defaults_are_those_of_the_table():
    usual = Settings()
    for name, option in OPTIONS.items():
        if option.kind not in ("flag", "weights"):
            assert getattr(usual, name) == BEYOND.get(name, option.default), name


def outside(option):
    """A number just beyond each end of an option."""
    step = 1 if option.kind == "count" else 1e-6
    ends = ((option.least, -step), (option.above, 0), (option.most, step), (option.below, 0))
    return [end + beyond for end, beyond in ends if end is not None]


NUMBERED = sorted(name for name, option in OPTIONS.items() if option.kind in NUMBERS)


@pytest.mark.parametrize("name", NUMBERED)
def test_what_is_out_of_range_is_refused_in_python_and_on_the_command_line(name):
    (release,) = (each for each in all_commands() if each.name == "release")
    option = OPTIONS[name]
    assert outside(option)
    for value in outside(option):
        with pytest.raises(InputError, match=f"{name} must be"):
            Settings(**dict[str, Any]({name: int(value) if option.kind == "count" else value}))
        with pytest.raises(InputError) as refused:
            release.make_context("release", ["t.csv", f"{option.flag}={value:.12g}"])
        assert str(refused.value).startswith(f"{option.flag} must be {option.allowed}")


def test_what_belongs_together_is_a_record():
    asked = Settings(k=7, max_told=0.1, search_rows=500, take="job", seed=3, sampling=0.5)
    parts = (
        asked.promises,
        asked.choice,
        asked.population,
        asked.search,
        asked.output,
        asked.draws,
    )
    assert asked.k == asked.promises.k == 7
    assert asked.choice.max_told == 0.1
    flat = {name: value for part in parts for name, value in vars(part).items()}
    assert {**flat, "threats": [], "rule_measures": [], "max_suppressed": 0.0} == asked.to_dict()
    assert Settings(**asked.to_dict()) == asked
    with pytest.raises(InputError, match="caution must be a number of at least 0, got -1"):
        type(asked.choice)(caution=-1)


def test_what_a_requirement_takes_is_asked_by_every_door():
    for command in ("release", "coarsen"):
        assert set(options_of_groups().values()) <= {*options_of(command)}
    assert set(options_of_groups()) <= {each.name for each in fields(PromiseSettings)}
    with pytest.raises(InputError, match="k must be a whole number of at least 1, got 0"):
        PromiseSettings(k=0)


def test_the_engines_are_those_of_the_table():
    assert get_args(EngineName) == option_of("release", "engine").choices
    usual = EngineOptions()
    for each in fields(EngineOptions):
        assert getattr(usual, each.name) == option_of("release", each.name).default


def test_as_many_absences_may_be_asked_for_as_a_manifest_may_state():
    assert option_of("release", "absences").most == MOST_ABSENCES


def test_no_absence_is_known_unless_it_is_said():
    option = option_of("release", "absences")
    assert (option.default, option.least) == (0, 0)
    assert ContainmentAnonymity(5) == ContainmentAnonymity(5, 0)
    assert "absences" not in ContainmentAnonymity(5).stated()
