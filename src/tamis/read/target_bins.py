"""Cut a numeric target into classes, since classifiers predict classes.

An interval includes the cut at its upper end, as in the 0/1 encoding of a schema. If no cuts are
given, they are quantiles moved to round numbers, with enough people in every class.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import polars as pl

from tamis.cuts import quantile_cuts
from tamis.errors import InputError
from tamis.table import Table, TargetBins, bare

MOST_CLASSES = 20
"""The most different numbers that may be classes."""
MOST_BINS = 100


def need_classes(table: Table) -> None:
    """Raise early for a target of many numbers, before hours are spent on learning each of them."""
    target = bare(table.frame.get_column(table.target))
    if not target.dtype.is_numeric() or target.n_unique() <= MOST_CLASSES:
        return
    raise InputError(
        f"the target {table.target!r} has {target.n_unique():,} different numbers, but models "
        "learn classes; pass --target-bins 4 for quarters with round ends, or the ends "
        "themselves, such as --target-bins 10,20,30 (in Python target_bins=4, in a schema "
        "target_bins = [10, 20, 30] under [roles]). If the numbers are codes of classes, declare "
        "the column as text in a schema"
    )


def bin_target(table: Table, bins: int | Sequence[float]) -> Table:
    """Cut the target of a table into classes.

    Parameters
    ----------
    table : Table
    bins : int or sequence of float
        How many classes, with about equally many rows; or where they end.

    Examples
    --------
    >>> from tamis.table import Roles
    >>> frame = pl.DataFrame({"age": range(20, 60), "wage": [8.5 + i % 30 for i in range(40)]})
    >>> table = bin_target(Table(frame, Roles(target="wage")), [12, 24])
    >>> table.frame["wage"].unique().sort().to_list()
    ['12 or less', 'above 12 to 24', 'above 24']
    """
    column = table.frame.get_column(table.target)
    if not column.dtype.is_numeric():
        raise InputError(
            f"--target-bins cuts numbers, but the target {table.target!r} holds none; leave it out"
        )
    values = bare(column)
    cuts = _checked(bins) if isinstance(bins, Sequence) else _quantiles(table, values, bins)
    present = values.drop_nulls()
    whole = bool((present == present.floor()).all()) and all(c == int(c) for c in cuts)
    names = bin_names(cuts, whole)
    place = np.searchsorted(np.array(cuts), values.cast(pl.Float64).fill_null(0).to_numpy())
    texts = pl.Series([names[i] for i in place.tolist()], dtype=pl.String)
    labels = pl.Series([None], dtype=pl.String).zip_with(values.is_null(), texts)
    said = {c: entry for c, entry in table.dictionary.items() if c != table.target}
    return replace(
        table,
        frame=table.frame.with_columns(labels.alias(table.target)),
        dictionary=said,
        target_bins=TargetBins(tuple(cuts), tuple(names)),
    )


def _quantiles(table: Table, values: pl.Series, bins: int) -> list[float]:
    if not 2 <= bins <= MOST_BINS:
        raise InputError(
            f"--target-bins takes a number of classes from 2 to {MOST_BINS}, or the ends of "
            f"classes separated by commas; got {bins}"
        )
    known = values.is_not_null().to_numpy()
    numbers = values.drop_nulls().cast(pl.Float64).to_numpy()
    if found := quantile_cuts(numbers, bins, people=table.people[known]):
        return found
    raise InputError(
        f"the target {table.target!r} cannot be cut into {bins} classes with enough people in "
        "each; name the ends of classes, such as --target-bins 10,20"
    )


def _checked(bins: Sequence[float]) -> list[float]:
    cuts = [float(cut) for cut in bins]
    if not cuts or any(a >= b for a, b in pairwise(cuts)) or not all(map(math.isfinite, cuts)):
        raise InputError("--target-bins takes the ends of classes as rising numbers, such as 10,20")
    return cuts


def bin_names(cuts: Sequence[float], whole: bool) -> list[str]:
    """The names of the classes, lowest first.

    >>> bin_names([10, 20], whole=True), bin_names([10, 20.5], whole=False)
    (['10 or less', '11 to 20', '21 or more'], ['10 or less', 'above 10 to 20.5', 'above 20.5'])
    """
    between = [_between(low, high, whole) for low, high in pairwise(cuts)]
    last = f"{_plain(cuts[-1] + 1)} or more" if whole else f"above {_plain(cuts[-1])}"
    return [f"{_plain(cuts[0])} or less", *between, last]


def _between(low: float, high: float, whole: bool) -> str:
    if not whole:
        return f"above {_plain(low)} to {_plain(high)}"
    return _plain(high) if high == low + 1 else f"{_plain(low + 1)} to {_plain(high)}"


def _plain(number: float) -> str:
    return str(int(number)) if number == int(number) else repr(number)


def asked_bins(given: Sequence[str], roles: Mapping[str, object]) -> int | tuple[float, ...] | None:
    """The classes that an option or a schema asks for; `None` if neither does.

    >>> asked_bins(["4"], {}), asked_bins(["10", "20"], {}), asked_bins([], {})
    (4, (10.0, 20.0), None)
    """
    if not given:
        said = roles.get("target_bins")
        return said if isinstance(said, int | tuple) else None
    try:
        numbers = tuple(float(text) for text in given)
    except ValueError:
        raise InputError(
            "--target-bins takes a number of classes, such as 4, or the ends of classes, such as "
            "10,20,30"
        ) from None
    return int(numbers[0]) if len(numbers) == 1 and numbers[0] == int(numbers[0]) else numbers
