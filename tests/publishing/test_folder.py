"""Folders that appear whole or not at all."""

from pathlib import Path

import pytest

from tamis.errors import InputError
from tamis.publishing.folder import written_folder


def write(out: Path, text: str = "new", force: bool = False) -> None:
    with written_folder(out, force=force, mark="mark") as draft:
        (draft / "mark").write_text(text)
        (draft / "private").mkdir(mode=0o700)


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_it_appears_whole_with_the_modes_of_its_parts(tmp_path):
    write(tmp_path / "out")
    assert left(tmp_path) == ["out"]
    assert (tmp_path / "out" / "mark").read_text() == "new"
    assert (tmp_path / "out" / "private").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "out").stat().st_mode & 0o500 == 0o500


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, OSError])
@pytest.mark.parametrize("force", [False, True])
def test_a_failure_in_the_middle_leaves_what_was_there(tmp_path, error, force):
    if force:
        write(tmp_path / "out", "old")

    def fail() -> None:
        with written_folder(tmp_path / "out", force=force, mark="mark") as draft:
            (draft / "mark").write_text("half")
            raise error

    with pytest.raises(error):
        fail()
    assert left(tmp_path) == (["out"] if force else [])
    if force:
        assert (tmp_path / "out" / "mark").read_text() == "old"


def test_an_existing_folder_is_replaced_only_by_force(tmp_path):
    write(tmp_path / "out", "old")
    with pytest.raises(InputError, match="--force"):
        write(tmp_path / "out")
    write(tmp_path / "out", "new", force=True)
    assert left(tmp_path) == ["out"]
    assert (tmp_path / "out" / "mark").read_text() == "new"


def test_force_replaces_nothing_but_a_release(tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "letter").write_text("dear")
    with pytest.raises(InputError, match="does not hold a release"):
        write(tmp_path / "home", force=True)
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="not a folder"):
        write(tmp_path / "file", force=True)
    (tmp_path / "link").symlink_to(tmp_path / "home")
    with pytest.raises(InputError, match="not a folder"):
        write(tmp_path / "link", force=True)
    assert (tmp_path / "home" / "letter").read_text() == "dear"
    with pytest.raises(InputError, match="make it first"):
        write(tmp_path / "none" / "out")


def test_a_folder_that_appears_meanwhile_is_not_overwritten(tmp_path):
    def race() -> None:
        with written_folder(tmp_path / "out", force=False, mark="mark") as draft:
            (draft / "mark").write_text("late")
            write(tmp_path / "out", "early")

    with pytest.raises(InputError, match="there already"):
        race()
    assert (tmp_path / "out" / "mark").read_text() == "early"
    assert left(tmp_path) == ["out"]


def test_a_failing_rename_brings_the_old_one_back(tmp_path, monkeypatch):
    write(tmp_path / "out", "old")
    rename = Path.rename

    def failing(self: Path, target: Path) -> Path:
        if Path(target) == tmp_path / "out" and "old" not in self.parent.name:
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "out", "new", force=True)
    assert left(tmp_path) == ["out"]
    assert (tmp_path / "out" / "mark").read_text() == "old"
