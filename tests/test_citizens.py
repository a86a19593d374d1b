"""Estimators among those of scikit-learn: its contract, routing, names, output, copies, frames."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils.estimator_checks import check_estimator

import tamis
from tamis import (
    AdditiveNaiveBayes,
    BreachSelector,
    C45Classifier,
    Coarsener,
    ContainmentSelector,
    DPHistogram,
    DPMarginals,
    DPPartition,
    DPSynthesiser,
    GaussianNoise,
    LocalSuppression,
    Microaggregation,
    Pram,
    PrivateSelector,
    RandomFlip,
    RankSwap,
    ShiftedDates,
    UniformNoise,
)
from tamis.learn.boosted_trees import BoostedTrees

VALUES = "gives cells other than 0 and 1, which are refused"
ARRAYS = "gives an array; levels are of columns that have names, so a frame is needed"
ROWS = "has no fit: cells are altered in the rows that it is given, and in no others"
TEXTS = "gives numbers; categories are altered, and which columns hold them has to be said"
DATES = "gives numbers; dates are moved, which arrays do not hold"
NAMES = "gives an array; bounds are of columns that have names, so a frame is needed"

COMMON = (
    "check_estimators_overwrite_params",
    "check_dont_overwrite_parameters",
    "check_estimators_fit_returns_self",
    "check_readonly_memmap_input",
    "check_n_features_in_after_fitting",
    "check_positive_only_tag_during_fit",
    "check_estimators_dtypes",
    "check_dtype_object",
    "check_estimators_nan_inf",
    "check_estimators_pickle",
    "check_f_contiguous_array_estimator",
    "check_fit2d_1sample",
    "check_fit2d_1feature",
    "check_dict_unchanged",
    "check_fit_idempotent",
    "check_fit_check_is_fitted",
    "check_n_features_in",
    "check_fit2d_predict1d",
)
TRANSFORMS = (
    "check_fit_score_takes_y",
    "check_transformer_data_not_an_array",
    "check_transformer_general",
    "check_transformer_preserve_dtypes",
)
SPARSE = (
    "check_estimator_sparse_tag",
    "check_estimator_sparse_array",
    "check_estimator_sparse_matrix",
)
EMPTY = ("check_complex_data", "check_estimators_empty_data_messages")
INVARIANT = ("check_methods_sample_order_invariance", "check_methods_subset_invariance")
NAN = {"check_estimators_nan_inf"}  # is not run where missing values are allowed
NO_FIT = (*COMMON, *SPARSE, *EMPTY, "check_fit1d")
PRIVATE = dict.fromkeys(
    (*COMMON, *EMPTY, *INVARIANT, "check_fit_score_takes_y", "check_pipeline_consistency"), NAMES
)
REFUSED: dict[type, dict[str, str]] = {
    PrivateSelector: dict.fromkeys((*COMMON, *TRANSFORMS, *SPARSE), VALUES),
    Coarsener: dict.fromkeys(
        (*COMMON, *TRANSFORMS, *EMPTY, *INVARIANT, "check_pipeline_consistency"), ARRAYS
    ),
    RandomFlip: dict.fromkeys((*NO_FIT, "check_fit_score_takes_y"), ROWS),
    Microaggregation: dict.fromkeys((*NO_FIT, *INVARIANT, "check_pipeline_consistency"), ROWS),
    LocalSuppression: dict.fromkeys((*NO_FIT, *INVARIANT, "check_pipeline_consistency"), ROWS),
    RankSwap: dict.fromkeys(set(NO_FIT) - NAN, ROWS),
    ShiftedDates: dict.fromkeys({*NO_FIT, "check_fit_score_takes_y"} - NAN, DATES),
    Pram: dict.fromkeys(set(COMMON) - NAN | set(TRANSFORMS), TEXTS),
    **dict.fromkeys((DPHistogram, DPMarginals, DPPartition, DPSynthesiser), PRIVATE),
}
"""What an estimator does not do, and why."""
CHECKED = [
    AdditiveNaiveBayes(),
    BoostedTrees(),
    Coarsener(k=2),
    DPHistogram(),
    DPMarginals(),
    DPPartition(),
    DPSynthesiser(),
    GaussianNoise(),
    LocalSuppression(2),
    Microaggregation(2),
    Pram(),
    PrivateSelector(1),
    RandomFlip(),
    RankSwap(),
    ShiftedDates(),
    UniformNoise(),
]
ALWAYS = {
    "check_estimator_cloneable",
    "check_valid_tag_types",
    "check_estimator_repr",
    "check_no_attributes_set_in_init",
    "check_estimators_unfitted",
    "check_parameters_default_constructible",
    "check_get_params_invariance",
    "check_set_params",
}
"""What no estimator may be excused from."""
ELSEWHERE = {BreachSelector, C45Classifier, ContainmentSelector}
"""Those that are checked beside their other tests."""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", CHECKED, ids=lambda e: type(e).__name__)
def test_contract_of_scikit_learn(estimator):
    """One test for each estimator: to report hundreds of expected failures takes a minute."""
    refused = REFUSED.get(type(estimator), {})
    found = check_estimator(
        estimator, expected_failed_checks=refused, on_skip=None, on_fail=None, callback=None
    )
    failed = {c["check_name"]: c["exception"] for c in found if c["status"] == "failed"}
    assert not failed
    assert {c["check_name"] for c in found if c["status"] == "xfail"} == set(refused)
    assert {c["check_name"] for c in found if c["status"] == "passed"} >= ALWAYS


BOUNDS: Any = {"bounds": {"a": ["x", "y"]}}
CITIZENS = [
    AdditiveNaiveBayes(precision="data"),
    BreachSelector(AdditiveNaiveBayes(), weights="privacy=1", cv=3),
    C45Classifier(),
    Coarsener(k=3, ladders={"age": {"width": [10]}}),
    ContainmentSelector(k=3, utility="hamdist"),
    DPHistogram(epsilon=2.0, **BOUNDS),
    DPPartition(epsilon=2.0, **BOUNDS),
    DPSynthesiser(epsilon=2.0, **BOUNDS),
    DPMarginals(epsilon=2.0, **BOUNDS),
    GaussianNoise(0.3, random_state=4),
    LocalSuppression(3, missing="anything"),
    Microaggregation(4),
    Pram(0.2, random_state=5),
    PrivateSelector(3, epsilon=2.0),
    RandomFlip(7, random_state=3),
    RankSwap(0.1, random_state=6),
    ShiftedDates(30, random_state=7),
    UniformNoise(0.3, columns=["age"]),
]


def test_every_estimator_is_tested_here():
    every = {getattr(tamis, name) for name in tamis.__all__}
    found = {c for c in every if isinstance(c, type) and issubclass(c, BaseEstimator)}
    assert found == {type(estimator) for estimator in CITIZENS}
    assert found == {type(estimator) for estimator in CHECKED} - {BoostedTrees} | ELSEWHERE


@pytest.mark.parametrize("estimator", CITIZENS, ids=lambda e: type(e).__name__)
def test_copies_have_the_same_parameters(estimator):
    told = repr(estimator.get_params())
    for copy in (clone(estimator), pickle.loads(pickle.dumps(estimator))):
        assert type(copy) is type(estimator)
        assert repr(copy.get_params()) == told
    assert type(estimator).__name__ in repr(estimator)


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(3)
    ill = rng.random(120) < 0.5
    smokes = rng.random(120) < 0.4
    frame = pl.DataFrame(
        {
            "age": rng.integers(30, 40, 120) + 8 * ill,
            "job": np.where(rng.random(120) < 0.2 + 0.6 * smokes, "cook", "judge"),
            "dose": rng.integers(0, 3, 120) + ill,
        }
    )
    return frame, np.where(ill, "yes", "no"), np.where(smokes, "smokes", "not")


LIBRARIES = {
    "polars": (pl.DataFrame, lambda frame: frame),
    "pandas": (pd.DataFrame, lambda frame: frame.to_pandas()),
    "pyarrow": (pa.Table, lambda frame: frame.to_arrow()),
}


def back(frame: Any) -> pl.DataFrame:
    if isinstance(frame, pl.DataFrame):
        return frame
    return pl.DataFrame(frame if isinstance(frame, pa.Table) else pl.from_pandas(frame))


TRANSFORMERS = [
    UniformNoise(0.5, random_state=0),
    GaussianNoise(0.5, random_state=0),
    Pram(0.5, random_state=0),
    Coarsener(k=10),
]


@pytest.mark.parametrize("transformer", TRANSFORMERS, ids=lambda t: type(t).__name__)
@pytest.mark.parametrize("library", LIBRARIES)
def test_every_library_goes_in_and_every_asked_one_comes_out(transformer, library, people):
    kind, into = LIBRARIES[library]
    given = into(people[0])
    wanted = clone(transformer).fit_transform(people[0])
    out = clone(transformer).fit(given).transform(given)
    assert isinstance(out, kind)
    assert_frame_equal(back(out), wanted, check_dtypes=library != "pandas")
    for asked in ("pandas", "polars"):
        asking = clone(transformer).set_output(transform=asked)
        answer = asking.fit(given).transform(given)
        assert isinstance(answer, LIBRARIES[asked][0])
        assert_frame_equal(back(answer), wanted, check_dtypes=False)
        assert list(asking.get_feature_names_out()) == people[0].columns
    with config_context(transform_output="pandas"):
        assert isinstance(clone(transformer).fit(given).transform(given), pd.DataFrame)


ALTERING = [Microaggregation(4), LocalSuppression(4), RankSwap(0.2, random_state=0)]


@pytest.mark.parametrize("altering", ALTERING, ids=lambda a: type(a).__name__)
@pytest.mark.parametrize("library", LIBRARIES)
def test_what_alters_rows_answers_in_kind_and_leaves_its_input_alone(altering, library, people):
    kind, into = LIBRARIES[library]
    before, given = into(people[0]), into(people[0])
    params = altering.get_params()
    out = altering.fit_transform(given)
    assert isinstance(out, kind)
    wanted = clone(altering).fit_transform(people[0])
    assert_frame_equal(back(out), wanted, check_dtypes=library != "pandas")
    assert not wanted.equals(people[0])
    assert_frame_equal(back(given), back(before))
    assert altering.get_params() == params


@pytest.mark.parametrize("altering", [*ALTERING, RandomFlip(2)], ids=lambda a: type(a).__name__)
@pytest.mark.parametrize(
    "given",
    [np.ones((4, 2)) * 1j, np.arange(4.0), np.ones((0, 3)), np.ones((12, 0)), np.ones((2, 2, 2))],
    ids=["complex", "one dimension", "no rows", "no columns", "three dimensions"],
)
def test_what_is_no_table_is_refused(altering, given):
    with pytest.raises(ValueError, match=r"Complex|dimensions|0 rows|numbers|constant|minimum"):
        clone(altering).fit_transform(given)


@pytest.mark.parametrize("transformer", TRANSFORMERS, ids=lambda t: type(t).__name__)
def test_a_fitted_one_can_be_stored(transformer, people):
    fitted = clone(transformer).fit(people[0])
    stored = pickle.loads(pickle.dumps(fitted))
    assert_frame_equal(stored.transform(people[0]), fitted.transform(people[0]))


@pytest.mark.parametrize("library", LIBRARIES)
def test_selectors_name_what_they_keep(library, people):
    into = LIBRARIES[library][1]
    frame, ill, smokes = people
    selector = BreachSelector(AdditiveNaiveBayes(), cv=3, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector.fit(into(frame), ill, sensitive=smokes)
    names = list(selector.get_feature_names_out())
    assert names == list(selector.best_.features)
    stored = pickle.loads(pickle.dumps(selector))
    assert list(stored.get_feature_names_out()) == names
    ones = frame.select((pl.all().rank("dense") > 1).cast(pl.Int8))
    chosen = ContainmentSelector(k=3).fit(into(ones), ill)
    assert set(chosen.get_feature_names_out()) <= set(frame.columns)


def test_the_sensitive_column_goes_through_pipelines_and_searches(people):
    frame, ill, smokes = people
    numbers = frame.with_columns(pl.col("job").rank("dense").cast(pl.Int64)).to_numpy()
    seen: list[Any] = []

    class Watched(BreachSelector):
        def fit(self, X: Any, y: Any, sensitive: Any = None, groups: Any = None) -> Any:
            seen.append((len(y), sensitive))
            return super().fit(X, y, sensitive, groups)

    with config_context(enable_metadata_routing=True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector = Watched(AdditiveNaiveBayes(), cv=2).set_fit_request(sensitive=True)
        steps = Pipeline([("choose", selector), ("learn", AdditiveNaiveBayes())])
        steps.fit(numbers, ill, sensitive=smokes)
        search = GridSearchCV(steps, {"choose__weights": ["privacy=1", "performance=1"]}, cv=2)
        search.fit(numbers, ill, sensitive=smokes)
    assert len(seen) == 1 + 2 * 2 + 1
    assert all(sensitive is not None and len(sensitive) == rows for rows, sensitive in seen)
    assert {len(sensitive) for _, sensitive in seen} == {60, 120}
    assert set(seen[0][1]) == {"smokes", "not"}
    assert search.best_params_["choose__weights"] in ("privacy=1", "performance=1")


def test_who_does_not_ask_for_the_sensitive_column_is_told_so(people):
    frame, ill, smokes = people
    numbers = frame.select("age", "dose").to_numpy()
    with config_context(enable_metadata_routing=True):
        steps = Pipeline([("choose", BreachSelector(AdditiveNaiveBayes(), cv=2))])
        with pytest.raises(ValueError, match="sensitive"):
            steps.fit(numbers, ill, sensitive=smokes)


def test_selectors_draw_what_they_chose(people):
    frame, ill, smokes = people
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector = BreachSelector(AdditiveNaiveBayes(), cv=2, random_state=0)
        drawn = selector.fit(frame, ill, sensitive=smokes).plot("smokes")._repr_svg_()
    assert drawn.startswith("<svg")
    assert "smokes" in drawn
    ones = frame.select((pl.all().rank("dense") > 1).cast(pl.Int8))
    greedy = ContainmentSelector(k=3).fit(ones, ill)
    assert "rows that have everything a row has" in greedy.plot()._repr_svg_()
    counted = ContainmentSelector(k=3).fit(ones, ill, people=np.arange(120) // 2)
    assert "people who have everything a person has" in counted.plot()._repr_svg_()
    for search in ("maximal", "improve", "exact"):
        best = ContainmentSelector(k=3, search=search).fit(ones, ill)
        assert len(best.selection_.steps) == best.support_.sum()  # which are what is drawn
