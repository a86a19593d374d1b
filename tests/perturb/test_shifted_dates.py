"""Moved dates: intervals of a person stay, nothing leaves the range, and ranges tell no shift."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tamis import Roles, Settings, ShiftedDates, Table, consider, publish, verify
from tamis.attack.sources import altered_by, published_table, value_groups
from tamis.errors import CannotMeet, InputError
from tamis.options.release import OUTPUT
from tamis.perturb import secret_source
from tamis.perturb.shifted_dates import MOST_DAYS
from tamis.propose.altered import Shift
from tamis.verification.layout import NAME, PRIVATE, RECIPE, read_json

START = date(2020, 1, 1)
DAYS = st.one_of(st.none(), st.integers(0, 60))
ROWS = st.lists(st.tuples(st.integers(0, 5), DAYS, DAYS), min_size=1, max_size=20)


def stays(rows: list[tuple[Any, ...]]) -> Table:
    came, left = (
        pl.Series([None if r[i] is None else START + timedelta(r[i]) for r in rows], dtype=pl.Date)
        for i in (1, 2)
    )
    frame = pl.DataFrame({"who": [f"p{r[0]}" for r in rows], "came": came, "left": left})
    frame = frame.with_columns(y=pl.Series([i % 2 for i in range(len(rows))]))
    return Table(frame, Roles(target="y", identifiers=("who",)))


@given(ROWS, st.integers(1, 40), st.integers(0, 9))
@example([(0, 0, None), (1, 10, None), (2, 10, None)], 10, 0)
@example([(0, 0, None), (1, 10, None), (2, 10, None)], 11, 0)
def test_each_person_moves_as_one_within_the_range_or_loses_all_dates(rows, days, seed) -> None:
    table = stays(rows)
    shift = ShiftedDates(days, columns=["came", "left"], random_state=seed)
    try:
        after = shift.fit_transform(table).frame
    except CannotMeet:
        assert spare_room(table) < days
        return
    before, lost = table.frame, 0
    for who in before["who"].unique():
        mine = before["who"] == who
        moved = set()
        for column in ("came", "left"):
            old, new = before[column].filter(mine), after[column].filter(mine)
            for a, b in zip(old, new):
                assert b is None or a is not None
                moved |= {None if b is None else (b - a).days} if a is not None else set()
        assert len(moved) <= 1
        assert moved <= {None, *range(-days, days + 1)}
        lost += moved == {None}
        assert (moved == {None}) == (spare_room(table, who) < days)
    assert shift.blanked_ == lost
    for column in ("came", "left"):
        if after[column].drop_nulls().len():
            assert after[column].min() >= before[column].min()
            assert after[column].max() <= before[column].max()


def spare_room(table: Table, only_who: str | None = None) -> int:
    """By how many days in all the dates of a person could move; the most of all people."""
    found = []
    for (who,), mine in table.frame.group_by("who"):
        back, forth = [-(10**6)], [10**6]
        for column in ("came", "left"):
            whole: list[date] = table.frame[column].drop_nulls().to_list()
            own: list[date] = mine[column].drop_nulls().to_list()
            back += [(min(whole) - min(own)).days] if own else []
            forth += [(max(whole) - max(own)).days] if own else []
        if only_who in (None, who) and (len(back) > 1 or only_who is not None):
            found.append(min(forth) - max(back))
    return max(found, default=-1)


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_times_of_day_stay_in_every_unit(unit: Any) -> None:
    times = [datetime(2021, month, 9, month, 30) for month in (1, 7, 12)]
    frame = pl.DataFrame({"at": pl.Series(times, dtype=pl.Datetime(unit)), "on": START})
    moved = ShiftedDates(60, random_state=3)
    after = moved.fit_transform(frame)["at"]
    assert moved.columns_ == ("at",)  # what is the same for everybody tells nobody anything
    apart = [new - old for old, new in zip(times, after)]
    assert [each.seconds for each in apart] == [0, 0, 0]
    assert 0 < max(abs(each.days) for each in apart) <= 60


def test_dates_move_by_a_century_at_most() -> None:
    frame = pl.DataFrame({"on": [date(1900, 1, 1), date(2000, 1, 1), date(2100, 1, 1)]})
    ShiftedDates(MOST_DAYS, random_state=0).fit_transform(frame)
    with pytest.raises(InputError, match="at most 36,500, a century, got 36501"):
        ShiftedDates(36_501).fit_transform(frame)
    assert next(o for o in OUTPUT if o.dest == "shift_dates").most == MOST_DAYS == 36_500


def test_whoever_knows_the_range_is_left_with_as_many_shifts_as_days() -> None:
    """For each moved date, the true dates that it could have been made of are counted."""
    rows = [(i, d, min(d + 3, 60)) for i, d in enumerate(range(0, 61, 4))]
    after = ShiftedDates(10, random_state=1).fit_transform(stays(rows)).frame
    for came, left in after.select("came", "left").rows():
        low, high = (came - START).days, (left - START).days
        possible = [s for s in range(-10, 11) if low - s >= 0 and high - s <= 60]
        assert len(possible) >= 11


def test_shifts_are_spread_evenly_and_differ_between_people() -> None:
    rows = [(i, 500, None) for i in range(4000)] + [(4000, 0, None), (4001, 1000, None)]
    frame = stays(rows).frame
    table = Table(frame, Roles(target="y", identifiers=("who",)))
    after = ShiftedDates(2, columns=["came"], random_state=3).fit_transform(table).frame["came"]
    moved = (after - frame["came"]).dt.total_days()[:4000].value_counts()["count"].to_list()
    assert len(moved) == 5
    assert 700 < min(moved) < max(moved) < 900


def test_times_of_day_stay_and_other_kinds_are_not_touched() -> None:
    when = [datetime(2020, 1, 1 + i, 10, 30 + i) for i in range(20)]
    frame = pl.DataFrame({"when": when, "job": ["a", "b"] * 10, "n": range(20)})
    after = ShiftedDates(5, random_state=0).fit_transform(frame)
    assert after.schema == frame.schema
    assert after.drop("when").equals(frame.drop("when"))
    assert after["when"].dt.time().to_list() == [w.time() for w in when]
    assert after["when"].to_list() != when


@pytest.mark.parametrize("hour", [0, 2, 8, 23])
def test_a_change_of_the_clocks_leaves_no_trace(hour: int) -> None:
    """Moved by instants, one in two of these would show another hour, and so a season."""
    when = [datetime(2020, 1, 1, hour, 30) + timedelta(i) for i in range(730)]
    frame = pl.DataFrame({"when": when}).with_columns(
        pl.col("when").dt.replace_time_zone(
            "Europe/Berlin", non_existent="null", ambiguous="latest"
        )
    )
    gone = frame["when"].null_count()
    after = ShiftedDates(180, random_state=1).fit_transform(frame)
    assert after.schema == frame.schema
    assert after["when"].null_count() == gone == 2 * (hour == 2)
    hours = after["when"].dt.hour().drop_nulls().value_counts()
    other = hours.filter(pl.col("when") != hour)["count"].sum()
    assert other <= (6 if hour == 2 else 0)  # a clock that skips two o'clock shows three
    days = after["when"].dt.date() - frame["when"].dt.date()
    assert days.drop_nulls().dt.total_days().abs().max() <= 180


def test_neither_rows_nor_identifiers_decide_who_moves_how_far() -> None:
    rows = [(i, 3 * i, 3 * i + i % 7) for i in range(15)]
    whole, seed = stays(rows), 5
    other = stays([(14 - i, a, b) for i, a, b in rows][::-1])
    found = [
        sorted(ShiftedDates(9, random_state=seed).fit_transform(t).frame["came"].to_list())
        for t in (whole, other)
    ]
    assert found[0] == found[1]


def test_what_cannot_be_moved_is_refused() -> None:
    frame = pl.DataFrame({"day": [START, START + timedelta(10)], "job": ["a", "b"]})
    for days in (0, 2.5, True, "9", 40_000):
        with pytest.raises(InputError, match="days must be"):
            ShiftedDates(days).fit_transform(frame)  # type: ignore[arg-type]
    with pytest.raises(CannotMeet, match="ask for fewer days"):
        ShiftedDates(11).fit_transform(frame)
    with pytest.raises(InputError, match="'job' holds no dates"):
        ShiftedDates(5, columns=["job"]).fit_transform(frame)
    with pytest.raises(InputError, match="columns is empty"):
        ShiftedDates(5).fit_transform(frame.drop("day"))


@pytest.mark.parametrize(
    "stays_as",
    ["%Y-%m-%d", "%d %b %Y", "%B %d, %Y", "%d.%m.%y", "%Y-%m", "%Y%m%d", "target", "sensitive"],
)
def test_dates_that_would_stay_beside_those_that_move_are_refused(stays_as: str) -> None:
    days = [START + timedelta(3 * i) for i in range(60)]
    frame = pl.DataFrame({"came": days, "seen": days, "job": ["a", "b"] * 30})
    if stays_as in ("target", "sensitive"):
        data: Any = Table(frame).with_roles(**{stays_as: "seen"})
    else:
        data = frame.with_columns(pl.col("seen").dt.strftime(stays_as))
        if stays_as == "%Y%m%d":
            data = data.with_columns(pl.col("seen").cast(pl.Int64))
    with pytest.raises(InputError, match="'seen' would stay beside the dates that move"):
        ShiftedDates(50).fit_transform(data)
    assert ShiftedDates(50).fit_transform(frame).width == 3
    one = frame.with_columns(seen=pl.lit("2031-05-17"))  # says nothing of anybody
    assert ShiftedDates(50).fit_transform(one)["seen"].equals(one["seen"])


def test_a_date_that_is_not_named_would_stay_as_well() -> None:
    days = [START + timedelta(3 * i) for i in range(60)]
    frame = pl.DataFrame({"came": days, "left": days})
    with pytest.raises(InputError, match="'left' would stay beside the dates that move"):
        ShiftedDates(50, columns=["came"]).fit_transform(frame)


def test_the_method_proposes_nothing_beside_dates_that_stay() -> None:
    days = [START + timedelta(3 * i) for i in range(60)]
    table = Table(pl.DataFrame({"came": days, "seen": days, "job": ["a", "b"] * 30}))
    whole: Any = SimpleNamespace(table=table)
    assert Shift().applies(whole) is None
    whole.table = table.with_roles(target="seen")
    reason = Shift().applies(whole)
    assert reason is not None
    assert "Dates that stay give away by how much others move: 'seen'" in reason


def test_without_a_seed_it_is_drawn_from_a_new_secret() -> None:
    frame = pl.DataFrame({"day": [START + timedelta(i) for i in range(200)]})
    one, two = (ShiftedDates(50).fit_transform(frame) for _ in range(2))
    assert not one.equals(two)
    one, two = (
        ShiftedDates(50, random_state=secret_source(1 << 100)).fit_transform(frame)
        for _ in range(2)
    )
    assert one.equals(two)


def test_a_release_says_what_was_moved_keeps_the_secret_and_is_verified(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    start = draw.integers(0, 900, 240)
    rows = [(i // 2, int(s), int(s) + int(n)) for i, (s, n) in enumerate(
        zip(start, draw.integers(1, 30, 240)))]  # fmt: skip
    table = stays(rows)
    frame = table.frame.with_columns(
        y=(table.frame["left"] - table.frame["came"]).dt.total_days() > 15,
        sex=pl.Series(["f", "m"] * 120),
    )
    table = Table(frame, Roles(target="y", identifiers=("who",), quasi=("sex",),
                               plain=("came", "left")))  # fmt: skip
    settings = Settings(k=2, methods={"shift": {"levels": [100, 30_000]}}, allow_useless=True)
    outcome = consider(table, settings)
    (release,) = outcome.proposals.releases  # of 30,000 days there is none
    out = publish(outcome.taking("dates moved, up to 100 days"), tmp_path / "out")
    assert verify(out).private
    method = read_json(out / NAME)["method"]
    assert method == {"name": "shift", "parameters": {"columns": ["came", "left"], "days": 100}}
    secret = read_json(out / PRIVATE / RECIPE)["settings"]["secret"]
    assert len(secret) == 32
    assert secret not in (out / NAME).read_text()
    seen = published_table(out, read_json(out / NAME))
    assert value_groups(frame["came"], seen.frame["came"]) is None
    assert altered_by(method)(seen, 1).frame.schema == seen.frame.schema  # type: ignore[misc]
    moved = release.table.frame
    assert moved["came"].to_list() != frame["came"].to_list()
    kept = moved["came"].is_not_null()
    assert kept.mean() > 0.7  # type: ignore[operator]
    stayed = [(each["left"] - each["came"]).filter(kept) for each in (moved, frame)]
    assert stayed[0].equals(stayed[1])
