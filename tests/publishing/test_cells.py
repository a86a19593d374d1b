"""Texts that a spreadsheet would run: made safe, and back again."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.publishing.cells import safe, undone
from tamis.publishing.release_file import read_release, write_release

nasty = st.text(alphabet="=+-@'\t\r\n 1.eaé\"，＝,", max_size=8) | st.text(max_size=8)  # noqa: RUF001


@given(st.lists(nasty | st.none(), min_size=1, max_size=8))
def test_the_rule_can_be_undone(values):
    frame = pl.DataFrame({"t": pl.Series(values, dtype=pl.String)})
    assert undone(safe(frame)).equals(frame)


@pytest.mark.parametrize(
    "text",
    ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "  =1", "＝1", "-", "+a"],  # noqa: RUF001
)
def test_formulas_get_an_apostrophe(text):
    assert safe(pl.DataFrame({"t": [text]}))["t"].to_list() == ["'" + text]


@pytest.mark.parametrize("text", ["-1", "+1", "-1.5e-3", "<=50K", "a=b", "", " x", "1-2", ".5"])
def test_numbers_and_plain_texts_stay(text):
    assert safe(pl.DataFrame({"t": [text]}))["t"].to_list() == [text]


def test_numbers_missing_cells_and_names_of_columns():
    frame = pl.DataFrame({"=a": [-1, 2], "b": [None, "=1"], "^.*$": ["x", "y"]})
    made = safe(frame)
    assert made.columns == ["'=a", "b", "^.*$"]
    assert made["'=a"].to_list() == [-1, 2]
    assert made["b"].to_list() == [None, "'=1"]


hostile = ["=cmd()", "a,b", 'q"uote', "line\nbreak", "<script>alert(1)</script>", "*", "^.*$", "'"]


def test_hostile_names_and_cells_survive_the_file(tmp_path):
    columns = {name: [name, "plain", None] for name in hostile}
    frame = pl.DataFrame(columns)
    for kind in ("csv", "parquet"):
        path = tmp_path / f"release.{kind}"
        write_release(frame, path, kind)
        assert read_release(path, kind).equals(frame)
    first = (tmp_path / "release.csv").read_text(encoding="utf-8")
    assert first.startswith("'=cmd(),")
