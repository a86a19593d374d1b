"""The folds that Weka deals, against a record of them and by their properties."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.weka_folds import JavaRandom, weka_folds


def test_java_draws_as_its_documentation_says():
    random = JavaRandom(1)
    assert [random.below(10) for _ in range(8)] == [5, 8, 7, 3, 4, 4, 4, 6]
    assert [JavaRandom(seed).below(16) for seed in range(3)] == [11, 11, 11]


@settings(deadline=None, max_examples=50)
@given(st.lists(st.sampled_from("abc"), min_size=6, max_size=80), st.integers(2, 6))
def test_folds_are_even_in_rows_and_in_each_class(labels, folds):
    found = weka_folds(labels, folds)
    sizes = np.bincount(found, minlength=folds)
    assert sizes.max() - sizes.min() <= 1
    for label in set(labels):
        of_label = np.bincount(found[np.array(labels) == label], minlength=folds)
        assert of_label.max() - of_label.min() <= 1


@pytest.mark.parametrize(
    ("name", "target"),
    [("pima", "class"), ("vehicle", "class"), ("ilpd", "Selector"), ("mushroom", "class")],
)
def test_the_folds_are_those_that_weka_recorded(dataset, golden, name, target):
    dealt = pl.read_csv(golden("weka_folds.csv.gz")).filter(dataset=name).sort("row")
    frame = pl.read_csv(dataset(f"{name}.csv.gz"), infer_schema=False)
    np.testing.assert_array_equal(weka_folds(frame[target].to_list()), dealt["fold"])
