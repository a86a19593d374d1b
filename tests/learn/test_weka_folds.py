"""Folds as Weka deals them: against records of the program, and what holds for any labels."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import WekaFolds
from tamis.errors import InputError
from tamis.learn.cv import Folds
from tamis.learn.weka_folds import _JavaRandom


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("pima", "class"),
        ("vehicle", "class"),
        ("ilpd", "Selector"),
        ("credit_approval", "class"),
        ("mushroom", "class"),
        ("adult_first4000", "class"),
    ],
)
def test_the_folds_are_those_that_weka_recorded(name, target, dataset, golden):
    record = pl.read_csv(golden("weka_folds.csv.gz")).filter(dataset=name).sort("row")["fold"]
    file = name.replace("_first4000", "_train")
    labels = pl.read_csv(dataset(f"{file}.csv.gz"), infer_schema=False)[target]
    found = Folds.of(WekaFolds(), labels.head(len(record)).to_numpy())
    for fold, tested in enumerate(found.tests):
        np.testing.assert_array_equal(tested, np.flatnonzero(record == fold))


def test_numbers_are_those_of_java():
    """From its documentation's recurrence, in other words: x' = (25214903917 x + 11) mod 2^48."""
    drawn, state = _JavaRandom(42), (42 ^ 25214903917) % 2**48
    for bound in [10, 16, 2**30 + 1, 3, 1] * 20:
        while True:
            state = (25214903917 * state + 11) % 2**48
            high = state // 2**17
            power = bound in (1, 16)
            if power or high < 2**31 // bound * bound:
                break
        assert drawn.below(bound) == (high * bound // 2**31 if power else high % bound)


@given(st.integers(0, 2**32), st.integers(2, 6), st.randoms(use_true_random=False))
def test_every_row_is_tested_once_and_classes_are_even(seed, folds, random):
    labels = ["a"] * random.randint(folds, 30) + ["b"] * random.randint(folds, 30)
    random.shuffle(labels)
    dealt = Folds.of(WekaFolds(folds, random_state=seed), labels)
    assert sorted(np.concatenate(dealt.tests).tolist()) == list(range(len(labels)))
    assert np.ptp(dealt.sizes) <= 1
    for label in "ab":
        assert np.ptp([(np.array(labels)[test] == label).sum() for test in dealt.tests]) <= 1
    renamed = Folds.of(WekaFolds(folds, random_state=seed), [{"a": 9, "b": 2}[x] for x in labels])
    assert [t.tolist() for t in renamed.tests] == [t.tolist() for t in dealt.tests]


def test_each_repeat_has_the_next_seed():
    labels = ["a", "b", "b"] * 12
    both = Folds.of(WekaFolds(4, repeats=2, random_state=5), labels)
    single = [Folds.of(WekaFolds(4, random_state=seed), labels) for seed in (5, 6)]
    assert both.repeats == 2
    assert len(both) == WekaFolds(4, repeats=2).get_n_splits() == 8
    expected = [t.tolist() for folds in single for t in folds.tests]
    assert [t.tolist() for t in both.tests] == expected


def test_people_are_refused_for_it_would_part_their_rows():
    with pytest.raises(InputError, match="Weka deals rows, not people"):
        Folds.of(WekaFolds(2), [0, 1] * 4, groups=[0, 0, 1, 1, 2, 2, 3, 3])
    with pytest.raises(InputError, match="at most 3 folds"):
        Folds.of(WekaFolds(4), [0, 1] * 3)
