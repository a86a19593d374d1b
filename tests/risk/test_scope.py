"""What a question of risk is about, and the questions that make no sense."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tamis import Roles, Table
from tamis.errors import InputError
from tamis.risk.audit import exposure
from tamis.risk.classes import k_anonymity
from tamis.risk.diversity import l_diversity, t_closeness
from tamis.risk.grouping import scope

FRAME = pl.DataFrame(
    {"id": [1, 2, 3], "age": [3, 3, None], "job": ["a", "a", None], "ill": ["no", "yes", "no"]}
)


def test_roles_of_a_table_are_the_default():
    table = Table(FRAME, Roles(target="ill", identifiers=("id",)))
    asked = scope(table)
    assert (asked.quasi, asked.sensitive) == (("age", "job"), "ill")


def test_the_sensitive_column_is_never_a_quasi_identifier_by_default():
    table = Table(FRAME, Roles(target="ill", identifiers=("id",)))
    assert scope(table, sensitive="job").quasi == ("age",)
    assert scope(FRAME, sensitive="job").quasi == ("id", "age", "ill")


def test_an_attacker_may_know_the_target_where_asked():
    table = Table(FRAME, Roles(target="ill"))
    assert k_anonymity(table, ["age", "ill"]) == 1


@pytest.mark.parametrize("kind", [FRAME, FRAME.to_pandas(), FRAME.to_arrow()])
def test_every_kind_of_frame_gives_the_same(kind):
    assert isinstance(kind, (pl.DataFrame, pd.DataFrame, pa.Table))
    assert k_anonymity(kind, ["age", "job"]) == 1
    assert k_anonymity(kind[:2] if kind is not FRAME else FRAME.head(2), ["age", "job"]) == 2


@pytest.mark.parametrize(
    ("quasi", "message"),
    [
        ([], "no quasi-identifiers"),
        (["age", "zip"], "no column 'zip' in the table; its columns are 'id', 'age', 'job'"),
        (["age", "age"], "'age' is named twice"),
        ("age", "list of column names, got a string"),
    ],
)
def test_wrong_quasi_identifiers(quasi, message):
    for measure in (k_anonymity, lambda data, quasi: exposure(data, quasi=quasi)):
        with pytest.raises(InputError, match=message):
            measure(FRAME, quasi)


@pytest.mark.parametrize("measure", [l_diversity, t_closeness])
def test_wrong_sensitive_columns(measure):
    with pytest.raises(InputError, match="needs a sensitive column"):
        measure(FRAME)
    with pytest.raises(InputError, match="no column 'pay'"):
        measure(FRAME, "pay")
    with pytest.raises(InputError, match="'job' is both sensitive and a quasi-identifier"):
        measure(FRAME, "job", ["age", "job"])


def test_a_table_without_rows():
    with pytest.raises(InputError, match="no rows"):
        k_anonymity(FRAME.clear())


def test_messages_show_no_cell():
    with pytest.raises(InputError) as caught:
        k_anonymity(pl.DataFrame({"name": ["Secret"]}), ["zip"])
    assert "Secret" not in str(caught.value)
