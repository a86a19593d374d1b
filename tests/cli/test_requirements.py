"""What is asked of people alike is understood in the same way by every command."""

from __future__ import annotations

import polars as pl
import pytest

from tamis import Settings, consider, publish, read_table, t_closeness, verify
from tamis.errors import CannotMeet


def ten_rows() -> pl.DataFrame:
    """Their t is 0.3 on paper, and 0.30000000000000004 as it is added up."""
    return pl.DataFrame({"job": ["a"] * 5 + ["b"] * 5, "ill": list("uvvvvuuuuv")})


def test_ten_rows_at_exactly_t_leave_by_both_commands_and_are_verified(run, tmp_path):
    assert t_closeness(ten_rows(), "ill", ["job"]) == 0.30000000000000004
    table, out = tmp_path / "ten.csv", tmp_path / "out"
    ten_rows().write_csv(table)
    about = ["--target", "ill", "--k", 2, "--row-is-person", "--quiet"]
    coarse = tmp_path / "coarse.csv"
    assert run("coarsen", table, *about, "--t", 0.3, "-o", coarse).code == 0
    assert pl.read_csv(coarse).columns == ["job", "ill"]
    publish(consider(read_table(ten_rows(), target="ill"), asked_of_ten(0.3)), out)
    assert verify(out).manifest["diversity"][0]["measured"] == pytest.approx(0.3)
    assert run("coarsen", table, *about, "--t", 0.299, "-o", coarse).code == 0
    assert pl.read_csv(coarse).columns == ["ill"]
    with pytest.raises(CannotMeet, match=r"t = 0\.299 is asked for"):
        consider(read_table(ten_rows(), target="ill"), asked_of_ten(0.299))


def asked_of_ten(t: float) -> Settings:
    return Settings(k=2, t=t, allow_useless=True, attackers=("nb",), methods={"front": {}})


@pytest.mark.parametrize("command", [["coarsen"], ["release", "--out", "nowhere"]])
def test_l_of_one_is_refused_by_every_command(run, tmp_path, command):
    table = tmp_path / "ten.csv"
    ten_rows().write_csv(table)
    done = run(*command, table, "--target", "ill", "--l", 1)
    assert done.code == 2
    assert (
        "--l must be a whole number of at least 2, since every group has one value; got 1"
        in done.err
    )
