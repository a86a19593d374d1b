"""Cells as numbers: codes that say what is equal, points on an axis, places among known values."""

import datetime as dt
from decimal import Decimal
from functools import reduce

import numpy as np
import polars as pl
import pytest

from tamis.coding import (
    CODE_LIMIT,
    NARROW,
    Coded,
    all_stand_for,
    as_enum,
    as_floats,
    coded,
    counted,
    dense,
    joined,
    nominal_text,
    positions,
)

DAY = dt.date(2020, 1, 1)
NOON = dt.datetime(1970, 1, 3, 12)


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
    assert NARROW**6 > CODE_LIMIT
    keys = reduce(joined, columns)
    rows = np.stack([c.codes for c in columns], axis=1)
    assert len(counted(keys)[0]) == len(np.unique(rows, axis=0))
    assert keys.radix <= CODE_LIMIT


@pytest.mark.parametrize("radix", [10, 10**9])
def test_dense_and_counted_agree_with_numpy_whatever_the_room(radix):
    column = Coded(np.array([9, 3, 9, 0, 3, 9]), radix)
    assert dense(column).codes.tolist() == [2, 1, 2, 0, 1, 2]
    assert dense(column).radix == 3
    codes, counts = counted(column)
    assert (codes.tolist(), counts.tolist()) == ([0, 3, 9], [1, 2, 3])


# Of thirty rows, codes that are 61 apart share a bucket.
@pytest.mark.parametrize(("radix", "apart"), [(8, 1), (2**40, 1), (6, 61)])
def test_whether_all_codes_stand_for_enough_rows_is_what_counting_says(radix, apart):
    rng = np.random.default_rng(radix % 7)
    said = set()
    for _ in range(60):
        codes = apart * rng.integers(0, radix, 6)[rng.integers(0, 6, 30)]
        weights, least = rng.integers(1, 4, 30), int(rng.integers(1, 12))
        held = [weights[codes == code].sum() for code in np.unique(codes)]
        column = Coded(codes, apart * radix)
        assert all_stand_for(column, weights, least) == (min(held) >= least)
        said.add(min(held) >= least)
    assert said == {True, False}


@pytest.mark.parametrize("radix", [3, 2**40])
def test_a_code_of_one_row_stands_for_less_than_two(radix):
    column = Coded(np.array([0, 1, 1]), radix)
    assert all_stand_for(column, np.array([1, 1, 1]), 1)
    assert not all_stand_for(column, np.array([1, 1, 1]), 2)
    assert all_stand_for(column, np.array([2, 1, 1]), 2)


@pytest.mark.parametrize(
    ("column", "points"),
    [
        (pl.Series([3, None], dtype=pl.UInt8), [3, np.nan]),
        (pl.Series([0.5, None, float("nan")]), [0.5, np.nan, np.nan]),
        (pl.Series([None], dtype=pl.Null), [np.nan]),
        (pl.Series([NOON.date(), None]), [2, np.nan]),
        (pl.Series([NOON, None], dtype=pl.Datetime("ms")), [2.5, np.nan]),
        (pl.Series([NOON.time(), None]), [0.5, np.nan]),
    ],
)
def test_points_on_an_axis_of_every_type(column, points):
    # Names that polars would take for patterns or for other columns make no difference.
    for name in ("", "^a.*$", "*"):
        np.testing.assert_array_equal(as_floats(column.alias(name)), np.array(points, np.float64))


@pytest.mark.parametrize("column", [pl.Series([2, 1, None, 7]), pl.Series([2.0, 1.0, None, 7.0])])
def test_places_among_known_values_do_not_depend_on_the_type(column):
    for cells in (column, nominal_text(column), as_enum(column, ["7", "2", "1"])):
        assert positions(cells.alias("^a.*$"), ["1", "2"]).tolist() == [1, 0, -1, -1]


def test_a_column_that_has_the_type_already_stays():
    column = pl.Series("job", ["cook", None], dtype=pl.Enum(["judge", "cook"]))
    assert as_enum(column, ("judge", "cook")) is column
    assert as_enum(column, ("cook",)).to_list() == ["cook", None]
    assert as_enum(column, ("cook",)).name == "job"
