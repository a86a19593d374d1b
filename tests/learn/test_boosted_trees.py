"""The small boosting as a classifier: the same figures, by frames and by columns coded once."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from tamis.learn import boosted_trees
from tamis.learn.boosted_trees import BoostedTrees
from tamis.learn.boosting import Boosting
from tamis.learn.coded_table import CodedTable
from tamis.learn.holdout import fit_predict


def rows(height: int = 400) -> tuple[pl.DataFrame, np.ndarray]:
    draw = np.random.default_rng(0)
    age, job = draw.normal(50, 20, height), draw.choice(["cook", "judge", ""], height)
    ill = (age > 55) ^ (job == "cook") ^ (draw.random(height) < 0.1)
    frame = pl.DataFrame({"age": age, "job": [each or None for each in job.tolist()]})
    return frame, np.where(ill, "yes", "no")


def test_it_is_the_boosting_of_the_yardstick():
    frame, label = rows()
    learn, ask = np.arange(300), np.arange(300, 400)
    expected = Boosting().probabilities(
        CodedTable.of(frame, learn), (label == "yes").astype(int), learn, ask
    )
    assert (np.array(["no", "yes"])[expected.argmax(axis=1)] == label[ask]).mean() > 0.6
    by_frames = BoostedTrees().fit(frame[learn], label[learn])
    np.testing.assert_array_equal(by_frames.predict_proba(frame[ask]), expected)
    by_columns = fit_predict(BoostedTrees(), frame, label, learn, ask)
    np.testing.assert_array_equal(by_columns.probabilities, expected)
    np.testing.assert_array_equal(by_columns.predicted, by_frames.predict(frame[ask]))


def test_it_learns_only_from_the_rows_and_columns_given():
    frame, label = rows()
    learn, ask = np.arange(0, 400, 2), np.arange(1, 400, 2)
    model = BoostedTrees()
    coded = model.code(frame)
    model.fit_coded(coded, label, learn, [1])
    alone = BoostedTrees().fit(frame.select("job")[learn], label[learn])
    np.testing.assert_array_equal(
        model.predict_with_proba_coded(coded, ask)[1], alone.predict_proba(frame.select("job")[ask])
    )
    np.testing.assert_array_equal(
        model.predict_coded(coded, ask), alone.predict(frame[["job"]][ask])
    )


def test_of_very_many_rows_some_are_learnt_from(monkeypatch: pytest.MonkeyPatch):
    frame, label = rows()
    monkeypatch.setattr(boosted_trees, "MOST_LEARNT", 100)
    few = BoostedTrees().fit(frame[::4], label[::4])
    np.testing.assert_array_equal(
        BoostedTrees().fit(frame, label).predict_proba(frame), few.predict_proba(frame)
    )


def test_classes_have_their_own_names_and_order():
    frame = pl.DataFrame({"size": [1.0, 2.0, 3.0] * 30})
    model = BoostedTrees().fit(frame, np.array([7, 3, 5] * 30))
    assert model.classes_.tolist() == [3, 5, 7]
    assert model.predict(frame[:3]).tolist() == [7, 3, 5]
