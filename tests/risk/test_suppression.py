"""Rows that are left out: by trying every set of people, and by definitions of what is asked."""

from __future__ import annotations

from collections import Counter
from itertools import chain, combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.coding import Coded, CodedFrame, coded, dense
from tamis.people import People
from tamis.release import Recipe, Release
from tamis.require import requirements
from tamis.require.k import ContainmentAnonymity, KAnonymity
from tamis.risk.suppression import (
    AlikeRows,
    Suppression,
    all_but_few,
    breaking_classes,
    breaking_containment,
    most_suppressed,
    rows_left,
)
from tamis.table import Roles, Table
from tests.require.plain import counts_of, plain

from .test_anonymity import keeps

KIND = {"k_anonymity": KAnonymity, "containment_anonymity": ContainmentAnonymity}

ROWS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 4)), min_size=1, max_size=9
)
"""Class, sensitive value and person of each row."""
KINDS = st.sampled_from(["distinct", "entropy", "recursive"])
CELLS = st.lists(st.tuples(*[st.sampled_from([0, 1, 2, None])] * 3), min_size=1, max_size=30)
"""Rows of three columns."""


def left_of(rows, asked, people=None):
    classes = Coded(np.array([row[0] for row in rows]), 3)
    secrets = pl.DataFrame({"ill": [str(row[1]) for row in rows]})
    bound = asked.about((), "ill", number=False)
    breaking = breaking_classes(classes, bound, secrets, people)
    return rows_left(len(rows), [breaking], people).tolist()


def numbered(rows):
    return np.unique([row[2] for row in rows], return_inverse=True)[1]


def subsets(people):
    every = sorted(set(people))
    return chain.from_iterable(combinations(every, size) for size in range(len(every) + 1))


def crowded(rows, people, inside, asked) -> bool:
    """Whether each class of the people inside has k of them, and l values."""
    for own in {rows[i][0] for i in range(len(rows)) if people[i] in inside}:
        here = [i for i in range(len(rows)) if rows[i][0] == own and people[i] in inside]
        crowd = {people[i] for i in here}
        values = min(len({rows[i][1] for i in here}), len(crowd))
        if len(crowd) < asked.k or (plain(asked).l or 0) > values:
            return False
    return True


@given(ROWS, st.integers(1, 4), st.sampled_from([None, 2, 3]))
def test_the_largest_set_of_whole_people_stays(rows, k, least):
    asked, people = requirements(k, l=least), numbered(rows)
    good = [set(each) for each in subsets(people) if crowded(rows, people, set(each), asked)]
    largest = max(good, key=len)
    assert all(each <= largest for each in good)
    assert left_of(rows, asked, people) == [person in largest for person in people]


@given(ROWS, st.integers(1, 3), st.sampled_from([None, 2]), KINDS, st.sampled_from([None, 0.3]))
def test_what_stays_keeps_what_is_asked_and_whole_classes_go(rows, k, least, kind, t):
    asked = requirements(k, l=least, l_kind=kind, t=t, t_distance="equal")
    left = left_of(rows, asked)
    inside = [row for row, stays in zip(rows, left) if stays]
    everybody = [row[1] for row in inside]
    for own in {row[0] for row in rows}:
        assert len({stays for row, stays in zip(rows, left) if row[0] == own}) == 1
    for own in {row[0] for row in inside}:
        assert keeps(asked, [row[1] for row in inside if row[0] == own], everybody)


@given(ROWS, st.sampled_from([{"alpha": 0.6}, {"beta": 0.5}, {"delta_disclosure": 0.7}]))
def test_what_stays_keeps_alpha_beta_and_delta(rows, bounds):
    asked = requirements(2, **bounds)
    inside = [row for row, stays in zip(rows, left_of(rows, asked)) if stays]
    if inside:
        classes = dense(coded(pl.Series([row[0] for row in inside])))
        assert not asked.short_of(counts_of(classes, pl.Series([row[1] for row in inside])))


@given(ROWS, st.integers(1, 3), st.sampled_from([None, 2]), KINDS)
def test_no_class_goes_that_keeps_what_is_asked(rows, k, least, kind):
    asked = requirements(k, l=least, l_kind=kind)
    for own in {row[0] for row, stays in zip(rows, left_of(rows, asked)) if not stays}:
        assert not keeps(asked, [row[1] for row in rows if row[0] == own], [])


@given(
    st.lists(st.tuples(*[st.integers(0, 1)] * 3), min_size=1, max_size=7),
    st.integers(1, 3),
)
def test_the_largest_set_of_rows_that_hide_by_containment_stays(rows, k):
    def hidden(inside):
        return all(
            sum(all(a <= b for a, b in zip(rows[i], rows[j])) for j in inside) >= k for i in inside
        )

    places = range(len(rows))
    good = [set(each) for each in subsets(places) if hidden(each)]
    largest = max(good, key=len)
    left = rows_left(len(rows), [breaking_containment(np.array(rows, np.uint8), k)])
    assert set(np.flatnonzero(left)) == largest == set().union(*good)


def release_of(frame, promise="k_anonymity", **roles):
    table = Table(frame, Roles(target="ill", **roles))
    features = tuple(table.features)
    return Release("", table, Recipe("hand"), (KIND[promise](2, columns=features),))


AGES = pl.DataFrame({"age": [30, 30, 40, 50, 50], "ill": list("ynnyn")})


def test_the_few_go_and_more_than_allowed_stay():
    release = release_of(AGES)
    one, none = (Suppression(most, requirements(2), AGES) for most in (1, 0))
    assert one.trimmed(release).table.frame["age"].to_list() == [30, 30, 50, 50]
    assert one.trimmed(release).suppressed_rows == 1
    assert none.trimmed(release) is release


def test_nothing_goes_that_would_leave_nothing_to_learn_from():
    few = Suppression(1, requirements(2), AGES, learnt=(np.array([2]),))
    assert not few.trimmed(release_of(AGES)).is_suppressed


def test_a_person_goes_whole_and_is_counted_once():
    people = People.of([0, 1, 2, 2, 3])
    few = Suppression(1, requirements(2), AGES, people)
    frame = AGES.with_columns(age=pl.Series([30, 30, 40, 30, 30]))
    trimmed = few.trimmed(
        Release("", Table(frame, Roles(target="ill")), Recipe("hand"), people=people)
    )
    assert trimmed.table.frame["age"].to_list() == [30, 30, 30]
    assert (trimmed.suppressed_rows, trimmed.suppressed_people) == (2, 1)
    assert trimmed.people.each_row


def test_columns_of_zero_and_one_hide_by_containment():
    frame = pl.DataFrame({"a": [1, 1, 0, 0], "b": [1, 0, 0, 0], "ill": list("ynyn")})
    trimmed = Suppression(2, requirements(2), frame).trimmed(
        release_of(frame, "containment_anonymity")
    )
    # Nobody else has a and b; without that row nobody else has a.
    assert trimmed.table.frame["a"].to_list() == [0, 0]


@pytest.mark.parametrize("most", [0, 1, 2])
def test_one_more_row_never_leaves_a_small_class(most):
    for age in (30, 40, 60):
        frame = pl.concat([AGES, pl.DataFrame({"age": [age], "ill": ["n"]})])
        found = Suppression(most, requirements(2), frame).trimmed(release_of(frame))
        sizes = found.table.frame["age"].value_counts()["count"].to_list()
        assert not found.is_suppressed or (min(sizes) >= 2 and found.suppressed_rows <= most)


@settings(max_examples=60)
@given(CELLS, st.integers(1, 5), st.integers(0, 4))
def test_a_set_is_kept_if_all_but_few_rows_have_k_like_them(rows, k, most):
    frame = pl.DataFrame(rows, schema=dict.fromkeys("abc", pl.Int64), orient="row")
    codes = CodedFrame(frame)
    alike = AlikeRows({c: codes[c] for c in "abc"}, k, most)
    for size in range(1, 4):
        for chosen in combinations("abc", size):
            sizes = Counter(frame.select(chosen).rows()).values()
            small = sum(n for n in sizes if n < k)
            expected = small <= most < len(rows) if most else small == 0
            assert alike.keep(chosen) == expected


def test_a_column_that_breaks_k_alone_is_in_no_set_and_none_is_always_kept():
    codes = CodedFrame(pl.DataFrame({"who": range(6), "sex": [0, 1] * 3}))
    alike = AlikeRows({name: codes[name] for name in ("who", "sex")}, k=3)
    asked: tuple[list[str], ...] = (["sex"], ["who"], ["sex", "who"], [])
    assert [alike.keep(keys) for keys in asked] == [True, False, False, True]
    assert not AlikeRows({"who": codes["who"]}, k=2).keep(["who"])


def test_unless_some_may_be_left_out_one_small_class_breaks_k():
    ages = Coded(np.array([0, 0, 1]), 2)
    assert not all_but_few(ages, np.ones(3, int), k=2)
    assert all_but_few(ages, np.ones(3, int), k=2, most=1)
    assert not AlikeRows({"age": ages}, k=2).keep(["age"])
    assert AlikeRows({"age": ages}, k=2, most=1).keep(["age"])


@pytest.mark.parametrize(
    ("share", "total", "most"),
    [(0.29, 100, 29), (0.29, 99, 28), (0.07, 100, 7), (0.5, 1, 0), (1.0, 3, 3), (0.0, 9, 0)],
)
def test_a_share_is_as_many_as_it_holds_whole(share, total, most):
    assert most_suppressed(share, total) == most
