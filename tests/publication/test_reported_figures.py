"""Every figure that is published or printed is of the rows that nothing was chosen by."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from math import floor, log10
from pathlib import Path
from typing import Any

import pytest

from tamis.analyse import Analysis
from tamis.analyse.notes import notes_of
from tamis.cli.release.outcome_words import words
from tamis.evaluate.close_look import close_look
from tamis.limits import Limit, beyond
from tamis.outcome import Outcome


def test_the_manifest_has_what_is_reported(published: Path, outcome: Outcome):
    told = json.loads((published / "manifest.json").read_text())["measured"]
    figures = outcome.decision.chosen.figures
    assert told
    for entry in told:
        figure = figures[entry["key"]]
        assert figure is not None
        assert figure.low is not None
        assert figure.high is not None
        unit = (figure.high - figure.low) / 4  # of a figure that its interval supports, at most
        assert abs(entry["value"] - min(1.0, figure.value)) <= unit / 2 + 1e-9
        assert entry["low"] <= entry["value"] <= entry["high"]
        assert _decimals(entry["value"]) <= max(2, 1 - floor(log10(unit)))


def _decimals(value: float) -> int:
    return len(repr(value).partition(".")[2])


def test_no_public_figure_is_finer_than_its_interval(published: Path):
    """Half the width of an interval is at most twenty units of the last digit that is given."""
    content = json.loads((published / "manifest.json").read_text())
    ends = [(e["value"], e["low"], e["high"]) for e in content["measured"]]
    ends += list(_intervals(content["close_look"]))
    assert len(ends) > 5
    for value, low, high in ends:
        finest = max(map(_decimals, (value, low, high)))
        assert high == low or finest <= 2 or (high - low) / 2 <= 20 * 10**-finest
    text = (published / "report.html").read_text()
    told = [float(t) for t in re.findall(r"(?<![\w.#-])0\.\d+", _data(text))]
    assert all(_decimals(t) <= 4 for t in told)


def _intervals(facts: Any) -> Iterator[tuple[float, float, float]]:
    parts = facts.values() if isinstance(facts, dict) else facts if isinstance(facts, list) else ()
    if isinstance(facts, dict) and isinstance(facts.get("interval"), dict):
        yield facts["value"], facts["interval"]["low"], facts["interval"]["high"]
    for part in parts:
        yield from _intervals(part)


def _data(page: str) -> str:
    """What a page holds as data, for its scripts."""
    return "".join(re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.S))


def test_the_manifest_has_a_close_look_at_the_target_alone(published: Path, outcome: Outcome):
    yardstick, k = outcome.evaluator.yardstick, outcome.settings.k
    content = json.loads((published / "manifest.json").read_text())
    look = content["close_look"]
    assert "share" not in look
    found = close_look(yardstick, outcome.release, k)
    assert look["accuracy"]["value"] == round(found.target.accuracy.value, 2)
    assert "told" not in json.dumps(content)
    assert "telling" not in json.dumps(content)


def test_pages_show_what_is_reported_and_rank_by_what_chose(published: Path, outcome: Outcome):
    summary = json.loads((published / "private" / "summary.json").read_text())
    rows = {row.release.name: row for row in outcome.closer().decision.scorecard.rows}
    for candidate in summary["candidates"]:
        row = rows[candidate["name"]]
        assert candidate["performance"] == row.value("performance")
        assert candidate["pbi"] == row.value("pbi")
        assert (candidate["kept"], candidate["told"]) == (row.value("kept"), row.value("told"))
        assert candidate["worth"] == [row.value_for_choice("kept"), row.value_for_choice("told")]
        if candidate["ranked"]:
            assert candidate["values"]["performance"] == row.value_for_choice("performance")
    findings = outcome.decision.chosen.assessment.reporting
    for attacker, predictions in zip(summary["attackers"], findings.attacked.values()):
        assert attacker["released"] == pytest.approx(predictions.right.mean())
    assert sum(attacker["strongest_before"] for attacker in summary["attackers"]) == 1


def test_the_scorecard_names_both(published: Path, outcome: Outcome):
    card = json.loads((published / "private" / "scorecard.json").read_text())
    baseline = outcome.decision.scorecard.baseline
    for name, figures in (
        ("figures", baseline.figures),
        ("figures_for_choice", baseline.for_choice),
    ):
        performance = figures["performance"]
        assert performance is not None
        assert card["baseline"][name]["performance"] == performance.to_dict()


def test_a_limit_that_is_not_kept_after_all_is_said(outcome: Outcome, analysis: Analysis):
    chosen = outcome.decision.chosen
    assert not any("kept the limit" in line for line in words(outcome, analysis))
    value = chosen.value("performance")
    assert value is not None
    missed = beyond(chosen, (Limit("performance", "at least", value + 0.01),), "report")
    warned = replace(outcome, decision=replace(outcome.decision, missed=missed))
    predictions = f"but is {value:.4g} on the rows used to report (0.01 too little)"
    assert predictions in words(warned, analysis)[-1]
    notes = [note for note in notes_of(warned) if note.level == "warning"]
    assert any(predictions in note.text and not note.public for note in notes)
