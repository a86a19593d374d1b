"""Which columns of wide records are compared."""

from __future__ import annotations

import numpy as np
import pytest

from tamis.binary.records import from_matrix
from tamis.learn.holdout import HoldOut
from tamis.propose import containment
from tamis.propose.containment import screened

ROWS, WIDE = 600, 80
K = 5


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(containment, "MOST_COLUMNS", 12)


@pytest.fixture
def ones():
    return (np.random.default_rng(0).random((ROWS, WIDE)) < 0.3).astype(np.int8)


def test_few_columns_are_all_compared(ones):
    label = ones[:, 0]
    records = from_matrix(ones[:, :12], labels=label)
    assert screened(records, HoldOut.drawn(label), K) == tuple(range(12))


@pytest.mark.parametrize("classes", [2, 3])
def test_columns_that_teach_are_found(ones, classes):
    label = np.minimum(ones[:, 40] + ones[:, 41], classes - 1)
    records = from_matrix(ones, labels=label)
    found = screened(records, HoldOut.drawn(label), K)
    assert {40, 41} <= set(found)
    assert len(found) <= 12
    assert list(found) == sorted(found)


def test_columns_that_tell_are_found(ones):
    label = ones[:, 0]
    ones[:, 60] = ones[:, 61]
    records = from_matrix(ones, labels=label).with_sensitive("x60")
    names = [records.features[c] for c in screened(records, HoldOut.drawn(label), K)]
    assert "x61" in names
    assert "x60" not in names


def test_a_column_that_teaches_only_beside_others_is_found(ones):
    # Alone it promises nothing: the other column hides what it adds.
    rng = np.random.default_rng(1)
    strong = ones[:, 7]
    label = np.where(rng.random(ROWS) < 0.02, 1 - strong, strong)
    ones[:, 9] = np.where(rng.random(ROWS) < 0.9, label != strong, ones[:, 9])
    records = from_matrix(ones, labels=label)
    assert {7, 9} <= set(screened(records, HoldOut.drawn(label), K))


def test_columns_too_rare_for_k_are_left_out(ones):
    label = ones[:, 0].copy()
    ones[:, 5] = 0
    ones[np.flatnonzero(label)[: K - 1], 5] = 1
    records = from_matrix(ones, labels=label)
    assert 5 not in screened(records, HoldOut.drawn(label), K)


def test_labels_of_rows_held_out_do_not_matter(ones):
    label = ones[:, 3].astype(str)
    split = HoldOut.drawn(label)
    other = label.copy()
    other[split.held] = np.random.default_rng(5).permutation(label[split.held])
    one, two = (screened(from_matrix(ones, labels=y), split, K) for y in (label, other))
    assert (label != other).any()
    assert one == two


def test_columns_are_fewer_for_more_rows(monkeypatch):
    monkeypatch.setattr(containment, "MOST_CELLS", 6_000)
    assert containment.most_columns(1_000) == 6
    assert containment.most_columns(10_000) == 1
