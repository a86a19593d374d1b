"""The classifier: its contract, its inputs, its edge cases."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections import defaultdict
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import typeof
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from tamis.errors import InputError
from tamis.learn.c45 import C45Classifier, fit, kernels
from tamis.learn.c45.fit import encode
from tamis.learn.c45.kernels import grow_tree, prune
from tests.long import long


@parametrize_with_checks([C45Classifier()])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture
def people():
    rng = np.random.default_rng(3)
    age = rng.integers(18, 80, 300).astype(float)
    job = rng.choice(["cook", "judge", "nurse"], 300)
    member = rng.random(300) < 0.4
    ill = np.where((age > 50) & (job != "judge") | (rng.random(300) < 0.1), "yes", "no")
    age[rng.random(300) < 0.1] = np.nan
    return pl.DataFrame({"age": age, "job": job, "member": member}).with_columns(
        pl.col("age").fill_nan(None)
    ), ill


def test_pandas_polars_and_arrow_frames_give_the_same_tree(people):
    frame, ill = people
    trees = []
    for X in (frame, frame.to_pandas(), frame.to_arrow()):
        model = C45Classifier().fit(X, ill)
        trees.append(str(model.tree_))
        assert (model.predict(X) == ill).mean() > 0.8
    assert trees[0] == trees[1] == trees[2]
    assert "job = judge" in trees[0]


def test_an_array_with_nominal_numbers_equals_the_frame(people):
    frame, ill = people
    coded = encode(frame)
    array = C45Classifier(nominal=[1, 2]).fit(coded.values.T, ill)
    assert (
        array.predict_proba(coded.values.T) == C45Classifier().fit(frame, ill).predict_proba(frame)
    ).all()


def test_an_array_of_text_is_read_with_nominal():
    X = np.array([["a", 1.0], ["b", 2.0], [None, 3.0]] * 4, dtype=object)
    model = C45Classifier(nominal=[0]).fit(X, ["u", "v", "u"] * 4)
    assert model.predict(X[:2]).tolist() == ["u", "v"]
    with pytest.raises(InputError, match="nominal"):
        C45Classifier(nominal=[1]).fit(X, ["u", "v", "u"] * 4)


def test_numbers_named_nominal_split_many_ways():
    X = pl.DataFrame({"code": [3, 5, 9] * 6})
    model = C45Classifier(nominal=["code"]).fit(X, ["a", "b", "a"] * 6)
    assert [child.test for child in model.tree_.root.children] == [
        "code = 3",
        "code = 5",
        "code = 9",
    ]


@pytest.mark.parametrize("kind", ["enum", "categorical"])
def test_a_declared_value_without_rows_predicts_as_its_parent(kind):
    values, declared = ["x", "y", "y"] * 4, ["w", "x", "y"]
    if kind == "enum":
        X = pl.DataFrame({"v": pl.Series(values, dtype=pl.Enum(declared))})
        new = pl.DataFrame({"v": pl.Series(["w"], dtype=pl.Enum(declared))})
    else:
        X = pd.DataFrame({"v": pd.Categorical(values, categories=declared)})
        new = pd.DataFrame({"v": pd.Categorical(["w"], categories=declared)})
    model = C45Classifier().fit(X, ["a", "b", "b"] * 4)
    assert [c.test for c in model.tree_.root.children] == ["v = w", "v = x", "v = y"]
    assert model.tree_.root.children[0].label == "b"
    assert model.predict_proba(new)[0] == pytest.approx([1 / 3, 2 / 3])


def test_an_unseen_value_is_read_as_missing():
    X = pl.DataFrame({"v": ["x", "y", "y"] * 4})
    model = C45Classifier().fit(X, ["a", "b", "b"] * 4)
    shares = model.predict_proba(pl.DataFrame({"v": ["new", None]}))
    assert (shares[0] == shares[1]).all()
    assert shares[0] == pytest.approx([1 / 3, 2 / 3])


def test_numeric_categories_of_pandas_are_nominal():
    X = pd.DataFrame({"v": pd.Categorical([1, 2, 3] * 5)})
    model = C45Classifier().fit(X, ["a", "b", "a"] * 5)
    assert model.predict(X).tolist() == ["a", "b", "a"] * 5
    assert len(model.tree_.root.children) == 3


@settings(max_examples=30)
@given(st.integers(0, 10**6))
def test_weights_count_as_repeated_rows(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (25, 3)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    y, weight = rng.integers(0, 3, 25), rng.integers(0, 4, 25)
    if not weight.any():
        weight[0] = 1
    model = C45Classifier(nominal=[2], confidence=0.5)
    weighted = clone(model).fit(X, y, sample_weight=weight)
    repeated = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    same = np.isin(repeated.classes_, weighted.classes_).all()
    assert same
    declared = [set(v or ()) for v in weighted.tree_.schema.levels]
    if declared == [set(v or ()) for v in repeated.tree_.schema.levels]:
        np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X))


def test_the_same_rows_give_the_same_tree_and_a_pickle_keeps_it(people):
    frame, ill = people
    first, second = (C45Classifier().fit(frame, ill) for _ in range(2))
    kept = pickle.loads(pickle.dumps(first))
    assert str(first.tree_) == str(second.tree_) == str(kept.tree_)
    assert (kept.predict_proba(frame) == second.predict_proba(frame)).all()


def test_a_coded_table_fits_some_rows_and_columns(people):
    frame, ill = people
    rows = np.arange(0, 300, 2)
    coded = encode(frame.with_columns(job=pl.col("job").cast(pl.Enum(["cook", "judge", "nurse"]))))
    model = C45Classifier().fit_coded(coded, ill, rows, columns=[1, 0])
    plain = C45Classifier().fit(frame[rows].select("job", "age"), ill[rows])
    assert str(model.tree_) == str(plain.tree_)
    others = np.arange(1, 300, 2)
    expected = plain.predict(frame[others].select("job", "age"))
    assert (model.predict_coded(coded, others) == expected).all()


def test_no_column_predicts_the_commonest_class(people):
    frame, ill = people
    model = C45Classifier().fit_coded(encode(frame), ill, columns=[])
    assert set(model.predict_coded(encode(frame))) == {"no"}


def test_one_class_and_constant_columns_give_a_leaf():
    X = np.ones((5, 2))
    assert str(C45Classifier().fit(X, [1] * 5).tree_) == ": 1 (5)"
    model = C45Classifier().fit(X, [0, 0, 0, 1, 1])
    assert str(model.tree_) == ": 0 (5/2)"
    assert len(model.tree_) == model.tree_.leaves == 1


def test_a_column_of_missing_values_is_never_used():
    X = pl.DataFrame({"gone": [None] * 8, "v": [1, 1, 1, 1, 2, 2, 2, 2]})
    model = C45Classifier().fit(X, list("aaaabbbb"))
    assert model.tree_.root.feature == "v"
    assert model.predict(X).tolist() == list("aaaabbbb")


def test_pruning_only_makes_the_tree_smaller(people):
    frame, ill = people
    full = C45Classifier(prune=False).fit(frame, ill).tree_
    flat = C45Classifier(raise_subtrees=False).fit(frame, ill).tree_
    assert C45Classifier().fit(frame, ill).tree_.leaves <= full.leaves
    assert flat.leaves < full.leaves


def test_tiny_numbers_need_a_finer_resolution():
    X, y = np.repeat([[1e-7], [2e-7]], 10, axis=0), np.repeat([0, 1], 10)
    assert C45Classifier().fit(X, y).tree_.leaves == 1
    assert (C45Classifier(resolution=0).fit(X, y).predict(X) == y).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"confidence": 0}, "confidence must be a number above 0"),
        ({"confidence": "much"}, "confidence"),
        ({"min_rows": 0}, "min_rows"),
        ({"resolution": -1}, "resolution"),
        ({"nominal": [7]}, "nominal names the column 7"),
        ({"nominal": ["zip"]}, "nominal names the column 'zip'"),
    ],
)
def test_wrong_parameters_are_named(options, words):
    with pytest.raises(InputError, match=words):
        C45Classifier(**options).fit(np.ones((4, 2)), [0, 1, 0, 1])


@pytest.mark.parametrize(
    ("frame", "y", "words"),
    [
        (pl.DataFrame({"x": [1.0, np.inf]}), [0, 1], "infinite"),
        (pl.DataFrame({"x": [1.0, 2.0]}), [0, 1, 1], "expected 2 labels, one per row, got 3"),
        (pl.DataFrame({"x": [1.0, 2.0]}), None, "labels"),
        (pl.DataFrame({"x": []}, schema={"x": pl.Float64}), [], "needs at least one row"),
        (pd.DataFrame({"x": pd.Series([1, "a"], dtype=object)}), [0, 1], "several types"),
    ],
)
def test_wrong_tables_are_named(frame, y, words):
    with pytest.raises(InputError, match=words):
        C45Classifier().fit(frame, y)


def test_wrong_weights_are_named():
    X, y = np.ones((2, 1)), [0, 1]
    with pytest.raises(InputError, match="negative"):
        C45Classifier().fit(X, y, sample_weight=[1, -1])
    with pytest.raises(InputError, match="above 0"):
        C45Classifier().fit(X, y, sample_weight=[0, 0])


def test_prediction_expects_the_columns_of_the_fit(people):
    frame, ill = people
    with pytest.raises(NotFittedError, match="not fitted yet"):
        C45Classifier().predict(frame)
    model = C45Classifier().fit(frame, ill)
    with pytest.raises(ValueError, match="feature"):
        model.predict(frame.drop("job"))
    with pytest.raises(InputError, match="'job' was text"):
        model.predict(frame.with_columns(job=1))
    with pytest.raises(InputError, match="'age' was numeric"):
        model.predict(frame.with_columns(age=pl.lit("old")))


def test_arrow_dictionaries_are_nominal():
    table = pa.table({"v": pa.array(["x", "y"] * 5).dictionary_encode()})
    assert C45Classifier().fit(table, [0, 1] * 5).predict(table).tolist() == [0, 1] * 5


@long
def test_importing_the_classifier_leaves_numba_alone():
    code = "import sys, tamis.learn.c45; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_whatever_the_input_each_kernel_is_compiled_once():
    X = np.array([[1.0, 5.0], [2.0, np.nan], [3.0, 6.0], [4.0, 5.0], [np.nan, 6.0], [6.0, 5.0]])
    y = [0, 0, 0, 1, 1, 1]
    for table in (X, np.asfortranarray(X), X.astype(np.float32), X[::-1, ::-1], X[:, :1]):
        C45Classifier(nominal=[0]).fit(table, y).predict(table)
        C45Classifier(prune=False, mdl=False, min_rows=1).fit(table, list("aaabbb")).predict(table)
        C45Classifier(raise_subtrees=False).fit(table, y, sample_weight=[1, 2, 1, 2, 1, 2])
    C45Classifier().fit(X, [0] * 6).predict(X)
    model = C45Classifier()
    coded = model.code(pl.DataFrame({"v": [1, 2, 3, 4], "w": ["a", None, "b", "a"]}))
    model.fit_coded(coded, [0, 0, 1, 1], rows=[0, 1, 3], columns=[1]).predict_coded(coded, [2])
    coded.values.flags.writeable = False
    model.fit_coded(coded, [0, 0, 1, 1]).predict_coded(coded, np.array([2, 1, 3], np.int8)[::2])
    for kernel in (grow_tree, prune):
        assert len(kernel.signatures) == 1


def test_what_growing_and_pruning_share_is_compiled_once(monkeypatch):
    """Run as plain Python: both hand arguments of the same types to what they share."""
    calls: defaultdict[str, list[Any]] = defaultdict(list)

    def watched(name, function):
        def call(*args):
            calls[name].append(tuple(map(typeof, args)))
            return function(*args)

        return call

    for name, kernel in list(vars(kernels).items()):
        if getattr(kernel, "__module__", None) == kernels.__name__:
            plain = getattr(kernel, "py_func", kernel)
            monkeypatch.setattr(kernels, name, watched(name, plain))
    for name in ("grow_tree", "prune"):
        monkeypatch.setattr(fit, name, getattr(kernels, name))
    X = np.random.default_rng(0).integers(0, 9, (40, 3)).astype(float)
    grown = {}
    for pruned in (False, True):
        with np.errstate(all="ignore"):
            C45Classifier(prune=pruned).fit(X, (X[:, 0] > 4) ^ (X[:, 1] > 6))
        grown[pruned] = len(calls["deal"])
    assert grown[True] > 2 * grown[False] > 0, "pruning deals rows, too"
    assert [len(set(calls[name])) for name in ("deal", "move_rows")] == [1, 1]
