"""The released rows in an order that tells nothing."""

from __future__ import annotations

import numpy as np
import polars as pl

from tamis.table import Table
from tamis.table_file import one_form


def arranged(table: Table, random_state: int) -> pl.DataFrame:
    """Columns by name, the target last; rows in one form, sorted by their values, then shuffled.

    The sorting makes the result the same for every order of the original rows, so that not even
    one who knows the seed learns anything of that order. Rows that sort alike are the same bits.

    >>> from tamis import Roles
    >>> rows = pl.DataFrame({"b": [1, 2, 3], "a": [4, 5, 6], "y": [0, 1, 0]})
    >>> one = arranged(Table(rows, Roles(target="y")), 7)
    >>> two = arranged(Table(rows.reverse(), Roles(target="y")), 7)
    >>> one.columns, one.equals(two)
    (['a', 'b', 'y'], True)
    """
    columns = [*sorted(table.features), table.target]
    rows = one_form(table.only(columns)).sort(pl.all(), nulls_last=True)
    return rows[np.random.default_rng(random_state).permutation(rows.height)]
