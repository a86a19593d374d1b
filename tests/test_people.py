"""`People` answers as plain lists of persons do, whether or not each row is one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.errors import InputError
from tamis.people import People

persons = st.lists(st.integers(0, 4), max_size=8) | st.integers(0, 8).map(lambda n: [*range(n)])


@given(persons, st.data())
def test_what_is_asked_of_people_is_what_a_list_tells(names, data):
    rows = len(names)
    people = People.named(names, rows)
    assert people.each_row == (len(set(names)) == rows)
    assert (len(people), people.count) == (rows, len(set(names)))
    known = sorted(set(names))
    if not people.each_row:
        assert people.codes.tolist() == [known.index(name) for name in names]
    some = np.array(data.draw(st.lists(st.booleans(), min_size=rows, max_size=rows)), dtype=bool)
    theirs = {name for name, taken in zip(names, some) if taken}
    assert people.among(some) == people[some].count == len(theirs)
    assert people[np.flatnonzero(some)].count == len(theirs)
    assert people.all_rows(some).tolist() == [name in theirs for name in names]
    again = people[some].renumbered()
    assert sorted(set(again.codes.tolist())) == [*range(len(theirs))]
    values = np.array(data.draw(st.lists(st.integers(-9, 9), min_size=rows, max_size=rows)), int)
    order = names if people.each_row else known
    for figures, pick in ((people.worst(values), max), (people.least(values), min)):
        each = [pick(v for v, n in zip(values.tolist(), names) if n == name) for name in order]
        assert figures.tolist() == each


@given(persons, persons)
def test_others_are_nobody_of_these(one, other):
    both = People.named(one, len(one)).and_others(People.named(other, len(other)))
    assert both.count == len(set(one)) + len(set(other))
    assert len(both) == len(one) + len(other)
    assert not set(both.codes[: len(one)]) & set(both.codes[len(one) :])


@given(persons, st.integers(0, 9), st.integers(0, 9))
def test_a_slice_is_that_of_a_list(names, start, stop):
    assert People.named(names, len(names))[start:stop].count == len(set(names[start:stop]))


def test_people_are_taken_as_they_are():
    people = People.of([0, 1, 0])
    assert People.named(people, 3) is people
    assert np.asarray(people).tolist() == [0, 1, 0]
    with pytest.raises(InputError, match="one person per row: 2 rows, got shape"):
        People.named(people, 2)
    with pytest.raises(InputError, match="one person per row: 2 rows, got shape"):
        People.named("ab", 2)
    with pytest.raises(InputError, match="missing or mixed values"):
        People.named(["ann", None], 2)


def test_of_no_rows_there_is_no_number():
    nobody = People.of([0, 0, 1])[:0]
    assert (nobody.radix, nobody.count, len(nobody)) == (0, 0, 0)
    assert People.of_rows(0).radix == 0
    assert nobody.worst(np.array([], int)).tolist() == []


def test_who_has_none_of_the_rows_taken_has_zero_where_all_are_above():
    some = People.of([0, 0, 1, 2])[np.array([3, 0])]
    assert some.worst(np.array([3.0, 5.0])).tolist() == [5.0, 0.0, 3.0]
