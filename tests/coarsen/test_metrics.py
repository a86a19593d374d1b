"""Metrics against their definitions, and bounds that nothing falls below."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.coarsen.classes import coded_rows, grouped_at
from tamis.coarsen.ladder import Hierarchy
from tamis.coarsen.metrics import METRICS, metric_named
from tamis.errors import InputError
from tamis.require import requirements
from tests.coarsen import definitions
from tests.coarsen.strategies import coded, constraints, tables

factors = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])


@given(tables(), constraints, st.sampled_from(METRICS), factors, st.data())
def test_scores_are_as_defined(table, asked, name, factor, data):
    levels = data.draw(st.sampled_from(table.nodes))
    rows = coded(table)
    metric = metric_named(name, rows, asked, factor, len(table.rows))
    found = metric.score(metric.total(grouped_at(rows, levels, asked)))
    expected = definitions.score(table, levels, asked, name, factor)
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(tables(), constraints, st.sampled_from(METRICS), factors, st.data())
def test_no_node_falls_below_a_bound(table, asked, name, factor, data):
    rows = coded(table)
    most = data.draw(st.integers(0, len(table.rows)))
    metric = metric_named(name, rows, asked, factor, most)
    high = data.draw(st.sampled_from(table.nodes))
    low = tuple(data.draw(st.integers(0, level)) for level in high)
    between = tuple(data.draw(st.integers(a, b)) for a, b in zip(low, high))
    node = grouped_at(rows, between, asked)
    if node.rows_suppressed > most:  # not admissible, so bounds do not speak of it
        return
    total = metric.total(node) + 1e-9 * max(1, abs(metric.total(node)))
    coarse, fine = grouped_at(rows, high, asked), grouped_at(rows, low, asked)
    finer = metric.finer(coarse)
    assert metric.anywhere()[between] <= total
    assert (finer if isinstance(finer, float) else finer[between]) <= total
    assert metric.within(coarse, low) <= total
    assert metric.coarser(fine) <= total


def test_spread_is_zero_only_where_there_is_one_level():
    job = Hierarchy((np.arange(4), np.array([0, 0, 1, 1]), np.zeros(4, int)))
    rows = coded_rows([np.array([0, 1, 2, 3]), np.array([3, 3, 0, 1])], [job, job])
    asked = requirements(k=2)
    node = grouped_at(rows, (2, 2), asked)
    for name in METRICS:
        spread = metric_named(name, rows, asked, 0.5, 4).spread(node, (0, 2))
        assert spread[0] > 0 == spread[1]


def test_a_column_of_one_value_costs_nothing():
    constant = Hierarchy((np.zeros(1, int),))
    rows = coded_rows([np.zeros(3, int)], [constant])
    asked = requirements(k=2)
    node = grouped_at(rows, (0,), asked)
    for name in ("loss", "precision", "entropy", "normentropy", "height"):
        metric = metric_named(name, rows, asked)
        assert metric.score(metric.total(node)) == 0


def test_average_class_size_of_nothing_is_infinite():
    rows = coded_rows([np.array([0, 1])], [Hierarchy((np.arange(2),))])
    metric = metric_named("aecs", rows, requirements(k=1), 0.0, 2)
    assert math.isinf(metric.total(grouped_at(rows, (0,), requirements(k=1))))


@pytest.mark.parametrize(
    ("name", "factor", "words"), [("gain", 0.5, "unknown metric"), ("loss", 1.5, "from 0 to 1")]
)
def test_unknown_metrics_and_factors_are_refused(name, factor, words):
    rows = coded_rows([np.array([0])], [Hierarchy((np.arange(1),))])
    with pytest.raises(InputError, match=words):
        metric_named(name, rows, requirements(), factor)
