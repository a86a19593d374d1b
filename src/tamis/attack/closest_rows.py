"""Distance to the closest record: a figure that is often asked for, and why it proves little."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tamis.arrays import Floats
from tamis.attack.membership import distances_to_nearest
from tamis.attack.scene import Scene

CLOSEST_WORDS = (
    "Distance to the closest record proves nothing by itself: rows can be far from everybody and "
    "still tell who is in the table, or be near to many because people are alike."
)


@dataclass(frozen=True)
class Closest:
    """Median distance to the closest person of the original, and the share at distance 0.

    A column adds 1 where texts differ, and for numbers the difference as a share of its range.

    Parameters
    ----------
    released : float
        Median distance of released rows.
    others : float
        Median distance of other people: the control group, or a sample of the original compared
        with the rest of it.
    same : float
        Share of released rows that equal a person's row in all compared columns.
    others_same : float
        The same share of the other people.
    """

    released: float
    others: float
    same: float
    others_same: float

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "words": CLOSEST_WORDS}


def closest_rows(scene: Scene) -> Closest:
    """Distances of a sample of released rows, and of other people, to the people of the original.

    Examples
    --------
    >>> import polars as pl
    >>> from tamis.table import Table
    >>> people = Table(pl.DataFrame({"age": [20, 30, 40, 60]}))
    >>> closest_rows(Scene(people, Table(pl.DataFrame({"age": [20, 30]})))).same
    1.0
    """
    cells, draw = scene.cells, scene.draw(13)
    rows = draw.permutation(len(cells.release))[: scene.most]
    people, others = cells.original, cells.control
    if others is None:
        few = draw.permutation(len(people))[: min(scene.most, len(people) // 2)]
        others, rest = people[few], np.delete(people, few, axis=0)
    else:
        rest, others = people, others[draw.permutation(len(others))[: scene.most]]
    mine = distances_to_nearest(cells.release[rows], people, cells.nominal)
    theirs = distances_to_nearest(others, rest, cells.nominal)
    return Closest(_median(mine), _median(theirs), _none_away(mine), _none_away(theirs))


def _median(far: Floats) -> float:
    return float(np.median(far)) if len(far) else float("nan")


def _none_away(far: Floats) -> float:
    return float((far <= 0).mean()) if len(far) else 0.0
