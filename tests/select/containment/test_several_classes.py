"""Greedy selection by a target of several classes."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import mutual_info_score

from tamis.errors import CannotMeet, InputError
from tamis.risk.containment import absence_anonymity, containment_anonymity
from tamis.select.containment import ContainmentSelector
from tamis.select.containment.greedy import MODULAR, GreedySearch
from tamis.select.containment.paths import choose_columns


@st.composite
def tables(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows, columns = draw(st.integers(3, 14)), draw(st.integers(1, 6))
    cells = (rng.random((rows, columns)) < draw(st.sampled_from([0.2, 0.5, 0.9]))).astype(np.uint8)
    return cells, rng.integers(0, 4, rows), rng.random(rows) < 0.8


def entropy(column):
    shares = np.bincount(column) / len(column)
    return -sum(p * np.log(p) for p in shares if p > 0)


def pairs_of(label):
    """The pairs of rows of different classes."""
    return [(i, j) for i, j in combinations(range(len(label)), 2) if label[i] != label[j]]


def worth(column, label, utility):
    """The utility of one column by its definition."""
    if utility == "hamdist":
        pairs = pairs_of(label)
        return sum(bool(column[i] != column[j]) for i, j in pairs) / len(pairs)
    if utility == "difference":
        shares = [column[label == c].mean() for c in np.unique(label)]
        return round(float(np.mean([abs(p - q) for p, q in combinations(shares, 2)])), 12)
    found = mutual_info_score(label, column)
    if utility == "ratio":
        found = found / entropy(column) if entropy(column) > 0 else 0.0
    return round(max(found, 0.0), 12)


def in_majority(cells, label, chosen):
    groups: dict[tuple[int, ...], list[int]] = {}
    for row, y in zip(cells[:, list(chosen)].tolist(), label.tolist()):
        groups.setdefault(tuple(row), []).append(y)
    return sum(max(each.count(y) for y in each) for each in groups.values())


def parted(cells, label, chosen):
    rows = cells[:, list(chosen)]
    return sum(bool((rows[i] != rows[j]).any()) for i, j in pairs_of(label))


def by_set(cells, label, known, k, utility):
    """The best column that fits, again and again, by the utility of the whole set."""
    seen, labels = cells[known], label[known]
    chosen: list[int] = []

    def of(columns):
        pairs = parted(seen, labels, columns)
        return (in_majority(seen, labels, columns), pairs) if utility == "cm" else (pairs,)

    while True:
        now = of(chosen)
        found = [
            (tuple(a - b for a, b in zip(of([*chosen, c]), now)), -c)
            for c in range(cells.shape[1])
            if c not in chosen and containment_anonymity(cells[:, [*chosen, c]]) >= k
        ]
        best = max(found, default=((0,), 0))
        if best[0][-1] <= 0 and best[0][0] <= 0:
            unit = len(labels) if utility == "cm" else len(pairs_of(labels))
            return tuple(chosen), now[0] / unit
        chosen.append(-best[1])


def by_definition(cells, label, known, k, utility):
    """Columns by falling worth, each taken where k rows have all that any row has."""
    scores = [worth(cells[known, c], label[known], utility) for c in range(cells.shape[1])]
    chosen: list[int] = []
    for c in sorted(range(cells.shape[1]), key=lambda c: (-scores[c], c)):
        if scores[c] > 0 and containment_anonymity(cells[:, [*chosen, c]]) >= k:
            chosen.append(c)
    return tuple(chosen), scores


@pytest.mark.parametrize("utility", MODULAR)
@given(table=tables(), k=st.integers(1, 4))
def test_columns_are_taken_by_their_worth_where_k_allows(utility, table, k):
    cells, label, known = table
    if len(np.unique(label[known])) < 2 or len(np.unique(label)) < 3 or k > len(cells):
        return
    expected, scores = by_definition(cells, label, known, k, utility)
    # Scores that differ by rounding alone may come in either order.
    if len({round(s, 9) for s in scores}) < len(set(scores)):
        return
    for form in (cells, sparse.csr_array(cells), sparse.csc_array(cells)):
        found = GreedySearch(form, label, labelled=known).of(k, utility)
        assert found.features == expected
        assert found.utility == pytest.approx(sum(scores[c] for c in expected), abs=1e-9)


@pytest.mark.parametrize("utility", ["distcnt", "cm"])
@given(table=tables(), k=st.integers(1, 4))
def test_sets_grow_by_what_they_are_worth_where_k_allows(utility, table, k):
    cells, label, known = table
    if len(np.unique(label[known])) < 2 or len(np.unique(label)) < 3 or k > len(cells):
        return
    expected, value = by_set(cells, label, known, k, utility)
    found = GreedySearch(sparse.csr_array(cells), label, labelled=known).of(k, utility)
    assert found.features == expected
    assert found.utility == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("stop", ["skip", "stop"])
@pytest.mark.parametrize("utility", [*MODULAR, "distcnt", "cm", "likelihood", "auc", "best"])
def test_two_classes_are_a_case_of_several(utility, stop):
    rng = np.random.default_rng(0)
    cells = (rng.random((300, 30)) < 0.2).astype(np.uint8)
    label = (cells[:, :3].sum(axis=1) + rng.random(300) > 0.9).astype(int)
    two = GreedySearch(cells, label, on_violation=stop, extend=stop == "skip", max_features=12)
    task = replace(two._task, several=label, sources=[]).at(3)
    several = choose_columns(task, utility)
    assert several.features == two.of(3, utility).features
    assert several.utility == pytest.approx(two.of(3, utility).utility, abs=1e-6)
    assert len(several.features) > 1


@pytest.mark.parametrize("search", ["maximal", "improve", "exact"])
def test_searches_by_hamdist_find_what_all_sets_have(search):
    rng = np.random.default_rng(1)
    cells = (rng.random((40, 7)) < 0.4).astype(np.uint8)
    label = (cells[:, 0] + 2 * cells[:, 1]).astype(int)
    every = [c for r in range(8) for c in combinations(range(7), r)]
    fits = [c for c in every if c and containment_anonymity(cells[:, list(c)]) >= 4]
    best = max(sum(worth(cells[:, c], label, "hamdist") for c in chosen) for chosen in fits)
    found = ContainmentSelector(4, utility="hamdist", search=search).fit(cells, label)
    assert found.utility_ <= best + 1e-9
    if search == "exact":
        assert found.utility_ == pytest.approx(best)
        assert found.bound_ == pytest.approx(best)


@pytest.mark.parametrize("utility", ["hamdist", "distcnt"])
def test_exact_among_equals(utility):
    rng = np.random.default_rng(2)
    cells = (rng.random((60, 5)) < 0.5).astype(np.uint8)
    label = (cells[:, 0] + cells[:, 1]).astype(int)
    found = ContainmentSelector(5, utility=utility, search="exact", privacy="equality")
    found.fit(cells, label)
    unit = len(pairs_of(label))

    def value(chosen):
        if utility == "distcnt":
            return parted(cells, label, chosen) / unit
        return sum(worth(cells[:, c], label, "hamdist") for c in chosen)

    every = [c for r in range(1, 6) for c in combinations(range(5), r)]
    fits = [c for c in every if k_of_equals(cells[:, list(c)]) >= 5]
    assert found.utility_ == pytest.approx(max(map(value, fits)))


def k_of_equals(cells):
    return np.unique(cells, axis=0, return_counts=True)[1].min()


@pytest.mark.parametrize("utility", ["cm", "size"])
def test_maximal_by_whole_sets(utility):
    rng = np.random.default_rng(3)
    cells = (rng.random((60, 8)) < 0.5).astype(np.uint8)
    label = (cells[:, 0] + cells[:, 1]).astype(int)
    found = ContainmentSelector(3, utility=utility, search="maximal").fit(cells, label)
    chosen = found.selection_.features
    whole = in_majority(cells, label, chosen) / 60 if utility == "cm" else len(chosen)
    assert found.utility_ == pytest.approx(whole)


@pytest.mark.parametrize("utility", ["hamdist", "distcnt"])
def test_absences_of_several_classes(utility):
    rng = np.random.default_rng(4)
    cells = (rng.random((80, 6)) < 0.5).astype(np.uint8)
    label = rng.integers(0, 3, 80)
    found = ContainmentSelector(3, utility=utility, absences=1, extend=False).fit(cells, label)
    chosen = list(found.selection_.features)
    assert absence_anonymity(cells[:, chosen], 1) == found.anonymity_ >= 3
    by_set_of = parted(cells, label, chosen) / len(pairs_of(label))
    by_sum = sum(worth(cells[:, c], label, "hamdist") for c in chosen)
    assert found.utility_ == pytest.approx(by_set_of if utility == "distcnt" else by_sum)


@pytest.mark.parametrize("search", ["maximal", "improve", "exact"])
def test_what_counts_two_classes_in_each_group_is_refused_in_words(search):
    cells = np.eye(6, dtype=np.uint8)
    selector = ContainmentSelector(1, utility="distcnt", search=search)
    with pytest.raises(
        InputError, match="with 3 classes only search='greedy' can maximise 'distcnt'"
    ):
        selector.fit(cells, [0, 0, 1, 1, 2, 2])


def test_a_function_is_given_the_number_of_the_class():
    seen = []

    def utility(X, y, features):
        seen.append(y.tolist())
        return len(features)

    ContainmentSelector(1, utility=utility).fit(np.eye(3, dtype=np.uint8), ["b", "a", "c"])
    assert seen[0] == [1, 0, 2]


def test_labels_that_may_not_be_used_change_nothing():
    rng = np.random.default_rng(0)
    cells = (rng.random((200, 20)) < 0.2).astype(np.uint8)
    label, known = rng.integers(0, 3, 200), rng.random(200) < 0.5
    other = np.where(known, label, 2 - label)
    one, two = (GreedySearch(cells, y, labelled=known).of(2, "ratio") for y in (label, other))
    assert one == two


def test_what_everybody_or_nobody_has_is_worth_nothing():
    cells = np.column_stack([np.ones(6), np.zeros(6), [1, 1, 0, 0, 0, 0]]).astype(np.uint8)
    for utility in (*MODULAR, "distcnt", "cm"):
        assert GreedySearch(cells, [0, 0, 1, 1, 2, 2]).of(2, utility).features == (2,)


def test_what_cannot_be_asked_is_refused():
    search = GreedySearch(np.eye(3, dtype=np.uint8), ["a", "b", "c"])
    with pytest.raises(CannotMeet, match="at most 3"):
        search.of(4, "ratio")
    with pytest.raises(InputError, match="3 labels"):
        GreedySearch(np.eye(3, dtype=np.uint8), ["a", "b"])
    with pytest.raises(InputError, match="at least two rows of each class"):
        search.of(1, "auc")
