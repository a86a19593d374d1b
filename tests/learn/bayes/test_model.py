"""The parts of a model: a value says the same alone and among others."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.errors import InputError
from tamis.learn.bayes import AdditiveNaiveBayes
from tamis.learn.bayes.model import ContributionCache, Intervals, NaiveBayes, Rows
from tamis.learn.columns import Coding, Column
from tamis.learn.cv import Folds
from tests.long import LONG

CELLS = st.lists(st.sampled_from([0.0, 1.0, 2.5, 40.0, float("nan")]), min_size=2, max_size=20)


@given(CELLS, st.integers(1, 4))
def test_a_value_is_as_likely_however_often_it_occurs(cells, times):
    values = np.array(cells)
    part = Intervals.fit(values, Rows(np.arange(len(cells)) % 2, np.ones(len(cells)), 2))
    alone = np.column_stack([part.log_likelihoods(np.array([cell])) for cell in cells])
    assert (part.log_likelihoods(np.tile(values, times)) == np.tile(alone, times)).all()


def table(seed: int, n_classes: int, rows: int = 80) -> tuple[pl.DataFrame, np.ndarray]:
    """Numbers, near copies, counts and categories, with holes: ties and near ties abound."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=rows).round(1)
    frame = pl.DataFrame(
        {
            "x": x,
            "copy": x,
            "scaled": x * 1e6,
            "count": rng.integers(0, 3, rows),
            "job": pl.Series(
                rng.choice(["a", "b", "c"], rows), dtype=pl.Enum(["a", "b", "c", "d"])
            ),
            "flag": rng.random(rows) < 0.5,
        }
    )
    holes = pl.Series(rng.random(rows) < 0.1)
    return frame.with_columns(pl.when(~holes).then(pl.all())), rng.integers(0, n_classes, rows)


def every_subset(features: int) -> list[tuple[int, ...]]:
    return [s for size in range(features + 1) for s in combinations(range(features), size)]


def refitted(frame, y, folds, subset, model) -> list[int]:
    """The oracle: fit and predict on the columns of the subset alone."""
    counts = []
    for fold, test in enumerate(folds.tests):
        train = folds.train(fold)
        if not subset:
            labels, sizes = np.unique(y[train], return_counts=True)
            counts.append(int((y[test] == labels[sizes.argmax()]).sum()))
            continue
        part = frame[:, list(subset)]
        fitted = model.fit(part[train], y[train])
        counts.append(int((fitted.predict(part[test]) == y[test]).sum()))
    return counts


@given(st.integers(0, 10_000), st.integers(2, 4), st.sampled_from([None, "data"]))
@settings(max_examples=3 if LONG else 2)
def test_every_subset_is_predicted_as_by_a_fit_on_it(seed, n_classes, precision):
    frame, y = table(seed, n_classes)
    folds = Folds.predefined(np.arange(80) % 2)
    model = AdditiveNaiveBayes(precision=precision)
    cache = ContributionCache(model.naive_bayes, Coding.of(frame).columns(frame), y, folds)
    subsets = every_subset(frame.width)
    expected = [refitted(frame, y, folds, s, model) for s in subsets]
    assert cache.correct(subsets).tolist() == expected
    walked = cache.all_subsets()
    assert [walked[sum(1 << i for i in s)].tolist() for s in subsets] == expected


@given(st.integers(0, 10_000), st.integers(2, 5))
@settings(max_examples=10)
def test_moves_by_one_feature_are_the_subsets_they_lead_to(seed, n_classes):
    frame, y = table(seed, n_classes)
    folds = Folds.predefined(np.arange(80) % 4)
    cache = ContributionCache(NaiveBayes(), Coding.of(frame).columns(frame), y, folds)
    everything = range(frame.width)
    without = [[i for i in everything if i != gone] for gone in everything]
    np.testing.assert_array_equal(cache.drop_ones(), cache.correct(without))
    some = [1, 3, 4]
    without = [[i for i in some if i != gone] for gone in some]
    np.testing.assert_array_equal(cache.drop_ones(some), cache.correct(without))
    added = [[*some, new] for new in everything if new not in some]
    np.testing.assert_array_equal(cache.add_ones(some), cache.correct(added))


@given(st.integers(0, 10_000))
@settings(max_examples=5)
def test_scores_are_the_log_posteriors_of_a_fit(seed):
    frame, y = table(seed, 3)
    folds = Folds.predefined(np.arange(80) % 2)
    cache = ContributionCache(NaiveBayes(), Coding.of(frame).columns(frame), y, folds)
    part = frame.select("x", "job")
    model = AdditiveNaiveBayes().fit(part[folds.train(1)], y[folds.train(1)])
    classes, units = cache.log_scores([0, 4], 1)
    np.testing.assert_array_equal(classes, model.classes_)
    expected = model._units(part[folds.tests[1]])
    np.testing.assert_array_equal(units, expected - expected[0])


@pytest.mark.parametrize("limit", [0, 500, 5_000])
def test_beyond_the_memory_limit_the_results_are_the_same(limit):
    frame, y = table(1, 3)
    folds = Folds.predefined(np.arange(80) % 4)
    columns = Coding.of(frame).columns(frame)
    kept = ContributionCache(NaiveBayes(), columns, y, folds)
    blocks = ContributionCache(NaiveBayes(), columns, y, folds, memory_limit=limit)
    assert kept.kept
    assert not blocks.kept
    np.testing.assert_array_equal(kept.drop_ones(), blocks.drop_ones())
    np.testing.assert_array_equal(kept.all_subsets([0, 2, 4]), blocks.all_subsets([0, 2, 4]))
    np.testing.assert_array_equal(kept.log_scores([2, 5], 3)[1], blocks.log_scores([2, 5], 3)[1])


@pytest.mark.parametrize("together", [0, 100, 400, 10**6])
def test_however_many_subsets_are_summed_together_the_results_are_the_same(together, monkeypatch):
    frame, y = table(4, 3)
    folds = Folds.predefined(np.arange(80) % 4)
    cache = ContributionCache(NaiveBayes(), Coding.of(frame).columns(frame), y, folds)
    monkeypatch.setattr("tamis.learn.bayes.model.TOGETHER", together)
    subsets = every_subset(frame.width)
    walked = cache.all_subsets()
    assert [walked[sum(1 << i for i in s)].tolist() for s in subsets] == (
        cache.correct(subsets).tolist()
    )


def test_the_stated_memory_is_what_is_held():
    frame, y = table(2, 4)
    folds = Folds.predefined(np.arange(80) % 4)
    cache = ContributionCache(NaiveBayes(), Coding.of(frame).columns(frame), y, folds)
    assert cache.nbytes == 8 * 6 * 80 * 3
    assert cache.nbytes == sum(array.nbytes for block in cache._held or [] for array in block)


def test_a_class_that_a_fold_never_trained_on_is_never_right():
    column = Column(np.array([0.0, 0.2, 5.0, 5.2, 0.1, 5.1, 9.0]))
    y = np.array(["a", "a", "b", "b", "a", "b", "c"])
    folds = Folds.predefined([0, 0, 0, 0, 1, 1, 1])
    cache = ContributionCache(NaiveBayes(), [column], y, folds)
    # Fold 1 trains on "a" and "b" only: of its three rows the "c" cannot be right.
    assert cache.correct([[0], []])[:, 1].tolist() == [2, 1]


def test_too_many_features_to_walk_is_an_error():
    columns = [Column(np.arange(6.0))] * 25
    cache = ContributionCache(
        NaiveBayes(), columns, np.arange(6) % 2, Folds.predefined([0, 0, 0, 1, 1, 1])
    )
    with pytest.raises(InputError, match="at most 24 features"):
        cache.all_subsets()
