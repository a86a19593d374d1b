"""A release does each thing once: columns are coded, models fitted and asked, searches run once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from tamis import Settings, consider
from tamis.analyse.examination import examine
from tamis.binary.records import from_matrix
from tamis.datasets import patients
from tamis.errors import InputError
from tamis.learn.bayes import AdditiveNaiveBayes
from tamis.learn.c45 import C45Classifier
from tamis.learn.columns import Column, Feature
from tamis.learn.subset_scores import SubsetScores
from tamis.outcome import Outcome
from tamis.people import People
from tamis.select.containment.greedy import GreedySearch
from tamis.select.containment.source import ColumnSource
from tamis.select.front import search_front

CODED = ("fit", "fit_coded", "predict", "predict_proba", "predict_coded")
MODELS = {
    C45Classifier: (*CODED, "predict_with_proba_coded"),
    AdditiveNaiveBayes: (*CODED, "predict_with_proba_coded"),
    LogisticRegression: ("fit", "predict", "predict_proba"),
    HistGradientBoostingClassifier: ("predict", "predict_proba"),
}
"""Methods that fit, or that pass over rows."""
QUICK: dict[str, dict[str, Any]] = {
    "breach": {"search": "walk", "folds": 3, "most": 3},
    "containment": {"ks": [5, 20], "utilities": ["difference", "distcnt"]},
}


@dataclass
class Calls:
    """How often each watched method was called."""

    patch: pytest.MonkeyPatch
    count: Counter[str] = field(default_factory=Counter)

    def watch(self, owner: type, name: str) -> None:
        plain: Callable[..., Any] = getattr(owner, name)

        def watched(*args: Any, **options: Any) -> Any:
            self.count[f"{owner.__name__}.{name}"] += 1
            return plain(*args, **options)

        bound = hasattr(plain, "__self__")  # a class method
        self.patch.setattr(owner, name, staticmethod(watched) if bound else watched)

    def __getitem__(self, name: str) -> int:
        return self.count[name]


@dataclass
class Found:
    outcome: Outcome
    calls: Calls
    coded: Counter[int]
    at_first: int
    """Attackers that were fitted before anybody asked for all figures."""


@pytest.fixture(scope="module")
def found() -> Iterator[Found]:
    with pytest.MonkeyPatch.context() as patch:
        calls, coded = Calls(patch), Counter[int]()
        for model, names in MODELS.items():
            for name in names:
                calls.watch(model, name)
        calls.watch(GreedySearch, "__init__")
        calls.watch(GreedySearch, "of")
        calls.watch(ColumnSource, "of")
        calls.watch(SubsetScores, "__init__")
        made = Feature.__dict__["column"].func
        kept: list[Feature] = []  # so that no two have the same id

        def watched(feature: Feature) -> Column:
            kept.append(feature)
            coded[id(feature)] += 1
            column: Column = made(feature)
            return column

        patch.setattr(Feature.__dict__["column"], "func", watched)
        settings = Settings(methods=QUICK, attackers=("c45", "nb", "boosting", "logistic"))
        outcome = consider(patients(rows=300), settings)
        at_first = calls["LogisticRegression.fit"]
        outcome.decision.scorecard.to_dict()
        yield Found(outcome, calls, coded, at_first)


def judged(found: Found) -> int:
    """Releases that models learn from, with everything; nothing teaches nothing."""
    return len(found.outcome.decision.scorecard.rows)


@pytest.mark.parametrize("model", [C45Classifier, AdditiveNaiveBayes])
def test_our_models_are_fitted_once_and_asked_once_for_each_release(found, model):
    # Naive Bayes is what the recipient learns and one of the attackers.
    times = judged(found) * (2 if model is AdditiveNaiveBayes else 1)
    name = model.__name__
    assert found.calls[f"{name}.fit_coded"] == times
    assert found.calls[f"{name}.predict_with_proba_coded"] == times
    for other in ("fit", "predict", "predict_proba", "predict_coded"):
        assert found.calls[f"{name}.{other}"] == 0


@pytest.mark.parametrize("model", [LogisticRegression, HistGradientBoostingClassifier])
def test_other_models_give_labels_and_probabilities_at_once(found, model):
    assert found.calls[f"{model.__name__}.predict_proba"] == judged(found)
    assert found.calls[f"{model.__name__}.predict"] == 0
    if model is LogisticRegression:
        assert found.calls["LogisticRegression.fit"] == judged(found)


def test_a_choice_by_kept_and_told_fits_no_attacker(found):
    assert found.outcome.decision.by == "value"
    assert not found.outcome.decision.is_ranked
    assert found.at_first == 0


def test_a_column_becomes_numbers_once(found):
    assert set(found.coded.values()) == {1}
    outcome = found.outcome
    releases = [row.release for row in outcome.decision.scorecard.rows]
    own = {f for r in releases for f in r.features if f not in outcome.table.features}
    # The search codes the rows it may see, the evaluator all rows.
    columns = 2 * len(outcome.table.features)
    assert columns <= len(found.coded) <= columns + 2 * len(own)


def test_a_greedy_search_counts_the_table_once_and_runs_once_for_each_k_and_utility(found):
    assert found.calls["GreedySearch.__init__"] == found.calls["ColumnSource.of"] == 1
    assert found.calls["GreedySearch.of"] == 2 * 2


def test_naive_bayes_scores_are_built_once_for_each_column_to_guess(found):
    assert found.calls["SubsetScores.__init__"] == 2  # the target and the sensitive column
    examine(found.outcome, attacks=False)
    assert found.calls["SubsetScores.__init__"] <= 4  # the same, on the folds of the report


def test_whole_columns_are_searched_once_for_all_methods(monkeypatch):
    runs = []

    def searched(*args: Any, **options: Any) -> Any:
        runs.append(options["budget"])
        return search_front(*args, **options)

    monkeypatch.setattr("tamis.propose.unaltered.search_front", searched)
    chosen = Settings(methods={"front": {}, "coarsen": {}}, attackers=("nb",))
    found = consider(patients(rows=300), chosen).proposals
    assert [report.applied for report in found.method_reports] == [True, True]
    assert len(runs) == 1


def test_records_in_which_people_have_several_rows_are_refused():
    records = from_matrix([[1, 0], [0, 1]] * 20, labels=[0, 1] * 20)
    with pytest.raises(InputError, match="k must count people"):
        consider(replace(records, people=People.of(np.arange(40) // 2)))
    with pytest.raises(InputError, match="needs a target"):
        consider(replace(records, labels=None))
