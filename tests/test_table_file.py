"""Tables as files: what is written, and what is read again."""

from __future__ import annotations

import os
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from tamis import Roles, Table, read_binary
from tamis.errors import CannotMeet, InputError
from tamis.publication.bundle import format_for
from tamis.table import sort_by_content
from tamis.table_file import (
    classes_of,
    read_release,
    read_written,
    write_release,
    write_table,
)
from tamis.verification.people import arranged

hostile = [
    "^b.*$",
    "=cmd()",
    "a,b",
    'q"uote',
    "line\nbreak",
    "<script>alert(1)</script>",
    "*",
    "^.*$",
    "'",
]


def test_hostile_names_and_cells_survive_the_file(tmp_path):
    columns = {name: [name, "plain", None] for name in hostile}
    frame = pl.DataFrame(columns)
    for kind in ("csv", "parquet"):
        path = tmp_path / f"release.{kind}"
        write_table(frame, path, kind)
        assert read_written(path, kind).equals(sort_by_content(frame))
    first = (tmp_path / "release.csv").read_text(encoding="utf-8")
    assert first.startswith("^b.*$,'=cmd(),")


@given(st.permutations([0.0, -0.0, float("nan"), None] * 3))
def test_the_order_of_the_rows_does_not_tell_forms_apart(values):
    roles = Roles(target="y")

    def made(cells: list[float | None]) -> pl.DataFrame:
        frame = pl.DataFrame({"x": pl.Series(cells, dtype=pl.Float64), "y": ["u"] * 12})
        return arranged(Table(frame, roles))

    one, other = made(values), made(values[::-1])
    assert one.equals(other)
    assert not np.signbit(one["x"].drop_nulls().to_numpy()).any()


@pytest.mark.parametrize("kind", [pl.Enum(["u", "v", "SECRET"]), pl.Categorical()])
@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_a_file_holds_the_values_of_its_rows_only(tmp_path, kind, format):
    whole = pl.DataFrame(
        {"x": pl.Series(["u", "v", "SECRET"], dtype=kind), "n": [1.25, 2.5, 7_777_777.125]}
    )
    path = tmp_path / f"rows.{format}"
    write_table(whole.head(2), path)
    data = path.read_bytes()
    assert b"SECRET" not in data
    assert b"7777777" not in data
    assert np.float64(7_777_777.125).tobytes() not in data
    assert b"pandas" not in data
    assert read_written(path, format)["x"].to_list() == ["u", "v"]


def test_numbers_of_columns_whose_names_are_patterns(tmp_path):
    for name in ("^b.*$", "*"):
        write_table(pl.DataFrame({name: [-0.0, 1.5], "c": ["=1", "x"]}), tmp_path / "x.parquet")
        assert read_written(tmp_path / "x.parquet", "parquet").columns == [name, "c"]


def test_parquet_tells_the_types_of_its_columns_and_nothing_else(tmp_path):
    write_table(pl.DataFrame({"x": ["u"]}), tmp_path / "rows.parquet")
    assert set(pl.read_parquet_metadata(tmp_path / "rows.parquet")) == {"ARROW:schema"}


def test_other_formats_and_columns_without_a_name_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"end in one of \.csv, \.parquet"):
        write_table(pl.DataFrame({"x": ["u"]}), tmp_path / "rows.txt")
    with pytest.raises(InputError, match="without a name"):
        write_table(pl.DataFrame({" ": ["u"]}), tmp_path / "rows.csv")


def test_a_damaged_file_is_named_and_polars_says_nothing_of_it(tmp_path, capfd):
    path = tmp_path / "rows.parquet"
    write_table(pl.DataFrame({"x": ["u", "v"] * 50, "n": [1.5, None] * 50}), path)
    whole, draw, failed = path.read_bytes(), np.random.default_rng(1), 0
    for _ in range(200):
        data = bytearray(whole)
        data[draw.integers(len(data))] = draw.integers(256)
        path.write_bytes(data)
        try:
            read_written(path, "parquet")
        except CannotMeet:
            failed += 1
    assert failed > 50
    os.write(2, b"heard")
    assert capfd.readouterr().err == "heard"


def test_no_other_module_writes_rows():
    """The files of engines, of the demo's table and for a generator are private, and removed.

    Of rules a text is made, no file.

    Statistical files and spreadsheets are written by `table_file` alone.
    """
    writer = re.compile(
        r"\b(?:write|sink|to)_(?:csv|parquet|ipc|excel|ndjson|avro|delta|feather)\b"
    )
    folder = Path(tamis.__file__).parent
    found = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*.py")
        if writer.search(path.read_text(encoding="utf-8"))
    }
    private = {"rows/engines.py", "rows/sources.py", "serve/tasks.py", "judgement/generator.py"}
    allowed = private | {"rules/imported.py"}
    assert found - allowed == {"table_file.py", "spreadsheet.py", "statistical_file.py"}


ODD = ["=a", "'b", "c d", "1", 'ü,"x', "*"]
LABELS = ["yes", "not =1", "-1"]


@st.composite
def frames(draw):
    height, width = draw(st.integers(1, 6)), draw(st.integers(1, len(ODD)))
    cells = draw(st.lists(st.integers(0, 1), min_size=height * width, max_size=height * width))
    labels = draw(st.lists(st.sampled_from(LABELS), min_size=height, max_size=height))
    ones = np.array(cells, dtype=np.uint8).reshape(height, width)
    columns = {name: ones[:, i] for i, name in enumerate(ODD[:width])}
    return pl.DataFrame({**columns, "ill": labels})


@pytest.mark.parametrize("format", ["long", "svm"])
@given(frame=frames())
def test_what_is_written_is_read_again(format, frame):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "release"
        write_release(frame, path, format)
        found = read_release(path, format, frame.columns, classes_of(frame))
    assert found.columns == frame.columns
    assert found.rows() == sort_by_content(frame).rows()


@pytest.fixture
def frame():
    return pl.DataFrame({"a": [1, 0, 1], "b": [0, 0, 1], "ill": ["no", "yes", "no"]})


def test_a_long_file_says_who_has_what(frame, tmp_path):
    path = tmp_path / "release.long.csv"
    write_release(frame, path, "long")
    assert path.read_text() == "row,feature,ill\n1,,yes\n2,a,no\n3,a,no\n3,b,no\n"
    read = read_binary(path, long=("row", "feature"), target="ill")
    assert read.features == ("a", "b")
    assert read.matrix.toarray().tolist() == [[0, 0], [1, 0], [1, 1]]
    assert read.labels is not None
    assert read.labels.tolist() == ["yes", "no", "no"]


def test_a_libsvm_file_numbers_its_classes(frame, tmp_path):
    path = tmp_path / "release.svm"
    write_release(frame, path, "svm")
    assert path.read_text() == "1\n0 1:1\n0 1:1 2:1\n"
    assert read_binary(path).matrix.toarray().tolist() == [[0, 0], [1, 0], [1, 1]]


@pytest.mark.parametrize(
    ("format", "content", "said"),
    [
        ("long", "row,feature,ill\n1,a,no\n1,a,no\n", "twice"),
        ("long", "row,feature,ill\n1,a,no\n1,b,yes\n", "two labels"),
        ("long", "row,feature,ill\n1,a,no\n3,b,yes\n", "number its rows"),
        ("long", "row,feature,ill\n2,a,no\n", "number its rows"),
        ("long", "row,feature,ill\n1,z,no\n", "does not name"),
        ("long", "row,feature,ill\n1,a,no\n1,,no\n", "without feature"),
        ("long", "row,feature,ill\n1,a,=1+1\n", "spreadsheet"),
        ("long", "row,feature,other\n1,a,no\n", "columns"),
        ("long", "row,feature,ill\n1,b,no\n1,a,no\n", "another order"),
        ("long", "row,feature,ill\n01,a,no\n", "number its rows"),
        ("long", "row,feature,ill\n1.0,a,no\n", "number its rows"),
        ("long", "row,feature,ill\n1,a,no\n1,b,\n", "each with a label"),
        ("long", "row,feature,ill\n1,a,no\n\n", "number its rows"),
        ("long", "row,feature,ill\n", "number its rows"),
        ("svm", "0 1:1 1:1\n", "twice"),
        ("svm", "0 2:1 1:1\n", "another order"),
        ("svm", "00 1:1\n", "class"),
        ("svm", "0 01:1\n", "class"),
        ("svm", "0 1:1\n\n", "class"),
        ("svm", "0 1:1\r\n", "class"),
        ("svm", "0 1:1 # a\n", "class"),
        ("svm", "", "class"),
        ("svm", "0 3:1\n", "does not name"),
        ("svm", "0 0:1\n", "does not name"),
        ("svm", "7 1:1\n", "class"),
        ("svm", "-1 1:1\n", "class"),
        ("svm", "0 1:2\n", "class"),
        ("svm", "0  1:1\n", "class"),
    ],
)
def test_damage_is_seen(format, content, said, tmp_path):
    path = tmp_path / "release"
    path.write_text(content)
    with pytest.raises(CannotMeet, match=said):
        read_release(path, format, ["a", "b", "ill"], ["no", "yes"])


def test_only_zeros_and_ones_are_written_sparse(frame):
    table = Table(frame, Roles(target="ill"))
    assert format_for("svm", table) == "svm"
    ages = Table(frame.with_columns(a=pl.Series([1, 2, 3])), Roles(target="ill"))
    with pytest.raises(InputError, match="0 and 1"):
        format_for("long", ages)


def test_many_columns_are_long_by_default(frame):
    wide = pl.DataFrame({f"x{i}": [0, 1] for i in range(201)} | {"y": ["a", "b"]})
    assert format_for("auto", Table(wide, Roles(target="y"))) == "long"
    assert format_for("auto", Table(wide.drop("x0"), Roles(target="y"))) == "csv"
    assert format_for("csv", Table(wide, Roles(target="y"))) == "csv"
    named = Table(frame.rename({"ill": "row"}), Roles(target="row"))
    with pytest.raises(InputError, match="rename the target"):
        format_for("long", named)


CELLS = {
    "n": pl.Series([10, 9, None, -1, 9, 10], dtype=pl.Int64),
    "t": pl.Series(["Z", "a", "", None, "é", "z"]),
    "b": pl.Series([True, False, None, True, False, True]),
    "x": pl.Series([0.5, -0.0, float("nan"), 1e300, 0.0, 0.25]),
    "c": pl.Series(["w", "u", "v", "u", "v", "w"], dtype=pl.Enum(["w", "v", "u"])),
}


def _by_definition(row: tuple[Any, ...]) -> list[tuple[bool, Any]]:
    """A key of Python that has missing cells first, texts by bytes, numbers by value."""
    plain = (c.encode() if isinstance(c, str) else c for c in row)
    return [(c is not None, 0 if c is None else c) for c in plain]


@given(st.permutations(range(6)), st.permutations(list(CELLS)), st.integers(1, 6))
def test_rows_are_written_in_the_order_of_their_content(tmp_path_factory, rows, columns, many):
    folder = tmp_path_factory.mktemp("order")
    frame = pl.DataFrame(CELLS).select(columns)[list(rows)][:many]
    write_table(frame, folder / "a.parquet")
    again = pl.read_parquet(folder / "a.parquet").rows()
    assert again == sorted(again, key=_by_definition)
    assert sort_by_content(frame).rows() == again
    write_table(frame.reverse(), folder / "b.csv")
    write_table(frame, folder / "c.csv")
    assert (folder / "b.csv").read_bytes() == (folder / "c.csv").read_bytes()


@pytest.mark.parametrize("format", ["csv", "parquet", "sav", "dta", "xlsx", "long", "svm"])
def test_every_format_has_one_order(tmp_path, format):
    frame = pl.DataFrame({"a": [1, 0, 1, 0], "b": [0, 1, 1, 0], "y": ["v", "u", "u", "v"]})
    made = []
    for name, rows in (("one", frame), ("two", frame.reverse())):
        write_release(rows, tmp_path / name, format)
        made.append(read_release(tmp_path / name, format, frame.columns, ["u", "v"]))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert made[0].cast(pl.String).rows() == [
        ("0", "0", "v"), ("0", "1", "u"), ("1", "0", "v"), ("1", "1", "u"),
    ]  # fmt: skip
