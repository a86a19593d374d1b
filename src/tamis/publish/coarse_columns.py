"""What a manifest says of a column in a coarser form: one level of its ladder, and how to read it.

It names no value of fewer than k people.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.coarsen.ladder import NOTHING, Ladder
from tamis.coarsen.value_groups import plain_text
from tamis.release import Coarsening
from tamis.table import bare

ENDS = "[a, b) means from a up to but not including b"
READ = {
    "cuts": ENDS,
    "width": ENDS,
    "ends": "values as they are, but for < and >=, which mean below and from there on",
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
    return stated_of(ladder, form.level, lambda: _groups(ladder, form.level, column, k, people))


def stated_of(
    ladder: Ladder, level: int, groups: Callable[[], Mapping[str, list[str]]]
) -> dict[str, Any]:
    """The same of a column that was counted elsewhere.

    Parameters
    ----------
    ladder : Ladder
    level : int
    groups : callable
        By label the values of k people or more; asked only where the ladder has groups.
    """
    described = ladder.to_dict()
    word = next((w for w in ("cuts", "width", "ends", "keep", "dates") if w in described), "groups")
    if word == "groups":
        rule = {"groups": dict(groups())} | _of_others(ladder, level)
    else:
        rule = {**described, word: described[word][level - 1]}
    return {"level": level, **rule, "read": READ[word]}


def stated_form(said: Mapping[str, Any]) -> Coarsening:
    """The form that a manifest states, as a ladder of one level.

    Of a group, values that the manifest does not name are not known; they may have a label of
    their own, `unlisted`.

    >>> stated_form({"level": 2, "width": 10, "top": 90, "read": "..."})
    <Coarsening: level 1 by width, top>
    """
    rule = {word: part for word, part in said.items() if word not in ("level", "read")}
    word = next(word for word in READ if word in rule)
    return Coarsening({**rule, word: [rule[word]]}, 1)


def _of_others(ladder: Ladder, level: int) -> dict[str, str]:
    """The label of all values that a ladder does not name, if they have one."""
    (label,) = ladder.apply(pl.Series(["\0"]), level)
    return {} if label == NOTHING else {"unlisted": label}


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


class Bound(NamedTuple):
    """A column of a file that has one end of the intervals of another."""

    of: str
    end: Literal["lower", "upper"]


def with_bounds(
    frame: pl.DataFrame, forms: Mapping[str, Coarsening]
) -> tuple[pl.DataFrame, dict[str, Bound]]:
    """The released rows with the ends of intervals beside their labels, and what columns these are.

    They are functions of the labels, so that they tell nothing more; a model can use them as
    numbers or dates. An open end is missing. Labels that are no intervals have none.

    Examples
    --------
    >>> rows = pl.DataFrame({"age": ["[40, 50)", ">= 90"], "ill": ["no", "yes"]})
    >>> both, bounds = with_bounds(rows, {"age": Coarsening({"width": [10], "top": 90}, 1)})
    >>> both.rows()
    [('[40, 50)', 40.0, 50.0, 'no'), ('>= 90', 90.0, None, 'yes')]
    >>> bounds["age_upper"]
    Bound(of='age', end='upper')
    """
    columns: list[pl.Series] = []
    bounds: dict[str, Bound] = {}
    for series in frame.get_columns():
        columns.append(series)
        for bound, ends in _ends(series, forms.get(series.name)).items():
            name = f"{bound.of}_{bound.end}"
            while name in frame.columns or name in bounds:
                name += "_"
            columns.append(ends.alias(name))
            bounds[name] = bound
    return pl.DataFrame(columns), bounds


def _ends(labels: pl.Series, form: Coarsening | None) -> dict[Bound, pl.Series]:
    """The ends of the intervals of a column; none where no label has any."""
    if form is None:
        return {}
    ends = Ladder.from_dict(labels.name, form.ladder).bounds(labels, form.level)
    if all(series.null_count() == series.len() for series in ends):
        return {}
    return {
        Bound(labels.name, "lower"): ends["lower"],
        Bound(labels.name, "upper"): ends["upper"],
    }
