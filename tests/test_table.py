"""Roles and Table."""

import polars as pl
import pytest

from tamis import Roles, Table
from tamis.errors import InputError

FRAME = pl.DataFrame({"id": [1, 2], "age": [3, 4], "job": ["a", "b"], "ill": ["no", "yes"]})


def test_features_leave_out_target_sensitive_and_identifiers():
    table = Table(FRAME, Roles(target="ill", sensitive="job", identifiers=("id",)))
    assert table.features == ("age",)
    assert table.quasi == ("age",)
    assert table.sensitive == "job"


def test_sensitive_defaults_to_the_target():
    assert Table(FRAME, Roles(target="ill")).sensitive == "ill"


def test_dropped_columns_are_gone():
    assert Table(FRAME, Roles(dropped=("id",))).frame.columns == ["age", "job", "ill"]


@pytest.mark.parametrize(
    "roles",
    [
        {"target": "ill", "identifiers": ("ill",)},
        {"sensitive": "job", "quasi": ("job",)},
        {"quasi": ("age", "age")},
        {"identifiers": ("id",), "dropped": ("id",)},
    ],
)
def test_a_role_given_twice_is_refused(roles):
    with pytest.raises(InputError, match="two roles"):
        Roles(**roles)


def test_target_and_sensitive_may_be_the_same():
    assert Table(FRAME, Roles(target="ill", sensitive="ill")).features == ("id", "age", "job")


def test_unknown_columns_are_named_beside_the_known():
    with pytest.raises(InputError, match=r"no column 'agee'.*'age'"):
        Table(FRAME, Roles(quasi=("agee",)))


def test_select_keeps_roles_and_order():
    table = Table(FRAME, Roles(target="ill", quasi=("age", "job"), identifiers=("id",)))
    chosen = table.select(["job"])
    assert chosen.frame.columns == ["id", "job", "ill"]
    assert chosen.quasi == ("job",)


def test_select_refuses_what_is_not_a_feature():
    with pytest.raises(InputError, match="no feature 'ill'"):
        Table(FRAME, Roles(target="ill")).select(["ill"])
