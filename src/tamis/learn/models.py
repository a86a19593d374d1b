"""Classifiers by name, what recipients and attackers would learn: seeded, and on one thread."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any

from tamis.errors import InputError


def _c45() -> Any:
    from tamis.learn.c45 import C45Classifier

    return C45Classifier()


def _bayes() -> Any:
    from tamis.learn.bayes import AdditiveNaiveBayes

    return AdditiveNaiveBayes()


def _tree() -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(min_samples_leaf=2)


def _forest() -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier()


def _boosting() -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier()


def _neighbours() -> Any:
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    # Scaled, because otherwise the column with the largest numbers alone decides distance.
    return make_pipeline(StandardScaler(), KNeighborsClassifier())


def _logistic() -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))


CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "c45": _c45,
    "nb": _bayes,
    "boosting": _boosting,
    "neighbours": _neighbours,
    "tree": _tree,
    "forest": _forest,
    "logistic": _logistic,
}


def classifier(name: str) -> Any:
    """A classifier with its default settings.

    >>> classifier("nb")
    AdditiveNaiveBayes()
    """
    if name not in CLASSIFIERS:
        raise InputError(f"unknown classifier {name!r}; choose one of {', '.join(CLASSIFIERS)}")
    return CLASSIFIERS[name]()


ATTACKERS = ("c45", "nb", "boosting", "logistic")
"""The attackers tried if none is named."""
SHOWN = {
    "c45": "C4.5 tree",
    "nb": "naive Bayes",
    "forest": "random forest",
    "logistic": "logistic regression",
    "boosting": "boosted trees",
    "neighbours": "nearest neighbours",
    "tree": "decision tree",
}
"""The names of the classifiers that a reader sees."""


def seeded(name: str, random_state: int) -> Any:
    """A classifier by its short name; every draw it makes comes from the seed.

    >>> seeded("forest", 3).random_state
    3
    """
    model = classifier(name)
    own = [key for key in model.get_params() if key.rpartition("__")[2] == "random_state"]
    return model.set_params(**dict.fromkeys(own, random_state))


def attackers(names: Iterable[str] = ATTACKERS, random_state: int = 0) -> dict[str, Any]:
    """Attackers by the names that a reader sees."""
    return {SHOWN.get(name, name): seeded(name, random_state) for name in names}


def one_thread() -> AbstractContextManager[Any]:
    """A context in which libraries of linear algebra use one thread: sums keep their order.

    To find these libraries takes longer than many a fit, so they are looked for again only where
    something was imported since.

    >>> import numpy as np
    >>> with one_thread():
    ...     float(np.ones(3) @ np.ones(3))
    3.0
    """
    found: AbstractContextManager[Any] = _libraries(len(sys.modules)).limit(limits=1)
    return found


@lru_cache(maxsize=1)
def _libraries(imported: int) -> Any:
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()
