"""Releases of drawn rows: what they cost, what they are judged by, and what may be told of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tamis import Roles, Table
from tamis.datasets import patients
from tamis.errors import CannotMeet, InputError
from tamis.evaluate.assessment import Assessment
from tamis.evaluate.evaluator import Evaluator
from tamis.flow import Settings, consider
from tamis.learn.bayes import AdditiveNaiveBayes
from tamis.learn.holdout import HoldOut, column_labels, fit_predict
from tamis.outcome import Outcome
from tamis.propose import propose
from tamis.propose.problem import Problem
from tamis.propose.synthetic import Synthetic
from tamis.publication.bundle import publish
from tamis.release import DrawnRelease, Recipe, Release
from tamis.verification.layout import read_json, write_json
from tamis.verification.verify import verify
from tests.publication.records import for_recipient

pytest.importorskip("opendp", reason="opendp is not installed (the extra dp has it)")

BOUNDS = {"stay_days": [1, 30], "visits": [0, 30], "readmitted": ["no", "yes"]}


def records(rows: int = 600) -> Table:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, rows)
    cells = (rng.random((rows, 8)) < np.where(y, 0.8, 0.2)[:, None]).astype(int)
    frame = pl.DataFrame(cells, schema=list("abcdefgh")).with_columns(y=np.where(y, "u", "v"))
    return Table(frame, Roles(target="y"))


def problem(table: Table, epsilon: float | None = 2.0) -> Problem:
    split = HoldOut.drawn(table.frame[table.target])
    return Problem(table, split, 5, AdditiveNaiveBayes(), epsilon=epsilon)


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    settings = Settings(
        epsilon=2.0, methods={"dp": {"bounds": BOUNDS}, "noise": {}}, attackers=("nb",)
    )
    return consider(patients(rows=600), settings)


@pytest.fixture
def folder(outcome: Outcome, tmp_path: Path) -> Path:
    return publish(outcome, tmp_path / "out")


def test_rows_are_drawn_within_the_bounds_at_the_asked_cost() -> None:
    (release,) = propose(problem(patients(rows=600)), [Synthetic(bounds=BOUNDS)]).releases
    assert release.name == "dp partition, epsilon = 2"
    assert release.features == ("stay_days", "visits")
    assert release.recipe.public["budget"]["epsilon"] == pytest.approx(2.0)
    assert release.recipe.public["budget"]["guarantee"]
    assert release.table.frame["stay_days"].is_between(1, 30).all()
    assert not release.promises


def test_columns_of_zero_and_one_are_chosen_under_noise() -> None:
    method = Synthetic(features=3, items=list("abcdefg"), bounds={"y": ["u", "v"]})
    (release,) = propose(problem(records()), [method]).releases
    assert "h" not in release.features
    assert release.recipe.public["kind"] == "selected"
    assert len(release.features) == 3
    what = [part["what"] for part in release.recipe.public["budget"]["spent"]]
    assert what == ["choosing 3 features", "counts of all cells"]


def test_several_kinds_are_drawn_where_asked() -> None:
    kinds = ["histogram", "partition"]
    found = propose(problem(patients(rows=600)), [Synthetic(kinds=kinds, bounds=BOUNDS)]).releases
    assert [r.recipe.public["kind"] for r in found] == kinds


def test_the_rehearsal_never_looks_at_held_out_rows() -> None:
    """Held-out rows all lie beyond where the seen ones are: no rehearsed row may follow them."""
    rows = 400
    table = Table(pl.DataFrame({"x": [0] * rows, "y": ["a", "b"] * (rows // 2)}), Roles(target="y"))
    question = problem(table, epsilon=20.0)
    far = np.where(question.split.is_seen, 0, 9)
    moved = Table(table.frame.with_columns(x=pl.Series(far)), table.roles)
    question = Problem(moved, question.split, 5, question.classifier, epsilon=20.0)
    (release,) = propose(question, [Synthetic(bounds={"x": [0, 9], "y": ["a", "b"]})]).releases
    assert isinstance(release, DrawnRelease)
    both = release.table, release.evaluation_sample
    share = [np.mean(t.frame["x"].to_numpy() > 5) for t in both]
    assert share[0] == pytest.approx(0.5, abs=0.05)
    assert share[1] < 0.05


def _drawn_release(table: Table, drawn: pl.DataFrame) -> Release:
    rows = Table(drawn).with_roles(target="y")
    recipe = Recipe("dp", {"budget": {"epsilon": 1.0}})
    return DrawnRelease("drawn", rows, recipe, unaltered=table, evaluation_sample=rows)


def test_a_model_learns_from_drawn_rows_and_is_judged_on_true_ones() -> None:
    """Drawn rows that say the opposite of the truth teach the opposite of the truth."""
    table = records()
    split = HoldOut.drawn(table.frame["y"])
    evaluator = Evaluator(table, split, AdditiveNaiveBayes(), {"nb": AdditiveNaiveBayes()})
    swapped = table.frame.with_columns(y=pl.col("y").replace({"u": "v", "v": "u"}))[:100]
    assessment = Assessment(evaluator, _drawn_release(table, swapped))
    features, labels = table.only(table.features), column_labels(table, "y")
    truly = fit_predict(evaluator.classifier, features, labels, split.seen, split.held)
    assert truly.right.mean() > 0.9
    assert assessment.predictions.right.mean() < 0.1
    assert assessment.guesses["nb"].right.mean() < 0.1, "the sensitive column is the target"
    assert assessment.k_anonymity is None
    assert assessment.containment is None


def test_attackers_of_a_column_that_is_not_drawn_get_people_as_they_are() -> None:
    table = records().with_roles(sensitive="h")
    split = HoldOut.drawn(table.frame["y"])
    evaluator = Evaluator(table, split, AdditiveNaiveBayes(), {"nb": AdditiveNaiveBayes()})
    narrow = Table(table.frame.drop("h"), Roles(target="y"))
    assessment = Assessment(evaluator, _drawn_release(narrow, narrow.frame[:50].reverse()))
    plain = evaluator.attacked(table.only(table.features))
    np.testing.assert_array_equal(assessment.guesses["nb"].right, plain["nb"].right)


def test_one_label_only_is_guessed() -> None:
    table = records()
    split = HoldOut.drawn(table.frame["y"])
    evaluator = Evaluator(table, split, AdditiveNaiveBayes(), {"nb": AdditiveNaiveBayes()})
    assessment = Assessment(
        evaluator, _drawn_release(table, table.frame.filter(pl.col("y") == "u")[:40])
    )
    assert set(assessment.predictions.predicted) == {"u"}


def test_with_an_epsilon_nothing_but_drawn_rows_is_chosen(outcome: Outcome) -> None:
    assert outcome.decision.chosen.release.is_drawn
    assert list(outcome.settings.proposing) == ["dp", "noise"]
    for row in outcome.decision.scorecard.rows:
        fails = outcome.decision.failures.get(row.release.name, ())
        assert row.release.is_drawn != any("epsilon" in f.short for f in fails)


def test_epsilon_alone_adds_the_method_before_the_usual_ones() -> None:
    assert list(Settings(epsilon=1.0).proposing) == [
        "dp",
        "front",
        "coarsen",
        "breach",
        "containment",
    ]
    assert list(Settings().proposing) == ["front", "coarsen", "breach", "containment"]
    assert list(Settings(methods={}).proposing) == []


def test_the_manifest_tells_the_budget_and_no_figure_of_people(folder: Path) -> None:
    content = read_json(folder / "manifest.json")
    assert content["budget"]["epsilon"] == pytest.approx(2.0)
    assert content["budget"]["bounds"]["visits"] == [0, 30]
    assert content["measured"] == []
    assert content["promises"] == []
    assert not any("choice" in words for words in content["not_promised"])
    assert content["file"]["rows"] == pl.read_csv(folder / "release.csv").height
    assert verify(folder).private


def test_the_page_to_hand_on_tells_no_figure_of_people(outcome: Outcome, folder: Path) -> None:
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "ε = 2" in page
    assert "in 100" not in page
    assert "What a model learns" not in page
    kept = (folder / "private" / "report.html").read_text(encoding="utf-8")
    assert "What a model learns" in kept
    summary = json.loads((folder / "private" / "summary.json").read_text(encoding="utf-8"))
    assert summary["classes"] is None
    handed_on = for_recipient(summary)
    assert handed_on["table"]["rows"] == outcome.decision.chosen.release.table.rows
    assert not any(handed_on[part] for part in ("measures", "attackers", "classes", "rules"))


def test_a_choice_among_several_and_other_limits_are_told(tmp_path: Path) -> None:
    kinds = ["histogram", "partition"]
    settings = Settings(
        epsilon=4.0,
        max_features=5,
        methods={"dp": {"bounds": BOUNDS, "kinds": kinds}},
        attackers=("nb",),
    )
    made = publish(consider(patients(rows=600), settings), tmp_path / "out")
    told = " ".join(read_json(made / "manifest.json")["not_promised"])
    assert "Which of 2 synthetic tables" in told
    assert "met limits" in told


def test_values_beyond_the_bounds_are_found(folder: Path) -> None:
    content = read_json(folder / "manifest.json")
    content["budget"]["bounds"]["visits"] = [0, 0]
    content["budget"]["domain"]["visits"]["high"] = 0
    write_json(folder / "manifest.json", content)
    with pytest.raises(CannotMeet, match="'visits' has values outside its public bounds"):
        verify(folder)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "public bounds: name the columns to draw and the target 'readmitted'"),
        ({"bounds": {"visits": [0, 30]}}, "the target 'readmitted'"),
        ({"bounds": {**BOUNDS, "colour": [0, 1]}}, "'colour', which is not a column to release"),
        ({"bounds": {**BOUNDS, "hiv": ["positive"]}}, "'hiv', which is not a column to release"),
        ({"kinds": ["magic"]}, "no kind 'magic'"),
        ({"kinds": ["selected"]}, "the target 'readmitted' has no public labels"),
        ({"items": ["milk"], "bounds": {"readmitted": ["no", "yes"]}}, "'milk' are not columns"),
        (
            {"items": ["visits"], "bounds": BOUNDS, "max_rows_per_person": 2},
            "takes the number of rows as public",
        ),
        ({"neighbours": "far"}, "neighbours must be one of"),
        ({"bins": 0}, "bins must be a whole number"),
    ],
)
def test_bad_settings_are_errors_not_notes(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        propose(problem(patients(rows=300)), [Synthetic(**options)])


@pytest.mark.parametrize("epsilon", [0.0, -1.0, float("nan"), float("inf")])
def test_epsilon_is_a_number_above_zero(epsilon: float) -> None:
    with pytest.raises(InputError, match="epsilon must be a number above 0"):
        Settings(epsilon=epsilon)


def test_drawing_needs_an_epsilon() -> None:
    with pytest.raises(InputError, match="--epsilon"):
        Settings(methods={"dp": {}})
    (report,) = propose(problem(records(), epsilon=None), [Synthetic()]).method_reports
    assert "epsilon" in report.note


def test_numbers_may_be_listed_as_texts() -> None:
    """The types of the table do not matter: 0 and "0" are one label, drawn as it is declared."""
    table = Table(pl.DataFrame({"x": [0.5] * 4000, "y": [0, 1] * 2000}), Roles(target="y"))
    method = Synthetic(bounds={"x": [0.0, 1.0], "y": ["0", "1"]})
    (release,) = propose(problem(table), [method]).releases
    assert release.table.frame.schema == {"x": pl.Float64, "y": pl.String}
    assert 0.4 < np.mean(release.table.frame["y"].to_numpy() == "1") < 0.6
