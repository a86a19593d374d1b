from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, make_scorer

from tamis.learn.bayes import AdditiveNaiveBayes
from tamis.learn.c45 import C45Classifier
from tamis.learn.readable import fits_coded
from tamis.learn.subset_scores import SubsetScores


class CodedBayes(AdditiveNaiveBayes):
    """Naive Bayes that codes a table once; it counts how often."""

    codings = 0

    def code(self, features):
        type(self).codings += 1
        return features.columns

    def fit_coded(self, coded, y, rows, columns):
        self.columns_ = columns
        return self.fit_columns([coded[c].take(rows) for c in columns], y[rows])

    def predict_coded(self, coded, rows):
        parts = (
            p.log_likelihoods(coded[c].values[rows]) for p, c in zip(self.parts_, self.columns_)
        )
        return self.classes_[sum(parts, self.prior()[:, None]).argmax(axis=0)]


def table() -> pl.DataFrame:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    labels = np.array(["no", "perhaps", "yes"])  # the first row has the shortest
    return pl.DataFrame(
        {"x": rng.normal(y), "s": rng.choice(["a", "b"], 60), "y": labels[y - y[0]]}
    )


SUBSETS: list[list[str]] = [[], ["x"], ["s"], ["x", "s"]]


@pytest.fixture
def by_fitting(monkeypatch):
    """Make the naive Bayes shortcut look away, so that the coded path is taken."""
    monkeypatch.setattr("tamis.learn.subset_scores.AdditiveNaiveBayes", type("Nothing", (), {}))


def test_the_coded_path_gives_the_same_scores_with_one_coding(by_fitting):
    CodedBayes.codings = 0
    coded = SubsetScores(table(), CodedBayes(), target="y", cv=3).many(SUBSETS)
    assert CodedBayes.codings == 1
    assert coded == SubsetScores(table(), AdditiveNaiveBayes(), target="y", cv=3).many(SUBSETS)


def test_c45_gives_the_same_scores_by_either_path():
    coded, plain = (
        SubsetScores(table(), C45Classifier(), target="y", cv=3, encode=encode).many(SUBSETS)
        for encode in ("auto", "none")
    )
    assert coded == plain
    assert coded[1].pooled > coded[0].pooled  # a number that tells the class does better


def test_a_scorer_of_its_own_takes_the_plain_path(by_fitting):
    CodedBayes.codings = 0
    scorer = make_scorer(accuracy_score)
    scores = SubsetScores(table(), CodedBayes(), target="y", cv=3, scoring=scorer)
    coded = SubsetScores(table(), CodedBayes(), target="y", cv=3)
    assert scores.many(SUBSETS) == coded.many(SUBSETS)
    assert CodedBayes.codings == 1


def test_who_fits_coded_tables():
    assert fits_coded(CodedBayes())
    assert fits_coded(C45Classifier(), "predict_with_proba_coded")
    assert not fits_coded(LogisticRegression())
