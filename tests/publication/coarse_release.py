"""A small table of which age, job and date of stay leave in coarser forms, by written ladders."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import numpy as np
import polars as pl

from tamis import Roles, Table
from tamis.coarsen.ladder import Ladder
from tamis.flow import Settings, consider
from tamis.outcome import Outcome

LADDERS: dict[str, dict[str, Any]] = {
    "age": {"width": [10, 20], "top": 80},
    "job": {"groups": {"manual": ["cook", "builder"], "desk": ["judge", "clerk"]}},
    "on": {"dates": ["quarter", "year"]},
}


def stays(rows: int = 700, seed: int = 11) -> Table:
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 95, rows)
    job = rng.choice(["cook", "builder", "judge", "clerk"], rows, p=[0.3, 0.2, 0.49, 0.01])
    on = [date(2020, 1, 1) + timedelta(days=int(day)) for day in rng.integers(0, 700, rows)]
    late = np.array([day.year == 2021 for day in on])
    manual = np.isin(job, ["cook", "builder"])
    score = (age > 59) * 2.0 + manual * 1.5 + late * 1.5 + rng.normal(0, 0.5, rows)
    frame = pl.DataFrame(
        {
            "age": age,
            "job": job,
            "on": on,
            "y": np.where(score > 2.2, "yes", "no"),
            "hiv": np.where(rng.random(rows) < 0.3, "pos", "neg"),
        }
    )
    return Table(frame, Roles("y", "hiv"))


def coarse_outcome(**asked: Any) -> Outcome:
    settings = Settings(methods={"coarsen": {}}, attackers=("nb",), seed=5, **asked)
    ladders = {name: Ladder.from_dict(name, how) for name, how in LADDERS.items()}
    return consider(stays(), settings, ladders=ladders)
