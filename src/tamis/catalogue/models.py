"""The models that recipients and attackers may train; `tamis.learn.models` makes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tamis.notebook import in_short


@dataclass(frozen=True)
class ModelRecord:
    """One classifier.

    Parameters
    ----------
    name : str
        Its short name.
    home : str
        The module and the class, imported when it is asked for.
    shown : str
        What it is called in reports.
    asked : str
        How `serve` offers it; empty: not at all.
    options : mapping
        What it is made with.
    scaled : bool
        Whether columns are scaled first: else the one with the largest numbers decides distances.
    attacks : bool
        Whether it attacks where no attackers are named.
    few_classes_only : bool
        Whether attackers leave it to columns of few classes, since it fits something for each.
    """

    name: str
    home: str
    shown: str
    asked: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    scaled: bool = False
    attacks: bool = False
    few_classes_only: bool = False

    def __repr__(self) -> str:
        return in_short(self, self.name)

    @property
    def class_name(self) -> str:
        """The class of the fitted object, as recipes state it."""
        return "Pipeline" if self.scaled else self.home.partition(":")[2]


_MODELS = (
    ModelRecord(
        "c45",
        "tamis.learn.c45:C45Classifier",
        "C4.5 tree",
        asked="Decision tree (C4.5)",
        attacks=True,
    ),
    ModelRecord(
        "nb",
        "tamis.learn.bayes:AdditiveNaiveBayes",
        "naive Bayes",
        asked="Naive Bayes: quick and plain",
        attacks=True,
    ),
    ModelRecord(
        "tree",
        "sklearn.tree:DecisionTreeClassifier",
        "decision tree",
        options={"min_samples_leaf": 2},
    ),
    ModelRecord(
        "forest", "sklearn.ensemble:RandomForestClassifier", "random forest", asked="Random forest"
    ),
    ModelRecord(
        "boosting",
        "sklearn.ensemble:HistGradientBoostingClassifier",
        "boosted trees",
        asked="Gradient boosting: often the strongest",
        attacks=True,
        few_classes_only=True,
    ),
    ModelRecord(
        "neighbours", "sklearn.neighbors:KNeighborsClassifier", "nearest neighbours", scaled=True
    ),
    ModelRecord(
        "logistic",
        "sklearn.linear_model:LogisticRegression",
        "logistic regression",
        asked="Logistic regression",
        options={"max_iter": 1000},
        scaled=True,
        attacks=True,
        few_classes_only=True,
    ),
)
MODELS = {model.name: model for model in _MODELS}
ATTACKERS = tuple(model.name for model in _MODELS if model.attacks)
"""The attackers tried if none is named."""


def shown_model(name: str) -> str:
    """What a model is called in reports; another attacker has the name that it was given.

    >>> shown_model("nb"), shown_model("lookup")
    ('naive Bayes', 'lookup')
    """
    return MODELS[name].shown if name in MODELS else name
