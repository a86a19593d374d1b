from __future__ import annotations

from datetime import date, datetime, time

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import CategoricalNB

from tamis.errors import InputError
from tamis.learn import models
from tamis.learn.bayes import AdditiveNaiveBayes
from tamis.learn.c45 import C45Classifier
from tamis.learn.columns import (
    Coding,
    Column,
    Features,
    Task,
    frame_of,
    frame_of_array,
    nominal_names,
)
from tamis.learn.models import EncodedColumns, handles_nominal, ready_for_missing
from tamis.table import Roles, Table


def test_a_missing_number_is_nan_and_a_missing_category_is_minus_one():
    frame = pl.DataFrame({"x": [1, None], "s": [None, "b"], "t": [True, None]})
    numbers, text, truth = Coding.of(frame).columns(frame)
    assert np.isnan(numbers.values[1])
    assert numbers.categories is None
    assert (text.values.tolist(), text.categories) == ([-1, 0], 1)
    assert (truth.values.tolist(), truth.categories) == ([1, -1], 2)


def test_an_unknown_category_is_missing():
    coding = Coding.of(pl.DataFrame({"s": ["a", "b"]}))
    assert coding.columns(pl.DataFrame({"s": ["b", "zzz"]}))[0].values.tolist() == [1, -1]


def test_a_polars_categorical_has_the_categories_that_occur():
    frame = pl.DataFrame({"c": pl.Series(["v", None, "u"], dtype=pl.Categorical)})
    assert Coding.of(frame).known == (("u", "v"),)
    assert Coding.of(frame).columns(frame)[0].values.tolist() == [1, -1, 0]


def test_a_column_without_any_value_is_coded():
    frame = pl.DataFrame({"n": pl.Series([None, None], dtype=pl.Null)})
    (column,) = Coding.of(frame).columns(frame)
    assert (column.values.tolist(), column.categories) == ([-1, -1], 0)


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"c": pl.Series(["v", "u"], dtype=pl.Enum(["u", "v", "w"]))}),
        pd.DataFrame({"c": pd.Categorical(["v", "u"], categories=["u", "v", "w"])}),
        pd.DataFrame({"c": pd.Categorical(["v", "u"], categories=["u", "v", "w"], ordered=True)}),
        pa.table({"c": pa.DictionaryArray.from_arrays([1, 0], ["u", "v", "w"])}),
    ],
    ids=["polars", "pandas", "pandas-ordered", "pyarrow"],
)
def test_declared_categories_count_though_unseen(frame):
    polars, declared = frame_of(frame)
    coding = Coding.of(polars, declared=declared)
    (column,) = coding.columns(polars)
    assert coding.known == (("u", "v", "w"),)
    assert column.values.tolist() == [1, 0]


def test_numbers_in_a_pandas_category_are_nominal():
    polars, declared = frame_of(pd.DataFrame({"c": pd.Categorical([7, 5], categories=[5, 6, 7])}))
    (column,) = Coding.of(polars, declared=declared).columns(polars)
    assert (column.values.tolist(), column.categories) == ([2, 0], 3)


def test_nominal_numbers_read_the_same_as_integers_and_floats():
    coding = Coding.of(pl.DataFrame({"x": [3, 5]}), nominal=["x"])
    assert coding.columns(pl.DataFrame({"x": [5.0, 3.0]}))[0].values.tolist() == [1, 0]


def test_an_array_of_objects_keeps_its_text_numbers_and_missing_values():
    array = np.array([["a", 1], [None, 2], [np.nan, None]], dtype=object)
    frame = frame_of_array(array, nominal=[0])
    assert frame["x0"].to_list() == ["a", None, None]
    assert frame["x1"].to_list() == [1.0, 2.0, None]


def test_text_that_is_not_named_nominal_is_an_error_without_the_text():
    with pytest.raises(InputError, match="column 1 of the array") as caught:
        frame_of_array(np.array([["1", "secret"]]))
    assert "secret" not in str(caught.value)


def test_nominal_columns_by_number_and_name():
    assert nominal_names(["a", "b", "c"], [0, "c", 1]) == {"a", "b", "c"}
    assert nominal_names(["a", "b"], np.array([1])) == {"b"}  # type: ignore[arg-type]
    assert nominal_names(["a"], None) == frozenset()
    for wrong in (["d"], [3], [-1]):
        with pytest.raises(InputError, match="'a', 'b', 'c', or by number 0 to 2"):
            nominal_names(["a", "b", "c"], wrong)


def test_text_where_numbers_were_is_an_error_that_names_the_column():
    coding = Coding.of(pl.DataFrame({"age": [1]}))
    with pytest.raises(InputError, match="'age' was numeric"):
        coding.columns(pl.DataFrame({"age": ["old"]}))


def test_infinity_is_an_error():
    frame = pl.DataFrame({"age": [1.0, float("inf")]})
    with pytest.raises(InputError, match="'age' has infinite"):
        Coding.of(frame).columns(frame)


JOB = Column(np.array([1, -1, 0]), categories=3)
FLAG = Column(np.array([1, 0, 1]), categories=2)
AGE = Column(np.array([31.0, np.nan, 47.0]))


def test_one_hot_has_a_column_for_missing_only_where_something_is_missing():
    encoded = EncodedColumns([JOB, FLAG, AGE], ["job", "flag", "age"], "onehot")
    assert encoded.matrix([0]).tolist() == [[0, 1, 0, 0], [0, 0, 0, 1], [1, 0, 0, 0]]
    assert encoded.matrix([1]).tolist() == [[0, 1], [1, 0], [0, 1]]
    np.testing.assert_array_equal(encoded.matrix([2]), AGE.values[:, None])


def test_ordinal_keeps_one_column_a_feature():
    encoded = EncodedColumns([JOB, AGE], ["job", "age"], "ordinal")
    np.testing.assert_array_equal(encoded.matrix([1, 0]), [[31, 1], [np.nan, -1], [47, 0]])


def test_a_giant_one_hot_is_refused_and_names_the_column(monkeypatch):
    monkeypatch.setattr(models, "MOST_ENCODED_BYTES", 8 * 3 * 4)
    with pytest.raises(InputError, match=r"'job' alone has 3 categories.*ordinal"):
        EncodedColumns([FLAG, JOB], ["flag", "job"], "onehot")


def test_only_estimators_that_say_so_handle_nominal_columns():
    assert handles_nominal(AdditiveNaiveBayes())
    for estimator in (LogisticRegression(), CategoricalNB(), HistGradientBoostingClassifier()):
        assert not handles_nominal(estimator)


def test_an_imputer_is_put_only_before_those_that_refuse_nan():
    tolerant = HistGradientBoostingClassifier()
    assert ready_for_missing(tolerant) is tolerant
    model = ready_for_missing(LogisticRegression())
    x = np.array([[0.0, np.nan], [1.0, 5.0], [np.nan, 7.0], [3.0, 9.0]])
    assert model.fit(x, [0, 0, 1, 1]).predict(x).shape == (4,)


def test_dates_are_days_and_keep_their_distances():
    frame = pl.DataFrame(
        {
            "on": [date(1970, 1, 3), None, date(1969, 12, 31)],
            "at": [datetime(1970, 1, 1, 12), None, datetime(1970, 1, 2)],
            "of_day": [time(6), None, time(0)],
        }
    )
    features = Features.of(frame)
    found = [column.values.tolist() for column in features.columns]
    assert str(found) == "[[2.0, nan, -1.0], [0.5, nan, 1.0], [0.25, nan, 0.0]]"
    assert all(dtype == pl.Float64 for dtype in features.frame.dtypes)
    assert Coding.of(frame, nominal=["on"]).known[0] == ("1969-12-31", "1970-01-03")


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
