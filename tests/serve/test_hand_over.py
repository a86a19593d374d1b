"""A draft becomes a folder: the same bytes, verified, with the settings beside it."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from tamis.errors import CannotMeet, InputError
from tamis.serve.hand_over import from_options, hand_over
from tamis.serve.work import answer_on_stdout
from tests.publish.conftest import copy, outcome, published, quick_look

__all__ = ["copy", "outcome", "published", "quick_look"]  # fixtures


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
    assert answer_on_stdout(from_options) == 1
    assert "does not match its manifest" in json.loads(capsys.readouterr().out)["error"]
    assert list(out.parent.iterdir()) == []
