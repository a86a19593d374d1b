"""Rules asked of groups: a group meets a condition if every value in it does."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.rules.count import ValueLabels, coarse_rules, count_rules
from tamis.rules.rule import Between, OneOf, Rule
from tamis.rules.ruleset import RuleSet

VALUES = st.lists(st.integers(0, 9), min_size=1, max_size=30)
CONDITIONS = st.one_of(
    st.builds(
        lambda low, size, closed: Between("x", low, low + size, closed, closed),
        st.integers(-1, 8),
        st.integers(1, 6),
        st.booleans(),
    ),
    st.builds(
        lambda values, negated: OneOf("x", tuple(map(str, values)), negated),
        st.sets(st.integers(0, 9), min_size=1, max_size=6),
        st.booleans(),
    ),
)


def meets(condition: Between | OneOf, value: int) -> bool:
    if isinstance(condition, OneOf):
        return (str(value) in condition.values) != condition.negated
    above = value >= condition.low if condition.low_closed else value > condition.low
    below = value <= condition.high if condition.high_closed else value < condition.high
    return above and below


@given(VALUES, st.lists(CONDITIONS, min_size=1, max_size=3), st.integers(1, 5))
def test_a_row_meets_a_rule_where_everybody_of_its_group_does(values, conditions, width):
    rules = RuleSet([Rule(conditions, "yes")], target="y")
    groups = {v: [w for w in set(values) if w // width == v // width] for v in set(values)}
    expected = sum(all(meets(c, other) for c in conditions for other in groups[v]) for v in values)
    known = pl.Series(sorted(set(values)))
    labels = pl.Series([f"g{v // width}" for v in known])
    frame = pl.DataFrame({"x": [f"g{v // width}" for v in values], "y": ["yes"] * len(values)})
    found = count_rules(coarse_rules(rules, {"x": ValueLabels(known, labels)}), frame, "y")
    assert found.by_label.sum() == expected


def test_other_columns_and_names_stay():
    rules = RuleSet.parse("first: age <= 40 and job = cook -> ill=no")
    ages = ValueLabels(pl.Series([30, 50]), pl.Series(["none", "(none)"]))
    found = coarse_rules(rules, {"age": ages})
    assert found.ids == ("first",)
    assert found[0].conditions == (OneOf("age", ("none",)), OneOf("job", ("cook",)))


def test_a_condition_that_no_group_meets_is_met_by_nobody():
    ages = ValueLabels(pl.Series([30, 50]), pl.Series(["none", "none"]))
    found = coarse_rules(RuleSet.parse("age <= 40 -> ill=no"), {"age": ages})
    frame = pl.DataFrame({"age": ["none"], "ill": ["no"]})
    assert count_rules(found, frame, "ill").by_label.tolist() == [[0]]


def test_numbers_of_fewer_digits_are_groups_too():
    ages = ValueLabels(pl.Series([31, 39, 44]), pl.Series([30, 30, 40]))
    rules = RuleSet.parse("age <= 43 -> ill=no\nage >= 35 -> ill=no\nage > 99 -> ill=no")
    frame = pl.DataFrame({"age": [30, 30, 40], "ill": ["no"] * 3})
    found = count_rules(coarse_rules(rules, {"age": ages}), frame, "ill")
    assert found.by_label.tolist() == [[2], [1], [0]]


def test_what_is_missing_meets_nothing():
    ages = ValueLabels(pl.Series([30, None]), pl.Series(["[30, 40)", None]))
    found = coarse_rules(RuleSet.parse("age > 20 -> ill=no"), {"age": ages})
    assert found[0].conditions == (OneOf("age", ("[30, 40)",)),)


@pytest.mark.parametrize("form", [pl.Series(["30s", "40s"]), pl.Series(["[30, 40)", "[40, 50)"])])
def test_labels_may_be_anything(form):
    ages = ValueLabels(pl.Series([31, 44]), form)
    found = coarse_rules(RuleSet.parse("age <= 43 -> ill=no"), {"age": ages})
    assert found[0].conditions == (OneOf("age", (form[0],)),)


@pytest.mark.parametrize("rule", ["age != 50 -> ill=no", "age > 20 -> ill=no"])
def test_a_group_with_what_is_missing_meets_nothing(rule):
    ages = ValueLabels(pl.Series([30, None]), pl.Series(["any", "any"]))
    found = coarse_rules(RuleSet.parse(rule), {"age": ages})
    assert found[0].conditions == (OneOf("age", ("none",)),)
