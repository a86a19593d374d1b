"""Why columns leave or stay: by what they teach and tell beyond the release, and by k."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tamis.evaluate.column_bits import ColumnBits
from tamis.evaluate.scorecard import Row
from tamis.flow import Outcome
from tamis.publish.column_fates import breaks_k, column_stories
from tamis.publish.summary import ColumnFate


@pytest.fixture(scope="module")
def plain(outcome: Outcome) -> Row:
    """A release of columns as they are."""
    return next(
        row
        for row in outcome.decision.scorecard.candidates
        if outcome.evaluator.yardstick.columns(row.release) is not None
    )


def story(outcome: Outcome, row: Row, name: str, teaches: float, tells: float) -> ColumnFate:
    """What is said of a column that would add so much."""
    other = replace(outcome, decision=replace(outcome.decision, chosen=row))
    bits = dict.fromkeys(outcome.table.features, ColumnBits(0.5, 0.5, 0.0, 0.0))
    other.__dict__["column_bits"] = bits | {name: ColumnBits(0.4, 0.3, teaches, tells)}
    return next(found for found in column_stories(other) if found["name"] == name)


@pytest.mark.parametrize(
    ("teaches", "tells", "words"),
    [
        (0.2, 0.0, "More is learnt about readmitted, and next to nothing more is told about hiv."),
        (0.2, 0.1, "More is learnt about readmitted than told about hiv."),
        (0.1, 0.2, "More is told about hiv than learnt about readmitted, but"),
        (0.009, 0.009, "The other released columns say nearly the same."),
    ],
)
def test_why_a_column_leaves(outcome: Outcome, plain: Row, teaches, tells, words):
    name = plain.release.features[0]
    found = story(outcome, plain, name, teaches, tells)
    assert found["fate"] == "released"
    assert found["why"].startswith(words)
    assert found["shares"] == {
        "teaches": 0.4,
        "teaches_beyond": teaches,
        "tells": 0.3,
        "tells_beyond": tells,
    }


@pytest.mark.parametrize(
    ("teaches", "tells", "words"),
    [
        (0.1, 0.2, "What would be learnt about readmitted is not worth what would be told"),
        (0.0, 0.0, "Next to nothing more would be learnt about readmitted."),
        (0.2, 0.1, "A larger release was not clearly worth more."),
    ],
)
def test_why_a_column_stays(outcome: Outcome, plain: Row, teaches, tells, words):
    released = plain.release.features
    other = replace(outcome, decision=replace(outcome.decision, chosen=plain))
    held = [name for name in outcome.table.features if name not in released]
    name = next(name for name in held if not breaks_k(other, name))
    found = story(outcome, plain, name, teaches, tells)
    assert (found["fate"], found["why"].startswith(words)) == ("held back", True)


def test_k_comes_before_what_a_column_teaches(outcome: Outcome, plain: Row):
    other = replace(outcome, decision=replace(outcome.decision, chosen=plain))
    held = [name for name in outcome.table.features if name not in plain.release.features]
    rare = next(name for name in held if breaks_k(other, name))
    assert "fewer than 4 others" in story(outcome, plain, rare, 0.9, 0.0)["why"]


def test_what_a_column_adds_to_altered_ones_is_left_out(outcome: Outcome):
    altered = next(
        row
        for row in outcome.decision.scorecard.candidates
        if outcome.evaluator.yardstick.columns(row.release) is None
    )
    shares = story(outcome, altered, outcome.table.features[0], 0.2, 0.1)["shares"]
    assert shares == {
        "teaches": 0.4,
        "teaches_beyond": None,
        "tells": 0.3,
        "tells_beyond": None,
    }
