"""Inference of a secret, and reconstruction of what was held back or altered."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from tamis.attack import inference as attack
from tamis.attack.learners import GUESSING, LOOKUP, SMALL_BOOSTING, Known, strongest_learner
from tamis.attack.scene import Scene
from tamis.perturb.noise import UniformNoise
from tamis.table import Roles, Table

# Typed as anything: every result here is one.
infer: Any = attack.infer
hidden: Any = attack.hidden
undo: Any = attack.undo
QUICK = (LOOKUP, SMALL_BOOSTING, "nb")


def people(rows, seed, *, told=True):
    """`clue` tells the secret, if it is told at all; `age` is nearly unique and tells nothing."""
    drawn = np.random.default_rng(seed)
    secret = drawn.integers(0, 2, rows)
    clue = secret if told else drawn.integers(0, 2, rows)
    frame = pl.DataFrame(
        {
            "age": drawn.random(rows),
            "clue": np.array(["a", "b"])[clue],
            "secret": np.array(["no", "yes"])[secret],
            "goal": drawn.integers(0, 2, rows),
        }
    )
    return Table(frame, Roles(target="goal", sensitive="secret", quasi=("age",)))


def released(table, *columns):
    return Table(table.frame.select(columns), Roles(target="goal"))


def test_a_released_secret_is_looked_up_by_those_who_know_the_person():
    table, others = people(400, 0, told=False), people(400, 1, told=False)
    scene = Scene(table, released(table, "age", "secret", "goal"), others)
    found = infer(scene, "secret", learners=QUICK)
    assert found.success.value == 1.0
    assert found.details["learner"] == LOOKUP
    assert found.leak.low > 0.8
    assert abs(found.control.value - 0.5) < 0.1


def test_what_is_true_of_everybody_is_no_leak():
    table, others = people(400, 0), people(400, 1)
    found = infer(Scene(table, released(table, "clue", "goal"), others), "secret", learners=QUICK)
    assert found.success.value > 0.95
    assert found.gain.value > 0.9
    assert found.leak.value == pytest.approx(0.0, abs=0.3)
    assert found.details["bits"]["low"] > 0.5
    assert found.details["auc"]["value"] > 0.95
    assert found.details["worst_group"]["people"] >= 5


def test_nothing_is_inferred_from_noise():
    table = people(400, 0, told=False)
    found = infer(Scene(table, released(table, "clue", "goal")), "secret", learners=QUICK)
    assert found.success.low <= found.guess + 0.06
    assert found.details["bits"]["low"] < 0.05


def test_the_target_tells_what_it_tells():
    table = people(300, 0, told=False)
    frame = table.frame.with_columns(goal=(pl.col("secret") == "yes").cast(pl.Int64))
    table = Table(frame, table.roles)
    scene = Scene(table, released(table, "clue", "goal"))
    blind = infer(scene, "secret", learners=QUICK)
    sighted = infer(scene, "secret", with_target=True, learners=QUICK)
    assert blind.success.value < 0.7
    assert sighted.success.value > 0.95
    assert sighted.guess > 0.95  # who knows the target needs no release


def test_no_secret_no_inference():
    table = Table(pl.DataFrame({"a": [1, 2, 3, 4]}))
    assert attack.inference(Scene(table, table)) == []
    assert hidden(Table(pl.DataFrame({"a": ["x"] * 5})), "a") is None
    many = Table(pl.DataFrame({"a": [f"name {i}" for i in range(300)]}))
    assert hidden(many, "a") is None


def test_classes_of_a_column_are_the_same_in_another_file():
    table = Table(pl.DataFrame({"a": [1, 2, None, 1]}))
    secret = hidden(table, "a")
    assert secret.of(Table(pl.DataFrame({"a": [1.0, 2.0, None, 7.0]}))).tolist() == [
        *secret.original[:3],
        secret.classes - 1,
    ]


def test_an_attacker_who_knows_no_better_guesses():
    known = Known(
        pl.DataFrame({"x": np.random.default_rng(0).random(60)}),
        np.random.default_rng(1).integers(0, 2, 60),
        pl.DataFrame({"x": np.random.default_rng(2).random(40)}),
        40,
        2,
    )
    truth = np.random.default_rng(3).integers(0, 2, 40)
    baseline = np.full((40, 2), 0.5)
    name, p = strongest_learner(known, truth, baseline, np.arange(40), (LOOKUP,))
    assert name == GUESSING
    assert (p == 0.5).all()


def test_held_back_columns_are_reconstructed_from_what_they_depend_on():
    table = people(400, 0)
    frame = table.frame.with_columns(double=pl.col("clue") + "!", noise=pl.Series(range(400)) % 3)
    table = Table(frame, table.roles)
    found = attack.reconstruction(Scene(table, released(table, "clue", "goal")))
    gain = {each.attacker: each.gain.value for each in found}
    assert gain["reconstruction of double"] > 0.95
    assert abs(gain["reconstruction of noise"]) < 0.2


def test_noise_is_undone_where_there_is_little():
    table = people(500, 0).select(["clue"])

    def alter(share):
        return lambda rows, seed: UniformNoise(share, random_state=seed).fit_transform(rows)

    little, much = (undo(table, alter(share))[0] for share in (0.05, 1.0))
    assert little.success.value > 0.9
    assert much.success.low <= much.guess + 0.06
