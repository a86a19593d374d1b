"""Released rows as sparse files: what is written is read again, and damage is seen."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Roles, Table, read_binary
from tamis.errors import CannotMeet, InputError
from tamis.publish.bundle import format_for
from tamis.publish.release_file import classes_of, read_release, write_release

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
    assert found.rows() == frame.rows()


@pytest.fixture
def frame():
    return pl.DataFrame({"a": [1, 0, 1], "b": [0, 0, 1], "ill": ["no", "yes", "no"]})


def test_a_long_file_says_who_has_what(frame, tmp_path):
    path = tmp_path / "release.long.csv"
    write_release(frame, path, "long")
    assert path.read_text() == "row,feature,ill\n1,a,no\n2,,yes\n3,a,no\n3,b,no\n"
    read = read_binary(path, long=("row", "feature"), target="ill")
    assert read.features == ("a", "b")
    assert read.matrix.toarray().tolist() == [[1, 0], [0, 0], [1, 1]]
    assert read.labels is not None
    assert read.labels.tolist() == ["no", "yes", "no"]


def test_a_libsvm_file_numbers_its_classes(frame, tmp_path):
    path = tmp_path / "release.svm"
    write_release(frame, path, "svm")
    assert path.read_text() == "0 1:1\n1\n0 1:1 2:1\n"
    assert read_binary(path).matrix.toarray().tolist() == [[1, 0], [0, 0], [1, 1]]


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
