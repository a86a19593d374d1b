"""The front proposes what keeps k, the best for any weight, and what attackers cannot know."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import polars as pl
import pytest

from tamis.datasets import patients
from tamis.errors import InputError
from tamis.evaluate.bits import chosen
from tamis.evaluate.bits_scorer import BitsScorer
from tamis.learn.bayes import AdditiveNaiveBayes
from tamis.learn.holdout import HoldOut, column_labels
from tamis.propose.problem import Problem
from tamis.propose.unaltered import KeptToldFront, keeps_k
from tamis.risk.anonymity import k_anonymity
from tamis.risk.containment import containment_anonymity
from tamis.table import Table


def problem(table: Table, k: int = 5) -> Problem:
    labels = column_labels(table, table.target)
    secret = table.sensitive
    secrets = None if secret in (None, table.target) else column_labels(table, str(secret))
    split = HoldOut.drawn(labels, groups=table.people.groups)
    measure = BitsScorer.of(table, split, labels, secrets)
    return Problem(table, split, k, AdditiveNaiveBayes(), yardstick=measure)


@pytest.fixture(scope="module")
def small() -> Table:
    draw = np.random.default_rng(3)
    rows = 300
    target, secret = draw.integers(0, 2, (2, rows))
    columns = {
        "hint": np.where(draw.random(rows) < 0.8, target, draw.integers(0, 9, rows)),
        "both": 2 * target + np.where(draw.random(rows) < 0.7, secret, 1 - secret),
        "leak": np.where(draw.random(rows) < 0.9, secret, 1 - secret),
        "fine": draw.integers(0, 100, rows),
    }
    frame = pl.DataFrame(columns).with_columns(pl.Series("y", target), pl.Series("s", secret))
    return Table(frame).with_roles(target="y", sensitive="s", quasi=("hint", "both", "fine"))


def test_every_proposal_keeps_k(small):
    found = KeptToldFront().propose(problem(small, k=4))
    assert found
    for release in found:
        known = [c for c in release.features if c in small.quasi]
        assert not known or k_anonymity(small, known) >= 4


def test_on_a_narrow_table_the_best_of_all_sets_is_among_the_proposals(small):
    asked = problem(small)
    assert asked.yardstick is not None
    bits, keeps = asked.yardstick.choosing, keeps_k(asked)
    every = [c for size in range(1, 5) for c in combinations(range(4), size) if keeps(c)]
    found = {release.features for release in KeptToldFront().propose(asked)}
    for caution in (0.0, 0.5, 1.0, 4.0):
        best = every[chosen(bits.measured(every), [len(c) for c in every], caution=caution)]
        names = {asked.yardstick.features[c] for c in best}
        assert names in [set(features) for features in found]


def test_the_best_of_no_more_columns_than_asked_for_is_among_the_proposals(small):
    asked = replace(problem(small), most_columns=1)
    assert asked.yardstick is not None
    bits, keeps = asked.yardstick.searching, keeps_k(asked)
    single = [(c,) for c in range(4) if keeps((c,))]
    found = [release.features for release in KeptToldFront(most=1).propose(asked)]
    for caution in (0.0, 1.0, 4.0):
        best = single[chosen(bits.measured(single), [1] * len(single), caution=caution)]
        assert (asked.yardstick.features[best[0]],) in found
    none = replace(asked, most_columns=0)
    assert KeptToldFront().propose(none)


def test_all_that_attackers_cannot_know_is_proposed_alone_and_filled_up():
    table = patients(rows=600)
    found = {release.features for release in KeptToldFront(budget=30).propose(problem(table))}
    unknown = tuple(c for c in table.features if c not in table.quasi)
    assert unknown in found
    filled = max(found, key=len)
    assert set(unknown) < set(filled)
    more = [c for c in table.features if c not in filled]
    for column in more:
        known = [c for c in (*filled, column) if c in table.quasi]
        assert k_anonymity(table, known) < 5


def test_0_and_1_records_keep_k_by_containment():
    draw = np.random.default_rng(0)
    cells = (draw.random((200, 6)) < [0.5, 0.4, 0.3, 0.2, 0.02, 0.01]).astype(np.uint8)
    frame = pl.DataFrame(cells, schema=[f"c{i}" for i in range(6)], orient="row")
    target = np.where(draw.random(200) < 0.8, cells[:, 0], 1 - cells[:, 0])
    table = Table(frame.with_columns(pl.Series("y", target))).with_roles(target="y")
    asked = problem(table, k=8)
    found = KeptToldFront().propose(asked)
    assert found
    for release in map(asked.promising, found):
        chosen_cells = release.table.only(release.features).to_numpy().astype(np.uint8)
        assert containment_anonymity(chosen_cells) >= 8
        assert release.promises[0].key == "containment_anonymity"


def test_nothing_is_proposed_where_no_column_keeps_k(small):
    only = Table(small.frame.select("fine", "y", "s")).with_roles(target="y", sensitive="s")
    assert KeptToldFront().propose(problem(only, k=50)) == []


def test_settings_are_checked():
    with pytest.raises(InputError, match="1 or more"):
        KeptToldFront(budget=0)
