"""Rules out of a table: the leaves of a CART tree."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import polars as pl

from tamis.errors import InputError
from tamis.rules.bind import texts
from tamis.rules.condition import Between
from tamis.rules.onehot import OneHot
from tamis.rules.rule import Rule
from tamis.rules.ruleset import RuleSet
from tamis.rules.tree import ANY_NUMBER
from tamis.table import Table, bare


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
    frame = table.frame.filter(bare(table.frame[table.target]).is_not_null())
    # A value in fewer rows than a leaf must hold can never be split off, so it needs no feature.
    least_rows = math.ceil(min_support * frame.height)
    coded = OneHot.of(frame, table.features, least_rows)
    if not coded.features:
        raise InputError("no column is left to make rules of; every value of it is rare")
    tree: Any = DecisionTreeClassifier(
        min_samples_leaf=max(1, least_rows), max_depth=max_depth, random_state=random_state
    )
    tree.fit(coded.matrix(frame), texts(frame[table.target]).to_numpy())
    found = RuleSet.from_tree(
        tree, features=coded.names, coding=coded.coding, target=table.target, shares=shares
    )
    return RuleSet([_readable(rule, frame) for rule in found], target=found.target)


def _readable(rule: Rule, frame: pl.DataFrame) -> Rule:
    """The same rule on this table, its bounds written as people would write them.

    The tree cuts between two values of a column that it keeps in 32 bits, so that 30.95 becomes
    30.949999809265137.
    """
    conditions = tuple(
        replace(c, low=_plain_cut(c.low, frame[c.column]), high=_plain_cut(c.high, frame[c.column]))
        if isinstance(c, Between)
        else c
        for c in rule.conditions
    )
    return replace(rule, conditions=conditions)


def _plain_cut(cut: float, column: pl.Series) -> float:
    """The shortest number near the middle of the two values that a cut lies between."""
    below, above = column.filter(column <= cut).max(), column.filter(column > cut).min()
    if not isinstance(below, int | float) or not isinstance(above, int | float):
        return float(below) if cut == ANY_NUMBER and isinstance(below, int | float) else cut
    middle, air = (below + above) / 2, (above - below) / 4
    short = (round(middle, digits) for digits in range(16))
    return next((float(s) for s in short if abs(s - middle) <= air), cut)
