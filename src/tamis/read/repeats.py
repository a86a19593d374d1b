"""Repeating ids: columns whose values stand for people with several rows, and their siblings.

Sex and year of birth do not change between the rows of one person. A column of many values with a
few rows each is therefore taken for an id if other columns are steady within it, that is, if two
rows with the same value agree far more often than two random rows of the table. Two steady columns
are needed, neither of which follows from the other: a postcode makes both county and state steady,
but the county determines the state.

A sibling of a known identifier distinguishes the same people, or is a part of its text.
"""

from __future__ import annotations

from itertools import combinations, islice

import numpy as np
import polars as pl

from tamis.arrays import Codes
from tamis.people import value_codes
from tamis.read.headers import is_of_things

FEWEST_IDS = 30
FEWEST_REPEATED = 20
"""Fewest values with several rows; with fewer, columns may be steady by chance."""
FEWEST_ROWS, MOST_ROWS = 1.02, 20.0
"""Mean rows per value of an id: a unique key has 1, places and codes have hundreds."""
STEADY = 0.95
"""Least agreement within values, from 0 (chance) to 1 (always), of a steady column."""
FOLLOWS = 0.9
"""Least agreement at which one column counts as following from another."""
MOST_COMPARED = 12
"""The most steady columns that are compared with each other."""
FEWEST_SIBLINGS = 20
"""The fewest values of an identifier whose siblings are searched for."""
ROWS, COLUMNS = 50_000, 60
"""The most rows, and other columns, that are examined."""
PART = 0.8
"""Least share of rows in which one text's words are all in an identifier's text."""


def repeats_like_people(frame: pl.DataFrame, name: str) -> bool:
    """Whether a column has many values with a few rows each, within which other columns are steady.

    >>> rows = np.arange(600)
    >>> who = (rows * 7) % 200
    >>> frame = pl.DataFrame({"n": who, "sex": who % 2, "born": who % 13, "dose": rows % 5})
    >>> repeats_like_people(frame, "n"), repeats_like_people(frame, "dose")
    (True, False)
    """
    column = frame.get_column(name)
    if is_of_things(name) or not repeats_often(column):
        return False
    some = frame.head(ROWS)
    codes = _codes(some.get_column(name))
    others = (c for c in some.get_columns() if c.name != name)
    steady = []
    for other in islice(others, COLUMNS):
        values = _codes(other)
        if steadiness(codes, values) >= STEADY:
            steady.append(values)
    once = np.unique(codes[codes >= 0], return_index=True)[1]
    return _independent([values[codes >= 0][once] for values in steady])


def repeats_often(column: pl.Series) -> bool:
    """Whether a column of numbers or texts has many values with a few rows each."""
    values = column.alias("")
    if values.dtype in (pl.Date, pl.Datetime, pl.Time, pl.Boolean):
        return False
    present = values.drop_nulls()
    if present.dtype.is_float() and not bool((present == present.floor()).all()):
        return False
    counts = present.value_counts(name="n")["n"]
    if counts.len() < FEWEST_IDS or int((counts > 1).sum()) < FEWEST_REPEATED:
        return False
    return FEWEST_ROWS * counts.len() <= present.len() <= MOST_ROWS * counts.len()


def _independent(steady: list[Codes]) -> bool:
    """Whether two steady columns (with one row of each id) do not follow from each other.

    This can be tested only for columns whose values ids share. Near-unique ones, such as dates of
    birth or weights, would follow from each other by chance; of these, three are needed.
    """
    common = [values for values in steady if 2 * len(np.unique(values)) <= len(values)]
    if any(
        steadiness(a, b) < FOLLOWS and steadiness(b, a) < FOLLOWS
        for a, b in combinations(common[:MOST_COMPARED], 2)
    ):
        return True
    return len(steady) - len(common) >= 3


def steadiness(groups: Codes, values: Codes) -> float:
    """Agreement of two rows of a group beyond that of two random rows: 0 is chance, 1 is always.

    Each row counts once, by the share of the other rows of its group that agree with it; otherwise
    one large group, such as those with a 0 in many columns, would outweigh the rest. Also 0 where
    it cannot be judged: few groups have two rows, or nearly all rows are equal. Negative codes are
    missing; such rows form no group.

    >>> steadiness(np.repeat(np.arange(100), 3), np.repeat(np.arange(100) % 4, 3))
    1.0
    """
    kept = groups >= 0
    groups, values = groups[kept], values[kept] + 1
    n = len(groups)
    if n < 2:
        return 0.0
    width = int(values.max()) + 1
    both, together = np.unique(groups * width + values, return_counts=True)
    sizes = np.bincount(groups)
    pairs = _pairs(sizes)
    chance = _pairs(np.bincount(values)) / _pairs(np.array([n]))
    # So few pairs would disagree by chance that agreement is no evidence.
    if pairs * (1 - chance) < FEWEST_REPEATED or chance > 1 - 1 / FEWEST_REPEATED:
        return 0.0
    others = np.maximum(sizes[both // width] - 1, 1)
    agreeing = float((together * (together - 1) / others).sum()) / int(sizes[sizes > 1].sum())
    return (agreeing - chance) / (1 - chance)


def _pairs(counts: Codes) -> float:
    counts = counts.astype(np.float64)
    return float((counts * (counts - 1)).sum() / 2)


def _codes(column: pl.Series) -> Codes:
    """Codes from 0 for equal cells, -1 where missing."""
    values = column.alias("")
    if values.dtype.is_float():
        values = values.fill_nan(None)
    codes = value_codes(values)
    return codes - 1 if values.null_count() else codes  # missing, if any, has the code 0


def sibling_of(frame: pl.DataFrame, name: str, identifier: str) -> bool:
    """Whether a column distinguishes the same people as an identifier, or is a part of its text.

    >>> whole = [f"{a} {b}" for a in ("Ann", "Bo", "Eve", "Jo", "Kim") for b in "PQRSTUVW"]
    >>> frame = pl.DataFrame({"who": whole, "a": [w[:-2] for w in whole], "c": ["x", "y"] * 20})
    >>> sibling_of(frame, "a", "who"), sibling_of(frame, "c", "who")
    (True, False)
    """
    column, known = frame.get_column(name), frame.get_column(identifier)
    if column.dtype == pl.Boolean or known.n_unique() < FEWEST_SIBLINGS:
        return False
    if column.dtype == pl.String and known.dtype == pl.String and _is_part(column, known):
        return True
    if not repeats_often(column) or not repeats_often(known):
        return False
    some = frame.head(ROWS)
    codes, of_known = (_codes(some.get_column(c)) for c in (name, identifier))
    return steadiness(codes, of_known) >= FOLLOWS


def _is_part(column: pl.Series, known: pl.Series) -> bool:
    both = pl.DataFrame({"part": column.alias("part"), "whole": known.alias("whole")})
    both = both.drop_nulls().unique(maintain_order=True).head(2_000)
    low = both.select(pl.all().str.strip_chars().str.to_lowercase()).filter(pl.col("part") != "")
    # An initial or a two-letter code may be in a name by chance.
    if low.height < FEWEST_SIBLINGS or (low["part"].str.len_chars().mean() or 0) < 2:  # type: ignore[operator]
        return False
    wholes = [set(text.replace(",", " ").split()) for text in low["whole"]]
    parts = sum(set(part.split()) <= words for part, words in zip(low["part"], wholes))
    return parts >= PART * low.height and low["part"].n_unique() > 2
