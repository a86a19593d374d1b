"""l-diversity: the worked example and the edges."""

import math

import numpy as np
import polars as pl
import pytest

from tamis.errors import InputError
from tamis.risk.diversity import LDiversity, l_diversity, t_closeness

# The 3-diverse inpatient table of Machanavajjhala et al. 2007, figure 3.
INPATIENTS = pl.DataFrame(
    {
        "zip": ["1305*"] * 4 + ["1485*"] * 4 + ["1306*"] * 4,
        "age": ["<= 40"] * 4 + ["> 40"] * 4 + ["<= 40"] * 4,
        "condition": ["heart", "viral", "cancer", "cancer"]
        + ["cancer", "heart", "viral", "viral"]
        + ["heart", "viral", "cancer", "cancer"],
    }
)


def test_worked_example():
    found = l_diversity(INPATIENTS, "condition")
    assert found.distinct == 3
    assert found.entropy == pytest.approx(2**1.5)
    assert (found.recursive_c, found.recursive_l) == (2.0, 3)
    assert l_diversity(INPATIENTS, "condition", recursive_l=2).recursive_c == 1.0


def test_a_pure_class_leaves_exactly_one_value():
    frame = pl.DataFrame({"job": ["cook"] * 7, "ill": ["flu"] * 7})
    assert l_diversity(frame, "ill") == LDiversity(1, 1.0, 1.0, 1)


def test_a_class_with_too_few_values_is_never_diverse():
    assert l_diversity(INPATIENTS, "condition", recursive_l=4).recursive_c == math.inf


def test_wrong_l():
    with pytest.raises(InputError, match="at least 1, got 0"):
        l_diversity(INPATIENTS, "condition", recursive_l=0)


# The salaries of Li, Li and Venkatasubramanian 2007, section 3: thousands, three classes.
SALARIES = pl.DataFrame(
    {"zip": ["476**"] * 3 + ["4790*"] * 3 + ["4760*"] * 3, "salary": [3, 4, 5, 6, 11, 8, 7, 9, 10]}
)


def test_worked_example_of_closeness():
    assert t_closeness(SALARIES, "salary") == pytest.approx(0.375)
    merged = SALARIES.with_columns(pl.col("zip").replace("476**", "4760*"))
    assert t_closeness(merged, "salary") == pytest.approx(1 / 6)  # the paper prints 0.167


def test_one_class_is_like_the_whole_table():
    frame = SALARIES.with_columns(zip=pl.lit("*"))
    assert t_closeness(frame, "salary") == pytest.approx(0, abs=1e-15)
    assert t_closeness(frame, "salary", distance="equal") == 0


def test_one_sensitive_value_tells_nothing():
    assert t_closeness(SALARIES.with_columns(salary=1), "salary") == 0
    assert t_closeness(SALARIES.with_columns(salary=pl.lit(None, pl.Int64)), "salary") == 0


def test_two_values_are_as_far_apart_either_way():
    frame = SALARIES.with_columns(salary=pl.col("salary") > 5)
    as_number = frame.with_columns(pl.col("salary").cast(pl.Int8))
    assert t_closeness(frame, "salary") == pytest.approx(t_closeness(as_number, "salary"))


@pytest.mark.parametrize("sign", [1, -1])
def test_missing_stands_at_the_end_that_tells_more(sign):
    frame = pl.DataFrame({"job": ["cook", "cook", "judge"], "pay": [None, sign * 9, sign]})
    # With missing next to the judge's pay it would lie in the middle, and t would be 1/3.
    assert t_closeness(frame, "pay") == pytest.approx(0.5)


def test_many_values_need_no_matrix_of_classes_by_values():
    rows = 200_000
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"class": rng.permutation(rows) // 2, "pay": rng.normal(size=rows)})
    assert 0.49 < t_closeness(frame, "pay") <= 0.5


def test_wrong_distances():
    with pytest.raises(InputError, match="'equal', 'ordered' or None"):
        t_closeness(SALARIES, "salary", distance="euclid")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="column 'zip' is nominal"):
        t_closeness(SALARIES, "zip", distance="ordered")
