from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from tamis.errors import InputError
from tamis.learn.bayes import AdditiveNaiveBayes
from tamis.learn.c45 import C45Classifier
from tamis.learn.task import Task
from tamis.table import Roles, Table

FRAME = pl.DataFrame(
    {
        "id": [1, 2, 3],
        "zip": [10, 20, 10],
        "job": ["b", "a", None],
        "vote": ["x", "y", "x"],
        "ill": ["no", "yes", "no"],
    }
)


def test_a_table_brings_its_target_and_features():
    roles = Roles(target="ill", sensitive="vote", identifiers=("id",))
    task = Task.of(Table(FRAME, roles))
    assert task.frame.columns == ["zip", "job"]
    assert task.y.tolist() == ["no", "yes", "no"]


def test_the_sensitive_column_can_be_the_one_to_predict():
    roles = Roles(target="ill", sensitive="vote", identifiers=("id",))
    task = Task.of(Table(FRAME, roles), "vote")
    assert task.frame.columns == ["zip", "job"]
    assert task.y.tolist() == ["x", "y", "x"]


def test_categories_are_those_of_the_whole_table():
    task = Task.of(FRAME, "ill", ["job", "zip"], nominal=["zip"])
    assert task.frame.schema == {"job": pl.Enum(["a", "b"]), "zip": pl.Enum(["10", "20"])}
    assert task.frame["job"].to_list() == ["b", "a", None]


def test_whole_numbers_stored_as_floats_are_classes():
    assert Task.of(FRAME.with_columns(ill=pl.Series([0.0, 1.0, 0.0])), "ill").y.tolist() == [
        0,
        1,
        0,
    ]


@pytest.mark.parametrize(
    ("target", "features", "message"),
    [
        (None, None, "name the column to predict"),
        ("death", None, "no column 'death'; the columns are 'id'"),
        ("ill", ["job", "age"], "no column 'age'"),
        ("ill", ["job", "ill"], "'ill' is the target"),
        ("ill", [], "no features"),
        ("job", None, "'job' is missing in 1 row"),
    ],
)
def test_wrong_columns_are_named(target, features, message):
    with pytest.raises(InputError, match=message):
        Task.of(FRAME, target, features)


def test_fractions_are_no_classes():
    with pytest.raises(InputError, match="contains fractions"):
        Task.of(pl.DataFrame({"x": [1, 2], "y": [0.5, 1.0]}), "y")


@pytest.mark.parametrize("learner", [C45Classifier(), AdditiveNaiveBayes()])
@pytest.mark.parametrize("gap", [None, float("nan")])
def test_missing_labels_are_counted(learner, gap):
    labels = np.array(["yes", gap, "no", gap], dtype=object)
    with pytest.raises(InputError, match="missing in 2 rows"):
        learner.fit(pl.DataFrame({"age": [20, 30, 40, 50]}), labels)
