"""Texts that a spreadsheet would run: made safe, and back again."""

from __future__ import annotations

import re

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.formulas import safe, undone, unguarded

nasty = st.text(alphabet="=+-@'\t\r\n 1.eaé\"，＝,;|", max_size=8) | st.text(max_size=8)  # noqa: RUF001


@given(st.lists(nasty | st.none(), min_size=1, max_size=8))
def test_the_rule_can_be_undone(values):
    frame = pl.DataFrame({"t": pl.Series(values, dtype=pl.String)})
    assert undone(safe(frame)).equals(frame)


@pytest.mark.parametrize(
    "text",
    ["=1+1", "-2+3", "@SUM(A1)", "  =1", "＝1", "+a", '"=1"'],  # noqa: RUF001
)
def test_formulas_get_an_apostrophe(text):
    assert safe(pl.DataFrame({"t": [text]}))["t"].to_list() == ["'" + text]


@pytest.mark.parametrize(
    "text",
    [
        *(
            "-1",
            "+1",
            "-1.5e-3",
            "<=50K",
            "a=b",
            "",
            " x",
            "1-2",
            ".5",
            "- 50000.",
            "-",
            "--",
            "-5 %",
        ),
        *("[-10, -5)", "a, -1", "a; b|c"),
    ],
)
def test_numbers_and_plain_texts_stay(text):
    assert safe(pl.DataFrame({"t": [text]}))["t"].to_list() == [text]


def test_numbers_missing_cells_and_names_of_columns():
    frame = pl.DataFrame({"=a": [-1, 2], "b": [None, "=1"], "^.*$": ["x", "y"]})
    made = safe(frame)
    assert made.columns == ["'=a", "b", "^.*$"]
    assert made["'=a"].to_list() == [-1, 2]
    assert made["b"].to_list() == [None, "'=1"]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("x;=1+1", "x;'=1+1"),
        ("x,=1+1", "x,'=1+1"),
        ("x\t@a", "x\t'@a"),
        ("x| +a", "x|' +a"),
        ('x;"=1+1"', 'x;\'"=1+1"'),
        ("x\n=1+1", "x\n'=1+1"),
        ("=1;=2", "'=1;'=2"),
        ("x;'y", "x;''y"),
        ("\t=1", "'\t'=1"),
        ("\r=1", "'\r'=1"),
        ("\tx", "'\tx"),
        ("\ufeff=1+1", "'\ufeff=1+1"),
        ("x;\u200b\x00=1", "x;'\u200b\x00=1"),
        ("+cmd|' /C calc'!A0", "'+cmd|'' /C calc'!A0"),
    ],
)
def test_every_piece_that_a_spreadsheet_may_split_off_is_guarded(text, written):
    made = safe(pl.DataFrame({text: [text]}))
    assert made.rows() == [(written,)]
    assert made.columns == [written]
    assert undone(made).to_dict(as_series=False) == {text: [text]}
    assert not unguarded(made.to_series())
    assert unguarded(pl.Series([text])) is (text != "x;'y")


@given(st.lists(nasty, min_size=1, max_size=8))
def test_no_piece_of_a_written_text_runs(values):
    cells = safe(pl.DataFrame({"t": values})).to_series()
    assert not unguarded(cells)
    for text in cells:
        for piece in re.split("[;,|\t\r\n]", text):
            bare = piece.lstrip().lstrip('"').lstrip()
            if bare.startswith(("=", "@", "＝", "＠")):  # noqa: RUF001
                pytest.fail("a formula would run")
