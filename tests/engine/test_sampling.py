"""Samples: the same on every engine and in every order, people whole, contents in proportion."""

from __future__ import annotations

import datetime

import numpy as np
import polars as pl
import pytest

from tamis.engine.sampling import sampled
from tamis.table import Roles

ROWS = 2000


def mixed(seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    moments = [datetime.datetime(2020, 1, 1, 3, 4, 5, 678), datetime.datetime(1969, 12, 31), None]
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
