"""OpenDP's synthesiser in a Python of its own: what travels, and what is refused.

The real one runs where TAMIS_MBI_PYTHON names an interpreter that has opendp[mbi].
"""

from __future__ import annotations

import io
import os
import stat
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tamis.dp import synthesiser
from tamis.dp.budget import Budget
from tamis.dp.synthesiser import DPSynthesiser, drawn_bins
from tamis.errors import CannotMeet, InputError, MissingExtra

BOUNDS = {"dose": (0.0, 1.0), "job": ["cook", "judge"], "ill": ["no", "yes"]}


def people(rows: int = 500) -> pl.DataFrame:
    rng = np.random.default_rng(2)
    dose = rng.random(rows)
    job = rng.choice(["cook", "judge"], rows)
    return pl.DataFrame({"dose": dose, "job": job, "ill": np.where(dose > 0.5, "yes", "no")})


@pytest.fixture
def echo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """In OpenDP's place a script that gives back the bins that it got, and one row without."""
    script = tmp_path / "echo.py"
    script.write_text(
        "import sys, polars as pl\n"
        "codes = pl.read_parquet(sys.argv[1])\n"
        "assert codes.columns == ['c0', 'c1', 'c2'], codes.columns\n"
        "assert sys.argv[3:] == ['2.0', 'mst', '2,4,2', '1'], sys.argv\n"
        "pl.concat([codes, codes.clear(1)]).write_parquet(sys.argv[2])\n"
    )
    monkeypatch.setattr(synthesiser, "SCRIPT", script)
    monkeypatch.setattr(synthesiser, "interpreter", lambda python: Path(sys.executable))
    return script


@pytest.mark.usefixtures("echo")
def test_bins_travel_there_and_back_without_names_or_values() -> None:
    frame = people()
    model = DPSynthesiser(2.0, bounds=BOUNDS, algorithm="mst", bins=4, random_state=0)
    drawn = model.fit_sample(frame, target="ill")
    assert drawn.schema == frame.schema
    assert drawn.height == frame.height
    assert drawn["job"].value_counts().sort("job").equals(frame["job"].value_counts().sort("job"))
    assert ((drawn["dose"] > 0.5) == (drawn["ill"] == "yes")).all()
    assert model.recipe_["epsilon"] == 2.0
    assert model.recipe_["neighbours"] == "add-remove"
    assert model.sample().equals(drawn)


def test_a_failure_is_told_and_the_budget_counts_as_spent(echo) -> None:
    echo.write_text("raise SystemExit(3)")
    budget = Budget(2.0)
    with pytest.raises(CannotMeet, match="spent all the same"):
        DPSynthesiser(2.0, bounds=BOUNDS).fit(people(), target="ill", budget=budget)
    assert budget.epsilon_left == 0


def test_a_time_limit_holds(echo) -> None:
    echo.write_text("import time\ntime.sleep(60)")
    with pytest.raises(CannotMeet, match="took more than"):
        DPSynthesiser(2.0, bounds=BOUNDS, time_limit=0.2).fit(people(), target="ill")


def test_without_opendp_mbi_the_message_says_how_to_get_it(tmp_path) -> None:
    with pytest.raises(MissingExtra, match=r"opendp\[mbi\]"):
        DPSynthesiser(1.0, bounds=BOUNDS).fit(people(), target="ill")
    with pytest.raises(InputError, match="no Python interpreter at"):
        DPSynthesiser(1.0, bounds=BOUNDS, python=tmp_path / "none").fit(people(), target="ill")
    other = tmp_path / "python"
    other.write_text("#!/bin/sh\nexit 1\n")
    other.chmod(other.stat().st_mode | stat.S_IEXEC)
    with pytest.raises(MissingExtra, match=r"has no opendp\[mbi\]"):
        DPSynthesiser(1.0, bounds=BOUNDS, python=other).fit(people(), target="ill")
    with pytest.raises(InputError, match="'aim' or 'mst'"):
        DPSynthesiser(1.0, bounds=BOUNDS, algorithm="ctgan").fit(people(), target="ill")  # type: ignore[arg-type]


@pytest.mark.skipif("TAMIS_MBI_PYTHON" not in os.environ, reason="no Python with opendp[mbi] named")
def test_opendp_itself_draws_a_table_that_resembles() -> None:
    frame = people(3000)
    python = os.environ["TAMIS_MBI_PYTHON"]
    model = DPSynthesiser(3.0, bounds=BOUNDS, algorithm="mst", bins=4, python=python)
    drawn = model.fit_sample(frame, target="ill")
    assert abs(drawn.height - 3000) < 300
    assert ((drawn["dose"] > 0.5) == (drawn["ill"] == "yes")).mean() > 0.9


def bins(**columns):
    file = io.BytesIO()
    pl.DataFrame(columns).write_parquet(file)
    return file.getvalue()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"PAR1",
        bins(c0=[0, 1]),
        bins(c0=[0, 1], c1=["a", "b"]),
        bins(c0=[0, 2], c1=[0, 1]),
        bins(c0=[0, -1], c1=[0, 1]),
    ],
)
def test_what_the_other_python_gives_is_not_trusted(data, capfd):
    with pytest.raises(CannotMeet, match="other than the bins"):
        drawn_bins(data, [2, 3])
    assert capfd.readouterr().err == ""


def test_bins_in_another_order_and_with_gaps_are_taken():
    drawn = drawn_bins(bins(c1=[2, 0, 1], c0=[1, None, 0], more=[1, 2, 3]), [2, 3])
    assert drawn.rows() == [(1, 2), (0, 1)]
