"""Who is in the table: by the nearest row, and by running a mechanism again."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis import DPHistogram, read_table
from tamis.attack import membership as members
from tamis.attack.membership import (
    epsilon_at_least,
    farthest,
    shadow_attack,
    shadow_of_release,
    threshold,
)
from tamis.attack.scene import Scene
from tamis.errors import CannotMeet, InputError
from tamis.table import Table
from tests.long import LONG, daily

membership: Any = members.membership


def people(rows, seed):
    drawn = np.random.default_rng(seed)
    return Table(pl.DataFrame({name: drawn.random(rows) for name in "abc"}))


def test_the_original_gives_away_who_is_in_it():
    found = membership(Scene(people(200, 0), people(200, 0), people(200, 1)))
    assert found.success.value == 1.0
    assert found.details["auc"]["value"] == 1.0


def test_rows_of_others_do_not():
    found = membership(Scene(people(400, 0), people(400, 7), people(400, 1)))
    assert found.success.low < 0.5 < found.success.high + 0.05


def test_without_a_control_group_there_is_no_telling():
    assert membership(Scene(people(20, 0), people(20, 0))) is None


DISTANCES = st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.5]), min_size=1, max_size=8)


@given(DISTANCES, DISTANCES)
def test_no_threshold_parts_two_groups_better(near, far):
    def right(at):
        return np.mean([d <= at for d in near]) + np.mean([d > at for d in far])

    found = right(threshold(np.array(near), np.array(far)))
    assert found == pytest.approx(max(right(at) for at in (-1, 0.0, 0.1, 0.2, 0.5)))


def noisy_histogram(epsilon):
    """Counts of 0 and 1 with two-sided geometric noise, as rows: epsilon-DP by its definition."""

    def make(frame, seed):
        drawn = np.random.default_rng(seed)
        stop = 1 - math.exp(-epsilon)
        counts = [
            max(0, int((frame["x"] == value).sum()) + drawn.geometric(stop) - drawn.geometric(stop))
            for value in (0.0, 1.0)
        ]
        return pl.DataFrame({"x": np.repeat([0.0, 1.0], counts)})

    return make


FRAME = pl.DataFrame({"x": [0.0] * 20 + [1.0]})


@pytest.mark.parametrize("epsilon", daily([0.5, 2.0], 2.0))
def test_a_shadow_attack_stays_below_what_epsilon_allows(epsilon):
    found = shadow_attack(noisy_histogram(epsilon), FRAME, epsilon=epsilon, runs=300)
    assert found.within
    assert found.epsilon_at_least <= epsilon
    assert found.success.value > 0.5


def test_a_mechanism_that_breaks_its_promise_is_caught():
    found = shadow_attack(noisy_histogram(4.0), FRAME, epsilon=0.2, runs=300)
    assert not found.within
    assert found.epsilon_at_least > 0.2


def test_the_shadow_of_our_own_histogram():
    pytest.importorskip("opendp")
    from tamis.dp.histogram import DPHistogram

    bounds = {"x": ["a", "b"], "y": ["n", "p"]}
    frame = pl.DataFrame({"x": ["a"] * 12 + ["b"], "y": ["n"] * 12 + ["p"]})

    def make(rows, seed):
        model = DPHistogram(1.0, bounds=bounds, random_state=seed).fit(rows, target="y")
        return model.sample()

    found = shadow_attack(make, frame, epsilon=1.0, runs=60 if LONG else 20)
    assert found.within
    assert found.epsilon_at_least <= 1.0


@settings(max_examples=30)
@given(st.integers(1, 60), st.data())
def test_the_proven_epsilon_is_below_what_the_counts_show(of, data):
    hits, alarms = data.draw(st.integers(0, of)), data.draw(st.integers(0, of))
    found = epsilon_at_least(hits, alarms, of)
    ratios = [hits / max(alarms, 1e-9), (of - alarms) / max(of - hits, 1e-9)]
    assert 0 <= found <= max(0.0, math.log(max(*ratios, 1e-9)))
    assert epsilon_at_least(hits, alarms, of, delta=0.5) <= found


def test_the_farthest_row_and_too_few_runs():
    assert farthest(FRAME) == 20
    with pytest.raises(InputError, match="4 runs"):
        shadow_attack(lambda rows, seed: rows, FRAME, epsilon=1.0, runs=2)


pytest.importorskip("opendp", reason="opendp is not installed (the extra dp has it)")

DOMAIN: dict[str, Any] = {
    "age": {"type": "integer", "low": 0, "high": 99, "other": None, "missing": False},
    "ill": {"type": "category", "values": ["no", "yes"], "other": None, "missing": False},
}


def manifest(kind: str = "histogram", **changes: Any) -> dict[str, Any]:
    budget = {"epsilon": 1.0, "delta": 0.0, "neighbours": "add-remove", "domain": DOMAIN}
    budget |= {"max_rows_per_person": None, **changes}
    columns = [{"name": "age", "role": "feature"}, {"name": "ill", "role": "target"}]
    method = {"name": "dp", "parameters": {"kind": kind}}
    return {"budget": budget, "columns": columns, "method": method}


def one_far(each: int = 1) -> pl.DataFrame:
    """Twenty alike, and one who stands out, who may have several rows."""
    rows = [(f"p{i}", 30, "no") for i in range(20)] + [("far", 90, "yes")] * each
    return pl.DataFrame(rows, schema=["who", "age", "ill"], orient="row")


def table(each: int = 1):
    return read_table(one_far(each), target="ill", identifier=["who"])


@pytest.mark.parametrize("kind", ["histogram", "partition"])
@pytest.mark.parametrize("neighbours", ["add-remove", "substitute"])
def test_drawn_rows_stay_below_what_epsilon_allows(kind, neighbours):
    found = shadow_of_release(table(), manifest(kind, neighbours=neighbours), {"bins": 4}, runs=30)
    assert found.details["within"]
    assert found.details["epsilon_at_least"] <= 1.0
    assert found.details["allowed"] == pytest.approx(np.e / (1 + np.e))


def test_a_mechanism_that_spends_more_than_it_says_is_caught(monkeypatch):
    def careless(epsilon, **given):
        return DPHistogram(40.0, **given)

    monkeypatch.setitem(members.MODELS, "histogram", careless)
    found = shadow_of_release(table(), manifest(epsilon=0.1), {"bins": 4}, runs=40)
    assert found.success.value > 0.9
    assert not found.details["within"]
    assert found.details["epsilon_at_least"] > 0.1


def test_a_person_is_taken_out_with_all_their_rows():
    made = members._shadow(table(3), manifest(max_rows_per_person=3), {}, 50, 0)
    assert (made.whole.rows, made.neighbour.rows, made.target.height) == (23, 20, 3)
    assert "far" not in made.neighbour.frame["who"].to_list()


def test_a_person_is_replaced_where_the_number_of_rows_is_public():
    made = members._shadow(table(), manifest(neighbours="substitute"), {}, 50, 0)
    assert made.whole.rows == made.neighbour.rows == 21
    assert made.neighbour.frame["age"].to_list() == [30] * 21
    assert made.target.rows() == [(90, "yes")]


def test_of_a_large_table_a_few_people_are_drawn_from():
    assert members._shadow(table(), manifest(), {}, 8, 0).whole.rows == 8


@pytest.mark.parametrize(
    ("changed", "runs", "words"),
    [
        (manifest("synthesiser"), 8, "cannot be drawn again"),
        (manifest(), 3, "4 runs"),
        ({**manifest(), "columns": [{"name": "zip", "role": "feature"}]}, 8, "no feature 'zip'"),
    ],
)
def test_what_cannot_be_drawn_again_is_said(changed, runs, words):
    with pytest.raises(InputError, match=words):
        shadow_of_release(table(), changed, runs=runs)


def test_noise_that_leaves_no_rows_is_a_result_too():
    def none(*_: object) -> pl.DataFrame:
        raise CannotMeet("no rows")

    made = members.Shadow(table(), table(), one_far().drop("who")[[20]], none)
    assert made.gap(made.whole, 0) == 2
