from __future__ import annotations

import pickle
from itertools import combinations

import joblib
import numpy as np
import polars as pl
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score, make_scorer, roc_auc_score
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier

from tamis.errors import InputError
from tamis.learn.bayes import AdditiveNaiveBayes
from tamis.learn.c45 import C45Classifier
from tamis.learn.cv import Folds
from tamis.learn.models import fits_coded
from tamis.learn.subset_scores import SubsetFits, SubsetScores
from tamis.table import Roles, Table


class Refitted(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Naive Bayes in a coat: it is fitted again for every subset and fold."""

    def fit(self, X, y):
        assert isinstance(X, pl.DataFrame)
        self.inner_ = AdditiveNaiveBayes().fit(X, y)
        self.classes_ = self.inner_.classes_
        return self

    def predict(self, X):
        return self.inner_.predict(X)

    def predict_proba(self, X):
        return self.inner_.predict_proba(X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags = AdditiveNaiveBayes().__sklearn_tags__().input_tags
        return tags


def people(rows: int = 90, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    ill = rng.random(rows) < 0.4
    frame = pl.DataFrame(
        {
            "age": (rng.normal(50, 9, rows) + 9 * ill).round(),
            "job": rng.choice(["cook", "judge", "nurse"], rows),
            "smokes": rng.random(rows) < 0.3 + 0.4 * ill,
            "pulse": rng.normal(70, 8, rows).round(1),
        }
    )
    holes = pl.Series(rng.random(rows) < 0.1)
    ill_text = pl.Series("ill", np.where(ill, "yes", "no"))
    return frame.with_columns(pl.when(~holes).then(pl.all())).with_columns(ill_text)


FEATURES = ("age", "job", "smokes", "pulse")
SUBSETS = [s for size in range(5) for s in combinations(FEATURES, size)]


def auc(estimator, X, y):
    return roc_auc_score(y == "yes", estimator.predict_proba(X)[:, 1])


@pytest.mark.parametrize("scoring", ["accuracy", auc, make_scorer(f1_score, pos_label="yes")])
def test_adding_up_gives_the_scores_of_fitting(scoring):
    folds = Folds.stratified(people()["ill"], 3, random_state=1)
    added = SubsetScores(people(), AdditiveNaiveBayes(), target="ill", cv=folds, scoring=scoring)
    fitted = SubsetScores(people(), Refitted(), target="ill", cv=folds, scoring=scoring)
    some = SUBSETS[1:]  # the empty set has other probabilities: smoothed there, plain here
    assert added.many(some) == fitted.many(some)
    assert added.of([]).correct == fitted.of([]).correct
    assert added.drop_ones() == fitted.drop_ones()
    assert added.drop_ones(["age", "job"]) == fitted.drop_ones(["age", "job"])
    assert added.add_ones(["age"]) == fitted.add_ones(["age"])
    np.testing.assert_array_equal(added.all_subsets(), fitted.all_subsets())
    np.testing.assert_array_equal(
        added.all_subsets(["job", "pulse"]), fitted.all_subsets(["pulse", "job"])
    )


def test_all_subsets_are_numbered_by_their_bits():
    scores = SubsetScores(people(), AdditiveNaiveBayes(), target="ill", cv=3)
    walked = scores.all_subsets()
    for mask in range(16):
        subset = [f for bit, f in enumerate(FEATURES) if mask >> bit & 1]
        assert tuple(walked[mask]) == scores.of(subset).correct


def test_numbers_pass_to_scikit_learn_as_they_are():
    frame = people().drop_nulls()
    folds = Folds.stratified(frame["ill"], 4)
    tree = DecisionTreeClassifier(random_state=0, max_depth=3)
    scores = SubsetScores(frame, tree, target="ill", cv=folds)
    splits = [(folds.train(f), test) for f, test in enumerate(folds.tests)]
    expected = cross_val_score(
        tree, frame["age", "pulse"].to_numpy(), frame["ill"].to_numpy(), cv=splits
    )
    np.testing.assert_array_equal(scores.of(["pulse", "age"]).scores, expected)


@pytest.mark.parametrize("encode", ["auto", "ordinal"])
def test_any_classifier_takes_nominal_and_missing_values(encode):
    model = LogisticRegression(max_iter=1000)
    scores = SubsetScores(people(), model, target="ill", cv=3, encode=encode)
    assert scores.of(FEATURES).mean > scores.of([]).mean


def test_a_pipeline_may_encode_by_itself():
    model = make_pipeline(OrdinalEncoder(encoded_missing_value=-1), DecisionTreeClassifier())
    scores = SubsetScores(people(), model, target="ill", cv=3, encode="none")
    assert len(scores.of(["job"]).scores) == 3


def test_the_empty_set_predicts_the_majority_of_the_training_rows():
    frame = people()
    folds = Folds.predefined(np.arange(90) % 3)
    y = frame["ill"].to_numpy()
    expected = []
    for fold, test in enumerate(folds.tests):
        labels, counts = np.unique(y[folds.train(fold)], return_counts=True)
        expected.append(int((y[test] == labels[counts.argmax()]).sum()))
    for model in (AdditiveNaiveBayes(), DecisionTreeClassifier()):
        scores = SubsetScores(frame, model, target="ill", cv=folds)
        assert scores.of([]).correct == tuple(expected)


def test_the_number_of_workers_changes_nothing():
    results = []
    for n_jobs in (1, 2, 3):
        forest = RandomForestClassifier(n_estimators=2)
        scores = SubsetScores(people(), forest, target="ill", cv=2, n_jobs=n_jobs)
        # Threads start at once where processes take seconds; batches and order are the same.
        with joblib.parallel_config(backend="threading"):
            results.append(scores.many(SUBSETS))
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("model", [Refitted(), LogisticRegression()])
def test_what_is_sent_to_a_worker_gives_the_same_there(model):
    here = SubsetScores(people(), model, target="ill", cv=2)._way
    assert isinstance(here, SubsetFits)
    there = pickle.loads(pickle.dumps(here))
    assert there.of([0, 2]) == here.of([0, 2])


class Counting(DecisionTreeClassifier):  # type: ignore[misc]
    fits = 0

    def fit(self, X, y, **other):
        type(self).fits += 1
        return super().fit(X, y, **other)


def test_each_set_is_fitted_once_whatever_its_order():
    Counting.fits = 0
    scores = SubsetScores(people(), Counting(), target="ill", cv=3)
    first = scores.of(["age", "pulse"])
    assert scores.of(["pulse", "age", "age"]) is first
    assert scores.many([["pulse", "age"], ["age", "pulse"]]) == [first, first]
    assert Counting.fits == 3


def test_results_carry_means_and_pooled_counts():
    scores = SubsetScores(people(), AdditiveNaiveBayes(), target="ill", cv=3)
    result = scores.of(["smokes"])
    assert result.pooled == sum(result.correct)
    assert result.mean == pytest.approx(np.mean(result.scores))
    np.testing.assert_allclose(np.array(result.correct) / scores.folds.sizes, result.scores)


def test_the_estimator_given_stays_as_it_was():
    frame = people().with_columns(ward=pl.Series(np.arange(90) % 4))
    model = AdditiveNaiveBayes(nominal=["ward"])
    scores = SubsetScores(frame.drop("job"), model, target="ill", cv=3)
    assert model.nominal == ["ward"]
    text = frame.drop("job").with_columns(pl.col("ward").cast(pl.String))
    same = SubsetScores(text, AdditiveNaiveBayes(), target="ill", cv=3)
    assert scores.of(["ward"]) == same.of(["ward"])


def test_wrong_requests_are_named():
    scores = SubsetScores(people(), AdditiveNaiveBayes(), target="ill", cv=3)
    with pytest.raises(InputError, match="no feature 'income'; the features are 'age'"):
        scores.of(["age", "income"])
    with pytest.raises(InputError, match="list of column names"):
        scores.of("age")
    with pytest.raises(InputError, match="encode must be one of 'auto'"):
        SubsetScores(people(), LogisticRegression(), target="ill", encode="binary")  # type: ignore[arg-type]


def test_a_bar_is_drawn_on_a_terminal_only(monkeypatch, capsys):
    for terminal in (False, True):
        monkeypatch.setattr("sys.stderr.isatty", lambda terminal=terminal: terminal)
        tree = DecisionTreeClassifier()
        scores = SubsetScores(people(), tree, target="ill", cv=3, progress=True)
        found = scores.many(SUBSETS)
        assert [s.features for s in found] == SUBSETS
        assert ("fitting subsets" in capsys.readouterr().err) is terminal


def test_no_fold_knows_the_other_rows_of_those_it_tests():
    """A tree knows by heart whom it has met; a label by lot can be told of nobody else."""
    draw = np.random.default_rng(1)
    who = np.repeat(np.arange(80), 5)
    frame = pl.DataFrame({"person": who, "code": draw.permutation(80)[who]})
    frame = frame.with_columns(ill=pl.Series((np.arange(80) % 2)[who]))
    table = Table(frame, Roles(target="ill", identifiers=("person",)))
    tree = DecisionTreeClassifier(random_state=0)
    assert abs(SubsetScores(table, tree, cv=5).of(["code"]).mean - 0.5) < 0.2
    known = SubsetScores(
        frame, tree, target="ill", features=["code"], cv=5, groups=table.people.groups
    )
    assert known.of(["code"]) == SubsetScores(table, tree, cv=5).of(["code"])
    parted = SubsetScores(table.with_roles(person=()), tree, cv=5)
    assert parted.of(["code"]).mean > 0.95


class CodedBayes(AdditiveNaiveBayes):
    """Naive Bayes that codes a table once; it counts how often."""

    codings = 0

    def code(self, features):
        type(self).codings += 1
        return features.columns

    def fit_coded(self, coded, y, rows, columns):
        self.columns_ = columns
        return self.fit_columns([coded[c].take(rows) for c in columns], y[rows])

    def predict_coded(self, coded, rows):
        parts = (
            p.log_likelihoods(coded[c].values[rows]) for p, c in zip(self.parts_, self.columns_)
        )
        return self.classes_[sum(parts, self.prior()[:, None]).argmax(axis=0)]


def table() -> pl.DataFrame:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    labels = np.array(["no", "perhaps", "yes"])  # the first row has the shortest
    return pl.DataFrame(
        {"x": rng.normal(y), "s": rng.choice(["a", "b"], 60), "y": labels[y - y[0]]}
    )


CODED_SUBSETS: list[list[str]] = [[], ["x"], ["s"], ["x", "s"]]


@pytest.fixture
def by_fitting(monkeypatch):
    """Make the naive Bayes shortcut look away, so that the coded path is taken."""
    monkeypatch.setattr("tamis.learn.subset_scores.AdditiveNaiveBayes", type("Nothing", (), {}))


def test_the_coded_path_gives_the_same_scores_with_one_coding(by_fitting):
    CodedBayes.codings = 0
    coded = SubsetScores(table(), CodedBayes(), target="y", cv=3).many(CODED_SUBSETS)
    assert CodedBayes.codings == 1
    assert coded == SubsetScores(table(), AdditiveNaiveBayes(), target="y", cv=3).many(
        CODED_SUBSETS
    )


def test_c45_gives_the_same_scores_by_either_path():
    coded, plain = (
        SubsetScores(table(), C45Classifier(), target="y", cv=3, encode=encode).many(CODED_SUBSETS)
        for encode in ("auto", "none")
    )
    assert coded == plain
    assert coded[1].pooled > coded[0].pooled  # a number that tells the class does better


def test_a_scorer_of_its_own_takes_the_plain_path(by_fitting):
    CodedBayes.codings = 0
    scorer = make_scorer(accuracy_score)
    scores = SubsetScores(table(), CodedBayes(), target="y", cv=3, scoring=scorer)
    coded = SubsetScores(table(), CodedBayes(), target="y", cv=3)
    assert scores.many(CODED_SUBSETS) == coded.many(CODED_SUBSETS)
    assert CodedBayes.codings == 1


def test_who_fits_coded_tables():
    assert fits_coded(CodedBayes())
    assert fits_coded(C45Classifier(), "predict_with_proba_coded")
    assert not fits_coded(LogisticRegression())
