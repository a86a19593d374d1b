"""Leads: grids of what was tried, on made results, and those that arithmetic decides."""

from itertools import product
from operator import mul

import numpy as np
import polars as pl
import pytest
from scipy import stats

from experiments.fletcher.partition import BUDGETS, _cells
from experiments.fletcher.printed import pairs
from experiments.jafer.printed import TABLE_7
from experiments.zhang.beyond import kernel_grid, lead_grid
from experiments.zhang.printed import ADULT, CM, FULL, HAMDIST, MAXIMAL, SIZES


def test_another_encoding_is_shown_beside_the_print():
    sizes = {method: [int(n) for n in SIZES[ADULT][method]] for method in (MAXIMAL, HAMDIST)}
    grid = lead_grid({"lead": {"density": 0.27955, "sizes": sizes}})
    assert grid.rows[:2] == [[MAXIMAL, "8, 8, 7", "8, 8, 7"], [HAMDIST, "9, 9, 8", "9, 9, 8"]]
    assert grid.rows[2] == ["share of ones", "27.955%", "27.9%"]


def test_a_kernel_is_shown_beside_the_print():
    grid = kernel_grid({"kernels": {CM: {"1": 0.8604, "100": 0.861}, FULL: {"1": 0.946, "100": 0}}})
    assert list(grid.head)[1:] == ["cost 1", "cost 100", "printed"]
    assert grid.rows == [[CM, 0.86, 0.861, 0.86], [FULL, 0.946, 0, 0.95]]


def test_words_about_curves_become_cells():
    level = list(BUDGETS)
    near = {"rld": 0.1, "rsd": 0.03, "accuracy": 0.9, "right_released": 0.97}
    means = pl.DataFrame({"level": level} | {name: [v] * len(level) for name, v in near.items()})
    assert {cell.verdict for cell in _cells(means)} == {"equal"}
    low = pl.when(pl.col("level") < 0.5).then(0.5).otherwise(pl.col("accuracy"))
    found = {c.row: c for c in _cells(means.with_columns(accuracy=low, right_released=0.7))}
    assert found["Rule Accuracy"].ours == "0.70"
    assert found["Prediction Accuracy"].ours == "0.50, 0.90"
    assert found["RSD"].verdict == "equal"


def ranks_of_20(row, score=None):
    """The ranks of 20 candidates that give a score of Table 7 by the weights of its row."""
    weights, _, printed = TABLE_7[row]
    shares, hundredfold = [round(100 * w) for w in weights], round(100 * float(score or printed))
    every = product(range(1, 21), repeat=3)
    return {r for r in every if sum(map(mul, shares, r)) == hundredfold}


def test_a_dropped_digit_and_two_swapped_scores_make_table_7_fit():
    assert TABLE_7[0][1] == TABLE_7[1][1]
    assert ranks_of_20(0) & ranks_of_20(1) == set()
    assert ranks_of_20(0) & ranks_of_20(1, "16.15") == {(20, 1, 16), (18, 4, 19)}
    assert TABLE_7[3][1] == TABLE_7[4][1]
    assert ranks_of_20(4) == set()
    swapped = ranks_of_20(3, TABLE_7[4][2]) & ranks_of_20(4, TABLE_7[3][2])
    assert swapped == {(1, 20, 6)}
    assert (1, 20, 17) in ranks_of_20(2)


@pytest.mark.parametrize(("noise", "expected"), [("UN", (111, 136)), ("GN", (121, 130))])
def test_how_many_observations_the_printed_correlations_leave(noise, expected):
    n = np.arange(3, 1000)
    fits = np.full(len(n), fill_value=True)
    for r, p in pairs(noise).values():
        low, high = ((abs(float(r)) + side * 0.005) for side in (-1, 1))
        fits &= two_sided(high, n) <= float(p) + 0.005
        fits &= two_sided(low, n) >= float(p) - 0.005
    assert (n[fits].min(), n[fits].max()) == expected


def two_sided(r, n):
    return 2 * stats.t.sf(r * np.sqrt((n - 2) / (1 - r**2)), n - 2)
