"""Searches that count rows keep k people where a person has several rows."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from tamis.errors import CannotMeet
from tamis.people import People
from tamis.perturb.flip import RandomFlip, flip
from tamis.select.containment import ContainmentSelector
from tamis.select.containment.held_out import split_rows
from tamis.select.containment.selection import crowd_of, enough_rows


def records(seed: int, rows: int = 60, columns: int = 6):
    """0/1 rows that resemble the person's other rows, labels that some columns tell."""
    rng = np.random.default_rng(seed)
    people = np.unique(rng.integers(0, rows // 2, rows), return_inverse=True)[1]
    usual = rng.random((people.max() + 1, columns)) < rng.random(columns)
    X = (usual[people] ^ (rng.random((rows, columns)) < 0.05)).astype(np.uint8)
    y = np.where(rng.random(rows) < 0.7, X[:, 0], 1 - X[:, 0])
    y[:2] = 0, 1
    return X, y, people


def by_definition(X, people, privacy):
    hold = [(e <= X if privacy == "containment" else e == X).all(axis=1) for e in X]
    return min(len(set(people[rows])) for rows in hold)


@given(st.integers(0, 10**6), st.integers(1, 8), st.sampled_from(["containment", "equality"]))
def test_chosen_columns_keep_k_people(seed, k, privacy):
    X, y, people = records(seed)
    selector = ContainmentSelector(k, privacy=privacy)
    try:
        selector.fit(X, y, people=people)
    except CannotMeet:
        return
    chosen = X[:, list(selector.selection_.features)]
    assert selector.anonymity_ == by_definition(chosen, people, privacy) >= k
    for i, step in enumerate(selector.selection_.steps):
        first = X[:, [s.feature for s in selector.selection_.steps[: i + 1]]]
        assert step.anonymity == by_definition(first, people, privacy)


@pytest.mark.parametrize("search", ["greedy", "maximal", "improve", "exact"])
def test_every_search_keeps_k_people(search):
    X, y, people = records(4, rows=200, columns=12)
    by_rows = ContainmentSelector(4, search=search).fit(X, y)
    assert crowd_of(X, by_rows.selection_.features, People.of(people)) < 4
    found = ContainmentSelector(4, search=search).fit(sparse.csr_array(X), y, people=people)
    assert found.anonymity_ == by_definition(X[:, found.support_], people, "containment") >= 4
    if search == "exact":
        assert found.bound_ == by_rows.bound_
        assert found.bound_ is not None
        assert found.bound_ >= found.utility_


def test_people_with_a_row_each_change_nothing():
    X, y, _ = records(1)
    found = ContainmentSelector(3).fit(X, y, people=np.arange(len(X))[::-1])
    assert found.selection_ == ContainmentSelector(3).fit(X, y).selection_


@given(st.lists(st.integers(0, 5), min_size=1, max_size=20), st.integers(1, 6))
def test_any_so_many_rows_have_k_people(names, k):
    people = np.unique(names, return_inverse=True)[1]
    if k > people.max() + 1:
        with pytest.raises(CannotMeet, match=r"cannot be met by (1 person|\d people) with"):
            enough_rows(k, People.of(people))
        return
    most = enough_rows(k, People.of(people))
    counts = np.sort(np.bincount(people))[::-1]
    assert most <= len(people)
    assert counts[: k - 1].sum() < most <= counts[: k - 1].sum() + 1


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(1, 6))
def test_flipped_rows_are_those_of_k_people(seed, k):
    X, _, people = records(seed)
    found = flip(X, k, people=people)
    cells = found.matrix.toarray()
    assert found.anonymity == by_definition(cells, people, "equality") >= k


def test_flip_reads_the_people_of_a_table():
    import polars as pl

    from tamis import Roles, Table

    X, _, people = records(3)
    frame = pl.DataFrame(X, schema=list("abcdef")).with_columns(who=people)
    table = Table(frame, Roles(identifiers=("who",)))
    transformer = RandomFlip(4)
    cells = transformer.fit_transform(table).only("abcdef").to_numpy()
    assert transformer.anonymity_ == by_definition(cells, people, "equality") >= 4


def test_more_people_than_there_are_cannot_be_met():
    X, y, people = records(0)
    most = people.max() + 1
    with pytest.raises(CannotMeet, match=f"cannot be met by {most} people"):
        ContainmentSelector(int(most) + 1).fit(X, y, people=people)


@pytest.mark.parametrize("utility", ["auc", "best"])
def test_the_rows_of_a_person_are_held_out_together(monkeypatch, utility):
    """A utility that predicts held-out rows must not have learnt from the same person."""
    from tamis.select.containment import paths

    parts = []

    def watched(*args: Any) -> Any:
        parts.append(split_rows(*args))
        return parts[-1]

    monkeypatch.setattr(paths, "split_rows", watched)
    draw = np.random.default_rng(0)
    people = np.repeat(np.arange(60), 3)
    X = np.repeat(draw.integers(0, 2, (60, 6)), 3, axis=0)
    y = np.repeat(draw.integers(0, 2, 60), 3)
    ContainmentSelector(2, utility=utility).fit(X, y, people=people)
    assert parts
    assert all(not {*people[train]} & {*people[held]} for train, held in parts)
