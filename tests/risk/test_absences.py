"""Anonymity with known absences against its definition."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.errors import InputError
from tamis.risk.containment import absence_anonymity, check_absences, containment_anonymity

ROWS = st.integers(1, 5).flatmap(
    lambda width: st.lists(st.tuples(*[st.sampled_from([0, 1])] * width), min_size=1, max_size=7)
)


def by_definition(rows, absences, people):
    """Every row, every set of absent columns, everybody who still fits."""
    least = len(set(people))
    for row in rows:
        lacks = [c for c, cell in enumerate(row) if not cell]
        for many in range(min(absences, len(lacks)) + 1):
            for absent in combinations(lacks, many):
                fit = {
                    person
                    for person, other in zip(people, rows)
                    if all(b >= a for a, b in zip(row, other)) and not any(other[c] for c in absent)
                }
                least = min(least, len(fit))
    return least


@given(ROWS, st.integers(0, 4))
def test_the_fewest_who_fit_by_definition(rows, absences):
    assert absence_anonymity(rows, absences) == by_definition(rows, absences, range(len(rows)))


@given(ROWS, st.integers(0, 3), st.data())
def test_people_with_several_rows_count_once(rows, absences, data):
    people = data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    expected = by_definition(rows, absences, people)
    assert absence_anonymity(rows, absences, people=people) == expected


@given(ROWS)
def test_none_is_containment_and_all_is_equality(rows):
    assert absence_anonymity(rows, 0) == containment_anonymity(rows)
    equal = min(sum(other == row for other in rows) for row in rows)
    assert absence_anonymity(rows, len(rows[0])) == equal
    assert absence_anonymity(rows, 1000) == equal


@given(ROWS)
def test_it_never_rises_with_an_absence_or_a_column(rows):
    width = len(rows[0])
    for absences in range(width):
        here = absence_anonymity(rows, absences)
        assert absence_anonymity(rows, absences + 1) <= here
        narrow = [row[:-1] for row in rows]
        if width > 1:
            assert here <= absence_anonymity(narrow, absences)


@given(ROWS, st.integers(0, 2), st.integers(1, 5))
def test_an_early_stop_tells_whether_it_is_enough(rows, absences, enough):
    exact = absence_anonymity(rows, absences)
    found = absence_anonymity(rows, absences, enough=enough)
    assert (found >= enough) == (exact >= enough)


@pytest.mark.parametrize("odd", [-1, 1.5, True, "1"])
def test_absences_are_counted(odd):
    with pytest.raises(InputError, match="whole number"):
        absence_anonymity([[1]], odd)


def test_as_many_absences_as_are_allowed_are_taken():
    check_absences(4, 4)
    with pytest.raises(InputError, match="absences must be 4 or fewer, got 5"):
        check_absences(5, 4)


def test_a_table_without_rows_is_refused():
    with pytest.raises(InputError, match="at least one row"):
        absence_anonymity(np.zeros((0, 2)), 1)
