"""Greedy selection by a target of several classes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import mutual_info_score

from tamis.errors import CannotMeet, InputError
from tamis.risk.containment import containment_anonymity
from tamis.select.containment.greedy import SEVERAL, SeveralClassesSearch, greedy


@st.composite
def tables(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows, columns = draw(st.integers(3, 14)), draw(st.integers(1, 6))
    cells = (rng.random((rows, columns)) < draw(st.sampled_from([0.2, 0.5, 0.9]))).astype(np.uint8)
    return cells, rng.integers(0, 4, rows), rng.random(rows) < 0.8


def entropy(column):
    shares = np.bincount(column) / len(column)
    return -sum(p * np.log(p) for p in shares if p > 0)


def worth(column, label, utility):
    """The utility of one column by its definition."""
    found = mutual_info_score(label, column)
    if utility == "ratio":
        found = found / entropy(column) if entropy(column) > 0 else 0.0
    return round(max(found, 0.0), 12)


def by_definition(cells, label, known, k, utility):
    """Columns by falling worth, each taken where k rows have all that any row has."""
    scores = [worth(cells[known, c], label[known], utility) for c in range(cells.shape[1])]
    chosen: list[int] = []
    for c in sorted(range(cells.shape[1]), key=lambda c: (-scores[c], c)):
        if scores[c] > 0 and containment_anonymity(cells[:, [*chosen, c]]) >= k:
            chosen.append(c)
    return tuple(chosen), scores


@pytest.mark.parametrize("utility", SEVERAL)
@given(table=tables(), k=st.integers(1, 4))
def test_columns_are_taken_by_their_worth_where_k_allows(utility, table, k):
    cells, label, known = table
    if not known.any() or k > len(cells):
        return
    expected, scores = by_definition(cells, label, known, k, utility)
    # Scores that differ by rounding alone may come in either order.
    if len({round(s, 9) for s in scores}) < len(set(scores)):
        return
    for form in (cells, sparse.csr_array(cells), sparse.csc_array(cells)):
        found = SeveralClassesSearch(form, label, labelled=known).of(k, utility)
        assert found.features == expected
        assert found.utility == pytest.approx(sum(scores[c] for c in expected), abs=1e-9)


@pytest.mark.parametrize("utility", SEVERAL)
def test_two_classes_are_a_case_of_several(utility):
    rng = np.random.default_rng(0)
    cells = (rng.random((300, 90)) < 0.1).astype(np.uint8)
    label = (cells[:, :3].sum(axis=1) + rng.random(300) > 0.9).astype(int)
    several = SeveralClassesSearch(cells, label).of(3, utility)
    assert several.features == greedy(cells, label, 3, utility=utility).features
    assert len(several.features) > 3


def test_labels_that_may_not_be_used_change_nothing():
    rng = np.random.default_rng(0)
    cells = (rng.random((200, 20)) < 0.2).astype(np.uint8)
    label, known = rng.integers(0, 3, 200), rng.random(200) < 0.5
    other = np.where(known, label, 2 - label)
    one, two = (
        SeveralClassesSearch(cells, y, labelled=known).of(2, "ratio") for y in (label, other)
    )
    assert one == two


def test_what_everybody_or_nobody_has_is_worth_nothing():
    cells = np.column_stack([np.ones(6), np.zeros(6), [1, 1, 0, 0, 0, 0]]).astype(np.uint8)
    for utility in SEVERAL:
        assert SeveralClassesSearch(cells, [0, 0, 1, 1, 2, 2]).of(2, utility).features == (2,)


def test_what_cannot_be_asked_is_refused():
    search = SeveralClassesSearch(np.eye(3, dtype=np.uint8), ["a", "b", "c"])
    with pytest.raises(InputError, match="one of 'information', 'ratio'"):
        search.of(1, "distcnt")
    with pytest.raises(CannotMeet, match="at most 3"):
        search.of(4, "ratio")
    with pytest.raises(InputError, match="3 labels"):
        SeveralClassesSearch(np.eye(3, dtype=np.uint8), ["a", "b"])
