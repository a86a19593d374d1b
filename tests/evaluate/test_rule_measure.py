"""Measures of rules are records: the paper's by definition, and one's own beside them."""

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

from tamis import CountedRule, RuleMeasure, RuleSet, retention, retention_curve
from tamis.errors import InputError
from tamis.evaluate.retention import RULE_MEASURES
from tamis.evaluate.rule_changes import baseline
from tamis.evaluate.rule_measure import label_distance, noise_floor, relative_change

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
    assert more.meets(None, 0.5)


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
