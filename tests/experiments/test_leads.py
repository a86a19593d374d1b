"""Grids of what was tried, on made results."""

import polars as pl

from experiments.fletcher.partition import BUDGETS, _cells
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
