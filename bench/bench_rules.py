"""Counting 10,000 rules over a million rows, against scikit-learn's `apply` and pandas' `query`.

The rules are the leaves of a forest of CART trees grown by the paper's settings, so that both
peers can answer the same question. `query` is timed on a sample of the rules and scaled up.
"""

from __future__ import annotations

import tracemalloc
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from bench.ratio import Ratio, seconds, show
from tamis.rules import Between, Rule, RuleSet
from tamis.rules.count import count_rules

ROWS, COLUMNS, RULES = 1_000_000, 10, 10_000
SAMPLE = 20
LIMIT = 256 * 2**20


def main() -> None:
    values, labels = _table()
    forest = _forest(values, labels)
    names = [f"c{i}" for i in range(COLUMNS)]
    sets = [RuleSet.from_tree(tree, features=names) for tree in forest.estimators_]
    rules = RuleSet([rule for one in sets for rule in one])
    frame = pl.DataFrame(values, schema=names).with_columns(y=pl.Series(labels))
    ours = seconds(lambda: count_rules(rules, frame, "y", memory=LIMIT), repeat=2)
    apply = seconds(lambda: _by_apply(forest.estimators_, values, labels), repeat=1)
    pandas = frame.to_pandas()
    step = max(1, len(rules) // SAMPLE)
    some = [rules[i] for i in range(0, len(rules), step)]
    query = seconds(lambda: [_by_query(pandas, r) for r in some], repeat=1) * len(rules) / len(some)
    _agree(rules, some, frame, pandas)
    what = f"{len(rules):,} rules x {ROWS:,} rows"
    show(
        "counting rules",
        [
            Ratio(what, f"scikit-learn apply, {len(sets)} trees", ours, apply, 1 / 3),
            Ratio(what, f"DataFrame.query, {len(some)} rules scaled", ours, query, 1 / 50),
        ],
    )
    _show_one_tree(values, labels, names, frame)
    for limit in (LIMIT, LIMIT // 8):
        peak = _peak(rules, frame.head(100_000), limit)
        print(f"peak besides the table: {peak / 2**20:.0f} of {limit / 2**20:.0f} MiB allowed")


def _table() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(ROWS, COLUMNS)).astype(np.float32)
    score = values[:, 0] + values[:, 1] * values[:, 2] + rng.normal(size=ROWS)
    return values, (score > 0).astype(np.int64)


def _forest(values: np.ndarray, labels: np.ndarray) -> RandomForestClassifier:
    """About 35 leaves per tree, as with the paper's settings."""
    few = slice(0, 10_000)
    trees = RandomForestClassifier(
        RULES // 24, min_samples_leaf=0.02, max_depth=12, max_features=None, random_state=0
    )
    return trees.fit(values[few], labels[few])


def _by_apply(trees: list[Any], values: np.ndarray, labels: np.ndarray) -> None:
    """The same matrix via leaf numbers, tree by tree to save memory."""
    for tree in trees:
        leaves = tree.apply(values)
        np.bincount(leaves * 2 + labels, minlength=2 * tree.tree_.node_count)


def _by_query(frame: pd.DataFrame, rule: Rule) -> pd.Series:
    return frame.query(_question(rule))["y"].value_counts()


def _question(rule: Rule) -> str:
    bounds = [c for c in rule.conditions if isinstance(c, Between)]
    above = [f"{c.column} > {c.low}" for c in bounds if np.isfinite(c.low)]
    return " and ".join(above + [f"{c.column} <= {c.high}" for c in bounds if np.isfinite(c.high)])


def _agree(rules: RuleSet, some: list[Rule], frame: pl.DataFrame, pandas: pd.DataFrame) -> None:
    ours = count_rules(RuleSet(some), frame, "y").support.tolist()
    assert ours == [len(pandas.query(_question(r))) for r in some], "the counts differ"


def _show_one_tree(values, labels, names, frame) -> None:
    """One single tree: `apply` walks each row once, so a huge one is its best case, not ours."""
    lines = []
    for leaf, aim in ((0.02, 1.0), (0.0001, 100.0)):
        tree = DecisionTreeClassifier(min_samples_leaf=leaf, random_state=0)
        tree.fit(values[:200_000], labels[:200_000])
        rules = RuleSet.from_tree(tree, features=names)
        ours = seconds(partial(count_rules, rules, frame, "y", memory=LIMIT))
        theirs = seconds(partial(_by_apply, [tree], values, labels))
        what = f"one tree, {len(rules):,} rules"
        lines.append(Ratio(what, "scikit-learn apply", ours, theirs, aim))
    show("one tree", lines)


def _peak(rules: RuleSet, frame: pl.DataFrame, limit: int) -> int:
    tracemalloc.start()
    count_rules(rules, frame, "y", memory=limit)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak
