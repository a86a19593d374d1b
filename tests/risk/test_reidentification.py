"""The edges of the three attackers."""

import polars as pl
import pytest

from tamis import Table
from tamis.errors import InputError
from tamis.risk.classes import reidentification

FRAME = pl.DataFrame({"job": ["cook", "cook", None]})


def test_a_class_of_five_is_not_above_the_default_threshold():
    assert reidentification(pl.DataFrame({"job": ["cook"] * 5})).prosecutor_above == 0
    assert reidentification(pl.DataFrame({"job": ["cook"] * 4})).prosecutor_above == 1


def test_a_population_may_be_a_table_and_hold_other_columns():
    town = Table(pl.DataFrame({"name": list("abcde"), "job": ["cook"] * 3 + [None] * 2}))
    found = reidentification(FRAME, population=town)
    assert found.journalist == 0.5
    assert found.prosecutor == 1


@pytest.mark.parametrize(
    ("population", "message"),
    [
        ({"name": ["cook"]}, "the population has no column 'job'"),
        ({"job": ["cook", "cook"]}, r"fewer people in the population than in the table \(1 row\)"),
        ({"job": [["cook"]]}, "holds lists"),
    ],
)
def test_wrong_populations(population, message):
    with pytest.raises(InputError, match=message):
        reidentification(FRAME, population=pl.DataFrame(population))


@pytest.mark.parametrize("threshold", [0, -1, 1.5, float("nan")])
def test_wrong_thresholds(threshold):
    with pytest.raises(InputError, match="above 0 and at most 1"):
        reidentification(FRAME, threshold=threshold)
