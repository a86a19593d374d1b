"""Fold by fold against Weka's NaiveBayes."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from tamis.learn.bayes import AdditiveNaiveBayes
from tamis.learn.cv import Folds
from tamis.learn.subset_scores import SubsetScores

FILES = {
    "pima": ("pima", "class"),
    "credit_approval": ("credit_approval", "class"),
    "vehicle": ("vehicle", "class"),
    "ilpd": ("ilpd", "Selector"),
    "mushroom": ("mushroom", "class"),
    "adult_first4000": ("adult_train", "class"),
}


@pytest.mark.parametrize("name", FILES)
def test_every_fold_of_every_subset_is_wekas(name, dataset, golden):
    file, target = FILES[name]
    dealt = pl.read_csv(golden("weka_folds.csv.gz")).filter(dataset=name).sort("row")
    path = dataset(f"{file}.csv.gz")
    frame = pl.read_csv(path, null_values=["?", ""], infer_schema_length=None).head(dealt.height)
    frame = frame.with_columns(pl.col(target).cast(pl.String))
    folds = Folds.predefined(dealt["fold"])
    scores = SubsetScores(frame, AdditiveNaiveBayes(), target=target, cv=folds)
    figures = pl.read_csv(golden("weka_cv.csv")).filter(dataset=name, classifier="NB")
    for row in figures.iter_rows(named=True):
        named = scores.features if row["features"] == "*" else row["features"].split(",")
        percent = np.array([row[f"fold{fold}"] for fold in range(10)])
        expected = np.rint(percent / 100 * folds.sizes).astype(int)
        assert scores.of(named).correct == tuple(expected), row["features"]
        assert scores.of(named).pooled == row["correct"]
