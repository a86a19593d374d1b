"""Model measures: the right rows, the right columns, the right figures."""

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from tamis import Roles, Table
from tamis.errors import InputError, TamisWarning
from tamis.evaluate.prediction import prediction, prediction_measures


def _rows(seed, count=300, labels=2):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, 2))
    score = x[:, 0] + 0.5 * rng.normal(size=count)
    y = np.digitize(score, [0.0, 1.0][: labels - 1])
    frame = pl.DataFrame({"a": x[:, 0], "b": x[:, 1], "y": [f"l{k}" for k in y]})
    return frame.with_columns(
        t=pl.when(pl.col("a") > 0.3).then(pl.lit("hi")).otherwise(pl.lit("lo"))
    )


TRAIN, TEST = _rows(0), _rows(1)


def test_the_figures_are_those_of_scikit_learn():
    found = prediction(TRAIN, TRAIN.drop("a"), TEST, target="y", positive="l1")
    tree = DecisionTreeClassifier(min_samples_leaf=0.02, max_depth=12, random_state=0)
    coded = [
        f.select("a", "b", hi=pl.col("t") == "hi", lo=pl.col("t") == "lo") for f in (TRAIN, TEST)
    ]
    tree.fit(coded[0].cast(pl.Float32).to_numpy(), TRAIN["y"].to_numpy())
    matrix, truth = coded[1].cast(pl.Float32).to_numpy(), TEST["y"].to_numpy()
    said = tree.predict(matrix)
    assert found.original.accuracy == (said == truth).mean()
    assert found.original.auc == pytest.approx(
        roc_auc_score(truth == "l1", tree.predict_proba(matrix)[:, 1])
    )
    assert found.original.f_measure == f1_score(truth == "l1", said == "l1")
    assert found.released.accuracy < found.original.accuracy
    assert found.rows == 300


def test_more_labels_are_taken_one_against_the_rest():
    train, test = _rows(0, labels=3), _rows(1, labels=3)
    model = LogisticRegression()
    found = prediction(train.drop("t"), train.drop("t"), test, target="y", model=model)
    numbers = [f.select("a", "b").to_numpy().astype(np.float32) for f in (train, test)]
    fitted = model.fit(numbers[0], train["y"])
    expected = roc_auc_score(test["y"], fitted.predict_proba(numbers[1]), multi_class="ovr")
    assert found.original.auc == pytest.approx(expected)
    assert found.original.f_measure is None


def test_a_label_the_release_lost_is_never_right():
    released = TRAIN.filter(pl.col("y") == "l0")
    found = prediction(TRAIN, released, TEST, target="y")
    assert found.released.accuracy == (TEST["y"] == "l0").mean()
    assert found.released.auc == 0.5


def test_one_label_in_the_test_rows_has_no_area():
    found = prediction(TRAIN, TRAIN, TEST.filter(pl.col("y") == "l0"), target="y")
    assert found.original.auc is None


def test_missing_numbers_suit_any_model():
    holes = TRAIN.with_columns(a=pl.when(pl.col("b") > 1).then(None).otherwise("a"))
    found = prediction(TRAIN, holes, TEST, target="y", model=LogisticRegression())
    assert found.released.accuracy > 0.6


def test_identifiers_are_no_features():
    named = TRAIN.with_columns(id=pl.Series(range(300)))
    table = Table(named, Roles(target="y", identifiers=("id",)))
    assert (
        prediction(table, TRAIN, TEST).original
        == prediction(TRAIN, TRAIN, TEST, target="y").original
    )


def test_training_and_testing_on_the_same_rows_is_refused():
    with pytest.raises(InputError, match="test rows are the rows of the original"):
        prediction(TRAIN, TEST, TRAIN.select("y", "t", "a", "b"), target="y")
    with pytest.raises(InputError, match="test rows are the rows of the release"):
        prediction(TRAIN, TEST, TEST, target="y")


def test_test_rows_all_known_from_training_are_suspicious():
    with pytest.warns(TamisWarning, match="every test row is also a row of the original"):
        prediction(TRAIN, _rows(2), TRAIN.head(50), target="y")


def test_measures_for_a_scorecard():
    accuracy, auc = prediction_measures(TEST, target="y")
    assert (accuracy.better, auc.name) == ("max", "auc")
    assert accuracy(TRAIN, TRAIN) == prediction(TRAIN, TRAIN, TEST, target="y").released.accuracy
    assert len(prediction_measures(TEST, target="y", positive="l1")) == 3


@pytest.mark.parametrize(
    ("released", "test", "options", "said"),
    [
        (TRAIN, TEST, {}, "name the target"),
        (TRAIN.drop("y"), TEST, {"target": "y"}, "release has no column 'y'"),
        (TRAIN, TEST.drop("a"), {"target": "y"}, "no column 'a'"),
        (TRAIN, TEST.clear(), {"target": "y"}, "test table needs rows"),
        (TRAIN.select("y"), TEST, {"target": "y"}, "nothing can be learnt"),
        (TRAIN, TEST, {"target": "y", "positive": "l9"}, "positive label"),
        (TRAIN, TEST, {"target": "y", "model": LinearSVC()}, "predict_proba"),
        (
            TRAIN.cast({"a": pl.String}),
            TEST,
            {"target": "y"},
            "'a' contains numbers in the original",
        ),
        (TRAIN, TEST.cast({"a": pl.String}), {"target": "y"}, "text in the test table"),
    ],
)
def test_wrong_input_is_told(released, test, options, said):
    with pytest.raises(InputError, match=said):
        prediction(TRAIN, released, test, **options)
