"""Declared columns: what cells become, whatever the type of the column that holds them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.dp.domain import axes, axis
from tamis.errors import InputError
from tests.long import LONG

DECLARED: list[Any] = [
    [0, 9],
    [-3.5, 9.0],
    {"type": "number", "low": -1, "high": 6.5, "decimals": 1},
    {"type": "integer", "low": 2, "high": 7, "other": 4, "missing": True},
    ["1", "2", "3"],
    {"type": "category", "values": ["0", "1"], "other": "many"},
    {"type": "category", "values": ["5", "7"], "missing": True},
    {"type": "boolean"},
]
WHOLE = st.lists(st.one_of(st.none(), st.integers(-20, 20)), min_size=1, max_size=12)


def same_cells(cells: list[int | None]) -> list[pl.Series]:
    """The cells in columns of every type that one more row could give them."""
    texts = [None if c is None else str(c) for c in cells]
    return [
        pl.Series("x", cells, dtype=pl.Int64),
        pl.Series("x", cells, dtype=pl.Float64),
        pl.Series("x", [math.nan if c is None else float(c) for c in cells]),
        pl.Series("x", texts, dtype=pl.String),
        pl.Series("x", [None if c is None else f" {c}.0 " for c in cells], dtype=pl.String),
        pl.Series("x", texts, dtype=pl.Categorical),
        pl.Series("x", texts, dtype=pl.Enum([*dict.fromkeys(t for t in texts if t), "unused"])),
    ]


@pytest.mark.parametrize("declared", DECLARED)
@settings(max_examples=15 if LONG else 6)
@given(cells=WHOLE)
def test_the_type_of_the_column_changes_nothing(declared: Any, cells: list[int | None]) -> None:
    column = axis("x", declared, 3)
    first, *others = same_cells(cells)
    for other in others:
        assert column.codes(other).tolist() == column.codes(first).tolist()
        assert column.brought(other).equals(column.brought(first), null_equal=True)
    assert column.brought(first).dtype == column.dtype


@pytest.mark.parametrize("declared", DECLARED)
@settings(max_examples=15 if LONG else 6)
@given(cells=st.lists(st.one_of(st.none(), st.text(max_size=6)), min_size=1, max_size=8))
def test_any_text_has_a_place(declared: Any, cells: list[str | None]) -> None:
    column = axis("x", declared, 3)
    texts = pl.Series("x", cells, dtype=pl.String)
    codes, brought = column.codes(texts), column.brought(texts)
    assert ((codes >= 0) & (codes < column.bins)).all()
    assert column.codes(brought).tolist() == codes.tolist(), "what is brought is in the same place"
    assert column.brought(brought).equals(brought, null_equal=True)
    assert column.missing or not brought.null_count()


@pytest.mark.parametrize("declared", DECLARED)
def test_drawn_cells_are_of_the_domain(declared: Any) -> None:
    column = axis("x", declared, 3)
    low = np.zeros(500, int)
    drawn = column.drawn(low, low + column.bins, np.random.default_rng(0))
    assert drawn.dtype == column.dtype
    assert column.brought(drawn).equals(drawn, null_equal=True)
    assert column.missing == bool(drawn.null_count())


@pytest.mark.parametrize(
    ("declared", "unlisted", "missing"),
    [
        (["cook", "judge"], "cook", "cook"),
        ({"type": "category", "values": ["cook"], "missing": True}, None, None),
        ({"type": "category", "values": ["cook"], "other": "else"}, "else", "else"),
        ({"type": "category", "values": ["cook"], "other": "else", "missing": True}, "else", None),
        ([3, 9], 3, 3),
        ({"type": "integer", "low": 3, "high": 9, "missing": True}, None, None),
        ({"type": "integer", "low": 3, "high": 9, "other": 5}, 5, 5),
        ({"type": "integer", "low": 3, "high": 9, "other": 5, "missing": True}, 5, None),
        ({"type": "boolean", "other": True}, True, True),
        ({"type": "boolean"}, False, False),
    ],
)
def test_where_cells_go_that_are_not_declared(declared: Any, unlisted: Any, missing: Any) -> None:
    found = axis("x", declared).brought(pl.Series("x", ["astronaut", None]))
    assert found.to_list() == [unlisted, missing]


def test_numbers_are_rounded_and_moved_to_the_nearest_bound() -> None:
    cells = pl.Series("x", [-7.0, 0.26, 0.24, 1.0, math.inf, -math.inf])
    tenths = axis("x", {"type": "number", "low": 0, "high": 0.7, "decimals": 1})
    assert tenths.brought(cells).to_list() == [0.0, 0.3, 0.2, 0.7, 0.7, 0.0]
    assert axis("x", [0, 5]).brought(pl.Series("x", [1.4, 1.6, 9.0])).to_list() == [1, 2, 5]


def test_what_is_written_decides_on_the_type() -> None:
    assert [axis("x", d).type for d in ([0, 9], [0, 9.0], ["0", "9"], [False, True])] == [
        "integer", "number", "category", "boolean",
    ]  # fmt: skip
    label = axis("y", [0, 1], label=True)
    assert (label.type, label.levels) == ("category", (0, 1))
    assert label.dtype == pl.Int64
    span = axis("y", {"type": "integer", "low": 1, "high": 3}, label=True)
    assert span.levels == (1, 2, 3)


def test_numbers_reach_from_the_lowest_to_the_highest_in_one_bin() -> None:
    assert axis("x", [0, 9]).edges == (0, 10)
    assert axis("x", [5, 5]).values == 1
    for other in (3, 9):
        found = axis("x", {"type": "integer", "low": 3, "high": 9, "other": other})
        assert found.brought(pl.Series("x", ["?"])).to_list() == [other]
    for other in (2, 10):
        with pytest.raises(InputError, match="other of column 'x' must be a number from low"):
            axis("x", {"type": "integer", "low": 3, "high": 9, "other": other})
    with pytest.raises(InputError, match="must rise from low to high"):
        axis("x", [6, 5])


def test_a_target_has_a_thousand_classes_at_most() -> None:
    assert len(axis("y", {"type": "integer", "low": 0, "high": 999}, label=True).levels) == 1000
    with pytest.raises(InputError, match="a range of at most 1,000 whole numbers"):
        axis("y", {"type": "integer", "low": 0, "high": 1000}, label=True)


def test_decimals_are_as_many_as_are_kept_exactly() -> None:
    tiny = {"type": "number", "low": 0, "high": 0.0001}
    assert axis("x", {**tiny, "decimals": 12}).values == 10**8 + 1
    with pytest.raises(InputError, match="a whole number from 0 to 12"):
        axis("x", {**tiny, "decimals": 13})
    assert axis("x", [0, 2**53 - 1]).values == 2**53
    for bounds in ([0, 2**53], [-(2**53), 0]):
        with pytest.raises(InputError, match="too large for 0 decimals"):
            axis("x", bounds)


def test_booleans_may_be_written_as_digits() -> None:
    found = axis("x", {"type": "boolean", "missing": True})
    for cells in (["0", "1", None], [0, 1, None], ["false", "True", None]):
        assert found.brought(pl.Series("x", cells)).to_list() == [False, True, None]


def test_missing_cells_are_drawn_as_often_as_any_other_bin() -> None:
    found = axis("x", {"type": "integer", "low": 0, "high": 8, "missing": True}, 3)
    low = np.zeros(6000, int)
    drawn = found.drawn(low, low + 4, np.random.default_rng(0))
    assert 0.22 < drawn.null_count() / 6000 < 0.28
    assert found.drawn(low + 3, low + 4, np.random.default_rng(0)).null_count() == 6000
    assert not found.drawn(low, low + 3, np.random.default_rng(0)).null_count()


def test_a_column_without_cells_has_one_value() -> None:
    frame = pl.DataFrame({"x": [None, None]}, schema={"x": pl.Int64})
    with pytest.warns(UserWarning, match="NO DIFFERENTIAL PRIVACY"):
        (found,) = axes(frame, None, bins=1, from_data=True)
    assert (found.values, found.edges) == (1, (0, 1))
