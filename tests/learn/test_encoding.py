from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import CategoricalNB

from tamis.errors import InputError
from tamis.learn import columns
from tamis.learn.bayes import AdditiveNaiveBayes
from tamis.learn.columns import Column, EncodedColumns, handles_nominal, ready_for_missing

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
    monkeypatch.setattr(columns, "LARGEST", 8 * 3 * 4)
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
