"""Classifiers by the names that users call them, and the attackers that are tried."""

from __future__ import annotations

from typing import Any

from tamis.errors import InputError

CLASSIFIERS = ("nb", "c45", "tree", "logistic", "forest", "boosted")

ATTACKERS = {"naive Bayes": "nb", "C4.5 tree": "c45", "random forest": "forest"}
"""The attackers that are tried, by the name that a reader sees."""


def classifier(name: str, random_state: int = 0) -> Any:
    """A classifier by its short name.

    Parameters
    ----------
    name : {"nb", "c45", "tree", "logistic", "forest", "boosted"}
    random_state : int

    Examples
    --------
    >>> classifier("nb")
    AdditiveNaiveBayes()
    """
    if name == "nb":
        from tamis.learn.bayes import AdditiveNaiveBayes

        return AdditiveNaiveBayes()
    if name == "c45":
        from tamis.learn.c45 import C45Classifier

        return C45Classifier()
    if name == "tree":
        from sklearn.tree import DecisionTreeClassifier

        return DecisionTreeClassifier(min_samples_leaf=5, random_state=random_state)
    if name == "logistic":
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    if name in ("forest", "boosted"):
        return _ensemble(name, random_state)
    raise InputError(f"a classifier is one of {', '.join(CLASSIFIERS)}, got {name!r}")


def attackers(random_state: int = 0) -> dict[str, Any]:
    """The attackers that are tried by default, by the name that a reader sees."""
    return {shown: classifier(name, random_state) for shown, name in ATTACKERS.items()}


def _ensemble(name: str, random_state: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

    if name == "forest":
        return RandomForestClassifier(min_samples_leaf=3, random_state=random_state)
    return HistGradientBoostingClassifier(early_stopping=False, random_state=random_state)
