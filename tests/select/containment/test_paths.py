"""Ways to choose compete on rows that they have not seen."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from tamis.binary.matrix import zero_one
from tamis.risk.containment import containment_anonymity
from tamis.select.containment.greedy import SearchTask, greedy
from tamis.select.containment.held_out import DRAWS, HELD_OUT, RIDGE, Contest, split_rows
from tamis.select.containment.itemsets import QUICK_K, maximal
from tamis.select.containment.paths import GREEDY, ITEMSETS, contenders
from tamis.select.containment.selection import StopRule


@pytest.fixture(scope="module")
def contest():
    rng = np.random.default_rng(3)
    y = rng.random(500) < 0.4
    telling = rng.random((500, 6)) < np.where(y[:, None], 0.3, 0.1)
    coins = rng.random((500, 10)) < 0.5
    return np.hstack([coins, telling]).astype(int), y


@pytest.fixture(scope="module")
def hidden_crowd():
    """Five rows share thirty telling columns; loud ones lead greedy away from them."""
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2 == 0
    telling = rng.random((200, 30)) < np.where(y[:, None], 0.08, 0.01)
    telling[:10:2] = True
    loud = rng.random((200, 3)) < np.where(y[:, None], 0.6, 0.4)
    return np.hstack([telling, loud]).astype(int), y


def mean_auc(X, y, choose):
    """Mean AUC over the draws, by the definition."""
    found = []
    for seed in range(DRAWS):
        train, held = split_rows(y, np.ones(len(y), bool), HELD_OUT, seed)
        S = X[:, choose(train).features]
        model = LogisticRegression(C=1 / RIDGE, max_iter=1000).fit(S[train], y[train])
        found.append(roc_auc_score(y[held], model.decision_function(S[held])))
    return np.mean(found)


def test_the_winner_has_the_largest_held_out_auc(contest):
    X, y = contest
    choosers = contenders(SearchTask(zero_one(X), y, None, StopRule(5, False, False, 16, 0.0)))
    assert set(choosers) == {*GREEDY, ITEMSETS}
    auc = {name: mean_auc(X, y, choose) for name, choose in choosers.items()}
    every = np.ones(len(y), bool)
    assert Contest(X, y, every, choosers, HELD_OUT).results() == pytest.approx(auc, abs=2e-3)
    best = max(auc, key=lambda name: auc[name])
    found = greedy(X, y, 5, utility="best")
    assert found.features == choosers[best](every).features
    assert max(auc.values()) > min(auc.values()) + 0.05
    assert found.anonymity == containment_anonymity(X[:, found.features]) >= 5


def test_an_itemset_may_win(hidden_crowd):
    X, y = hidden_crowd
    found = greedy(X, y, 5, utility="best")
    assert set(found.features) == set(maximal(X, y, 5).features)
    assert len(found.features) > len(greedy(X, y, 5, utility="hamdist").features)


@pytest.mark.parametrize(
    ("k", "limit"),
    [
        (5, {"max_features": 3}),
        (5, {"min_gain": 0.01}),
        (5, {"on_violation": "stop"}),
        (5, {"privacy": "equality"}),
        (QUICK_K + 1, {}),
    ],
)
def test_itemsets_stay_out_where_a_limit_is_asked_for(contest, monkeypatch, k, limit):
    names = list[str]()
    monkeypatch.setattr(Contest, "winner", lambda self: names.extend(self.contenders))
    X, y = contest
    greedy(X, y, k, utility="best", **limit)
    assert names == list(GREEDY)


def test_the_labels_of_the_other_rows_are_not_used(contest):
    X, y = contest
    known = np.arange(len(y)) % 4 > 0
    other = np.where(known, y, ~y)
    found = greedy(X, y, 5, utility="best", labelled=known)
    assert found == greedy(X, other, 5, utility="best", labelled=known)


def test_the_path_is_told_in_auc(contest):
    found = greedy(contest[0], contest[1], 5, utility="best")
    assert 0.6 < found.utility <= 1
    assert found.utility == found.steps[-1].utility
    assert found.utility == pytest.approx(0.5 + sum(step.gain for step in found.steps))
