"""Columns that repeat as ids of people do, at the limits of how many values and rows they have."""

from __future__ import annotations

import polars as pl
import pytest

from tamis.read.repeats import (
    FEWEST_IDS,
    FEWEST_REPEATED,
    FEWEST_ROWS,
    MOST_ROWS,
    repeats_often,
)


def counted(*rows: int) -> pl.Series:
    """A column whose values have so many rows each."""
    return pl.Series("n", [value for value, n in enumerate(rows) for _ in range(n)])


@pytest.mark.parametrize(
    ("rows", "often"),
    [
        ([2] * FEWEST_IDS, True),
        ([2] * (FEWEST_IDS - 1), False),
        ([2] * FEWEST_REPEATED + [1] * 20, True),
        ([2] * (FEWEST_REPEATED - 1) + [1] * 21, False),
        ([int(MOST_ROWS)] * 40, True),
        ([int(MOST_ROWS)] * 39 + [int(MOST_ROWS) + 1], False),
        ([2] * 20 + [1] * 980, True),  # 1.02 rows for each value
        ([2] * 20 + [1] * 981, False),
    ],
)
def test_how_many_values_and_rows_an_id_has(rows: list[int], often: bool) -> None:
    assert (FEWEST_IDS, FEWEST_REPEATED, FEWEST_ROWS, MOST_ROWS) == (30, 20, 1.02, 20.0)
    assert repeats_often(counted(*rows)) == often


def test_dates_flags_and_measured_numbers_number_nobody() -> None:
    numbers = counted(*[2] * 40)
    assert repeats_often(numbers.cast(pl.Float64))
    assert not repeats_often(numbers + 0.5)
    assert not repeats_often(numbers.cast(pl.Date))
