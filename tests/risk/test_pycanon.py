"""pycanon as an oracle, where its definitions are ours.

Equal without missing values: k, the distinct l, t, and the entropy l, which pycanon cuts to a
whole number. Its recursive c takes the *rarest* value of a class for the commonest, so it is
equal only where all values of each class are equally common, and it gives the next whole number
above ours. With missing values it must differ: pandas drops the rows whose quasi-identifiers
are missing from the classes, while pycanon still counts them in the whole table.
"""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tamis.risk.anonymity import k_anonymity
from tamis.risk.diversity import l_diversity, t_closeness

PEER = Path(__file__).with_name("pycanon_peer.py")
PATIENCE = 180
"""Seconds to make the environment of pycanon in."""


def table(seed: int, sensitive: str, rows: int = 60) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 4, rows) ** 2
    text = sensitive.endswith("_text")
    return pl.DataFrame(
        {
            "q_age": rng.integers(1, 3, rows),
            "q_job_text": rng.choice(["cook", "judge"], rows),
            "q_sex_text": rng.choice(["f", "m"], rows),
            sensitive: np.char.add("v", values.astype(str)) if text else values,
        }
    )


def even() -> pl.DataFrame:
    """Classes in each of which every sensitive value is equally common."""
    sizes = {"a": 2 * ["x", "y"], "b": 3 * ["x", "y", "z"], "c": ["x", "y", "z", "w"]}
    rows = [(job, value) for job, values in sizes.items() for value in values]
    return pl.DataFrame(rows, schema=["q_job_text", "s_text"], orient="row")


def with_missing() -> pl.DataFrame:
    """One row whose quasi-identifier alone is missing."""
    jobs = ["cook"] * 3 + ["judge"] * 3 + [None]
    return pl.DataFrame({"q_job_text": jobs, "s_text": ["x", "y", "x", "y", "x", "y", "x"]})


COMPLETE = {f"{s}-{seed}": table(seed, s) for s in ("s", "s_text") for seed in range(6)}
TABLES = COMPLETE | {"even": even(), "missing": with_missing()}


@pytest.fixture(scope="module")
def pycanon(tmp_path_factory):
    """What pycanon says of each table, by name."""
    uv = shutil.which("uv")
    if uv is None:
        pytest.skip("pycanon needs an environment of its own, and uv is not on the PATH")
    folder = tmp_path_factory.mktemp("pycanon")
    for name, frame in TABLES.items():
        frame.write_csv(folder / f"{name}.csv")
    command = [uv, "run", "--script", str(PEER)]
    said = _said_by([*command, *(str(folder / f"{name}.csv") for name in TABLES)])
    if said is None and _said_by(command) is None:
        pytest.skip("the environment of pycanon cannot be made; is the registry reachable?")
    assert said is not None, "pycanon fails on the tables"
    return dict(zip(TABLES, json.loads(said)))


def _said_by(command: list[str]) -> bytes | None:
    """What a program prints; `None` if it fails or takes too long."""
    try:
        run = subprocess.run(command, capture_output=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return None
    return run.stdout if run.returncode == 0 else None


def quasi_and_sensitive(frame: pl.DataFrame) -> tuple[list[str], str]:
    return frame.columns[:-1], frame.columns[-1]


def test_equal_where_nothing_is_missing(pycanon):
    for name, frame in COMPLETE.items():
        quasi, sensitive = quasi_and_sensitive(frame)
        theirs = pycanon[name]
        assert theirs["k"] == k_anonymity(frame, quasi)
        ours = l_diversity(frame, sensitive, quasi)
        assert theirs["distinct"] == ours.distinct
        assert theirs["entropy"] in {math.floor(ours.entropy + e) for e in (-1e-9, 1e-9)}
        assert theirs["t"] == pytest.approx(t_closeness(frame, sensitive, quasi))


def test_recursive_c_where_values_are_equally_common(pycanon):
    ours = l_diversity(TABLES["even"], "s_text")
    c, least = pycanon["even"]["recursive"]
    assert least == ours.recursive_l == 2
    assert c == math.floor(ours.recursive_c) + 1


def test_different_where_a_quasi_identifier_is_missing(pycanon):
    frame, theirs = TABLES["missing"], pycanon["missing"]
    assert (k_anonymity(frame, ["q_job_text"]), theirs["k"]) == (1, 3)
    assert (l_diversity(frame, "s_text").distinct, theirs["distinct"]) == (1, 2)
    assert theirs["t"] < t_closeness(frame, "s_text")
