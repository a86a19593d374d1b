"""Releases whose values were altered: what they promise, and how they are judged."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from tamis import Roles, Table, k_anonymity
from tamis.binary.records import Cut
from tamis.datasets import patients
from tamis.errors import InputError
from tamis.evaluate.evaluator import Evaluator
from tamis.learn.bayes import AdditiveNaiveBayes
from tamis.learn.holdout import HoldOut
from tamis.propose import BY_DEFAULT, methods, propose
from tamis.propose.altered import Flip, Noise
from tamis.propose.problem import Problem
from tamis.release import Recipe, Release


def records(rows: int = 300) -> Table:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, rows)
    cells = (rng.random((rows, 8)) < np.where(y, 0.7, 0.3)[:, None]).astype(int)
    frame = pl.DataFrame(cells, schema=list("abcdefgh")).with_columns(y=np.where(y, "u", "v"))
    return Table(frame, Roles(target="y"))


def problem(table: Table, k: int = 5, **options) -> Problem:
    split = HoldOut.drawn(table.frame[table.target])
    return Problem(table, split, k, AdditiveNaiveBayes(), **options)


def test_flipped_releases_keep_their_promise_over_all_columns() -> None:
    found = propose(problem(records()), [Flip()]).releases
    assert [r.name for r in found] == ["flip, k = 5", "flip, k = 10"]
    for release, k in zip(found, (5, 10)):
        (promise,) = release.promises
        assert promise.at_least == k
        assert k_anonymity(release.table.frame, promise.columns) >= k
        assert release.table.frame["y"].equals(records().frame["y"])
        assert 0 < release.recipe.public["flipped_share"] < 0.5


def test_flipping_needs_columns_of_zero_and_one() -> None:
    table = patients(rows=200)
    (report,) = propose(problem(table), [Flip()]).method_reports
    assert "0 and 1" in report.note
    how = {"sex": Cut(), "stay_days": Cut(quantiles=3)}
    (release,) = propose(problem(table, binary=how), [Flip(ks=[8])]).releases
    assert k_anonymity(release.table.frame.drop("readmitted")) >= 8


def test_every_level_of_noise_is_proposed_beside_the_others() -> None:
    found = propose(problem(records()), methods({"noise": {"kind": "uniform"}, "flip": {}}))
    assert [r.name for r in found.releases] == [
        "uniform noise, 0.1",
        "uniform noise, 0.2",
        "uniform noise, 0.3",
        "flip, k = 5",
        "flip, k = 10",
    ]
    assert all(r.unaltered is not None for r in found.releases)


def test_the_target_the_sensitive_column_and_identifiers_are_not_altered_nor_added() -> None:
    table = patients(rows=200)
    for release in Noise().propose(problem(table)):
        assert release.table.frame["readmitted"].equals(table.frame["readmitted"])
        assert not {"hiv", "patient"} & set(release.table.frame.columns)


def test_altering_must_be_asked_for() -> None:
    assert not {"flip", "noise"} & set(BY_DEFAULT)
    assert not {"flip", "noise"} & {m.name for m in methods()}


def test_a_model_learns_from_altered_rows_and_is_judged_on_true_ones() -> None:
    """A release with every feature turned around teaches the opposite of the truth."""
    table = records(600)
    question = problem(table)
    evaluator = Evaluator(table, question.split, AdditiveNaiveBayes(), {"nb": AdditiveNaiveBayes()})
    made = table.frame.rename({c: f"has {c}" for c in table.features})
    turned = made.with_columns([(1 - pl.col(c)).alias(c) for c in made.columns if c != "y"])
    plain, altered = (Table(frame, table.roles) for frame in (made, turned))
    right = evaluator.assess(Release("plain", plain, Recipe("test"))).predictions.right.mean()
    assert right > 0.8
    release = Release("turned", altered, Recipe("test"), unaltered=plain)
    assert evaluator.assess(release).predictions.right.mean() < 0.3


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"noise": {"kind": "pink"}}, "'uniform' or 'gaussian'"),
        ({"noise": {"levels": [2]}}, "from 0 to 1"),
        ({"flip": {"depth": 3}}, r"\[flip\] takes 'ks'"),
    ],
)
def test_wrong_settings_are_named(settings, words) -> None:
    with pytest.raises(InputError, match=words):
        methods(settings)
