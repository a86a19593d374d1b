"""The contest of utilities on held-out rows."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from tamis.risk.containment import containment_anonymity
from tamis.select.containment.greedy import greedy
from tamis.select.containment.paths import HELD_OUT
from tamis.select.containment.utilities import CONTENDERS, RIDGE, split_rows


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    y = rng.random(500) < 0.4
    telling = rng.random((500, 6)) < np.where(y[:, None], 0.3, 0.1)
    coins = rng.random((500, 10)) < 0.5
    return np.hstack([coins, telling]).astype(int), y


def test_the_winner_has_the_largest_held_out_auc(data):
    X, y = data
    train, held = split_rows(y, np.ones(len(y), bool), HELD_OUT, 0)
    auc = {}
    for utility in CONTENDERS:
        S = X[:, greedy(X, y, 5, utility=utility, labelled=train).features]
        model = LogisticRegression(C=1 / RIDGE).fit(S[train], y[train])
        auc[utility] = roc_auc_score(y[held], model.decision_function(S[held]))
    best = max(auc, key=lambda utility: auc[utility])
    found = greedy(X, y, 5, utility="best")
    assert found.features == greedy(X, y, 5, utility=best).features
    assert sorted(auc.values())[-1] > sorted(auc.values())[0] + 0.05
    assert found.anonymity == containment_anonymity(X[:, found.features]) >= 5


def test_the_path_is_told_in_auc(data):
    found = greedy(data[0], data[1], 5, utility="best")
    assert 0.6 < found.utility <= 1
    assert found.utility == found.steps[-1].utility
    assert found.utility == pytest.approx(0.5 + sum(step.gain for step in found.steps))
