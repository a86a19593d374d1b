"""A target of numbers at the command line: refused at once, cut when asked, made again."""

import polars as pl

from tests.read.test_target_bins import wages


def test_the_command_line_cuts_and_makes_the_same_again(run, tmp_path):
    path, out = tmp_path / "wages.csv", tmp_path / "out"
    wages().write_csv(path)
    asked = ("release", path, "--target", "wage", "--out", out, "--row-is-person")
    code, _, err = run(*asked)
    assert code == 2
    assert "--target-bins 4" in " ".join(err.split())
    code, _, err = run(*asked, "--target-bins", "5,10", "--quiet")
    assert code == 0, err
    assert set(pl.read_csv(out / "release.csv")["wage"]) == {
        "5 or less",
        "above 5 to 10",
        "above 10",
    }
    code, _, err = run("release", "--again", out, "--out", tmp_path / "again", "--quiet")
    assert code == 0, err
    both = [(d / "release.csv").read_bytes() for d in (out, tmp_path / "again")]
    assert both[0] == both[1]
    code, _, err = run("audit", path, "--target", "wage", "--target-bins", "four")
    assert (code, "--target-bins takes a number of classes" in " ".join(err.split())) == (2, True)
