"""Files appear whole or not at all."""

import pytest

from tamis.errors import InputError
from tamis.files import written


def test_a_failed_draft_leaves_the_old_file(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError), written(path) as draft:
        draft.write_text("half of it \ud800", encoding="utf-8")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_draft_has_the_suffix_and_the_usual_rights(tmp_path):
    path = tmp_path / "x.csv"
    with written(path) as draft:
        assert draft.suffix == ".csv"
        draft.write_text("whole")
    other = tmp_path / "y.csv"
    other.write_text("")
    assert path.stat().st_mode == other.stat().st_mode


def test_an_absent_folder_is_named(tmp_path):
    with pytest.raises(InputError, match="no folder"), written(tmp_path / "a" / "x.csv"):
        pass
