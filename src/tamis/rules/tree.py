"""Rules from classification trees: one for each leaf of a fitted tree, in values of the table.

`mine_rules` fits the tree too: a CART tree on one-hot encoded columns.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.coding import as_floats
from tamis.errors import InputError, listed, listed_as, plural
from tamis.rules.rule import Between, Condition, OneOf, Rule, merged
from tamis.rules.ruleset import RuleSet, holds, texts, value_text
from tamis.table import Table, bare


@dataclass(frozen=True)
class Indicator:
    """A 0/1 feature that is 1 where `column` has `value` (one-hot encoding)."""

    column: str
    value: str


@dataclass(frozen=True)
class Ordinal:
    """A feature with the position of the value of `column` in `values` (ordinal encoding)."""

    column: str
    values: tuple[str, ...]


Coding = Indicator | Ordinal


def split(feature: str, threshold: float, coding: Coding | None) -> tuple[Condition, Condition]:
    """The conditions of both sides of `feature <= threshold`, in values of the table.

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
"""The conditions on the path to a leaf, and the weight of each class in it."""

ANY_NUMBER = sys.float_info.max
"""An upper bound that every finite number meets and no missing cell does."""


def tree_rules(
    tree: Any, features: Sequence[str] | None, coding: Mapping[str, Coding], shares: bool
) -> list[Rule]:
    """The rules of a scikit-learn tree or a `C45Classifier`, one for each leaf from left to right.

    Leaves that no rule can describe are left out: leaves of C4.5 that no training row reached, and
    leaves of scikit-learn for rows with a missing number.
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
        # An infinite threshold parts the numbers, on the left, from missing cells, which no
        # condition matches.
        if math.isinf(threshold):
            waiting.append((left, (*path, Between(name, high=ANY_NUMBER, high_closed=True))))
            continue
        below, above = split(name, threshold, coding.get(name))
        # Last in, first out: the left side is visited first.
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
        fitted = plural(count, "feature")
        raise InputError(f"the tree was fitted on {fitted}, got {plural(len(names), 'name')}")
    return names


def _rule(leaf: Leaf, labels: Sequence[str], shares: bool) -> Rule:
    path, weights = leaf
    conditions = merged(path)
    if not shares:
        return Rule(conditions, label=labels[int(np.argmax(weights))])
    total = float(np.sum(weights))
    return Rule(conditions, distribution={c: float(w) / total for c, w in zip(labels, weights)})


@dataclass(frozen=True)
class OneHot:
    """One-hot encoding of a table: numbers as they are, other values as 0/1 indicators.

    Examples
    --------
    >>> frame = pl.DataFrame({"age": [20, None], "job": ["cook", "judge"]})
    >>> OneHot.of(frame, ["age", "job"]).matrix(frame).tolist()
    [[20.0, 1.0, 0.0], [nan, 0.0, 1.0]]
    """

    features: tuple[str | Indicator, ...]

    @classmethod
    def of(cls, frame: pl.DataFrame, columns: Sequence[str], least_rows: int = 1) -> OneHot:
        """Features for these columns; a value in fewer than `least_rows` rows gets no indicator."""
        features: list[str | Indicator] = []
        for column in columns:
            held = holds(frame.get_column(column).dtype)
            if held == "numbers":
                features.append(column)
            elif held != "nothing":
                counts = bare(texts(frame[column])).drop_nulls().value_counts()
                common = counts.filter(pl.col("count") >= least_rows)[""].sort().to_list()
                features += [Indicator(column, value) for value in common]
        return cls(tuple(features))

    @property
    def names(self) -> list[str]:
        """A name for each feature."""
        # A control character separates column and value, so that no column can have such a name.
        return [f if isinstance(f, str) else f"{f.column}\x1f{f.value}" for f in self.features]

    @property
    def coding(self) -> dict[str, Coding]:
        """The column and value of each indicator, by the name of the feature."""
        named = zip(self.names, self.features)
        return {name: f for name, f in named if isinstance(f, Indicator)}

    def matrix(self, frame: pl.DataFrame) -> NDArray[np.float32]:
        """Matrix of rows x features; missing numbers are NaN, missing or new values all 0.

        It is 32 bits wide, as scikit-learn's trees are.
        """
        wanted = {f if isinstance(f, str) else f.column for f in self.features}
        if gone := sorted(wanted - set(frame.columns)):
            raise InputError(
                f"the table has no {listed_as('column', gone)}; its columns are "
                f"{listed(frame.columns, most=30)}"
            )
        cells = {c: frame[c] if c in self.features else texts(frame[c]) for c in wanted}
        out = np.empty((frame.height, len(self.features)), dtype=np.float32)
        for i, feature in enumerate(self.features):
            if isinstance(feature, Indicator):
                out[:, i] = bare(cells[feature.column] == feature.value).fill_null(False).to_numpy()
            else:
                out[:, i] = as_floats(cells[feature])
        return out


def mine_rules(
    table: Table,
    *,
    min_support: float = 0.02,
    max_depth: int = 12,
    shares: bool = False,
    random_state: int = 0,
) -> RuleSet:
    """The rules of a CART tree fitted to a table, with the settings of the paper.

    Parameters
    ----------
    table : Table
        With a target; the rules are about its features.
    min_support : float
        The smallest fraction of the rows in a leaf.
    max_depth : int
        The most splits on the path to a leaf.
    shares : bool
        Keep the shares of the labels in each leaf instead of only the most likely label.
    random_state : int
        Breaks ties between equally good splits.

    Returns
    -------
    RuleSet

    Notes
    -----
    The tree sends a row with a missing number to one side, but a missing cell matches no condition:
    on tables with missing cells the rules cover fewer rows than the tree.

    Examples
    --------
    >>> frame = pl.DataFrame({"age": [22, 25, 31, 47, 52, 60], "ill": ["no"] * 3 + ["yes"] * 3})
    >>> from tamis import Roles
    >>> print(mine_rules(Table(frame, Roles(target="ill"))).to_text())
    age <= 39 -> ill=no
    age > 39 -> ill=yes
    """
    from sklearn.tree import DecisionTreeClassifier

    if not 0 < min_support <= 0.5:
        raise InputError(
            f"min_support must be a share above 0 and at most 0.5, got {min_support:g}"
        )
    if max_depth < 1:
        raise InputError(f"max_depth must be at least 1, got {max_depth}")
    frame = table.frame.filter(bare(table.frame[table.target]).is_not_null())
    # A value in fewer rows than a leaf must have can never be split off, so it needs no feature.
    least_rows = math.ceil(min_support * frame.height)
    coded = OneHot.of(frame, table.features, least_rows)
    if not coded.features:
        raise InputError("there is no column left to make rules from; every value is rare")
    tree: Any = DecisionTreeClassifier(
        min_samples_leaf=max(1, least_rows), max_depth=max_depth, random_state=random_state
    )
    tree.fit(coded.matrix(frame), texts(frame[table.target]).to_numpy())
    rules = RuleSet.from_tree(
        tree, features=coded.names, coding=coded.coding, target=table.target, shares=shares
    )
    return RuleSet([_readable(rule, frame) for rule in rules], target=rules.target)


def _readable(rule: Rule, frame: pl.DataFrame) -> Rule:
    """An equivalent rule on this table, with bounds as a person would write them.

    The tree cuts between two values of a column that it stores in 32 bits, so that a bound such as
    30.95 becomes 30.949999809265137.
    """
    conditions = tuple(
        replace(c, low=_plain_cut(c.low, frame[c.column]), high=_plain_cut(c.high, frame[c.column]))
        if isinstance(c, Between)
        else c
        for c in rule.conditions
    )
    return replace(rule, conditions=conditions)


def _plain_cut(cut: float, column: pl.Series) -> float:
    """The shortest number near the middle of the two values around a cut."""
    below, above = column.filter(column <= cut).max(), column.filter(column > cut).min()
    if not isinstance(below, int | float) or not isinstance(above, int | float):
        return float(below) if cut == ANY_NUMBER and isinstance(below, int | float) else cut
    # Within a quarter of the gap from its middle, the same rows are on either side.
    middle, air = (below + above) / 2, (above - below) / 4
    short = (round(middle, digits) for digits in range(16))
    return next((float(s) for s in short if abs(s - middle) <= air), cut)
