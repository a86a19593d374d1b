"""Numbers as a target: refused at once, or cut into classes that the manifest states."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import polars as pl
import pytest

from tamis import Roles, Settings, Table, consider, publish, read_table, verify
from tamis.errors import InputError
from tamis.read.target_bins import bin_names, bin_target, need_classes
from tamis.table import TargetBins
from tamis.verification.form import wrong_ladders


def wages(rows: int = 600) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    years = rng.integers(6, 20, rows)
    wage = np.exp(0.1 * years + rng.normal(1.0, 0.35, rows)).round(2)
    sex = rng.choice(["f", "m"], rows)
    return pl.DataFrame(
        {"years": years, "sex": sex, "town": rng.integers(0, 5, rows), "wage": wage}
    )


def bins_of(table: Table) -> TargetBins:
    assert table.target_bins is not None
    return table.target_bins


def test_many_numbers_are_refused_before_any_work():
    with pytest.raises(InputError, match=r"different numbers.*--target-bins 4") as error:
        consider(Table(wages(), Roles(target="wage")))
    assert "schema" in str(error.value)


def test_few_numbers_are_classes():
    frame = wages().with_columns(wage=pl.col("wage").round().clip(0, 15).cast(pl.Int64))
    assert read_table(frame, target="wage").target_bins is None
    need_classes(read_table(frame, target="wage"))


def test_quarters_have_round_ends_and_about_equally_many_rows():
    table = read_table(wages(), target="wage", target_bins=4)
    bins = bins_of(table)
    assert len(bins.cuts) == 3
    assert all(cut == round(cut, 1) for cut in bins.cuts)
    counts = table.frame["wage"].value_counts()["count"]
    assert min(counts.to_list()) > 0.15 * table.rows
    original = wages()["wage"]
    for label, low, high in zip(bins.labels, (-np.inf, *bins.cuts), (*bins.cuts, np.inf)):
        inside = original.filter(table.frame["wage"] == label)
        assert ((inside > low) & (inside <= high)).all()


def test_ends_may_be_named():
    table = read_table(wages(), target="wage", target_bins=[5, 10])
    assert bins_of(table).cuts == (5.0, 10.0)
    assert set(table.frame["wage"]) == {"5 or less", "above 5 to 10", "above 10"}
    assert bin_names([0], whole=True) == ["0 or less", "1 or more"]
    assert bin_names([0, 1, 9], whole=True) == ["0 or less", "1", "2 to 9", "10 or more"]


@pytest.mark.parametrize("bins", [1, 0, 1000, [], [3, 3], [9, 2], [float("nan")]])
def test_impossible_classes_are_refused(bins):
    with pytest.raises(InputError, match="--target-bins takes"):
        read_table(wages(), target="wage", target_bins=bins)


def test_texts_are_not_cut():
    with pytest.raises(InputError, match="holds none"):
        bin_target(Table(wages(), Roles(target="sex")), 4)


def test_missing_numbers_stay_missing():
    frame = wages(50).with_columns(wage=pl.when(pl.int_range(50) > 9).then("wage"))
    table = bin_target(Table(frame, Roles(target="wage")), 2)
    assert table.frame["wage"].null_count() == 10


def test_a_schema_may_say_it(tmp_path):
    schema = tmp_path / "s.toml"
    schema.write_text('[roles]\ntarget = "wage"\ntarget_bins = [5, 10]\n')
    assert bins_of(read_table(wages(), schema=schema)).cuts == (5.0, 10.0)
    schema.write_text('[roles]\ntarget = "wage"\ntarget_bins = 3\n')
    assert len(bins_of(read_table(wages(), schema=schema)).cuts) == 2
    schema.write_text('[roles]\ntarget = "wage"\ntarget_bins = "many"\n')
    with pytest.raises(InputError, match="a number of classes"):
        read_table(wages(), schema=schema)


def test_the_classes_do_not_depend_on_cells_that_must_not_be_looked_at():
    with pytest.raises(InputError, match="--bounds"):
        read_table(wages(), target="wage", target_bins=4, check=False)


def test_the_manifest_states_them_and_they_are_verified(tmp_path):
    table = read_table(wages(), target="wage", target_bins=[5, 10])
    out = tmp_path / "out"
    publish(consider(table, Settings(methods={"front": {}}, attackers=("nb",))), out)
    found = verify(out)
    assert "ladders" in [check.name for check in found.checks]
    said, rows = found.manifest, pl.read_csv(out / "release.csv")
    (target,) = (c for c in said["columns"] if c["role"] == "target")
    assert target["bins"]["cuts"] == [5.0, 10.0]
    assert target["bins"]["labels"] == ["5 or less", "above 5 to 10", "above 10"]
    assert wrong_ladders(rows, said) == ""
    wrongs: list[dict[str, list[Any]]] = [
        {"labels": ["4 or less", "above 5 to 10", "above 10"]},
        {"labels": ["5 or less", "above 5 to 10"]},
        {"cuts": [10.0, 5.0]},
        {"cuts": []},
    ]
    for wrong in wrongs:
        other = json.loads(json.dumps(said))
        next(c for c in other["columns"] if c["role"] == "target")["bins"] |= wrong
        assert "'wage'" in wrong_ladders(rows, other)
