"""What runs in a process of its own: how columns are described, how a draft becomes a folder."""

from __future__ import annotations

import io
import json
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tamis.datasets import patients
from tamis.errors import CannotMeet, InputError
from tamis.release import Recipe, released
from tamis.serve import tasks as module
from tamis.serve.steps import DEMO
from tamis.serve.tasks import (
    LONGEST_SAMPLE,
    SAMPLES,
    answer_on_stdout,
    common_values,
    distribution,
    example_rows,
    hand_over,
    look,
)
from tamis.table import Table
from tests.publication.conftest import analysis, copy, outcome, published, quick_look

__all__ = ["analysis", "copy", "outcome", "published", "quick_look"]  # fixtures


@pytest.fixture(scope="module")
def stays(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("look") / "stays.csv"
    frame = patients(rows=300).frame
    extra = [
        pl.Series("row", [i // 2 for i in range(300)]),
        pl.Series("ward_name", ["north"] * 300),
    ]
    frame.with_columns(*extra).with_columns(pl.lit(None).alias("empty")).write_csv(path)
    return path


def by_name(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {c["name"]: c for c in found["columns"]}


def test_each_column_gets_a_role_and_a_reason(stays: Path):
    found = by_name(look(str(stays)))
    assert found["patient"]["role"] == "identifier"
    assert found["patient"]["telling"]
    assert found["row"]["role"] == "drop"
    assert "order of the rows" in found["row"]["why"]
    assert found["ward_name"]["why"] == "It has the same value in every row."
    assert found["empty"] | {"role": "drop", "bars": [], "missing": 300} == found["empty"]
    assert found["sex"]["role"] == found["albumin"]["role"] == "quasi"  # until somebody says else
    assert found["sex"]["why"] != found["albumin"]["why"]
    assert all(c["why"].endswith(".") for c in found.values())


def test_some_values_are_shown_and_nothing_else_quotes_a_cell(stays: Path):
    found = look(str(stays))
    samples = {c["name"]: c.pop("samples") for c in found["columns"] if [c.pop("values")]}
    assert not samples.pop("empty")
    assert all(0 < len(each) <= SAMPLES for each in samples.values())
    told = json.dumps(found)
    for cell in ("P000001", "female", "north", "emergency", "positive"):
        assert cell not in told


def test_the_most_frequent_values_come_first_and_long_ones_are_cut(tmp_path: Path):
    assert common_values(pl.Series(["b", "a", "b", None])) == [("b", 2), ("a", 1)]
    assert common_values(pl.Series([None, None], dtype=pl.String)) == []
    days = pl.Series([datetime(2021, 6, 7), datetime(2021, 6, 8, 0, 30)])
    assert common_values(days) == [("2021-06-07", 1), ("2021-06-08 00:30:00", 1)]
    assert common_values(pl.Series([2.5, 1.0, 2.5])) == [("2.5", 2), ("1.0", 1)]
    path = tmp_path / "t.csv"
    pl.DataFrame({"a": ["x" * 99, "y"] * 9, "b": [1, 2] * 9}).write_csv(path)
    long, _ = look(str(path))["columns"]
    assert long["samples"] == ["x" * LONGEST_SAMPLE + "…", "y"]
    assert long["values"] == [("x" * 99, 9), ("y", 9)]  # to be grouped, they must be whole


def test_rows_are_shown_before_and_after_without_identifiers_and_left_out_people():
    frame = pl.DataFrame(
        {"who": ["a", "b", "c"], "age": [31, 47, 90], "job": ["x", "y", "z"], "ill": [0, 1, 0]}
    )
    table = Table(frame).with_roles(target="ill", identifiers=("who",))
    coarse = released(
        Table(frame.with_columns(pl.lit("30+").alias("age"))).with_roles(target="ill"),
        ["age"],
        "by hand",
        Recipe("hand"),
    )
    shown = coarse.keeping(np.array([True, True, False]))
    found = example_rows(table, shown, ["age", "ill"])
    assert found["columns"] == ["age", "ill", "job"]
    assert found["rows"] == [
        [["31", "30+"], ["0", "0"], ["x", None]],
        [["47", "30+"], ["1", "1"], ["y", None]],
    ]


def test_the_demo_table_is_made_and_all_its_columns_have_a_role(tmp_path: Path):
    path = tmp_path / "patients.csv"
    found = look(str(path), made={"rows": 200})
    assert found["rows"] == 200
    assert [c["name"] for c in found["columns"]] == list(DEMO)


def test_texts_that_may_mean_missing_are_suggested(tmp_path: Path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,class\n?,x,1\nz,NA,2\n" * 20)
    assert look(str(path))["markers"] == ["?", "NA"]
    assert look(str(path), missing=["?", "NA"])["markers"] == []


@pytest.mark.parametrize(
    ("column", "shares"),
    [
        (pl.Series([1, 2, 2, None]), [0.5, 0.25]),
        (pl.Series(list(range(100))), [0.09, 0.08]),
        (pl.Series([None, None], dtype=pl.Int64), []),
        (pl.Series([1.0, float("inf")] * 20), [0.5, 0.5]),
    ],
)
def test_the_picture_of_a_column(column: pl.Series, shares: list[float]):
    found = distribution(column)
    assert found[: len(shares)] == pytest.approx(shares, abs=0.011)
    assert len(found) <= 12
    assert sum(found) <= 1 + 1e-9


def test_what_pages_cannot_show_is_said(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(module, "MOST_COLUMNS", 3)
    sparse, wide = tmp_path / "t.svm", tmp_path / "t.csv"
    sparse.write_text("1 1:1\n0 2:1\n")
    wide.write_text("a,b,c,d\n1,2,3,4\n")
    with pytest.raises(InputError, match="sparse 0/1 records"):
        look(str(sparse))
    with pytest.raises(InputError, match="the pages show at most 3"):
        look(str(wide))


def test_errors_are_answers(tmp_path: Path, monkeypatch, capsys):
    picture = tmp_path / "photo.csv"
    picture.write_bytes(bytes(range(256)) * 20)
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps({"source": str(picture)})))
    assert answer_on_stdout(look) == 2
    assert json.loads(capsys.readouterr().out)["error"]


def content(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_what_was_shown_is_what_is_published(published: Path, tmp_path: Path):
    found = hand_over(published, tmp_path / "out", "k = 5\n")
    assert content(tmp_path / "out") == content(published)
    assert (tmp_path / "out" / "private").stat().st_mode & 0o777 == 0o700
    assert found["config"] == str(tmp_path / "out.toml")
    assert (tmp_path / "out.toml").read_text() == "k = 5\n"
    assert (tmp_path / "out.toml").stat().st_mode & 0o777 == 0o600
    assert "hash" in found["checks"]
    assert any("at least" in claim for claim in found["claims"])


def test_nothing_is_replaced_unless_asked(published: Path, tmp_path: Path):
    (tmp_path / "out.toml").write_text("mine")
    with pytest.raises(InputError, match="already exists"):
        hand_over(published, tmp_path / "out", "new")
    assert [p.name for p in tmp_path.iterdir()] == ["out.toml"]
    hand_over(published, tmp_path / "out", "new", force=True)
    with pytest.raises(InputError, match="already exists"):
        hand_over(published, tmp_path / "out", "newer")
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "text.doc").touch()
    with pytest.raises((InputError, CannotMeet), match="not part of a release, so --force"):
        hand_over(published, tmp_path / "thesis", "x", force=True)
    assert (tmp_path / "thesis" / "text.doc").exists()


def test_a_draft_that_was_tampered_with_is_not_published(copy, tmp_path: Path, monkeypatch, capsys):
    draft = copy()
    with (draft / "release.csv").open("a") as file:
        file.write("1,2,3\n")
    out = tmp_path / "place" / "out"
    out.parent.mkdir()
    asked = {"draft": str(draft), "out": str(out), "config": "", "force": False}
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(asked)))
    assert answer_on_stdout(hand_over) == 1
    assert "does not match its manifest" in json.loads(capsys.readouterr().out)["error"]
    assert list(out.parent.iterdir()) == []


def test_the_question_of_a_survey_is_told(tmp_path: Path):
    pyreadstat = pytest.importorskip("pyreadstat", reason="pyreadstat is not installed")
    import pandas as pd

    path = tmp_path / "survey.sav"
    frame = pd.DataFrame({"q1": [1.0, 2.0] * 9, "ill": ["no", "yes"] * 9})
    pyreadstat.write_sav(frame, path, column_labels=["How are you?", ""])
    assert [c["question"] for c in look(str(path))["columns"]] == ["How are you?", ""]
