"""What needs the rows in memory is refused in one place, by the names of settings and options."""

from __future__ import annotations

from dataclasses import fields

import pytest

from tamis.catalogue.methods import METHODS
from tamis.cli.table_source import TableSource
from tamis.errors import InputError
from tamis.rows.memory_only import (
    OF_RECORDS,
    PROPOSED,
    READING,
    RELEASING,
    methods_on_engines,
    refuse_memory_only,
)
from tamis.settings import Settings

OF_COMMAND = {"only_front", "earlier", "register", "released_secrets"}
"""What is asked of the command, or said of the table, besides its settings."""


def test_every_name_is_one_that_can_be_asked_for():
    settings = Settings()
    assert all(not getattr(settings, name) for name in RELEASING.keys() - OF_COMMAND)
    assert {field.name for field in fields(TableSource)} >= READING.keys() - {"secrets"}
    assert all(not getattr(settings, name) for name in OF_RECORDS.keys() - OF_COMMAND)
    assert all(METHODS[name].on_engines for name in PROPOSED.split(","))


@pytest.mark.parametrize("name", RELEASING)
def test_what_is_asked_for_is_refused_in_words(name):
    refuse_memory_only({name: None}, RELEASING)
    refuse_memory_only({name: 1}, RELEASING, [n for n in RELEASING if n != name])
    with pytest.raises(InputError, match=f"^{RELEASING[name].option} .*; pass --engine memory"):
        refuse_memory_only({name: 1}, RELEASING)


def test_methods_that_need_memory_are_left_out_unless_nothing_is_left():
    assert list(methods_on_engines({"front": {}, "containment": {}})) == ["front"]
    with pytest.raises(InputError, match="--methods containment needs the table in memory"):
        methods_on_engines({"containment": {}})
    with pytest.raises(InputError, match=r"'noise' alters cells.* or --methods front"):
        methods_on_engines({"front": {}, "noise": {}})
