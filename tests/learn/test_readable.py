"""Labels and probabilities from one pass are those of `predict` and `predict_proba`."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.svm import LinearSVC

from tamis.catalogue.methods import MODELS
from tamis.learn.columns import Coding, Features
from tamis.learn.models import EncodedColumns, answers, readable, seeded


def coarse(rows: int = 120) -> tuple[pl.DataFrame, np.ndarray]:
    """Few different rows, so that classes tie."""
    draw = np.random.default_rng(5)
    frame = pl.DataFrame(
        {
            "n": draw.integers(0, 3, rows),
            "s": [["a", "b", None][i] for i in draw.integers(0, 3, rows)],
            "t": draw.random(rows) < 0.5,
        }
    )
    return frame, draw.choice(["u", "v", "w"], rows)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("classes", [2, 3])
def test_one_pass_gives_what_the_model_says_by_frames(name, classes):
    frame, y = coarse()
    y = np.where(y == "w", "u", y) if classes == 2 else y
    seen, held = np.arange(80), np.arange(80, 120)
    features = Features.of(frame)
    source, ready = readable(seeded(name, 0), features, ask="predict_with_proba_coded")
    data, model = source.matrix(range(3)), clone(ready)
    labels, shares = answers(model.fit(data[seen], y[seen]), data[held])
    plain: Any
    given: Any
    if name in ("c45", "nb", "small"):
        plain, given = seeded(name, 0), Coding.of(frame).declare(frame)
    else:
        columns = EncodedColumns(features.columns, features.names, "onehot")
        plain, given = clone(ready), columns.matrix(range(3))
    plain.fit(given[seen], y[seen])
    assert labels.tolist() == plain.predict(given[held]).tolist()
    assert shares is not None
    assert np.array_equal(shares, plain.predict_proba(given[held]))


def test_scores_that_round_to_equal_probabilities_are_the_models_to_decide():
    class LogisticRegression:
        __module__ = "sklearn.made"
        classes_ = np.array(["no", "yes"])

        def predict_proba(self, rows):
            return np.array([[0.5, 0.5]] * len(rows))

        def predict(self, rows):
            return np.array(["yes"] * len(rows))

    assert answers(LogisticRegression(), np.zeros((2, 1)))[0].tolist() == ["yes", "yes"]


def test_a_model_without_probabilities_gives_labels():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    labels, shares = answers(LinearSVC().fit(X, y), X)
    assert labels.tolist() == [0, 0, 1, 1]
    assert shares is None
