"""One record an option: what it allows, what it says of the rest, at every door the same."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.errors import InputError
from tamis.option import NUMBERS, Option
from tamis.options.commands import all_options

ENDS = st.none() | st.sampled_from([-1.0, 0.0, 0.5, 1.0, 4.0])
VALUES = st.one_of(
    st.integers(-2, 6),
    st.floats(-2, 6),
    st.sampled_from([float("nan"), float("inf"), True, None, "2", "x"]),
)


@given(st.sampled_from(NUMBERS), ENDS, ENDS, ENDS, ENDS, VALUES)
def test_what_is_allowed_is_what_the_ends_say(kind, least, above, most, below, value):
    option = Option("x", "", kind, default=1, least=least, above=above, most=most, below=below)
    number = type(value) is int or (kind != "count" and type(value) is float)
    inside = number and all(
        (
            least is None or least <= value,
            above is None or above < value,
            most is None or value <= most,
            below is None or value < below,
            abs(value) < float("inf"),
        )
    )
    assert option.allows(value) == inside
    if not inside:
        with pytest.raises(InputError, match=r"x must be a .*, got "):
            option.check(value)


@pytest.mark.parametrize(
    ("option", "words"),
    [
        (Option("x", "", "count", least=1), "a whole number of at least 1"),
        (Option("x", "", "count", least=0, most=4), "a whole number from 0 to 4"),
        (Option("x", "", "share", least=0, most=0.5), "a share between 0 and 0.5"),
        (Option("x", "", "share", above=0, most=1), "a share above 0 and up to 1"),
        (Option("x", "", "share", above=0, below=0.5), "a share above 0 and below 0.5"),
        (Option("x", "", "number", above=0), "a number above 0"),
        (Option("x", "", "number"), "a number"),
        (Option("x", "", "choice", choices=("a", "b")), "one of a, b"),
    ],
)
def test_what_is_allowed_is_said(option: Option, words: str):
    assert option.allowed == words


@pytest.mark.parametrize(
    ("kind", "given", "value"),
    [("count", "7", 7), ("count", 5.0, 5), ("number", "0.5", 0.5), ("share", 1, 1.0)],
)
def test_numbers_are_read_from_texts_and_files(kind: Any, given: Any, value: object):
    found = Option("x", "", kind).read_number(given)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("given", ["", "a", "2.5", "1e3", 2.5, True, None, [1], float("inf")])
def test_what_is_no_whole_number_is_none(given: Any):
    with pytest.raises(InputError, match="--x must be a whole number, got"):
        Option("x", "", "count").read_number(given, "--x")


def test_every_default_and_example_of_the_table_is_allowed():
    for command, option in all_options():
        if option.default is not None:
            assert option.allows(option.default), (command, option.name)
        if option.example is not None:
            assert option.allows(option.example), (command, option.name)
