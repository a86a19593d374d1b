"""Pima in Jafer, Matwin and Sokolova (2017): Tables 1, 2 and 4, Figure 10, on Weka's folds."""

import warnings

import polars as pl
import pytest

from tamis.learn.bayes import AdditiveNaiveBayes
from tamis.learn.c45 import C45Classifier
from tamis.learn.cv import Folds, fold_p_value
from tamis.learn.subset_scores import SubsetScores
from tamis.select.breach import BreachSelector, judge

# subset, PBI and Perf in percent, as printed
TABLE_4 = [
    ("plas mass preg skin pedi age pres", 1.409, 74.875),
    ("plas mass preg skin pedi age", 1.231, 74.744),
    ("plas mass preg skin pedi", 0.889, 74.491),
    ("plas mass preg skin", 0.711, 74.359),
    ("plas mass preg", 0.711, 74.359),
    ("plas mass", 0.882, 74.486),
    ("plas", -1.072, 73.043),
    ("insu pres age pedi skin preg plas", -1.942, 72.401),
    ("insu pres age pedi skin plas", -0.708, 73.312),
    ("insu pres age pedi plas", -1.238, 72.920),
    ("insu pres age plas", -1.241, 72.919),
    ("insu pres plas", -0.893, 73.175),
    ("insu plas", -1.072, 73.043),
]
EVEN, PERFORMANCE, PRIVACY = (0.333, 0.333, 0.333), (0.5, 0.25, 0.25), (0.2, 0.6, 0.2)

# subset, Perf in percent, p-value; both cut after the printed digits
TABLES_1_AND_2 = [
    ("plas mass pres skin age pedi", 75.26, 0.044),
    ("plas mass pres skin age", 75.52, 0.009),
    ("plas mass pres skin", 73.83, 0.931),
    ("plas mass pres", 74.35, 0.599),
    ("plas mass", 74.48, 0.525),
    ("plas", 73.04, 0.626),
    ("skin insu pres mass pedi plas", 73.96, 0.8544),
    ("skin insu pres mass pedi", 66.15, 0.0015),
    ("skin insu pres mass plas", 73.57, 0.9318),
    ("skin insu pres plas", 72.91, 0.6115),
    ("skin insu plas", 73.30, 0.7542),
    ("skin plas", 73.30, 0.7542),
]


@pytest.fixture(scope="module")
def pima(dataset, golden):
    dealt = pl.read_csv(golden("weka_folds.csv.gz")).filter(dataset="pima").sort("row")
    return pl.read_csv(dataset("pima.csv.gz")), Folds.predefined(dealt["fold"])


def selected(pima, estimator, features=None, **given):
    frame, folds = pima
    selector = BreachSelector(estimator, preset="paper", cv=folds, **given)
    X = frame.drop("class") if features is None else frame.select(features)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return selector.fit(X, frame["class"].to_numpy(), sensitive=None)


def chosen(fitted, weights):
    names = ("performance", "privacy", "size")
    found = judge(list(fitted.candidates_), dict(zip(names, weights)))
    return {*fitted.candidates_[found.best].features}, found


@pytest.fixture(scope="module")
def trees(pima):
    return selected(pima, C45Classifier())


def test_table_4_to_the_printed_digit(trees):
    found = {frozenset(c.features): c for c in trees.candidates_}
    assert len(found) == 14
    assert round(100 * trees.baseline_.performance, 3) == pytest.approx(73.835)
    for subset, pbi, performance in TABLE_4:
        candidate = found[frozenset(subset.split())]
        assert 100 * candidate.pbi == pytest.approx(pbi, abs=5.1e-4)
        assert 100 * candidate.performance == pytest.approx(performance, abs=5.1e-4)
        assert candidate.region == ("II" if pbi > 0 else "III")


def test_both_rankings_of_table_4(trees):
    assert trees.search_ == "walk"
    assert " ".join(trees.performance_ranking_) == "plas mass preg skin pedi age pres insu"
    assert " ".join(trees.privacy_ranking_) == "insu pres age pedi skin preg mass plas"


def test_the_three_choices_with_c45(trees):
    assert chosen(trees, EVEN)[0] == {"plas"}
    assert chosen(trees, PERFORMANCE)[0] == {"plas", "mass"}
    assert chosen(trees, PRIVACY)[0] == {"insu", "pres", "age", "plas"}


def test_the_three_choices_of_figure_10_with_naive_bayes(pima):
    fitted = selected(pima, AdditiveNaiveBayes())
    assert chosen(fitted, EVEN)[0] == {"plas"}
    assert chosen(fitted, PERFORMANCE)[0] == {"plas", "mass", "pedi", "preg"}
    best, found = chosen(fitted, PRIVACY)
    assert best == {"plas"}
    tied = [fitted.candidates_[i] for i in found.order[:3]]
    assert [found.scores[i].round(9) for i in found.order[:4]] == [9.8, 9.8, 9.8, 9.4]
    assert [{*c.features} for c in tied] == [{"plas"}, {"plas", "pedi"}, {"plas", "pedi", "skin"}]


def test_performance_and_p_values_of_tables_1_and_2(pima):
    frame, folds = pima
    scores = SubsetScores(frame.drop("preg"), C45Classifier(), target="class", cv=folds)
    every = scores.of(scores.features)
    assert round(100 * every.mean, 2) == 73.70
    for subset, performance, p_value in TABLES_1_AND_2:
        found = scores.of(subset.split())
        assert 100 * found.mean == pytest.approx(performance, abs=0.0101)
        assert fold_p_value(found.scores, every.scores, folds) == pytest.approx(p_value, abs=1e-3)


def test_the_performance_walk_of_table_1_with_pregnancies_hidden(pima):
    frame, folds = pima
    selector = BreachSelector(C45Classifier(), preset="paper", cv=folds)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = selector.fit(
            frame.drop("class", "preg"), frame["class"].to_numpy(), sensitive=frame["preg"]
        )
    assert fitted.cut_ is not None
    assert fitted.cut_.points == (6.5,)
    assert " ".join(fitted.performance_ranking_) == "plas mass pres skin age pedi insu"
    walked = [{*c.features} for c in fitted.candidates_ if "performance ranking" in c.origin]
    assert walked == [{*subset.split()} for subset, _, _ in TABLES_1_AND_2[:6]]
    # Figure 6: with the threshold at the distribution, {plas, mass} is safe and at least as good.
    pair = next(c for c in fitted.candidates_ if {*c.features} == {"plas", "mass"})
    assert pair.region == "IV"
    assert pair.pbi <= fitted.floor_ + 1e-12
