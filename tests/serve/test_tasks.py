"""What runs in a process of its own: how columns are described, how a draft becomes a folder."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tamis.datasets import patients
from tamis.errors import CannotMeet, InputError
from tamis.serve import tasks as module
from tamis.serve.steps import DEMO
from tamis.serve.tasks import answer_on_stdout, distribution, hand_over, look
from tests.publish.conftest import copy, outcome, published, quick_look

__all__ = ["copy", "outcome", "published", "quick_look"]  # fixtures


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


def test_no_cell_is_quoted(stays: Path):
    told = json.dumps(look(str(stays)))
    for cell in ("P000001", "female", "north", "emergency", "positive"):
        assert cell not in told


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
    with pytest.raises((InputError, CannotMeet)):
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
