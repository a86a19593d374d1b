"""Columns as integers, and how they are joined."""

import datetime as dt
from decimal import Decimal
from functools import reduce

import numpy as np
import polars as pl
import pytest

from tamis.risk.grouping import LARGEST, NARROW, Coded, coded, counted, dense, joined

DAY = dt.date(2020, 1, 1)


@pytest.mark.parametrize(
    ("column", "codes"),
    [
        (pl.Series(["b", None, "a", "b"]), [0, 2, 1, 0]),
        (pl.Series([None, None], dtype=pl.String), [0, 0]),
        (pl.Series([None, None], dtype=pl.Null), [0, 0]),
        (pl.Series([True, None, False]), [1, 2, 0]),
        (pl.Series([-128, 127, None], dtype=pl.Int8), [0, 255, 256]),
        (pl.Series([0, 3 * NARROW, None]), [0, 1, 2]),
        (pl.Series([2**63, 2**64 - 1, None], dtype=pl.UInt64), [0, 1, 2]),
        (pl.Series([2**64 - 1, 2**64 - 2, None], dtype=pl.UInt64), [1, 0, 2]),
        (pl.Series([1.5, float("nan"), None, -0.0, 0.0]), [1, 2, 2, 0, 0]),
        (pl.Series([DAY, None, DAY + dt.timedelta(1)]), [0, 2, 1]),
        (pl.Series([Decimal("1.10"), None, Decimal("1.1")]), [0, 1, 0]),
        (pl.Series(["a", None, "b"], dtype=pl.Categorical), [0, 2, 1]),
        (pl.Series(["a", "b"], dtype=pl.Enum(["z", "b", "a"])), [1, 0]),
        (pl.Series([[1], None, [2]]), [0, 2, 1]),
    ],
)
def test_codes_of_every_type(column, codes):
    found = coded(column)
    assert found.codes.tolist() == codes
    assert max(codes) < found.radix


def test_codes_do_not_depend_on_other_columns():
    coded(pl.Series(["p", "q", "r"]))
    assert coded(pl.Series(["q", "z"])).radix == 3


def test_joining_beyond_64_bits_keeps_rows_apart():
    rng = np.random.default_rng(0)
    columns = [Coded(rng.integers(0, 2, 200) * (NARROW - 1), NARROW) for _ in range(6)]
    assert NARROW**6 > LARGEST
    keys = reduce(joined, columns)
    rows = np.stack([c.codes for c in columns], axis=1)
    assert len(counted(keys)[0]) == len(np.unique(rows, axis=0))
    assert keys.radix <= LARGEST


@pytest.mark.parametrize("radix", [10, 10**9])
def test_dense_and_counted_agree_with_numpy_whatever_the_room(radix):
    column = Coded(np.array([9, 3, 9, 0, 3, 9]), radix)
    assert dense(column).codes.tolist() == [2, 1, 2, 0, 1, 2]
    assert dense(column).radix == 3
    codes, counts = counted(column)
    assert (codes.tolist(), counts.tolist()) == ([0, 3, 9], [1, 2, 3])
