"""What a release keeps and tells, as facts: by the rule of the choice, and never of a few."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.analyse.candidates import candidate_facts
from tamis.analyse.column_fates import breaks_k
from tamis.analyse.examination import (
    Examination,
    GuessedFacts,
    close_look_facts,
    examine,
    of_enough,
)
from tamis.analyse.kept_told import CAUTIONS, bits_facts, one_more, winners
from tamis.decide import decide
from tamis.evaluate.close_look import Group, Guessed, Surest
from tamis.evaluate.figure import Figure, wilson_share
from tamis.evaluate.scorecard import scorecard
from tamis.outcome import Outcome
from tamis.release import Recipe, released


@pytest.fixture(scope="module")
def examined(outcome: Outcome) -> Examination:
    return examine(outcome, attacks=False)


def test_winners_are_those_that_would_be_chosen(outcome: Outcome):
    decision, settings = outcome.decision, outcome.settings
    cautions = [0.0, 0.3, 1.0, 2.5, 10.0]
    found = winners(outcome, cautions)
    assert found[0].caution == 0.0
    for caution in cautions:
        would = decide(
            decision.scorecard, settings.limits, settings.weights, by="value", caution=caution
        )
        at = [w.candidate for w in found if w.caution <= caution][-1]
        assert decision.scorecard.rows[at] is would.chosen
    changes = [w.candidate for w in found]
    assert all(one != next_one for one, next_one in pairwise(changes))


def test_the_caution_that_was_used_is_on_the_slider_and_gives_what_was_chosen(
    examined: Examination, outcome: Outcome
):
    odd = replace(outcome, decision=replace(outcome.decision, caution=0.333))
    found = bits_facts(replace(examined, outcome=odd))
    assert found.cautions == tuple(sorted({*CAUTIONS, 0.333}))
    used = bits_facts(examined)
    at = [w.candidate for w in used.winners if w.caution <= used.caution][-1]
    assert outcome.decision.scorecard.rows[at] is outcome.decision.chosen


def test_facts_are_those_of_the_rows_that_report(examined: Examination):
    found, figures = bits_facts(examined), examined.outcome.decision.chosen.figures
    assert figures["kept"] is not None
    assert figures["told"] is not None
    assert found.told is not None
    assert found.kept.value == figures["kept"].value
    assert found.told.value == figures["told"].value
    for share in (found.kept, found.told):
        assert share.interval is not None
        assert 0 <= share.interval.low <= share.value <= share.interval.high <= 1


def test_one_more_column_keeps_k_and_is_worth_most(outcome: Outcome):
    proposed, table = outcome.decision.scorecard, outcome.table
    alone = [released(table, [name], name, Recipe("test")) for name in ("albumin", "blood_group")]
    ends = proposed.baseline.release, proposed.floor.release
    plain = [
        (card, row)
        for card in (proposed, scorecard(outcome.evaluator, *ends, alone))
        for row in card.candidates
        if outcome.evaluator.yardstick.columns(row.release) is not None
    ]
    names = []
    for card, row in plain:
        decision = replace(outcome.decision, scorecard=card, chosen=row, ranked=(row,))
        other = replace(outcome, decision=decision)
        looked = examine(other, attacks=False)
        found, bits = one_more(looked), looked.column_bits
        may = {
            name: bits[name].teaches_beyond - other.decision.caution * bits[name].tells_beyond
            for name in other.table.features
            if name not in row.release.features
            and bits[name].teaches_beyond > 0
            and not breaks_k(other, name)
        }
        assert (found and found.name) == max(may, key=lambda name: may[name], default=None)
        names.append(found and found.name)
    assert any(names)


def test_what_a_column_adds_to_altered_ones_is_not_said(examined: Examination, outcome: Outcome):
    altered = next(
        row
        for row in outcome.decision.scorecard.candidates
        if outcome.evaluator.yardstick.columns(row.release) is None
    )
    other = replace(outcome, decision=replace(outcome.decision, chosen=altered))
    assert one_more(replace(examined, outcome=other)) is None


@given(st.integers(0, 60), st.integers(1, 60), st.integers(1, 12))
def test_no_share_shown_stands_for_fewer_than_k(count: int, rows: int, k: int):
    count = min(count, rows)
    found = of_enough(wilson_share(count, rows), rows, k)
    assert (found is None) == (rows < k or 0 < count < k)


def guessed(precision: float, recall: float, known: float) -> Guessed:
    sure = Surest(0.05, Figure(precision), Figure(recall))
    return Guessed(
        bits=Figure(0.1),
        share=Figure(0.5, 0.4, 1.2),
        accuracy=Figure(0.8),
        auc=None,
        surest=(sure,),
        known=Figure(known),
        largest=(2.0, 1.0),
        group=Group(0, 7, Figure(0.5, 0.1, 0.9)),
        accuracy_of_none=0.6,
    )


def looked_at(examined: Examination, found: Guessed) -> GuessedFacts:
    look = replace(examined.close_look, target=found)
    return close_look_facts(replace(examined, close_look=look)).target


def test_a_close_look_leaves_out_what_stands_for_few(examined: Examination, outcome: Outcome):
    yardstick = outcome.evaluator.yardstick.reporting
    rows = yardstick.parts.report
    k, cases = outcome.settings.k, int(np.bincount(yardstick.target.label[rows]).min())
    few = guessed((k - 1) / round(0.05 * len(rows)), (k - 1) / cases, (k - 1) / len(rows))
    found = looked_at(examined, few)
    assert found.surest[0].precision is None
    assert found.surest[0].recall is None
    assert found.known is None
    enough = looked_at(examined, guessed(1.0, k / cases, k / len(rows)))
    assert enough.surest[0].precision == Figure(1.0)
    assert enough.known is not None
    assert enough.group is not None
    assert enough.known.value == pytest.approx(k / len(rows))
    assert enough.share == Figure(0.5, 0.4, 1.0)
    assert enough.group.people == 7
    assert enough.auc is None


def test_what_differs_between_releases_is_the_holders_alone(outcome: Outcome):
    facts = candidate_facts(outcome)
    ends = (outcome.decision.scorecard.baseline, outcome.decision.scorecard.floor)
    compared = [row for row in outcome.decision.scorecard.rows if row not in ends]
    assert len(compared) > 1
    told = {c.name: c.differs for c in facts}
    for row in compared:
        rest = [each.release.features for each in compared if each is not row]
        own = [c for c in row.release.features if any(c not in names for names in rest)]
        origins = [row.release.sources.get(column, column) for column in own]
        assert all(f"{column}: " in told[row.release.name] for column in origins)
    assert any(told.values())
    (chosen,) = (c for c in facts if c.chosen)
    seen = chosen.for_recipient()
    assert seen is not None
    assert seen.differs == ""
    assert all(c.for_recipient() is None for c in facts if not c.chosen)
