"""People with several rows: how many are used, and what the noise covers then."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest

from tamis import Roles, Table
from tamis.dp import histogram as histogram_module
from tamis.dp.budget import Budget
from tamis.dp.histogram import DPHistogram, DPPartition
from tamis.dp.private_table import limited, unit_of
from tamis.dp.selector import private_records, zero_one_records
from tamis.errors import InputError

BOUNDS: dict[str, Any] = {"x": [0, 3], "ill": ["no", "yes"]}


def stays(each: int = 5, people: int = 40, **roles: Any) -> Table:
    rows = each * people
    frame = pl.DataFrame(
        {
            "patient": [f"p{i // each}" for i in range(rows)],
            "stay": range(rows),
            "x": [i % 4 for i in range(rows)],
            "ill": ["no", "yes"] * (rows // 2),
        }
    )
    named: dict[str, Any] = {"identifiers": ("patient",), "dropped": ("stay",), **roles}
    return Table(frame, Roles(target="ill", **named))


@pytest.mark.parametrize("most", [1, 2, 5, 9])
def test_at_most_so_many_rows_of_each_person_are_used(most: int) -> None:
    kept = limited(stays(), most)
    assert set(Counter(kept.frame["patient"]).values()) == {min(most, 5)}
    assert kept.frame["patient"].n_unique() == 40


def test_every_row_of_a_person_is_drawn_as_often_and_without_a_seed() -> None:
    table = stays(each=4, people=500)
    seen = limited(table, 1).frame["x"].value_counts()
    assert seen.height == 4
    assert min(seen["count"].to_list()) > 70  # 125 expected, a standard deviation of 10
    assert not limited(table, 1).frame.equals(limited(table, 1).frame)


def test_rows_without_an_identifier_count_as_one_persons() -> None:
    frame = pl.DataFrame({"patient": [None, None, "a"], "ill": ["no", "yes", "no"]})
    assert limited(Table(frame, Roles(target="ill", identifiers=("patient",))), 1).rows == 2


def test_who_is_who_follows_from_the_roles_alone() -> None:
    assert unit_of(stays(identifiers=()).roles) == "row"
    assert unit_of(stays(person=()).roles) == "person"
    assert limited(stays(person=()), 1).rows == 200
    both: dict[str, Any] = {"identifiers": ("stay", "patient"), "dropped": ()}
    assert limited(stays(**both, person=("patient",)), 1).rows == 40
    with pytest.raises(InputError, match="--person COL"):
        limited(stays(**both), 1)


@pytest.mark.parametrize("model", [DPHistogram, DPPartition])
def test_the_noise_grows_with_the_rows_of_a_person(monkeypatch, model: Any) -> None:
    used = []

    def noiseless(counts: Any, moved: int, epsilon: float) -> Any:
        used.append(moved)
        return counts

    for module in (histogram_module,):
        monkeypatch.setattr(module, "laplace", noiseless)
    fitted = model(1.0, bounds=BOUNDS, max_rows_per_person=3).fit(stays())
    assert set(used) == {3}
    assert fitted.recipe_["unit"] == "person"
    assert fitted.recipe_["max_rows_per_person"] == 3
    assert "one more person, with all their rows" in fitted.recipe_["neighbours_in_words"]
    used.clear()
    plain = model(1.0, bounds=BOUNDS).fit(stays(identifiers=("patient",)).frame.drop("patient"))
    assert set(used) == {1}
    assert (plain.recipe_["unit"], plain.recipe_["max_rows_per_person"]) == ("row", None)


def test_a_person_moves_the_counts_by_no_more_than_is_covered(monkeypatch) -> None:
    """One person of five rows, there or not, without noise: as many rows more as are allowed."""
    monkeypatch.setattr(histogram_module, "laplace", lambda counts, moved, epsilon: counts)
    table = stays()
    without = Table(table.frame.filter(pl.col("patient") != "p7"), table.roles)
    for most in (1, 2):
        counts = [
            DPHistogram(1.0, bounds=BOUNDS, max_rows_per_person=most).fit(t).counts_.sum()
            for t in (table, without)
        ]
        assert counts[0] - counts[1] == most


def test_what_cannot_be_covered_is_refused_by_the_roles() -> None:
    with pytest.raises(InputError, match="takes the number of rows as public"):
        DPHistogram(1.0, bounds=BOUNDS, neighbours="substitute", max_rows_per_person=2).fit(stays())
    nobody = stays().with_roles(identifiers=(), person=None)
    with pytest.raises(InputError, match="= 2 needs to know whose row each row is"):
        DPHistogram(1.0, bounds=BOUNDS, max_rows_per_person=2).fit(nobody)
    with pytest.raises(InputError, match="counts for one row, this step for one person"):
        DPHistogram(1.0, bounds=BOUNDS).fit(stays(), budget=Budget(1.0))


def test_records_are_one_a_person() -> None:
    table = stays()
    ones = table.frame.with_columns(x=(pl.col("x") > 1).cast(pl.Int64))
    records, unit = zero_one_records(Table(ones, table.roles))
    assert (records.rows, unit) == (40, "person")
    drawn = private_records(records, 1, 4.0, labels=["no", "yes"], unit=unit)
    assert drawn.recipe["unit"] == "person"
    assert drawn.frame.height == 40
    assert np.isin(drawn.frame["x"], [0, 1]).all()
