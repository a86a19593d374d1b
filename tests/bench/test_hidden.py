"""Nothing that is shown of an attacker reaches more than the release is said to tell."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from bench.hidden_secrets import ENCODINGS, Encoding, share_read
from tamis.analyse import Analysis, analyse
from tamis.analyse.candidates import CandidateFacts
from tamis.analyse.kept_told import told_words
from tamis.datasets import patients
from tamis.evaluate.bits_scorer import BitsScorer
from tamis.evaluate.evaluator import MOST_VALUES
from tamis.evaluate.readings import LUCK_ERRORS, guess_groups, looked_up
from tamis.evaluate.scorecard import Row
from tamis.flow import Settings, consider
from tamis.learn.holdout import HoldOut, column_labels
from tamis.outcome import Outcome
from tamis.release import Recipe, released
from tamis.table import Table
from tests.long import daily, long

ROUNDING = 1e-6
HARD = ("XOR of six", "hash of a category", "parity of an income")
"""What neither quantiles nor the commonest values show."""


def considered(table: Table, **settings: Any) -> Outcome:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return consider(table, Settings(**settings)).closer()


def hidden(name: str) -> Table:
    return next(e for e in ENCODINGS if e.name == name).table(0, 1500)


@pytest.fixture(scope="module", params=daily(["patients", *HARD], "patients", "XOR of six"))
def found(request: pytest.FixtureRequest) -> tuple[Outcome, Analysis]:
    if request.param == "patients":
        outcome = considered(patients(rows=400))
    else:  # whatever it tells, what teaches is released as it is
        outcome = considered(hidden(request.param), k=1, caution=0.0, methods={"front": {}})
    return outcome, analyse(outcome, attacks=False)


def test_no_learner_that_ran_reads_more_than_told(found: tuple[Outcome, Analysis]):
    outcome, _ = found
    measured = outcome.decision.scorecard.compared.reporting
    bits = outcome.evaluator.yardstick.reporting
    for row in outcome.decision.shown:
        told = row.value("told") or 0.0
        for name, read in readings(outcome, row):
            clear = read.mean() > LUCK_ERRORS * read.std(ddof=1) / np.sqrt(len(read))
            share = read.mean() / measured.secret_scale
            assert not clear or share <= told + ROUNDING, f"{name} of {row.release.name}"
    assert outcome.look is not None
    assert bits.secret is not None


def readings(outcome: Outcome, row: Row) -> Iterator[tuple[str, np.ndarray]]:
    """What each attacker of the scorecard reads, by their own guesses; told by the target too."""
    evaluator = outcome.evaluator
    bits, split, predicted = evaluator.yardstick.reporting, evaluator.split, row.assessment.guesses
    assert bits.secret is not None
    ask, label = bits.parts.report, bits.secret.label
    learnt, asked = (np.searchsorted(split.held, rows) for rows in (split.choosing, ask))
    target = bits.target.label[split.held]
    for name, each in predicted.items():
        for groups in guess_groups(each, learnt):
            of = groups * MOST_VALUES + target
            known = bits.secret.known[0][ask]
            read = looked_up(of[learnt], label[split.choosing], of[asked], known, label[ask])
            yield name, read
    if row is outcome.decision.chosen and outcome.look is not None:
        yield "a slow learner", outcome.look.read[0]


def test_no_figure_of_the_analysis_is_more_than_told(found: tuple[Outcome, Analysis]):
    outcome, analysis = found
    bits, look = analysis.bits, analysis.close_look
    assert bits is not None
    assert bits.told is not None
    assert bits.told.value == max(0.0, outcome.decision.chosen.value("told") or 0.0)
    chosen = next(c for c in analysis.candidates if c.name == outcome.release.name)
    assert chosen.told is not None
    assert chosen.told.value == pytest.approx(bits.told.value)
    assert look is not None
    assert look.sensitive is not None
    assert look.sensitive.share is not None
    assert look.sensitive.share.value <= bits.told.value + ROUNDING
    for wave in bits.waves:
        assert (wave.told or 0.0) <= bits.told.value + ROUNDING
    for other in analysis.candidates:
        if is_part(other, chosen):
            assert other.told is not None
            assert other.told.value <= chosen.told.value + ROUNDING


def is_part(other: CandidateFacts, chosen: CandidateFacts) -> bool:
    """Whether a release has some of the columns of another, both as they are."""
    plain = all("(" not in each.name for each in (other, chosen))
    return plain and set(other.features) <= set(chosen.features)


def test_no_column_and_no_rung_of_one_tells_more_than_the_release(
    found: tuple[Outcome, Analysis],
) -> None:
    """On the page a released column has a bar, and each form of one the rungs beside it."""
    outcome, analysis = found
    assert analysis.bits is not None
    assert analysis.bits.told is not None
    told, kept = analysis.bits.told.value, analysis.bits.kept.value
    as_they_are = outcome.evaluator.yardstick.columns(outcome.release) is not None
    for column in analysis.columns:
        shares = column.shares
        if as_they_are and shares is not None and column.fate == "released":
            assert (shares.tells or 0.0) <= told + ROUNDING, column.name
            assert (shares.tells_beyond or 0.0) <= told + ROUNDING, column.name
            assert shares.teaches <= kept + ROUNDING, column.name
        for rung in () if column.ladder is None else column.ladder.rungs:
            assert rung.told is not None
            assert rung.finer == (rung.told > 0) or rung.told == 0
            assert rung.finer == (rung.kept > 0) or rung.kept == 0
    for view in analysis.bits.views:
        assert not view.released or view.share <= told + ROUNDING


def test_who_shares_a_value_outright_is_told(found: tuple[Outcome, Analysis]):
    """Where most groups of people alike share the secret, looking them up is a reading."""
    outcome, analysis = found
    same = analysis.same_sensitive
    if same is None or not same["of"] or (same["members"] or 0) < outcome.table.rows / 2:
        return
    assert analysis.bits is not None
    assert analysis.bits.told is not None
    assert analysis.bits.told.value > 0.5


@pytest.mark.parametrize("encoding", ENCODINGS, ids=lambda e: e.name)
def test_what_a_decoder_reads_of_all_columns_they_are_known_to_tell(encoding: Encoding) -> None:
    """In bits: as a share of what all columns are found to tell, all of them tell everything."""
    table = encoding.table(2)
    labels, secrets = (column_labels(table, name) for name in ("readmitted", "hiv"))
    yardstick = BitsScorer.of(table, HoldOut.drawn(labels), labels, secrets)
    measured = yardstick.compared([released(table, table.features, "", Recipe(""))]).reporting
    secret, target = secrets == "positive", (labels == "yes").astype(int)
    read = share_read(encoding.read(table, table.frame), secret, target)
    assert measured.telling[0].value / measured.unsure_secret >= 0.8 * read - 0.02


@long
@pytest.mark.parametrize("encoding", ENCODINGS, ids=lambda e: e.name)
@pytest.mark.parametrize("caution", [0.0, 1.0])
def test_no_decoder_reads_far_more_than_told(encoding: Encoding, caution: float) -> None:
    table = encoding.table(1)
    outcome = considered(table, k=1 if caution == 0 else 5, caution=caution)
    assert read_share(encoding, table, outcome) <= told_of(outcome) / 0.8 + 0.02


def told_of(outcome: Outcome) -> float:
    return outcome.decision.chosen.value("told") or 0.0


def read_share(encoding: Encoding, table: Table, outcome: Outcome) -> float:
    release = outcome.release
    read = encoding.read(table, release.table.frame)
    secret = (table.frame["hiv"] == "positive").to_numpy()[release.mask]
    target = (table.frame["readmitted"] == "yes").to_numpy().astype(int)[release.mask]
    return share_read(read, secret, target)


def test_what_gives_a_secret_away_is_named_whether_it_is_released_or_not():
    table = hidden("parity of an income")
    for caution, leaves in ((0.0, True), (4.0, False)):
        outcome = considered(table, k=1, caution=caution, methods={"front": {}})
        bits = analyse(outcome, attacks=False).bits
        assert bits is not None
        (view,) = (each for each in bits.views if each.words == "whether income is even")
        assert view.released == leaves == bits.found
        assert view.share > 0.9
        said = " ".join(told_words(bits, "readmitted", "hiv"))
        assert "hether income is even gives hiv away (" in said
        assert ("Tells " in said) == leaves
        assert ("None of the attackers tried learnt anything about hiv" in said) != leaves
