"""What single columns teach and tell: alone, and beyond what is released.

Of very many released columns no single one is missed: the others say what it says. So they are put
in an order, in waves of four times as many: each column adds what it promises beyond the waves
before its own, and the waves together show how many columns it takes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tamis.evaluate.subset_bits import Columns, SubsetBits
from tamis.evaluate.yardstick import Compared, Yardstick
from tamis.notebook import by_fields
from tamis.release import Release

FITTED = 40
"""Tables of more columns are measured by a score test, which takes one fit for all of them; of
larger releases no column is left out in turn."""
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
        By column, the bits that it promises to add, about target and secret, to all waves before.
    kept, told : float
        What all columns up to the last of this wave keep and tell, as shares of everything.
    """

    columns: Columns
    adds: dict[int, tuple[float, float]]
    kept: float
    told: float

    __repr__ = by_fields


def waves(yardstick: Yardstick, compared: Compared, release: Release) -> tuple[Wave, ...]:
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
        promised = bits.promises(before)
        free = sorted(set(inside) - set(before), key=lambda c: (-promised[0][c], c))
        size = max(1, TIMES * len(before)) - len(before)
        # A handful that would be left over is no wave of its own.
        columns = tuple(free if len(free) < 2 * size else free[:size])
        before = tuple(sorted((*before, *columns)))
        adds = {c: (float(promised[0][c]), float(promised[1][c])) for c in columns}
        kept, told = (max(0.0, v) / scale for v, scale in zip(bits.score(before), scales))
        found.append(Wave(columns, adds, min(1.0, kept), min(1.0, told)))
    return tuple(found)


def column_bits(
    yardstick: Yardstick, compared: Compared, release: Release, ordered: tuple[Wave, ...] = ()
) -> dict[str, ColumnBits]:
    """What each column of the original teaches and tells, by its name.

    On the rows to report on. For a release that is no set of columns as they are, `beyond` is
    beyond those of its columns that the original has. `ordered` are the `waves` of the release.
    """
    names, bits, inside = yardstick.features, yardstick.reporting, _inside(yardstick, release)
    if len(names) > FITTED:
        found = _promised(bits, inside, ordered)
    else:
        found = [(*bits.score((c,)), *_beyond(bits, inside, c)) for c in range(len(names))]
    scales = _scales(compared)
    return {
        name: ColumnBits(
            *(max(0.0, value) / scale for value, scale in zip(values, (*scales, *scales)))
        )
        for name, values in zip(names, found)
    }


def _inside(yardstick: Yardstick, release: Release) -> Columns:
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


def _promised(
    bits: SubsetBits, inside: Columns, ordered: tuple[Wave, ...]
) -> list[tuple[float, float, float, float]]:
    """By a score test; beside itself a column adds nothing, so released ones are treated apart."""
    alone, more = (np.column_stack(bits.promises(columns)) for columns in ((), inside))
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
