"""l-diversity: the worked example and the edges."""

import math

import polars as pl
import pytest

from tamis.errors import InputError
from tamis.risk.diversity import LDiversity, l_diversity

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
