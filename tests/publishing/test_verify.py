"""`verify` finds tampering of every kind."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tamis.errors import CannotMeet, InputError
from tamis.publishing.release_file import digest
from tamis.publishing.verify import verify

Copy = Callable[..., Path]


def edited(folder: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    path = folder / "manifest.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def rehashed(folder: Path) -> None:
    """A careful forger also puts the new hash and the number of rows into the manifest."""
    file = folder / "release.csv"
    lines = file.read_text().splitlines()
    edited(folder, lambda m: m["file"].update(sha256=digest(file), rows=len(lines) - 1))


def rewritten(folder: Path, change: Callable[[list[str]], list[str]]) -> None:
    file = folder / "release.csv"
    file.write_text("\n".join(change(file.read_text().splitlines())) + "\n")
    rehashed(folder)


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
    assert "'original.csv', which the manifest does not know" in str(error.value)


def test_one_more_column_is_found_though_the_hash_fits(copy: Copy):
    folder = copy(private=False)
    rewritten(folder, lambda rows: [f"{row},x" for row in rows])
    with pytest.raises(CannotMeet, match="columns of the file are not those"):
        verify(folder)


def test_a_unique_text_in_every_row_is_found_though_the_manifest_names_it(copy: Copy):
    folder = copy(private=False)
    rewritten(folder, lambda rows: [f"{row},P{i}" for i, row in enumerate(rows)])
    extra = {"name": "P0", "header": "P0", "kind": "nominal", "role": "feature"}
    edited(folder, lambda m: m["columns"].append(extra))
    with pytest.raises(CannotMeet, match="another value in every row, as identifiers have"):
        verify(folder)


def test_text_among_numbers_and_a_lost_row(copy: Copy):
    folder = copy(private=False)
    number = next(
        i
        for i, c in enumerate(json.loads((folder / "manifest.json").read_text())["columns"])
        if c["kind"] == "number"
    )

    def spoil(rows: list[str]) -> list[str]:
        cells = rows[1].split(",")
        cells[number] = "many"
        return [rows[0], ",".join(cells), *rows[2:]]

    rewritten(folder, spoil)
    with pytest.raises(CannotMeet, match="said to hold numbers and does not"):
        verify(folder)
    edited(folder, lambda m: m["file"].update(rows=7))
    with pytest.raises(CannotMeet, match="rows, the manifest says 7"):
        verify(folder)


def test_a_promise_that_does_not_hold(copy: Copy):
    folder = copy(private=False)
    columns = [c["name"] for c in json.loads((folder / "manifest.json").read_text())["columns"]]
    edited(folder, lambda m: m["promises"][0].update(columns=columns, measured=5))
    with pytest.raises(CannotMeet, match="k_anonymity is 1, below the promised 5"):
        verify(folder)
    edited(folder, lambda m: m["promises"][0].update(columns=[], measured=77))
    with pytest.raises(CannotMeet, match="k_anonymity is 500, the manifest says 77"):
        verify(folder)
    edited(folder, lambda m: m["promises"][0].update(key="containment_anonymity", columns=columns))
    with pytest.raises(CannotMeet, match="beside 0 and 1"):
        verify(folder)
    edited(folder, lambda m: m["promises"][0].update(key="perfect_safety"))
    with pytest.raises(CannotMeet, match="none that can be checked"):
        verify(folder)
    edited(folder, lambda m: m["promises"][0].update(key="k_anonymity", columns=["zip"]))
    with pytest.raises(CannotMeet, match="'zip', which is not in the file"):
        verify(folder)


@pytest.mark.parametrize(
    ("part", "name"), [("known", "k"), ("everything", "unique"), ("same_target", "members")]
)
def test_who_stands_alone_is_counted_again(copy: Copy, part: str, name: str):
    folder = copy(private=False)
    assert "exposure" in {c.name for c in verify(folder).checks}
    edited(folder, lambda m: m["exposure"][part].update({name: 123}))
    with pytest.raises(CannotMeet, match="the manifest says 123"):
        verify(folder)


def test_who_stands_alone_cannot_be_kept_silent(copy: Copy):
    folder = copy(private=False)
    edited(folder, lambda m: m.pop("exposure"))
    with pytest.raises(CannotMeet, match="does not say who stands alone"):
        verify(folder)


def test_a_budget_must_add_up(copy: Copy):
    folder = copy(private=False)
    parts = [{"what": "cells", "epsilon": 0.5}, {"what": "leaves", "epsilon": 0.5}]
    edited(folder, lambda m: m.update(budget={"epsilon": 1.0, "spent": parts}))
    verify(folder)
    edited(folder, lambda m: m["budget"].update(epsilon=0.9))
    with pytest.raises(CannotMeet, match=r"add up to 1, above 0\.9"):
        verify(folder)


def test_a_weakened_manifest_is_found_by_the_private_part(copy: Copy):
    folder = copy()
    edited(folder, lambda m: m["promises"][0].update(at_least=1))
    with pytest.raises(CannotMeet, match=r"manifest\.json is not the file that was published"):
        verify(folder)


def test_identifiers_are_known_by_the_private_part(copy: Copy):
    folder = copy()
    rewritten(folder, lambda rows: [f"{rows[0]},hiv", *(f"{row},no" for row in rows[1:])])
    extra = {"name": "hiv", "header": "hiv", "kind": "nominal", "role": "feature"}
    edited(folder, lambda m: m["columns"].append(extra))
    with pytest.raises(CannotMeet, match="'hiv' must never be released"):
        verify(folder)


def test_a_private_part_that_others_may_read(copy: Copy):
    folder = copy()
    (folder / "private").chmod(0o755)
    with pytest.raises(CannotMeet, match="chmod 700"):
        verify(folder)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "{}", '"x"', '{"schema": "tamis-release", "schema_version": 99}'],
)
def test_no_manifest_at_all(copy: Copy, text: str):
    folder = copy(private=False)
    (folder / "manifest.json").write_text(text)
    with pytest.raises(CannotMeet, match=r"manifest\.json"):
        verify(folder)
    (folder / "manifest.json").unlink()
    with pytest.raises(CannotMeet, match=r"no manifest\.json"):
        verify(folder)


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m["file"].update(name="../secret.csv"),
        lambda m: m["file"].update(format="exe"),
        lambda m: m["file"].pop("sha256"),
        lambda m: m["columns"].append(7),
        lambda m: m["promises"].append({"key": "k_anonymity"}),
        lambda m: m.update(promises=3),
        lambda m: m.update(budget=[]),
    ],
)
def test_a_malformed_manifest_is_an_answer_not_a_crash(copy: Copy, change: Any):
    folder = copy(private=False)
    edited(folder, change)
    with pytest.raises(CannotMeet):
        verify(folder)


def test_no_folder_is_wrong_usage(tmp_path: Path):
    with pytest.raises(InputError, match="no folder"):
        verify(tmp_path / "none")
