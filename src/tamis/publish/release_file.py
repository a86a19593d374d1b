"""The released rows in an order that reveals nothing."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.table import Table, one_form


def arranged(table: Table, random_state: int) -> pl.DataFrame:
    """Columns by name, the target last; rows in one form, sorted by their values, then shuffled.

    The sorting makes the result the same for every order of the original rows, so that even someone
    who knows the seed learns nothing about that order. Rows that sort equal are the same bits.

    >>> from tamis import Roles
    >>> rows = pl.DataFrame({"b": [1, 2, 3], "a": [4, 5, 6], "y": [0, 1, 0]})
    >>> one = arranged(Table(rows, Roles(target="y")), 7)
    >>> two = arranged(Table(rows.reverse(), Roles(target="y")), 7)
    >>> one.columns, one.equals(two)
    (['a', 'b', 'y'], True)
    """
    columns = [*sorted(table.features), table.target]
    return one_form(table.only(columns), texts=True)[order_of(table, random_state)]


def order_of(table: Table, random_state: int, *ties: NDArray[np.int64]) -> NDArray[np.int64]:
    """The row numbers of `arranged`; identical rows are in the order of `ties`, such as people."""
    rows = one_form(table.only([*sorted(table.features), table.target]), texts=True)
    keys = [s.alias(str(i)) for i, s in enumerate((*rows.get_columns(), *map(pl.Series, ties)))]
    numbers = pl.Series("row", np.arange(rows.height))
    placed = pl.DataFrame([*keys, numbers]).sort([key.name for key in keys], nulls_last=True)
    drawn = np.random.default_rng(random_state).permutation(rows.height)
    order: NDArray[np.int64] = placed["row"].to_numpy()[drawn]
    return order
