"""Releases whose values were altered: what they promise, and how they are judged."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from tamis import Roles, Settings, Table, consider, k_anonymity
from tamis.binary.records import Cut
from tamis.datasets import patients
from tamis.errors import InputError
from tamis.evaluate.assessment import Assessment
from tamis.evaluate.evaluator import Evaluator
from tamis.learn.bayes import AdditiveNaiveBayes
from tamis.learn.holdout import HoldOut
from tamis.propose import methods, propose
from tamis.propose.altered import Flip, Microaggregate, Noise, PostRandomise, Suppress, Swap
from tamis.propose.problem import Method, Problem
from tamis.release import AlteredRelease, Recipe, Release


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
        assert promise.k == k
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
    assert all(r.is_altered for r in found.releases)


def test_the_target_the_sensitive_column_and_identifiers_are_not_altered_nor_added() -> None:
    table = patients(rows=200)
    for release in Noise().propose(problem(table)):
        assert release.table.frame["readmitted"].equals(table.frame["readmitted"])
        assert not {"hiv", "patient"} & set(release.table.frame.columns)


def test_altering_must_be_asked_for() -> None:
    assert not {"flip", "noise"} & {m.name for m in methods()}


def test_a_model_learns_from_altered_rows_and_is_judged_on_true_ones() -> None:
    """A release with every feature turned around teaches the opposite of the truth."""
    table = records(600)
    question = problem(table)
    evaluator = Evaluator(table, question.split, AdditiveNaiveBayes(), {"nb": AdditiveNaiveBayes()})
    made = table.frame.rename({c: f"has {c}" for c in table.features})
    turned = made.with_columns([(1 - pl.col(c)).alias(c) for c in made.columns if c != "y"])
    plain, altered = (Table(frame, table.roles) for frame in (made, turned))
    right = Assessment(evaluator, Release("plain", plain, Recipe("test"))).predictions.right.mean()
    assert right > 0.8
    release = AlteredRelease("turned", altered, Recipe("test"), unaltered=plain)
    assert Assessment(evaluator, release).predictions.right.mean() < 0.3


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


def mixed(rows: int = 300) -> Table:
    rng = np.random.default_rng(1)
    age = rng.integers(20, 70, rows)
    frame = pl.DataFrame(
        {
            "age": age,
            "pay": rng.normal(3000, 500, rows).round(),
            "job": rng.choice(["cook", "judge", "smith"], rows),
            "sugar": rng.normal(5, 1, rows).round(1),
            "ill": np.where(age + rng.normal(0, 9, rows) > 45, "yes", "no"),
        }
    )
    return Table(frame, Roles(target="ill", quasi=("age", "job")))


@pytest.mark.parametrize(
    ("method", "names"),
    [
        (Microaggregate(), ["microaggregation, k = 5", "microaggregation, k = 10"]),
        (Suppress(weights={"age": 0.5}), ["local suppression, k = 5", "local suppression, k = 10"]),
    ],
)
def test_what_attackers_may_know_is_altered_until_k_are_alike(method, names) -> None:
    table = mixed()
    found = propose(problem(table), [method]).releases
    assert [r.name for r in found] == names
    for release, k in zip(found, (5, 10)):
        (promise,) = release.promises
        assert (promise.k, set(promise.columns)) == (k, {"age", "job"})
        assert k_anonymity(release.table) >= k
        assert release.recipe.public == {"k": k, "columns": ["age", "job"]}
        assert release.table.frame["sugar"].equals(table.frame["sugar"])
        assert isinstance(release, AlteredRelease)
        assert release.unaltered.frame["age"].equals(table.frame["age"])


@pytest.mark.parametrize(
    ("method", "altered", "setting"),
    [
        (Swap(levels=[0.1]), ["age", "pay", "sugar"], {"within": 0.1}),
        (PostRandomise(levels=[0.4]), ["job"], {"change": 0.4}),
    ],
)
def test_random_methods_say_how_and_which_columns_but_not_by_which_seed(
    method, altered, setting
) -> None:
    table = mixed()
    (release,) = propose(problem(table, random_state=98765), [method]).releases
    assert release.recipe.public == {**setting, "columns": altered}
    assert "98765" not in str(release.recipe)
    for name in table.features:
        changed = not release.table.frame[name].equals(table.frame[name])
        assert changed == (name in altered)
    again = propose(problem(table, random_state=3), [method]).releases[0]
    assert not again.table.frame.equals(release.table.frame)


def test_methods_say_why_they_do_not_apply() -> None:
    texts = Table(pl.DataFrame({"job": ["cook", "judge"] * 30, "y": [0, 1] * 30}), Roles("y"))
    every: list[Method] = [Swap(), PostRandomise(), Microaggregate(), Suppress()]
    notes = [r.note for r in propose(problem(records()), every).method_reports]
    assert "could be ranked" in notes[0]
    assert "texts of more than one value" in notes[1]
    assert "flip" in notes[2]
    assert "could be ranked" in (Swap().applies(problem(texts)) or "")
    unknown = replace(mixed(), roles=Roles(target="ill", quasi=()))
    assert "none of the columns" in (Suppress().applies(problem(unknown)) or "")
    with pytest.raises(InputError, match="within"):
        Swap(levels=[2])
    with pytest.raises(InputError, match="probability"):
        PostRandomise(levels=[2])


def test_all_are_compared_beside_columns_as_they_are() -> None:
    asked: dict[str, dict[str, Any]] = {
        name: {} for name in ("microaggregate", "suppress", "swap", "pram", "containment")
    }
    settings = Settings(k=5, methods=asked, attackers=("nb",), allow_useless=True)
    roles = Roles(target="ill", sensitive="sugar", quasi=("age", "job"))
    outcome = consider(replace(mixed(), roles=roles), settings)
    rows = {row.release.name: row for row in outcome.decision.scorecard.candidates}
    for name in ("microaggregation, k = 5", "local suppression, k = 5", "PRAM, 0.1"):
        figures = rows[name].figures
        assert {"kept", "told", "performance"} <= {n for n, f in figures.items() if f is not None}
    assert "columns" in rows["rank swapping, 0.05"].release.recipe.public
