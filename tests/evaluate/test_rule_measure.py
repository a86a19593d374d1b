"""Measures of rules are records: the paper's by definition, and one's own beside them."""

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

from tamis import (
    CountedRule,
    RuleMeasure,
    RuleSet,
    Settings,
    consider,
    retention,
    retention_curve,
)
from tamis.analyse.candidates import factor_facts
from tamis.analyse.examination import measure_facts, rule_facts
from tamis.datasets import patients
from tamis.errors import CannotMeet, InputError
from tamis.evaluate.retention import RULE_MEASURES
from tamis.evaluate.rule_changes import baseline
from tamis.evaluate.rule_measure import label_distance, noise_floor, relative_change
from tamis.publication.report_parts import rule_words

ORIGINAL = pl.DataFrame({"age": [20, 30, 40, 50, 60, 70], "ill": ["n", "n", "n", "y", "y", "n"]})
RELEASED = pl.DataFrame({"age": [20, 60, 40, 50, 60], "ill": ["n", "n", "y", "y", "y"]})
TWO = RuleSet.parse("age < 35 -> ill=n\nage >= 35 -> ill=y")


def divergence(rule):
    """Kullback and Leibler's, of the labels, with one more row of each label."""
    if not rule.support_before:
        return None
    pairs = [(f + 1, g + 1) for f, g in zip(rule.before, rule.after)]
    n, m = (sum(column) for column in zip(*pairs))
    return sum(f / n * math.log2((f / n) / (g / m)) for f, g in pairs)


KL = RuleMeasure("kl", "min", divergence)


def test_a_measure_of_ones_own_has_a_value_a_rule_and_one_in_total():
    found = retention(TWO, ORIGINAL, RELEASED, measures=[KL])
    # age < 35: 2 n before, 1 n after; age >= 35: 2 n and 2 y before, 1 n and 3 y after.
    first = 3 / 4 * math.log2((3 / 4) / (2 / 3)) + 1 / 4 * math.log2((1 / 4) / (1 / 3))
    second = 1 / 2 * math.log2((1 / 2) / (2 / 6)) + 1 / 2 * math.log2((1 / 2) / (4 / 6))
    assert found.own["kl"] == pytest.approx((first + second) / 2)
    values = {change.id: change.own["kl"] for change in found.rules}
    assert values == {"r1": pytest.approx(first), "r2": pytest.approx(second)}
    assert found.to_dict()["own"] == found.own
    assert found.to_dict()["rules"][0]["own"].keys() == {"kl"}
    weighed = retention(TWO, ORIGINAL, RELEASED, measures=[KL], weights=[3, 1]).own["kl"]
    assert weighed == pytest.approx((3 * first + second) / 4)


def test_a_rule_without_a_value_is_left_out_of_the_total():
    some = RuleMeasure("some", "max", lambda r: None if r.id == "r1" else 4)
    none = RuleMeasure("none", "max", lambda r: None)
    last = RuleMeasure("last", "max", lambda r: 1.0, lambda values, _: values[-1])
    found = retention(TWO, ORIGINAL, RELEASED, measures=[some, none, last])
    assert found.own == {"some": 4.0, "none": None, "last": 1.0}


def test_a_measure_sees_the_rule_and_its_counts_in_both_tables():
    seen: list[CountedRule] = []

    def note(rule: CountedRule) -> float:
        seen.append(rule)
        return 0.0

    look = RuleMeasure("look", "min", note)
    lost = RuleSet.parse("age < 35 -> ill=n\nage >= 35 -> ill=y")
    retention(lost, ORIGINAL, RELEASED.rename({"age": "years"}), measures=[look])
    first, second = seen[:2]
    assert (first.id, first.before, first.after, first.lost) == ("r1", (2, 0), (0, 0), True)
    assert (second.labels, second.predicted, second.rule.label) == (("n", "y"), 1, "y")
    assert (second.rows_original, second.rows_released, second.weight) == (6, 5, 0.5)
    assert second.labels_before == (0.5, 0.5)
    assert second.labels_after == ()


def test_the_papers_measures_are_such_records():
    base = baseline(TWO, ORIGINAL)
    comparison, found = base.compare(RELEASED), retention(TWO, ORIGINAL, RELEASED, least_support=5)
    for name, measure in RULE_MEASURES.items():
        total = comparison.total(measure)
        expected = getattr(found, name)
        assert total == (pytest.approx(expected) if expected is not None else None)
        again = RuleMeasure(f"own {name}", measure.better, measure.value, measure.total)
        own = retention(TWO, ORIGINAL, RELEASED, measures=[again]).own
        assert own == {f"own {name}": total}
    values = [[f(rule) for rule in comparison.counted]
              for f in (label_distance, noise_floor, relative_change)]  # fmt: skip
    assert values == [[0.0, pytest.approx(((0.25**2 / 0.75) + (0.25**2 / 1.25)) / 2)],
                      [0.25, 1 / 16], [0.5, 0.0]]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (lambda r: "low", "must give rule 'r1' a finite number"),
        (lambda r: float("nan"), "must give rule 'r1' a finite number"),
    ],
)
def test_a_value_that_is_no_number_is_refused(value, said):
    with pytest.raises(InputError, match=said):
        retention(TWO, ORIGINAL, RELEASED, measures=[RuleMeasure("bad", "min", value)])


def test_names_and_directions_are_checked():
    with pytest.raises(InputError, match="names of their own"):
        retention(TWO, ORIGINAL, RELEASED, measures=[RuleMeasure("rsd", "min", divergence)])
    with pytest.raises(InputError, match="names of their own"):
        retention(TWO, ORIGINAL, RELEASED, measures=[KL, KL])
    with pytest.raises(InputError, match="'min' or 'max'"):
        RuleMeasure("kl", "up", divergence)  # type: ignore[arg-type]


def test_a_limit_has_two_sides():
    assert KL.meets(0.5, 0.5)
    assert not KL.meets(0.51, 0.5)
    more = RuleMeasure("more", "max", divergence)
    assert more.meets(0.5, 0.5)
    assert not more.meets(0.49, 0.5)
    assert not more.meets(None, 0.5)


def test_a_curve_takes_readings_weights_and_measures_of_ones_own():
    def fewer(frame, share, seed):
        rng = np.random.default_rng(seed)
        return frame.filter(pl.Series(rng.random(frame.height) >= share))

    rules = RuleSet.parse("age < 35 -> ill=n\nage < 65 -> ill=y")
    drawn = []

    def release(frame, share, seed):
        drawn.append(fewer(frame, share, seed))
        return drawn[-1]

    given: dict[str, Any] = {
        "reading": "default",
        "default": "y",
        "weights": [3.0, 1.0],
        "least_support": 1,
    }
    curve = retention_curve(rules, ORIGINAL, release, [0.0, 0.4], draws=2, measures=[KL], **given)
    expected = [retention(rules, ORIGINAL, z, measures=[KL], **given) for z in drawn]
    for name in ("rule_accuracy", "rsd", "rld"):
        points = curve.points.filter(measure=name)["value"].to_list()
        assert points == [getattr(kept, name) for kept in expected]
    points = curve.points.filter(measure="kl")["value"].to_list()
    assert points == [kept.own["kl"] for kept in expected]
    words = curve.plot("share gone").svg()
    assert all(name in words for name in ("rule_accuracy", "rsd", "rld", "kl", "share gone"))
    with pytest.raises(InputError, match="reading must be"):
        retention_curve(rules, ORIGINAL, release, [0.0], reading="last")  # type: ignore[arg-type]


QUICK: dict[str, Any] = {"breach": {"search": "walk", "folds": 3, "most": 4}}


@pytest.fixture(scope="module")
def table():
    return patients(rows=400)


def compared(table, **asked):
    return consider(table, Settings(methods=QUICK, rule_measures=(KL,), **asked))


def test_the_scorecard_and_the_report_have_a_measure_of_ones_own(table):
    outcome = compared(table)
    for row in outcome.decision.scorecard.every:
        for part in (row.assessment.choosing, row.assessment.reporting):
            kept = part.retention
            assert kept is not None
            figures = row.for_choice if part.part == "choosing" else row.figures
            figure = figures["kl"]
            assert (None if figure is None else figure.value) == kept.own["kl"]
    chosen = outcome.decision.chosen
    (shown,) = (m for m in measure_facts(outcome) if m.key == "kl")
    assert (shown.label, shown.better, shown.released) == ("kl", "lower", chosen.value("kl"))
    kept, rules = chosen.assessment.reporting.retention, rule_facts(outcome)
    assert kept is not None
    assert rules is not None
    least = outcome.settings.k
    for change, told in zip(kept.rules, rules.worst_first):
        few = any(0 < n < least for n in (change.support_before, change.support_after))
        value = change.own["kl"]
        assert told.own == ({} if few or value is None else {"kl": value})
    assert any(rule.own for rule in rules.worst_first)
    assert "kl: " in next(rule_words(rule) for rule in rules.worst_first if rule.own)
    assert "kl" in outcome.decision.scorecard.to_frame().columns


def test_a_limit_on_any_measure_of_rules_holds_for_the_choice(table):
    rows = compared(table, k=1).decision.scorecard.rows
    values = {row.release.name: row.value_for_choice("kl") for row in rows}
    bound = sum(v for v in values.values() if v is not None) / len(values)
    found = compared(table, k=1, rule_limits={"kl": bound, "total_variation": 1.0}).decision
    over = {name for name, value in values.items() if value is None or value > bound}
    assert 0 < len(over) < len(rows)
    assert {n for n, some in found.failures.items() if any("kl" in f.short for f in some)} == over
    assert found.chosen.release.name not in over
    with pytest.raises(CannotMeet, match="the measure kl of the rules must be at most -1 but is"):
        compared(table, rule_limits={"kl": -1})
    with pytest.raises(
        CannotMeet, match=r"the measure re of the rules must be at most -0\.1 but is"
    ):
        compared(table, rule_limits={"re": -0.1})
    with pytest.raises(CannotMeet, match="the change in the rules' support must be at most -1"):
        compared(table, rule_limits={"rsd": -1})


def test_what_is_better_decides_on_which_side_a_limit_lies(table):
    held = RuleMeasure("held", "max", lambda rule: rule.share_after)
    settings = Settings(methods=QUICK, rule_measures=(held,), rule_limits={"held": 2})
    with pytest.raises(
        CannotMeet, match=r"held of the rules must be at least 2 but is .* too litt"
    ):
        consider(table, settings)
    nothing = RuleMeasure("nothing", "max", lambda rule: None)
    settings = Settings(methods=QUICK, rule_measures=(nothing,), rule_limits={"nothing": 0})
    with pytest.raises(CannotMeet, match="the measure nothing of the rules cannot be measured"):
        consider(table, settings)


def test_ranks_may_weigh_a_measure_of_ones_own(table):
    weights = {"kl": 0.5, "size": 0.5}
    found = compared(table, weights=weights, choose="ranks").decision
    assert found.ranks.factors["kl"] == "min"
    assert {f.key: f.label for f in factor_facts(found.ranks)}["kl"] == "kl"
    with pytest.raises(InputError, match="kl"):
        Settings(weights=weights)


def test_settings_take_measures_with_names_of_their_own_and_keep_them_by_name():
    asked = Settings(rule_measures=[KL], rule_limits={"kl": 0.1, "rsd": 0.2})  # type: ignore[arg-type]
    assert asked.to_dict()["rule_measures"] == ["kl"]
    assert Settings(**{**asked.to_dict(), "rule_measures": [KL]}) == asked
    assert "kl" in repr(asked)
    assert "0x" not in repr(asked)
    for name in ("told", "size", "rld"):
        with pytest.raises(InputError, match=f"{name}"):
            Settings(rule_measures=(RuleMeasure(name, "min", divergence),))
    with pytest.raises(InputError, match="rule_measures takes RuleMeasures, got str"):
        Settings(rule_measures=("mine:kl",))  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"no measure 'kl' of rules to limit; there are .*'rsd'"):
        Settings(rule_limits={"kl": 1})
    with pytest.raises(InputError, match="limit on rsd must be a finite number, got nan"):
        Settings(rule_limits={"rsd": math.nan})
