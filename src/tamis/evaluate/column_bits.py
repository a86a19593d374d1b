"""What single columns teach and tell: alone, beyond what is released, and a rung finer or coarser.

Of very many released columns no single one is missed: the others say what it says. So they are put
in an order, in waves of four times as many: each column adds what is expected of it beyond the
waves before its own, and the waves together show how many columns it takes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tamis.coarsen.ladder import Ladder
from tamis.evaluate.assessment import Assessment
from tamis.evaluate.bits_scorer import BitsScorer, Compared
from tamis.evaluate.evaluator import Evaluator
from tamis.evaluate.subset_bits import Columns, SubsetBits
from tamis.learn.holdout import HoldOut, label_codes
from tamis.notebook import by_fields
from tamis.release import Coarsening, Release
from tamis.table import Table, only

FITTED = 40
"""Tables of more columns are measured by a score test, which takes one fit for all of them; of
larger releases no column is left out in turn."""
HELD_OUT = 0.25
"""The share of rows to choose by, and again to report on, as in a release."""
TIMES = 4
"""How many times as many columns there are up to the end of each wave as before it."""


@dataclass(frozen=True)
class ColumnBits:
    """What one column adds, as shares of what all columns teach and tell; at least 0.

    `beyond` means: what a column held back would add to the release, and what a released one adds
    to the others, or, where there are waves, to those of the waves before its own.
    """

    teaches: float
    tells: float
    teaches_beyond: float
    tells_beyond: float


@dataclass(frozen=True, eq=False)
class Wave:
    """The next columns of a release, in the order of what they teach beyond those before.

    Attributes
    ----------
    columns : tuple of int
        By their numbers in the yardstick, the most promising first.
    adds : dict
        By column, the bits that it should add, about target and secret, to all waves before.
    kept, told : float
        What all columns up to the last of this wave keep and tell, as shares of everything.
    """

    columns: Columns
    adds: dict[int, tuple[float, float]]
    kept: float
    told: float

    __repr__ = by_fields


def waves(yardstick: BitsScorer, compared: Compared, release: Release) -> tuple[Wave, ...]:
    """The columns of a large release in the order of what they add; empty for a small one.

    On the rows to report on, of columns as they are in the original. The first wave has one column,
    so that the waves end with 1, 4, 16 and so on.
    """
    inside = _inside(yardstick, release)
    if len(inside) <= FITTED:
        return ()
    bits, scales = yardstick.reporting, _scales(compared)
    found: list[Wave] = []
    before: Columns = ()
    while len(before) < len(inside):
        expected = bits.expected(before)
        free = sorted(set(inside) - set(before), key=lambda c: (-expected[0][c], c))
        size = max(1, TIMES * len(before)) - len(before)
        # A handful that would be left over is no wave of its own.
        columns = tuple(free if len(free) < 2 * size else free[:size])
        before = tuple(sorted((*before, *columns)))
        adds = {c: (float(expected[0][c]), float(expected[1][c])) for c in columns}
        kept, told = (max(0.0, v) / scale for v, scale in zip(bits.score(before), scales))
        found.append(Wave(columns, adds, min(1.0, kept), min(1.0, told)))
    return tuple(found)


def column_bits(
    yardstick: BitsScorer, compared: Compared, release: Release, ordered: tuple[Wave, ...] = ()
) -> dict[str, ColumnBits]:
    """What each column of the original teaches and tells, by its name.

    On the rows to report on. For a release that is no set of columns as they are, `beyond` is
    beyond those of its columns that the original has. `ordered` are the `waves` of the release.
    """
    names, bits, inside = yardstick.features, yardstick.reporting, _inside(yardstick, release)
    if len(names) > FITTED:
        found = _expected(bits, inside, ordered)
    else:
        found = [(*bits.score((c,)), *_beyond(bits, inside, c)) for c in range(len(names))]
    scales = _scales(compared)
    return {
        name: ColumnBits(
            *(max(0.0, value) / scale for value, scale in zip(values, (*scales, *scales)))
        )
        for name, values in zip(names, found)
    }


@dataclass(frozen=True)
class ColumnAlone:
    """What a column teaches of the target and tells of the secret by itself, in bits a person."""

    column: str
    teaches: float
    tells: float | None
    """Beyond what the target tells; `None` where the target is the secret."""


def columns_alone(table: Table, *, rows: int = 20_000, random_state: int = 0) -> list[ColumnAlone]:
    """What each feature teaches and tells alone, on rows not learnt from; the most telling first.

    Where the target is the secret, those that teach most are first. At least 0: what a model learns
    by mistake is nothing.

    Examples
    --------
    >>> from tamis.datasets import patients
    >>> columns_alone(patients(rows=600))[0].column
    'viral_load_test'
    """
    labels = label_codes(table, table.target)
    split = HoldOut.drawn(labels, HELD_OUT, random_state, table.people.groups)
    split = split.sampled(rows, labels, random_state, table.people.groups)
    evaluator = Evaluator(table, split, None, {}, random_state)
    yardstick = evaluator.yardstick
    bits, names = yardstick.reporting, yardstick.features
    if len(names) > FITTED:
        found = list(zip(*(each.tolist() for each in bits.expected(()))))
    else:
        found = [bits.score((c,)) for c in range(len(names))]
    secret = evaluator.cut is not None
    alone = [
        ColumnAlone(name, max(0.0, teaches), max(0.0, tells) if secret else None)
        for name, (teaches, tells) in zip(names, found)
    ]
    return sorted(alone, key=lambda c: (-(c.tells or 0.0), -c.teaches, c.column))


def _inside(yardstick: BitsScorer, release: Release) -> Columns:
    """The columns of the original that a release has, maybe in another form."""
    released = set(release.features)
    return tuple(i for i, name in enumerate(yardstick.features) if name in released)


def _scales(compared: Compared) -> tuple[float, float]:
    """The bits that all columns teach and tell; no share is more than 0 where they give none."""
    measured = compared.reporting
    return (
        measured.target_scale if measured.teaches else float("inf"),
        measured.secret_scale if measured.tells else float("inf"),
    )


def _expected(
    bits: SubsetBits, inside: Columns, ordered: tuple[Wave, ...]
) -> list[tuple[float, float, float, float]]:
    """By a score test; to itself a column adds nothing, so released ones are treated apart."""
    alone, more = (np.column_stack(bits.expected(columns)) for columns in ((), inside))
    for wave in ordered:
        for column, adds in wave.adds.items():
            more[column] = adds
    if not ordered and len(inside) <= FITTED:
        for column in inside:
            more[column] = _beyond(bits, inside, column)
    return [tuple(each) for each in np.hstack([alone, more]).tolist()]


def _beyond(bits: SubsetBits, inside: Columns, column: int) -> tuple[float, float]:
    """What a column adds to a set that it may be in."""
    with_it = bits.score({*inside, column})
    without = bits.score(set(inside) - {column})
    return with_it[0] - without[0], with_it[1] - without[1]


MOST_FORMS = 8
"""So many columns are looked at, by their names: each takes two fits."""


@dataclass(frozen=True)
class NeighbourRung:
    """A release with one column a rung finer or coarser.

    Parameters
    ----------
    level : int
        Of the column's ladder: 0 is the column as it is, the last one leaves it out.
    words : str
        How to read the column there.
    kept, told : float
        What the release would keep more of the target and tell more of the sensitive column, as
        shares of what all columns do; below 0 where it would be less.
    allowed : bool
        Whether people alike would still be as many, and as diverse, as was asked for.
    """

    level: int
    words: str
    kept: float
    told: float
    allowed: bool


def neighbour_rungs(
    evaluator: Evaluator, compared: Compared, release: Release, k: int
) -> dict[str, list[NeighbourRung]]:
    """The next finer and the next coarser rung of each column in a coarser form.

    Measured on the rows to report on, in comparison with the release itself; k are the fewest
    people alike.
    """
    found: dict[str, list[NeighbourRung]] = {}
    few, whole = evaluator.suppression, release.unsuppressed
    for name in sorted(release.forms)[:MOST_FORMS]:
        form = release.forms[name]
        ladder = Ladder.from_dict(name, form.ladder)
        found[name] = []
        for level in (form.level - 1, form.level + 1):
            other = _moved(evaluator.original, whole, ladder, level)
            other = other if few is None else few.trimmed(other)
            kept, told = _rung_beyond(evaluator, compared, release, other)
            if few is None:  # who has the finer one has the coarser one, too
                side = max if level < form.level else min
                kept, told = side(0.0, kept), side(0.0, told)
            assessed = Assessment(evaluator, other)
            allowed = assessed.hides(k) and not assessed.lacks
            found[name].append(NeighbourRung(level, ladder.words(level), kept, told, allowed))
    return found


def _rung_beyond(
    evaluator: Evaluator, compared: Compared, release: Release, other: Release
) -> tuple[float, float]:
    """What another release keeps and tells beyond this one."""
    yardstick, measured = evaluator.yardstick, compared.reporting
    tables = (yardstick.bits(each, yardstick.reporting) for each in (release, other))
    (kept, told), (more_kept, more_told) = (bits.score(columns) for bits, columns in tables)
    return (
        (more_kept - kept) / measured.target_scale if measured.teaches else 0.0,
        (more_told - told) / measured.secret_scale if measured.tells else 0.0,
    )


def _moved(original: Table, release: Release, ladder: Ladder, level: int) -> Release:
    """The release with one column at another level."""
    name, table = ladder.column, release.table
    forms = {c: form for c, form in release.forms.items() if c != name}
    if level == ladder.top:
        roles = replace(table.roles, quasi=_without(table.roles.quasi, name))
        rest = [column for column in table.frame.columns if column != name]
        rows = Table(only(table.frame, rest), roles)
    else:
        cells = ladder.apply(original.frame[name], level)
        rows = Table(table.frame.with_columns(cells.alias(name)), table.roles)
        if level:
            forms[name] = Coarsening(release.forms[name].ladder, level)
    return replace(release, table=rows, forms=forms, promises=())


def _without(names: tuple[str, ...] | None, name: str) -> tuple[str, ...] | None:
    return None if names is None else tuple(c for c in names if c != name)
