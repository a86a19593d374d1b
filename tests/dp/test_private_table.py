"""Tables drawn under differential privacy: domains, counts, boxes, rows and refusals."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tamis import Roles, Table
from tamis.binary.matrix import zero_one
from tamis.binary.records import from_matrix
from tamis.dp import histogram as histogram_module
from tamis.dp import selector as selector_module
from tamis.dp.budget import Budget
from tamis.dp.domain import axes, cell_counts, drawn_rows
from tamis.dp.histogram import DPHistogram, DPMarginals, DPPartition, shifted, split_grid
from tamis.dp.selector import PrivateSelector, chosen_places, hamming_scores, private_records
from tamis.errors import CannotMeet, InputError, MissingExtra, TamisWarning

BOTH: list[Any] = [DPHistogram, DPMarginals, DPPartition]
BOUNDS: dict[str, Any] = {
    "age": (0, 99),
    "dose": (0.0, 1.0),
    "job": ["cook", "judge", "nurse"],
    "ill": ["no", "yes"],
}


def declared(type: str, low: float, high: float, **more: Any) -> dict[str, Any]:
    return {"type": type, "low": low, "high": high, **more}


def people(rows: int = 600) -> pl.DataFrame:
    rng = np.random.default_rng(2)
    dose = rng.random(rows)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 80, rows),
            "dose": dose,
            "job": rng.choice(["cook", "judge"], rows),
            "ill": np.where(dose > 0.5, "yes", "no"),
        }
    )


@pytest.fixture
def no_noise(monkeypatch):
    """Counts as they are, to look at everything but the noise."""
    for module in (histogram_module,):
        monkeypatch.setattr(module, "laplace", lambda counts, sensitivity, epsilon: counts)


def test_counts_over_the_domain_are_those_of_a_group_by() -> None:
    frame = people()
    of = axes(frame, BOUNDS, bins=5)
    counts = cell_counts(frame, of)
    assert counts.shape == (5, 5, 3, 2)
    expected = np.zeros(counts.shape, int)
    for age, dose, job, ill in frame.iter_rows():
        where = (age // 20, min(int(dose * 5), 4), BOUNDS["job"].index(job), int(ill == "yes"))
        expected[where] += 1
    assert (counts == expected).all()


def test_whole_numbers_make_no_more_bins_than_values_and_are_drawn_evenly() -> None:
    frame = pl.DataFrame({"n": [1, 2, 3, 3, 9]})
    (axis,) = axes(frame, {"n": (1, 3)}, bins=50)
    assert axis.bins == 3
    assert axis.codes(frame["n"]).tolist() == [0, 1, 2, 2, 2]  # 9 counts as the nearest bound
    (coarse,) = axes(frame, {"n": (1, 10)}, bins=3)
    low = np.zeros(9000, int)
    drawn = coarse.drawn(low, low + 3, np.random.default_rng(0)).value_counts()
    assert sorted(drawn["n"]) == list(range(1, 11))
    assert (np.abs(drawn["count"].cast(int).to_numpy() - 900) < 150).all()


def test_drawn_cells_lie_in_their_bins() -> None:
    frame = people()
    of = axes(frame, BOUNDS, bins=7)
    codes = [a.codes(frame[a.name]) for a in of]
    again = drawn_rows([(c, c + 1) for c in codes], of, np.random.default_rng(1))
    assert again.schema == frame.schema
    assert (cell_counts(again, of) == cell_counts(frame, of)).all()


def test_missing_cells_have_a_bin_of_their_own() -> None:
    frame = people().with_columns(
        pl.when(pl.col("age") < 40).then(None).otherwise("age").alias("age"),
        pl.when(pl.col("job") == "cook").then(None).otherwise("job").alias("job"),
    )
    of = axes(frame, BOUNDS, bins=4, missing=["age", "job"])
    counts = cell_counts(frame, of)
    assert counts[4].sum() == frame["age"].null_count()
    codes = [a.codes(frame[a.name]) for a in of]
    again = drawn_rows([(c, c + 1) for c in codes], of, np.random.default_rng(1))
    assert again.null_count().row(0) == frame.null_count().row(0)
    undeclared = cell_counts(frame, axes(frame, BOUNDS, bins=4))
    assert undeclared.sum() == frame.height  # they count as the lower bound and the first value
    assert undeclared[0].sum() == frame["age"].null_count()


@pytest.mark.usefixtures("no_noise")
@pytest.mark.parametrize("negative", ["shift", "zero"])
def test_without_noise_the_histogram_gives_the_table_back_up_to_its_bins(negative) -> None:
    frame = people()
    model = DPHistogram(1.0, bounds=BOUNDS, bins=10, negative=negative)
    drawn = model.fit_sample(frame, target="ill")
    assert drawn.schema == frame.schema
    of = axes(frame, BOUNDS, bins=10)
    assert (cell_counts(drawn, of) == cell_counts(frame, of)).all()


@pytest.mark.usefixtures("no_noise")
def test_without_noise_the_boxes_hold_the_rows_they_were_counted_from() -> None:
    frame = people(2000)
    model = DPPartition(8.0, bounds=BOUNDS, rows=2000).fit(frame, target="ill")
    counts = cell_counts(frame, model.axes_)
    assert [int(counts[box].sum()) for box in model.boxes_] == model.counts_.tolist()
    drawn = model.sample()
    assert drawn.height == frame.height
    agree = ((drawn["dose"] > 0.5) == (drawn["ill"] == "yes")).to_numpy()
    assert agree.mean() > 0.9


@given(hnp.arrays(np.int64, hnp.array_shapes(max_dims=3, max_side=6), elements=st.integers(-5, 60)))
def test_boxes_cover_every_cell_once(noisy) -> None:
    covered = np.zeros(noisy.shape, int)
    for box in split_grid(noisy, scale=1.0):
        covered[box] += 1
    assert (covered == 1).all()


def test_even_counts_stay_one_box_and_peaks_are_cut_out() -> None:
    assert len(split_grid(np.full((4, 4), 50), scale=2.0)) == 1
    peaked = np.zeros((8, 8), int)
    peaked[2, 5] = 500
    boxes = split_grid(peaked, scale=2.0)
    assert (slice(2, 3), slice(5, 6)) in boxes


@pytest.mark.parametrize(("rows", "scale"), [(3, 1.0), (6, 2.0)])
def test_a_box_is_split_from_two_deviations_of_the_noise_on(rows: int, scale: float) -> None:
    assert rows - 1 < 2 * np.sqrt(2) * scale <= rows
    assert len(split_grid(np.array([-500, 500 + rows]), scale)) == 2
    assert len(split_grid(np.array([-500, 500 + rows - 1]), scale)) == 1


def test_a_box_is_split_where_its_counts_vary_more_than_noise_would_make_them() -> None:
    # Noise of scale 1 varies by 2, and is trusted up to 2 (1 + 2 sqrt(5 / 4)) = 6.47 in four cells.
    assert len(split_grid(np.array([47, 50, 50, 53]), 1.0)) == 1  # 18 / 3 = 6
    assert len(split_grid(np.array([47, 49, 51, 53]), 1.0)) == 2  # 20 / 3 = 6.67
    # In five cells up to 2 (1 + 2) = 6, and these vary by 24 / 4.
    assert len(split_grid(np.array([47, 49, 49, 52, 53]), 1.0)) == 1


def test_a_box_is_cut_where_the_count_is_nearest_to_half() -> None:
    assert split_grid(np.array([30, 20, 50]), 4.0) == [(slice(0, 2),), (slice(2, 3),)]


def test_bins_follow_the_rows() -> None:
    frame = people().select("age", "dose", "ill")
    bounds = {c: BOUNDS[c] for c in frame.columns}

    def bins(rows: int, epsilon: float = 1.0) -> list[int]:
        model = DPPartition(epsilon, bounds=bounds, rows=rows)
        return [a.bins for a in model.fit(frame, target="ill").axes_]

    assert bins(2000) == [2, 10, 10]  # round((2000 / 20) ** (1 / 2))
    assert bins(8000) == [2, 20, 20]
    assert bins(8000, 0.25) == [2, 10, 10]


@pytest.mark.parametrize(("high", "bins"), [(1, [2, 100]), (2, [3, 14])])
def test_a_column_of_two_whole_numbers_is_not_divided_further(
    high: int, bins: list[int], no_noise: None
) -> None:
    frame = pl.DataFrame({"few": [0, 1] * 20, "dose": [0.1, 0.9] * 20})
    bounds = {"few": (0, high), "dose": (0.0, 1.0)}
    fitted = DPPartition(1.0, bounds=bounds, rows=2000).fit(frame)
    assert [
        a.bins for a in fitted.axes_
    ] == bins  # of 2000 / 10 cells, by two values or as a square


def test_one_row_that_was_counted_fills_as_many_bins_as_one_row_can(no_noise: None) -> None:
    fitted = DPPartition(100.0, bounds={"dose": (0.0, 1.0)}).fit(pl.DataFrame({"dose": [0.5]}))
    assert [a.bins for a in fitted.axes_] == [10]  # 1 row * 100 / 10


def test_a_table_without_rows_has_the_bins_of_one_row(no_noise: None) -> None:
    empty = pl.DataFrame({"dose": []}, schema={"dose": pl.Float64})
    model = DPPartition(100.0, bounds={"dose": (0.0, 1.0)}, neighbours="substitute")
    assert [a.bins for a in model.fit(empty).axes_] == [10]


def test_a_warning_comes_where_the_rows_do_not_fill_two_bins(no_noise: None) -> None:
    frame = pl.DataFrame({"dose": [0.1, 0.9] * 10})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = DPPartition(1.0, bounds={"dose": (0.0, 1.0)}, rows=20).fit(frame)
    assert [a.bins for a in fitted.axes_] == [2]
    with pytest.warns(TamisWarning, match="too many for about 19 rows"):
        DPPartition(1.0, bounds={"dose": (0.0, 1.0)}, rows=19).fit(frame)


@pytest.mark.parametrize("model", [DPHistogram, DPMarginals])
def test_numbers_are_cut_into_ten_unless_something_else_is_said(model: Any, no_noise: None) -> None:
    frame = pl.DataFrame({"dose": [0.1, 0.9] * 10})
    fitted = model(1.0, bounds={"dose": (0.0, 1.0)}).fit(frame)
    assert [a.bins for a in fitted.axes_] == [10]


@given(hnp.arrays(np.int64, st.integers(1, 12), elements=st.integers(-20, 40)), st.integers(1, 120))
def test_shifted_counts_are_the_nearest_that_add_up(counts, total) -> None:
    found = shifted(counts, total)
    assert found.sum() == total
    assert (found >= 0).all()

    # Moving one row from any cell to any other never comes nearer to the counts.
    def apart(x):
        return ((x - counts) ** 2).sum()

    for i in range(len(counts)):
        for j in range(len(counts)):
            if i != j and found[i] > 0:
                other = found.copy()
                other[i] -= 1
                other[j] += 1
                assert apart(found) <= apart(other)


@pytest.mark.parametrize("model", BOTH)
def test_the_same_noisy_counts_and_seed_give_the_same_rows(model) -> None:
    fitted = model(2.0, bounds=BOUNDS, bins=3, random_state=4).fit(people(), target="ill")
    assert fitted.sample().equals(fitted.sample())
    again = model(2.0, bounds=BOUNDS, bins=3, random_state=4).fit(people(), target="ill")
    assert not np.array_equal(fitted.counts_, again.counts_)  # the noise has no seed
    fitted.random_state = 5
    assert not fitted.sample().equals(again.sample())


@pytest.mark.parametrize("model", BOTH)
def test_the_same_kind_of_table_comes_out_without_other_columns(model) -> None:
    frame = people()
    options = {"bounds": BOUNDS, "bins": 3}
    assert isinstance(model(2.0, **options).fit_sample(frame.to_pandas(), "ill"), pd.DataFrame)
    assert isinstance(model(2.0, **options).fit_sample(frame.to_arrow(), "ill"), pa.Table)
    named = frame.with_columns(name=pl.int_range(pl.len()).cast(pl.String), hiv=pl.lit("yes"))
    table = Table(named, Roles(target="ill", sensitive="hiv", identifiers=("name",)))
    drawn = model(2.0, **options).fit_sample(table)
    assert isinstance(drawn, Table)
    assert drawn.frame.schema == frame.schema
    assert drawn.target == "ill"


OTHERS: dict[str, Any] = {
    "fractions": {"age": pl.Float64},
    "texts": dict.fromkeys(["age", "dose", "job", "ill"], pl.String),
    "categories": {"job": pl.Enum(["astronaut", "cook", "judge"]), "ill": pl.Categorical},
}


@pytest.mark.parametrize("model", BOTH)
@pytest.mark.parametrize("types", OTHERS)
def test_the_types_of_a_frame_change_nothing_about_what_is_drawn(model, types) -> None:
    frame = people()
    row = pl.DataFrame({"age": [70], "dose": [0.123], "job": ["cook"], "ill": ["no"]})
    other = pl.concat([frame, row.cast(frame.schema)]).cast(OTHERS[types])
    found = []
    for data in (frame, other, other.select(sorted(other.columns))):
        fitted = model(4.0, bounds=BOUNDS, bins=2).fit(data, target="ill")
        found.append((list(fitted.sample().schema.items()), fitted.recipe_))
    assert found[0] == found[1] == found[2]
    assert [name for name, _ in found[0][0]] == list(BOUNDS)


@pytest.mark.parametrize("model", BOTH)
def test_what_was_spent_and_within_which_bounds_is_recorded(model) -> None:
    recipe = model(0.8, bounds=BOUNDS, bins=3).fit(people(), target="ill").recipe_
    assert recipe["epsilon"] == pytest.approx(0.8)
    assert recipe["delta"] == 0
    assert recipe["neighbours"] == "add-remove"
    assert recipe["bounds"]["age"] == [0, 99]
    assert recipe["bounds"]["job"] == ["cook", "judge", "nurse"]
    assert recipe["guarantee"] is True


def test_counting_the_rows_is_paid_for_where_their_number_is_not_public() -> None:
    def parts(**options) -> list[str]:
        model = DPPartition(1.0, bounds=BOUNDS, **options).fit(people(), target="ill")
        assert model.budget_.epsilon_spent == pytest.approx(1.0)
        return [s.what for s in model.budget_.spent]

    counted = ["counts of the grid", "counts of the boxes"]
    assert parts() == ["number of rows", *counted]
    assert parts(rows=600) == counted
    assert parts(bins=3) == counted
    assert parts(neighbours="substitute") == counted


@pytest.mark.parametrize("model", BOTH)
def test_bounds_from_the_data_are_refused_or_warned_of(model) -> None:
    frame = people()
    with pytest.raises(InputError, match="no public bounds for column 'job'"):
        model(1.0, bounds={c: BOUNDS[c] for c in ("age", "dose", "ill")}).fit(frame, target="ill")
    with pytest.warns(TamisWarning, match="NO DIFFERENTIAL PRIVACY.*'age'"):
        fitted = model(1.0, bounds_from_data=True).fit(frame, target="ill")
    assert fitted.recipe_["guarantee"] is False
    assert set(fitted.recipe_["bounds_from_data"]) == set(frame.columns)


def test_a_domain_that_is_too_large_is_refused_with_what_would_fit() -> None:
    wide = pl.DataFrame({f"x{i}": [True, False] for i in range(30)} | {"y": ["a", "b"]})
    bounds = {**{f"x{i}": {"type": "boolean"} for i in range(30)}, "y": ["a", "b"]}
    with pytest.raises(CannotMeet, match=r"30 features .* at most 17 of them fit"):
        DPHistogram(1.0, bounds=bounds).fit(wide, target="y")
    with pytest.raises(CannotMeet, match="at most 17 of them fit"):
        DPPartition(1.0, bounds=bounds, rows=2).fit(wide, target="y")


@pytest.mark.parametrize("missing", [(), ("a",), ("a", "b")])
def test_a_partition_fills_its_cells_and_no_more(missing: tuple[str, ...], no_noise: None) -> None:
    """A column that may be missing has one bin more, which must fit too."""
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"a": rng.random(4000), "b": rng.random(4000), "y": ["u", "v"] * 2000})
    bounds = {"a": (0.0, 1.0), "b": (0.0, 1.0), "y": ["u", "v"]}
    for most in (32, 72, 98, 200):
        options: dict[str, Any] = {"bounds": bounds, "missing": missing, "rows": 10**9}
        model = DPPartition(1.0, max_cells=most, **options).fit(frame, target="y")
        sides = [a.bins for a in model.axes_ if a.name != "y"]
        assert 2 * sides[0] * sides[1] <= most
        assert 2 * (max(sides) + 1) ** 2 > most  # with one bin more they would not fit


@pytest.mark.parametrize(("columns", "most", "sides"), [(2, 4, [2, 2]), (1, 50, [50])])
def test_the_least_partition_has_two_bins_and_one_column_may_have_all_cells(
    columns: int, most: int, sides: list[int], no_noise: None
) -> None:
    names = ["a", "b"][:columns]
    frame = pl.DataFrame({name: [0.1, 0.9] * 20 for name in names})
    options: dict[str, Any] = {"bounds": dict.fromkeys(names, (0.0, 1.0)), "rows": 10**9}
    fitted = DPPartition(1.0, max_cells=most, **options).fit(frame)
    assert [a.bins for a in fitted.axes_] == sides


def test_as_many_cells_as_allowed_are_counted_and_not_one_more() -> None:
    frame = pl.DataFrame({"a": ["u", "v", "w"] * 20, "y": ["n", "m"] * 30})
    options: dict[str, Any] = {"bounds": {"a": ["u", "v", "w"], "y": ["m", "n"]}}
    DPHistogram(1.0, max_cells=6, **options).fit(frame, target="y")
    with pytest.raises(CannotMeet, match="make 6 cells with the label, and at most 5"):
        DPHistogram(1.0, max_cells=5, **options).fit(frame, target="y")


@pytest.mark.parametrize("rows", [0, -1, 1.5, True, "many"])
def test_a_partition_takes_a_whole_number_of_rows(rows: Any) -> None:
    with pytest.raises(InputError, match="rows must be a whole number of at least 1"):
        DPPartition(1.0, bounds=BOUNDS, rows=rows).fit(people(), target="ill")


def test_a_partition_of_too_many_columns_warns() -> None:
    with pytest.warns(TamisWarning, match="most boxes will hold noise"):
        DPPartition(0.1, bounds=BOUNDS, rows=100).fit(people(100), target="ill")


def test_too_much_noise_for_any_row_is_an_error(monkeypatch) -> None:
    monkeypatch.setattr(histogram_module, "laplace", lambda counts, s, e: counts - 1000)
    model = DPHistogram(0.01, bounds=BOUNDS).fit(people(), target="ill")
    with pytest.raises(CannotMeet, match="left no rows"):
        model.sample()


@pytest.mark.parametrize("model", BOTH)
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"epsilon": 0}, "epsilon must be"),
        ({"epsilon": -1.0}, "epsilon must be"),
        ({"bins": 0}, "bins must be"),
        ({"neighbours": "twins"}, "neighbours must be one of"),
        ({"missing": "age"}, "got a single text"),
        ({"missing": ["height"]}, "not a column"),
        ({"bounds": {**BOUNDS, "height": (0, 3)}}, "not a column"),
        ({"bounds": {**BOUNDS, "age": (50, 20)}}, "rise from low to high"),
        ({"bounds": {**BOUNDS, "age": declared("integer", 20.2, 20.8)}}, "no whole number"),
        ({"bounds": {**BOUNDS, "age": declared("integer", 0, 1e30)}}, "too large for"),
        (
            {"bounds": {**BOUNDS, "age": declared("digits", 0, 9)}},
            "type of column 'age' must be one of",
        ),
        ({"bounds": {**BOUNDS, "age": {"type": "integer", "low": 3}}}, "must be two numbers"),
        ({"bounds": {**BOUNDS, "age": declared("integer", 0, 9, values=[1])}}, "has no entry"),
        ({"bounds": {**BOUNDS, "age": declared("integer", 0, 9, other=12)}}, "from low to high"),
        ({"bounds": {**BOUNDS, "age": declared("integer", 0, 9, missing=1)}}, "true or false"),
        ({"bounds": {**BOUNDS, "age": declared("number", 0, 9, decimals=-1)}}, "from 0 to 12"),
        ({"bounds": {**BOUNDS, "age": [1, 2, 3]}}, "must be texts, in quotes"),
        ({"bounds": {**BOUNDS, "ill": declared("number", 0, 9)}}, "needs classes"),
        ({"bounds": {**BOUNDS, "dose": (1.0, 1.0)}}, "rise from low to high"),
        ({"bounds": {**BOUNDS, "dose": "wide"}}, r"\(low, high\)"),
        ({"bounds": {**BOUNDS, "job": ["cook", "cook"]}}, "once each"),
        ({"bounds": {**BOUNDS, "job": ["5", "5.0"]}}, "once each"),
        ({"bounds": {**BOUNDS, "job": {"type": "category", "values": "cook"}}}, "must be a list"),
        ({"max_rows_per_person": 0}, "max_rows_per_person must be"),
        ({"max_rows_per_person": 3}, "needs to know whose row"),
    ],
)
def test_wrong_requests_are_refused_before_anything_is_spent(model, options, words) -> None:
    budget = Budget(1.0)
    given = {"epsilon": 1.0, "bounds": BOUNDS, "bins": 3, **options}
    with pytest.raises(InputError, match=words):
        model(**given).fit(people(), target="ill", budget=budget)
    assert not budget.spent


@pytest.mark.parametrize("model", BOTH)
def test_a_budget_is_shared_and_not_overspent(model) -> None:
    budget = Budget(1.0)
    model(0.6, bounds=BOUNDS, bins=2).fit(people(), target="ill", budget=budget)
    with pytest.raises(CannotMeet, match=r"0\.4 of 1 is left"):
        model(0.6, bounds=BOUNDS, bins=2).fit(people(), target="ill", budget=budget)
    assert budget.epsilon_spent == pytest.approx(0.6)


@pytest.mark.parametrize(
    "work",
    [
        lambda: DPHistogram(1.0, bounds=BOUNDS).fit(people(), target="ill"),
        lambda: DPPartition(1.0, bounds=BOUNDS).fit(people(), target="ill"),
        lambda: PrivateSelector(1).fit([[1, 0], [0, 1]], [0, 1]),
    ],
)
def test_without_opendp_the_message_names_the_extra(monkeypatch, work) -> None:
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    with pytest.raises(MissingExtra, match=r"pip install 'tamis\[dp\]'"):
        work()


def records(rows: int = 400):
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, rows)
    useful = np.column_stack([y ^ (rng.random(rows) < 0.1) for _ in range(3)])
    return from_matrix(np.column_stack([useful, rng.random((rows, 20)) < 0.05]), labels=list(y))


@pytest.mark.parametrize("mechanism", ["exponential", "laplace"])
def test_selected_records_find_the_useful_columns_with_half_of_the_budget(mechanism) -> None:
    drawn = private_records(records(4000), 3, 20.0, labels=["0", "1"], mechanism=mechanism)
    assert drawn.frame.columns == ["x0", "x1", "x2", "label"]
    assert drawn.frame.height == 4000
    assert [s["epsilon"] for s in drawn.recipe["spent"]] == [10.0, 10.0]
    assert drawn.recipe["neighbours"] == "substitute"
    assert drawn.recipe["guarantee"]
    agree = (drawn.frame["x0"].cast(pl.String) == drawn.frame["label"]).to_numpy()
    assert agree.mean() > 0.8


def test_labels_from_the_data_void_the_guarantee() -> None:
    with pytest.warns(TamisWarning, match="NO DIFFERENTIAL PRIVACY: the labels"):
        assert not private_records(records(), 3, epsilon=4.0).recipe["guarantee"]


def test_wrong_selections_are_refused() -> None:
    with pytest.raises(InputError, match="at most 17 features"):
        private_records(records(), 18, epsilon=1.0, counts="histogram")
    with pytest.raises(InputError, match="counts must be one of"):
        private_records(records(), 3, epsilon=1.0, counts="some")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="epsilon must be"):
        private_records(records(), 3, epsilon=0)
    with pytest.raises(InputError, match="a target of two labels"):
        private_records(records(), 3, epsilon=1.0, labels=["0", "1", "2"])
    with pytest.raises(InputError, match="classes must be the two labels"):
        PrivateSelector(1, classes=["a"]).fit([[1, 0], [0, 1]], [0, 1])
    with pytest.raises(InputError, match="ask for fewer"):
        PrivateSelector(9).fit([[1, 0], [0, 1]], [0, 1])
    with pytest.raises(InputError, match="mechanism must be one of"):
        PrivateSelector(1, mechanism="coin").fit([[1, 0], [0, 1]], [0, 1])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="at least 1"):
        PrivateSelector(0).fit([[1, 0], [0, 1]], [0, 1])


def test_the_noise_of_a_choice_is_that_of_its_picks_and_its_sensitivity(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []

    def noiseless(scores: Any, sensitivity: float, epsilon: float) -> Any:
        asked.append((sensitivity, epsilon))
        return scores

    monkeypatch.setattr(selector_module, "laplace", noiseless)
    assert chosen_places(np.array([4, 9, 1, 7]), 11, 0.5, 2, "laplace") == [1, 3]
    assert asked == [(2 * 2 * 11, 0.5)]  # each of two picks may move each of two scores by so much
    # The pairs that one row takes part in: of two rows one, of five four.
    for rows in (2, 5):
        table = zero_one([[1, 0]] * rows)
        assert hamming_scores(table, np.arange(rows) < 1)[1] == rows - 1


def test_as_many_columns_as_there_are_may_be_chosen_and_as_many_counted_as_have_cells(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert PrivateSelector(2).fit([[1, 0], [0, 1]], [0, 1]).support_.all()
    monkeypatch.setattr(selector_module, "MOST_TOGETHER", 2)
    ones = np.random.default_rng(0).integers(0, 2, (40, 3))
    records = from_matrix(ones, ["a", "b", "c"], ["no", "yes"] * 20)
    for features, counts in ((2, "counts of all cells"), (3, "counts of each column by label")):
        drawn = private_records(records, features, epsilon=9.0, labels=["no", "yes"])
        assert drawn.recipe["spent"][-1]["what"] == counts
        assert set(np.unique(drawn.frame.drop("label").to_numpy())) <= {0, 1}
    private_records(records, 2, epsilon=9.0, labels=["no", "yes"], counts="histogram")
    with pytest.raises(InputError, match="at most 2 features can be counted together"):
        private_records(records, 3, epsilon=9.0, labels=["no", "yes"], counts="histogram")
