"""Groupings that are too wide for brute force, against polars' own group_by."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tamis import Roles, Table
from tamis.coding import CODE_LIMIT, NARROW
from tamis.errors import InputError
from tamis.risk.anonymity import k_anonymity
from tamis.risk.audit import column_effects, exposure
from tamis.risk.diversity import l_diversity, t_closeness
from tamis.risk.grouping import Grouping, grouped, scope


def wide(columns: int, rows: int = 400) -> pl.DataFrame:
    """Few classes over columns whose codes multiply beyond 64 bits, with missing cells."""
    rng = np.random.default_rng(columns)
    kind = rng.integers(0, 60, rows)
    ends = [None, 0, NARROW - 1]
    return pl.DataFrame(
        {f"c{i}": [ends[e] for e in rng.integers(0, 3, 60)[kind]] for i in range(columns)}
    )


def sizes_by_polars(frame, columns):
    return frame.group_by(columns).len()["len"]


@pytest.mark.parametrize("columns", [3, 4, 7, 40])
def test_sizes_where_codes_overflow(columns):
    frame = wide(columns)
    assert (NARROW**columns >= CODE_LIMIT) == (columns > 3)
    found = grouped(frame, frame.columns)
    sizes = sizes_by_polars(frame, frame.columns)
    assert sorted(found.sizes) == sorted(sizes)
    assert (found.k_anonymity, found.unique_rows) == (sizes.min(), (sizes == 1).sum())
    assert np.bincount(found.class_of).tolist() == found.sizes.tolist()


@pytest.mark.parametrize("columns", [4, 7])
def test_column_effects_where_codes_overflow(columns):
    frame = wide(columns).with_columns(row=pl.int_range(pl.len()) // 3)
    for effect in column_effects(grouped(frame, frame.columns)):
        sizes = sizes_by_polars(frame, [c for c in frame.columns if c != effect.column])
        assert (effect.k_anonymity, effect.unique_rows) == (sizes.min(), (sizes == 1).sum())


def figures(grouping: Grouping) -> tuple[list[int], set[tuple[str, int]]]:
    effects = {(e.column, e.fewer_unique) for e in column_effects(grouping)}
    return sorted(grouping.sizes.tolist()), effects


def test_the_order_of_rows_and_columns_does_not_matter():
    frame = wide(5)
    shuffled = frame.sample(fraction=1, shuffle=True, seed=1)
    expected = figures(grouped(frame, frame.columns))
    assert figures(grouped(shuffled, frame.columns[::-1])) == expected


def test_every_column_of_adult(dataset):
    frame = pl.read_csv(dataset("adult_train.csv.gz"), null_values="?").drop("class")
    found = grouped(frame, frame.columns)
    assert found.unique_rows == frame.is_unique().sum()
    for effect in column_effects(found):
        assert effect.unique_rows == frame.drop(effect.column).is_unique().sum()


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
    assert "no column 'zip'" in str(caught.value)
    assert "Secret" not in str(caught.value)


def test_columns_are_coded_at_once_as_one_after_another(monkeypatch):
    frame = pl.DataFrame({"a": [3, 1, 3, None], "b": ["x", None, "x", "y"], "c": [0.5, 2, 0.5, 1]})
    slow = grouped(frame, frame.columns)
    monkeypatch.setattr("tamis.risk.grouping.SHORT", 0)
    quick = grouped(frame, frame.columns)
    assert quick.keys.codes.tolist() == slow.keys.codes.tolist()
    assert sorted(quick.sizes) == sorted(slow.sizes) == [1, 1, 2]
