"""The optimum against brute force over all levels, and against figures measured elsewhere."""

from __future__ import annotations

import csv
import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.coarsen import lattice
from tamis.coarsen.classes import CodedRows, coded_rows, grouped_at
from tamis.coarsen.ladder import Hierarchy
from tamis.coarsen.ladder_sources import read_ladder
from tamis.coarsen.lattice import full_domain, searched_in_boxes
from tamis.coarsen.metrics import METRICS, metric_named
from tamis.errors import CannotMeet, InputError
from tamis.require import requirements
from tamis.require.base import Requirements
from tamis.risk.suppression import most_suppressed
from tests.coarsen import definitions
from tests.coarsen.strategies import coded, constraints, tables
from tests.long import LONG

limits = st.sampled_from([0.0, 0.1, 0.34, 1.0])
factors = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])


@given(tables(), constraints, st.sampled_from(METRICS), factors, limits, st.booleans())
def test_no_levels_are_better_than_the_optimum(table, asked, name, factor, limit, boxes):
    most = most_suppressed(limit, len(table.rows))
    best = definitions.optimum(table, asked, name, factor, most)
    with pytest.MonkeyPatch.context() as patch:
        if boxes:
            patch.setattr(lattice, "MOST_NODES", 0)
        how: dict[str, Any] = {"metric": name, "max_suppressed": limit, "factor": factor}
        if best is None or best == float("inf"):
            with pytest.raises(CannotMeet, match=r"would have to be suppressed|no levels"):
                full_domain(coded(table), asked, **how)
            return
        found = full_domain(coded(table), asked, **how)
    assert found.score == pytest.approx(best, rel=1e-9, abs=1e-9)
    assert found.node.rows_suppressed <= most
    assert found.proven
    assert found.checked <= found.nodes + 1


@given(tables(), constraints, st.sampled_from(METRICS), limits, st.integers(1, 6))
def test_a_search_that_stops_early_says_how_far_it_may_be_off(table, asked, name, limit, budget):
    most = most_suppressed(limit, len(table.rows))
    best = definitions.optimum(table, asked, name, 0.5, most)
    rows = coded(table)
    metric = metric_named(name, rows, asked, 0.5, most)
    node, bound, _ = searched_in_boxes(rows, asked, metric, budget)
    if best is None or best == float("inf"):
        assert node is None
        return
    slack = 1e-9 * max(1, best)
    if node is not None:
        score = metric.score(metric.total(node))
        assert best - slack <= score
        assert min(metric.score(bound), score) <= best + slack


def test_a_lattice_of_millions_of_nodes_has_a_bound():
    rng = np.random.default_rng(0)
    ten = Hierarchy(tuple(np.arange(16) >> level for level in range(5)))
    leaves = [rng.integers(0, 16, 300) for _ in range(12)]
    found = full_domain(coded_rows(leaves, [ten] * 12), requirements(k=5), max_suppressed=0.1)
    assert found.nodes == 5**12
    assert 0 < found.bound <= found.score < 1
    assert found.node.rows_suppressed <= 30


def test_a_share_of_rows_is_not_cut_short_by_its_digits():
    assert [most_suppressed(i / 100, 100) for i in range(101)] == list(range(101))


def test_what_cannot_be_met_says_what_would_be():
    rows = coded_rows([np.array([0, 1, 1])], [Hierarchy((np.arange(2),))])
    with pytest.raises(CannotMeet, match=r"1 row of 3 .* at most 0"):
        full_domain(rows, requirements(k=2))
    with pytest.raises(InputError, match="share from 0 to 1"):
        full_domain(rows, requirements(k=2), max_suppressed=2)


# ARX's optima, and every node of one lattice; see the README beside them.


@cache
def coded_table(folder: Path, name: str, sensitive: bool) -> CodedRows:
    about = json.loads((folder / "tables.json").read_text())[name]
    path = folder.parents[1] / "data" / f"{about['file']}.csv.gz"
    frame = pl.read_csv(gzip.decompress(path.read_bytes()), infer_schema=False)
    if about["drop_rows_with"]:
        gone = pl.any_horizontal(pl.all() == about["drop_rows_with"])
        frame = frame.filter(~gone)
    leaves, hierarchies = [], []
    for column in about["qi"]:
        ladder = read_ladder(folder / "hierarchies" / f"{about['prefix']}_{column}.csv", column)
        found = ladder.hierarchy(frame[column])
        leaves.append(found.codes)
        hierarchies.append(found.hierarchy)
    values = frame[about["sensitive"]].rank("dense").to_numpy() - 1 if sensitive else None
    return coded_rows(
        leaves, hierarchies, values=None if values is None else values.astype(np.int64)
    )


def asked_for(case: dict[str, str]) -> Requirements:
    kind, number = case["privacy"][2:3], case["privacy"][3:]
    return requirements(
        k=int(case["k"]),
        l=int(number) if kind == "l" else None,
        t=float(number) if kind == "t" else None,
    )


def cases_of_arx(folder: Path) -> list[dict[str, str]]:
    with (folder / "arx_optimal.csv").open() as file:
        return list(csv.DictReader(file))


def test_nodes_have_the_scores_of_arx(golden):
    """All 247 cases, at the levels that ARX found."""
    folder = golden("arx/arx_optimal.csv").parent
    cases = cases_of_arx(folder)
    for case in cases:
        rows = coded_table(folder, case["table"], case["privacy"] != "k")
        asked, most = asked_for(case), most_suppressed(float(case["suppression_limit"]), rows.rows)
        metric = metric_named(case["metric"], rows, asked, float(case["gs_factor"]), most)
        node = grouped_at(rows, tuple(map(int, case["levels"].split("|"))), asked)
        score = metric.score(metric.total(node))
        assert score == pytest.approx(float(case["score_low"]), rel=1e-9, abs=1e-9), case["id"]
        assert node.rows_suppressed <= most
    assert len(cases) == 247


def test_the_optimum_is_that_of_arx(golden):
    """Cases that take less than a fifth of a second; `bench_coarsen` searches all of them."""
    folder = golden("arx/arx_optimal.csv").parent
    cases = [case for case in cases_of_arx(folder) if float(case["cpu_s"]) < 0.2]
    for case in cases if LONG else cases[::4]:
        rows = coded_table(folder, case["table"], case["privacy"] != "k")
        limit = float(case["suppression_limit"])
        how: dict[str, Any] = {"metric": case["metric"], "factor": float(case["gs_factor"])}
        found = full_domain(rows, asked_for(case), max_suppressed=limit, **how)
        expected = pytest.approx(float(case["score_low"]), rel=1e-9, abs=1e-9)
        assert found.score == expected, case["id"]
        assert found.node.rows_suppressed <= most_suppressed(limit, rows.rows)
    assert len(cases) > 100


def test_nodes_of_a_lattice_have_the_known_scores(golden):
    """Every 211th node of the lattice of adult8; `bench_coarsen` measures all."""
    folder = golden("arx/adult8_lattice.npz").parent
    with np.load(folder / "adult8_lattice.npz") as file:
        known = dict(file)
    rows = coded_table(folder, "adult8", False)
    shape = tuple(level + 1 for level in rows.top)
    for place in range(0, int(np.prod(shape)), 211):
        levels = tuple(int(level) for level in np.unravel_index(place, shape))
        for at, k in enumerate((2, 5, 10, 25, 100)):
            check_node(known, (at, *levels), rows, requirements(k=k))


def check_node(
    known: dict[str, Any], at: tuple[int, ...], rows: CodedRows, asked: Requirements
) -> None:
    node = grouped_at(rows, at[1:], asked)
    figures = {
        "suppressed": node.rows_suppressed,
        "kept_classes": np.count_nonzero(~node.suppressed),
    }
    for name in ("discernability", "loss", "entropy"):
        metric = metric_named(name, rows, asked)
        figures[name] = metric.score(metric.total(node))
    for name, figure in figures.items():
        assert figure == pytest.approx(known[name][at], rel=1e-9, abs=1e-9)
