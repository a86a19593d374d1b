from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.base import clone
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.utils.estimator_checks import check_estimator

from tamis.errors import InputError
from tamis.learn.bayes import AdditiveNaiveBayes
from tamis.learn.bayes.model import MOST_FEATURES
from tamis.learn.columns import Column
from tests.long import LONG


def test_without_a_precision_too_it_is_a_scikit_learn_classifier():
    with warnings.catch_warnings():
        # Raised inside scikit-learn's own checks, where they cast NaN to whole numbers.
        warnings.filterwarnings("ignore", message="invalid value encountered in cast")
        check_estimator(AdditiveNaiveBayes(precision=None), on_skip=None)


def mixed(rng: np.random.Generator, rows: int = 60) -> pl.DataFrame:
    frame = pl.DataFrame(
        {
            "x": rng.normal(size=rows),
            "job": rng.choice(["cook", "judge", "nurse"], rows),
            "count": rng.integers(0, 4, rows),
            "flag": rng.random(rows) < 0.3,
        }
    )
    holes = pl.Series(rng.random(rows) < 0.15)
    return frame.with_columns(pl.when(~holes).then(pl.all()))


def number_likelihood(value, own, everyone, precision):
    """The textbook density, or the probability of the interval that a value is rounded to."""
    if precision is None:
        return norm.pdf(value, np.mean(own), np.std(own))
    distinct = sorted(set(everyone))
    width = np.mean(np.diff(distinct))
    value, own = round(value / width) * width, [round(v / width) * width for v in own]
    normal = norm(np.mean(own), max(np.std(own), width / 6))
    return max(normal.cdf(value + width / 2) - normal.cdf(value - width / 2), 1e-75)


def oracle(train, y, test, precision):
    """Log-posteriors from the definition, cell by cell."""
    classes = np.unique(y)
    answers = []
    for row in test.iter_rows(named=True):
        scores = []
        for label in classes:
            own = train.filter(pl.Series(y == label))
            score = np.log((own.height + 1) / (train.height + len(classes)))
            for name, value in row.items():
                present, everyone = own[name].drop_nulls(), train[name].drop_nulls()
                if value is None:
                    continue
                if everyone.dtype.is_numeric():
                    likelihood = number_likelihood(value, [*present], [*everyone], precision)
                else:
                    categories = max(everyone.n_unique(), 2)
                    likelihood = ((present == value).sum() + 1) / (len(present) + categories)
                score += np.log(likelihood)
            scores.append(score)
        answers.append(scores)
    logs: Any = np.array(answers)
    return logs - np.logaddexp.reduce(logs, axis=1)[:, None]


@given(st.integers(0, 10_000), st.integers(2, 4), st.sampled_from([None, "data"]))
@settings(max_examples=20 if LONG else 8)
def test_posteriors_follow_the_definition(seed, n_classes, precision):
    rng = np.random.default_rng(seed)
    frame, y = mixed(rng), rng.permutation(np.arange(60) % n_classes)
    test = mixed(rng, 6)
    model = AdditiveNaiveBayes(precision=precision, variance_floor=1e-9).fit(frame, y)
    expected = oracle(frame, y, test, precision)
    np.testing.assert_allclose(model.predict_log_proba(test), expected, atol=1e-7)


def test_a_class_without_spread_takes_the_floor_of_its_column():
    x = np.array([[0.0], [0.0], [1.0], [5.0]])
    y = np.array([0, 0, 1, 1])
    part: Any = AdditiveNaiveBayes(precision=None, variance_floor=0.1).fit(x, y).parts_[0]
    np.testing.assert_allclose(part.variances, [0.1 * x.var(), 4.0])
    part = AdditiveNaiveBayes().fit(x, y).parts_[0]
    assert part.width == 2.5
    # 1 and 5 are rounded to 0 and 5: the nearest multiples of the width.
    np.testing.assert_allclose(part.deviations, [2.5 / 6, 2.5])
    np.testing.assert_allclose(part.means, [0.0, 2.5])


def test_gaussian_part_agrees_with_scikit_learn():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 5))
    y = (x[:, 0] + rng.normal(size=200) > 0).astype(int)
    ours = AdditiveNaiveBayes(precision=None, smoothing=1e-9).fit(x, y).predict_proba(x)
    theirs = GaussianNB(var_smoothing=0).fit(x, y).predict_proba(x)
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def test_nominal_part_agrees_with_scikit_learn():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 4, size=(200, 5))
    y = rng.integers(0, 3, 200)
    prior = (np.bincount(y) + 1) / 203
    theirs = CategoricalNB(class_prior=prior).fit(x, y).predict_proba(x)
    ours = AdditiveNaiveBayes(nominal=range(5)).fit(x, y).predict_proba(x)
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def test_weights_count_rows():
    rng = np.random.default_rng(3)
    frame, y = mixed(rng), rng.integers(0, 2, 60)
    weights = rng.integers(0, 4, 60)
    repeated = np.repeat(np.arange(60), weights)
    for precision in (None, "data"):
        model = AdditiveNaiveBayes(precision=precision)
        weighted = clone(model).fit(frame, y, sample_weight=weights).predict_log_proba(frame)
        expected = clone(model).fit(frame[repeated], y[repeated]).predict_log_proba(frame)
        np.testing.assert_allclose(weighted, expected, atol=1e-7)


@pytest.mark.parametrize("convert", [pl.DataFrame.to_pandas, pl.DataFrame.to_arrow])
def test_every_kind_of_frame_gives_the_same(convert):
    rng = np.random.default_rng(4)
    frame, y = mixed(rng), rng.integers(0, 2, 60)
    frame = frame.drop("flag")  # pandas has no missing boolean outside of object columns
    expected = AdditiveNaiveBayes().fit(frame, y).predict_proba(frame)
    other = convert(frame)
    np.testing.assert_array_equal(AdditiveNaiveBayes().fit(other, y).predict_proba(other), expected)


def test_an_array_with_nominal_columns_gives_the_same_as_a_frame():
    rng = np.random.default_rng(5)
    frame, y = mixed(rng).select("x", "job"), rng.integers(0, 2, 60)
    expected = AdditiveNaiveBayes().fit(frame, y).predict_proba(frame)
    coded = frame.with_columns(pl.col("job").rank("dense"))
    array = coded.cast(pl.Float64).to_numpy()
    ours = AdditiveNaiveBayes(nominal=[1]).fit(array, y).predict_proba(array)
    np.testing.assert_array_equal(ours, expected)


@pytest.mark.parametrize("dtype", [object, str])
def test_text_and_numbers_in_one_array(dtype):
    array = np.array([["a", 5], ["a", 6], ["b", 5], ["b", 7]], dtype=dtype)
    model = AdditiveNaiveBayes(nominal=[0]).fit(array, [0, 0, 1, 1])
    assert model.predict(array).tolist() == [0, 0, 1, 1]
    frame = pl.DataFrame({"s": ["a", "a", "b", "b"], "n": [5, 6, 5, 7]})
    same = AdditiveNaiveBayes().fit(frame, [0, 0, 1, 1])
    np.testing.assert_array_equal(model.predict_proba(array), same.predict_proba(frame))


def test_declared_categories_enter_the_laplace_correction():
    values = ["u", "u", "v", "v"]
    y = [0, 0, 1, 1]
    wide = pl.DataFrame({"c": pl.Series(values, dtype=pl.Enum(["u", "v", "w"]))})
    for frame, expected in ((pl.DataFrame({"c": values}), 3 / 4), (wide, 3 / 4)):
        shares = AdditiveNaiveBayes().fit(frame, y).predict_proba(frame)
        assert shares[0, 0] == pytest.approx(expected)
    part: Any = AdditiveNaiveBayes().fit(wide, y).parts_[0]
    np.testing.assert_allclose(
        np.exp(part.log_shares), [[3 / 5, 1 / 5, 1 / 5], [1 / 5, 3 / 5, 1 / 5]]
    )


def test_a_constant_column_and_a_column_without_values_say_nothing():
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=(40, 1)), np.arange(40) % 2
    alone = AdditiveNaiveBayes().fit(x, y).predict_proba(x)
    for filler in (7.0, np.nan):
        wide = np.hstack([x, np.full((40, 1), filler)])
        both = AdditiveNaiveBayes().fit(wide, y).predict_proba(wide)
        np.testing.assert_array_equal(both, alone)


def test_a_class_that_never_shows_a_column_has_no_opinion_on_it():
    frame = pl.DataFrame({"x": [1.0, 2.0, 3.0, None, None, None]})
    y = [0, 0, 0, 1, 1, 1]
    shares = AdditiveNaiveBayes().fit(frame, y).predict_proba(frame)
    np.testing.assert_array_equal(shares, np.full((6, 2), 0.5))


def test_a_tie_goes_to_the_first_class():
    model = AdditiveNaiveBayes().fit(pl.DataFrame({"s": ["a", "a"]}), ["n", "m"])
    assert model.predict(pl.DataFrame({"s": ["a", None]})).tolist() == ["m", "m"]


def test_values_far_from_everything_do_not_overflow():
    x = np.array([[0.0], [0.0], [1.0], [1.0]])
    model = AdditiveNaiveBayes(precision=None).fit(x, [0, 0, 1, 1])
    shares = model.predict_proba(np.array([[1e300], [-1e300], [0.0]]))
    np.testing.assert_allclose(shares, [[0.5, 0.5], [0.5, 0.5], [1.0, 0.0]], atol=1e-9)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"precision": "exact"}, '"data" or None'),
        ({"smoothing": 0}, "smoothing must be a number above 0"),
        ({"variance_floor": -1.0}, "variance_floor must be"),
        ({"nominal": ["zip"]}, "the columns are 'x'"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    with pytest.raises(InputError, match=message):
        AdditiveNaiveBayes(**parameters).fit(pl.DataFrame({"x": [1, 2]}), [0, 1])


def test_a_frame_without_rows_or_features_is_an_error():
    with pytest.raises(InputError, match="one row and one feature"):
        AdditiveNaiveBayes().fit(pl.DataFrame({"x": []}), [])


@pytest.mark.parametrize("kind", [pl.DataFrame, pd.DataFrame, pa.table])
def test_columns_in_another_order_are_an_error(kind):
    model = AdditiveNaiveBayes().fit(kind({"a": [1.0, 2.0], "b": [2.0, 1.0]}), [0, 1])
    with pytest.raises(ValueError, match="feature names"):
        model.predict(kind({"b": [1.0, 2.0], "a": [2.0, 1.0]}))


def test_more_features_than_can_be_summed_exactly_are_refused():
    columns = [Column(np.zeros(2))] * (MOST_FEATURES + 1)
    with pytest.raises(InputError, match="at most 32,768 features, got 32,769"):
        AdditiveNaiveBayes().fit_columns(columns, np.array([0, 1]))


def test_arrow_tables_need_no_pandas():
    table = pa.table({"x": [1.0, 2.0, 8.0, 9.0], "s": ["a", "a", None, "b"]})
    assert AdditiveNaiveBayes().fit(table, [0, 0, 1, 1]).predict(table).tolist() == [0, 0, 1, 1]
