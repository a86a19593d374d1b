"""Pieces, pages and the summary, without data."""

import json
from dataclasses import replace
from typing import Any

import pytest

from experiments.cell import Cell, Kind
from experiments.data import Data
from experiments.page import index, page, write_all
from experiments.paper import Figure, Grid, Paper, Section
from experiments.store import Store
from experiments.summary import by_kind, lines, markdown
from tamis.charts import Panel, line_chart
from tamis.errors import InputError

PAPER = Paper(
    "toy",
    "Nobody (2000), A <script>alert(1)</script> paper",
    "One of three agrees.",
    [
        Section(
            "First",
            "Some words.",
            [
                Cell("Table 1", "a", "x", "1.0", 1.01),
                Cell("Table 1", "a", "y", "2.0", 2.1, tolerance=0.2, reason="other folds"),
                Cell("Table 1", "b", "y", "3.0", 9.0, reason="misprint"),
            ],
            [Figure("Figure 1", line_chart("t", "d", [Panel("p", [0, 1], {"s": [0, 1]})]).svg())],
            [Grid("Beyond", ["name", "value"], [["<b>", 0.123456], ["none", None]])],
        )
    ],
)


def test_a_piece_is_made_once_for_its_settings_and_again_for_others(tmp_path):
    made = []

    def work():
        made.append(1)
        return {"folds": (1, 2)}

    for _ in range(2):  # the second store stands for a later run
        store = Store(tmp_path)
        assert store.piece("toy/one", {"seed": 1}, work) == {"folds": [1, 2]}
    assert len(made) == 1
    Store(tmp_path).piece("toy/one", {"seed": 2}, work)
    assert len(made) == 2


def test_a_piece_that_fails_is_not_kept(tmp_path):
    store = Store(tmp_path)
    with pytest.raises(ZeroDivisionError):
        store.piece("toy", {}, lambda: 1 // 0)
    assert store.piece("toy", {}, lambda: 5) == 5
    with pytest.raises(ValueError, match="not JSON compliant"):
        store.piece("nan", {}, lambda: float("nan"))
    assert not [*tmp_path.glob("*nan*")]


def test_progress_says_what_starts_what_is_done_and_what_was_kept(tmp_path):
    told: list[Any] = []
    store = Store(tmp_path, lambda name, seconds: told.append(seconds))
    store.piece("a", {}, lambda: 1)
    store.piece("a", {}, lambda: 1)
    started, took, kept = told
    assert started is None
    assert took > 0
    assert kept == 0


def test_the_summary_counts_verdicts_and_gives_each_reason_once():
    assert lines([PAPER]) == [("toy", "Table 1", 3, 1, 1, 1, "misprint (1)")]
    assert markdown([PAPER]).splitlines()[-1] == "| all |  | 3 | 1 | 1 | 1 |  |"


def test_what_is_no_agreement_of_a_method_counts_apart():
    kinds: list[Kind] = ["given", "method", "data"]
    (section,) = PAPER.sections
    cells = [replace(cell, kind=kind) for cell, kind in zip(section.cells, kinds)]
    rows = by_kind([replace(PAPER, sections=[replace(section, cells=cells)])])
    counts = {row[0]: tuple(row[1:]) for row in rows[2:]}
    assert counts == {
        "figures of a method": ("1", "0", "1", "0"),
        "shapes of data sets": ("1", "0", "0", "1"),
        "p-values printed as 0.00": ("0", "0", "0", "0"),
        "figures on substitute rows": ("0", "0", "0", "0"),
        "true by construction": ("1", "1", "0", "0"),
    }
    assert "| true by construction | 1 | 1 | 0 | 0 |" in markdown([PAPER.__class__(
        "toy", "", "", [replace(section, cells=cells)])])  # fmt: skip


def test_pages_escape_what_they_show_and_hold_the_print_and_ours():
    text = page(PAPER)
    assert "<script>" not in text
    assert "&lt;b&gt;" in text
    assert "<svg" in text
    assert "9.00<sup>2</sup>" in text
    assert "Tolerance: y 0.2" in text
    assert "quick version" not in text
    assert "quick version" in index([PAPER], quick=True)


def test_results_are_readable_by_machines(tmp_path):
    write_all([PAPER], tmp_path, quick=False)
    found = json.loads((tmp_path / "results.json").read_text())
    assert [c["verdict"] for c in found["papers"][0]["sections"][0]["cells"]] == [
        "equal",
        "within",
        "differs",
    ]
    assert {p.name for p in tmp_path.iterdir()} == {"toy.html", "index.html", "results.json"}


def test_a_missing_dataset_is_named(tmp_path):
    with pytest.raises(InputError, match=r"no file pima\.csv\.gz in the folder of --data"):
        Data(tmp_path).path("pima.csv.gz")
