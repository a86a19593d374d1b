"""`verify` reads the released rows again: their columns, their cells, and what a file adds."""

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tamis.errors import CannotMeet
from tamis.verification.layout import digest
from tamis.verification.verify import verify
from tests.verification.forged import edited, hand_made, relaid, rewritten

Copy = Callable[..., Path]


def numbered(pattern: str, rows: int) -> pl.Series:
    return pl.Series([pattern.format(i) for i in range(rows)])


def test_one_more_column_is_found_though_the_hash_fits(copy: Copy):
    folder = copy(private=False)
    rewritten(folder, lambda rows: [f"{row},x" for row in rows])
    with pytest.raises(CannotMeet, match="columns of the file are not those"):
        verify(folder)


def test_a_unique_text_in_every_row_is_found_though_the_manifest_names_it(copy: Copy):
    folder = copy(private=False)
    relaid(folder, lambda rows: rows.with_columns(who=numbered("P{}", rows.height)))
    with pytest.raises(CannotMeet) as error:
        verify(folder)
    words = "column 'who' (a different value in nearly every row) could identify people"
    assert words in str(error.value)
    edited(
        folder, lambda m: next(c for c in m["columns"] if c["name"] == "who").update(stated=True)
    )
    verify(folder)


def test_whole_numbers_and_texts_without_repeats_need_a_stated_role(tmp_path: Path):
    rows = pl.DataFrame(
        {
            "f": [i / 7 for i in range(30)],
            "n": list(range(30)),
            "t": [f"P{i}" for i in range(30)],
            "x": ["u"] * 30,
            "y": ["a", "b"] * 15,
        }
    )
    folder = hand_made(tmp_path / "out", rows, 30)

    def state(**said: bool) -> None:
        edited(folder, lambda m: [c.update(stated=said[c["name"]]) for c in m["columns"]])

    state(x=True, n=False, f=False, t=False, y=True)
    with pytest.raises(CannotMeet, match=r"column 'n' \(a different .* people, as do 1 more"):
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
    folder = hand_made(tmp_path / "same", pl.DataFrame([same, LABELS]), 6)
    if same.dtype.is_float() and same.is_nan().any():  # which is written as missing
        with pytest.raises(CannotMeet, match=r"in its pages or between them \(form\)$"):
            verify(folder)
    else:
        verify(folder)
    with pytest.raises(CannotMeet, match="k_anonymity is 1, below the promised 6"):
        verify(hand_made(tmp_path / "told", pl.DataFrame([cells, LABELS]), 6))


def test_categories_and_metadata_tell_more_than_the_rows(tmp_path: Path):
    kinds = pl.Series("x", ["u"] * 6, dtype=pl.Enum(["u", "secret"]))
    with pytest.raises(CannotMeet, match="'x' holds neither numbers nor texts"):
        verify(hand_made(tmp_path / "enum", pl.DataFrame([kinds, LABELS]), 6))
    folder = hand_made(tmp_path / "meta", pl.DataFrame([kinds.cast(pl.String), LABELS]), 6)
    file = folder / "release.parquet"
    pl.read_parquet(file).write_parquet(file, statistics=False, metadata={"note": "Ann has HIV"})
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
