"""`verify` finds tampering of every kind."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tamis.errors import CannotMeet, InputError
from tamis.publish.layout import SCHEMA, SCHEMA_VERSION, digest, write_json
from tamis.publish.promises import claim
from tamis.publish.recount import recounted
from tamis.publish.verify import verify
from tamis.release import Promise
from tamis.table_file import HOW

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
    assert "'original.csv', which the manifest does not list" in str(error.value)


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
    with pytest.raises(CannotMeet, match="a different value in every row, as an identifier would"):
        verify(folder)


def test_whole_numbers_and_texts_without_repeats_need_a_stated_role(tmp_path: Path):
    rows = pl.DataFrame(
        {
            "x": ["u"] * 30,
            "n": list(range(30)),
            "f": [i / 7 for i in range(30)],
            "t": [f"P{i}" for i in range(30)],
            "y": ["a", "b"] * 15,
        }
    )
    folder = hand_made(tmp_path / "out", rows, 30)

    def state(**said: bool) -> None:
        edited(folder, lambda m: [c.update(stated=said[c["name"]]) for c in m["columns"]])

    state(x=True, n=False, f=False, t=False, y=True)
    with pytest.raises(CannotMeet, match="'n', 't' has a different value in every row"):
        verify(folder)
    state(x=True, n=True, f=False, t=True, y=True)
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
    with pytest.raises(CannotMeet, match="declared numeric but holds something else"):
        verify(folder)
    edited(folder, lambda m: m["file"].update(rows=7))
    with pytest.raises(CannotMeet, match="rows, but the manifest says 7"):
        verify(folder)


def test_a_promise_that_does_not_hold(copy: Copy):
    folder = copy(private=False)
    columns = [c["name"] for c in json.loads((folder / "manifest.json").read_text())["columns"]]
    edited(folder, lambda m: m["promises"][0].update(columns=columns, measured=5))
    with pytest.raises(CannotMeet, match="k_anonymity is 1, below the promised 5"):
        verify(folder)
    edited(folder, lambda m: m["promises"][0].update(columns=[], measured=77))
    with pytest.raises(CannotMeet, match="k_anonymity is 500, but the manifest says 77"):
        verify(folder)
    edited(folder, lambda m: m["promises"][0].update(key="containment_anonymity", columns=columns))
    with pytest.raises(CannotMeet, match="other than 0 and 1"):
        verify(folder)
    edited(folder, lambda m: m["promises"][0].update(key="perfect_safety"))
    with pytest.raises(CannotMeet, match="not one that can be checked"):
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


@pytest.mark.parametrize(
    "change",
    [{"unit": "houses"}, {"unit": None}, {"asked": 0}, {"asked": 10**6}, {"asked": "5"}],
)
def test_who_stands_alone_is_worded_as_the_promises_are(copy: Copy, change: dict[str, Any]):
    folder = copy(private=False)
    edited(folder, lambda m: m["exposure"].update(change))
    with pytest.raises(CannotMeet, match=r"another unit|k that was asked for"):
        verify(folder)


@pytest.mark.parametrize("unit", ["houses", None, 5])
def test_a_promise_counts_people_or_rows(copy: Copy, unit: Any):
    folder = copy(private=False)
    edited(folder, lambda m: m["promises"][0].update({"unit": unit}))
    with pytest.raises(CannotMeet, match="invalid 'unit'"):
        verify(folder)


def test_who_stands_alone_cannot_be_kept_silent(copy: Copy):
    folder = copy(private=False)
    edited(folder, lambda m: m.pop("exposure"))
    with pytest.raises(CannotMeet, match="does not say who is unique"):
        verify(folder)


def test_a_budget_must_add_up(copy: Copy):
    folder = copy(private=False)
    edited(folder, lambda m: m.update(budget=budget()))
    assert "differential privacy, epsilon = 1" in verify(folder).claims[-1]
    edited(folder, lambda m: m["budget"].update(epsilon=0.9))
    with pytest.raises(CannotMeet, match=r"add up to 1, above 0\.9"):
        verify(folder)


def budget(**changes: Any) -> dict[str, Any]:
    parts = [{"what": "cells", "epsilon": 0.5}, {"what": "leaves", "epsilon": 0.5}]
    return {"epsilon": 1.0, "delta": 0.0, "neighbours": "add-remove", "spent": parts, **changes}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"epsilon": 0}, "epsilon of the privacy budget"),
        ({"epsilon": -1.0}, "epsilon of the privacy budget"),
        ({"epsilon": 1e6}, "epsilon of the privacy budget"),
        ({"epsilon": True}, "epsilon of the privacy budget"),
        ({"epsilon": "1"}, "epsilon of the privacy budget"),
        ({"epsilon": 10**400}, "epsilon of the privacy budget"),
        ({"spent": []}, "a part of the privacy budget"),
        ({"spent": [{"epsilon": -3}, {"epsilon": 4}]}, "a part of the privacy budget"),
        ({"spent": [{"what": "cells"}]}, "malformed"),
        ({"delta": 1.0}, "delta of the privacy budget"),
        ({"guarantee": False}, "does not hold"),
        ({"neighbours": "friends"}, "malformed"),
        ({"bounds": {"stay_days": [9, 1]}}, "malformed"),
        ({"bounds": {"nowhere": [0, 1]}}, "malformed"),
    ],
)
def test_a_budget_beyond_its_bounds_fails(copy: Copy, changes: dict[str, Any], words: str):
    folder = copy(private=False)
    edited(folder, lambda m: m.update(budget=budget(**changes)))
    with pytest.raises(CannotMeet, match=words):
        verify(folder)


def test_a_weakened_manifest_is_found_by_the_private_part(copy: Copy):
    folder = copy()
    edited(folder, lambda m: m["promises"][0].update(at_least=1))
    with pytest.raises(CannotMeet, match=r"manifest\.json is not the published file"):
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
        lambda m: m["file"].update(rows=True),
        lambda m: m["file"].update(texts="as they are"),
        lambda m: m["report"].update(name="/dev/zero"),
        lambda m: m["report"].update(name=7),
        lambda m: m["columns"][0].update(kind="any"),
        lambda m: m["columns"][0].update(name=["x"]),
        lambda m: m["columns"][0].update(header="=x"),
        lambda m: m["promises"][0].update(at_least="5"),
        lambda m: m["promises"][0].update(at_least=10**30, measured=10**30),
        lambda m: m["promises"][0].update(columns="zip"),
        lambda m: m["promises"][0].update(claim=None),
        lambda m: m.update(not_promised={}),
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


def test_the_words_of_a_promise_are_made_from_its_figures(copy: Copy):
    folder = copy(private=False)
    assert "at least 4 others" in verify(folder).claims[0]
    edited(folder, lambda m: m["promises"][0].update(claim="Nobody can ever be found."))
    with pytest.raises(CannotMeet, match="wording of the promise k_anonymity"):
        verify(folder)


@pytest.mark.parametrize(
    "text",
    [
        '{"schema": "tamis-release", "schema": "tamis-release"}',
        '{"a": NaN}',
        '{"a": -Infinity}',
        '{"a": 1e999}',
        '{"a": ' + "9" * 5000 + "}",
        "[" * 100_000,
        '{"a":' * 100_000,
    ],
)
def test_json_that_is_not_strict(copy: Copy, text: str):
    folder = copy(private=False)
    (folder / "manifest.json").write_text(text)
    with pytest.raises(CannotMeet, match="every key occurs once and every number is finite"):
        verify(folder)


def test_a_manifest_without_end(copy: Copy):
    folder = copy(private=False)
    with (folder / "manifest.json").open("r+b") as file:
        file.truncate(1 << 40)  # takes no room: a hole
    with pytest.raises(CannotMeet, match="longer than 16 MiB"):
        verify(folder)


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
    monkeypatch.setattr("tamis.publish.verify.read_cells", None)
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
    with pytest.raises(CannotMeet):
        verify(folder)


def test_a_cell_that_a_spreadsheet_would_run(copy: Copy):
    folder = copy(private=False)
    columns = json.loads((folder / "manifest.json").read_text())["columns"]
    text = next(i for i, c in enumerate(columns) if c["kind"] == "nominal")

    def spoil(rows: list[str]) -> list[str]:
        cells = rows[1].split(",")
        cells[text] = "=cmd()"
        return [rows[0], ",".join(cells), *rows[2:]]

    rewritten(folder, spoil)
    with pytest.raises(CannotMeet, match="that a spreadsheet would run"):
        verify(folder)


def hand_made(folder: Path, frame: pl.DataFrame, k: int) -> Path:
    """A release of a parquet file that somebody else wrote, with a manifest that fits it."""
    folder.mkdir()
    file, report = folder / "release.parquet", folder / "report.html"
    frame.write_parquet(file)
    report.write_text("<p>")
    columns = [
        {
            "name": c,
            "header": c,
            "kind": "number" if t.is_numeric() else "nominal",
            "role": "target" if c == "y" else "feature",
        }
        for c, t in frame.schema.items()
    ]
    promise = Promise("k_anonymity", k, ("x",))
    alone: dict[str, Any] = recounted(frame, ["x"], "equal", "y")
    alone["known"] |= {"columns": ["x"], "kind": "equal"}
    stated = {"name": file.name, "format": "parquet", "sha256": digest(file), "rows": frame.height}
    content = {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "file": {**stated, **HOW["parquet"]},
        "columns": columns,
        "promises": [
            {
                "key": "k_anonymity",
                "claim": claim(promise),
                "columns": ["x"],
                "at_least": k,
                "measured": k,
                "unit": "people",
            }
        ],
        "exposure": {"unit": "people", "asked": 1, "total": frame.height, **alone},
        "method": {"name": "hand", "parameters": {}},
        "report": {"name": report.name, "sha256": digest(report)},
        "not_promised": [],
    }
    write_json(folder / "manifest.json", content)
    return folder


def floats(*bits: int) -> pl.Series:
    return pl.Series("x", np.array(bits, dtype=np.uint64).view(np.float64))


LABELS = pl.Series("y", ["a", "b"] * 3)


@pytest.mark.parametrize(
    "cells",
    [
        pl.Series("x", [0.0] * 5 + [-0.0]),
        pl.Series("x", [0.0] * 5 + [-0.0], dtype=pl.Float32),
        floats(*[0x7FF8000000000000] * 5, 0x7FF8000000000001),
        pl.Series("x", [float("nan")] * 5 + [None], strict=False),
        pl.Series("x", ["\u00e9"] * 5 + ["e\u0301"]),
        pl.Series("x", [""] * 5 + [None]),
    ],
)
def test_cells_are_equal_only_bit_by_bit(tmp_path: Path, cells: pl.Series):
    same = cells.head(5).extend(cells.head(1))
    verify(hand_made(tmp_path / "same", pl.DataFrame([same, LABELS]), 6))
    with pytest.raises(CannotMeet, match="k_anonymity is 1, below the promised 6"):
        verify(hand_made(tmp_path / "told", pl.DataFrame([cells, LABELS]), 6))


def test_categories_and_metadata_tell_more_than_the_rows(tmp_path: Path):
    kinds = pl.Series("x", ["u"] * 6, dtype=pl.Enum(["u", "secret"]))
    with pytest.raises(CannotMeet, match="'x' holds neither numbers nor texts"):
        verify(hand_made(tmp_path / "enum", pl.DataFrame([kinds, LABELS]), 6))
    folder = hand_made(tmp_path / "meta", pl.DataFrame([kinds.cast(pl.String), LABELS]), 6)
    file = folder / "release.parquet"
    pl.read_parquet(file).write_parquet(file, metadata={"note": "Ann has HIV"})
    edited(folder, lambda m: m["file"].update(sha256=digest(file)))
    with pytest.raises(CannotMeet, match="reveals more than its rows, in 'note'"):
        verify(folder)


def test_a_damaged_parquet_file_is_an_answer_not_a_crash(tmp_path: Path):
    """Every byte of the footer and some of the rest, each changed in a file whose hash fits."""
    rows = pl.DataFrame([pl.Series("x", ["u"] * 6), LABELS])
    folder = hand_made(tmp_path / "out", rows, 6)
    file = folder / "release.parquet"
    whole = file.read_bytes()
    draw = np.random.default_rng(0)
    for at in draw.permutation(len(whole))[:150]:
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << draw.integers(8)]) + whole[at + 1 :])
        edited(folder, lambda m: m["file"].update(sha256=digest(file)))
        with suppress(CannotMeet):
            verify(folder)


def test_panics_of_polars_are_answers_too(copy: Copy, monkeypatch: pytest.MonkeyPatch):
    folder = copy(private=False)

    def panic(*_: object, **__: object) -> None:
        raise pl.exceptions.PanicException("out of bounds")

    for name in ("tamis.table_file.pl.read_csv", "tamis.publish.verify.measure"):
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
