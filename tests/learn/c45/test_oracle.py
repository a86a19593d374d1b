"""C4.5 against a naive version in plain Python, on tiny tables."""

from __future__ import annotations

from itertools import pairwise
from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from tamis.learn.c45 import C45Classifier
from tamis.learn.c45.kernels import estimate

CLASSES = 3
Z = norm.ppf(0.75)


def information(weights):
    total = sum(weights)
    return -sum(w / total * log2(w / total) for w in weights if w > 1e-9) if total > 0 else 0.0


def class_weights(rows, y):
    return [sum(w for r, w in rows if y[r] == c) for c in range(CLASSES)]


def judge(groups, total, y):
    """Gain and gain ratio of dividing the known rows into these groups."""
    known = [row for group in groups for row in group]
    share = sum(w for _, w in known) / total
    sizes = [sum(w for _, w in group) for group in groups]
    rest = sum(
        size / (share * total) * information(class_weights(group, y))
        for size, group in zip(sizes, groups)
    )
    gain = share * (information(class_weights(known, y)) - rest)
    return gain, information([*sizes, total * (1 - share)])


def best_cut(x, rows, total, y):
    known = [(r, w) for r, w in rows if not np.isnan(x[r])]
    weight = sum(w for _, w in known)
    least = max(2, min(25, 0.1 * weight / CLASSES))
    values = sorted({x[r] for r, _ in known})
    found, tries = None, 0
    for low, high in pairwise(values):
        groups = [[(r, w) for r, w in known if (x[r] <= low) == left] for left in (True, False)]
        if min(sum(w for _, w in group) for group in groups) < least - 1e-6:
            continue
        tries += 1
        gain, spread = judge(groups, total, y)
        if gain > (found[0] if found else 0) + 1e-6:
            found = gain, spread, (low + high) / 2, groups
    if found is None or found[0] - log2(tries) / total <= 1e-6:
        return None
    gain = found[0] - log2(tries) / total
    return gain, gain / found[1], *found[2:]


def many_ways(x, levels, rows, total, y):
    groups = [[(r, w) for r, w in rows if x[r] == level] for level in range(levels)]
    if sum(sum(w for _, w in group) >= 2 - 1e-6 for group in groups) < 2:
        return None
    gain, spread = judge(groups, total, y)
    return gain, gain / spread, None, groups


def grow(X, levels, y, rows, everything):
    """A leaf is its class weights; a split is (column, cut, class weights, children)."""
    weights = class_weights(rows, y)
    total = sum(weights)
    if total < 4 - 1e-6 or total - max(weights) < 1e-6:
        return weights
    scores = {}
    for column, n in enumerate(levels):
        x = X[:, column]
        score = many_ways(x, n, rows, total, y) if n else best_cut(x, rows, total, y)
        if score is not None:
            scores[column] = score
    counted = [s[0] for c, s in scores.items() if levels[c] < 0.3 * everything]
    average = sum(counted) / len(counted) if counted else 0.0
    chosen, best = None, 0.0
    for column, (gain, ratio, _, _) in scores.items():
        if gain >= average - 1e-3 and ratio > best + 1e-6:
            chosen, best = column, ratio
    if chosen is None:
        return weights
    _, _, cut, groups = scores[chosen]
    known = sum(w for group in groups for _, w in group)
    lost = [(r, w) for r, w in rows if np.isnan(X[r, chosen])]
    children = []
    for group in groups:
        share = sum(w for _, w in group) / known
        dealt = [(r, w * share) for r, w in lost] if share else []
        children.append(grow(X, levels, y, [*group, *dealt], everything))
    if cut is not None:
        cut = max(v for v in X[:, chosen] if v <= cut + 1e-6)
    return chosen, cut, weights, children


def same(node, tree, names):
    """Whether a naive tree and a record are alike."""
    if isinstance(node, list):
        return not tree.children and tree.weights == pytest.approx(tuple(node))
    column, cut, weights, children = node
    return (
        tree.feature == names[column]
        and tree.threshold == (cut if cut is None else pytest.approx(cut))
        and tree.weights == pytest.approx(tuple(weights))
        and len(children) == len(tree.children)
        and all(same(a, b, names) for a, b in zip(children, tree.children))
    )


def table(seed):
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(8, 30))
    X = rng.integers(0, 5, (rows, 3)).astype(float)
    X[:, 2] = rng.integers(0, 3, rows)
    X[:3, 2] = 0, 1, 2
    y = (X[:, 0] + X[:, 2] + rng.integers(0, 3, rows)).astype(int) % CLASSES
    y[:CLASSES] = range(CLASSES)
    missing = rng.random(X.shape) < rng.choice([0, 0.2])
    missing[:3, 2] = False
    X[missing] = np.nan
    return X, y


def errors(weights):
    return sum(weights) - max(weights)


def collapsed(node):
    """A tree whose subtrees that err no less than a leaf are leaves, and its errors."""
    if isinstance(node, list):
        return node, errors(node)
    column, cut, weights, children = node
    below = [collapsed(child) for child in children]
    wrong = sum(e for _, e in below)
    if wrong >= errors(weights) - 1e-3:
        return weights, errors(weights)
    return (column, cut, weights, [child for child, _ in below]), wrong


def grown(X, y):
    rows = [(r, 1.0) for r in range(len(y))]
    return collapsed(grow(X, [0, 0, 3], y, rows, len(y)))[0]


@given(st.integers(0, 10**6))
def test_growing_equals_the_naive_version(seed):
    X, y = table(seed)
    model = C45Classifier(prune=False, nominal=[2]).fit(X, y)
    assert same(grown(X, y), model.tree_.root, model.tree_.schema.names)


def pessimistic(weights):
    return estimate(np.array(weights, float), 0.25, Z)


def pruned(node):
    """How many leaves stay, and their pessimistic errors."""
    if isinstance(node, list):
        return 1, pessimistic(node)
    _, _, weights, children = node
    below = [pruned(child) for child in children]
    leaves, cost = (sum(part) for part in zip(*below))
    leaf = pessimistic(weights)
    return (1, leaf) if leaf <= cost + 0.1 else (leaves, cost)


@given(st.integers(0, 10**6))
def test_pruning_equals_the_naive_version(seed):
    X, y = table(seed)
    cut_back = C45Classifier(raise_subtrees=False, nominal=[2]).fit(X, y).tree_
    leaves, cost = pruned(grown(X, y))
    ends = cut_back.mass[cut_back.shape[:, 0] < 0]
    assert cut_back.leaves == leaves
    assert sum(pessimistic(line) for line in ends) == pytest.approx(cost)


@pytest.mark.parametrize(
    ("rows", "wrong", "limit"), [(6, 0, 0.206), (9, 0, 0.143), (1, 0, 0.750), (16, 1, 0.157)]
)
def test_limits_of_the_worked_example(rows, wrong, limit):
    # Quinlan 1993, section 4.2; one error in 16 there is the exact binomial, ours the normal.
    estimated = pessimistic([rows - wrong, wrong]) / rows
    assert estimated == pytest.approx(limit, abs=0.0006 if wrong == 0 else 0.003)


def test_an_estimate_grows_steadily_between_none_and_one_error():
    steps = [pessimistic([10 - e, e]) for e in np.linspace(0, 1, 6)]
    assert (np.diff(steps) > 0).all()
    assert np.ptp(np.diff(steps)) < 1e-9
