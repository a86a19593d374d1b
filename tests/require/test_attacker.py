"""An attacker is a record that refuses what cannot be meant, in words that say what to do."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from tamis import Attacker, Roles, Table
from tamis.errors import InputError
from tamis.flow import Settings
from tamis.require.attacker import check_attackers
from tamis.risk.attackers import check_knowledge

TABLE = Table(
    pl.DataFrame({"id": [1, 2], "age": [30, 40], "job": ["a", "b"], "ill": [0, 1], "out": [1, 0]}),
    Roles(target="out", sensitive="ill", identifiers=("id",), dropped=("gone",)),
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("neighbour: k=5", "knows no column"),
        ("neighbour", "is given as"),
        (": knows age", "the name of an attacker must have up to 40"),
        ("x" * 41 + ": knows age", "the name of an attacker must have up to 40"),
        ("a: knows age; k", "is no part of that"),
        ("a: knows age; k=0", "k must be a whole number of at least 1, got 0"),
        ("a: knows age; k=many", "k must be a whole number of at least 1, got 'many'"),
        ("a: knows age; t=2", "t must be a share between 0 and 1"),
        ("a: knows age; ks=2", "an attacker has no 'ks'"),
        ("a: knows age; max_told=2", "max_told must be a share between 0 and 1"),
        ("a: knows age,age", "'age' twice"),
        ("a: knows age; k=2; k=3", "k is given twice"),
        ("a: knows age; wants age", "knows 'age' already"),
        ("a: knows age; l_kind=entropy", "give l, too"),
        ("a: knows age; l=2; c=2", "c is for l_kind=recursive"),
        ("a: knows age; l=2; l_kind=odd", "l_kind must be one of distinct, entropy, recursive"),
    ],
)
def test_what_cannot_be_meant_is_refused(text, words):
    with pytest.raises(InputError, match=words):
        Attacker.parse(text)


@pytest.mark.parametrize(
    ("attacker", "words"),
    [
        (Attacker("a", ["agge"]), "no column 'agge' in the table"),
        (Attacker("a", ["id"]), "knows 'id', which the table has as identifier"),
        (Attacker("a", ["ill"]), "knows 'ill', which the table has as sensitive"),
        (Attacker("a", ["out"]), "knows 'out', which the table has as target"),
        (Attacker("a", ["age"], ["id"]), "wants 'id', which the table has as identifier"),
        (Attacker("a", ["age"], ["job"]), "wants 'job', which .* name what must stay hard"),
        (Attacker("a", ["age"], ["gone"]), "wants 'gone', which the table has as dropped"),
    ],
)
def test_columns_that_an_attacker_cannot_know_or_want_are_refused(attacker, words):
    with pytest.raises(InputError, match=words):
        check_knowledge([attacker], TABLE)


def test_two_of_one_name_are_refused():
    two = Attacker("Boss", ["age"]), Attacker("boss", ["job"])
    with pytest.raises(InputError, match="two attackers are called"):
        check_attackers(two)
    with pytest.raises(InputError, match="two attackers are called"):
        Settings(threats=two)


def test_a_sensitive_column_named_twice_or_an_identifier_is_refused():
    with pytest.raises(InputError, match="named twice"):
        Roles(target="out", sensitive=("ill", "ill"))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="two roles, sensitive and identifier"):
        Roles(target="out", sensitive=("ill", "id"), identifiers=("id",))  # type: ignore[arg-type]


def test_text_table_and_record_are_one():
    text = Attacker.parse("boss: knows age, job; wants ill; k=7; t=0.2; max-told=.1")
    table = Attacker.parse(text.to_dict())
    assert text == table == Attacker("boss", ["age", "job"], ["ill"], k=7, t=0.2, max_told=0.1)
    given: Any = [text, "clerk: knows job"]
    asked = Settings(threats=given)
    assert Settings(**asked.to_dict()) == asked
    assert asked.told_limits == {"ill": 0.1}
    assert not any(limit.measure == "told" for limit in asked.limits)


def test_several_secrets_keep_their_order_and_are_never_features():
    table = TABLE.with_roles(sensitive=("ill", "job"))
    assert table.secrets == ("ill", "job")
    assert table.features == ("age",)
