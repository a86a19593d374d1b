"""The models that a release is judged by, seeded, so that a run can be made again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tamis.learn.classifiers import classifier

ATTACKERS = ("c45", "nb", "boosting", "logistic")
"""The attackers that are tried where none is named."""
SHOWN = {
    "c45": "C4.5 tree",
    "nb": "naive Bayes",
    "forest": "random forest",
    "logistic": "logistic regression",
    "boosting": "boosted trees",
    "neighbours": "nearest neighbours",
    "tree": "decision tree",
}
"""Classifiers by the name that a reader sees."""


def seeded(name: str, random_state: int) -> Any:
    """A classifier by its short name; every draw it makes comes from the seed.

    >>> seeded("forest", 3).random_state
    3
    """
    model = classifier(name)
    own = [key for key in model.get_params() if key.rpartition("__")[2] == "random_state"]
    return model.set_params(**dict.fromkeys(own, random_state))


def attackers(names: Iterable[str] = ATTACKERS, random_state: int = 0) -> dict[str, Any]:
    """Attackers by the name that a reader sees."""
    return {SHOWN.get(name, name): seeded(name, random_state) for name in names}
