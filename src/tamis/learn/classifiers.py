"""Classifiers by name, for commands and for attackers."""

from __future__ import annotations

from collections.abc import Callable
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

    # Scaled, else the column of the largest numbers decides alone who is near.
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
        raise InputError(f"no classifier {name!r}; there are {', '.join(CLASSIFIERS)}")
    return CLASSIFIERS[name]()
