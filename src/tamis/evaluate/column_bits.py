"""What single columns teach and tell: alone, and beyond what is released."""

from __future__ import annotations

from dataclasses import dataclass

from tamis.evaluate.subset_bits import Columns
from tamis.evaluate.yardstick import Compared, Yardstick
from tamis.release import Release

FITTED = 40
"""Tables of more columns are measured by a score test, which takes one fit for all of them."""


@dataclass(frozen=True)
class ColumnBits:
    """What one column adds, as shares of what all columns teach and tell; at least 0.

    `beyond` means: what a column held back would add to the release, and what a released one adds
    to the others.
    """

    teaches: float
    tells: float
    teaches_beyond: float
    tells_beyond: float


def column_bits(
    yardstick: Yardstick, compared: Compared, release: Release
) -> dict[str, ColumnBits]:
    """What each column of the original teaches and tells, by its name.

    On the rows to report on. For a release that is no set of columns as they are, `beyond` is
    beyond those of its columns that the original has.
    """
    names, bits = yardstick.features, yardstick.reporting
    inside = yardstick.columns(release)
    if inside is None:
        inside = tuple(i for i, name in enumerate(names) if name in set(release.features))
    measured = compared.reporting
    scales = (
        measured.target_scale if measured.teaches else float("inf"),
        measured.secret_scale if measured.tells else float("inf"),
    )
    if len(names) > FITTED:
        alone, more = bits.promises(()), bits.promises(inside)
        found = [
            tuple(float(kind[which][c]) for kind in (alone, more) for which in (0, 1))
            for c in range(len(names))
        ]
        # Beside itself a column adds nothing, so what is released is fitted without each in turn.
        for c in inside if len(inside) <= FITTED else ():
            found[c] = (*found[c][:2], *_beyond(yardstick, inside, c))
    else:
        found = [(*bits.score((c,)), *_beyond(yardstick, inside, c)) for c in range(len(names))]
    return {
        name: ColumnBits(
            *(max(0.0, value) / scale for value, scale in zip(values, (*scales, *scales)))
        )
        for name, values in zip(names, found)
    }


def _beyond(yardstick: Yardstick, inside: Columns, column: int) -> tuple[float, float]:
    bits = yardstick.reporting
    with_it = bits.score({*inside, column})
    without = bits.score(set(inside) - {column})
    return with_it[0] - without[0], with_it[1] - without[1]
