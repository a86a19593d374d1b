"""Limits of the choice hold for what was handed on before and the new release together."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from tamis.attack.earlier_releases import EarlierRelease, EarlierReleases
from tamis.attack.row_names import RowNames
from tamis.errors import CannotMeet
from tamis.flow import Settings, consider
from tamis.table import Roles, Table

METHODS: Any = {"front": {}}


@pytest.fixture(scope="module")
def table() -> Table:
    """Whether `one` and `two` differ is the secret: each alone says nothing of it."""
    drawn = np.random.default_rng(5)
    one, two, three = drawn.integers(0, 2, (3, 600))
    goal = (two + three + drawn.integers(0, 2, 600)) > 1
    columns = {"one": one, "two": two, "three": three, "secret": one ^ two, "goal": goal * 1}
    frame = pl.DataFrame({name: np.array(["no", "yes"])[cells] for name, cells in columns.items()})
    return Table(frame, Roles(target="goal", sensitive="secret"))


def handed(table: Table, *columns: str) -> EarlierReleases:
    said = {
        "columns": [{"name": c, "role": "feature"} for c in columns],
        "promises": [{"key": "k_anonymity", "at_least": 5, "columns": list(columns)}],
    }
    rows = Table(table.only([*columns, "goal"]), Roles(target="goal"))
    return EarlierReleases(table, [EarlierRelease(said, rows, RowNames.of(table))])


def chosen(table: Table, before: EarlierReleases | None, **limits: Any) -> tuple[str, ...]:
    settings = Settings(methods=METHODS, attackers=("nb",), caution=0.0, **limits)
    return consider(table, settings, handed=before).decision.chosen.release.features


def test_alone_a_column_tells_nothing_and_beside_another_it_tells_all(table):
    told = {"max_told": 0.3}
    assert "two" in chosen(table, None, **told)
    assert "two" in chosen(table, handed(table, "three"), **told)
    assert chosen(table, handed(table, "one"), **told) == ("three",)


def test_without_a_limit_what_is_told_together_bars_nothing(table):
    assert "two" in chosen(table, handed(table, "one"))


def test_what_already_told_too_much_cannot_be_met(table):
    with pytest.raises(CannotMeet, match="together with what was handed on before"):
        chosen(table, handed(table, "one", "two"), max_told=0.3)


def test_a_secret_that_was_handed_on_is_told(table):
    with pytest.raises(CannotMeet, match="together with what was handed on before"):
        chosen(table, handed(table, "secret"), max_told=0.3)


def test_diversity_holds_for_both_together(table):
    assert "two" in chosen(table, None, l=2)
    assert chosen(table, handed(table, "one"), l=2) == ("three",)


def test_reasons_name_no_small_group(table):
    settings = Settings(methods=METHODS, attackers=("nb",), k=130)
    before = handed(table, "one")
    decision = consider(table, settings, handed=before).decision
    assert (before.anonymity_beside(decision.chosen.release) or 0) >= 130
    short = [failure.short for failure in decision.failures["everything"]]
    assert "fewer than 130 rows alike together with what was handed on before" in short
