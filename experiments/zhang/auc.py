"""How well a table predicts: AUC of a linear SVM, and of the entropy over topics."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.svm import LinearSVC

from tamis.binary.kernels import WORD, distinct_masks, row_masks

Truths = NDArray[np.bool_]
Rows = NDArray[np.intp]
Columns = Callable[[Rows], list[int]]
"""Features chosen by the labels of some rows."""

FOLDS = 5
COSTS = (0.01, 0.1, 1.0)
VALIDATION = 0.2
"""Of a training part: the share on which the cost is tuned."""
TOPICS = 10
"""The paper does not say how many topics it takes."""


def parts(y: Truths, seed: int = 0) -> list[tuple[Rows, Rows]]:
    """Five pairs of training and test rows, each with the classes in proportion."""
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    return list(folds.split(np.zeros(len(y)), y))


def svm_auc(
    X: sparse.csr_array, y: Truths, *, seed: int = 0, costs: tuple[float, ...] = COSTS
) -> float:
    """Mean AUC on the held-out rows of five folds."""
    found = [ranked(X[train], y[train], X[test], y[test], seed, costs) for train, test in parts(y)]
    return float(np.mean(found))


def nested_auc(X: sparse.csr_array, y: Truths, chosen: Columns, *, seed: int = 0) -> float:
    """The same where each fold's features are chosen by its training labels only."""
    found = []
    for train, test in parts(y, seed):
        S = X[:, chosen(train)]
        found.append(ranked(S[train], y[train], S[test], y[test], seed))
    return float(np.mean(found))


def ranked(
    X: Any, y: Truths, X_test: Any, y_test: Truths, seed: int, costs: tuple[float, ...] = COSTS
) -> float:
    """AUC on the test rows of a linear SVM, its cost tuned on a part of the training rows."""
    cost = costs[0]
    if len(costs) > 1:
        rest, tried = train_test_split(
            np.arange(len(y)), test_size=VALIDATION, stratify=y, random_state=seed
        )
        scores = [_auc(X[rest], y[rest], X[tried], y[tried], c, seed) for c in costs]
        cost = costs[int(np.argmax(scores))]
    return _auc(X, y, X_test, y_test, cost, seed)


def _auc(X: Any, y: Truths, X_test: Any, y_test: Truths, cost: float, seed: int) -> float:
    X, y, weight = distinct(X, y)
    model = LinearSVC(C=cost, loss="squared_hinge", dual=X.shape[0] < X.shape[1], random_state=seed)
    with warnings.catch_warnings():
        # A ranking is settled long before the last digit of the margin.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y, weight)
    return float(roc_auc_score(y_test, model.decision_function(_floats(X_test))))


def distinct(X: Any, y: Truths) -> tuple[Any, Truths, NDArray[np.float64]]:
    """Rows that differ or have another label, and how often each occurs: the same model, sooner."""
    if X.shape[1] >= WORD:
        return _floats(X), y, np.ones(len(y))
    found = distinct_masks(row_masks(X))
    pair, first, weight = np.unique(
        found.of_row.astype(np.int64) * 2 + y, return_index=True, return_counts=True
    )
    return _floats(X[first]), pair % 2 == 1, weight.astype(float)


def kernel_auc(X: sparse.csr_array, y: Truths, cost: float) -> float:
    """Mean AUC over the folds of an SVM with an RBF kernel of width 1 / features."""
    from sklearn.svm import SVC

    found = []
    for train, test in parts(y):
        model = SVC(C=cost, gamma="auto").fit(_floats(X[train]), y[train])
        found.append(roc_auc_score(y[test], model.decision_function(_floats(X[test]))))
    return float(np.mean(found))


def _floats(X: sparse.csr_array) -> Any:
    """Numbers for scikit-learn: dense where narrow, else sparse with the 32 bits it asks for."""
    if X.shape[1] < WORD:
        return X.toarray().astype(float)
    inner = (X.data.astype(float), X.indices.astype(np.int32), X.indptr.astype(np.int32))
    return sparse.csr_array(inner, shape=X.shape)


def topic_auc(X: sparse.csr_array, y: Truths, *, topics: int = TOPICS, seed: int = 0) -> float:
    """AUC of the entropy of each row's topics, high for rows of many topics.

    Notes
    -----
    Equation 5 of Zhang et al. (2017), with latent Dirichlet allocation for its topics. No label
    is used, so all rows are test rows. A row without any feature knows nothing of its topics:
    it has them evenly, and the largest entropy.
    """
    model = LatentDirichletAllocation(topics, learning_method="batch", random_state=seed)
    shares = model.fit_transform(X.astype(float))
    entropy = -(shares * np.log(np.maximum(shares, np.finfo(float).tiny))).sum(axis=1)
    return float(roc_auc_score(y, entropy))
