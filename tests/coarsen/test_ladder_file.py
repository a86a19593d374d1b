"""Ladders from csv files: any separator, with or without a header, and what is wrong by count."""

from __future__ import annotations

import csv

import polars as pl
import pytest

from tamis.coarsen.ladder_file import SEPARATORS, read_ladder
from tamis.errors import InputError

LINES = [["a b", "x, y", "*"], ['c"d', "x, y", "*"], ["e;f", "z|w", "*"]]


def write(path, lines, separator=";"):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=separator).writerows(lines)
    return path


@pytest.mark.parametrize("separator", SEPARATORS)
@pytest.mark.parametrize("header", [None, ["job", "1", "2"], ["value", "one", "*"]])
@pytest.mark.parametrize("star", [True, False])
def test_forms_of_a_file_make_one_ladder(tmp_path, separator, header, star):
    lines = [*([header] if header else []), *LINES]
    path = write(tmp_path / "job.csv", [line if star else line[:2] for line in lines], separator)
    ladder = read_ladder(path, "job")
    assert ladder.top == 2
    assert ladder.to_dict() == {"groups": [{"x, y": ["a b", 'c"d'], "z|w": ["e;f"]}]}


def test_a_first_line_without_the_star_of_the_others_is_a_header(tmp_path):
    path = write(tmp_path / "f", [["Beruf", "Gruppe", "alle"], *LINES])
    assert read_ladder(path, "job").hierarchy(pl.Series(["a b"])).hierarchy.leaves == 3


def test_values_alone_can_stay_or_go(tmp_path):
    (tmp_path / "f").write_text("Male\nFemale\n")
    ladder = read_ladder(tmp_path / "f", "sex")
    assert ladder.top == 1
    assert ladder.apply(pl.Series(["Male", None]), 1).to_list() == ["*", "*"]
    assert ladder.hierarchy(pl.Series(["Female", None])).codes.tolist() == [1, 2]
    with pytest.raises(InputError, match="2 values in 2 rows"):
        ladder.check(pl.Series(["Peru", "Chad", "Male"]))


def test_numbers_are_found_however_they_are_written(tmp_path):
    path = write(tmp_path / "f", [["17", "low", "*"], ["18.0", "low", "*"], ["9.50", "less", "*"]])
    ladder = read_ladder(path, "age")
    assert ladder.apply(pl.Series([17.0, 18.0, 9.5]), 1).to_list() == ["low", "low", "less"]
    assert ladder.apply(pl.Series([17, 18]), 1).to_list() == ["low", "low"]
    path = write(tmp_path / "f", [["17", "low", "*"], ["17.0", "low", "*"]])
    with pytest.raises(InputError, match="1 number has more than one line"):
        read_ladder(path, "age").apply(pl.Series([17]), 1)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("\n \n", "is empty"),
        ("job;level 1\n", "is empty"),
        ("secret;x;*\nother;*\n", r"1 line \(the first is line 2\) has fewer than 3"),
        ("secret;x;*\nsecret;x;*\n", "1 value has more than one line"),
        ("secret;;*\n;x;*\n", "2 cells are empty"),
        ("secret;x;p;*\nb;x;q;*\nc;y;q;*\n", "level 2 does not nest .* split 1 time"),
        ("secret;x;p;*\nb;x;q;*\n", "level 2 is finer than the one before"),
    ],
)
def test_what_is_wrong_is_counted_and_never_shown(tmp_path, text, words):
    path = tmp_path / "ladder.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=words) as refused:
        read_ladder(path, "job")
    assert "'job'" in str(refused.value)
    assert "secret" not in str(refused.value)


def test_values_that_the_file_lacks_need_a_way_out(tmp_path):
    path = write(tmp_path / "f", LINES)
    column = pl.Series("job", ["a b", "secret"])
    with pytest.raises(InputError, match="1 value in 1 row"):
        read_ladder(path, "job").hierarchy(column)
    ladder = read_ladder(path, "job", unlisted="other")
    assert ladder.hierarchy(column).hierarchy.leaves == 4
    assert ladder.apply(column, 1).to_list() == ["x, y", "other"]


def test_the_files_of_a_golden_set_are_read(golden):
    files = sorted(golden("arx/hierarchies").glob("*.csv"))
    for file in files:
        text = file.read_text().splitlines()
        ladder = read_ladder(file, file.stem.partition("_")[2])
        leaves = pl.Series([line.partition(";")[0] for line in text])
        for level in range(1, ladder.top + 1):
            assert ladder.apply(leaves, level).to_list() == [
                line.split(";")[level] for line in text
            ]
        assert ladder.hierarchy(leaves).hierarchy.leaves == len(text)
    assert len(files) > 10
