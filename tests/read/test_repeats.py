"""Columns that repeat as ids of people do, at the limits of how many values and rows they have."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.read.repeats import (
    FEWEST_IDS,
    FEWEST_REPEATED,
    FEWEST_ROWS,
    MOST_ROWS,
    repeats_like_people,
    repeats_often,
    steadiness,
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


def test_those_who_have_a_nought_in_many_columns_are_nobody() -> None:
    """Pitchers never bat: within nought hits, all other counts are nought, too."""
    rng = np.random.default_rng(1)
    bats = np.append(np.zeros(500, dtype=np.int64), rng.integers(1, 300, 700))
    counts = {name: rng.binomial(bats, share) for name, share in
              {"runs": 0.2, "hits": 0.25, "homers": 0.03, "walks": 0.1}.items()}  # fmt: skip
    frame = pl.DataFrame({"at_bat": bats, **counts})
    assert not any(repeats_like_people(frame, name) for name in frame.columns)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=2, max_size=12))
def test_steadiness_is_its_definition(rows: list[tuple[int, int]]) -> None:
    """Of each row with others in its group, the share of those that agree, against chance."""
    repeated = rows * 12  # enough pairs for it to be told
    groups, values = (np.array(each) for each in zip(*repeated))
    shares = []
    for at, group in enumerate(groups):
        others = [i for i in range(len(groups)) if i != at and groups[i] == group]
        shares.append(np.mean([values[i] == values[at] for i in others]))
    pairs = list(permutations(range(len(values)), 2))
    chance = np.mean([values[a] == values[b] for a, b in pairs])
    expected = 0.0 if chance > 0.95 else (np.mean(shares) - chance) / (1 - chance)
    assert steadiness(groups, values) == pytest.approx(expected)
