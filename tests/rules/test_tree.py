"""Rules out of trees: every row must meet exactly the rule of its leaf."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from tamis import Roles, Table
from tamis.errors import InputError
from tamis.learn.c45 import C45Classifier
from tamis.read import read_table
from tamis.rules import Between, Indicator, OneOf, Ordinal, RuleSet
from tamis.rules.count import count_rules
from tamis.rules.rule import merged
from tamis.rules.tree import OneHot, mine_rules


def _table(seed, rows=200):
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "n": rng.integers(0, 20, rows),
            "x": rng.normal(size=rows),
            "t": rng.choice(["a", "b", "c", "d"], rows),
        }
    )
    score = frame["n"].to_numpy() + 5 * (frame["t"] == "b").to_numpy() + rng.normal(size=rows) * 4
    return frame.with_columns(y=pl.Series(np.digitize(score, [8, 14])))


@given(st.integers(0, 10**6))
@settings(max_examples=15)
def test_the_leaves_of_a_tree_are_counted_as_its_apply_counts_them(seed):
    frame = _table(seed)
    coded = OneHot.of(frame, ["n", "x", "t"])
    matrix = coded.matrix(frame)
    tree = DecisionTreeClassifier(min_samples_leaf=3, random_state=0).fit(matrix, frame["y"])
    rules = RuleSet.from_tree(tree, features=coded.names, coding=coded.coding, target="y")
    leaves = tree.apply(matrix)
    # Leaves from left to right have rising numbers in scikit-learn.
    expected = [
        [int(((leaves == leaf) & (frame["y"] == c).to_numpy()).sum()) for c in range(3)]
        for leaf in np.unique(leaves)
    ]
    found = count_rules(rules, frame, "y")
    assert found.by_label.tolist() == expected
    assert found.coverage == 1.0
    assert [r.label for r in rules] == [str(int(np.argmax(e))) for e in expected]


def test_conditions_on_a_column_are_merged():
    frame = _table(1)
    coded = OneHot.of(frame, ["n", "x", "t"])
    tree = DecisionTreeClassifier(random_state=0).fit(coded.matrix(frame), frame["y"])
    for rule in RuleSet.from_tree(tree, features=coded.names, coding=coded.coding):
        assert len(rule.columns) == len(rule.conditions)


def test_merging_cuts_bounds_and_sets_together():
    assert merged(
        [
            Between("a", low=1),
            OneOf("t", ("x",), negated=True),
            Between("a", low=1, high=9, low_closed=True),
            OneOf("t", ("y",), negated=True),
            Between("a", high=9, high_closed=True),
        ]
    ) == (Between("a", 1, 9), OneOf("t", ("x", "y"), negated=True))
    assert merged([OneOf("t", ("x", "y", "z")), OneOf("t", ("y",), negated=True)]) == (
        OneOf("t", ("x", "z")),
    )
    with pytest.raises(InputError, match="no value can meet"):
        merged([OneOf("t", ("x",)), OneOf("t", ("y",))])


def test_ordinal_codes_become_sets_of_values():
    tree = DecisionTreeClassifier().fit([[0], [1], [2], [3]], ["p", "q", "q", "p"])
    coding = {"size": Ordinal("size", ("S", "M", "L", "XL"))}
    rules = RuleSet.from_tree(tree, features=["size"], coding=coding, target="y")
    assert rules.to_text() == ("size = S -> y=p\nsize in {M, L} -> y=q\nsize = XL -> y=p")


def test_shares_of_the_leaves_can_be_kept():
    tree = DecisionTreeClassifier(max_depth=1).fit([[0], [1], [1], [1]], ["p", "p", "q", "q"])
    rules = RuleSet.from_tree(tree, features=["a"], target="y", shares=True)
    assert rules.to_text().splitlines()[1].startswith("a > 0.5 -> y ~ {p: 0.333")
    assert rules[1].label == "q"


def test_names_are_remembered_from_a_frame():
    pandas = pl.DataFrame({"age": [1.0, 2.0]}).to_pandas()
    tree = DecisionTreeClassifier().fit(pandas, [True, False])
    assert RuleSet.from_tree(tree).to_text() == "age <= 1.5 -> true\nage > 1.5 -> false"


@pytest.mark.parametrize(
    ("tree", "options", "said"),
    [
        (DecisionTreeClassifier(), {}, "fit it first"),
        (DecisionTreeRegressor().fit([[0], [1]], [0, 1]), {}, "classification tree"),
        (RandomForestClassifier(2).fit([[0], [1]], [0, 1]), {}, "one by one"),
        (DecisionTreeClassifier().fit([[0], [1]], [0, 1]), {}, "has no feature names"),
        (
            DecisionTreeClassifier().fit([[0], [1]], [0, 1]),
            {"features": ["a", "b"]},
            "fitted on 1 feature, got 2",
        ),
        (
            DecisionTreeClassifier().fit([[0], [1]], [0, 1]),
            {"features": ["a"], "coding": {"b": Indicator("b", "x")}},
            "coding names 'b'",
        ),
        (
            DecisionTreeClassifier().fit([[0], [9]], [0, 1]),
            {"features": ["a"], "coding": {"a": Indicator("a", "x")}},
            "outside the codes 0 to 1",
        ),
    ],
)
def test_wrong_trees_are_told(tree, options, said):
    with pytest.raises(InputError, match=said):
        RuleSet.from_tree(tree, **options)


def _node(weights, children=(), feature=None, threshold=None):
    return SimpleNamespace(weights=weights, children=children, feature=feature, threshold=threshold)


def test_records_of_c45_become_rules_without_the_leaves_that_no_row_reached():
    by_job = _node((2, 2), [_node((2, 0)), _node((0, 0)), _node((0, 2))], feature="job")
    root = _node((2, 5), [by_job, _node((0, 3))], feature="age", threshold=30.0)
    schema = SimpleNamespace(names=("age", "job"), levels=(None, ("a", "b", "c d")))
    model = SimpleNamespace(
        classes_=np.array(["no", "yes"]), tree_=SimpleNamespace(root=root, schema=schema)
    )
    assert RuleSet.from_tree(model, target="ill").to_text() == (
        "age <= 30 and job = a -> ill=no\nage <= 30 and job = 'c d' -> ill=yes\nage > 30 -> ill=yes"
    )


@pytest.mark.parametrize("seed", range(5))
def test_every_row_meets_the_one_rule_that_says_what_c45_predicts(seed):
    frame = _table(seed)
    model = C45Classifier(prune=seed % 2 == 0).fit(frame.drop("y"), frame["y"].to_numpy())
    rules = RuleSet.from_tree(model, target="y")
    assert len(rules) > 3
    found = count_rules(rules, frame, "y")
    assert (found.coverage, int(found.support.sum())) == (1.0, frame.height)
    said = frame.with_columns(y=pl.Series(model.predict(frame.drop("y"))))
    predicted = count_rules(rules, said, "y", labels=found.labels).by_label
    for rule, by_label in zip(rules, predicted):
        assert by_label.tolist() == [
            by_label.sum() if label == rule.label else 0 for label in found.labels
        ]


def test_mined_rules_follow_the_settings_of_the_paper(dataset):
    adult = read_table(dataset("adult_train.csv.gz"), target="class", missing="?")
    frame = adult.frame.drop_nulls()
    rules = mine_rules(Table(frame, adult.roles))
    # The paper prints 35 rules for Adult, on nine tenths of the rows and fewer columns.
    assert 20 <= len(rules) <= 45
    found = count_rules(rules, frame, "class")
    assert found.support.min() >= 0.02 * frame.height
    assert found.support.sum() == frame.height
    assert RuleSet.parse(rules.to_text()) == rules


def test_rare_values_are_never_split_off():
    frame = pl.DataFrame({"t": ["a"] * 50 + ["b"] * 50 + [f"u{i}" for i in range(5)]})
    assert len(OneHot.of(frame, ["t"], least_rows=3).features) == 2


def test_a_table_that_teaches_nothing_gives_one_rule_without_conditions():
    frame = pl.DataFrame({"a": [1, 1, 1], "y": ["p", "p", "q"]})
    assert mine_rules(Table(frame, Roles(target="y"))).to_text() == "-> y=p"


@pytest.mark.parametrize(
    ("options", "said"), [({"min_support": 0}, "min_support"), ({"max_depth": 0}, "max_depth")]
)
def test_wrong_settings_are_told(options, said):
    table = Table(pl.DataFrame({"a": [1, 2], "y": ["p", "q"]}), Roles(target="y"))
    with pytest.raises(InputError, match=said):
        mine_rules(table, **options)


def test_only_rare_values_leave_nothing_to_mine():
    frame = pl.DataFrame({"t": [f"u{i}" for i in range(100)], "y": ["p", "q"] * 50})
    with pytest.raises(InputError, match="no column left"):
        mine_rules(Table(frame, Roles(target="y")))


def test_mined_bounds_are_short_and_still_part_the_rows():
    rng = np.random.default_rng(0)
    mass = rng.normal(30, 8, 400).round(1)
    frame = pl.DataFrame({"mass": mass, "y": np.where(mass + rng.normal(0, 4, 400) > 31, "a", "b")})
    rules = mine_rules(Table(frame, Roles(target="y")))
    conditions = [c for rule in rules.rules for c in rule.conditions if isinstance(c, Between)]
    bounds = {b for c in conditions for b in (c.low, c.high)}
    assert len(bounds) > 3
    assert all(float(f"{b:.6g}") == b for b in bounds)
    counts = count_rules(rules, frame, "y")
    assert counts.by_label.sum() == counts.covered.sum() == 400


def test_a_split_between_present_and_missing_tells_of_the_present_ones():
    frame = pl.DataFrame({"dose": [1.0, 3.0, 2.0, None, None, None], "ill": list("nnnyyy")})
    mined = mine_rules(Table(frame, Roles(target="ill")))
    assert mined.to_text() == "dose <= 3 -> ill=n"
    tree = DecisionTreeClassifier().fit(frame[["dose"]].to_numpy(), frame["ill"].to_numpy())
    any_number = RuleSet.from_tree(tree, features=["dose"], target="ill")
    assert count_rules(any_number, frame, "ill").by_label.tolist() == [[3, 0]]
