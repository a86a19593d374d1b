"""Coarser forms made where the rows are: the labels that memory gives, and no rare name."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

import numpy as np
import polars as pl
import pytest

from tamis.coarsen.coarsener import coarse_column, with_coarse_columns
from tamis.coarsen.ladder import Ladder
from tamis.publication.manifest import stated
from tamis.publication.streamed import stated_coarse
from tamis.release import Coarsening

DAYS = [date(2020, 1, 30) + timedelta(days=7 * i) for i in range(40)]
COLUMNS: dict[str, tuple[pl.Series, dict[str, Any], int]] = {
    "age": (pl.Series([*range(18, 57), None]), {"cuts": [[30.5, 40.5], [40.5]]}, 1),
    "dose": (pl.Series([0.1 * i for i in range(39)] + [float("nan")]), {"width": [1], "top": 3}, 1),
    "job": (
        pl.Series(["cook", "judge", "bard", None] * 10),
        {"groups": {"all | cook": ["cook", "judge"]}, "unlisted": "all | other"},
        1,
    ),
    "zip": (pl.Series([f"0{i}000" for i in range(40)]), {"keep": [3, 2]}, 2),
    "day": (pl.Series(DAYS), {"dates": ["month", "year"]}, 1),
    "at": (pl.Series([datetime(2021, 3, 4, i % 24) for i in range(40)]), {"dates": ["day"]}, 1),
    "kind": (pl.Series(["a", "b", "c", "d"] * 10, dtype=pl.Categorical), {"common": [["a"]]}, 1),
    "Age": (pl.Series(range(40)), {"width": [7]}, 1),
    "pay": (pl.Series([*range(39), None]), {"step": [5, 10]}, 2),
    "mass": (pl.Series([0.07 * i for i in range(40)]), {"step": [0.5]}, 1),
}


@pytest.fixture
def rows() -> pl.DataFrame:
    return pl.DataFrame({name: cells for name, (cells, _, _) in COLUMNS.items()}).with_columns(
        who=pl.Series(np.arange(40) // 2)
    )


def test_labels_are_those_of_memory(engine, behind, rows):
    large = behind(engine, rows, drop=("who",))
    forms = {name: Coarsening(how, level) for name, (_, how, level) in COLUMNS.items()}
    made = with_coarse_columns(
        large, [coarse_column(large, name, forms[name], 2) for name in forms]
    )
    found = engine.small(made.frame.select(*large.columns([*forms, "who"])))
    kinds = made.shape.frame.schema
    assert kinds["age"] == pl.String
    assert kinds["pay"] == pl.Int64
    assert kinds["mass"] == pl.Float64
    for name, column in zip(forms, found.columns):
        plain = rows[name].fill_nan(None) if rows[name].dtype.is_float() else rows[name]
        wanted = Ladder.from_dict(name, forms[name].ladder).apply(plain, forms[name].level)
        key = found.columns[-1]
        both = found.select(column, key).sort(pl.all())
        assert both.rows() == pl.DataFrame({column: wanted, key: rows["who"]}).sort(pl.all()).rows()


@pytest.mark.parametrize("people", [False, True])
def test_a_manifest_states_what_it_would_of_a_table_in_memory(engine, behind, rows, people):
    large = behind(engine, rows, **({"identifier": ("who",)} if people else {"drop": ("who",)}))
    who = rows["who"].to_numpy() if people else None
    for name, (_, how, level) in COLUMNS.items():
        form = Coarsening(how, level)
        found = coarse_column(large, name, form, 6)
        assert stated_coarse(found) == stated(form, rows[name], 6, who)


@pytest.mark.parametrize(
    ("column", "how", "names"),
    [
        ("job", {"groups": {"all": ["cook", "judge"]}, "unlisted": "other"}, False),
        ("job", {"groups": {"all": ["cook", "rare"]}, "unlisted": "other"}, True),
        ("job", {"common": [["cook"]]}, False),
        ("job", {"common": [["rare"]]}, True),
        ("age", {"cuts": [3.5]}, False),
        ("age", {"cuts": [3]}, False),  # five people are three years old
        ("age", {"cuts": [7]}, True),
        ("age", {"width": [7]}, False),
        ("day", {"cuts": ["2020-01-30"]}, False),  # the calendar names every day
    ],
)
def test_forms_that_name_a_value_of_few_people(engine, behind, column, how, names):
    jobs = ["cook"] * 10 + ["judge"] * 9 + ["rare"]
    ages = [*[3] * 5, *[4] * 14, 7]
    frame = pl.DataFrame({"job": jobs, "age": ages, "day": DAYS[:1] * 20})
    found = coarse_column(behind(engine, frame), column, Coarsening(how, 1), 5)
    assert found.names_few == names


def test_values_that_a_sample_lacked_have_no_label_of_their_own(engine, behind):
    """A group learnt on a sample without others: what all rows have besides tells nothing."""
    frame = pl.DataFrame({"job": ["cook", "judge", "bard", None]})
    form = Coarsening({"groups": {"one": ["cook"], "two": ["judge"]}}, 1)
    found = coarse_column(behind(engine, frame), "job", form, 1)
    assert sorted(engine.small(found.mapping).rows()) == [
        ("bard", "*"), ("cook", "one"), ("judge", "two"),
    ]  # fmt: skip
    assert found.labels.to_list() == ["*", "one", "two"]
