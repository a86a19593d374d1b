"""Rows without a label: refused, or left out and counted."""

from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from tamis import read_binary, read_table
from tamis.errors import InputError, TamisWarning

FRAME = pl.DataFrame({"age": [31, 47, 52, 60], "ill": ["no", None, "yes", None]})


def test_by_default_a_missing_label_is_an_error_that_says_what_to_do():
    with pytest.raises(InputError, match=r"missing in 2 of 4 rows.*--drop-unlabelled"):
        read_table(FRAME, target="ill")


def test_rows_without_a_label_are_left_out_and_counted():
    with pytest.warns(TamisWarning, match="2 of 4 rows have no 'ill' and are left out"):
        table = read_table(FRAME, target="ill", drop_unlabelled=True)
    assert table.frame.rows() == [(31, "no"), (52, "yes")]


@given(st.lists(st.sampled_from(["a", "b", None]), max_size=8))
@pytest.mark.filterwarnings("ignore::tamis.errors.TamisWarning")
def test_what_is_left_is_what_one_would_have_read_without_these_rows(labels):
    every = ["a", "b", *labels]
    frame = pl.DataFrame({"n": range(len(every)), "y": every})
    left = read_table(frame, target="y", drop_unlabelled=True)
    without = read_table(frame.filter(pl.col("y").is_not_null()), target="y")
    assert_frame_equal(left.frame, without.frame)


def test_nan_and_a_marker_are_no_label(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("age,ill\n31,no\n47,?\n52,yes\n60,\n")
    with pytest.warns(TamisWarning, match="2 of 4"):
        table = read_table(file, target="ill", missing="?", drop_unlabelled=True)
    assert table.frame["ill"].to_list() == ["no", "yes"]
    numbers = pl.DataFrame({"age": [31, 47, 52], "ill": [0.0, float("nan"), 1.0]})
    with pytest.warns(TamisWarning, match="1 of 3"):
        assert read_table(numbers, target="ill", drop_unlabelled=True).rows == 2


def test_a_category_that_only_unlabelled_rows_have_is_gone():
    job = pl.Series(["cook", "judge", "cook"], dtype=pl.Enum(["cook", "judge"]))
    frame = pl.DataFrame({"job": job, "ill": ["no", None, "yes"]})
    with pytest.warns(TamisWarning):
        table = read_table(frame, target="ill", drop_unlabelled=True)
    assert table.frame.schema["job"] == pl.Enum(["cook"])


def test_without_a_target_or_without_any_label_there_is_nothing_to_leave():
    with pytest.raises(InputError, match="name it with --target"):
        read_table(FRAME, drop_unlabelled=True)
    with pytest.raises(InputError, match="leaves nothing"):
        read_table(FRAME.filter(pl.col("ill").is_null()), target="ill", drop_unlabelled=True)


def test_one_class_left_is_refused_all_the_same():
    one = FRAME.filter(pl.col("ill").ne_missing("yes"))
    with (
        pytest.warns(TamisWarning),
        pytest.raises(InputError, match="only one value"),
    ):
        read_table(one, target="ill", drop_unlabelled=True)


@pytest.fixture
def long(tmp_path):
    """Four entities: two with a label, one with an empty one, one that no label names."""
    (tmp_path / "pairs.csv").write_text("who,what\na,tea\nb,tea\nc,milk\nd,rum\na,milk\n")
    (tmp_path / "labels.csv").write_text("who,ill\na,no\nb,yes\nc,\n")
    return tmp_path


def test_entities_of_a_long_table_without_a_label(long):
    source: Any = {"long": ("who", "what"), "labels": long / "labels.csv", "target": "ill"}
    with pytest.raises(InputError, match="the target 'ill' is missing in 1 row of the label table"):
        read_binary(long / "pairs.csv", **source)
    with pytest.warns(TamisWarning, match="2 of 4 rows have no 'ill'"):
        found = read_binary(long / "pairs.csv", **source, drop_unlabelled=True)
    assert found.features == ("milk", "tea")
    assert found.matrix.toarray().tolist() == [[1, 1], [0, 1]]
    assert found.labels is not None
    assert found.labels.tolist() == ["no", "yes"]
    assert found.unlabelled == found.table().unlabelled == 2


def test_sparse_files_always_have_labels(tmp_path):
    (tmp_path / "x.svm").write_text("1 1:1\n0 2:1\n")
    with pytest.raises(InputError, match="every row has a label"):
        read_binary(tmp_path / "x.svm", drop_unlabelled=True)
