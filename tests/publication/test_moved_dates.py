"""Dates that are moved before anything else, whichever method wins."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tamis import Settings, Table, consider, publish, verify
from tamis.datasets import stays
from tamis.errors import InputError
from tamis.rows.memory_only import RELEASING, refuse_memory_only
from tamis.verification.layout import NAME, read_json
from tamis.verification.shape import contradiction

METHODS: dict[str, Any] = {"front": {"budget": 20}, "coarsen": {}}


def visits() -> Table:
    table = stays(rows=900)
    draw = np.random.default_rng(4)
    came = [date(2020, 1, 1) + timedelta(days=int(n)) for n in draw.integers(0, 1400, table.rows)]
    left = [day + timedelta(days=int(n)) for day, n in zip(came, table.frame["stay_days"])]
    frame = table.frame.drop("stay_days").with_columns(came=pl.Series(came), left=pl.Series(left))
    return Table(frame, table.roles).with_roles(plain=("came", "left"))


@pytest.fixture(scope="module")
def outcome() -> Any:
    found = consider(visits(), Settings(k=2, shift_dates=200, secret="ab" * 16, methods=METHODS))
    whole = found.decision.scorecard.candidates
    both = [r.release for r in whole if {"came", "left"} <= {*r.release.features}]
    return found.taking(min(both, key=lambda release: len(release.forms)).name) if both else found


def test_intervals_stay_and_all_dates_of_a_person_move_together(outcome: Any) -> None:
    before, after, people = visits().frame, outcome.table.frame, visits().people.codes
    assert outcome.moved.columns == ("came", "left")
    moved = (after["came"] - before["came"]).dt.total_days().to_numpy()
    same = (after["left"] - before["left"]).dt.total_days().to_numpy()
    there = ~np.isnan(moved)
    assert (moved[there] == same[there]).all()
    assert np.abs(moved[there]).max() <= 200
    assert np.abs(moved[there]).mean() > 20
    for person in np.unique(people[there]):
        assert len({*moved[there & (people == person)]}) == 1
    assert outcome.moved.blanked == len({*people[~there]})


def test_the_manifest_says_what_was_moved_and_verify_knows_it(outcome: Any, tmp_path: Path) -> None:
    folder = publish(outcome, tmp_path / "out")
    content = read_json(folder / NAME)
    released = sorted({"came", "left"} & {*outcome.release.features})
    assert released
    assert content["moved"] == {"days": 200, "columns": released}
    assert any("Dates were moved on purpose" in words for words in content["not_promised"])
    found = verify(folder)
    assert any("the dates that were moved" in words for words in found.not_checked)
    for wrong in ({"days": 0, "columns": released}, {"days": 9, "columns": ["readmitted"]}):
        assert "dates are said to be moved" in contradiction({**content, "moved": wrong})
    assert "were moved before anything else" in (folder / "private" / "report.html").read_text()
    coarse = {*outcome.release.forms}
    rows = pl.read_csv(folder / "release.csv", infer_schema=False)
    for column in {*released} - coarse:
        mine = outcome.table.frame[column].dt.to_string("%Y-%m-%d")
        assert sorted(rows[column].drop_nulls()) == sorted(mine.drop_nulls())


def test_the_same_secret_moves_the_same_way(outcome: Any) -> None:
    settings = Settings(k=2, shift_dates=200, secret="cd" * 16, methods={"front": {"budget": 3}})
    other = consider(visits(), settings).table.frame["came"]
    assert not other.equals(outcome.table.frame["came"])
    again = Settings(k=2, shift_dates=200, secret="ab" * 16, methods={"front": {"budget": 3}})
    assert consider(visits(), again).table.frame["came"].equals(outcome.table.frame["came"])


def test_what_cannot_be_moved_is_refused() -> None:
    with pytest.raises(InputError, match="no feature holds dates that differ"):
        consider(stays(rows=200), Settings(shift_dates=30))
    told = visits().frame.with_columns(control=pl.col("left").dt.strftime("%d %b %Y"))
    with pytest.raises(InputError, match="'control' would stay beside the dates that move"):
        consider(Table(told, visits().roles), Settings(shift_dates=30))
    with pytest.raises(InputError, match="--population or --sampling compares people"):
        consider(visits(), Settings(shift_dates=30, sampling=0.1))
    with pytest.raises(InputError, match="shift_dates moves the dates of people, and synthetic"):
        Settings(shift_dates=30, epsilon=1.0)
    with pytest.raises(InputError, match="shift_dates must be a whole number"):
        Settings(shift_dates=0)
    with pytest.raises(InputError, match="--shift-dates needs the table in memory"):
        refuse_memory_only({"shift_dates": 30}, RELEASING)
