"""What is asked of groups: each kind by its definition, and never won by splitting a group.

Then the edges of the three attackers.
"""

from __future__ import annotations

from collections import Counter
from math import exp, log
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Table
from tamis.coding import Coded, dense, joined
from tamis.errors import InputError
from tamis.people import People
from tamis.require import requirements
from tamis.risk.anonymity import reidentification
from tests.require.plain import counts_of, plain

ROWS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 3)), min_size=1, max_size=25
)


def groups_of(rows: list[tuple[int, int, int]], columns: tuple[int, ...]) -> list[list[int]]:
    found: dict[tuple[int, ...], list[int]] = {}
    for row in rows:
        found.setdefault(tuple(row[c] for c in columns), []).append(row[2])
    return list(found.values())


def keeps(asked: Any, group: list[int], everybody: list[int]) -> bool:
    asked = plain(asked)
    counts = sorted(Counter(group).values(), reverse=True)
    if len(group) < asked.k:
        return False
    if asked.l is not None:
        shares = [c / len(group) for c in counts]
        entropy = exp(-sum(p * log(p) for p in shares))
        rarer = sum(counts[asked.l - 1 :])
        met = {
            "distinct": len(counts) >= asked.l,
            "entropy": entropy >= asked.l - 1e-9,
            "recursive": counts[0] < asked.c * rarer,
        }
        if not met[asked.l_kind]:
            return False
    if asked.t is not None:
        usual = Counter(everybody)
        own = Counter(group)
        apart = [own[v] / len(group) - usual[v] / len(everybody) for v in usual]
        return bool(sum(map(abs, apart)) / 2 <= asked.t + 1e-9)
    return True


@given(
    ROWS,
    st.integers(1, 4),
    st.sampled_from([None, 2, 3]),
    st.sampled_from(["distinct", "entropy", "recursive"]),
    st.sampled_from([None, 0.0, 0.2, 0.5]),
)
def test_it_is_kept_where_every_group_keeps_it(rows, k, least, kind, t):
    asked = requirements(k, l=least, l_kind=kind, c=2.0, t=t, t_distance="equal")
    first, second, secrets = (np.array(column) for column in zip(*rows))
    secret = pl.Series(secrets)
    one = dense(Coded(first, 3))
    both = dense(joined(Coded(first, 3), Coded(second, 2)))
    found = [asked.met(counts_of(classes, secret)) for classes in (one, both)]
    everybody = secrets.tolist()
    for kept, columns in zip(found, ((0,), (0, 1))):
        assert kept == all(keeps(asked, g, everybody) for g in groups_of(rows, columns))
    if kind != "entropy" or least is None:  # rounding aside, splitting wins nothing
        assert found[0] or not found[1]


def test_recursive_l_is_not_kept_at_exactly_c():
    """The most frequent value occurs less than c times as often as the rarer ones together."""
    counts = counts_of(Coded(np.zeros(6, dtype=np.int64), 1), pl.Series(list("aaaabc")))
    assert not requirements(1, l=2, l_kind="recursive", c=2.0).met(counts)
    assert requirements(1, l=2, l_kind="recursive", c=2.0 + 1e-6).met(counts)
    assert not requirements(1, l=3, l_kind="recursive", c=4.0).met(counts)
    assert requirements(1, l=3, l_kind="recursive", c=4.0 + 1e-6).met(counts)


def test_people_count_and_not_rows():
    classes, secret = Coded(np.zeros(4, dtype=np.int64), 1), pl.Series(["a", "a", "b", "b"])
    people = People.of([0, 0, 0, 1])
    assert requirements(k=4).met(counts_of(classes))
    assert not requirements(k=4).met(counts_of(classes, None, people))
    assert requirements(k=2, l=2).met(counts_of(classes, secret, people))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"k": 0}, "k must be"),
        ({"l": 1}, "l must be a whole number of at least 2"),
        ({"l": 2, "l_kind": "odd"}, "distinct, entropy, recursive"),
        ({"l": 2, "c": 0.0}, "c must be a number above 0"),
        ({"t": 1.5}, "t must be a share between 0 and 1"),
    ],
)
def test_what_cannot_be_asked_is_refused(wrong, words):
    with pytest.raises(InputError, match=words):
        requirements(**wrong)


FRAME = pl.DataFrame({"job": ["cook", "cook", None]})


def test_a_class_of_five_is_not_above_the_default_threshold():
    assert reidentification(pl.DataFrame({"job": ["cook"] * 5})).prosecutor_above == 0
    assert reidentification(pl.DataFrame({"job": ["cook"] * 4})).prosecutor_above == 1


def test_nor_is_one_of_five_in_the_population():
    cooks = pl.DataFrame({"job": ["cook"] * 5})
    found = reidentification(cooks, population=cooks)
    assert (found.prosecutor_above, found.journalist_above) == (0, 0)
    found = reidentification(cooks.head(4), population=cooks)
    assert (found.prosecutor_above, found.journalist_above) == (1, 0)
    found = reidentification(cooks.head(4), population=cooks.head(4))
    assert (found.prosecutor_above, found.journalist_above) == (1, 1)


def test_a_population_may_be_a_table_and_hold_other_columns():
    town = Table(pl.DataFrame({"name": list("abcde"), "job": ["cook"] * 3 + [None] * 2}))
    found = reidentification(FRAME, population=town)
    assert found.journalist == 0.5
    assert found.prosecutor == 1


@pytest.mark.parametrize(
    ("population", "message"),
    [
        ({"name": ["cook"]}, "the population has no column 'job'"),
        ({"job": ["cook", "cook"]}, r"fewer people in the population than in the table \(1 row\)"),
        ({"job": [["cook"]]}, "holds lists"),
    ],
)
def test_wrong_populations(population, message):
    with pytest.raises(InputError, match=message):
        reidentification(FRAME, population=pl.DataFrame(population))


def test_a_threshold_may_be_certainty_which_no_risk_is_above():
    found = reidentification(FRAME, threshold=1)
    assert (found.prosecutor_above, found.journalist_above) == (0.0, 0.0)


@pytest.mark.parametrize("threshold", [0, -1, 1.5, float("nan")])
def test_wrong_thresholds(threshold):
    with pytest.raises(InputError, match="above 0 and at most 1"):
        reidentification(FRAME, threshold=threshold)


def test_the_average_risk_is_that_of_people_in_their_smallest_group():
    classes = Coded(np.array([0, 0, 0, 1]), 2)
    assert counts_of(classes).average_risk == pytest.approx((3 * 1 / 3 + 1) / 4)
    people = People.of([0, 1, 1, 1])  # two in the first group, one of them alone, too
    assert counts_of(classes, None, people).average_risk == pytest.approx((1 / 2 + 1) / 2)
