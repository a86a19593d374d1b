"""C4.5 against figures measured with another program, fold by fold."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from tamis.learn.c45 import C45Classifier
from tamis.learn.c45.fit import encode
from tamis.learn.subset_scores import SubsetScores
from tests.long import LONG, daily

MOST = 500 if LONG else 12
"""How many of the measured subsets of a table are compared."""
DATASETS = ("adult_first4000", "credit_approval", "ilpd", "mushroom", "pima", "vehicle")


def load(path, name):
    """Features as the figures saw them: numbers where all are, else nominal."""
    frame = pl.read_csv(path, infer_schema=False, null_values=["?", ""])
    frame = frame.head(4000) if name == "adult_first4000" else frame
    target = "Selector" if name == "ilpd" else "class"
    features = frame.drop(target)
    for column in features:
        number = column.cast(pl.Float64, strict=False)
        if number.null_count() == column.null_count():
            features = features.with_columns(number)
    return features, frame[target].to_numpy()


@pytest.mark.parametrize("name", daily(DATASETS, "credit_approval", "ilpd", "mushroom", "pima"))
def test_every_fold_equals_the_measured_accuracy(name, dataset, golden):
    file = "adult_train" if name == "adult_first4000" else name
    features, y = load(dataset(f"{file}.csv.gz"), name)
    folds = pl.read_csv(golden("weka_folds.csv.gz")).filter(dataset=name)["fold"].to_numpy()
    figures = pl.read_csv(golden("weka_cv.csv")).filter(dataset=name, classifier="J48")
    figures = figures.gather_every(-(-figures.height // MOST))
    coded = encode(features)
    _, y = np.unique(y, return_inverse=True)
    model = C45Classifier()
    differ = []
    for line in figures.iter_rows(named=True):
        names = features.columns if line["features"] == "*" else line["features"].split(",")
        columns = [features.columns.index(n) for n in names]
        for fold in range(10):
            test = np.flatnonzero(folds == fold)
            model.fit_coded(coded, y, np.flatnonzero(folds != fold), columns)
            share = (model.predict_coded(coded, test) == y[test]).mean()
            if abs(100 * share - line[f"fold{fold}"]) > 1e-4:
                differ.append((line["features"], fold))
    assert figures.height >= 5
    assert not differ


def test_the_coded_path_and_the_frames_agree_under_any_scorer(dataset, golden):
    features, y = load(dataset("credit_approval.csv.gz"), "credit_approval")
    folds = pl.read_csv(golden("weka_folds.csv.gz")).filter(dataset="credit_approval")["fold"]
    frame = features.with_columns(pl.Series("class", y))
    cv = folds.to_numpy()
    coded = SubsetScores(frame, C45Classifier(), target="class", cv=cv)
    scorer = "balanced_accuracy"
    framed = SubsetScores(frame, C45Classifier(), target="class", cv=cv, scoring=scorer)
    some = features.columns[:9]
    assert coded.of(some).correct == framed.of(some).correct
