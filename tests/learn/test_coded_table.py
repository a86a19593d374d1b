"""Columns as small codes: order, spikes, rare and missing values."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.errors import InputError
from tamis.learn import coded_table
from tamis.learn.coded_table import CODES, LOOKED, MISSING, CodedTable, labels_counted, rows_alike

numbers = st.lists(
    st.none() | st.integers(-40, 40) | st.floats(-1e6, 1e6, allow_nan=False), min_size=1
)


def codes_of(values, rows=None, **given):
    return CodedTable.of(pl.DataFrame({"x": values}, strict=False), rows, **given).codes[0]


@given(numbers)
def test_codes_of_numbers_keep_their_order(values):
    series = pl.Series("x", values, dtype=pl.Float64)
    table = CodedTable.of(series.to_frame())
    codes = table.codes[0]
    assert codes.max() < table.widths[0] <= CODES
    assert ((codes == MISSING) == series.is_null().to_numpy()).all()
    present = [(v, c) for v, c in zip(values, codes) if v is not None]
    assert [c for _, c in sorted(present)] == sorted(c for _, c in present)
    if len({v for v, _ in present}) < CODES:
        assert len({v for v, _ in present}) == len({c for _, c in present})


def test_a_spike_leaves_quantiles_to_the_others():
    rng = np.random.default_rng(0)
    values = np.where(np.arange(4000) < 3600, 0.0, rng.lognormal(size=4000))
    codes = codes_of(values)
    assert len(np.unique(codes[values == 0])) == 1
    others = np.bincount(codes[values != 0])
    others = others[others > 0]
    assert len(others) >= 25
    assert others.max() <= 2 * 400 / 25


@given(st.lists(st.sampled_from([1, 2, 3, 50, 51, 52]), min_size=40, max_size=60), st.integers(0))
def test_bins_are_never_too_many(heavy, seed):
    light = np.random.default_rng(seed).random(40) * 60
    table = CodedTable.of(pl.DataFrame({"x": [*map(float, heavy), *light]}))
    assert table.codes.max() < table.widths[0] <= CODES


def test_quantiles_are_those_of_the_rows_learnt_from():
    values = np.concatenate([np.arange(200.0), np.full(1000, 1e6)])
    codes = codes_of(values, np.arange(200))
    assert len(np.unique(codes[:200])) == CODES - 1
    assert (codes[200:] == CODES - 1).all()


def test_rare_and_unknown_values_share_a_code():
    values = ["a"] * 6 + ["b"] * 5 + ["c"] * 4 + [None, "d", "d", "d", "d", "d", "d"]
    codes = codes_of(values, np.arange(16))
    assert codes.tolist() == [2] * 6 + [3] * 5 + [1] * 4 + [MISSING] + [1] * 6


def test_of_many_values_the_frequent_ones_have_codes():
    values = [f"v{i}" for i in range(60) for _ in range(5 + i)]
    codes = codes_of(values)
    assert codes.max() == CODES - 1
    assert len(np.unique(codes[-100:])) == 2
    assert (codes[:5] == 1).all()


def test_what_is_missing_throughout_is_one_code():
    frame = pl.DataFrame({"x": pl.Series([None, None], dtype=pl.Float64), "y": [None, None]})
    assert CodedTable.of(frame).codes.tolist() == [[0, 0], [0, 0]]


def test_a_slice_has_the_columns_and_rows_in_the_order_given():
    table = CodedTable.of(pl.DataFrame({"x": [1, 2, 3], "y": ["b", "a", "a"]}), rare=1)
    part = table.slice([1, 0], np.array([2, 0]))
    assert part.codes.tolist() == [[2, 3], [3, 1]]
    assert part.ordered.tolist() == [False, True]
    both = part.beside(table.slice([0], np.array([1, 1])))
    assert both.codes.tolist() == [[2, 3], [3, 1], [2, 2]]
    assert (len(both), both.rows, both.widths.tolist()) == (3, 2, [4, 4, 4])


def test_a_table_needs_a_row_to_be_coded_by():
    with pytest.raises(InputError, match="one row or more"):
        CodedTable.of(pl.DataFrame({"x": [1]}), np.array([], dtype=int))


@given(
    st.lists(st.tuples(st.integers(0, 9), st.sampled_from("abc")), min_size=3, max_size=40),
    st.data(),
)
def test_rows_that_nobody_asks_about_need_no_codes(rows, data):
    frame = pl.DataFrame(rows, schema=["x", "y"], orient="row")
    some = st.lists(st.sampled_from(range(len(rows))), min_size=1, unique=True)
    learnt = np.array(sorted(data.draw(some)))
    only = np.union1d(learnt, data.draw(some))
    whole, few = CodedTable.of(frame, learnt), CodedTable.of(frame, learnt, only=only)
    assert few.rows == whole.rows == len(rows)
    assert few.coded_rows.tolist() == only.tolist()
    for one, other in ((few, whole), (few.beside(few), whole.beside(whole))):
        parts = one.slice([1, 0], only[::-1]), other.slice([1, 0], only[::-1])
        assert parts[0].codes.tolist() == parts[1].codes.tolist()
        assert parts[0].widths.tolist() == parts[1].widths.tolist()
    label = np.array([ord(letter) - ord("a") for _, letter in rows])
    coded = [CodedTable.of_label(label, learnt, which) for which in (only, None)]
    assert coded[0].slice([0], only).codes.tolist() == coded[1].slice([0], only).codes.tolist()
    if len(only) < len(rows):
        left_out = np.setdiff1d(np.arange(len(rows)), only)
        with pytest.raises(IndexError, match="out of bounds"):
            few.slice([0], left_out)


@given(st.integers(1, 200), st.integers(0, 4), st.integers(1, 3), st.integers(0, 10_000))
def test_rows_alike_in_codes_and_words_share_a_number(rows, columns, words, seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, (columns, rows)).astype(np.uint8)
    # Words that differ in high and low bits only: none may be taken for another.
    known = rng.choice(np.array([0, 1, 1 << 32, 1 << 63], dtype=np.uint64), (words, rows))
    first, place = rows_alike(codes, known)
    cells = [tuple(row) for row in zip(*codes.tolist(), *known.tolist())]
    seen = list(dict.fromkeys(cells))
    assert [cells[i] for i in first] == seen
    assert [seen[number] for number in place] == cells


def test_where_most_rows_differ_each_is_its_own():
    known = np.arange(4 * LOOKED, dtype=np.uint64)[None, :]
    first, place = rows_alike(np.zeros((1, 4 * LOOKED), dtype=np.uint8), known)
    assert first.tolist() == place.tolist() == list(range(4 * LOOKED))


def test_words_in_any_layout_are_looked_up_by_the_same_kernel():
    """Another layout would be compiled for itself, in every new installation."""
    codes, known = np.zeros((2, 5), dtype=np.uint8), np.arange(10, dtype=np.uint64).reshape(2, 5)
    for layout in (known, np.asfortranarray(known), known[:, ::-1]):
        rows_alike(codes, layout)
    assert len(coded_table._number.signatures) == 1


@given(st.integers(2, 4), st.integers(1, 50), st.integers(0, 10_000))
def test_counts_are_those_of_each_class(classes, learnt, seed):
    rng = np.random.default_rng(seed)
    place = np.unique(rng.integers(0, 8, learnt), return_inverse=True)[1]
    label = rng.integers(0, classes, learnt)
    found = labels_counted(np.append(place, place.max() + 1), label, classes)
    each = np.array(
        [np.bincount(place[label == c], minlength=place.max() + 1) for c in range(classes)]
    )
    kept = each[1:] if classes == 2 else each
    assert found.tolist() == [*kept.tolist(), each.sum(axis=0).tolist()]
