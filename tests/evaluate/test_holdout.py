"""Rows that no search sees."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.errors import InputError
from tamis.evaluate.holdout import HoldOut, told
from tamis.learn.bayes import AdditiveNaiveBayes
from tamis.learn.judges import seeded


@given(st.integers(8, 60), st.integers(8, 60), st.floats(0.1, 0.5), st.integers(0, 9))
@settings(max_examples=40)
def test_both_parts_have_the_same_mix_and_share_no_row(ones, zeros, share, seed):
    y = np.array([1] * ones + [0] * zeros)
    split = HoldOut.drawn(y, share, seed)
    assert sorted([*split.seen, *split.held]) == list(range(len(y)))
    assert int(y[split.held].sum()) == round(share * ones)
    assert split.is_seen.sum() == len(split.seen)
    again = HoldOut.drawn(y, share, seed)
    assert np.array_equal(split.held, again.held)


def test_too_few_rows_and_a_wrong_share_are_named():
    with pytest.raises(InputError, match="too few"):
        HoldOut.drawn(["a", "b"], 0.25)
    with pytest.raises(InputError, match="between 0 and 1"):
        HoldOut.drawn(["a", "b"] * 10, 1.0)


@pytest.mark.parametrize("name", ["nb", "c45", "logistic", "forest"])
def test_every_kind_of_model_reads_text_and_missing_values(name):
    draw = np.random.default_rng(1)
    jobs = np.array(["cook", "judge", None], dtype=object)[draw.integers(0, 3, 120)]
    ages = [None if a < 25 else a for a in draw.integers(20, 60, 120).tolist()]
    y = np.where([j == "cook" for j in jobs], "yes", "no")
    frame = pl.DataFrame({"job": jobs.tolist(), "age": ages})
    split = HoldOut.drawn(y)
    found = told(seeded(name, 0), frame, y, split.seen, split.held)
    assert found.right.mean() > 0.95
    assert found.surely is not None
    assert found.surely.shape == (len(split.held), 2)


def test_without_features_the_most_frequent_label_is_guessed():
    y = np.array(["a"] * 12 + ["b"] * 8)
    split = HoldOut.drawn(y)
    found = told(AdditiveNaiveBayes(), pl.DataFrame(), y, split.seen, split.held)
    assert set(found.said) == {"a"}
    assert found.right.mean() == 0.6
