"""The models that a release is judged by, seeded, so that a run can be made again."""

from __future__ import annotations

from typing import Any

from tamis.learn.classifiers import classifier

ATTACKERS = {
    "C4.5 tree": "c45",
    "naive Bayes": "nb",
    "random forest": "forest",
    "logistic regression": "logistic",
}
"""The attackers that are tried, by the name that a reader sees."""


def seeded(name: str, random_state: int) -> Any:
    """A classifier by its short name; every draw it makes comes from the seed.

    >>> seeded("forest", 3).random_state
    3
    """
    model = classifier(name)
    own = [key for key in model.get_params() if key.rpartition("__")[2] == "random_state"]
    return model.set_params(**dict.fromkeys(own, random_state))


def attackers(random_state: int = 0) -> dict[str, Any]:
    """The attackers that are tried by default, by the name that a reader sees."""
    return {shown: seeded(name, random_state) for shown, name in ATTACKERS.items()}
