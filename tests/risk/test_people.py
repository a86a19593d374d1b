"""Where people have several rows: every measure by its definition, over plain rows."""

from __future__ import annotations

from collections import Counter, defaultdict
from math import exp, inf, log

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import wasserstein_distance

from tamis import Roles, Table
from tamis.errors import InputError
from tamis.risk.anonymity import k_anonymity, reidentification
from tamis.risk.audit import exposure, riskiest_columns
from tamis.risk.containment import containment_anonymity, entity_anonymity
from tamis.risk.diversity import l_diversity, t_closeness
from tamis.risk.grouping import scope

QUASI = ["n", "t", "b"]


@st.composite
def tables(draw):
    """A table of people with one row or several; anything but the person may be missing."""
    cells = [
        st.sampled_from("ABCDEF"),
        st.sampled_from([None, 1, 2]),
        st.sampled_from([None, "x", "y"]),
        st.booleans(),
        st.sampled_from([None, 1, 2, 4, 7]),
    ]
    rows = draw(st.lists(st.tuples(*cells), min_size=1, max_size=16))
    names = ["who", "n", "t", "b", "ill"]
    kinds = [pl.String, pl.Int64, pl.String, pl.Boolean, pl.Int64]
    frame = pl.DataFrame(rows, schema=dict(zip(names, kinds)), orient="row")
    return Table(frame, Roles(sensitive="ill", identifiers=("who",), person=("who",)))


def by_class(table, quasi=QUASI):
    """Class -> the person and the sensitive value of each row."""
    classes = defaultdict(list)
    for row in table.frame.iter_rows(named=True):
        classes[tuple(row[c] for c in quasi)].append((row["who"], row["ill"]))
    return classes


def crowds(classes):
    """Person -> the fewest people in a class that holds a row of theirs."""
    least: dict[str, float] = {}
    for rows in classes.values():
        people = {who for who, _ in rows}
        for who in people:
            least[who] = min(least.get(who, inf), len(people))
    return least


@given(tables())
def test_classes_count_people(table):
    classes = by_class(table)
    sizes = [len({who for who, _ in rows}) for rows in classes.values()]
    alone = crowds(classes)
    assert k_anonymity(table) == min(sizes)
    grouping = scope(table).grouped()
    assert grouping.unique_people == sum(size == 1 for size in alone.values())
    lonely = [len(rows) for rows, size in zip(classes.values(), sizes) if size == 1]
    assert grouping.unique_rows == sum(lonely)
    rows: Counter[int] = Counter()
    for held, size in zip(classes.values(), sizes):
        rows[size] += len(held)
    for found in grouping.class_sizes:
        assert found.classes == sizes.count(found.size)
        assert found.rows == rows[found.size]
        assert found.people == list(alone.values()).count(found.size)
    assert sum(found.people for found in grouping.class_sizes) == len(alone)


@given(tables())
def test_columns_count_people(table):
    whole = crowds(by_class(table))
    unique = list(whole.values()).count(1)
    found = riskiest_columns(table)
    for effect in found:
        classes = by_class(table, [c for c in QUASI if c != effect.column])
        without = list(crowds(classes).values())
        assert effect.k_anonymity == min(without)
        assert effect.k_gain == min(without) - min(whole.values())
        assert effect.unique_people == without.count(1)
        assert effect.fewer_unique == unique - without.count(1)
        lonely = [rows for rows in classes.values() if len({who for who, _ in rows}) == 1]
        assert effect.unique_rows == sum(map(len, lonely))
    assert list(found) == sorted(found, key=lambda e: (-e.fewer_unique, -e.k_gain))


@given(tables(), st.integers(1, 4))
def test_l_counts_each_person_and_value_once(table, least):
    found = l_diversity(table, recursive_l=least)
    distinct, entropy, recursive = [], [], []
    for rows in by_class(table).values():
        people = len({who for who, _ in rows})
        counts = sorted(Counter(value for _, value in set(rows)).values(), reverse=True)
        total = sum(counts)
        distinct.append(min(len(counts), people))
        spread = exp(-sum(c / total * log(c / total) for c in counts))
        entropy.append(min(spread, people))
        tail = sum(counts[least - 1 :])
        recursive.append(counts[0] / tail if tail and people >= least else inf)
    assert found.distinct == min(distinct)
    assert found.entropy == pytest.approx(min(entropy))
    assert found.recursive_c == pytest.approx(max(recursive))


@given(tables())
def test_t_compares_people_and_their_values(table):
    whole = {(who, value) for rows in by_class(table).values() for who, value in rows}
    every = [value for _, value in whole]
    numbers = sorted(set(every) - {None})
    missing = [None] if None in every else []
    equal = ordered = 0.0
    for rows in by_class(table).values():
        held = [value for _, value in set(rows)]
        apart = [held.count(v) / len(held) - every.count(v) / len(every) for v in set(every)]
        equal = max(equal, sum(map(abs, apart)) / 2)
        for order in ([*missing, *numbers], [*numbers, *missing]):
            steps = wasserstein_distance(*([order.index(v) for v in vs] for vs in (held, every)))
            ordered = max(ordered, steps / max(1, len(order) - 1))
    assert t_closeness(table, distance="equal") == pytest.approx(equal, abs=1e-12)
    assert t_closeness(table, distance="ordered") == pytest.approx(ordered, abs=1e-12)


@given(tables(), st.floats(0.05, 1))
def test_attackers_find_people(table, threshold):
    risks = [1 / size for size in crowds(by_class(table)).values()]
    found = reidentification(table, threshold=threshold)
    assert found.prosecutor == found.journalist == max(risks)
    above = sum(risk > threshold for risk in risks) / len(risks)
    assert found.prosecutor_above == found.journalist_above == pytest.approx(above)
    assert found.marketer == pytest.approx(sum(risks) / len(risks))


@given(tables(), tables())
def test_a_population_may_have_several_rows_of_a_person(table, others):
    renamed = others.frame.with_columns((pl.lit("other ") + pl.col("who")).alias("who"))
    both = pl.concat([table.frame, renamed])
    everyone = Table(both, table.roles)
    found = reidentification(table, population=everyone)
    sizes = {c: len({who for who, _ in rows}) for c, rows in by_class(everyone).items()}
    risk: dict[str, float] = defaultdict(float)
    for c, rows in by_class(table).items():
        for who, _ in rows:
            risk[who] = max(risk[who], 1 / sizes[c])
    assert found.journalist == pytest.approx(max(risk.values()))
    assert found.marketer == pytest.approx(sum(risk.values()) / len(risk))


@given(
    seed=st.integers(0, 10**6),
    rows=st.integers(1, 30),
    columns=st.integers(0, 8),
    wide=st.sampled_from([0, 20, 70]),
    form=st.sampled_from([np.asarray, sparse.csr_array]),
)
def test_containment_counts_people(seed, rows, columns, wide, form):
    rng = np.random.default_rng(seed)
    X = (rng.random((rows, columns)) < rng.random(columns)).astype(int)
    X = np.hstack([X, np.zeros((rows, wide), int)])
    people = rng.integers(0, max(1, rows // 2), rows)
    expected = [len(set(people[(e <= X).all(axis=1)])) for e in X]
    assert entity_anonymity(form(X), people=people).tolist() == expected
    assert containment_anonymity(form(X), people=people) == min(expected)


def test_eight_stays_of_a_person_are_no_crowd():
    frame = pl.DataFrame({"who": np.repeat(["a", "b", "c"], 8), "age": np.repeat([1, 2, 3], 8)})
    table = Table(frame, Roles(identifiers=("who",)))
    assert k_anonymity(table) == 1
    assert k_anonymity(table.with_roles(person=())) == 8
    found = exposure(table)
    assert (found.people, found.unique_people, found.unique_share) == (3, 3, 1.0)
    assert (found.rows, found.unique_rows, found.unit) == (24, 24, "people")
    assert exposure(frame.drop("who"), people=frame["who"]).to_dict() == found.to_dict()
    assert exposure(frame.drop("who")).unit == "rows"


def test_one_person_has_one_value_however_many_rows():
    """Three stays with three diagnoses: who is found is known in all of them."""
    frame = pl.DataFrame({"who": ["a"] * 3 + ["b", "c"], "age": [1, 1, 1, 2, 2], "ill": [*"xyzxy"]})
    found = l_diversity(Table(frame, Roles(sensitive="ill", identifiers=("who",))))
    assert (found.distinct, found.entropy) == (1, 1.0)


def test_people_that_do_not_match_the_rows_are_refused():
    with pytest.raises(InputError, match="one person per row: 3 rows, got shape"):
        k_anonymity(pl.DataFrame({"a": [1, 2, 3]}), people=["x"])
    with pytest.raises(InputError, match="missing or mixed"):
        k_anonymity(pl.DataFrame({"a": [1, 2]}), people=["x", None])
