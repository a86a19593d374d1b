"""Why columns leave or stay: by what they teach and tell beyond the release, and by k."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from tamis.analyse.column_fates import (
    ColumnFate,
    ColumnShares,
    breaks_k,
    column_fates,
    projection_on,
)
from tamis.analyse.examination import Examination, examine
from tamis.analyse.kept_told import WaveFacts, one_more, wave_facts
from tamis.evaluate.column_bits import ColumnBits, Wave
from tamis.evaluate.scorecard import Row
from tamis.flow import Settings, consider
from tamis.outcome import Outcome
from tamis.table import Roles, Table


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
    examined = made_up(outcome, row, name, ColumnBits(0.4, 0.3, teaches, tells))
    return next(found for found in column_fates(examined) if found.name == name)


def made_up(
    outcome: Outcome, row: Row, name: str, bits: ColumnBits, waves: tuple[Wave, ...] = ()
) -> Examination:
    """What models would have made of a release to which this column adds so much."""
    other = replace(outcome, decision=replace(outcome.decision, chosen=row))
    all_bits = dict.fromkeys(outcome.table.features, ColumnBits(0.5, 0.5, 0.0, 0.0))
    return Examination(other, None, waves, all_bits | {name: bits}, {}, None, {})  # type: ignore[arg-type]


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
    assert found.fate == "released"
    assert found.why.startswith(words)
    assert found.shares == ColumnShares(
        teaches=0.4, teaches_beyond=teaches, tells=0.3, tells_beyond=tells
    )


@pytest.mark.parametrize(
    ("teaches", "tells", "words"),
    [
        (0.1, 0.2, "What would be learnt about readmitted is not worth what would be told"),
        (0.0, 0.0, "Next to nothing more would be learnt about readmitted."),
        (0.2, 0.1, "A larger release was worth no more, or hardly more."),
    ],
)
def test_why_a_column_stays(outcome: Outcome, plain: Row, teaches, tells, words):
    released = plain.release.features
    other = replace(outcome, decision=replace(outcome.decision, chosen=plain))
    held = [name for name in outcome.table.features if name not in released]
    name = next(name for name in held if not breaks_k(other, name))
    found = story(outcome, plain, name, teaches, tells)
    assert (found.fate, found.why.startswith(words)) == ("held back", True)


def test_k_comes_before_what_a_column_teaches(outcome: Outcome, plain: Row):
    other = replace(outcome, decision=replace(outcome.decision, chosen=plain))
    held = [name for name in outcome.table.features if name not in plain.release.features]
    rare = next(name for name in held if breaks_k(other, name))
    assert "fewer than 4 others" in story(outcome, plain, rare, 0.9, 0.0).why


def test_what_a_column_adds_to_altered_ones_is_left_out(outcome: Outcome):
    altered = next(
        row
        for row in outcome.decision.scorecard.candidates
        if outcome.evaluator.yardstick.columns(row.release) is None
    )
    shares = story(outcome, altered, outcome.table.features[0], 0.2, 0.1).shares
    assert shares == ColumnShares(teaches=0.4, teaches_beyond=None, tells=0.3, tells_beyond=None)


@pytest.mark.parametrize(
    ("teaches", "tells", "words"),
    [
        (0.2, 0.1, "Adds to what those before it teach about readmitted."),
        (0.1, 0.2, "Adds more to what those before it tell about hiv than"),
        (0.009, 0.009, "Adds too little to those before it to be seen alone"),
    ],
)
def test_why_one_of_very_many_columns_leaves(outcome, plain, teaches, tells, words):
    name = plain.release.features[0]
    wave = Wave((0,), {0: (0.1, 0.1)}, kept=0.4, told=0.9)
    bits = ColumnBits(0.4, 0.3, teaches, tells)
    other = made_up(outcome, plain, name, bits, (wave, replace(wave, columns=(1, 2))))
    found = next(found for found in column_fates(other) if found.name == name)
    assert found.why.startswith(words)
    kept, told = plain.value("kept"), plain.value("told")
    assert wave_facts(other) == (
        WaveFacts(columns=1, kept=min(0.4, kept), told=min(0.9, told)),
        WaveFacts(columns=3, kept=kept, told=told),
    )


def test_columns_of_0_and_1_break_k_where_too_few_have_all_that_somebody_has():
    """Against the definition, where nobody has an equal; and what is said of such columns."""
    rng = np.random.default_rng(1)
    ones = (rng.random((500, 9)) < np.array([0.5, 0.5, 0.5, 0.4, 0.3, 0.1, 0.05, 0.02, 0.3])).T
    ill = np.where(ones[0] + ones[1] + rng.random(500) > 1.5, "yes", "no")
    columns = {f"c{i}": each.astype(int) for i, each in enumerate(ones)}
    table = Table(pl.DataFrame({**columns, "ill": ill}), Roles(target="ill"))
    settings = Settings(k=8, methods={"front": {}}, attackers=("nb",), max_features=3)
    found = consider(table, settings)
    kept = found.decision.chosen.release.features
    assert found.decision.chosen.release.promises[0].key == "containment_anonymity"
    broken = {}
    for name in set(table.features) - set(kept):
        rows = np.array([columns[c] for c in (*kept, name)]).T
        least = min(sum((rows >= row).all(axis=1)) for row in rows)
        broken[name] = least < settings.k
        assert breaks_k(found, name) == broken[name], name
        assert breaks_k(found, name, projection_on(found)) == broken[name], name
    assert {True, False} == set(broken.values())
    examined = examine(found, attacks=False)
    stories = {story.name: story.why for story in column_fates(examined)}
    for name, breaks in broken.items():
        said = "With it, fewer than 8 rows would have all that some of them have."
        assert (stories[name] == said) == breaks
    more = one_more(examined)
    assert more is None or not broken[more.name]
