"""Every measure against its definition, written out over plain rows of small random tables."""

from __future__ import annotations

from collections import Counter, defaultdict
from math import exp, inf, log

import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import wasserstein_distance

from tamis.risk.anonymity import k_anonymity, reidentification
from tamis.risk.audit import riskiest_columns
from tamis.risk.diversity import l_diversity, t_closeness
from tamis.risk.grouping import scope

QUASI = {"n": pl.Int8, "t": pl.String, "b": pl.Boolean, "f": pl.Float64}
CELLS = {
    "n": st.sampled_from([None, -100, 100]),
    "t": st.sampled_from([None, "", "a"]),
    "b": st.sampled_from([None, True, False]),
    "f": st.sampled_from([None, 0.5, float("nan")]),
}


@st.composite
def tables(draw):
    """A frame with a number and a text as possible sensitive columns, anything may be missing."""
    chosen = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, unique=True))
    cells = [CELLS[c] for c in chosen]
    number = st.sampled_from([None, 1, 2, 4, 7])
    text = st.sampled_from([None, "x", "y", "z"])
    rows = draw(st.lists(st.tuples(*cells, number, text), min_size=1, max_size=14))
    schema = {c: QUASI[c] for c in chosen} | {"number": pl.Int64, "text": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row"), chosen


def by_class(frame, quasi, sensitive):
    """Class -> its sensitive values; NaN is missing."""
    classes = defaultdict(list)
    for row in frame.with_columns(pl.selectors.float().fill_nan(None)).iter_rows(named=True):
        classes[tuple(row[c] for c in quasi)].append(row[sensitive])
    return classes


def sizes_of(frame, quasi):
    return (
        [len(rows) for rows in by_class(frame, quasi, "text").values()] if quasi else [len(frame)]
    )


@given(tables())
def test_classes(table):
    frame, quasi = table
    sizes = sizes_of(frame, quasi)
    assert k_anonymity(frame, quasi) == min(sizes)
    grouping = scope(frame, quasi).grouped()
    assert grouping.unique_rows == sizes.count(1)
    found = {c.size: (c.classes, c.rows) for c in grouping.class_sizes}
    assert found == {size: (n, n * size) for size, n in Counter(sizes).items()}


@given(tables(), st.floats(0.05, 1))
def test_reidentification(table, threshold):
    frame, quasi = table
    risks = [1 / size for size in sizes_of(frame, quasi) for _ in range(size)]
    found = reidentification(frame, quasi, threshold=threshold)
    assert found.prosecutor == found.journalist == max(risks)
    above = sum(risk > threshold for risk in risks) / len(risks)
    assert found.prosecutor_above == found.journalist_above == above
    assert found.marketer == pytest.approx(sum(risks) / len(risks))


@given(tables(), tables())
def test_journalist_within_a_population(table, others):
    frame, quasi = table
    rest, known = others
    quasi = [c for c in quasi if c in known]
    assume(quasi)
    everyone = pl.concat([frame.select(quasi), rest.select(quasi)])
    named = everyone.with_columns(pl.lit("").alias("text"))
    people = {c: len(rows) for c, rows in by_class(named, quasi, "text").items()}
    risks = [1 / people[c] for c, rows in by_class(frame, quasi, "text").items() for _ in rows]
    found = reidentification(frame, quasi, population=everyone)
    assert found.journalist == max(risks)
    assert found.journalist_above == sum(risk > 0.2 for risk in risks) / len(risks)
    assert found.marketer == pytest.approx(sum(risks) / len(risks))


@given(tables())
def test_columns(table):
    frame, quasi = table
    found = riskiest_columns(frame, quasi)
    assert {e.column for e in found} == set(quasi)
    whole = sizes_of(frame, quasi)
    for e in found:
        sizes = sizes_of(frame, [c for c in quasi if c != e.column])
        assert (e.k_anonymity, e.unique_rows) == (min(sizes), sizes.count(1))
        assert (e.k_gain, e.fewer_unique) == (
            min(sizes) - min(whole),
            whole.count(1) - sizes.count(1),
        )
    assert list(found) == sorted(found, key=lambda e: (-e.fewer_unique, -e.k_gain))


@given(tables(), st.sampled_from(["number", "text"]), st.integers(1, 4))
def test_l_diversity(table, sensitive, least):
    frame, quasi = table
    counts = [sorted(Counter(c).values())[::-1] for c in by_class(frame, quasi, sensitive).values()]
    found = l_diversity(frame, sensitive, quasi, recursive_l=least)
    assert found.distinct == min(len(r) for r in counts)
    entropy = min(-sum(r / sum(rs) * log(r / sum(rs)) for r in rs) for rs in counts)
    assert found.entropy == pytest.approx(exp(entropy))
    tails = [sum(rs[least - 1 :]) for rs in counts]
    c = max(rs[0] / tail if tail else inf for rs, tail in zip(counts, tails))
    assert found.recursive_c == pytest.approx(c)
    assert l_diversity(frame, sensitive, quasi).recursive_l == found.distinct


@given(tables(), st.sampled_from(["number", "text"]))
def test_equal_t_closeness(table, sensitive):
    frame, quasi = table
    whole = frame[sensitive].to_list()
    t = max(
        sum(abs(c.count(v) / len(c) - whole.count(v) / len(whole)) for v in set(whole)) / 2
        for c in by_class(frame, quasi, sensitive).values()
    )
    assert t_closeness(frame, sensitive, quasi, distance="equal") == pytest.approx(t)


@given(tables())
def test_ordered_t_closeness(table):
    frame, quasi = table
    whole = frame["number"].to_list()
    numbers = sorted(set(whole) - {None})
    missing = [None] if None in whole else []
    t = 0.0
    for order in ([*missing, *numbers], [*numbers, *missing]):
        for rows in by_class(frame, quasi, "number").values():
            steps = wasserstein_distance(
                [order.index(v) for v in rows], [order.index(v) for v in whole]
            )
            t = max(t, steps / max(1, len(order) - 1))
    assert t_closeness(frame, "number", quasi) == pytest.approx(t, abs=1e-12)
    turned = frame.with_columns(-pl.col("number"))
    assert t_closeness(turned, "number", quasi) == pytest.approx(t, abs=1e-12)
