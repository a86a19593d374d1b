"""Random rules and tables for hypothesis."""

from __future__ import annotations

import math

import polars as pl
from hypothesis import strategies as st

from tamis.rules import Between, OneOf, Rule, RuleSet

NUMBERS = ("n1", "n2")
TEXTS = ("t1", "t2")
VALUES = ("a", "b", "c", "d e")
LABELS = ("no", "yes", "so so")

_bound = st.integers(-2, 5).map(float) | st.sampled_from([0.5, 1.5])


@st.composite
def bounds(draw, column=None):
    column = draw(st.sampled_from(NUMBERS)) if column is None else draw(column)
    low, high = draw(_bound | st.just(-math.inf)), draw(_bound | st.just(math.inf))
    if math.isinf(low) and math.isinf(high):
        high = 2.0
    if low > high:
        low, high = high, low
    closed = low == high
    return Between(column, low, high, closed or draw(st.booleans()), closed or draw(st.booleans()))


@st.composite
def sets(draw, column, value):
    values = draw(st.lists(value, min_size=1, max_size=3))
    return OneOf(draw(column), tuple(values), draw(st.booleans()))


_text_sets = sets(st.sampled_from(TEXTS), st.sampled_from(VALUES))
_numeric_sets = sets(st.sampled_from(NUMBERS), st.sampled_from(["0", "1", "2.0", "3.5"]))
conditions = st.lists(bounds() | _text_sets | _numeric_sets, max_size=4)


@st.composite
def rulesets(draw, most=6):
    antecedents = draw(st.lists(conditions, min_size=1, max_size=most))
    return RuleSet([Rule(c, draw(st.sampled_from(LABELS[:2]))) for c in antecedents], "y")


@st.composite
def frames(draw, most=150):
    height = draw(st.integers(0, most))
    number = st.none() | st.integers(-1, 4).map(float) | st.just(3.5)
    cells = {
        **dict.fromkeys(NUMBERS, (number, pl.Float64)),
        **dict.fromkeys(TEXTS, (st.none() | st.sampled_from(VALUES), pl.String)),
        "y": (st.sampled_from(LABELS), pl.String),
    }
    # One seed a column instead of one draw a cell: as varied, and much faster.
    random = draw(st.randoms(use_true_random=False))
    pools = {c: draw(st.lists(s, min_size=1, max_size=8)) for c, (s, _) in cells.items()}
    columns = {
        c: pl.Series([random.choice(pools[c]) for _ in range(height)], dtype=cells[c][1])
        for c in cells
    }
    return pl.DataFrame(columns)


def meets(rule: Rule, row: dict[str, object]) -> bool:
    """The definition, cell by cell."""
    return all(_holds(c, row[c.column]) for c in rule.conditions)


def _holds(condition: Between | OneOf, cell: object) -> bool:
    if cell is None:
        return False
    if isinstance(condition, OneOf):
        if isinstance(cell, float):
            return (cell in [float(v) for v in condition.values]) != condition.negated
        return (cell in condition.values) != condition.negated
    assert isinstance(cell, float)
    above = cell > condition.low or (condition.low_closed and cell == condition.low)
    below = cell < condition.high or (condition.high_closed and cell == condition.high)
    return above and below
