"""Rows sent down together reach the leaves that each reaches alone."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.learn.c45 import C45Classifier
from tamis.learn.c45 import classifier as trees
from tamis.learn.c45.classifier import leaf_shares
from tamis.learn.c45.fit import encode
from tamis.learn.columns import frame_of_array


def shares_of_one(tree, row, node=0):
    """The definition, for one row, by recursion."""
    column, first, count = tree.shape[node]
    mass = tree.mass[node]
    if column < 0:
        return mass / mass.sum()
    children = range(first, first + count)
    if math.isnan(row[column]):
        part = tree.mass[first : first + count].sum(axis=1) / mass.sum()
        return sum(p * shares_of_one(tree, row, c) for p, c in zip(part, children) if p > 0)
    cut = tree.cut[node]
    child = children[int(row[column]) if math.isnan(cut) else int(row[column] > cut)]
    if tree.mass[child].sum() == 0:
        return mass / mass.sum()
    return shares_of_one(tree, row, child)


@pytest.mark.parametrize("block", [3, 8192])
@given(seed=st.integers(0, 10**6), missing=st.sampled_from([0.0, 0.2, 0.6]), prune=st.booleans())
def test_it_agrees_with_the_definition(block, seed, missing, prune):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, 4, 80), rng.integers(0, 9, 80), rng.integers(0, 5, 80)])
    y = (X.sum(axis=1) + rng.integers(0, 4, 80)) % 3
    X = np.where(rng.random(X.shape) < missing, np.nan, X)
    tree = C45Classifier(nominal=[0, 2], prune=prune, min_rows=1).fit(X, y).tree_
    values = encode(frame_of_array(X), schema=tree.schema).values
    rows = rng.integers(0, 80, 20)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trees, "BLOCK", block)
        shares = leaf_shares(tree, values, rows)
    expected = [shares_of_one(tree, row) for row in values.T[rows]]
    np.testing.assert_allclose(shares, expected, atol=1e-12)


def test_a_branch_without_training_rows_answers_like_its_parent():
    model = C45Classifier(nominal=[0], min_rows=1)
    coded = encode(pl.DataFrame({"v": [0, 0, 1, 2, 2]}), nominal=[0])
    model.fit_coded(coded, [0, 0, 0, 1, 1], rows=[0, 1, 3, 4])
    assert leaf_shares(model.tree_, coded.values, np.array([2, 0])).tolist() == [[0.5, 0.5], [1, 0]]


def test_no_rows_give_no_shares():
    coded = encode(pl.DataFrame({"v": [1, 2]}))
    model = C45Classifier().fit_coded(coded, [0, 1])
    assert leaf_shares(model.tree_, coded.values, np.array([], np.int64)).shape == (0, 2)
