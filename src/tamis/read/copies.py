"""Columns that are the target in another form, or the secret: what nobody would know beforehand.

The year of death tells who died, the birth weight who weighed little, the date of the next offence
who offended again. A model that is given such a column predicts nothing. So a column is a copy
where it alone gives the label almost without an error, on rows that were not counted for it, in a
way that copies do: it is filled in for one label and no other, one cut between every two labels
decides, each of its values has one label, or it is a date that follows the outcome. A column that
only predicts well errs more often than that: of the mushrooms that smell of nothing, some are
poisonous.
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
"""The share of the errors of guessing that a copy avoids; the smell of mushrooms avoids 0.969."""
CUT = 0.96
"""The same for a cut, so that a copy may be rounded, to ounces say; petals of irises avoid 0.94."""
PART = 0.9
"""The share of a label that must be filled in where no other label is."""
MISSED = 0.005
"""The share of a label that may be missing where few others, a tenth of it, are filled in."""
FEWEST = 20
"""The fewest rows of the rarer label: below, a column may separate labels by chance."""
MOST_LABELS = 20
PARTS = 4
"""Numbers with more values than that many labels are cut into so many parts."""
AFTER = 0.99
"""The share of rows in which a date follows the outcome."""

FILLED = "whether it is filled in gives {} away"
COMMONEST = "whether it has its commonest value gives {} away"
DECIDED = "a cut in it decides {}"
DETERMINED = "each of its values has one value of {}"
DATED = "only one value of {} has this date, so it follows the outcome"
FOLLOWS = "it is dated after {1}, which gives {0} away"


class Copy(NamedTuple):
    """A column that is another one in another form, and why."""

    of: str
    why: str


def copies(table: Table) -> dict[str, Copy]:
    """The features without a stated role that are copies of the target or of the secret.

    >>> from tamis.table import Roles
    >>> rng = np.random.default_rng(0)
    >>> grams = rng.normal(3000, 600, 200).round()
    >>> frame = pl.DataFrame({"bwt": grams, "age": rng.integers(18, 45, 200), "low": grams < 2500})
    >>> copies(Table(frame, Roles(target="low")))
    {'bwt': Copy(of='low', why="a cut in it decides 'low'")}
    """
    asked = [c for c in table.features if c not in table.roles.plain]
    codes = CodedFrame(table.frame)
    found: dict[str, Copy] = {}
    for of in dict.fromkeys((table.roles.target, *table.secrets)):
        if of is not None and of not in table.released_secrets:
            whys = copies_of(table.frame, of, among=asked, people=table.people, codes=codes)
            found = {name: Copy(of, why) for name, why in whys.items()} | found
    return found


def copies_of(
    frame: pl.DataFrame,
    of: str,
    *,
    among: Collection[str],
    people: PeopleLike = None,
    codes: CodedFrame | None = None,
) -> dict[str, str]:
    """The columns that give another one away, each with the reason.

    Parameters
    ----------
    frame : polars.DataFrame
    of : str
        The column whose copies are looked for; numbers of many values are cut into quarters.
    among : collection of str
    people : People or array, optional
        The person each row is about, who counts once for each value.
    codes : CodedFrame, optional
        The columns as codes, where somebody has them.
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
    """The label of each row by number; `None` where it has too few rows, or too many labels."""
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
    """Why a column gives the labels away; `values` are its cells as codes, numbers in order."""
    gone = column.is_null().to_numpy()
    if _gives_away(gone, labels):
        return FILLED
    if _is_ordered(column) and _avoided(_cut(values, ~gone, labels), labels) >= CUT:
        return DECIDED
    if _determined(values, labels, people) >= COPY:
        return DETERMINED
    # A code for "never" among dates that differ, each of which has too few rows to tell; or the 0
    # of all who hold no card among what others spend with theirs.
    common = values == np.bincount(values).argmax()
    if _gives_away(common, labels):
        return COMMONEST
    return DATED if column.dtype in (pl.Date, pl.Datetime) and _is_of_one(gone, labels) else ""


def _avoided(wrong: float, labels: Codes) -> float:
    """The share of the errors of guessing that are avoided, of a share of wrong rows."""
    return float(1 - wrong / (1 - np.bincount(labels).max() / len(labels)))


def _gives_away(gone: NDArray[np.bool_], labels: Codes) -> bool:
    """Whether a column is filled in for one label alone, whatever it says."""
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

    The next offence is dated for all who offended again, some too late to count.
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
    """Whether rows that are filled in have one label, which many others do not have."""
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
    """The share of rows that are wrong where one cut parts each label from the next.

    Labels are ordered by their medians. Where the column is missing, the commonest label is right.
    """
    x, y = values[known], labels[known]
    present = np.flatnonzero(np.bincount(y))
    if len(present) < 2:
        return 1.0
    in_order = sorted(present.tolist(), key=lambda label: float(np.median(x[y == label])))
    place = np.empty(labels.max() + 1, dtype=np.int64)
    place[in_order] = np.arange(len(in_order))
    # Of each label, how many rows have each value or a smaller one.
    up_to = (np.cumsum(np.bincount(x[y == i], minlength=x.max() + 1)) for i in in_order)
    cuts = [_best_cut(below, above) for below, above in pairwise(up_to)]
    wrong = int((np.searchsorted(np.sort(cuts), x, side="left") != place[y]).sum())
    rest = np.bincount(labels[~known], minlength=1)
    return float((wrong + rest.sum() - rest.max()) / len(labels))


def _best_cut(below: Integers, above: Integers) -> int:
    """The value up to which most rows are of one label, and beyond which most are of the next."""
    return int((above + below[-1] - below).argmin())


def _determined(values: Integers, labels: Codes, people: People) -> float:
    """The share of errors that are avoided by the labels of other people with the same value."""
    if not people.each_row:
        once = np.unique(join_codes([people.codes, values, labels]), return_index=True)[1]
        values, labels = values[once], labels[once]
    width = int(labels.max()) + 1
    if 3 * (int(values.max()) + 1) > len(values) or len(labels) == np.bincount(labels).max():
        return 0.0
    counts = np.bincount(values * width + labels, minlength=(values.max() + 1) * width)
    table = counts.reshape(-1, width)
    # A row is right where, without itself, its label is still the commonest of its value.
    lead = np.sort(table, axis=1)[:, -2:]
    best = np.where(table == lead[:, 1:], lead[:, :1], lead[:, 1:])
    right = int(table[(table >= 2) & (table - 1 >= best)].sum())
    return _avoided(1 - right / len(labels), labels)


def _dated_after(
    rows: pl.DataFrame, among: list[str], whys: dict[str, str], of: str
) -> dict[str, str]:
    """The dates that follow one which gives the label away."""
    dates = [c for c in rows.columns if rows.schema[c] in (pl.Date, pl.Datetime)]
    found = {}
    for name in (c for c in among if c in dates):
        for outcome in (c for c in whys if c in dates):
            later = (rows.get_column(name).cast(pl.Datetime("us"))
                     >= rows.get_column(outcome).cast(pl.Datetime("us"))).drop_nulls()  # fmt: skip
            if later.len() >= FEWEST and int(later.sum()) >= AFTER * later.len():
                found[name] = FOLLOWS.format(repr(of), repr(outcome))
    return found


def copies_words(found: dict[str, Copy]) -> str:
    """Which columns are held back, why, and how to release them all the same."""
    each = ", ".join(f"{name!r} ({copy.why})" for name, copy in found.items())
    return (
        f"held back, since it is what it should predict: {each}; if it belongs to what "
        f"is released, say so with --feature {','.join(found)}"
    )


def warn_of_copies(table: Table) -> dict[str, Copy]:
    """Warn about columns that a release would hold back as copies, and give them."""
    if found := copies(table):
        warnings.warn(f"to be {copies_words(found)}", TamisWarning, stacklevel=3)
    return found


def without_copies(table: Table) -> tuple[Table, dict[str, Copy]]:
    """The table without copies of its target or its secret, which a warning names."""
    found = copies(table)
    if not found or len(found) == len(table.features):
        return table, {}
    warnings.warn(copies_words(found), TamisWarning, stacklevel=3)
    kept = table.select(c for c in table.features if c not in found)
    return kept.with_roles(dropped=(*kept.roles.dropped, *found)), found
