"""What a manifest says of a column in a coarser form: one level of its ladder, and how to read it.

It names no value of fewer than k people.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.coarsen.ladder import Ladder
from tamis.coarsen.value_groups import plain_text
from tamis.release import Coarsening
from tamis.table import bare

ENDS = "[a, b) means from a up to but not including b"
READ = {
    "cuts": ENDS,
    "width": ENDS,
    "keep": "a star stands for each character left out",
    "dates": "a date is given by the part of the calendar that it lies in",
    "groups": "a label stands for all values of its group; rare values are not named",
}


def stated(
    form: Coarsening,
    column: pl.Series,
    k: int,
    people: NDArray[np.int64] | None = None,
) -> dict[str, Any]:
    """One level of a ladder as a manifest states it.

    Parameters
    ----------
    form : Coarsening
    column : polars.Series
        The column of the original.
    k : int
        Values that fewer people have are not named.
    people : array of int, optional
        Whose each row is.

    Examples
    --------
    >>> ages = pl.Series("age", [41, 44, 52])
    >>> stated(Coarsening({"width": [5, 10], "top": 90}, 2), ages, k=2)
    {'level': 2, 'width': 10, 'top': 90, 'read': '[a, b) means from a up to but not including b'}
    >>> jobs = pl.Series("job", ["cook", "cook", "judge"])
    >>> stated(Coarsening({"groups": [{"any": ["cook", "judge"]}]}, 1), jobs, k=2)["groups"]
    {'any': ['cook']}
    """
    ladder = Ladder.from_dict(column.name, form.ladder)
    described = ladder.to_dict()
    word = next((w for w in ("cuts", "width", "keep", "dates") if w in described), "groups")
    if word == "groups":
        rule = {"groups": _groups(ladder, form.level, column, k, people)}
    else:
        rule = {**described, word: described[word][form.level - 1]}
    return {"level": form.level, **rule, "read": READ[word]}


def _groups(
    ladder: Ladder, level: int, column: pl.Series, k: int, people: NDArray[np.int64] | None
) -> dict[str, list[str]]:
    """The labels that are released, and the values of k people or more behind each."""
    who = np.arange(column.len()) if people is None else people
    rows = pl.DataFrame({"value": plain_text(bare(column)), "who": who}).with_columns(
        ladder.apply(bare(column), level).alias("label")
    )
    each = (
        rows.drop_nulls("label")
        .group_by("label", "value")
        .agg(pl.col("who").n_unique() >= max(k, 1))
        .sort("label", "value")
    )
    return {
        label: values.filter(pl.col("who"))["value"].to_list()
        for (label,), values in each.group_by("label", maintain_order=True)
    }
