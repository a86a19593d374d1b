"""Which releases can be taken, with which figures; nothing private is in what is handed on."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pytest

from tamis.errors import InputError
from tamis.figures import change
from tamis.serve import releasing as module
from tamis.serve.releasing import SHOWN_ROWS, choices, first_rows, pack, unpack


def candidate(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "features": [name], "fails": [], "place": 1} | more


def test_only_what_keeps_the_limits_can_be_taken_and_the_suggested_comes_first():
    ranked = {"performance": 0.7, "pbi": -0.05}
    found = [
        candidate("b", place=2, **ranked),
        candidate("c", place=3, **ranked),
        candidate("a", place=1, **ranked),
        candidate("bad", place=0, fails=["fewer than 5 people alike"], **ranked),
    ]
    assert [c.name for c in choices(found, "c", 1.0)] == ["c", "a", "b"]
    assert dict(choices(found, "c", 1.0)[0].figures) == {
        "A model is right": "70.0%",
        "Gain of an attacker": change(-0.05),
    }


@pytest.mark.parametrize(
    ("caution", "order"), [(0.1, ["x", "much", "safe"]), (2, ["x", "safe", "much"])]
)
def test_where_bits_are_measured_they_order_and_are_shown(caution: float, order: list[str]):
    found = [
        candidate("much", kept=0.9, told=0.5, worth=(0.9, 0.5)),
        candidate("safe", kept=0.6, told=0.1, worth=(0.6, 0.1)),
        candidate("x", kept=0.5, told=None, worth=(0.5, 0.0)),
    ]
    chosen = choices(found, "x", caution)
    assert [c.name for c in chosen] == order
    assert chosen[0].figures == [
        ("Kept of the target", "50.0%"),
        ("Told of the secret", "nothing to tell"),
    ]


def test_the_first_rows_are_those_of_the_file(tmp_path: Path):
    assert first_rows(tmp_path) == []
    text = 'a,"b, c"\n' + "".join(f"{i},x\n" for i in range(20))
    (tmp_path / "release.csv").write_text(text, encoding="utf-8")
    found = first_rows(tmp_path)
    assert found[0] == ["a", "b, c"]
    assert [row[0] for row in found[1:]] == [str(i) for i in range(SHOWN_ROWS)]


@pytest.fixture
def release(tmp_path: Path) -> Path:
    folder = tmp_path / "out"
    (folder / "private").mkdir(parents=True)
    for name in ("manifest.json", "report.html", "release.csv", "private/recipe.json", "notes.txt"):
        (folder / name).write_text(f"text of {name}")
    return folder


def test_only_what_is_to_be_handed_on_is_packed_and_it_comes_back(release: Path, tmp_path: Path):
    packed, back = tmp_path / "out.zip", tmp_path / "back"
    pack(release, packed, "stays")
    names = ["stays/manifest.json", "stays/report.html", "stays/release.csv"]
    assert zipfile.ZipFile(packed).namelist() == names
    assert b"private" not in packed.read_bytes()
    back.mkdir()
    unpack(packed, back)
    assert sorted(p.name for p in back.iterdir()) == [
        "manifest.json",
        "release.csv",
        "report.html",
    ]
    assert (back / "release.csv").read_text() == "text of release.csv"


def test_the_same_files_make_the_same_archive(release: Path, tmp_path: Path):
    for name in ("one.zip", "two.zip"):
        pack(release, tmp_path / name, "stays")
        (release / "release.csv").touch()
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()


@pytest.mark.parametrize(
    "names",
    [
        ["../manifest.json"],  # one folder up, yet only the name counts: it stays inside
        ["a/b/manifest.json"],
        ["evil.sh"],
        ["x/private/recipe.json"],
        ["a/manifest.json", "b/manifest.json"],
        ["a/manifest.json", "manifest.json"],
    ],
)
def test_names_lead_nowhere(tmp_path: Path, names: list[str]):
    packed, back = tmp_path / "evil.zip", tmp_path / "deep" / "back"
    back.mkdir(parents=True)
    with zipfile.ZipFile(packed, "w") as into:
        for name in names:
            into.writestr(name, "{}")
    if names == ["../manifest.json"]:
        unpack(packed, back)
    else:
        with pytest.raises(InputError, match="archive has a file"):
            unpack(packed, back)
    outside = [p for p in tmp_path.rglob("*") if p.is_file() and not p.is_relative_to(back)]
    assert outside == [packed]


def test_an_archive_that_becomes_huge_is_stopped(release: Path, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(module, "MOST_OPENED", 1000)
    packed = tmp_path / "bomb.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as into:
        into.writestr("release.csv", "0" * 10_000_000)
    with pytest.raises(InputError, match="too large once it is opened"):
        unpack(packed, tmp_path)


def test_what_is_no_archive_is_said(tmp_path: Path):
    (tmp_path / "a.zip").write_bytes(b"PK\3\4 but not really")
    with pytest.raises(InputError, match="not a zip archive"):
        unpack(tmp_path / "a.zip", tmp_path)
