"""Proposals where people have several rows: k is a number of people in every method."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from tamis import Roles, Table
from tamis.evaluate.assessment import Assessment
from tamis.evaluate.evaluator import Evaluator
from tamis.learn.bayes import AdditiveNaiveBayes
from tamis.learn.holdout import HoldOut
from tamis.propose import methods, propose
from tamis.propose.containment import Containment
from tamis.propose.problem import Problem
from tamis.release import Release
from tamis.require.k import KAnonymity

FAST: dict[str, dict[str, Any]] = {
    "breach": {"search": "walk", "folds": 3, "most": 3},
    "containment": {"ks": [5], "utilities": ["difference"]},
    "flip": {"ks": [5]},
    "noise": {"kind": "uniform", "levels": [0.1]},
}
EACH = 8


def stays(binary: bool) -> Table:
    """Eight rows a person, all alike but for the label."""
    rng = np.random.default_rng(2)
    who = np.repeat(np.arange(60), EACH)
    values = 2 if binary else 3
    cells = {c: rng.integers(0, values, 60)[who] for c in "abcdef"}
    y = np.where(rng.random(len(who)) < 0.8, cells["a"] > 0, cells["b"] > 0)
    frame = pl.DataFrame({"who": who, **cells}).with_columns(y=np.where(y, "u", "v"))
    return Table(frame, Roles(target="y", identifiers=("who",)))


def problem(table: Table) -> Problem:
    weights = {"performance": 0.5, "privacy": 0.25, "size": 0.25}
    split = HoldOut.drawn(table.frame[table.target])
    return Problem(table, split, 5, AdditiveNaiveBayes(), weights=weights)


def people_alike(release: Release, promise: KAnonymity, who: pl.Series) -> int:
    """The fewest people in what a promise is about, by its definition."""
    if not promise.columns:
        return who.n_unique()
    X = release.table.only(promise.columns).to_numpy()
    whole = promise.key == "containment_anonymity"
    hold = [(e <= X if whole else e == X).all(axis=1) for e in np.unique(X, axis=0)]
    return min(who.filter(pl.Series(rows)).n_unique() for rows in hold)


@pytest.mark.parametrize("binary", [True, False])
def test_what_is_promised_is_kept_in_people(binary: bool):
    table = stays(binary)
    question = problem(table)
    found = propose(question, methods(FAST))
    evaluator = Evaluator(table, question.split, AdditiveNaiveBayes(), {"nb": AdditiveNaiveBayes()})
    kinds = {r.recipe.method for r in found.releases}
    assert kinds == ({"breach", "containment", "flip", "noise"} if binary else set(FAST) - {"flip"})
    for release in found.releases:
        assert not release.people.each_row
        assert release.unit == "people"
        assessment = Assessment(evaluator, release)
        both = release.recipe.method == "containment" and not binary
        assert len(release.promises) == (2 if both else 1)
        for promise in release.promises:
            reached = people_alike(release, promise, table.frame["who"])
            equal = promise.key == "k_anonymity"
            assert (assessment.k_anonymity if equal else assessment.containment) == reached
            if release.recipe.method in ("containment", "flip"):
                assert reached >= promise.k == 5


def test_too_few_people_are_too_few_however_many_rows():
    table = stays(binary=True)
    few = Table(table.frame[: 3 * EACH], table.roles)
    reason = Containment().applies(problem(few))
    assert reason == "The table has 3 people, fewer than k = 5."
