"""Tables of pure noise: whatever is chosen, half of the labels is all that can be predicted."""

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom

from tamis import Roles, Settings, Table, consider
from tamis.errors import CannotMeet
from tamis.evaluate.scorecard import Row
from tests.long import LONG, long

RUNS = 30
ROWS = 320


pytestmark = pytest.mark.filterwarnings("ignore:the columns teach little")


def noise(seed: int) -> Table:
    draw = np.random.default_rng(seed)
    columns = {f"c{i}": draw.integers(0, 4, ROWS) for i in range(6)}
    halves = {name: draw.permutation(["a", "b"] * (ROWS // 2)) for name in ("label", "secret")}
    return Table(pl.DataFrame(columns | halves), Roles(target="label", sensitive="secret"))


@pytest.fixture(scope="module")
def chosen() -> list[Row]:
    """What is chosen of each of many tables."""
    settings: dict[str, Any] = {
        "k": 1,
        "choose": "ranks",
        "allow_useless": True,
        "weights": {"performance": 1.0},
        "attackers": ("nb", "c45"),
        "methods": {"breach": {"search": "walk", "folds": 3, "most": 5}},
    }
    return [consider(noise(s), Settings(**settings, seed=s)).decision.chosen for s in range(RUNS)]


def mean_and_error(values: list[float]) -> tuple[float, float]:
    return float(np.mean(values)), float(np.std(values) / np.sqrt(len(values)))


@long
def test_the_rows_that_report_do_not_flatter_what_was_chosen(chosen):
    mean, error = mean_and_error([row.value("performance") for row in chosen])
    assert abs(mean - 0.5) < 3 * error
    assert error < 0.015


@long
def test_the_rows_that_choose_do(chosen):
    """Otherwise the test above would hold whichever rows reported."""
    mean, error = mean_and_error([row.value_for_choice("performance") for row in chosen])
    assert mean - 0.5 > 3 * error


@long
def test_intervals_lie_wholly_on_one_side_as_often_as_they_say(chosen):
    above = sum(row.figures["performance"].low > 0.5 for row in chosen)
    below = sum(row.figures["performance"].high < 0.5 for row in chosen)
    assert max(above, below) <= binom.ppf(0.999, RUNS, 0.025)


@long
def test_the_strongest_attacker_is_not_flattered_either(chosen):
    findings = [(row.assessment.strongest, row.assessment.reporting.attacked) for row in chosen]
    mean, error = mean_and_error([said[name].right.mean() for name, said in findings])
    assert abs(mean - 0.5) < 3 * error


def test_noise_is_refused():
    """The best of all sets of columns looks like something, on the rows that chose it."""
    asked = Settings(k=1, methods={"front": {}})
    refused = 0
    tables = 8 if LONG else 3
    for seed in range(tables):
        try:
            consider(noise(seed), replace(asked, seed=seed))
        except CannotMeet:
            refused += 1
    assert refused >= tables - 1


def test_the_rows_that_report_do_not_flatter_what_is_kept_and_told():
    asked = Settings(k=1, methods={"front": {}}, allow_useless=True)
    seeds = range(12 if LONG else 5)
    rows = [consider(noise(s), replace(asked, seed=s)).decision.chosen for s in seeds]
    for measure in ("useful", "telling"):
        mean, error = mean_and_error([row.value(measure) or 0.0 for row in rows])
        assert mean < 3 * error


def test_nobody_is_searched_and_asked_about():
    """By heart a model knows whom it has met; of others it can only guess."""
    draw = np.random.default_rng(3)
    who = np.repeat(np.arange(120), 4)
    frame = pl.DataFrame({"person": who, "code": draw.permutation(120)[who]}).with_columns(
        coin=pl.Series(draw.integers(0, 2, 120)[who]), label=pl.Series((np.arange(120) % 2)[who])
    )
    table = Table(frame, Roles(target="label", quasi=(), identifiers=("person",), plain=("code",)))
    asked = Settings(
        k=1,
        allow_useless=True,
        methods={"breach": {"search": "walk", "folds": 3}},
        classifier="tree",
        attackers=("nb",),
    )
    outcome = consider(table, asked)
    split = outcome.evaluator.split
    parts = [set(who[rows]) for rows in (split.seen, split.choosing, split.reporting)]
    assert sum(map(len, parts)) == 120
    card = outcome.decision.scorecard
    wide: Any = card.baseline.figures["performance"]
    assert wide.value < 0.75
    assert wide.high - wide.low > 0.2, "four rows of a person count as one, as they are alike"
