"""Curves over levels, and correlations of measures over curves."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

from tamis.errors import InputError
from tamis.evaluate.curve import Curve, Measure, correlations, retention_curve
from tamis.evaluate.retention import retention
from tamis.read import read_table
from tamis.rules import RuleSet
from tamis.rules.tree import mine_rules
from tests.long import LONG

ORIGINAL = pl.DataFrame({"age": range(100), "y": ["p"] * 50 + ["q"] * 50})
RULES = RuleSet.parse("age < 50 -> y=p\nage >= 50 -> y=q")


def _uniform(frame, share, seed):
    rng = np.random.default_rng(seed)
    age = frame["age"].to_numpy().copy()
    hit = rng.random(len(age)) < share
    age[hit] = rng.integers(0, 100, hit.sum())
    return frame.with_columns(age=pl.Series(age))


def test_a_curve_holds_every_level_draw_and_measure():
    width = Measure("width", "max", lambda original, released: released.width)
    curve = retention_curve(
        RULES, ORIGINAL, _uniform, [0.0, 0.5, 1.0], draws=4, measures=[width], random_state=3
    )
    assert curve.points.height == 3 * 4 * 4
    means = curve.means()
    assert means["rule_accuracy"][0] == means["rsd"][0] == means["rld"][0] == 0
    assert means["rule_accuracy"].is_sorted()
    assert means["rule_accuracy"][2] > 0.3
    assert means["width"].to_list() == [2, 2, 2]
    one = curve.summary().filter(measure="rule_accuracy", level=0.5)
    values = curve.points.filter(measure="rule_accuracy", level=0.5)["value"]
    assert one["mean"][0] == pytest.approx(values.mean())
    assert one["spread"][0] == pytest.approx(values.std())
    assert one["draws"][0] == 4


def test_the_same_seed_gives_the_same_curve_and_draws_differ():
    curves = [
        retention_curve(RULES, ORIGINAL, _uniform, [0.5], draws=3, random_state=s)
        for s in (1, 1, 2)
    ]
    assert curves[0].points.equals(curves[1].points)
    assert not curves[0].points.equals(curves[2].points)
    assert curves[0].points.filter(measure="rule_accuracy")["value"].n_unique() > 1


def test_a_point_of_the_curve_is_the_retention_of_that_release():
    released = []

    def kept(frame, share, seed):
        released.append(_uniform(frame, share, seed))
        return released[-1]

    curve = retention_curve(RULES, ORIGINAL, kept, [0.3], draws=1, figures=["rld"])
    assert curve.points["value"].to_list() == [retention(RULES, ORIGINAL, released[0]).rld]


def test_all_three_measures_rise_with_uniform_noise(dataset):
    notes = read_table(dataset("banknote.csv.gz"), target="class")
    rules = mine_rules(notes)

    def uniform(table, share, seed):
        rng = np.random.default_rng(seed)
        frame = table.frame
        noisy = {}
        for c in table.features:
            cells = frame[c].to_numpy()
            drawn = rng.uniform(cells.min(), cells.max(), len(cells))
            noisy[c] = np.where(rng.random(len(cells)) < share, drawn, cells)
        return frame.with_columns(**noisy)

    means = retention_curve(rules, notes, uniform, [0.0, 0.1, 0.2, 0.3], draws=5).means()
    for measure in ("rule_accuracy", "rsd", "rld"):
        assert means[measure][0] == 0
        assert (means[measure].diff().drop_nulls() > 0).all()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"levels": []}, "at least one level"),
        ({"draws": 0}, "draws must be at least 1"),
        ({"figures": ["rdl"]}, "no figure 'rdl'"),
        ({"figures": ["rsd", "rsd"]}, "same name"),
    ],
)
def test_wrong_curves_are_told(options, said):
    with pytest.raises(InputError, match=said):
        retention_curve(RULES, ORIGINAL, _uniform, **{"levels": [0.1], **options})


def _curve(**values):
    rows = [(i, 0, m, v) for m, vs in values.items() for i, v in enumerate(vs)]
    return Curve(pl.DataFrame(rows, schema=["level", "draw", "measure", "value"], orient="row"))


def _found(curves, scope):
    row = correlations(curves).filter(scope=scope)
    return row["r"][0], row["p_value"][0]


def test_the_correlation_of_one_dataset_is_pearsons():
    x, y = [0.0, 1.0, 2.0, 4.0], [0.0, 3.0, 1.0, 5.0]
    expected = stats.pearsonr(x, y)
    assert _found({"d": _curve(a=x, b=y)}, "d") == pytest.approx(tuple(expected))
    assert _found({"d": _curve(a=x, b=y)}, "within")[1] is None
    assert _found({"d": _curve(a=x, b=y)}, "pooled")[1] is None


def test_pooling_hides_the_agreement_within_every_dataset():
    rising = np.arange(6.0)
    curves = {
        f"d{k}": _curve(a=rising + 100 * k, b=rising + rising**2 * 0.1 - 100 * (k % 2))
        for k in range(6)
    }
    within, pooled = _found(curves, "within"), _found(curves, "pooled")
    assert within[0] > 0.98
    assert abs(pooled[0]) < 0.4


def test_within_is_tested_over_datasets():
    rng = np.random.default_rng(0)
    curves = {}
    for k in range(5):
        x = rng.normal(size=8)
        curves[f"d{k}"] = _curve(a=x, b=x + rng.normal(size=8))
    table = correlations(curves)
    single = table.filter(~pl.col("scope").is_in(["within", "pooled"]))["r"].to_numpy()
    r, p = _found(curves, "within")
    assert r == pytest.approx(np.tanh(np.arctanh(single).mean()))
    assert p == pytest.approx(stats.ttest_1samp(np.arctanh(single), 0).pvalue)
    assert table.filter(scope="within")["datasets"][0] == 5


def test_copies_of_a_point_do_not_make_the_pooled_p_value_smaller():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 10))
    once = {f"d{k}": _curve(a=[x[k]], b=[y[k]]) for k in range(10)}
    often = {f"d{k}": _curve(a=[x[k]] * 20, b=[y[k]] * 20) for k in range(10)}
    assert _found(once, "pooled") == pytest.approx(_found(often, "pooled"))
    assert stats.pearsonr(np.repeat(x, 20), np.repeat(y, 20)).pvalue < _found(often, "pooled")[1]


def test_under_no_correlation_the_pooled_p_value_is_rarely_small():
    rng = np.random.default_rng(2)
    small, times = 0, 60 if LONG else 25
    for _ in range(times):
        shifts = rng.normal(size=(2, 12)) * 5
        curves = {
            f"d{k}": _curve(
                a=shifts[0, k] + rng.normal(size=6), b=shifts[1, k] + rng.normal(size=6)
            )
            for k in range(12)
        }
        small += _found(curves, "pooled")[1] < 0.05
    assert small <= times // 5  # a 20th is expected; taking points as independent gives half


def test_what_cannot_be_computed_is_missing():
    assert _found({"d": _curve(a=[1.0, 1.0, 1.0], b=[1.0, 2.0, 3.0])}, "pooled") == (None, None)
    assert _found({"d": _curve(a=[1.0, 2.0], b=[1.0, 2.0])}, "within") == (None, None)


def test_wrong_curves_for_correlations_are_told():
    with pytest.raises(InputError, match="at least one dataset"):
        correlations({})
    with pytest.raises(InputError, match="'e' has different measures"):
        correlations({"d": _curve(a=[1.0], b=[1.0]), "e": _curve(a=[1.0], c=[1.0])})
