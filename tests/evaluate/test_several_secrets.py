"""Several secrets: what a set tells is what it tells of the one of which it tells most."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from tamis import Attacker, Table, read_table
from tamis.errors import InputError
from tamis.evaluate.parts import Parts
from tamis.evaluate.subset_bits import SubsetBits
from tamis.flow import Settings, consider

QUICK: dict[str, Any] = {"attackers": ("nb",), "allow_useless": True, "methods": {"front": {}}}


def cells(rows: int = 800) -> dict[str, np.ndarray]:
    """Of two secrets each is told by a column of its own; the target by a third."""
    rng = np.random.default_rng(2)
    x, a, b = rng.integers(0, 2, (3, rows))
    noise = rng.random((3, rows)) < 0.1
    return {"x": x, "a": a, "b": b, "y": x ^ noise[0], "one": a ^ noise[1], "two": b ^ noise[2]}


def texts(found: dict[str, np.ndarray]) -> pl.DataFrame:
    return pl.DataFrame({name: np.array(["n", "y"])[column] for name, column in found.items()})


def asking(*weights: float) -> SubsetBits:
    found = cells()
    frame = pl.DataFrame({name: found[name] for name in ("a", "b", "x")})
    target = found["y"]
    parts = Parts.drawn(target, None, 0)
    first, *others = (found[name] for name in ("one", "two")[: len(weights)])
    bits = SubsetBits.of(frame, target, first, parts=parts)
    return bits.also_asking(frame, list(zip(others, (w / weights[0] for w in weights[1:]))))


def test_told_is_the_worst_of_all_secrets_as_each_would_tell_alone():
    both = asking(1.0, 1.0)
    sets = [(0,), (1,), (2,), (0, 1, 2), ()]
    told = both.measured(sets).told[: len(sets)]
    each = np.array([[gains.mean() for gains in both.secret_gains(columns)] for columns in sets])
    each = each.clip(min=0) / np.array(both.told_scales)
    assert np.allclose(told, each.max(axis=1), atol=0.05)
    assert told[0] > 0.9
    assert told[1] > 0.9
    assert each[0, 1] < 0.05
    assert each[1, 0] < 0.05
    alone = asking(1.0).measured(sets).told[: len(sets)]
    assert alone[1] < 0.05


@pytest.mark.parametrize("weights", [(1.0, 0.5), (0.25, 1.0)])
def test_a_weight_is_what_told_of_a_secret_counts(weights):
    found = asking(*weights).measured([(0,), (1,)]).told[:2]
    assert np.allclose(found, weights, atol=0.08)


def test_a_column_that_tells_the_second_secret_is_held_back():
    table = read_table(texts(cells()), target="y", sensitive=["one", "two"], quasi=["x"], person=())
    assert table.features == ("x", "a", "b")
    outcome = consider(table, Settings(max_told=0.2, **QUICK))
    assert outcome.release.features == ("x",)
    tells_two = [r for r in outcome.decision.scorecard.candidates if "b" in r.release.features]
    assert tells_two
    assert all((row.value("told") or 0) > 0.8 for row in tells_two)
    assert outcome.evaluator.yardstick.told_each(tells_two[0].release)[1] > 0.8


def test_what_one_secret_tells_of_another_is_counted_on_other_rows():
    found, rng = cells(), np.random.default_rng(3)
    found["two"] = np.where(rng.random(800) < 0.9, found["one"], 1 - found["one"])
    table = read_table(texts(found), target="y", sensitive=["one", "two"], person=())
    evaluator = consider(table, Settings(**QUICK)).evaluator
    # What is left to know of two is that of a coin of 0.9, of one bit that is unknown.
    share = 1 + 0.9 * np.log2(0.9) + 0.1 * np.log2(0.1)
    assert evaluator.told_by("one", "two") == pytest.approx(share, abs=0.15)


def test_the_target_comes_last_of_several_secrets():
    frame = pl.DataFrame({"x": [1, 2], "y": [0, 1], "s": [1, 0]})
    table = Table(frame).with_roles(target="y", sensitive=["y", "s"])
    assert (table.sensitive, table.secrets, table.secret_words) == ("s", ("s", "y"), "s")


@pytest.mark.parametrize(
    ("weights", "words"),
    [({"x": 1.0}, "weight is given to 'x'"), ({"one": 0.0}, "must be above 0")],
)
def test_weights_of_what_is_not_secret_are_refused(weights, words):
    table = read_table(texts(cells()), target="y", sensitive=["one", "two"], person=())
    with pytest.raises(InputError, match=words):
        consider(table, Settings(secret_weights=weights, **QUICK))


@pytest.mark.parametrize("weights", [{}, {"two": 0.5}])
def test_a_secret_has_a_limit_of_its_own(weights):
    """Told of one may be all, told of two hardly any: that is what weights cannot say."""
    table = read_table(texts(cells()), target="y", sensitive=["one", "two"], quasi=["x"], person=())
    asked = {"secret_weights": weights, "caution": 0.0, **QUICK}
    outcome = consider(table, Settings(secret_limits={"two": 0.2}, **asked))
    decision, evaluator = outcome.decision, outcome.evaluator
    for row in decision.scorecard.candidates:
        told = evaluator.yardstick.told_each(row.release, "choosing")
        fails = [f.words for f in decision.failures.get(row.release.name, ())]
        assert any("what is told of two must be at most 0.2" in f for f in fails) == (told[1] > 0.2)
        assert (told[1] > 0.2) == ("b" in row.release.features)
    assert "b" not in outcome.release.features
    mine = Attacker("friend", ["x"], wants=["two"], max_told=0.2)
    same = consider(table, Settings(threats=(mine,), **asked))
    assert same.release.features == outcome.release.features
    assert not any(limit.measure == "told" for limit in same.settings.limits)


def test_guesses_and_the_close_look_are_about_every_secret():
    table = read_table(texts(cells()), target="y", sensitive=["one", "two"], quasi=["x"], person=())
    outcome = consider(table, Settings(**QUICK))
    by_name = {row.release.features: row for row in outcome.decision.scorecard.candidates}
    tells_two = next(row for features, row in by_name.items() if "b" in features)
    few = next(row for features, row in by_name.items() if features == ("x",))
    for row, names in ((tells_two, True), (few, False)):
        findings = row.assessment.reporting
        attacked = findings.attacked_for("two")[row.assessment.strongest_of("two")]
        assert (attacked.right.mean() > 0.8) == names
        first = findings.attacked_for("one")[row.assessment.strongest_of("one")]
        assert (first.right.mean() > 0.8) == ("a" in row.release.features)
    change = few.figures["pbi"]
    assert change is not None
    # Everything tells both by far more than this set does: it gains nothing of either.
    assert change.value < -0.2
    look = outcome.taking(tells_two.release.name).closer()
    assert look.look is not None
    (other,) = look.look.others
    assert other.bits.value > 0.4
    assert (look.decision.chosen.value("told") or 0) > 0.8


def test_a_secret_may_be_released_and_is_judged_for_the_others():
    found = cells()
    rng = np.random.default_rng(3)
    found["leaks"] = np.where(rng.random(800) < 0.95, found["one"], 1 - found["one"])
    roles: dict[str, Any] = {
        "target": "y",
        "sensitive": ["leaks", "two", "one"],
        "feature": ["two", "leaks"],
    }
    table = read_table(texts(found), person=(), **roles)
    assert table.secrets == ("one", "leaks", "two")
    assert {"two", "leaks"} <= {*table.features} - {*table.quasi}
    outcome = consider(table, Settings(k=2, l=2, caution=0.3, **QUICK))
    evaluator = outcome.evaluator
    assert list(evaluator.every_secret) == ["one"]
    tells = {row.release.features: row.value("told") for row in outcome.decision.scorecard.rows}
    for features, told in tells.items():
        assert ((told or 0) > 0.5) == bool({"leaks", "a"} & {*features}), features
    assert evaluator.told_by("leaks", "one") > 0.5
    assert {each.secret for each in evaluator.requirements.about_secrets} == {*table.secrets}


def test_a_released_secret_has_no_limit_and_is_not_the_only_one():
    roles: dict[str, Any] = {
        "target": "y",
        "sensitive": ["one", "two"],
        "feature": ["two"],
        "person": (),
    }
    table = read_table(texts(cells()), **roles)
    with pytest.raises(InputError, match="limit is given to 'two', which may be released"):
        consider(table, Settings(secret_limits={"two": 0.1}, **QUICK))
    with pytest.raises(InputError, match="no other secret to judge"):
        read_table(texts(cells()), target="y", sensitive="one", feature=["one"], person=())
    with pytest.raises(InputError, match=r"secret_limits of 'two' must be a share"):
        Settings(secret_limits={"two": 1.5})
    with pytest.raises(InputError, match="limit is given to 'x', which is not sensitive"):
        consider(table, Settings(secret_limits={"x": 0.1}, **QUICK))
