"""Classifiers by name, what recipients and attackers would learn: seeded, and on one thread."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager
from functools import lru_cache
from importlib import import_module
from typing import Any, NamedTuple

from tamis.errors import InputError


class _Home(NamedTuple):
    """Where a classifier is imported from when it is asked for, and what it is made with."""

    module: str
    name: str
    options: dict[str, Any] | None = None
    scaled: bool = False
    """Whether columns are scaled first: else the one with the largest numbers decides distance."""


CLASSIFIERS = {
    "c45": _Home("tamis.learn.c45", "C45Classifier"),
    "nb": _Home("tamis.learn.bayes", "AdditiveNaiveBayes"),
    "boosting": _Home("sklearn.ensemble", "HistGradientBoostingClassifier"),
    "neighbours": _Home("sklearn.neighbors", "KNeighborsClassifier", scaled=True),
    "tree": _Home("sklearn.tree", "DecisionTreeClassifier", {"min_samples_leaf": 2}),
    "forest": _Home("sklearn.ensemble", "RandomForestClassifier"),
    "logistic": _Home(
        "sklearn.linear_model", "LogisticRegression", {"max_iter": 1000}, scaled=True
    ),
}


def classifier(name: str) -> Any:
    """A classifier with its default settings.

    >>> classifier("nb")
    AdditiveNaiveBayes()
    """
    if name not in CLASSIFIERS:
        raise InputError(f"unknown classifier {name!r}; choose one of {', '.join(CLASSIFIERS)}")
    home = CLASSIFIERS[name]
    model = getattr(import_module(home.module), home.name)(**home.options or {})
    if not home.scaled:
        return model
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), model)


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
