"""What others read of a release, in bits of the same rows."""

from __future__ import annotations

from math import log2

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.evaluate.bits import KeptTold, parts_of
from tamis.evaluate.evaluator import Evaluator
from tamis.evaluate.readings import KNOWN, guess_groups, looked_up, most_telling
from tamis.evaluate.scorecard import scorecard
from tamis.learn.holdout import HoldOut, Predictions
from tamis.learn.models import attackers, seeded
from tamis.release import Recipe, Release, released
from tamis.table import Roles, Table


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 4), st.integers(0, 2**32 - 1))
def test_rows_alike_are_looked_up_as_counted_by_hand(classes, seed):
    draw = np.random.default_rng(seed)
    learnt, label = draw.integers(0, 5, 30), draw.integers(0, classes, 30)
    asked, truth = draw.integers(0, 7, 20), draw.integers(0, classes, 20)
    known = draw.dirichlet(np.ones(classes), 20) * 0.9 + 0.1 / classes
    found = looked_up(learnt, label, asked, known, truth)
    for row, group in enumerate(asked):
        same = label[learnt == group]
        prior = known[row, truth[row]]
        likely = ((same == truth[row]).sum() + KNOWN * prior) / (len(same) + KNOWN)
        assert found[row] == pytest.approx(log2(likely / prior))


def test_a_guess_is_taken_by_what_it_names_and_by_how_sure_it_is():
    likely = np.linspace(0, 1, 100)
    said = np.column_stack([1 - likely, likely])
    named, surely = guess_groups(
        Predictions(np.array([0, 1]), said.argmax(axis=1), np.zeros(100), said), np.arange(100)
    )
    assert len(np.unique(named)) == 2
    assert 10 <= len(np.unique(surely)) <= 30
    (alone,) = guess_groups(
        Predictions(np.array([0, 1]), said.argmax(axis=1), np.zeros(100), None), np.arange(100)
    )
    np.testing.assert_array_equal(alone, named)


def test_another_reading_counts_only_where_it_gains_clearly_and_more():
    draw = np.random.default_rng(0)
    first = draw.normal(0.1, 0.2, 400)
    unclear, worse, better = (draw.normal(m, s, 400) for m, s in ((0.3, 5), (0.05, 0.1), (0.4, 1)))
    assert most_telling(first, []) is first
    assert most_telling(first, [unclear, worse]) is first
    assert most_telling(first, [unclear, better, worse]) is better


def test_readings_are_told_of_whoever_has_more_and_never_lower_a_figure():
    within = parts_of(np.array([[1, 1], [1, 0], [0, 1]], dtype=bool))
    gains = np.tile([[0.5], [0.2], [0.1]], 50) + np.tile([0.01, -0.01], 25)
    before = KeptTold(gains, gains, within, 0, 1.0, 1.0)
    after = before.with_readings({2: np.full(50, 0.4), 1: np.full(50, 0.1)})
    assert after.told.round(6).tolist() == [1.0, 0.4, 0.8]
    more = before.with_readings({1: np.full(50, 1.0)})
    assert more.told.round(6).tolist() == [1.0, 1.0, 0.1]
    np.testing.assert_array_equal(more.kept, before.kept)


def test_what_is_read_clearly_is_told_where_nothing_was_shown_before():
    none = np.zeros((2, 60))
    hidden = KeptTold(none, none, np.eye(2, dtype=bool), 0, 1.0, 1.0, shown=(False, False))
    noise = np.random.default_rng(0).normal(0, 1, 60)
    assert not hidden.with_readings({1: noise - noise.mean() + 0.01}).told.any()
    assert hidden.with_readings({1: np.ones(60)}).told.tolist() == [0.0, 1.0]


def people(rows: int = 3000) -> Table:
    """Who lives where says everything, but places are many and follow no order."""
    draw = np.random.default_rng(4)
    place = draw.integers(0, 100, rows)
    secret = draw.permutation(100)[place] % 2
    frame = pl.DataFrame(
        {
            "place": [f"p{draw_.hex(3)}" for draw_ in map(_Token, place)],
            "age": draw.integers(20, 80, rows),
            "secret": secret,
            "target": draw.integers(0, 2, rows),
        }
    )
    return Table(frame, Roles(target="target", sensitive="secret", quasi=("age",)))


class _Token(int):
    """A number written so that neither its digits nor its letters have an order."""

    def hex(self, size: int) -> str:
        letters = np.random.default_rng(int(self)).choice(list("QWERTZ"), 8)
        return "".join(letters)[: size + 5]


def test_values_without_an_order_are_looked_up():
    table = people()
    evaluator = Evaluator(table, HoldOut.of_table(table), None, {})
    found = evaluator.yardstick.compared([of(table, "place"), of(table, "age"), of(table)])
    for part in (found.choosing, found.reporting):
        assert part.telling[0].value > 0.75 * part.unsure_secret
        assert part.told[1] < 0.05


def of(table: Table, *features: str) -> Release:
    return released(table, features, "a set", Recipe("a set"))


@pytest.mark.parametrize("model", ["c45", "nb"])
def test_what_an_attacker_guesses_is_told(model):
    """One who has seen more than the boosting, here the secret itself."""
    draw = np.random.default_rng(1)
    secret, target = draw.integers(0, 2, (2, 1200))
    frame = pl.DataFrame({"a": draw.integers(0, 9, 1200), "target": target, "secret": secret})
    table = Table(frame, Roles(target="target", sensitive="secret", quasi=("a",)))
    evaluator = Evaluator(table, HoldOut.of_table(table), seeded("nb", 0), attackers([model], 0))
    knows = pl.DataFrame({"a": secret})
    oracle = evaluator.attacked(knows[evaluator.sample])
    evaluator._guessed["secret"] = oracle
    card = scorecard(evaluator, of(table, "a"), of(table), [])
    assert (card.baseline.value("told") or 0.0) < 0.1
    card = card.with_guesses(card.every)
    assert (card.baseline.value("told") or 0.0) > 0.9
    assert (card.floor.value("told") or 0.0) == 0.0
    assert (card.baseline.value("telling") or 0.0) > 0.9


def test_what_rounding_leaves_of_nothing_tells_nothing():
    """Where no split stands, gains are the same tiny number in all rows: sure, but nothing."""
    gains = np.full((2, 100), 1e-8) + np.tile([1e-10, -1e-10], 50)
    measured = KeptTold(gains, gains, np.eye(2, dtype=bool), 0, 1.0, 1.0)
    assert not measured.tells
    assert not measured.teaches
    assert not measured.told.any()


@pytest.mark.parametrize("seed", [4, 7, 12])
def test_nothing_is_told_by_columns_of_noise(seed):
    draw, rows = np.random.default_rng([3, seed]), 1200
    x = draw.normal(size=rows)
    frame = pl.DataFrame(
        {
            "x": np.round(x, 2),
            "z": draw.integers(0, 9, rows),
            "w": draw.integers(0, 2, rows),
            "v": draw.integers(0, 2, rows),
            "code": [f"{code:03d}" for code in draw.integers(0, 60, rows)],
            "target": (x + draw.normal(size=rows) > 0).astype(int),
            "secret": (draw.random(rows) < (0.1 if seed % 2 else 0.4)).astype(int),
        }
    )
    table = Table(frame, Roles(target="target", sensitive="secret", quasi=("z",)))
    evaluator = Evaluator(table, HoldOut.of_table(table), None, {})
    sets = [table.features, ("x",), ("z",), ("code",), ("w", "v"), ()]
    found = evaluator.yardstick.compared([of(table, *features) for features in sets])
    for part in (found.choosing, found.reporting):
        assert not part.told.any()
