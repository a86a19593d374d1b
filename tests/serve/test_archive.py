"""What is handed on as one file: nothing private goes in, and nothing strange comes out."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tamis.errors import InputError
from tamis.serve import archive as module
from tamis.serve.archive import pack, unpack


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
