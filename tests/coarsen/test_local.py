"""Local recoding against what its definition says, whichever cuts were made."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.coarsen.local import (
    LocalClasses,
    check_local_metric,
    local_classes,
    local_form,
    local_loss,
    local_score,
    local_shares,
)
from tamis.errors import CannotMeet, InputError
from tamis.require import requirements
from tamis.require.base import Requirements
from tests.coarsen.definitions import PlainTable, fits
from tests.coarsen.strategies import constraints, likeness, tables


@given(tables(), constraints, st.none() | likeness, st.booleans())
def test_classes_satisfy_the_constraints_and_no_cut_is_left(table, asked, also, by_target):
    """The oracle knows no order of cuts: each class fits, and no cut of one gives two that fit."""
    asked = asked if also is None else Requirements((*asked, *also.beyond_k))
    leaves = np.array(table.rows).T
    how: dict[str, Any] = {
        "people": None if table.people is None else np.array(table.people),
        "values": np.array(table.values),
        "target": np.array(table.values) if by_target else None,
    }
    widths = [h.leaves for h in table.hierarchies]
    everybody = list(range(len(table.rows)))
    if not fits(table, everybody, asked):
        with pytest.raises(CannotMeet, match="does not satisfy the constraints as one class"):
            local_classes(list(leaves), widths, asked, **how)
        return
    found = local_classes(list(leaves), widths, asked, **how)
    assert sorted(set(found.class_of.tolist())) == list(range(found.classes))
    for each in range(found.classes):
        rows = np.flatnonzero(found.class_of == each)
        assert fits(table, rows.tolist(), asked)
        for line in leaves:
            for leaf in line[rows]:
                low, high = rows[line[rows] <= leaf], rows[line[rows] > leaf]
                both = fits(table, low.tolist(), asked) if len(low) else False
                assert not (both and len(high) and fits(table, high.tolist(), asked))


def mean_risk(table: PlainTable, class_of: Any) -> float:
    """The mean over people of 1 by the people of their smallest class."""
    groups: dict[int, set[int]] = {}
    for row, each in enumerate(class_of):
        groups.setdefault(int(each), set()).add(table.person(row))
    everybody = {table.person(row) for row in range(len(table.rows))}
    smallest = [min(len(g) for g in groups.values() if who in g) for who in everybody]
    return sum(1 / size for size in smallest) / len(smallest)


@given(tables(), st.integers(1, 2), st.sampled_from([0.1, 0.2, 0.34, 0.5, 0.8]))
def test_an_average_risk_is_kept_by_larger_classes(table, k, most):
    leaves, widths = list(np.array(table.rows).T), [h.leaves for h in table.hierarchies]
    people = None if table.people is None else np.array(table.people)
    asked = requirements(k=k, max_average_risk=most)
    everybody = len({table.person(row) for row in range(len(table.rows))})
    if everybody < k or 1 / everybody > most + 1e-12:
        with pytest.raises(CannotMeet, match="does not satisfy the constraints as one class"):
            local_classes(leaves, widths, asked, people=people)
        return
    found = local_classes(leaves, widths, asked, people=people)
    assert mean_risk(table, found.class_of) <= most + 1e-12
    free = local_classes(leaves, widths, requirements(k=k), people=people)
    if mean_risk(table, free.class_of) <= most:
        assert found.class_of.tolist() == free.class_of.tolist()


def test_the_target_decides_where_to_cut():
    narrow, wide = np.array([0, 1] * 4), np.arange(8)
    how: dict[str, Any] = {"leaves": [narrow, wide], "widths": [4, 8]}
    by_range = local_classes(asked=requirements(k=4), **how)
    by_target = local_classes(asked=requirements(k=4), target=narrow, **how)
    assert by_range.class_of.tolist() == [by_range.class_of[0]] * 4 + [by_range.class_of[4]] * 4
    assert set(zip(by_target.class_of.tolist(), narrow.tolist())) in (
        {(0, 0), (1, 1)},
        {(0, 1), (1, 0)},
    )


def test_forms_tell_no_more_than_the_class():
    two = LocalClasses(np.array([0, 0, 0, 1, 1]), 2)
    days = pl.Series("day", ["2024-01-02", "2024-03-04", None, None, None]).str.to_date()
    assert (
        local_form(days, two).to_list() == ["[2024-01-02, 2024-03-04] or missing"] * 3 + [None] * 2
    )
    jobs = pl.Series("^a.*$", ["cook", "judge", None, "cook", "cook"])
    assert local_form(jobs, two).to_list() == ["* or missing"] * 3 + ["cook"] * 2
    assert local_form(jobs, two).name == "^a.*$"


def test_shares_and_loss_are_as_defined():
    two = LocalClasses(np.array([0, 0, 1, 1]), 2)
    ages, jobs = pl.Series([1, 4, 7, 7]), pl.Series(["a", "c", "c", "c"])
    numbers = local_shares(ages, np.array([1, 4, 7, 7]), 10, two)
    groups = local_shares(jobs, np.array([0, 2, 2, 2]), 4, two)
    assert numbers.tolist() == [0.4, 0.1]
    assert groups.tolist() == [0.5, 0.25]
    age, job = (0.25 - 0.1) / 0.9, (0.375 - 0.25) / 0.75
    expected = ((1 + age) * (1 + job)) ** 0.5 - 1
    assert local_loss([numbers, groups], [10, 4], two) == pytest.approx(expected)


def test_scores_without_levels():
    three = LocalClasses(np.array([0, 0, 1, 1, 1]), 2)
    assert local_score("discernability", 0.1, three) == 13
    assert local_score("aecs", 0.1, three) == 2.5
    assert local_score("loss", 0.1, three) == 0.1
    with pytest.raises(InputError, match="no precision"):
        check_local_metric("precision")
