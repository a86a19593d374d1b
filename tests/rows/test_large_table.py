"""Samples: the same on every engine and in every order, people whole, contents in proportion."""

from __future__ import annotations

import datetime
from collections import Counter

import numpy as np
import polars as pl
import pytest

from tamis.errors import InputError
from tamis.flow import consider
from tamis.rows.counts import count_distinct
from tamis.rows.engines import Polars
from tamis.rows.large_table import sampled
from tamis.rows.sources import open_large
from tamis.settings import Settings
from tamis.table import Roles, Table

ROWS = 2000


def mixed(seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    moments = [
        datetime.datetime(2020, 1, 1, 3, 4, 5, 678),
        datetime.datetime(1950, 12, 31, 3, 4, 5, 678),
        None,
    ]
    return pl.DataFrame(
        {
            "who": rng.integers(0, 900, ROWS),
            "x": rng.choice([-0.25, 1e300, 0.0, 3.125], ROWS),
            "when": pl.Series([moments[i] for i in rng.integers(0, 3, ROWS)]),
            "flag": pl.Series([[True, False, None][i] for i in rng.integers(0, 3, ROWS)]),
            "ill": rng.choice(["no", "yes"], ROWS),
        }
    )


@pytest.mark.parametrize("roles", [Roles(identifiers=("who",)), Roles(dropped=("who",))])
def test_the_order_of_the_rows_does_not_matter(engine, behind, roles):
    frame = mixed()
    one = sampled(behind(engine, frame, roles), 400, seed=3)
    two = sampled(behind(engine, frame.reverse(), roles), 400, seed=3)
    assert one.table.frame.equals(two.table.frame)
    assert 300 < one.table.rows < 500
    assert not one.table.frame.equals(sampled(behind(engine, frame, roles), 400, 4).table.frame)


def told(table: Table) -> tuple[pl.DataFrame, list[int] | None]:
    """What a sample holds whatever people are called: cells, and whose rows go together."""
    people = table.people
    together = None if people.each_row else pl.Series(people.codes).rle_id().to_list()
    return table.frame.drop(table.roles.identifiers), together


@pytest.mark.parametrize("people", [2000, 900, 3])
@pytest.mark.parametrize("kinds", [2, 50])
def test_what_people_are_called_does_not_matter(engine, behind, people, kinds):
    """With as many people as rows, several rows each, and few; many alike, and few."""
    rng = np.random.default_rng(people)
    who = np.arange(ROWS) % people
    x = rng.integers(0, kinds, ROWS) / 3 - 1
    frame = pl.DataFrame({"who": who, "x": x, "ill": rng.choice(["no", "yes"], ROWS)})
    other = frame.with_columns(who=rng.permutation(people)[who] * 7 + 1)[rng.permutation(ROWS)]
    samples = [
        sampled(behind(engine, each, Roles("ill", identifiers=("who",))), 400, seed=3).table
        for each in (frame, other)
    ]
    (one, whose), (two, others) = map(told, samples)
    assert one.equals(two)
    assert whose == others
    if people > 3:
        assert 300 < one.height < 500


def test_people_are_drawn_in_proportion_to_those_alike(engine, behind):
    """By the definition: of n people with the same rows, n times the share, rounded down or up."""
    rng = np.random.default_rng(8)
    who = np.repeat(np.arange(900), 2)
    frame = pl.DataFrame({"who": who, "x": rng.integers(0, 3, 1800)})
    drawn = sampled(behind(engine, frame, Roles(identifiers=("who",))), 360, seed=1).table.frame

    def counts(rows: pl.DataFrame) -> dict[tuple[int, ...], int]:
        lists = rows.group_by("who").agg(pl.col("x").sort())["x"]
        return Counter(map(tuple, lists.to_list()))

    every, some = counts(frame), counts(drawn)
    assert len(every) == 6
    assert all(abs(some[rows] - n * 0.2) < 1 for rows, n in every.items())


@pytest.mark.parametrize("near", [0.0, 1.0, -1.0, 0.1, -0.1, 2.0**53, -1e17])
def test_people_who_differ_in_the_last_place_of_a_number_differ(engine, behind, near):
    """Else the name would decide which of them is drawn."""
    x = [near, np.nextafter(near, np.inf) if near else 2.0**-61] * 40
    frame = pl.DataFrame({"who": range(80), "x": x, "y": range(80)}).with_columns(
        y=pl.col("y") // 2 % 2
    )
    frame = pl.concat([frame, frame.head(1)])
    other = frame.with_columns(who=80 - pl.col("who"))
    roles = Roles(identifiers=("who",))
    one, two = (sampled(behind(engine, f, roles), 21, seed=0).table for f in (frame, other))
    assert told(one)[0].equals(told(two)[0])


@pytest.mark.parametrize("person", [None, ("who",), ()])
def test_names_of_people_with_one_row_stay_where_they_are(engine, behind, person):
    frame = mixed().with_columns(who=pl.int_range(ROWS))
    roles = Roles("ill", identifiers=("who",), person=person)
    drawn = sampled(behind(engine, frame, roles), 400, seed=0)
    assert drawn.by == "contents"
    assert drawn.table.frame["who"].null_count() == drawn.table.rows
    assert drawn.table.people.each_row


def test_people_come_with_all_their_rows(engine, behind):
    frame = mixed()
    drawn = sampled(behind(engine, frame, Roles(identifiers=("who",))), 400, seed=0)
    inside = frame.filter(pl.col("who").is_in(drawn.table.frame["who"].to_list()))
    assert drawn.by == "people"
    assert drawn.table.rows == inside.height
    assert drawn.table.roles.person == ("who",)


def test_contents_keep_their_shares(engine, behind):
    frame = pl.DataFrame({"a": ["common"] * 900 + ["rare"] * 100})
    drawn = sampled(behind(engine, frame, Roles()), 100, seed=0).table.frame
    counts = dict(drawn["a"].value_counts().iter_rows())
    assert counts == {"common": 90, "rare": 10}


def test_few_more_rows_are_fetched_than_drawn(engine, behind, monkeypatch):
    fetched, small = [], engine.small

    def watched(frame, *most):
        found = small(frame, *most)
        fetched.append(found.height)
        return found

    frame = pl.DataFrame({"a": [*range(1500), *(i for i in range(100) for _ in range(5))]})
    large = behind(engine, frame, Roles())
    monkeypatch.setattr(engine, "small", watched)
    drawn = sampled(large, 100, seed=0).table.rows
    assert 60 < drawn < 140
    assert max(fetched) < 3 * 100


def test_a_table_smaller_than_the_sample_is_taken_whole(engine, behind):
    frame = mixed()
    drawn = sampled(behind(engine, frame, Roles(target="ill")), ROWS, seed=0)
    assert (drawn.by, drawn.k_for(5)) == ("everything", 5)
    assert drawn.table.frame.sort(frame.columns).equals(frame.sort(frame.columns))
    assert drawn.table.frame.schema == frame.schema


def test_every_engine_draws_the_rows_of_every_other(engine, behind, tmp_path):
    """By texts of floats, moments, days and times that are the same wherever they are made."""
    odd = mixed().with_columns(
        pl.col("who") % 7,
        day=pl.col("when").dt.date(),
        there=pl.col("when").dt.replace_time_zone("UTC").dt.convert_time_zone("Europe/Berlin"),
        hour=pl.col("when").dt.time(),
        kind=pl.col("ill").cast(pl.Enum(["no", "yes"])),
        number=pl.col("who").cast(pl.UInt64),
        short=pl.col("x").clip(-1, 9).cast(pl.Float32),
    )
    odd.write_parquet(tmp_path / "rows.parquet")
    (tmp_path / "other").mkdir()
    found, wanted = (
        sampled(open_large(each, str(tmp_path / "rows.parquet")), 400, seed=3).table.frame
        for each in (engine, Polars(tmp_path / "other"))
    )
    assert found.equals(wanted)
    assert found.schema == {**odd.schema, "kind": pl.String()}
    assert set(found.rows()) <= set(odd.rows())


def test_numbers_that_an_engine_would_round_are_refused(engine, tmp_path):
    """Two that differ in the last place only are two."""
    frame = pl.DataFrame({"a": pl.Series([2**63 + 1, 2**63], dtype=pl.UInt64), "b": [1, 1]})
    frame.write_parquet(tmp_path / "rows.parquet")
    if engine.name == "spark":
        with pytest.raises(InputError, match="above 2\\^63, which spark does not read"):
            open_large(engine, str(tmp_path / "rows.parquet"))
    else:
        large = open_large(engine, str(tmp_path / "rows.parquet"))
        assert count_distinct(engine, large.frame, ["c0"]) == 2
    wide = frame.select(pl.col("b").cast(pl.Int128))
    wide.write_parquet(tmp_path / "wide.parquet")
    with pytest.raises(InputError, match="128 bits"):
        open_large(engine, str(tmp_path / "wide.parquet"))


@pytest.mark.filterwarnings("ignore:column 'who'")
def test_engines_and_memory_agree_on_spellings(engine, behind):
    rng = np.random.default_rng(1)
    parts = ["p", "P", "ｐ", " ", "\t", "\u00a0", "é", "É", "e\u0301", "\u200b", "1"]  # noqa: RUF001
    who = ["".join(rng.choice(parts, rng.integers(1, 4))) for _ in range(300)] * 2
    frame = pl.DataFrame({"who": [*who, None], "ill": ["no"] * 601})
    for exact in (False, True):
        roles = Roles(identifiers=("who",), exact_identifiers=exact)
        large = behind(engine, frame, roles)
        people = Table(frame, roles).everybody
        assert count_distinct(engine, large.frame, large.columns(["who"])) == people


def test_an_id_that_is_dropped_still_counts_and_disagreeing_numbers_are_asked_about(engine, behind):
    rows = 600
    frame = pl.DataFrame(
        {
            "pid": [i // 3 for i in range(rows)],
            "household_id": [i // 12 for i in range(rows)],
            "ill": ["no", "yes"] * (rows // 2),
        }
    )
    dropped = behind(engine, frame, Roles(target="ill", dropped=("pid",)))
    assert dropped.person_columns == ("pid",)
    both = behind(engine, frame, Roles(target="ill", identifiers=("pid", "household_id")))
    assert [c.people for c in both.open_candidates] == [200, 50]
    with pytest.raises(InputError, match="who is a person"):
        consider(both, Settings(), sample=200)
    said = behind(engine, frame, Roles("ill", identifiers=("pid", "household_id"), person=("pid",)))
    assert said.open_candidates == ()
