"""Every engine gives the figures that memory gives, on tables made to mislead engines."""

from __future__ import annotations

import datetime
from dataclasses import asdict
from typing import Any

import numpy as np
import polars as pl
import pytest

from tamis.errors import InputError
from tamis.risk.audit import exposure
from tamis.table import Roles, Table

ROUNDED = ("l_diversity", "t_closeness", "likeness", "reidentification")


def hostile(rows: int = 300, seed: int = 0) -> pl.DataFrame:
    """Names that differ in case, missing keys, NaN, both zeros, dates, and 200 secrets."""
    rng = np.random.default_rng(seed)

    def drawn(values: list[Any]) -> pl.Series:
        return pl.Series([values[i] for i in rng.integers(0, len(values), rows)])

    days = [datetime.date(2020, 1, 1), datetime.date(1969, 12, 31), None]
    return pl.DataFrame(
        {
            "Age": drawn([1, 2, None]),
            "age": drawn([1, 2, 3]),
            "n": drawn([0.0, -0.0, float("nan"), 1.5, None]),
            "N": drawn(["", " ", None, "a"]),
            "day": drawn(days),
            "flag": drawn([True, False, None]),
            "who": drawn([*range(200), None]),
            "stay": pl.Series(range(rows)),
            "ill": drawn(["flu", "cold", None]),
            "pay": drawn([10.0, 20.0, None, 20.5]),
            "secret": drawn([*map(str, range(200))]),
            "income": drawn([*range(200), None]),
        }
    )


QUASI = ("Age", "age", "n", "N", "day", "flag")
CASES = {
    "rows": Roles(target="ill", quasi=QUASI),
    "people": Roles(target="ill", quasi=QUASI, identifiers=("stay", "who")),
    "few ordered": Roles(target="pay", quasi=("age", "N"), identifiers=("who",)),
    "many": Roles(target="ill", sensitive="secret", quasi=("Age", "n")),
    "many ordered": Roles(target="ill", sensitive="income", quasi=("age",), identifiers=("who",)),
    "three or more in each": Roles(target="secret", sensitive="ill", quasi=("flag",)),
    "no secret": Roles(quasi=("Age", "age")),
}


def figures(found: Any) -> tuple[dict[str, Any], list[float]]:
    """The counts, which must be the same, and the other figures."""
    whole = asdict(found)
    whole.pop("two_rows")  # an engine does not compare the rows of each person
    rounded = {name: whole.pop(name) for name in ROUNDED}
    numbers = [*rounded["reidentification"].values(), rounded["t_closeness"] or 0.0]
    secrets = [rounded[name] or {} for name in ("l_diversity", "likeness")]
    return whole, [*numbers, *(figure for each in secrets for figure in each.values())]


@pytest.mark.parametrize("case", CASES)
def test_the_figures_are_those_of_memory(engine, behind, case):
    frame, roles = hostile(), CASES[case]
    counts, numbers = figures(exposure(Table(frame, roles)))
    found, near = figures(exposure(behind(engine, frame, roles)))
    assert found == counts
    assert near == pytest.approx(numbers, rel=1e-12)


def test_two_names_that_differ_in_case_are_two_columns(engine, behind):
    frame = pl.DataFrame({"Age": [1, 1, 2, 2], "age": [1, 2, 1, 2]})
    assert exposure(behind(engine, frame, Roles())).k_anonymity == 1


def test_a_missing_key_is_a_value_of_its_own(engine, behind):
    frame = pl.DataFrame({"a": [None, None, "x", "x"], "b": [1.0, float("nan"), 0.0, -0.0]})
    sizes = exposure(behind(engine, frame, Roles())).class_sizes
    assert [(s.size, s.classes) for s in sizes] == [(1, 2), (2, 1)]


def test_one_more_row_changes_k(engine, behind):
    rows = pl.DataFrame({"a": ["x"] * 6 + ["y"] * 5})
    assert exposure(behind(engine, rows, Roles())).k_anonymity == 5
    assert exposure(behind(engine, rows.head(-1), Roles())).k_anonymity == 4


def test_people_are_not_counted_by_their_stays(engine, behind):
    frame = pl.DataFrame({"stay": [1, 2, 3, 4], "patient": ["a", "a", "b", "b"], "job": ["c"] * 4})
    large = behind(engine, frame, Roles(identifiers=("stay", "patient")))
    assert large.person_columns == ("patient",)
    assert exposure(large).k_anonymity == 2


def test_other_columns_may_be_named(engine, behind):
    frame = hostile()
    large = behind(engine, frame, CASES["rows"])
    asked: dict[str, Any] = {"quasi": ("age", "N"), "sensitive": "pay"}
    one, two = (figures(exposure(each, **asked)) for each in (large, Table(frame, CASES["rows"])))
    assert one[0] == two[0]
    assert one[1] == pytest.approx(two[1], rel=1e-12)


def test_what_comes_beside_the_rows_is_for_memory(engine, behind):
    large = behind(engine, hostile(), CASES["rows"])
    for given in ({"people": [1]}, {"population": hostile()}):
        with pytest.raises(InputError, match="tables in memory"):
            exposure(large, **given)
