"""Privacy breach increase against its definition, and the cuts of a sensitive column."""

import itertools
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB

from tamis.errors import InputError, TamisWarning
from tamis.learn.bayes import AdditiveNaiveBayes
from tamis.learn.cv import Folds, fold_interval
from tamis.learn.subset_scores import SubsetScores
from tamis.risk.breach import (
    Attack,
    bayes_accuracy,
    breach_increase,
    named_attackers,
    warn_of_floor,
)
from tamis.risk.cut import cut_into_quarters, cut_sensitive, mdl_cuts
from tamis.table import Roles, Table


@pytest.fixture(scope="module")
def patients():
    rng = np.random.default_rng(5)
    ill = rng.random(240) < 0.4
    frame = pl.DataFrame(
        {
            "age": rng.normal(50 + 12 * ill, 10).round(),
            "dose": rng.normal(ill * 1.5, 1.0),
            "coin": rng.integers(0, 2, 240),
            "ward": np.where(rng.random(240) < 0.5 + 0.3 * ill, "a", "b"),
            "ill": np.where(ill, "yes", "no"),
        }
    )
    return Table(frame, Roles(target="ill"))


def test_pbi_is_the_ratio_of_accuracies_on_the_same_folds(patients):
    y = patients.frame["ill"].to_numpy()
    folds = Folds.stratified(y, 5, random_state=3)
    found = breach_increase(patients, ["coin", "age"], attackers="nb", cv=folds)
    scores = SubsetScores(patients, AdditiveNaiveBayes(), cv=folds)
    some, every = scores.of(["age", "coin"]), scores.of(patients.features)
    assert found.features == ("age", "coin")
    assert found.pbi == pytest.approx(some.mean / every.mean - 1)
    commonest = np.mean([np.mean(y[test] == "no") for test in folds.tests])
    assert found.floor == pytest.approx(commonest / every.mean - 1)
    assert found.interval[0] < found.pbi < found.interval[1]
    assert found.by_attacker == {"nb": pytest.approx(found.pbi)}
    assert found.cut is None


def test_the_audit_guesses_as_naive_bayes_does_in_a_breach(patients):
    found = breach_increase(patients, patients.features, attackers="nb", cv=5)
    majority = (1 + found.floor) * found.baseline
    assert bayes_accuracy(patients)[:2] == pytest.approx((found.accuracy, majority))


@pytest.mark.parametrize("times", [1, 3])
def test_the_audit_guesses_on_no_more_rows_than_it_says(patients, times):
    frame = pl.concat([patients.frame] * times)
    who = np.tile(np.arange(patients.rows), times)
    people = frame.with_columns(pl.Series("who", who))
    table = Table(people, replace(patients.roles, identifiers=("who",)))
    few = bayes_accuracy(table, most=table.rows // 3)
    assert few.rows == pytest.approx(table.rows / 3, rel=0.02)
    assert few.rows % times == 0  # people are whole
    assert few.accuracy == pytest.approx(bayes_accuracy(table).accuracy, abs=0.1)
    assert bayes_accuracy(table).rows == table.rows


def test_the_audit_says_so_where_nothing_is_guessed():
    frame = pl.DataFrame({"x": [0.0, 0.0, 1.0, 1.0], "ill": ["a", "b", "a", "b"]})
    table = Table(frame, Roles(target="ill"))
    with pytest.raises(InputError, match="guesses a single sensitive value"):
        bayes_accuracy(table, folds=2)
    with pytest.raises(InputError, match="guesses a single sensitive value"):
        breach_increase(table, ["x"], attackers="nb", cv=2)


def test_the_folds_that_nobody_names_are_ten_and_of_the_audit_five(patients):
    # 233 rows make folds of different sizes, so that other folds have another mean.
    some = Table(patients.frame.head(233), patients.roles)
    y = some.frame["ill"].to_numpy()
    ten, five = (Folds.stratified(y, many, random_state=0) for many in (10, 5))
    found = breach_increase(some, ["age"], attackers="nb")
    assert found == breach_increase(some, ["age"], attackers="nb", cv=ten)
    assert found.interval != breach_increase(some, ["age"], attackers="nb", cv=11).interval
    audited = breach_increase(some, some.features, attackers="nb", cv=five)
    majority = (1 + audited.floor) * audited.baseline
    assert bayes_accuracy(some)[:2] == pytest.approx((audited.accuracy, majority), rel=1e-12)


def test_the_strongest_attacker_is_reported(patients):
    who = {"asleep": DummyClassifier(), "awake": AdditiveNaiveBayes()}
    both = breach_increase(patients, ["age"], attackers=who, cv=5)
    alone = breach_increase(patients, ["age"], attackers={"awake": AdditiveNaiveBayes()}, cv=5)
    assert both.attacker == "awake"
    assert both.pbi == alone.pbi
    assert set(both.by_attacker) == {"asleep", "awake"}
    assert both.by_attacker["asleep"] == pytest.approx(0)


def test_the_default_attackers_all_try(patients):
    found = breach_increase(patients, ["age", "ward"], cv=2)
    assert set(found.by_attacker) == {"c45", "nb", "boosting", "neighbours"}


def test_any_measure_of_guessing_may_take_the_place_of_accuracy(patients):
    folds = Folds.stratified(patients.frame["ill"].to_numpy(), 4)
    found = breach_increase(patients, ["age"], attackers="nb", cv=folds, scoring="roc_auc")
    scores = SubsetScores(patients, AdditiveNaiveBayes(), cv=folds, scoring="roc_auc")
    every = scores.of(patients.features).mean
    assert found.pbi == pytest.approx(scores.of(["age"]).mean / every - 1)
    assert found.floor == pytest.approx(0.5 / every - 1)  # the distribution ranks nobody
    with pytest.raises(InputError, match="attackers score 0 or less"):
        breach_increase(patients, ["age"], attackers="nb", cv=folds, scoring="neg_log_loss")


def test_a_frame_says_which_column_recipients_predict(patients):
    frame = patients.frame
    table = Table(frame, Roles(target="ward", sensitive="ill"))

    def guessed(names, target):
        return breach_increase(frame, names, sensitive="ill", target=target, attackers="nb", cv=4)

    named = guessed(["age"], "ward")
    assert named.pbi == breach_increase(table, ["age"], attackers="nb", cv=4).pbi
    assert named.baseline != guessed(["age"], None).baseline
    with pytest.raises(InputError, match="no feature 'ward'"):
        guessed(["ward"], "ward")


def test_all_features_have_no_increase(patients):
    found = breach_increase(patients, patients.features, attackers="nb", cv=4)
    assert found.pbi == 0
    assert found.interval == (0, 0)


def test_a_floor_above_zero_is_said():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"noise": rng.normal(size=90), "more": rng.normal(size=90)})
    frame = frame.with_columns(ill=pl.Series(["no"] * 60 + ["yes"] * 30))
    with pytest.warns(TamisWarning, match="meaningless here") as warned:
        found = breach_increase(
            frame, ["noise"], sensitive="ill", attackers={"near": _nearest()}, cv=5
        )
    assert found.floor > 0
    said = [each for each in warned if each.category is TamisWarning]
    assert [each.filename for each in said] == [__file__]


def test_a_floor_of_zero_leaves_a_threshold_its_meaning(recwarn):
    warn_of_floor(0.0)
    assert not recwarn.list
    with pytest.warns(TamisWarning, match="meaningless here"):
        warn_of_floor(1e-9)


def _nearest():
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(1)


def test_each_subset_takes_its_own_strongest_attacker(patients):
    folds = Folds.stratified(patients.frame["ill"].to_numpy(), 4)
    who = {"normal": GaussianNB(), "additive": AdditiveNaiveBayes()}
    attack = Attack({n: SubsetScores(patients, e, cv=folds) for n, e in who.items()})
    shares, number = attack.all_subsets()
    for mask in range(1, 16):
        names = [n for bit, n in enumerate(attack.features) if mask >> bit & 1]
        guess = attack.strongest(names)
        assert guess.shares.tolist() == shares[mask].tolist()
        assert attack.names[number[mask]] == guess.attacker


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda t: breach_increase(t.frame, ["age"]), "sensitive="),
        (lambda t: breach_increase(t, ["age"], sensitive="no"), "no column 'no'"),
        (lambda t: breach_increase(t, ["ill"], attackers="nb", cv=3), "no feature 'ill'"),
        (lambda t: breach_increase(t, ["age"], attackers="magic"), "unknown classifier 'magic'"),
        (lambda t: named_attackers([]), "at least one"),
    ],
)
def test_what_is_refused(patients, call, said):
    with pytest.raises(InputError, match=said):
        call(patients)


def test_the_interval_holds_the_true_mean_at_its_level():
    rng = np.random.default_rng(1)
    folds = Folds.predefined(np.arange(100) % 10)
    hits = [
        low <= 0.7 <= high
        for low, high in (fold_interval(rng.normal(0.7, 0.05, 10), folds) for _ in range(1000))
    ]
    assert 0.93 < np.mean(hits) < 0.97
    assert fold_interval([0.5], Folds((np.array([0]),), 2)) == (-np.inf, np.inf)


def test_pregnancies_are_cut_where_the_paper_cuts_them(dataset):
    pima = pl.read_csv(dataset("pima.csv.gz"))
    cut = cut_sensitive(pima["preg"], pima["class"].to_numpy())
    assert cut.points == (6.5,)
    assert "minimum description length" in cut.rule
    assert (cut.codes(pima["preg"]) == (pima["preg"] > 6.5).to_numpy()).all()


def _cost(labels):
    _, counts = np.unique(labels, return_counts=True)
    shares = counts / counts.sum()
    return -(shares * np.log2(shares)).sum(), len(counts)


def _naive(values, labels):
    """Fayyad and Irani's recursion word by word."""
    distinct = np.unique(values)
    best = None
    for low, high in itertools.pairwise(distinct):
        left = values <= low
        sides = sum(_cost(labels[s])[0] * s.mean() for s in (left, ~left))
        if best is None or sides < best[0] - 1e-12:
            best = (sides, (low + high) / 2, left)
    if best is None:
        return []
    sides, point, left = best
    (h, k), (h1, k1), (h2, k2) = (_cost(labels[s]) for s in (left | True, left, ~left))
    price = np.log2(len(values) - 1) + np.log2(3.0**k - 2) - (k * h - k1 * h1 - k2 * h2)
    if not h - sides > price / len(values):
        return []
    parts = (_naive(values[s], labels[s]) for s in (left, ~left))
    return sorted([point, *(p for part in parts for p in part)])


@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 3))
def test_cuts_by_description_length(seed, rows, classes):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 12, rows).astype(float)
    labels = np.minimum((values // 5).astype(int) + (rng.random(rows) < 0.1), classes - 1)
    assert mdl_cuts(values, labels) == _naive(values, labels)


def test_other_ways_to_make_classes():
    ages = pl.Series("age", [*range(40), None])
    nothing = np.zeros(41)
    assert cut_sensitive(ages, nothing, [9.5, 4]).points == (4.0, 9.5)
    fallen = cut_sensitive(ages, nothing, "auto")
    assert "suggests no cut" in fallen.rule
    assert fallen.points == (9, 20, 30)
    assert np.bincount(fallen.codes(ages)).tolist() == [10, 11, 10, 9, 1]
    each = cut_sensitive(ages, nothing, "none")
    assert each.codes(ages).tolist() == list(range(41))
    few = cut_sensitive(pl.Series(["b", "a", None, "b"]), np.zeros(4))
    assert few.codes(pl.Series(["a", "b", None, "new"])).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("column", "rule", "said"),
    [
        (pl.Series(["a", "b"]), "mdl", "only numbers"),
        (pl.Series([1.0] * 5), "quantiles", "single value"),
        (pl.Series([1.0, 2.0]), "mdl", "does not show where"),
        (pl.Series([1.0, 2.0]), [], "cut points"),
        (pl.Series([1.0, 2.0]), "deciles", "deciles"),
    ],
)
def test_cuts_that_are_refused(column, rule, said):
    with pytest.raises(InputError, match=said):
        cut_sensitive(column, np.zeros(len(column)), rule)


def test_an_attacker_is_asked_about_people_whom_it_has_not_met():
    draw = np.random.default_rng(2)
    who = np.repeat(np.arange(80), 5)
    frame = pl.DataFrame({"person": who, "code": draw.permutation(80)[who]})
    frame = frame.with_columns(ill=pl.Series((np.arange(80) % 2)[who]))
    table = Table(frame, Roles(target="ill", identifiers=("person",)))
    found = breach_increase(table, ["code"], attackers="tree", cv=5)
    assert abs(found.accuracy - 0.5) < 0.2
    each_row = breach_increase(table.with_roles(person=()), ["code"], attackers="tree", cv=5)
    assert each_row.accuracy > 0.95


def test_a_skewed_number_is_cut_into_quarters_so_that_guessing_is_seldom_right():
    incomes = pl.Series("income", np.exp(np.random.default_rng(0).normal(10, 1, 400)).round())
    counts = np.bincount(cut_into_quarters(incomes).codes(incomes))
    assert len(counts) == 4
    assert counts.max() / 400 < 0.35
