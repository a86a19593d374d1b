"""Making tables 0/1."""

from datetime import date

import numpy as np
import polars as pl
import pytest
from scipy import sparse

from tamis import Roles, Table, binarise, read_table
from tamis.binary.records import Cut, from_matrix, from_wide, is_binary
from tamis.errors import InputError
from tamis.read.schema import load_schema

FRAME = pl.DataFrame(
    {
        "age": [20, 25, 30, 50, None],
        "sex": ["f", "m", None, "f", "m"],
        "well": [True, False, True, True, False],
        "ill": ["no", "yes", "no", "no", "yes"],
    }
)
TABLE = Table(FRAME, Roles(target="ill"))


def test_names_say_what_the_columns_are():
    table = binarise(TABLE, {"age": Cut(cuts=(25, 35)), "sex": Cut(), "well": Cut()})
    assert table.features == (
        "age <= 25",
        "age in (25, 35]",
        "age > 35",
        "sex = f",
        "sex = m",
        "well = false",
        "well = true",
    )
    assert table.matrix.toarray().tolist() == [
        [1, 0, 0, 1, 0, 0, 1],
        [1, 0, 0, 0, 1, 1, 0],
        [0, 1, 0, 0, 0, 0, 1],
        [0, 0, 1, 1, 0, 0, 1],
        [0, 0, 0, 0, 1, 1, 0],
    ]
    assert table.labels is not None
    assert table.labels.tolist() == FRAME["ill"].to_list()


def test_a_value_against_the_rest():
    assert binarise(TABLE, {"sex": Cut(value="m")}).matrix.toarray().ravel().tolist() == [
        0, 1, 0, 0, 1,
    ]  # fmt: skip
    with pytest.raises(InputError, match="check its spelling"):
        binarise(TABLE, {"sex": Cut(value="male")})


def test_quantiles_share_the_rows_and_cover_every_present_value():
    numbers = pl.DataFrame({"x": np.arange(100.0)})
    table = binarise(Table(numbers), {"x": Cut(quantiles=5)})
    assert table.matrix.sum(axis=0).tolist() == [21, 20, 20, 20, 19]
    assert table.features[:2] == ("x <= 20", "x in (20, 40]")


def test_heavy_ties_give_fewer_intervals():
    table = binarise(Table(pl.DataFrame({"x": [0.0] * 90 + list(range(1, 11))})))
    assert (table.matrix.sum(axis=1) == 1).all()
    assert table.features == ("x <= 0", "x > 0")


def test_without_a_statement_every_feature_is_taken():
    table = binarise(TABLE)
    assert table.features[0] == "age = 20"
    assert "sex = f" in table.features
    assert not any(name.startswith("ill") for name in table.features)


def test_intervals_of_text_are_refused():
    with pytest.raises(InputError, match="'sex' is text"):
        binarise(TABLE, {"sex": Cut(quantiles=4)})


def test_wide_tables():
    wide = Table(pl.DataFrame({"a": [0, 1], "b": [True, False], "y": ["p", "n"]}), Roles("y"))
    assert is_binary(wide)
    assert from_wide(wide).matrix.toarray().tolist() == [[0, 1], [1, 0]]
    assert not is_binary(TABLE)
    with pytest.raises(InputError, match="'age', 'sex' is not 0/1"):
        from_wide(TABLE)


@pytest.mark.parametrize(
    ("values", "binary"),
    [([0.0, 1.0], True), ([0.0, 0.5], False), ([1.5, 2.5], False), ([0, 2], False), ([1, 1], True)],
)
def test_numbers_of_any_kind_are_asked_whether_they_are_zero_and_one(values, binary):
    assert is_binary(Table(pl.DataFrame({"x": values}))) is binary


def test_matrices():
    table = from_matrix(sparse.csc_array([[0, 1], [1, 1]]), labels=[1, 0])
    assert table.features == ("x0", "x1")
    assert table.matrix.dtype == np.uint8
    assert table.select([1]).matrix.toarray().tolist() == [[1], [1]]
    assert table.frame().columns == ["x0", "x1", "label"]
    with pytest.raises(InputError, match="only 0 and 1 are allowed"):
        from_matrix([[2]])
    with pytest.raises(InputError, match="expected 2 names, one per column, got 1"):
        from_matrix([[1, 0]], ["a"])
    with pytest.raises(InputError, match="expected 1 label, one per row, got 2"):
        from_matrix([[1, 0]], labels=["a", "b"])


ADULT = """
missing = ["?"]
[roles]
target = "class"
[binary]
age = { cuts = [25, 35, 45, 55] }
workclass = { value = "Private" }
education-num = { cuts = [8, 9, 12] }
marital-status = { value = "Never-married" }
occupation = { value = "Prof-specialty" }
race = { value = "White" }
sex = { value = "Male" }
hours-per-week = { cuts = [20, 35, 40, 50] }
"""


def test_the_nineteen_columns_of_adult_fit_in_a_small_schema(dataset, tmp_path):
    schema = tmp_path / "adult.toml"
    schema.write_text(ADULT)
    rules = load_schema(schema)
    table = binarise(read_table(dataset("adult_train.csv.gz"), schema=rules), rules.binary)
    assert table.matrix.shape == (32561, 19)
    assert table.features[:2] == ("age <= 25", "age in (25, 35]")
    for block in (slice(0, 5), slice(6, 10), slice(14, 19)):
        assert (table.matrix.toarray()[:, block].sum(axis=1) == 1).all()


def test_dates_become_years_and_those_of_one_year_months():
    days = [date(2020 + i % 2, 1 + i % 12, 1 + i) for i in range(10)]
    years = binarise(Table(pl.DataFrame({"on": [*days, None]})))
    assert years.features == ("on in 2020", "on in 2021")
    assert years.matrix.toarray().sum(axis=1).tolist() == [1] * 10 + [0]
    months = binarise(Table(pl.DataFrame({"on": [day.replace(year=2020) for day in days]})))
    assert months.features[:2] == ("on in 2020-01", "on in 2020-02")
    few = binarise(Table(pl.DataFrame({"on": days[:2]})))
    assert few.features == ("on = 2020-01-01", "on = 2021-02-02")
