"""Utilities that fit a model: the held-out figures, the refit and the gains."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.naive_bayes import BernoulliNB

from tamis.select.containment.greedy import greedy
from tamis.select.containment.held_out import RIDGE, HeldOutModel, split_rows


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = (rng.random((600, 12)) < 0.4).astype(int)
    chance = 1 / (1 + np.exp(-(2 * X[:, 3] - 2 * X[:, 7] + X[:, 9] - 0.5)))
    return X, rng.random(600) < chance


def model_of(data, measure, model):
    X, y = data
    train, held = split_rows(y, np.ones(len(y), bool), 1 / 3, 0)
    return HeldOutModel(sparse.csc_array(X), y, train, held, measure, model), train, held


def test_a_third_of_each_class_is_held_out(data):
    _, y = data
    known = np.arange(600) < 300
    train, held = split_rows(y, known, 1 / 3, 0)
    assert (train ^ held == known).all()
    assert held[y].sum() == round((known & y).sum() / 3)


def test_naive_bayes_is_that_of_scikit_learn(data):
    X, y = data
    model, train, held = model_of(data, "auc", "bayes")
    for u in (3, 7, 9):
        model.add(u)
    S = X[:, [3, 7, 9]]
    peer = BernoulliNB().fit(S[train], y[train])
    assert 1 / (1 + np.exp(-model.score)) == pytest.approx(peer.predict_proba(S)[:, 1])
    assert model.worth() == pytest.approx(roc_auc_score(y[held], peer.predict_proba(S[held])[:, 1]))


def test_the_linear_model_comes_near_scikit_learns(data):
    X, y = data
    model, train, held = model_of(data, "likelihood", "linear")
    for u in (3, 7, 9):
        model.add(u)
    S = X[:, [3, 7, 9]]
    peer = LogisticRegression(C=1 / RIDGE).fit(S[train], y[train])
    base = log_loss(y[held], np.full(held.sum(), y[train].mean()))
    theirs = base - log_loss(y[held], peer.predict_proba(S[held])[:, 1])
    assert model.worth() == pytest.approx(theirs, abs=2e-3)


@pytest.mark.parametrize("measure", ["likelihood", "auc"])
@pytest.mark.parametrize("kind", ["linear", "bayes"])
def test_a_gain_is_the_change_of_the_worth(data, measure, kind):
    model, _, _ = model_of(data, measure, kind)
    model.add(7)
    now = model.worth()
    assert model.gain(3, now) == pytest.approx(model.worth(model._with(3)) - now)


@pytest.mark.parametrize("measure", ["likelihood", "auc"])
@pytest.mark.parametrize("kind", ["linear", "bayes"])
@pytest.mark.parametrize("on_violation", ["skip", "stop"])
def test_the_features_that_matter_come_first(data, measure, kind, on_violation):
    X, y = data
    found = greedy(X, y, 5, utility=measure, model=kind, on_violation=on_violation)
    assert set(found.features[:2]) == {3, 7}
    assert found.steps[-1].utility == pytest.approx(found.utility)
    assert found.anonymity >= 5


@given(st.integers(0, 99), st.integers(1, 6))
@settings(max_examples=30)
def test_no_person_trains_and_is_held_out(seed, most):
    draw = np.random.default_rng(seed)
    who = np.repeat(np.arange(40), draw.integers(1, most + 1, 40))
    y = (np.arange(40) % 2 == 0)[who]
    known = (np.arange(40) >= 10)[who]
    train, held = split_rows(y, known, 1 / 3, seed, who)
    assert ((train | held) == known).all()
    assert not (train & held).any()
    assert not set(who[train]) & set(who[held])
    assert len(set(who[held])) == 10
