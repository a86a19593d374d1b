"""One rule a leaf of a fitted classification tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tamis.errors import InputError, listed
from tamis.rules.coding import Coding, split
from tamis.rules.condition import Condition, merged
from tamis.rules.rule import Rule

Leaf = tuple[tuple[Condition, ...], Sequence[float]]


def tree_rules(
    tree: Any, features: Sequence[str] | None, coding: Mapping[str, Coding], shares: bool
) -> list[Rule]:
    """The rules of a scikit-learn tree or a `C45Classifier`, leaves from left to right."""
    if not hasattr(tree, "classes_"):
        raise InputError(
            f"rules need a fitted classification tree, got {type(tree).__name__}; fit it first"
        )
    labels = [_label(c) for c in tree.classes_]
    return [_rule(leaf, labels, shares) for leaf in _leaves(tree, features, coding)]


def _leaves(
    tree: Any, features: Sequence[str] | None, coding: Mapping[str, Coding]
) -> Iterator[Leaf]:
    inner = tree.tree_
    names = _names(tree, features, inner.n_features)
    unknown = [name for name in coding if name not in names]
    if unknown:
        raise InputError(
            f"the coding names {listed(unknown)}, which the tree was not fitted on; its features "
            f"are {listed(names, most=30)}"
        )
    # A walk by hand: a tree may be deeper than Python's stack.
    waiting: list[tuple[int, tuple[Condition, ...]]] = [(0, ())]
    while waiting:
        node, path = waiting.pop()
        left, right = int(inner.children_left[node]), int(inner.children_right[node])
        if left == right:
            yield path, inner.value[node][0]
            continue
        name = names[inner.feature[node]]
        below, above = split(name, float(inner.threshold[node]), coding.get(name))
        waiting.append((right, (*path, above)))
        waiting.append((left, (*path, below)))


def _names(tree: Any, features: Sequence[str] | None, count: int) -> list[str]:
    given = features if features is not None else getattr(tree, "feature_names_in_", None)
    if given is None:
        raise InputError("the tree remembers no feature names; give them with features=[...]")
    names = [str(name) for name in given]
    if len(names) != count:
        raise InputError(f"the tree was fitted on {count} features, got {len(names)} names")
    return names


def _rule(leaf: Leaf, labels: Sequence[str], shares: bool) -> Rule:
    path, weights = leaf
    conditions = merged(path)
    if not shares:
        return Rule(conditions, label=labels[int(np.argmax(weights))])
    total = float(np.sum(weights))
    return Rule(conditions, distribution={c: float(w) / total for c, w in zip(labels, weights)})


def _label(value: Any) -> str:
    """A class of a model as the text that a column of a table would show."""
    from tamis.rules.bind import value_text

    return value_text(value)
