"""One rule per leaf of a fitted classification tree, and what its numbers stand for."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tamis.errors import InputError, listed
from tamis.rules.bind import value_text
from tamis.rules.rule import Between, Condition, OneOf, Rule, merged


@dataclass(frozen=True)
class Indicator:
    """A 0/1 feature that says whether `column` is `value` (one-hot coding)."""

    column: str
    value: str


@dataclass(frozen=True)
class Ordinal:
    """A feature that contains the position in `values` of the value of `column`."""

    column: str
    values: tuple[str, ...]


Coding = Indicator | Ordinal


def split(feature: str, threshold: float, coding: Coding | None) -> tuple[Condition, Condition]:
    """The two sides of `feature <= threshold`, in values of the table.

    Examples
    --------
    >>> below, above = split("sex_Male", 0.5, Indicator("sex", "Male"))
    >>> below.negated, above.negated
    (True, False)
    >>> split("size", 0.5, Ordinal("size", ("S", "M", "L")))[1].values
    ('M', 'L')
    """
    if coding is None:
        return Between(feature, high=threshold, high_closed=True), Between(feature, low=threshold)
    last = 1 if isinstance(coding, Indicator) else len(coding.values) - 1
    if not 0 <= threshold < last:
        raise InputError(
            f"the tree splits feature {feature!r} outside the codes 0 to {last} that its coding "
            "lists; check the coding"
        )
    if isinstance(coding, Indicator):
        value = (coding.value,)
        return OneOf(coding.column, value, negated=True), OneOf(coding.column, value)
    cut = math.floor(threshold) + 1
    return OneOf(coding.column, coding.values[:cut]), OneOf(coding.column, coding.values[cut:])


Leaf = tuple[tuple[Condition, ...], Sequence[float]]

ANY_NUMBER = sys.float_info.max


def tree_rules(
    tree: Any, features: Sequence[str] | None, coding: Mapping[str, Coding], shares: bool
) -> list[Rule]:
    """The rules of a scikit-learn tree or a `C45Classifier`, leaves from left to right.

    Leaves that no rule can describe are left out: those of C4.5 that no training row reached, and
    those of scikit-learn for rows with a missing number.
    """
    if not hasattr(tree, "classes_") or not hasattr(tree, "tree_"):
        raise InputError(
            f"rules need one fitted classification tree, got {type(tree).__name__}; fit it first, "
            "or give the trees of a forest one by one"
        )
    labels = [value_text(c) for c in tree.classes_]
    walk = _c45_leaves if hasattr(tree.tree_, "root") else _cart_leaves
    return [_rule(leaf, labels, shares) for leaf in walk(tree, features, coding)]


def _cart_leaves(
    tree: Any, features: Sequence[str] | None, coding: Mapping[str, Coding]
) -> Iterator[Leaf]:
    inner = tree.tree_
    names = _names(features, getattr(tree, "feature_names_in_", None), inner.n_features)
    _refuse_unknown(coding, names)
    # Not recursive: a tree may be deeper than Python's stack.
    waiting: list[tuple[int, tuple[Condition, ...]]] = [(0, ())]
    while waiting:
        node, path = waiting.pop()
        left, right = int(inner.children_left[node]), int(inner.children_right[node])
        if left == right:
            yield path, inner.value[node][0]
            continue
        name, threshold = names[inner.feature[node]], float(inner.threshold[node])
        if math.isinf(threshold):  # missing cells against all others, which rules describe
            waiting.append((left, (*path, Between(name, high=ANY_NUMBER, high_closed=True))))
            continue
        below, above = split(name, threshold, coding.get(name))
        waiting.append((right, (*path, above)))
        waiting.append((left, (*path, below)))


def _c45_leaves(
    tree: Any, features: Sequence[str] | None, coding: Mapping[str, Coding]
) -> Iterator[Leaf]:
    schema = tree.tree_.schema
    names = _names(features, schema.names, len(schema.names))
    _refuse_unknown(coding, names)
    levels = dict(zip(schema.names, schema.levels))
    shown = dict(zip(schema.names, names))
    waiting: list[tuple[Any, tuple[Condition, ...]]] = [(tree.tree_.root, ())]
    while waiting:
        node, path = waiting.pop()
        if not node.children:
            if sum(node.weights) > 0:
                yield path, node.weights
            continue
        name = shown[node.feature]
        if node.threshold is None:
            values = [value_text(level) for level in levels[node.feature]]
            sides: Sequence[Condition] = [OneOf(name, (value,)) for value in values]
        else:
            sides = split(name, node.threshold, coding.get(name))
        ways = [(child, (*path, side)) for child, side in zip(node.children, sides)]
        waiting += reversed(ways)


def _refuse_unknown(coding: Mapping[str, Coding], names: Sequence[str]) -> None:
    unknown = [name for name in coding if name not in names]
    if unknown:
        raise InputError(
            f"the coding names {listed(unknown)}, which the tree was not fitted on; its features "
            f"are {listed(names, most=30)}"
        )


def _names(
    features: Sequence[str] | None, remembered: Sequence[str] | None, count: int
) -> list[str]:
    given = features if features is not None else remembered
    if given is None:
        raise InputError("the tree has no feature names; pass them with features=[...]")
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
