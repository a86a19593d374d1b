"""Folds as Weka deals them, by record and by the program, and our own."""

import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.folds import Dealer
from tamis.errors import CannotMeet


def recorded(folder: Path, folds: list[int]) -> Path:
    path = folder / "weka_folds.csv.gz"
    rows = {"dataset": ["made"] * len(folds), "row": range(len(folds)), "fold": folds}
    pl.DataFrame(rows).write_csv(path, compression="gzip")
    return path


@settings(max_examples=30)
@given(st.integers(10, 40), st.integers(10, 40), st.randoms(use_true_random=False))
def test_our_folds_are_even_in_rows(first, second, random):
    labels = ["a"] * first + ["b"] * second
    random.shuffle(labels)
    found = Dealer().deal(labels)
    assert np.ptp(np.bincount(found, minlength=10)) <= 1
    np.testing.assert_array_equal(found, Dealer().deal(labels))


def test_a_record_beside_the_data_is_taken_for_its_own_class_and_rows_only(tmp_path):
    (tmp_path / "golden").mkdir()
    (tmp_path / "data").mkdir()
    folds = [9 - row % 10 for row in range(40)]
    recorded(tmp_path / "golden", folds)
    dealer = Dealer(Dealer.beside(tmp_path / "data").record)
    assert dealer.origin(40, "made") == "a record of Weka's"
    assert dealer.deal(["a", "b"] * 20, "made").tolist() == folds
    assert dealer.origin(40) == "ours"
    assert dealer.deal(["a", "b"] * 20).tolist() != folds
    assert dealer.origin(40, "other") == "ours"
    assert len(dealer.deal(["a", "b"] * 30, "made")) == 60
    assert dealer.origin(60, "made") == "ours"


def test_a_program_that_does_not_deal_is_named(tmp_path):
    with pytest.raises(CannotMeet, match="assigned 0 of 40 rows"):
        Dealer(program="true").deal(["a", "b"] * 20)


def test_the_programs_lines_are_read_as_folds(tmp_path):
    """A stand-in for the program prints two folds, rows in its own order."""
    lines = [(1, 3), (2, 0), (1, 2), (2, 1)]
    fake = tmp_path / "weka"
    said = "".join(f" {place}  1:c0  1:c0  0.5 ({row})\\n" for place, row in lines)
    fake.write_text(f"#!/bin/sh\nprintf '\\n=== Predictions ===\\n\\n inst# (id)\\n{said}'\n")
    fake.chmod(0o755)
    assert Dealer(program=str(fake)).deal(["a", "b", "a", "b"]).tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize(
    ("name", "target"),
    [("pima", "class"), ("vehicle", "class"), ("ilpd", "Selector"), ("mushroom", "class")],
)
def test_weka_deals_what_it_recorded(dataset, golden, name, target):
    program = shutil.which("weka")
    if program is None:
        pytest.skip("no weka on this machine (Debian's package of that name has it)")
    frame = pl.read_csv(dataset(f"{name}.csv.gz"), infer_schema=False)
    labels = frame[target].to_list()
    record = Dealer(golden("weka_folds.csv.gz")).deal(labels, name)
    np.testing.assert_array_equal(Dealer(program=program).deal(labels), record)
