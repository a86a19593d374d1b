"""The rule for types gives the same answer whether cells are seen at once or in parts."""

from __future__ import annotations

import warnings

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.errors import InputError
from tamis.read.types import ColumnRule, typed

CELLS = st.sampled_from(
    ["1", "2", "-7", "1.5", "1e3", "01", "+1", "x", "inf", "", " 3 ", "9" * 17, "9" * 20, "1e999"]
)


def whole(cells: list[str | None], declared: str | None) -> pl.Series | str:
    frame = pl.DataFrame({"a": pl.Series(cells, dtype=pl.String)})
    try:
        return typed(frame, declared={"a": declared} if declared else None)["a"]
    except InputError as error:
        return str(error)


def in_parts(cells: list[str | None], size: int, declared: str | None) -> pl.Series | str:
    column = pl.Series(cells, dtype=pl.String)
    rule = ColumnRule("a", declared)
    parts = [column.slice(i, size) for i in range(0, len(cells), size)]
    for part in parts:
        rule.see(part)
    try:
        kind = rule.dtype()
    except InputError as error:
        return str(error)
    return pl.concat([rule.read(part, kind) for part in parts])


@given(
    st.lists(st.none() | CELLS, min_size=1, max_size=12),
    st.integers(1, 5),
    st.sampled_from([None, "number", "text"]),
)
def test_parts_and_the_whole_agree(cells, size, declared):
    cells = [None if cell == "" else cell for cell in cells]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one, other = whole(cells, declared), in_parts(cells, size, declared)
    if isinstance(one, str) or isinstance(other, str):
        assert one == other
    else:
        assert one.dtype == other.dtype
        assert one.to_list() == other.to_list()


def test_a_late_leading_zero_makes_text():
    rule = ColumnRule("zip")
    rule.see(pl.Series(["75011"] * 2000))
    rule.see(pl.Series(["01000"]))
    assert rule.dtype() == pl.String


def test_a_late_fraction_finds_long_numbers_seen_before():
    rule = ColumnRule("code")
    rule.see(pl.Series([str(2**60)]))
    rule.see(pl.Series(["1.5"]))
    with pytest.raises(InputError, match="too long to store exactly in 1 row"):
        rule.dtype()


def test_columns_are_read_at_once_as_one_after_another(monkeypatch):
    texts = {"zip": ["01000", "?"], "age": ["31", "?"], "on": ["2021-05-03", "?"], "it": ["a", "b"]}
    slow = typed(pl.DataFrame(texts), missing=["?"])
    monkeypatch.setattr("tamis.read.types.SHORT", 0)
    assert typed(pl.DataFrame(texts), missing=["?"]).equals(slow)
    assert slow.dtypes == [pl.String, pl.Int64, pl.Date, pl.String]
