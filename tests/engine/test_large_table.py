"""Samples: the same on every engine and in every order, people whole, contents in proportion."""

from __future__ import annotations

import datetime

import numpy as np
import polars as pl
import pytest

from tamis.engine.backend import Polars
from tamis.engine.cells import count_distinct
from tamis.engine.large_table import sampled
from tamis.engine.sources import open_large
from tamis.errors import InputError
from tamis.scale.search import consider_large
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
    assert dropped.told_apart_by == ("pid",)
    both = behind(engine, frame, Roles(target="ill", identifiers=("pid", "household_id")))
    assert [c.people for c in both.open_candidates] == [200, 50]
    with pytest.raises(InputError, match="who is a person"):
        consider_large(both, Settings(), 200)
    said = behind(engine, frame, Roles("ill", identifiers=("pid", "household_id"), person=("pid",)))
    assert said.open_candidates == ()
