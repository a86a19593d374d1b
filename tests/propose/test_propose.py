"""Releases from every method that applies, honest about the rows they may look at."""

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from tamis import Roles, Table, k_anonymity
from tamis.datasets import patients
from tamis.errors import InputError
from tamis.learn.bayes import AdditiveNaiveBayes
from tamis.learn.c45 import C45Classifier
from tamis.learn.holdout import HoldOut
from tamis.propose import Proposals, methods, propose
from tamis.propose.containment import Containment
from tamis.propose.problem import Problem
from tamis.propose.unaltered import Breach, kept_to
from tamis.risk.containment import containment_anonymity

FAST: dict[str, dict[str, Any]] = {
    "breach": {"search": "walk", "folds": 3, "most": 4},
    "containment": {"ks": [5, 20]},
}
WEIGHTS = {"performance": 0.5, "privacy": 0.25, "size": 0.25}


def problem(table: Table, k: int = 5) -> Problem:
    split = HoldOut.drawn(table.frame[table.target])
    return Problem(table, split, k, AdditiveNaiveBayes(), weights=WEIGHTS)


@pytest.fixture(scope="module")
def table() -> Table:
    return patients(rows=500)


@pytest.fixture(scope="module")
def found(table: Table) -> Proposals:
    return propose(problem(table), methods(FAST))


def test_every_method_proposes_and_no_release_comes_twice(found: Proposals, table: Table):
    assert [t.name for t in found.method_reports] == ["breach", "containment"]
    assert all(t.applied for t in found.method_reports)
    sets = [tuple(sorted(r.features)) for r in found.releases]
    assert len(set(sets)) == len(sets)
    names = [r.name for r in found.releases]
    assert len(set(names)) == len(names)
    held = {"patient", "hiv"}
    assert not any(held & set(r.table.frame.columns) for r in found.releases)


def test_containment_keeps_its_promise_over_all_rows(found: Proposals):
    ours = [r for r in found.releases if r.recipe.method == "containment"]
    assert {p.k for r in ours for p in r.promises} == {5, 20}
    for release in ours:
        cells = release.table.only(release.features).to_numpy().astype(np.uint8)
        assert containment_anonymity(cells) >= release.promises[0].k


def test_breach_offers_releases_that_keep_k(found: Proposals, table: Table):
    ours = [r for r in found.releases if r.recipe.method == "breach"]
    known = [p.columns for r in ours for p in r.promises]
    assert all(set(columns) <= set(table.quasi) for columns in known)
    assert any(not columns or k_anonymity(table.frame, columns) >= 5 for columns in known)


def test_breach_offers_what_a_limit_on_columns_and_breach_asks_for(table: Table):
    """Of all sets that the search tried, the best of those that meet both."""
    settings = {"breach": {"most": 1}}
    asked = problem(table)
    few = replace(asked, most_columns=2, most_pbi=0.0)
    plain, limited = (propose(each, methods(settings)).releases for each in (asked, few))
    assert all(release.size > 2 for release in plain)
    assert any(release.size <= 2 for release in limited)
    assert {r.features for r in plain} <= {r.features for r in limited}


def test_held_out_rows_change_no_proposal(table: Table, found: Proposals):
    """The labels of held-out rows are turned around; the same releases must come out."""
    split = problem(table).split
    held = np.zeros(table.rows, dtype=bool)
    held[split.held] = True
    turned = table.frame.with_columns(
        pl.when(pl.Series(held))
        .then(pl.col("readmitted").replace({"yes": "no", "no": "yes"}))
        .otherwise(pl.col("readmitted"))
        .alias("readmitted"),
        pl.when(pl.Series(held))
        .then(pl.col("hiv").replace({"positive": "negative", "negative": "positive"}))
        .otherwise(pl.col("hiv"))
        .alias("hiv"),
    )
    other = Problem(Table(turned, table.roles), split, 5, AdditiveNaiveBayes(), weights=WEIGHTS)
    again = propose(other, methods(FAST))
    assert [r.features for r in again.releases] == [r.features for r in found.releases]


def test_the_set_cut_down_to_k_keeps_k_and_nothing_more_fits(table: Table):
    question, method = problem(table), Breach(folds=3)
    worth = method._worth(question, method._searched(question)[1])
    kept = kept_to(question, table.features, worth)
    known = [c for c in kept if c in table.quasi]
    assert set(table.features) - set(kept) <= set(table.quasi)
    assert k_anonymity(table.frame, known) >= 5
    for left in set(table.quasi) - set(known):
        assert k_anonymity(table.frame, [*known, left]) < 5


def test_sets_are_worth_the_same_by_the_scores_of_the_search_and_by_others(table: Table):
    question, method = problem(table), Breach(folds=3)
    trials = method._searched(question)[1]
    assert len(trials.folds) > 3
    shared = method._worth(question, trials)
    apart = method._worth(replace(question, classifier=C45Classifier()), trials)
    sets = [[], list(table.features), *([f] for f in table.features), list(table.features[1:4])]
    assert shared(sets) == apart(sets)


def test_what_does_not_apply_is_named_with_the_reason():
    three = pl.DataFrame({"a": [0, 2] * 15, "y": ["u", "v", "w"] * 10})
    found = propose(problem(Table(three, Roles(target="y"))), methods())
    assert not found.releases
    reasons = {t.name: t.note for t in found.method_reports}
    assert "two classes, and the target has 3" in reasons["containment"]
    assert "fewer than two" in reasons["breach"]


def test_a_method_that_finds_nothing_says_why():
    frame = pl.DataFrame({"a": [1, *[0] * 39], "b": [0] * 40, "y": ["u", "v"] * 20})
    (report,) = propose(problem(Table(frame, Roles(target="y"))), [Containment()]).method_reports
    assert not report.applied
    assert report.note


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"magic": {}}, "no method 'magic'; there are 'front', 'coarsen'"),
        ({"breach": {"depth": 3}}, r"\[breach\] takes 'search', 'attacker', 'folds', 'most'"),
        ({"breach": {"search": "deep"}}, "search must be one of"),
        ({"containment": {"utilities": ["beauty"]}}, "no utility 'beauty'"),
    ],
)
def test_wrong_settings_are_named(settings, words):
    with pytest.raises(InputError, match=words):
        methods(settings)
