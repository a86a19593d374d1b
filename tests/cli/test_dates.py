"""A table with dates goes through the main job, and leaves as it came."""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta

import numpy as np
import polars as pl
import pytest

from tamis.verification.form import _dates


@pytest.fixture
def stays(tmp_path):
    draw = np.random.default_rng(0)
    days = draw.integers(0, 40, 240) * 10
    frame = pl.DataFrame(
        {
            "admitted": [date(2019, 1, 1) + timedelta(days=int(d)) for d in days],
            "seen": [datetime(2021, 1, 1, int(h)) for h in draw.integers(0, 24, 240)],
            "job": draw.choice(["cook", "judge"], 240),
            "sex": draw.choice(["f", "m"], 240),
            "ill": np.where(days + draw.normal(0, 60, 240) > 200, "yes", "no"),
        }
    )
    path = tmp_path / "stays.csv"
    frame.write_csv(path, datetime_format="%Y-%m-%d %H:%M:%S")
    return path


def test_dates_are_released_and_verified_as_they_were_read(run, stays, tmp_path):
    quick = ("--attackers", "nb", "--methods", "breach", "--quiet")
    roles = ("--target", "ill", "--sensitive", "sex", "--quasi", "job")
    out = tmp_path / "out"
    code, _, err = run("release", stays, *roles, "--k", "2", "--out", out, *quick)
    assert code == 0, err
    columns = json.loads((out / "manifest.json").read_text())["columns"]
    kinds = {c["name"]: c["kind"] for c in columns}
    assert kinds["admitted"] == "date"
    before, after = (pl.read_csv(f, infer_schema=False) for f in (stays, out / "release.csv"))
    assert after["admitted"].sort().equals(before["admitted"].sort())
    assert run("verify", out).code == 0


def test_what_counts_as_a_written_date():
    assert _dates(pl.Series(["2021-05-03", None, "2021-05-03 10:00:00.5", "10:00:00"]))
    assert not _dates(pl.Series(["2021-05-03", "soon"]))
    assert not _dates(pl.Series([1]))
