"""`verify` finds a folder that is not as it was published, and opens nothing else."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from tamis.errors import CannotMeet, InputError
from tamis.verification.verify import verify
from tests.verification.forged import edited, relaid

Copy = Callable[..., Path]


def test_what_was_published_holds(published: Path, copy: Copy):
    whole = verify(published)
    assert whole.private
    assert {"hash", "schema", "k_anonymity", "identifiers"} <= {c.name for c in whole.checks}
    assert not verify(copy(private=False)).private


def test_a_changed_cell_a_cut_file_and_a_missing_file(copy: Copy):
    folder = copy(private=False)
    file = folder / "release.csv"
    whole = file.read_bytes()
    file.write_bytes(whole.replace(b"yes", b"no", 1))
    with pytest.raises(CannotMeet, match=r"release\.csv is not the file that was published"):
        verify(folder)
    file.write_bytes(whole[:1000])
    with pytest.raises(CannotMeet, match="SHA-256"):
        verify(folder)
    file.unlink()
    with pytest.raises(CannotMeet, match=r"lacks 'release\.csv'"):
        verify(folder)


def test_another_report_and_strange_files(copy: Copy):
    folder = copy(private=False)
    (folder / "report.html").write_text("<p>All is well.</p>")
    (folder / "original.csv").write_text("name\nAnn\n")
    with pytest.raises(CannotMeet) as error:
        verify(folder)
    assert "report.html is not the file" in str(error.value)
    assert "'original.csv', which the manifest does not list" in str(error.value)


def test_a_weakened_manifest_is_found_by_the_private_part(copy: Copy):
    folder = copy()
    edited(folder, lambda m: m["promises"][0].update(at_least=1))
    with pytest.raises(CannotMeet, match=r"manifest\.json is not the published file"):
        verify(folder)


def test_identifiers_are_known_by_the_private_part(copy: Copy):
    folder = copy()
    relaid(folder, lambda rows: rows.with_columns(hiv=pl.lit("no")))
    with pytest.raises(CannotMeet, match="'hiv' must never be released"):
        verify(folder)


def test_a_private_part_that_others_may_read(copy: Copy):
    folder = copy()
    (folder / "private").chmod(0o755)
    with pytest.raises(CannotMeet, match="chmod 700"):
        verify(folder)


def test_no_folder_is_wrong_usage(tmp_path: Path):
    with pytest.raises(InputError, match="no folder"):
        verify(tmp_path / "none")


@pytest.mark.parametrize("name", ["manifest.json", "release.csv", "report.html", "private"])
@pytest.mark.parametrize("kind", ["pipe", "device", "link", "socket", "folder"])
def test_only_plain_files_are_opened(copy: Copy, tmp_path: Path, name: str, kind: str):
    folder = copy(private=False)
    path, aside = folder / name, tmp_path / "aside"
    if name == "private":
        aside.mkdir()
    else:
        path.rename(aside)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "link":
        path.symlink_to(aside)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(os.path.relpath(path))
    elif name == "private":
        (path / "deep").mkdir(parents=True)
    else:
        path.mkdir()
    with pytest.raises(CannotMeet, match=f"not a plain file|contains '{name}"):
        verify(folder)


def test_a_file_whose_hash_fails_is_not_parsed(copy: Copy, monkeypatch: pytest.MonkeyPatch):
    folder = copy(private=False)
    (folder / "release.csv").write_text("=cmd()\n")
    monkeypatch.setattr("tamis.verification.written_rows.read_cells", None)
    with pytest.raises(CannotMeet, match="SHA-256"):
        verify(folder)


def test_private_holds_known_files_only(copy: Copy):
    folder = copy()
    (folder / "private" / "original.csv").write_text("name\nAnn\n")
    with pytest.raises(CannotMeet, match=r"'private/original\.csv', which the manifest"):
        verify(folder)


def test_the_private_part_must_be_a_folder(copy: Copy):
    folder = copy(private=False)
    (folder / "private").write_text("x")
    with pytest.raises(CannotMeet, match="'private', which the manifest"):
        verify(folder)


def test_a_recipe_reaches_no_other_file(copy: Copy, tmp_path: Path):
    folder = copy()
    recipe = folder / "private" / "recipe.json"
    content = json.loads(recipe.read_text())
    content["sha256"]["../secret"] = "0" * 64
    recipe.write_text(json.dumps(content))
    os.mkfifo(tmp_path / "secret")
    verify(folder)
    content["sha256"] = {"../secret": "0" * 64}
    recipe.write_text(json.dumps(content))
    with pytest.raises(CannotMeet, match="manifest is malformed"):
        verify(folder)


def test_panics_of_polars_are_answers_too(copy: Copy, monkeypatch: pytest.MonkeyPatch):
    folder = copy(private=False)

    def panic(*_: object, **__: object) -> None:
        raise pl.exceptions.PanicException("out of bounds")

    for name in ("tamis.table_file.pl.read_csv", "tamis.verification.written_rows.measure"):
        with monkeypatch.context() as patch:
            patch.setattr(name, panic)
            with pytest.raises(CannotMeet, match="PanicException"):
                verify(folder)


def test_verifying_needs_no_library_of_learning(published: Path):
    script = (
        "import sys\n"
        "from tamis.cli import _run\n"
        "code = _run(['verify', sys.argv[1]])\n"
        "heavy = {'sklearn', 'scipy', 'pandas', 'numba', 'joblib', 'narwhals', 'duckdb'}\n"
        "print(code, sorted(heavy & set(sys.modules)))\n"
    )
    command = [sys.executable, "-c", script, str(published)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    assert done.stdout.splitlines()[-1] == "0 []"
