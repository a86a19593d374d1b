from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t as student
from scipy.stats import ttest_rel

from tamis.errors import InputError
from tamis.learn.cv import Folds, corrected_t_test, fold_p_value, holm, paired_t_test


@given(st.integers(0, 10_000), st.integers(2, 30))
@settings(max_examples=50)
def test_the_paired_test_is_scipys(seed, folds):
    rng = np.random.default_rng(seed)
    first, second = rng.random(folds), rng.random(folds)
    assert paired_t_test(first, second) == pytest.approx(ttest_rel(first, second).pvalue)


def test_no_difference_gives_one_and_a_constant_difference_gives_zero():
    assert paired_t_test([0.7, 0.8, 0.9], [0.7, 0.8, 0.9]) == 1.0
    assert paired_t_test([0.75, 0.5, 1.0], [0.5, 0.25, 0.75]) == 0.0
    assert corrected_t_test([0.75, 0.5], [0.75, 0.5], 1 / 9) == 1.0
    assert corrected_t_test([0.75, 0.5], [0.5, 0.25], 1 / 9) == 0.0


def test_the_corrected_test_by_hand():
    # Differences 1, 2, 3, 6: mean 3, variance 14/3; (1/4 + 1/4) * 14/3 = 7/3.
    t = 3 / np.sqrt(7 / 3)
    expected = 2 * student.sf(t, df=3)
    assert corrected_t_test([1, 2, 3, 6], [0, 0, 0, 0], 0.25) == pytest.approx(expected)


def test_without_overlap_the_corrected_test_is_the_plain_one():
    first, second = [0.9, 0.7, 0.8], [0.6, 0.7, 0.5]
    assert corrected_t_test(first, second, 0.0) == paired_t_test(first, second)
    assert corrected_t_test(first, second, 1 / 9) > paired_t_test(first, second)


def test_the_folds_choose_the_test():
    y = [0, 1] * 10
    first, second = np.linspace(0.5, 0.9, 10), np.linspace(0.52, 0.7, 10)
    once = Folds.predefined(np.arange(20) % 10)
    assert fold_p_value(first, second, once) == paired_t_test(first, second)
    repeated = Folds.stratified(y, 5, repeats=2)
    assert fold_p_value(first, second, repeated) == corrected_t_test(first, second, 4 / 16)


def holm_by_definition(p: list[float], level: float) -> list[bool]:
    """Reject the smallest while p <= level / (number not yet rejected)."""
    rejected = [False] * len(p)
    for step, i in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
        if p[i] * (len(p) - step) > level:
            break
        rejected[i] = True
    return rejected


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=12),
    st.floats(0.01, 0.5),
)
@settings(max_examples=100)
def test_holm_rejects_what_its_definition_rejects(p, level):
    assert (holm(p) <= level).tolist() == holm_by_definition(p, level)


def test_holm_of_nothing_is_nothing():
    assert holm([]).tolist() == []


@pytest.mark.parametrize(
    ("first", "second"), [([1.0], [1.0]), ([1, 2], [1, 2, 3]), ([1, np.nan], [1, 2])]
)
def test_scores_that_cannot_be_paired_are_errors(first, second):
    with pytest.raises(InputError, match="a paired test needs"):
        paired_t_test(first, second)


def test_wrong_numbers_are_errors():
    with pytest.raises(InputError, match="test_ratio"):
        corrected_t_test([1, 2], [1, 3], -1)
    with pytest.raises(InputError, match=r"in \[0, 1\]"):
        holm([0.5, 1.5])
