"""What single columns teach and tell: alone, beyond what is released, and a rung finer or coarser.

In a release of very many columns no single one is missed, since the others carry what it carries.
So they are ordered in waves, each four times as long as all before it: a column is credited with
what it is expected to add to earlier waves, and the waves show how many columns it takes.
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
"""Tables of more columns are measured by a score test, one fit for all columns, instead of by
leaving out each released column in turn."""
HELD_OUT = 0.25
"""Share of rows held out to choose by, and as many again to report on, as for a release."""
TIMES = 4
"""Factor by which each wave multiplies the number of columns so far."""


@dataclass(frozen=True)
class ColumnBits:
    """What one column teaches and tells, as shares of what all columns do; at least 0.

    `beyond` is what a column held back would add to the release, and what a released one adds to
    the other released columns, or, where there are waves, to those of earlier waves.
    """

    teaches: float
    tells: float
    teaches_beyond: float
    tells_beyond: float


@dataclass(frozen=True, eq=False)
class Wave:
    """The next columns of a release, by what they are expected to add to earlier waves.

    Attributes
    ----------
    columns : tuple of int
        Numbers in the scorer's feature order, the most promising first.
    adds : dict
        By column, the bits about target and secret that it is expected to add to earlier waves.
    kept, told : float
        Kept and told of all columns up to the end of this wave.
    """

    columns: Columns
    adds: dict[int, tuple[float, float]]
    kept: float
    told: float

    __repr__ = by_fields


def waves(yardstick: BitsScorer, compared: Compared, release: Release) -> tuple[Wave, ...]:
    """The columns of a large release in waves, by what they add; empty for a small release.

    Measured on the reporting rows, with columns as they are in the original. The first wave has one
    column, so the waves end after 1, 4, 16 columns and so on.
    """
    inside = _inside(yardstick, release)
    if len(inside) <= FITTED:
        return ()
    bits, scales = yardstick.reporting, _scales(compared)
    done: list[Wave] = []
    before: Columns = ()
    while len(before) < len(inside):
        expected = bits.expected(before)
        free = sorted(set(inside) - set(before), key=lambda c: (-expected[0][c], c))
        size = max(1, TIMES * len(before)) - len(before)
        # A remainder smaller than this wave joins it instead of becoming one of its own.
        columns = tuple(free if len(free) < 2 * size else free[:size])
        before = tuple(sorted((*before, *columns)))
        adds = {c: (float(expected[0][c]), float(expected[1][c])) for c in columns}
        kept, told = (max(0.0, v) / scale for v, scale in zip(bits.score(before), scales))
        done.append(Wave(columns, adds, min(1.0, kept), min(1.0, told)))
    return tuple(done)


def column_bits(
    yardstick: BitsScorer, compared: Compared, release: Release, ordered: tuple[Wave, ...] = ()
) -> dict[str, ColumnBits]:
    """What each column of the original teaches and tells, by name.

    Measured on the reporting rows. For a release of changed columns, `beyond` refers to the
    original's columns of the same names. `ordered` are the `waves` of the release.
    """
    names, bits, inside = yardstick.features, yardstick.reporting, _inside(yardstick, release)
    if len(names) > FITTED:
        gained = _expected(bits, inside, ordered)
    else:
        gained = [(*bits.score((c,)), *_beyond(bits, inside, c)) for c in range(len(names))]
    scales = _scales(compared)
    return {
        name: ColumnBits(
            *(max(0.0, value) / scale for value, scale in zip(values, (*scales, *scales)))
        )
        for name, values in zip(names, gained)
    }


@dataclass(frozen=True)
class ColumnAlone:
    """What a column alone teaches of the target and tells of the secret, in bits a row."""

    column: str
    teaches: float
    tells: float | None
    """Beyond what the target tells; `None` where the target is the secret."""


def columns_alone(table: Table, *, rows: int = 20_000, random_state: int = 0) -> list[ColumnAlone]:
    """What each feature alone teaches and tells, on evaluation rows; the most telling first.

    Where the target is the secret, the order is by what they teach. At least 0: a model worse than
    the baseline teaches nothing.

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
        gained = list(zip(*(each.tolist() for each in bits.expected(()))))
    else:
        gained = [bits.score((c,)) for c in range(len(names))]
    secret = evaluator.cut is not None
    alone = [
        ColumnAlone(name, max(0.0, teaches), max(0.0, tells) if secret else None)
        for name, (teaches, tells) in zip(names, gained)
    ]
    return sorted(alone, key=lambda c: (-(c.tells or 0.0), -c.teaches, c.column))


def _inside(yardstick: BitsScorer, release: Release) -> Columns:
    """The original's columns that a release has, in whatever form."""
    released = set(release.features)
    return tuple(i for i, name in enumerate(yardstick.features) if name in released)


def _scales(compared: Compared) -> tuple[float, float]:
    """Denominators of kept and told; infinite where all columns give nothing, so shares are 0."""
    measured = compared.reporting
    return (
        measured.target_scale if measured.teaches else float("inf"),
        measured.secret_scale if measured.tells else float("inf"),
    )


def _expected(
    bits: SubsetBits, inside: Columns, ordered: tuple[Wave, ...]
) -> list[tuple[float, float, float, float]]:
    """What each column adds, by score tests instead of fits.

    A column adds nothing to a set that it is in, so released columns are credited by their wave, or
    by leaving them out in turn where there are few.
    """
    alone, beyond = (np.column_stack(bits.expected(columns)) for columns in ((), inside))
    for wave in ordered:
        for column, adds in wave.adds.items():
            beyond[column] = adds
    if not ordered and len(inside) <= FITTED:
        for column in inside:
            beyond[column] = _beyond(bits, inside, column)
    return [tuple(each) for each in np.hstack([alone, beyond]).tolist()]


def _beyond(bits: SubsetBits, inside: Columns, column: int) -> tuple[float, float]:
    """What a column adds to the other columns of a set, whether it is in the set or not."""
    with_it = bits.score({*inside, column})
    without = bits.score(set(inside) - {column})
    return with_it[0] - without[0], with_it[1] - without[1]


MOST_FORMS = 8
"""Generalised columns that are looked at, the first by name: each takes two fits."""


@dataclass(frozen=True)
class NeighbourRung:
    """A release with one column a rung finer or coarser.

    Parameters
    ----------
    level : int
        Level of the column's ladder: 0 is the column as it is, the last one drops it.
    words : str
        The form of the column at that level, in words.
    kept, told : float
        Change of kept and told against the release itself.
    allowed : bool
        Whether the groups would still meet every requirement.
    """

    level: int
    words: str
    kept: float
    told: float
    allowed: bool


def neighbour_rungs(
    evaluator: Evaluator, compared: Compared, release: Release, k: int
) -> dict[str, list[NeighbourRung]]:
    """The next finer and the next coarser rung of each generalised column.

    Measured on the reporting rows against the release itself; k is the smallest group allowed.
    """
    rungs: dict[str, list[NeighbourRung]] = {}
    suppression, unsuppressed = evaluator.suppression, release.unsuppressed
    for name in sorted(release.forms)[:MOST_FORMS]:
        form = release.forms[name]
        ladder = Ladder.from_dict(name, form.ladder)
        rungs[name] = []
        for level in (form.level - 1, form.level + 1):
            other = _moved(evaluator.original, unsuppressed, ladder, level)
            other = other if suppression is None else suppression.trimmed(other)
            kept, told = _rung_beyond(evaluator, compared, release, other)
            if suppression is None:  # closure: the finer form determines the coarser one
                side = max if level < form.level else min
                kept, told = side(0.0, kept), side(0.0, told)
            assessed = Assessment(evaluator, other)
            allowed = assessed.hides(k) and not assessed.lacks
            rungs[name].append(NeighbourRung(level, ladder.words(level), kept, told, allowed))
    return rungs


def _rung_beyond(
    evaluator: Evaluator, compared: Compared, release: Release, other: Release
) -> tuple[float, float]:
    """Difference in kept and told between another release and this one."""
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
