"""What can be asked for: read from forms, shown in forms, and an option of the command."""

from __future__ import annotations

import pytest

from tamis.cli.release import METHODS, release
from tamis.errors import InputError
from tamis.serve.fields import FIELDS, METHOD_WORDS, MODEL_WORDS, offered


def test_what_is_offered_are_options_of_the_command():
    known = [str(p.name) for p in release.params]
    found = offered(known, METHODS)
    assert {"k", "max_pbi", "min_performance", "max_features", "methods"} <= {f.name for f in found}
    assert {f.name for f in found} <= set(known)
    assert [f.name for f in offered(["k"], [])] == ["k"]


def test_methods_are_those_of_the_command_each_with_words():
    field = next(f for f in offered(["methods"], ["noise", "brand-new"]) if f.name == "methods")
    assert field.choices == {"noise": METHOD_WORDS["noise"], "brand-new": "brand-new"}
    assert field.read(["noise"]) == ["noise"]
    with pytest.raises(InputError, match="Ways to find releases: choose one of"):
        field.read(["dp"])


def test_models_that_are_offered_exist():
    from tamis.flow import Settings

    for name in MODEL_WORDS:
        assert Settings(classifier=name).classifier == name


@pytest.mark.parametrize(
    ("name", "typed", "value"),
    [
        ("k", "7", 7),
        ("min_performance", "72,5", 0.725),
        ("max_pbi", "-5", -0.05),
        ("k", "", None),
        ("classifier", "c45", "c45"),
    ],
)
def test_what_is_typed_is_read_and_shown_again(name: str, typed: str, value: object):
    field = FIELDS[name]
    assert field.read([typed]) == value
    assert field.read([field.typed(value)]) == value


@pytest.mark.parametrize(
    ("name", "typed", "words"),
    [
        ("k", "0", "a whole number from 1 to"),
        ("k", "2.5", "a whole number"),
        ("k", "nan", "a whole number"),
        ("k", "1e999", "a whole number"),
        ("min_performance", "101", "a percentage from 0 to 100"),
        ("min_performance", "many", "a percentage"),
        ("classifier", "python", "choose one of"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_what_is_allowed(name: str, typed: str, words: str):
    with pytest.raises(InputError, match=f"{FIELDS[name].label}: {words}"):
        FIELDS[name].read([typed])


def test_every_number_has_words_for_being_set_and_for_being_left_empty():
    for field in FIELDS.values():
        if field.kind in ("count", "share", "number"):
            assert "{}" in field.says
            assert field.unset or field.default is not None
