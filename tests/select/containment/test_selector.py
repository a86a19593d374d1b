"""ContainmentSelector: the scikit-learn contract, the forms it takes, what it refuses."""

from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

from tamis.binary.matrix import zero_one
from tamis.errors import CannotMeet, InputError
from tamis.evaluate.separation import distcnt, hamdist
from tamis.risk.containment import containment_anonymity
from tamis.select.containment import ContainmentSelector
from tamis.select.containment.greedy import greedy
from tamis.select.containment.itemsets import maximal
from tests.long import daily

VALUES = "gives cells other than 0 and 1, which are refused"
REFUSED = {
    "check_dtype_object": VALUES,
    "check_estimators_overwrite_params": VALUES,
    "check_dont_overwrite_parameters": VALUES,
    "check_estimators_fit_returns_self": VALUES,
    "check_readonly_memmap_input": VALUES,
    "check_n_features_in_after_fitting": VALUES,
    "check_positive_only_tag_during_fit": VALUES,
    "check_estimators_dtypes": VALUES,
    "check_f_contiguous_array_estimator": VALUES,
    "check_transformer_data_not_an_array": VALUES,
    "check_transformer_general": VALUES,
    "check_transformer_preserve_dtypes": VALUES,
    "check_methods_sample_order_invariance": VALUES,
    "check_methods_subset_invariance": VALUES,
    "check_fit2d_1feature": VALUES,
    "check_dict_unchanged": VALUES,
    "check_fit_idempotent": VALUES,
    "check_fit_check_is_fitted": VALUES,
    "check_n_features_in": VALUES,
    "check_fit2d_predict1d": VALUES,
}


@pytest.mark.filterwarnings("ignore")
def test_contract_of_scikit_learn():
    """All checks in one test: to report expected failures one by one takes longer than they do."""
    found = check_estimator(
        ContainmentSelector(k=1), expected_failed_checks=REFUSED, on_skip=None, on_fail=None
    )
    assert [check["check_name"] for check in found if check["status"] == "failed"] == []
    assert {c["check_name"] for c in found if c["status"] == "xfail"} == set(REFUSED)
    assert "check_estimators_unfitted" in {
        c["check_name"] for c in found if c["status"] == "passed"
    }


class AnyNumbers(ContainmentSelector):
    """The same selector behind a door that makes any numbers 0 and 1, any classes two."""

    def _read(self, X, y, names):
        if hasattr(X, "tocsr"):
            X = X.tocsr() != 0
        else:
            X = np.asarray(X, dtype=float)
            X = np.where(np.isfinite(X), X.mean(axis=0) < X, X)
        y = np.asarray(y)
        return zero_one(X, names), super()._read([[0], [1]], y == y[0], [])[1]


@parametrize_with_checks([AnyNumbers(k=1)], expected_failed_checks=lambda _: {})
def test_contract_of_scikit_learn_past_the_door(estimator, check):
    check(estimator)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    y = rng.random(200) < 0.4
    X = rng.random((200, 12)) < np.where(y[:, None], 0.5, 0.2)
    return X.astype(int), y


FORMS = [
    np.asarray,
    lambda X: X.astype(bool),
    lambda X: X.astype(float),
    sparse.csr_array,
    sparse.csr_matrix,
    sparse.csc_array,
    sparse.coo_array,
    pd.DataFrame,
    pl.DataFrame,
]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_choice(form, data):
    X, y = data
    selector = ContainmentSelector(k=4, utility="hamdist").fit(form(X), y)
    found = greedy(X, y, 4, utility="hamdist")
    assert selector.selection_ == found
    assert selector.anonymity_ == containment_anonymity(X[:, selector.support_]) >= 4
    assert selector.utility_ == found.utility
    assert selector.bound_ is None
    released = selector.transform(form(X))
    assert released.shape == (200, len(found.features))
    assert type(released) is (np.ndarray if hasattr(form(X), "columns") else type(released))


def test_names_of_a_frame_come_out(data):
    X, y = data
    frame = pd.DataFrame(X, columns=[f"word{i}" for i in range(12)])
    selector = ContainmentSelector(k=4).fit(frame, np.where(y, "spam", "ham"))
    names = selector.get_feature_names_out()
    assert set(names) == set(frame.columns[selector.support_])
    assert selector.classes_.tolist() == ["ham", "spam"]
    assert list(selector.set_output(transform="pandas").transform(frame).columns) == list(names)


def test_extending_adds_what_still_fits(data):
    X, y = data
    X = np.hstack([X[:, :3], X[:, :3], X])
    short = ContainmentSelector(k=4, extend=False).fit(X, y).selection_
    long = ContainmentSelector(k=4).fit(X, y).selection_
    assert long.steps[: len(short.steps)] == short.steps
    assert len(long.features) > len(short.features)
    assert long.utility == short.utility
    assert len(set(long.features)) == len(long.features)
    assert containment_anonymity(X[:, long.features]) == long.anonymity >= 4


@pytest.mark.parametrize("utility", ["likelihood", "auc", "cm"])
def test_extending_other_utilities(utility, data):
    X, y = data
    short = ContainmentSelector(k=4, utility=utility, extend=False).fit(X, y).selection_
    long = ContainmentSelector(k=4, utility=utility).fit(X, y).selection_
    assert long.steps[: len(short.steps)] == short.steps
    assert long.anonymity == containment_anonymity(X[:, long.features]) >= 4


def test_stop_is_the_papers_and_is_not_extended(data):
    X, y = data
    stopped = ContainmentSelector(k=4, on_violation="stop").fit(X, y)
    assert stopped.selection_ == greedy(X, y, 4, on_violation="stop")


def test_in_a_pipeline(data):
    X, y = data
    pipeline = make_pipeline(ContainmentSelector(k=4), LogisticRegression()).fit(X, y)
    assert pipeline.score(X, y) > 0.7
    assert clone(pipeline[0]).get_params()["k"] == 4


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.array([[0, 3], [1, 1]]), [0, 1], "only 0 and 1.*columns with other values: '1'"),
        (np.array([[0, np.nan], [1, 1]]), [0, 1], "columns with NaN: '1'"),
        (np.array([[0, np.inf], [1, 1]]), [0, 1], "columns with inf: '1'"),
        (np.eye(3), [1, 1, 1], "got 1 class"),
        (pd.DataFrame({"age": [30, 40]}), [0, 1], "'age'"),
    ],
)
def test_what_is_refused(X, y, message):
    with pytest.raises(InputError, match=message):
        ContainmentSelector(k=1).fit(X, y)


@pytest.mark.parametrize("k", [0, -3, 2.5])
def test_k_below_one_is_refused(k, data):
    with pytest.raises(InputError, match="whole number of at least 1"):
        ContainmentSelector(k=k).fit(*data)


def test_k_beyond_the_rows_cannot_be_met(data):
    with pytest.raises(CannotMeet, match="k of at most 200"):
        ContainmentSelector(k=201).fit(*data)


def test_where_nothing_fits_the_best_k_is_named():
    X = np.zeros((10, 2), int)
    X[:3, 0] = X[:2, 1] = 1
    with pytest.raises(CannotMeet, match="largest k that any single feature allows is 3"):
        ContainmentSelector(k=4).fit(X, [0, 1] * 5)
    with pytest.raises(CannotMeet, match="every column is constant"):
        ContainmentSelector(k=4).fit(np.ones((10, 2)), [0, 1] * 5)
    X[:, 0] = [1, 1, 1, 1, 0, 0, 0, 0, 0, 0]
    y = [1, 1, 0, 0, 0, 0, 0, 0, 0, 0]
    with pytest.raises(CannotMeet, match="on_violation='skip'"):
        ContainmentSelector(3, utility="difference", on_violation="stop").fit(X, y)


def test_where_features_fit_but_none_is_of_use_it_is_said():
    X = np.ones((4, 2), int)
    X[2, 1] = 0
    with pytest.raises(CannotMeet, match="none adds to the utility 'auc'"):
        ContainmentSelector(1, utility="auc").fit(X, [1, 0, 1, 0])


def test_an_unknown_search_is_named(data):
    with pytest.raises(InputError, match="greedy, maximal, improve, exact, got 'magic'"):
        ContainmentSelector(search="magic").fit(*data)


@pytest.mark.parametrize(
    ("utility", "search"),
    daily(
        product(["hamdist", "distcnt"], ["maximal", "improve", "exact"]),
        ("hamdist", "exact"),
        ("hamdist", "improve"),
        ("distcnt", "improve"),
        ("distcnt", "maximal"),
    ),
)
def test_every_search_keeps_k_and_gives_its_utility(search, utility, data):
    X, y = data
    selector = ContainmentSelector(4, utility=utility, search=search, time_limit=20).fit(X, y)
    found = selector.selection_
    assert containment_anonymity(X[:, found.features]) == selector.anonymity_ >= 4
    measure = {"hamdist": hamdist, "distcnt": distcnt}[utility]
    assert selector.utility_ == pytest.approx(measure(X, y, found.features))
    best_greedy = greedy(X, y, 4, utility=utility).utility
    if search != "maximal":
        assert selector.utility_ >= best_greedy - 1e-9
    if search == "exact":
        assert selector.bound_ is not None
        assert selector.bound_ >= selector.utility_


def test_the_papers_maximal_is_not_extended():
    X = np.repeat([[1, 1, 0], [0, 0, 1], [0, 0, 0]], 4, axis=0)
    y = [1, 1, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0]
    short = ContainmentSelector(4, search="maximal", extend=False).fit(X, y)
    assert short.support_.tolist() == [True, True, False]
    long = ContainmentSelector(4, search="maximal").fit(X, y)
    assert long.support_.tolist() == [True, True, True]


def test_searches_that_know_less_say_so(data):
    with pytest.raises(InputError, match="the utility 'hamdist', 'distcnt', got 'auc'"):
        ContainmentSelector(search="exact", utility="auc").fit(*data)
    with pytest.raises(InputError, match="privacy='containment', got 'equality'"):
        ContainmentSelector(search="improve", privacy="equality").fit(*data)


@pytest.mark.parametrize("utility", ["hamdist", "distcnt", "cm"])
def test_the_preset_is_the_printed_greedy(utility, data):
    X, y = data
    differ = 0
    for k in range(2, 9):
        found = ContainmentSelector(k=k, utility=utility, preset="paper").fit(X, y)
        assert found.selection_ == greedy(X, y, k, utility=utility, on_violation="stop")
        further = ContainmentSelector(k=k, utility=utility).fit(X, y)
        differ += found.selection_.features != further.selection_.features
    assert differ


def test_the_preset_is_the_printed_maximal(data):
    X, y = data
    found = ContainmentSelector(k=5, utility="cm", search="maximal", preset="paper").fit(X, y)
    assert found.selection_ == maximal(X, y, 5, utility="cm", largest=20, extend=False)


@pytest.mark.parametrize(
    "given", [{"search": "exact"}, {"utility": "information"}, {"preset": "mine"}]
)
def test_a_preset_takes_what_the_paper_has(given, data):
    with pytest.raises(InputError, match="preset"):
        ContainmentSelector(preset="paper").set_params(**given).fit(*data)


def test_exact_hides_among_equals_too(data):
    X, y = data
    selector = ContainmentSelector(k=5, utility="hamdist", privacy="equality")
    best = clone(selector).set_params(search="exact").fit(X, y)
    near = clone(selector).fit(X, y)
    assert best.bound_ == best.utility_ >= near.utility_
    assert np.unique(X[:, best.support_], axis=0, return_counts=True)[1].min() == best.anonymity_
    people = np.arange(len(X)) // 2
    shared = clone(best).fit(X, y, people=people)
    assert shared.unit_ == "people"
    assert shared.anonymity_ >= 5
