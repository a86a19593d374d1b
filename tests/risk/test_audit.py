"""Every measure from one grouping, as the command shows it."""

import json

import numpy as np
import polars as pl
import pytest

from tamis import Roles, Table
from tamis.risk.anonymity import k_anonymity, reidentification
from tamis.risk.audit import exposure, riskiest_columns
from tamis.risk.diversity import l_diversity, t_closeness
from tamis.risk.grouping import scope


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(5)
    frame = pl.DataFrame(
        {
            "id": np.arange(300),
            "age": rng.integers(20, 60, 300),
            "sex": rng.choice(["f", "m"], 300),
            "town": rng.choice(["x", "y", "z", ""], 300),
            "ill": rng.choice(["no", "yes"], 300),
            "pay": rng.integers(0, 9, 300),
        }
    ).with_columns(pl.col("town").replace("", None), pl.col("pay").replace(0, None))
    return Table(frame, Roles(target="ill", sensitive="pay", identifiers=("id",)))


def test_it_says_what_each_function_says(table):
    found = exposure(table)
    assert (found.rows, found.quasi, found.sensitive) == (300, ("age", "sex", "town"), "pay")
    assert found.k_anonymity == k_anonymity(table)
    grouping = scope(table).grouped()
    assert found.unique_rows == grouping.unique_rows
    assert found.unique_share == grouping.unique_rows / 300
    assert found.class_sizes == grouping.class_sizes
    assert found.classes == sum(c.classes for c in found.class_sizes)
    assert found.reidentification == reidentification(table)
    assert found.l_diversity == l_diversity(table)
    assert found.t_closeness == t_closeness(table)
    assert found.columns == riskiest_columns(table)
    assert found.columns[0].column == "age"


def test_without_a_sensitive_column(table):
    found = exposure(table.frame, quasi=["age"])
    assert (found.sensitive, found.l_diversity, found.t_closeness) == (None, None, None)


def test_json_has_the_stable_names_and_no_row(table):
    figures = json.loads(json.dumps(exposure(table).to_dict(), allow_nan=False))
    assert list(figures) == [
        "rows",
        "quasi",
        "sensitive",
        "k_anonymity",
        "unique_rows",
        "unique_share",
        "classes",
        "class_sizes",
        "reidentification",
        "l_diversity",
        "t_closeness",
        "columns",
        "people",
        "unique_people",
        "unit",
        "likeness",
        "two_rows",
    ]
    assert set(figures["l_diversity"]) == {"distinct", "entropy", "recursive_c", "recursive_l"}
    assert set(figures["class_sizes"][0]) == {"size", "classes", "rows", "people"}
    assert set(figures["columns"][0]) >= {"column", "k_anonymity", "unique_rows"}


def test_arguments_are_left_alone(table):
    before = table.frame.clone()
    exposure(table)
    assert table.frame.equals(before)


def test_adult(dataset):
    frame = pl.read_csv(dataset("adult_train.csv.gz"), null_values="?")
    found = exposure(Table(frame, Roles(target="class", quasi=("age", "sex", "workclass"))))
    groups = frame.group_by("age", "sex", "workclass").len()["len"]
    assert found.k_anonymity == groups.min()
    assert found.unique_rows == (groups == 1).sum()
    assert found.classes == len(groups)
