"""Numbers leave with no more digits than teach, and without those that tell."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Settings, consider, publish, verify
from tamis.coarsen.ladder_sources import DIGITLESS, DIGITS, FEWEST_STEPS, digit_ladder
from tamis.evaluate.bits import CLOSE, merges_of
from tamis.outcome import Outcome
from tamis.propose.coarser_sets import _with
from tamis.table import Roles, Table

numbers = st.lists(
    st.one_of(
        st.integers(-(10**6), 10**6).map(float),
        st.integers(-(10**6), 10**6).map(lambda n: n / 100),
    ),
    max_size=80,
)


@given(numbers)
def test_each_step_is_a_power_of_ten_that_leaves_enough_numbers_and_takes_some(values):
    column = pl.Series("x", values, dtype=pl.Float64)
    ladder = digit_ladder(column)
    if len(set(values)) <= DIGITLESS:
        assert ladder is None
        return
    if ladder is None:
        return
    steps = ladder.to_dict()["step"]
    assert 0 < len(steps) <= DIGITS
    for level, step in enumerate(steps, start=1):
        cut = {np.floor(round(value / step, 9)) for value in values}
        assert set(ladder.apply(column, level)) == pytest.approx({c * step for c in cut})
        assert FEWEST_STEPS <= len(cut) < len(set(values))
        assert f"{step:e}".startswith("1.0")
    coarser = steps[-1] * 10
    assert len({np.floor(round(value / coarser, 9)) for value in values}) < FEWEST_STEPS


def test_what_is_no_number_or_has_few_has_no_digits_to_lose():
    for column in (["a", "b"] * 40, [True, False] * 40, list(range(31)), [np.nan, np.inf] * 40, []):
        assert digit_ladder(pl.Series("x", column)) is None
    found = digit_ladder(pl.Series("x", range(32, 500)))
    assert found is not None
    assert found.to_dict() == {"step": [10]}
    assert digit_ladder(pl.Series("x", [*range(100), float("inf")], strict=False)) is None


def incomes(parity: bool, rows: int = 4000) -> Table:
    """The thousands of an income teach; its parity tells, if asked for."""
    draw = np.random.default_rng(8)
    secret, hundreds = draw.random(rows) < 0.3, draw.integers(200, 1000, rows)
    income = hundreds * 100 + 2 * draw.integers(0, 50, rows) + (secret if parity else 0)
    target = draw.random(rows) < 1 / (1 + np.exp(-4 * np.sin(hundreds / 90)))
    frame = pl.DataFrame({"income": income, "age": draw.integers(18, 90, rows)})
    frame = frame.with_columns(
        pl.Series("y", np.where(target, "yes", "no")), pl.Series("s", np.where(secret, "b", "a"))
    )
    return Table(frame, Roles(target="y", sensitive="s", quasi=("age",), plain=("income",)))


def considered(table: Table) -> Outcome:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return consider(table, Settings(attackers=("nb",)))


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return considered(incomes(parity=True))


def test_a_view_that_tells_is_cured_by_a_rung_that_keeps_what_is_taught(outcome):
    chosen = outcome.decision.chosen
    assert chosen.release.forms["income"].ladder == {"step": [10, 100, 1000]}
    assert (chosen.value("kept") or 0) > 0.9
    assert (chosen.value("told") or 0) < 0.02
    assert (outcome.decision.scorecard.baseline.value("told") or 0) > 0.9


def test_a_number_loses_digits_that_teach_nothing_though_nothing_tells():
    chosen = considered(incomes(parity=False)).decision.chosen
    form = chosen.release.forms["income"]
    step = form.ladder["step"][form.level - 1]
    assert step >= 100
    assert (chosen.release.table.frame["income"] % step == 0).all()
    assert "in steps of" in chosen.release.name
    assert (chosen.value("kept") or 0) > 0.9


def test_the_recipient_is_told_the_step_and_anybody_can_verify_it(outcome, tmp_path: Path):
    folder = tmp_path / "release"
    publish(outcome, folder)
    verify(folder)
    said = json.loads((folder / "manifest.json").read_text())["columns"]
    (income,) = (column for column in said if column["name"] == "income")
    step = income["coarser"]["step"]
    cells = pl.read_csv(folder / "release.csv")["income"]
    assert (cells % step == 0).all()
    assert cells.dtype.is_integer()


def test_what_is_as_good_loses_digits_before_anything_else_is_weighed():
    """By the order of choice alone: coarser columns cost, digits that are dropped do not."""
    assert merges_of([None, None], dropped=3) < merges_of([None, None])
    assert merges_of([None, None]) < merges_of([None, 2], dropped=4)
    assert CLOSE == 0.01


def test_digits_come_back_one_by_one_for_all_numbers_of_a_set():
    digits = {0: [0, 3, 4, 5], 1: [1, 6]}
    needed = {0: 3, 1: 1}
    assert _with((0, 1, 2), digits, needed, 0) == (2, 5, 6)
    assert _with((0, 1, 2), digits, needed, 1) == (1, 2, 4)
    assert _with((1, 2, 4), digits, needed, 2) == (1, 2, 4)
    assert _with((2, 5), digits, needed, 1) == (2, 5)
