"""Which utility predicts best at the same k? Chosen by training labels, evaluated on held-out rows.

Feasibility is over all rows, since all are released; only the labels of the training folds are
used by the choice and by the model.
"""

from __future__ import annotations

import time

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from bench.labelled_tables import TABLES
from tamis.select.containment.greedy import greedy

CHOICES = {
    "hamdist, stop": {"utility": "hamdist", "on_violation": "stop"},
    "hamdist": {"utility": "hamdist"},
    "distcnt": {"utility": "distcnt"},
    "distcnt, extended": {"utility": "distcnt", "extend": True},
    "cm": {"utility": "cm"},
    "cm, extended": {"utility": "cm", "extend": True},
    "difference": {"utility": "difference"},
    "information": {"utility": "information"},
    "likelihood, linear": {"utility": "likelihood"},
    "likelihood, linear, extended": {"utility": "likelihood", "extend": True},
    "likelihood, bayes, extended": {"utility": "likelihood", "model": "bayes", "extend": True},
    "auc, linear": {"utility": "auc"},
    "auc, linear, extended": {"utility": "auc", "extend": True},
    "auc, bayes, extended": {"utility": "auc", "model": "bayes", "extend": True},
    "best, extended": {"utility": "best", "extend": True},
}
FOLDS = 3


def held_out_auc(X, y, k, choice):
    """Mean AUC over the folds, mean number of features, seconds of one choice."""
    aucs, sizes, took = [], [], []
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(y, y):
        known = np.zeros(len(y), dtype=bool)
        known[train] = True
        start = time.perf_counter()
        features = list(greedy(X, y, k, labelled=known, **choice).features)
        took.append(time.perf_counter() - start)
        S = X[:, features].astype(float)
        model = LogisticRegression(max_iter=500).fit(S[train], y[train])
        aucs.append(roc_auc_score(y[test], model.decision_function(S[test])))
        sizes.append(len(features))
    return np.mean(aucs), np.mean(sizes), min(took)


def main(k: int = 5) -> None:
    tables = {name: load() for name, load in TABLES.items()}
    shown = Table("utility", *tables, "mean", title=f"AUC on held-out rows (features), k = {k}")
    for name, choice in CHOICES.items():
        found = [held_out_auc(X, y, k, choice) for X, y in tables.values()]
        cells = [f"{auc:.4f} ({size:.0f}) {took:.2f}s" for auc, size, took in found]
        shown.add_row(name, *cells, f"{np.mean([auc for auc, _, _ in found]):.4f}")
    Console(width=200).print(shown)
