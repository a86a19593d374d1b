"""Counting by packed bits against the definition, row by row."""

import tracemalloc
from unittest import mock

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.errors import InputError, TamisWarning
from tamis.rules import Between, Rule, RuleSet, pack
from tamis.rules.count import count_rules

from .strategies import LABELS, frames, meets, rulesets


@given(rulesets(), frames(), st.sampled_from([70_000, 2**20]), st.sampled_from([0, 48]))
def test_counts_are_those_of_the_definition(rules, frame, memory, few_cuts):
    with mock.patch.object(pack, "_FEW_CUTS", few_cuts):
        found = count_rules(rules, frame, "y", labels=LABELS, memory=memory, first_match=True)
    by_label = np.zeros((len(rules), len(LABELS)), dtype=int)
    first = np.zeros_like(by_label)
    covered = np.zeros(len(LABELS), dtype=int)
    for row in frame.to_dicts():
        met = [i for i, rule in enumerate(rules) if meets(rule, row)]
        label = LABELS.index(row["y"])
        by_label[met, label] += 1
        first[met[:1], label] += 1
        covered[label] += bool(met)
    assert found.by_label.tolist() == by_label.tolist()
    assert found.first is not None
    assert found.first.tolist() == first.tolist()
    assert found.covered.tolist() == covered.tolist()
    assert found.rows == frame.height


def test_many_rules_and_rows_cross_every_boundary():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"a": rng.integers(0, 300, 5000), "y": rng.integers(0, 5, 5000)})
    text = "\n".join(f"{i} <= a < {i + 3} -> y=1" for i in range(300))
    found = count_rules(RuleSet.parse(text), frame, "y", memory=10**6)
    a, y = frame["a"].to_numpy(), frame["y"].to_numpy()
    expected = [[((a >= i) & (a < i + 3) & (y == k)).sum() for k in range(5)] for i in range(300)]
    assert found.by_label.tolist() == expected


def test_a_missing_cell_meets_no_condition():
    frame = pl.DataFrame({"a": [1.0, None], "t": ["x", None], "y": ["p", "p"]})
    rules = RuleSet.parse("a > 0 -> p\na <= 0 -> p\nt = x -> p\nt != x -> p\na != 7 -> p\n-> p")
    assert count_rules(rules, frame, "y").support.tolist() == [1, 0, 1, 0, 1, 2]


def test_truths_dates_categories_and_empty_columns_can_be_asked():
    frame = pl.DataFrame(
        {
            "b": [True, False, None],
            "c": pl.Series(["u", "v", "u"], dtype=pl.Categorical),
            "n": [None, None, None],
            "y": [1, 0, 1],
        }
    )
    rules = RuleSet.parse("b = True -> 1\nc != u -> 1\nn > 3 -> 1\nn in {p} -> 1\nb != true -> 1")
    assert count_rules(rules, frame, "y").support.tolist() == [1, 1, 0, 0, 1]


def test_rules_on_absent_columns_count_nothing():
    rules = RuleSet.parse("gone > 3 and a = 1 -> 1\na = 1 -> 1")
    assert count_rules(rules, pl.DataFrame({"a": [1], "y": [1]}), "y").support.tolist() == [0, 1]


def test_rows_without_a_label_are_left_out_with_a_warning():
    frame = pl.DataFrame({"a": [1, 1, 1], "y": ["p", None, "q"]})
    with pytest.warns(TamisWarning, match="1 row without a label in column 'y'"):
        found = count_rules(RuleSet.parse("a = 1 -> p"), frame, "y")
    assert found.by_label.tolist() == [[1, 1]]
    assert found.rows == 2


def test_too_little_memory_is_an_error_that_says_how_much_is_needed():
    with pytest.raises(
        InputError, match=r"needs at least \d+ bytes of memory, only 10 are allowed"
    ):
        count_rules(RuleSet.parse("a = 1 -> p"), pl.DataFrame({"a": [1], "y": [1]}), "y", memory=10)


def test_memory_stays_below_the_limit():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"a": rng.normal(size=200_000), "y": rng.integers(0, 2, 200_000)})
    cuts = np.linspace(-2, 2, 1500)
    rules = RuleSet([Rule([Between("a", low, low + 0.1)], "1") for low in cuts.tolist()])
    limit = 4 * 2**20
    count_rules(rules, frame.head(100), "y")
    tracemalloc.start()
    found = count_rules(rules, frame, "y", memory=limit)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < limit
    a = frame["a"].to_numpy()
    assert found.support[700] == ((a > cuts[700]) & (a < cuts[700] + 0.1)).sum()


def test_an_empty_table_counts_nothing():
    frame = pl.DataFrame(schema={"a": pl.Int64, "y": pl.String})
    found = count_rules(RuleSet.parse("a = 1 -> p"), frame, "y", labels=["p"])
    assert found.by_label.tolist() == [[0]]
    assert found.coverage == 0


@pytest.mark.parametrize("labels", [2, 9])
def test_narrow_numbers_and_many_labels_are_counted_by_definition(labels):
    """0.1 is no 32-bit number: the nearest one lies above it, and must not count as up to 0.1."""
    numbers = np.array([0.1, 0.5, np.nan, -0.0, 3e38], dtype=np.float32).repeat(labels)
    target = [f"y{i % labels}" for i in range(len(numbers))]
    column = pl.Series(numbers).fill_nan(None)
    frame = pl.DataFrame({"x": column, "y": [None, *target[1:]]})
    rules = RuleSet.parse("x <= 0.1 -> y=y0\nx > 0.1 -> y=y1\nx <= 1e39 -> y=y0\nx >= 0 -> y=y1")
    with pytest.warns(TamisWarning, match="without a label"):
        found = count_rules(rules, frame, "y")
    for rule, counts in zip((_UP_TO, _ABOVE, _SMALL, _POSITIVE), found.by_label):
        cells = [(x, y) for x, y in frame.iter_rows() if y is not None and x is not None]
        assert counts.tolist() == [
            sum(rule(x) and y == label for x, y in cells) for label in found.labels
        ]


def _UP_TO(x: float) -> bool:
    return x <= 0.1


def _ABOVE(x: float) -> bool:
    return x > 0.1


def _SMALL(x: float) -> bool:
    return x <= 1e39


def _POSITIVE(x: float) -> bool:
    return x >= 0
