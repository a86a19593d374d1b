"""Target leakage: columns that restate the target, or the secret, in another form.

The year of death reveals who died, the birth weight who weighed little, the date of the next
offence who offended again. A model that is given such a column predicts nothing. A column counts
as a copy where it alone gives the label almost without error, on rows not used to learn it, in one
of the ways that copies do: it is filled in for one label only; one cut between neighbouring labels
decides; each of its values has one label; or it is a date that follows the outcome. Columns that
merely predict well err more often: some mushrooms without a smell are poisonous.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.arrays import Codes, Integers
from tamis.coding import Coded, CodedFrame, dense
from tamis.errors import TamisWarning
from tamis.people import People, PeopleLike, join_codes, value_codes
from tamis.table import Table, bare

COPY = 0.98
"""Least share of the majority guess's errors that a copy avoids; the smell of mushrooms, which is
no copy, avoids 0.969."""
CUT = 0.96
"""Like `COPY`, for a cut, so that a rounded copy (to ounces, say) is still found; petals of irises,
which are no copy, avoid 0.94."""
PART = 0.9
"""Least share of a label's rows that are filled in, where no row of another label is."""
MISSED = 0.005
"""Largest share of a label's rows that may be empty, where few others (a tenth as many) are not."""
FEWEST = 20
"""The fewest rows of the rarer label; below, a column may separate labels by chance."""
MOST_LABELS = 20
PARTS = 4
"""A target of numbers with more than `MOST_LABELS` values is cut into this many parts."""
AFTER = 0.99
"""Least share of rows in which a date is not before the outcome's."""

FILLED = "whether it is filled in gives {} away"
COMMONEST = "whether it has its commonest value gives {} away"
DECIDED = "a cut in it decides {}"
DETERMINED = "each of its values has one value of {}"
DATED = "only one value of {} has this date, so it follows the outcome"
FOLLOWS = "it is dated after {1}, which gives {0} away"


class Copy(NamedTuple):
    """Of which column another is a copy, and why."""

    of: str
    why: str


def copies(table: Table) -> dict[str, Copy]:
    """Features without a stated role that are copies of the target or of a secret.

    >>> from tamis.table import Roles
    >>> rng = np.random.default_rng(0)
    >>> grams = rng.normal(3000, 600, 200).round()
    >>> frame = pl.DataFrame({"bwt": grams, "age": rng.integers(18, 45, 200), "low": grams < 2500})
    >>> copies(Table(frame, Roles(target="low")))
    {'bwt': Copy(of='low', why="a cut in it decides 'low'")}
    """
    asked = [c for c in table.features if c not in table.roles.plain]
    codes = CodedFrame(table.frame)
    named: dict[str, Copy] = {}
    for of in dict.fromkeys((table.roles.target, *table.secrets)):
        if of is not None and of not in table.released_secrets:
            whys = copies_of(table.frame, of, among=asked, people=table.people, codes=codes)
            named = {name: Copy(of, why) for name, why in whys.items()} | named  # first of several
    return named


def copies_of(
    frame: pl.DataFrame,
    of: str,
    *,
    among: Collection[str],
    people: PeopleLike = None,
    codes: CodedFrame | None = None,
) -> dict[str, str]:
    """Columns that are copies of another one, each with the reason.

    Parameters
    ----------
    frame : polars.DataFrame
    of : str
        The column whose copies are wanted; numbers of many values are cut into quarters.
    among : collection of str
        The columns to test.
    people : People or array, optional
        The person of each row, who counts once for each value.
    codes : CodedFrame, optional
        The columns as codes, where the caller has them already.
    """
    label = bare(frame.get_column(of))
    known = label.is_not_null().to_numpy()
    labels = _labels(label.filter(pl.Series(known)))
    if labels is None:
        return {}
    who = People.named(people, frame.height)[known]
    rows = frame.filter(pl.Series(known))
    codes = CodedFrame(frame) if codes is None else codes
    found = {
        c: _why(
            bare(rows.get_column(c)),
            dense(Coded(codes[c].codes[known], codes[c].radix)).codes,
            labels,
            who,
        )
        for c in among
    }
    whys = {name: why.format(repr(of)) for name, why in found.items() if why}
    return whys | _dated_after(rows, [c for c in among if c not in whys], whys, of)


def _labels(label: pl.Series) -> Codes | None:
    """Code of each row's label; `None` where there are too few rows, or too many labels."""
    codes = value_codes(label)
    if label.dtype.is_numeric() and codes.max(initial=0) >= MOST_LABELS:
        numbers = label.cast(pl.Float64).to_numpy()
        ends = np.quantile(numbers, np.arange(1, PARTS) / PARTS)
        codes = value_codes(pl.Series(np.searchsorted(ends, numbers)))
    counts = np.bincount(codes) if len(codes) else np.zeros(1)
    if not 2 <= len(counts) <= MOST_LABELS or len(codes) - counts.max() < FEWEST:
        return None
    return codes


def _why(column: pl.Series, values: Integers, labels: Codes, people: People) -> str:
    """Why a column is a copy of the labels, or ""; `values` are its cells as ordered codes."""
    gone = column.is_null().to_numpy()
    if _gives_away(gone, labels):
        return FILLED
    if _is_ordered(column) and _avoided(_cut(values, ~gone, labels), labels) >= CUT:
        return DECIDED
    if _determined(values, labels, people) >= COPY:
        return DETERMINED
    # The commonest value may stand for "empty": a code for "never" among dates, each too rare to
    # count; or the 0 of everyone without a card in a column of amounts spent by card.
    common = values == np.bincount(values).argmax()
    if _gives_away(common, labels):
        return COMMONEST
    return DATED if column.dtype in (pl.Date, pl.Datetime) and _is_of_one(gone, labels) else ""


def _avoided(wrong: float, labels: Codes) -> float:
    """Share of the majority guess's errors that a share of wrong rows avoids."""
    return float(1 - wrong / (1 - np.bincount(labels).max() / len(labels)))


def _gives_away(gone: NDArray[np.bool_], labels: Codes) -> bool:
    """Whether being filled in reveals the label, whatever the column's values."""
    return (
        _tells_one(gone, labels)
        or _is_partly_filled(gone, labels)
        or _is_filled_for_all_of_one(gone, labels)
    )


def _tells_one(gone: NDArray[np.bool_], labels: Codes) -> bool:
    """Whether a column is filled in for all rows of one label and for no others, or the reverse."""
    if gone.all() or not gone.any():
        return False
    for label, count in enumerate(np.bincount(labels)):
        of_it = labels == label
        rarer = min(count, len(labels) - count)
        differ = int((gone != of_it).sum())
        if rarer >= FEWEST and 1 - min(differ, len(labels) - differ) / rarer >= COPY:
            return True
    return False


def _is_partly_filled(gone: NDArray[np.bool_], labels: Codes) -> bool:
    """Whether a column is filled in for most rows of one label and for no others."""
    if not _is_of_one(gone, labels):
        return False
    label = np.bincount(labels[~gone]).argmax()
    return bool((~gone[labels == label]).mean() >= PART)


def _is_filled_for_all_of_one(gone: NDArray[np.bool_], labels: Codes) -> bool:
    """Whether a column is filled in for all rows of one label and for few others.

    For instance, the next offence has a date for all who offended again, and for a few who did so
    too late to count.
    """
    if gone.all() or not gone.any():
        return False
    counts = np.bincount(labels)
    for label, count in enumerate(counts):
        missed = int(gone[labels == label].sum())
        others = int((~gone[labels != label]).sum())
        rarer = min(count, len(labels) - count)
        if rarer >= FEWEST and missed <= MISSED * count and others <= (1 - PART) * rarer:
            return True
    return False


def _is_of_one(gone: NDArray[np.bool_], labels: Codes) -> bool:
    """Whether the rows that are filled in have one label, which many other rows lack."""
    filled = labels[~gone]
    if not gone.any() or len(filled) < FEWEST:
        return False
    counts = np.bincount(filled, minlength=labels.max() + 1)
    usual = np.bincount(labels) / len(labels)
    most = int(counts.argmax())
    if (1 - usual[most]) * len(labels) < FEWEST:
        return False
    return bool(1 - (1 - counts[most] / len(filled)) / (1 - usual[most]) >= COPY)


def _is_ordered(column: pl.Series) -> bool:
    return column.dtype.is_numeric() or column.dtype in (pl.Date, pl.Datetime)


def _cut(values: Integers, known: NDArray[np.bool_], labels: Codes) -> float:
    """Share of rows that are wrong if one cut separates each label from the next.

    Labels are ordered by their medians. Rows without a value are guessed as their commonest label.
    """
    x, y = values[known], labels[known]
    present = np.flatnonzero(np.bincount(y))
    if len(present) < 2:
        return 1.0
    in_order = sorted(present.tolist(), key=lambda label: float(np.median(x[y == label])))
    place = np.empty(labels.max() + 1, dtype=np.int64)  # labels without rows are never looked up
    place[in_order] = np.arange(len(in_order))
    # For each label, the cumulative count of rows up to each value.
    up_to = (np.cumsum(np.bincount(x[y == i], minlength=x.max() + 1)) for i in in_order)
    cuts = [_best_cut(below, above) for below, above in pairwise(up_to)]
    wrong = int((np.searchsorted(np.sort(cuts), x, side="left") != place[y]).sum())
    rest = np.bincount(labels[~known], minlength=1)
    return float((wrong + rest.sum() - rest.max()) / len(labels))


def _best_cut(below: Integers, above: Integers) -> int:
    """The last value below the cut that puts the fewest rows of two labels on the wrong side."""
    # Wrong at each cut: rows of the upper label up to it, and rows of the lower label beyond it.
    return int((above + below[-1] - below).argmin())


def _determined(values: Integers, labels: Codes, people: People) -> float:
    """Share of errors avoided by guessing the commonest label of the other rows with one's value.

    Leave-one-out, so that values which occur once, such as names, determine nothing.
    """
    if not people.each_row:  # each person counts once for a value and label
        once = np.unique(join_codes([people.codes, values, labels]), return_index=True)[1]
        values, labels = values[once], labels[once]
    width = int(labels.max()) + 1
    # Too few rows to a value, on average, or only one label: nothing can be determined.
    if 3 * (int(values.max()) + 1) > len(values) or len(labels) == np.bincount(labels).max():
        return 0.0
    counts = np.bincount(values * width + labels, minlength=(values.max() + 1) * width)
    table = counts.reshape(-1, width)
    # A row is guessed right if its label is still the commonest of its value without that row:
    # compared with the largest count of the other labels.
    lead = np.sort(table, axis=1)[:, -2:]
    best = np.where(table == lead[:, 1:], lead[:, :1], lead[:, 1:])
    right = int(table[(table >= 2) & (table - 1 >= best)].sum())
    return _avoided(1 - right / len(labels), labels)


def _dated_after(
    rows: pl.DataFrame, among: list[str], whys: dict[str, str], of: str
) -> dict[str, str]:
    """Dates that are hardly ever before a date already found to be a copy."""
    dates = [c for c in rows.columns if rows.schema[c] in (pl.Date, pl.Datetime)]
    followers = {}
    for name in (c for c in among if c in dates):
        for outcome in (c for c in whys if c in dates):
            later = (rows.get_column(name).cast(pl.Datetime("us"))
                     >= rows.get_column(outcome).cast(pl.Datetime("us"))).drop_nulls()  # fmt: skip
            if later.len() >= FEWEST and int(later.sum()) >= AFTER * later.len():
                followers[name] = FOLLOWS.format(repr(of), repr(outcome))
    return followers


def copies_words(found: dict[str, Copy]) -> str:
    """Message: which columns are held back, why, and how to release them anyway."""
    each = ", ".join(f"{name!r} ({copy.why})" for name, copy in found.items())
    return (
        f"held back, since it is what it should predict: {each}; if it belongs to what "
        f"is released, say so with --feature {','.join(found)}"
    )


def warn_of_copies(table: Table) -> dict[str, Copy]:
    """Warn about columns that a release would hold back as copies, and return them."""
    if found := copies(table):
        warnings.warn(f"to be {copies_words(found)}", TamisWarning, stacklevel=3)
    return found


def without_copies(table: Table) -> tuple[Table, dict[str, Copy]]:
    """Drop copies of the target or a secret from a table; a warning names them."""
    found = copies(table)
    if not found or len(found) == len(table.features):
        return table, {}
    warnings.warn(copies_words(found), TamisWarning, stacklevel=3)
    kept = table.select(c for c in table.features if c not in found)
    return kept.with_roles(dropped=(*kept.roles.dropped, *found)), found
