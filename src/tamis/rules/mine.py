"""Rules out of a table: the leaves of a CART tree."""

from __future__ import annotations

import math
from typing import Any

import polars as pl

from tamis.errors import InputError
from tamis.rules.bind import texts
from tamis.rules.onehot import OneHot
from tamis.rules.ruleset import RuleSet
from tamis.table import Table


def mine_rules(
    table: Table,
    *,
    min_support: float = 0.02,
    max_depth: int = 12,
    shares: bool = False,
    random_state: int = 0,
) -> RuleSet:
    """The rules of a CART tree of a table, by the settings of the paper.

    Parameters
    ----------
    table : Table
        With a target; its features are what the rules are about.
    min_support : float
        The least share of the rows that a leaf holds.
    max_depth : int
        The most splits on the way to a leaf.
    shares : bool
        Keep the shares of the labels of each leaf instead of the likeliest label alone.
    random_state : int
        Decides between equally good splits.

    Returns
    -------
    RuleSet

    Notes
    -----
    The tree sends a row with a missing number one way, but a missing cell meets no condition: on
    tables with missing cells the rules cover fewer rows than the tree.

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
        raise InputError(f"min_support is a share above 0 and at most 0.5, got {min_support:g}")
    if max_depth < 1:
        raise InputError(f"max_depth is at least 1, got {max_depth}")
    frame = table.frame.filter(pl.col(table.target).is_not_null())
    # A value in fewer rows than a leaf must hold can never be split off, so it needs no feature.
    least_rows = math.ceil(min_support * frame.height)
    coded = OneHot.of(frame, table.features, least_rows)
    if not coded.features:
        raise InputError("no column is left to make rules of; every value of it is rare")
    tree: Any = DecisionTreeClassifier(
        min_samples_leaf=max(1, least_rows), max_depth=max_depth, random_state=random_state
    )
    tree.fit(coded.matrix(frame), texts(frame[table.target]).to_numpy())
    return RuleSet.from_tree(
        tree, features=coded.names, coding=coded.coding, target=table.target, shares=shares
    )
