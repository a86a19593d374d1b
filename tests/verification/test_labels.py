"""A column in a coarser form: what the manifest states, and cells that do not keep to it."""

from __future__ import annotations

from datetime import date
from math import inf
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.coarsen.ladder import FORMS as FORM_CLASSES
from tamis.coarsen.ladder import Ladder
from tamis.coarsen.ladder_sources import draft_ladder
from tamis.publication.manifest import Bound, stated, stated_coarsening, with_bounds
from tamis.release import Coarsening
from tamis.verification.labels import STATED, labels_of, wrong_bounds, wrong_labels
from tamis.verification.shape import MANIFEST, _wrong

NUMBERS = st.lists(st.one_of(st.none(), st.floats(-200, 200)), min_size=1, max_size=30)


@given(
    NUMBERS,
    st.sampled_from(
        [
            {"width": [5, 10], "bottom": -50, "top": 90},
            {"width": [0.5, 2.5]},
            {"cuts": [[-3.5, 0, 17.25], [0]]},
        ]
    ),
    st.sampled_from([1, 2]),
)
def test_what_a_ladder_makes_is_a_rung_of_what_is_stated(values, description, level):
    column = pl.Series("x", values, dtype=pl.Float64)
    said = stated(Coarsening(description, level), column, k=1)
    cells = Ladder.from_dict("x", description).apply(column, level)
    assert not wrong_labels(cells, said)


WHOLE = (
    {"width": [5, 10], "bottom": -50, "top": 90, "whole": True},
    {"width": [200, 1000], "whole": True},
    {"cuts": [[-300, 0, 1, 17], [0]], "whole": True},
    {"cuts": [[-20_000, 5000, 55_000], [5000]], "whole": True},
)


@given(
    st.lists(st.integers(-30_000, 90_000) | st.integers(-60, 100), min_size=1, max_size=30),
    st.sampled_from(WHOLE),
    st.sampled_from([1, 2]),
)
def test_labels_of_whole_numbers_are_read_as_they_were_meant(values, description, level):
    column = pl.Series("x", values, dtype=pl.Int64)
    ladder, form = Ladder.from_dict("x", description), Coarsening(description, level)
    said, cells = stated(form, column, k=1), ladder.apply(column, level)
    assert not wrong_labels(cells, said)
    for low, high, value in zip(*ladder.bounds(cells, level), values):
        assert (-inf if low is None else low) <= value < (inf if high is None else high)
    # Whoever has the manifest alone writes the same labels, and knows whose they are.
    alone = stated_coarsening(said)
    assert Ladder.from_dict("x", alone.ladder).apply(column, 1).to_list() == cells.to_list()
    assert labels_of(column, cells.unique().to_list(), said) == cells.to_list()
    frame, bounds = with_bounds(cells.to_frame(), {"x": form})
    for name, bound in bounds.items():
        assert not wrong_bounds(cells, frame[name], bound.end, said)


def test_whole_numbers_are_named_by_their_ends_and_amounts_by_round_ones():
    ages = draft_ladder(pl.Series("age", [age for age in range(20, 95) for _ in range(9)]))
    assert {"25 to 29", "90 or more"} <= set(ages.apply(pl.Series([27, 93]), 1))
    wages = draft_ladder(pl.Series("wage", [1000 * at for at in range(20, 95) for _ in range(9)]))
    assert "25000 to under 30000" in set(wages.apply(pl.Series([27_000, 93_000]), 1))
    assert not [label for label in wages.apply(pl.Series([0, 99_999]), 1) if "9" * 3 in label]


@pytest.mark.parametrize("said", [{"width": 10, "whole": True}, {"cuts": [40, 50], "whole": True}])
@pytest.mark.parametrize("cell", ["40 to 48", "41 to 49", "[40, 50)", "40 to", "forty"])
def test_a_label_that_no_whole_numbers_have_is_wrong(cell, said):
    assert wrong_labels(pl.Series([cell]), said)


@pytest.mark.parametrize("level", [1, 2, 3])
def test_dates_are_rungs_of_the_calendar_and_of_cuts(level):
    column = pl.Series("on", [date(1999, 12, 31), date(2021, 5, 3), None])
    units = {"dates": ["month", "quarter", "decade"]}
    for description in (
        units,
        {"cuts": [["2000-01-01", "2010-06-01"]]},
        {"width": [7], "top": "2020-01-01"},
    ):
        at = min(level, 3 if "dates" in description else 1)
        cells = Ladder.from_dict("on", description).apply(column, at)
        assert not wrong_labels(cells, stated(Coarsening(description, at), column, k=1))


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("[40, 45)", {"width": 10}),
        ("[41, 51)", {"width": 10}),
        ("43", {"width": 10}),
        (">= 80", {"width": 10, "top": 90}),
        ("[0, 17.25)", {"cuts": [0, 5, 17.25]}),
        ("< 5", {"cuts": [0, 5]}),
        ("0100*", {"keep": 3}),
        ("2021-05-03", {"dates": "month"}),
        ("2021-Q5", {"dates": "quarter"}),
        ("cook", {"groups": {"manual": ["cook"]}}),
        ("[nan, 3)", {"cuts": [3]}),
    ],
)
def test_what_is_no_rung_is_found(cell, said):
    assert wrong_labels(pl.Series([cell, None]), said)


def test_values_of_fewer_than_k_people_are_not_named():
    jobs = pl.Series("job", ["cook"] * 5 + ["judge"] * 4 + ["bard"] * 6)
    form = Coarsening({"groups": [{"court": ["judge", "bard"], "kitchen": ["cook"]}]}, 1)
    assert stated(form, jobs, k=5)["groups"] == {"court": ["bard"], "kitchen": ["cook"]}
    one_bard = np.array([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 9, 9, 9])
    assert stated(form, jobs, 5, one_bard)["groups"] == {"court": [], "kitchen": ["cook"]}


def test_labels_that_nobody_has_are_not_stated():
    jobs = pl.Series("job", ["cook"] * 5)
    form = Coarsening({"groups": [{"court": ["judge"], "kitchen": ["cook"]}]}, 1)
    assert list(stated(form, jobs, k=5)["groups"]) == ["kitchen"]


FORMS = [
    ("x", {"width": [5, 10], "bottom": -50, "top": 90}, 2),
    ("x", {"cuts": [[-3.5, 0, 17.25]]}, 1),
    ("on", {"dates": ["day", "month", "quarter", "year", "decade"]}, 1),
    ("on", {"dates": ["day", "month", "quarter", "year", "decade"]}, 2),
    ("on", {"dates": ["day", "month", "quarter", "year", "decade"]}, 3),
    ("on", {"dates": ["day", "month", "quarter", "year", "decade"]}, 4),
    ("on", {"dates": ["day", "month", "quarter", "year", "decade"]}, 5),
    ("on", {"cuts": [["2000-01-01", "2010-06-01"]]}, 1),
]


@pytest.mark.parametrize(("name", "description", "level"), FORMS)
def test_bounds_are_those_of_the_labels_and_nothing_else(name, description, level):
    columns = {
        "x": pl.Series("x", [-60.5, -3.5, 0, 17, 93, None]),
        "on": pl.Series("on", [date(1, 1, 1), date(1999, 12, 31), date(9999, 12, 31), None]),
    }
    form = Coarsening(description, level)
    labels = Ladder.from_dict(name, description).apply(columns[name], level)
    frame, bounds = with_bounds(labels.to_frame(), {name: form})
    said = stated(form, columns[name], k=1)
    assert list(bounds) == [f"{name}_lower", f"{name}_upper"]
    for ends, bound in bounds.items():
        assert not wrong_bounds(labels, frame[ends], bound.end, said)
        assert wrong_bounds(labels, frame[ends].reverse(), bound.end, said)
        assert wrong_bounds(labels, frame[ends].fill_null(strategy="forward"), bound.end, said)


def test_names_of_bounds_are_free_and_groups_have_none():
    rows = pl.DataFrame({"age": ["< 5"], "age_lower": [1], "job": ["manual"]})
    forms = {
        "age": Coarsening({"cuts": [[5]]}, 1),
        "job": Coarsening({"groups": {"manual": ["cook"]}}, 1),
    }
    frame, bounds = with_bounds(rows, forms)
    assert frame.columns == ["age", "age_lower_", "age_upper", "age_lower", "job"]
    assert bounds["age_lower_"] == Bound("age", "lower")


DESCRIBED: list[dict[str, Any]] = [
    {"width": [5, 10], "bottom": -50, "top": [90, 80]},
    {"cuts": [[-3.5, 0, 17.25], [0]]},
    {"cuts": [[3, 17], [3]], "whole": True},
    {"ends": [{"bottom": 3}, {"bottom": 5, "top": 90}]},
    {"dates": ["month", "year"], "bottom": "1990-01-01", "top": "2020-01-01"},
    {"step": [0.5, 10]},
    {"keep": [3, 2]},
]


@pytest.mark.parametrize("description", DESCRIBED, ids=lambda each: next(iter(each)))
@pytest.mark.parametrize("level", [1, 2])
def test_what_a_form_states_is_what_a_manifest_may_hold(description, level):
    said = stated(Coarsening(description, level), pl.Series("x", []), k=1)
    column = {"name": "x", "header": "x", "kind": "nominal", "role": "feature", "stated": True}
    assert list(_wrong([column | {"coarser": said}], MANIFEST["columns"], "")) == []
    odd = [column | {"coarser": said | {"more": 1}}]
    assert "has 'more' in [0].coarser" in next(_wrong(odd, MANIFEST["columns"], ""))


def test_every_form_of_a_ladder_can_be_stated():
    words = {word for word, form in FORM_CLASSES.items() if not form.has_groups}
    assert words == set(STATED) - {"groups"}
    assert words == {next(iter(each)) for each in DESCRIBED}


@given(
    st.lists(st.floats(-300, 300).map(lambda x: round(x, 2)), min_size=1, max_size=20),
    st.sampled_from([[0.1, 0.5], [10, 100], [0.25, 1]]),
    st.sampled_from([1, 2]),
)
def test_multiples_of_a_step_are_read_as_they_were_meant(values, steps, level):
    column = pl.Series("x", values, dtype=pl.Float64)
    form = Coarsening({"step": steps}, level)
    cells, said = Ladder.from_dict("x", form.ladder).apply(column, level), stated(form, column, k=1)
    assert not wrong_labels(cells, said)
    assert not wrong_labels(cells.cast(pl.String), said)
    assert with_bounds(cells.to_frame(), {"x": form})[1] == {}
    alone = stated_coarsening(said)
    assert Ladder.from_dict("x", alone.ladder).apply(column, 1).to_list() == cells.to_list()
    texts = cells.cast(pl.String)
    assert labels_of(column, texts.unique().to_list(), said) == texts.to_list()
    assert labels_of(column, [], said) == [None] * len(values)


@pytest.mark.parametrize("cell", ["41", "40.5", "forty", "nan", "inf", "", "[40, 50)"])
def test_a_cell_that_is_no_multiple_of_the_step_is_wrong(cell):
    assert wrong_labels(pl.Series([cell]), {"step": 10})


@pytest.mark.parametrize("step", [0, -10, "10", True])
def test_a_step_is_a_number_above_0(step):
    column = {"name": "x", "header": "x", "kind": "number", "role": "feature", "stated": True}
    said = stated(Coarsening({"step": [10]}, 1), pl.Series("x", [41]), k=1) | {"step": step}
    wrong = list(_wrong([column | {"coarser": said}], MANIFEST["columns"], ""))
    assert wrong == ["manifest.json has an invalid 'step' in [0].coarser"]
