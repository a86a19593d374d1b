"""BreachSelector: the scikit-learn contract, the searches against brute force, the warnings."""

import warnings
from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from tamis.errors import CannotMeet, InputError, TamisWarning
from tamis.flow import Settings
from tamis.learn.bayes import AdditiveNaiveBayes
from tamis.learn.cv import Folds, fold_p_value
from tamis.learn.holdout import held_rows
from tamis.learn.models import classifier
from tamis.learn.subset_scores import SubsetScores
from tamis.learn.weka_folds import WekaFolds
from tamis.risk.breach import breach_increase
from tamis.select.breach import BreachSelector
from tamis.select.breach.summary import breach_stability, fit_held_out
from tamis.table import Roles, Table


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([BreachSelector(AdditiveNaiveBayes(), cv=2)])
def test_contract_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def people():
    """Five features; `job` and `wage` tell the sensitive column, `age` teaches the target."""
    rng = np.random.default_rng(11)
    rows = 300
    ill, smokes = rng.random(rows) < 0.45, rng.random(rows) < 0.4
    X = pl.DataFrame(
        {
            "age": rng.normal(50 + 14 * ill, 9),
            "job": np.where(rng.random(rows) < 0.15 + 0.7 * smokes, "cook", "judge"),
            "wage": rng.normal(30 + 5 * smokes, 5),
            "dose": rng.normal(ill + 0.5 * smokes, 1.5),
            "coin": rng.integers(0, 2, rows),
        }
    )
    return X, np.where(ill, "ill", "well"), np.where(smokes, "yes", "no")


def fitted(people, same=False, **given):
    X, y, sensitive = people
    selector = BreachSelector(AdditiveNaiveBayes(), **{"cv": 5, **given})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return selector.fit(X, y, sensitive=None if same else sensitive)


class Truth:
    """Every subset scored one by one; the attacker on folds dealt for the sensitive column."""

    def __init__(self, people, folds):
        X, y, sensitive = people
        self.folds, self.names = folds, X.columns
        self._teach = SubsetScores(
            X.with_columns(y=pl.Series(y)), AdditiveNaiveBayes(), target="y", cv=folds
        )
        self._tell = SubsetScores(
            X.with_columns(s=pl.Series(sensitive)), AdditiveNaiveBayes(), target="s", cv=5
        )

    def performance(self, subset):
        return self._teach.of(subset).mean

    def pbi(self, subset):
        return self._tell.of(subset).mean / self._tell.of(self.names).mean - 1

    def worthy(self, subset):
        base, found = self._teach.of(self.names), self._teach.of(subset)
        return (
            found.mean >= base.mean - 1e-12
            or fold_p_value(found.scores, base.scores, self.folds) >= 0.05
        )

    def drop(self, scores, feature):
        return scores.of([n for n in self.names if n != feature]).pooled

    def performance_ranking(self):
        return sorted(self.names, key=lambda f: self.drop(self._teach, f))

    def privacy_ranking(self):
        return sorted(self.names, key=lambda f: -self.drop(self._tell, f))

    def walked(self, ranking, alpha=np.inf):
        kept, found = list(ranking), []
        for feature in ranking[::-1]:
            left = [n for n in kept if n != feature]
            if left and self.worthy(left) and self.pbi(left) <= alpha:
                kept = left
                found.append(frozenset(left))
        return found


def sets(selector):
    return [frozenset(c.features) for c in selector.candidates_[1:]]


@pytest.mark.parametrize("alpha", [None, -0.01])
def test_walk_is_the_paper_word_by_word(people, alpha):
    found = fitted(people, search="walk", alpha=alpha, alpha_in_search=alpha is not None)
    truth = Truth(people, found.folds_)
    assert list(found.performance_ranking_) == truth.performance_ranking()
    assert list(found.privacy_ranking_) == truth.privacy_ranking()
    limit = np.inf if alpha is None else alpha
    by_performance = truth.walked(truth.performance_ranking(), limit)
    by_privacy = truth.walked(truth.privacy_ranking(), limit)
    assert sets(found) == list(dict.fromkeys([*by_performance, *by_privacy]))
    for candidate in found.candidates_[1:]:
        subset = frozenset(candidate.features)
        expected = [n for n, w in (("performance", by_performance), ("privacy", by_privacy))
                    if subset in w]  # fmt: skip
        assert candidate.origin == tuple(f"{name} ranking" for name in expected)
        assert candidate.performance == pytest.approx(truth.performance(candidate.features))
        assert candidate.pbi == pytest.approx(truth.pbi(candidate.features))
        assert candidate.size == len(candidate.features)


def test_exhaustive_gives_the_exact_front(people):
    found = fitted(people, search="exhaustive")
    truth = Truth(people, found.folds_)
    names = people[0].columns
    every = [c for size in range(1, 6) for c in combinations(names, size) if truth.worthy(c)]
    points = {c: (truth.performance(c), -truth.pbi(c), -len(c)) for c in every}

    def beats(one, other):
        near = [a >= b - 1e-12 for a, b in zip(one, other)]
        return all(near) and any(a > b + 1e-12 for a, b in zip(one, other))

    front = {frozenset(c) for c in every if not any(beats(points[o], points[c]) for o in every)} - {
        frozenset(names)
    }
    assert set(sets(found)) == front
    assert len(front) > 1
    assert fitted(people).search_ == "exhaustive"
    assert set(sets(fitted(people))) == front


@pytest.mark.parametrize("search", ["forward", "backward"])
@pytest.mark.parametrize("weights", [None, "performance=1", "privacy=.5,size=.5"])
def test_stepwise_states_differ_by_one_and_win_the_vote(people, search, weights):
    found = fitted(people, search=search, weights=weights)
    truth = Truth(people, found.folds_)
    shares = found.evaluation_.weights
    states = [c.features for c in found.candidates_[1:]]
    before = found.baseline_.features if search == "backward" else None
    for state in states:
        assert truth.worthy(state)
        if before is not None:
            assert len(set(state) ^ set(before)) == 1
            vote = (
                shares["performance"]
                * np.sign(round(truth.performance(state) - truth.performance(before), 9))
                + shares["privacy"] * np.sign(round(truth.pbi(before) - truth.pbi(state), 9))
                + shares["size"] * np.sign(len(before) - len(state))
            )
            assert vote > 0
        before = state
    if search == "backward" and weights == "privacy=.5,size=.5":
        assert found.best_.size < 5


def test_the_choice_is_the_best_score_and_selects_its_columns(people):
    found = fitted(people, weights="performance=.2,privacy=.7,size=.1")
    assert found.best_ == found.order_[0]
    assert found.best_.score == max(c.score for c in found.candidates_)
    names = found.get_feature_names_out().tolist()
    assert names == list(found.best_.features)
    assert "job" not in names
    assert found.transform(people[0]).shape == (300, len(names))
    assert found.baseline_.region is None
    assert found.baseline_.pbi == 0
    assert found.baseline_.p_value == 1
    assert found.cut_.rule == "each value is a class"


def test_the_threshold_bounds_the_choice_not_the_search(people):
    free, bound = fitted(people), fitted(people, alpha="distp", weights="performance=1")
    assert sets(free) == sets(bound)
    assert bound.alpha_ == bound.floor_
    assert bound.best_.pbi <= bound.floor_ + 1e-12
    assert not bound.baseline_.allowed
    with pytest.raises(CannotMeet, match="the smallest found"):
        fitted(people, alpha=-0.9)


def test_the_same_column_reverses_the_ranking_and_is_said(people):
    X, y, _ = people
    found = fitted(people, same=True, search="walk")
    assert found.privacy_ranking_ == found.performance_ranking_[::-1]
    base = found.baseline_.performance
    assert [c.pbi for c in found.candidates_] == pytest.approx(
        [c.performance / base - 1 for c in found.candidates_]
    )
    assert "depends only on the number of features" in said(
        X, y, pl.Series(y), weights="performance=.5,privacy=.5"
    )
    assert "only on the number" not in said(X, y, None)


def test_the_default_weights_are_those_of_a_release_and_equal_in_the_paper(people):
    assert fitted(people, search="walk").evaluation_.weights == Settings().weights
    paper = fitted(people, preset="paper").evaluation_.weights
    assert list(paper.values()) == pytest.approx([1 / 3] * 3)


def test_noise_and_rare_classes_are_said(people):
    X, y, sensitive = people
    rare = np.where(np.arange(300) < 3, "rare", sensitive)
    assert "1 of 3 classes of the sensitive column have fewer rows" in said(X, y, rare)
    twins = X.select("age", "coin", twin=1 - pl.col("coin"))
    assert "differ significantly in neither performance nor breach" in said(twins, y, sensitive)
    assert "feature 'smokes' is identical to the sensitive column" in said(
        X.with_columns(smokes=pl.Series(sensitive)), y, sensitive
    )
    seldom = np.arange(300) % 5 == 0
    near = KNeighborsClassifier(1)
    assert "meaningless here" in said(X.select("age", "wage"), y, seldom, estimator=near)


def said(X, y, sensitive, estimator=None, **given):
    """The warnings of a fit, as one text."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        BreachSelector(estimator or AdditiveNaiveBayes(), cv=5, **given).fit(X, y, sensitive)
    assert all(issubclass(w.category, TamisWarning) for w in caught)
    return "\n".join(str(w.message) for w in caught)


def test_repeated_folds_use_the_corrected_test(people):
    found = fitted(people, cv=None)
    assert (len(found.folds_), found.folds_.repeats) == (50, 5)
    paper = fitted(people, cv=None, preset="paper")
    assert (len(paper.folds_), paper.folds_.repeats, paper.search_) == (10, 1, "walk")
    splitter = StratifiedKFold(4, shuffle=True, random_state=0)
    assert len(fitted(people, cv=splitter).folds_) == 4


def test_several_attackers_and_another_score(people):
    found = fitted(
        people,
        attackers={"nb": AdditiveNaiveBayes(), "line": LogisticRegression(max_iter=500)},
        scoring="roc_auc",
        search="walk",
        cv=3,
    )
    assert {c.attacker for c in found.candidates_} <= {"nb", "line"}
    assert found.baseline_.performance > 0.8
    exact = fitted(people, scoring="roc_auc", search="exhaustive", cv=3)
    by_features = {c.features: c.performance for c in exact.candidates_}
    assert by_features[exact.baseline_.features] == pytest.approx(found.baseline_.performance)


@pytest.mark.parametrize("preset", [None, "paper"])
def test_the_breach_is_that_of_the_other_public_door(people, preset):
    """The attacker's folds are dealt for the sensitive column, as in `breach_increase`."""
    X, y, sensitive = people
    table = Table(
        X.with_columns(y=pl.Series(y), s=pl.Series(sensitive)), Roles(target="y", sensitive="s")
    )
    found = fitted(people, preset=preset, search="walk", random_state=3)
    folds = WekaFolds(5, random_state=3) if preset else 5
    assert len(found.candidates_) > 2
    for candidate in found.candidates_[1:]:
        other = breach_increase(table, candidate.features, attackers="nb", cv=folds, random_state=3)
        assert (other.pbi, other.interval) == (candidate.pbi, candidate.pbi_interval)
        assert other.floor == found.floor_
    attacked = Folds.of(folds, sensitive, 3)
    assert attacked.tests[0].tolist() != found.folds_.tests[0].tolist()


def test_an_exhaustive_search_takes_any_scoring_of_the_attacker(people):
    found = fitted(people, search="exhaustive", attack_scoring="roc_auc")
    X, _, sensitive = people
    scores = SubsetScores(
        X.with_columns(s=pl.Series(sensitive)),
        AdditiveNaiveBayes(),
        target="s",
        cv=5,
        scoring="roc_auc",
    )
    for candidate in found.candidates_:
        ratio = scores.of(candidate.features).mean / scores.of(X.columns).mean
        assert candidate.pbi == pytest.approx(ratio - 1)
    assert fitted(people, attack_scoring="roc_auc").search_ == "walk"


def test_scores_are_drawn_under_several_weightings(people):
    found = fitted(people, search="walk")
    picture = found.plot(weightings=[{"performance": 1}, "privacy=.5,size=.5"]).svg()
    assert "performance 1, privacy 0, size 0" in picture
    assert f"baseline: {found.baseline_.ranks['performance']:g}" in picture
    assert picture.count("<circle") == 2 * (1 + len(found.candidates_))


def test_frames_and_arrays_agree(people):
    X, y, sensitive = people
    numbers = X.select("age", "wage", "dose", "coin")
    found = []
    for data in (numbers, numbers.to_pandas(), numbers.to_arrow(), numbers.to_numpy()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            selector = BreachSelector(AdditiveNaiveBayes(), cv=4)
            found.append(selector.fit(data, pd.Series(y), sensitive=pd.Series(sensitive)))
    assert len({tuple(s.support_) for s in found}) == 1
    assert len({s.best_.pbi for s in found}) == 1


@pytest.mark.filterwarnings("ignore")
def test_the_sensitive_column_is_routed(people):
    X, y, sensitive = people
    with config_context(enable_metadata_routing=True):
        selector = BreachSelector(AdditiveNaiveBayes(), cv=4).set_fit_request(sensitive=True)
        plain = make_pipeline(clone(selector), LogisticRegression())
        plain.fit(X.drop("job"), y, sensitive=sensitive)
    alone = clone(selector).fit(X.drop("job"), y, sensitive=sensitive)
    assert plain[0].best_.features == alone.best_.features
    assert plain[0].floor_ == alone.floor_


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"search": "guess"}, "search must be one of"),
        ({"preset": "book"}, "preset"),
        ({"alpha": "low"}, "alpha"),
        ({"level": 0}, "level"),
        ({"weights": "speed=1"}, "no factor 'speed'"),
    ],
)
def test_parameters_that_are_refused(people, given, said):
    with pytest.raises(InputError, match=said):
        fitted(people, **given)


def test_a_sensitive_column_of_one_value_is_refused(people):
    X, y, _ = people
    with pytest.raises(InputError, match="one class"):
        BreachSelector(AdditiveNaiveBayes(), cv=3).fit(X, y, sensitive=["same"] * 300)


def test_missing_sensitive_values_are_a_class(people):
    X, y, sensitive = people
    holes = [None if i % 3 == 0 else s for i, s in enumerate(sensitive.tolist())]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = BreachSelector(AdditiveNaiveBayes(), cv=4).fit(X, y, sensitive=holes)
    assert found.floor_ < 0.5


def test_held_out_rows_are_never_searched(people):
    X, y, sensitive = people
    frame = X.with_columns(ill=pl.Series(y), smokes=pl.Series(sensitive))
    table = Table(frame, Roles(target="ill", sensitive="smokes"))
    held = held_rows(y, 0.25, 3)
    assert abs(len(held) - 75) <= 1
    # Held-out rows become nonsense: the search must not notice.
    spoilt = frame.with_row_index().with_columns(
        age=pl.when(pl.col("index").is_in(held.tolist())).then(-1e6).otherwise(pl.col("age"))
    )
    selector = BreachSelector(AdditiveNaiveBayes(), cv=4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one, first = fit_held_out(selector, table, 0.25, 3)
        two, second = fit_held_out(selector, Table(spoilt.drop("index"), table.roles), 0.25, 3)
    assert one.candidates_ == two.candidates_
    assert first.rows == len(held)
    assert second.performance < first.performance
    seen = np.setdiff1d(np.arange(300), held)
    model = AdditiveNaiveBayes().fit(X[seen].select(one.best_.features), y[seen])
    right = np.mean(model.predict(X[held].select(one.best_.features)) == y[held])
    assert first.performance == pytest.approx(right)


def test_stability_counts_over_seeds(people):
    X, y, sensitive = people
    selector = BreachSelector(AdditiveNaiveBayes(), cv=3)
    found = breach_stability(selector, X, y, sensitive, seeds=range(4))
    assert sum(s.won for s in found) == pytest.approx(1)
    assert found[0].won == max(s.won for s in found)
    fixed = BreachSelector(AdditiveNaiveBayes(), cv=Folds.stratified(y, 3))
    with pytest.raises(InputError, match="number of folds"):
        breach_stability(fixed, X, y, sensitive)


@pytest.fixture(scope="module")
def stays():
    """Several rows a person, whose target and sensitive column are theirs."""
    draw = np.random.default_rng(4)
    who = np.repeat(np.arange(70), draw.integers(1, 7, 70))
    ill, smokes = (np.arange(70) % 2)[who], (np.arange(70) % 3 == 0)[who]
    frame = pl.DataFrame({"person": who, "age": ill * 2 + draw.normal(size=len(who))})
    frame = frame.with_columns(
        dose=pl.Series(draw.normal(size=len(who))), smokes=smokes, ill=pl.Series(ill)
    )
    return Table(frame, Roles(target="ill", sensitive="smokes", identifiers=("person",)))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cv", [None, 3])
def test_a_person_is_on_one_side_of_every_fold(stays, cv):
    X, y = stays.frame.select("age", "dose"), stays.frame["ill"].to_numpy()
    selector = BreachSelector(AdditiveNaiveBayes(), cv=cv)
    fitted = selector.fit(X, y, stays.frame["smokes"], stays.people.groups)
    for fold, test in enumerate(fitted.folds_.tests):
        trained = stays.people.codes[fitted.folds_.train(fold)]
        assert not set(stays.people.codes[test]) & set(trained)
    parted = clone(selector).set_params(cv=StratifiedKFold(3))
    with pytest.raises(InputError, match="some rows of a person"):
        parted.fit(X, y, groups=stays.people.groups)
    assert breach_stability(selector.set_params(cv=3), X, y, seeds=[1], groups=stays.people.groups)


@pytest.mark.filterwarnings("ignore")
def test_a_person_is_kept_aside_with_all_rows_or_with_none(stays):
    y, people = stays.frame["ill"].to_numpy(), stays.people.groups
    held = held_rows(y, 0.25, 1, people)
    seen = np.setdiff1d(np.arange(len(y)), held)
    assert not set(people[held]) & set(people[seen])
    assert len(set(people[held])) == 18
    fitted, aside = fit_held_out(BreachSelector(AdditiveNaiveBayes(), cv=3), stays, 0.25, 1)
    assert aside.rows == len(held)
    assert fitted.folds_.rows == len(seen)


@pytest.mark.filterwarnings("ignore")
def test_the_rows_kept_aside_pick_no_attacker(people):
    X, y, hidden = people
    frame = X.with_columns(ill=pl.Series(y), smokes=pl.Series(hidden))
    table = Table(frame, Roles(target="ill", sensitive="smokes"))
    selector = BreachSelector(AdditiveNaiveBayes(), cv=3, attackers=["nb", "c45", "neighbours"])
    fitted, aside = fit_held_out(selector, table, 0.25, 3)
    assert aside.attacker == fitted.best_.attacker
    held = held_rows(y, 0.25, 3)
    guessed = X.with_columns(smokes=pl.Series(hidden))
    once = Folds((held,), len(y))
    now, before = (
        SubsetScores(guessed, classifier(one.attacker), target="smokes", cv=once).of(one.features)
        for one in (fitted.best_, fitted.baseline_)
    )
    assert aside.pbi == pytest.approx(now.mean / before.mean - 1)


def records_of_best_first(scores, start):
    """The definition, over plain lists: the sets that were the best when they were found."""
    every = scores.features
    opened, seen = [(scores.of(start).mean, start)], [start]
    found, best, stale = [start], opened[0][0], 0
    while opened and stale < 5:
        state = max(opened, key=lambda pair: pair[0])
        opened.remove(state)
        stale += 1
        for name in every if not start else state[1]:
            near = tuple(n for n in every if (n in state[1]) != (n == name))
            if near in seen or not near or (not start and len(near) < len(state[1])):
                continue
            seen.append(near)
            opened.append((scores.of(near).mean, near))
            if opened[-1][0] > best + 1e-12:
                best, stale = opened[-1][0], 0
                found.append(near)
    return found


@pytest.mark.parametrize("seed", [0, 3])
def test_best_first_is_what_its_definition_says(people, seed):
    X, y, _ = people
    folds = Folds.stratified(y, 5, random_state=seed)
    chosen = fitted(people, search="best-first", cv=folds)
    scores = SubsetScores(
        X.with_columns(y=pl.Series(y)), AdditiveNaiveBayes(), target="y", cv=folds
    )
    expected = {
        tuple(n for n in X.columns if n in names)
        for start in ((), tuple(X.columns))
        for names in records_of_best_first(scores, start)
    }
    found = {c.features for c in chosen.candidates_}
    assert found <= expected
    best = max(expected - {()}, key=lambda names: scores.of(names).mean)
    assert best in found  # the best is never significantly worse than the baseline
    assert chosen.search_ == "best-first"


def test_best_first_respects_a_limit_of_the_search(people):
    free = fitted(people, search="best-first").candidates_
    limit = min(c.pbi for c in free)
    held = fitted(people, search="best-first", alpha=limit, alpha_in_search=True).candidates_
    safe = {c.features for c in free if c.pbi <= limit + 1e-12}
    assert {c.features for c in held} == safe | {free[0].features}
    assert len(held) < len(free)
