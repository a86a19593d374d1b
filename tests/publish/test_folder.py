"""The folder of a release: `force` replaces a release as it was written, and nothing else."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tamis.errors import InputError
from tamis.publish.folder import refuse_existing, written_release

Copy = Callable[..., Path]


def write(out: Path, text: str = "new", force: bool = False) -> None:
    with written_release(out, force=force) as draft:
        (draft / "mark").write_text(text)


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, OSError])
def test_a_failure_in_the_middle_leaves_what_was_there(copy: Copy, tmp_path, error):
    out = copy()
    before = left(out)

    def fail() -> None:
        with written_release(out, force=True) as draft:
            (draft / "mark").write_text("half")
            raise error

    with pytest.raises(error):
        fail()
    assert left(tmp_path) == [out.name]
    assert left(out) == before


def test_a_release_is_replaced_only_by_force(copy: Copy, tmp_path):
    out = copy()
    with pytest.raises(InputError, match="--force"):
        write(out)
    write(out, force=True)
    assert left(out) == ["mark"]
    assert left(tmp_path) == [out.name]


@pytest.mark.parametrize("private", [True, False])
def test_a_release_without_its_private_part_and_an_empty_folder_are_replaced(
    copy: Copy, tmp_path, private
):
    refuse_existing(copy(private=private), force=True)
    (tmp_path / "empty").mkdir()
    refuse_existing(tmp_path / "empty", force=True)


def test_force_replaces_nothing_but_a_folder(tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "home").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "home")
    for name in ("file", "link"):
        with pytest.raises(InputError, match="not a folder"):
            refuse_existing(tmp_path / name, force=True)
    with pytest.raises(InputError, match="create it first"):
        refuse_existing(tmp_path / "none" / "out", force=True)


STRANGE: dict[str, Callable[[Path], object]] = {
    "letter.txt": lambda out: (out / "letter.txt").write_text("dear"),
    "photos": lambda out: (out / "photos").mkdir(),
    "private/notes": lambda out: (out / "private" / "notes").write_text("mine"),
    "private/old": lambda out: (out / "private" / "old").mkdir(),
    "private/people.csv": lambda out: (out / "private" / "people.csv").symlink_to("/dev/null"),
    "pipe": lambda out: os.mkfifo(out / "pipe"),
    "release.parquet": lambda out: (out / "release.parquet").symlink_to("release.csv"),
}


@pytest.mark.parametrize("name", STRANGE)
def test_what_is_in_the_way_is_named(copy: Copy, name):
    out = copy()
    STRANGE[name](out)
    with pytest.raises(InputError, match=f"contains '{name}', which is not part of a release"):
        refuse_existing(out, force=True)


def test_a_manifest_of_something_else_is_no_release(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (home / "manifest.json").write_text(json.dumps({"name": "a web app"}))
    with pytest.raises(InputError, match=r"not a release as tamis wrote it.*move it elsewhere"):
        refuse_existing(home, force=True)
    (home / "thesis.tex").write_text("x")
    with pytest.raises(InputError, match=r"thesis\.tex"):
        write(home, force=True)
    assert left(home) == ["manifest.json", "thesis.tex"]


def test_a_release_that_was_changed_is_not_replaced(copy: Copy):
    out = copy()
    (out / "release.csv").write_text("x\n1\n")
    with pytest.raises(InputError, match="move it elsewhere") as error:
        refuse_existing(out, force=True)
    assert "release.csv is not the file that was published" in str(error.value)


def test_a_folder_that_appears_meanwhile_is_not_overwritten(tmp_path):
    def race() -> None:
        with written_release(tmp_path / "out", force=False) as draft:
            (draft / "mark").write_text("late")
            write(tmp_path / "out", "early")

    with pytest.raises(InputError, match="already exists"):
        race()
    assert (tmp_path / "out" / "mark").read_text() == "early"
    assert left(tmp_path) == ["out"]
