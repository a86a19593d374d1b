"""A drawn release is drawn again with and without a person: it must stay below epsilon."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest

from tamis import DPHistogram, read_table
from tamis.attack import membership
from tamis.attack.membership import shadow_of_release
from tamis.dp import histogram
from tamis.errors import CannotMeet, InputError
from tests.long import LONG, daily

pytest.importorskip("opendp", reason="opendp is not installed (the extra dp has it)")

DOMAIN: dict[str, Any] = {
    "age": {"type": "integer", "low": 0, "high": 99, "other": None, "missing": False},
    "ill": {"type": "category", "values": ["no", "yes"], "other": None, "missing": False},
}


def manifest(kind: str = "histogram", **changes: Any) -> dict[str, Any]:
    budget = {"epsilon": 1.0, "delta": 0.0, "neighbours": "add-remove", "domain": DOMAIN}
    budget |= {"max_rows_per_person": None, **changes}
    columns = [{"name": "age", "role": "feature"}, {"name": "ill", "role": "target"}]
    method = {"name": "dp", "parameters": {"kind": kind}}
    return {"budget": budget, "columns": columns, "method": method}


def people(each: int = 1) -> pl.DataFrame:
    """Twenty alike, and one who stands out, who may have several rows."""
    rows = [(f"p{i}", 30, "no") for i in range(20)] + [("far", 90, "yes")] * each
    return pl.DataFrame(rows, schema=["who", "age", "ill"], orient="row")


def table(each: int = 1):
    return read_table(people(each), target="ill", identifier=["who"])


@pytest.mark.parametrize(
    ("kind", "neighbours"),
    daily(
        product(["histogram", "partition"], ["add-remove", "substitute"]),
        ("histogram", "substitute"),
        ("partition", "add-remove"),
    ),
)
def test_drawn_rows_stay_below_what_epsilon_allows(kind, neighbours):
    found = shadow_of_release(
        table(), manifest(kind, neighbours=neighbours), {"bins": 4}, runs=30 if LONG else 12
    )
    assert found.details["within"]
    assert found.details["epsilon_at_least"] <= 1.0
    assert found.details["allowed"] == pytest.approx(np.e / (1 + np.e))


def test_a_mechanism_that_spends_more_than_it_says_is_caught(monkeypatch):
    def careless(epsilon, **given):
        return DPHistogram(40.0, **given)

    monkeypatch.setattr(histogram, "DPHistogram", careless)
    found = shadow_of_release(table(), manifest(epsilon=0.1), {"bins": 4}, runs=40)
    assert found.success.value > 0.9
    assert not found.details["within"]
    assert found.details["epsilon_at_least"] > 0.1


def test_a_person_is_taken_out_with_all_their_rows():
    made = membership._shadow(table(3), manifest(max_rows_per_person=3), {}, 50, 0)
    assert (made.whole.rows, made.neighbour.rows, made.target.height) == (23, 20, 3)
    assert "far" not in made.neighbour.frame["who"].to_list()


def test_a_person_is_replaced_where_the_number_of_rows_is_public():
    made = membership._shadow(table(), manifest(neighbours="substitute"), {}, 50, 0)
    assert made.whole.rows == made.neighbour.rows == 21
    assert made.neighbour.frame["age"].to_list() == [30] * 21
    assert made.target.rows() == [(90, "yes")]


def test_of_a_large_table_a_few_people_are_drawn_from():
    assert membership._shadow(table(), manifest(), {}, 8, 0).whole.rows == 8


@pytest.mark.parametrize(
    ("changed", "runs", "words"),
    [
        (manifest("elsewhere"), 8, "cannot be drawn again"),
        (manifest(), 3, "4 runs"),
        ({**manifest(), "columns": [{"name": "zip", "role": "feature"}]}, 8, "no feature 'zip'"),
    ],
)
def test_what_cannot_be_drawn_again_is_said(changed, runs, words):
    with pytest.raises(InputError, match=words):
        shadow_of_release(table(), changed, runs=runs)


def test_noise_that_leaves_no_rows_is_a_result_too():
    def none(*_: object) -> pl.DataFrame:
        raise CannotMeet("no rows")

    made = membership.Shadow(table(), table(), people().drop("who")[[20]], none)
    assert made.gap(made.whole, 0) == 2
