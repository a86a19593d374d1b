"""What a ladder makes of a table: the people behind each label, level by level."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
import polars as pl

from tamis.coarsen.intervals import End
from tamis.coarsen.ladder import Ladder
from tamis.table import Table, bare, kind_of


@dataclass(frozen=True)
class Rung:
    """One label of a level, and how many people have it."""

    label: str | None
    """`None` for what is missing."""
    people: int
    lower: End = None
    """The smallest value that belongs to it, of numbers and dates."""
    upper: End = None
    """The first value beyond it."""

    def to_dict(self) -> dict[str, Any]:
        """A plain record; bounds only where there are any."""
        bounds = {"lower": _plain(self.lower), "upper": _plain(self.upper)}
        known = {end: value for end, value in bounds.items() if value is not None}
        return {"label": self.label, "people": self.people, **known}


def rungs(ladder: Ladder, table: Table, level: int) -> list[Rung]:
    """The labels of a column at a level, from low to high values or in alphabetical order.

    Examples
    --------
    >>> table = Table(pl.DataFrame({"age": [43, 44, 91, None]}))
    >>> ladder = Ladder.from_dict("age", {"width": [5, 10], "top": 90})
    >>> [(r.label, r.people) for r in rungs(ladder, table, 1)]
    [('[40, 45)', 2), ('>= 90', 1), (None, 1)]
    """
    values = table.frame.get_column(ladder.column)
    cells = pl.DataFrame(
        {
            "label": ladder.apply(bare(values), level).cast(pl.String),
            "least": bare(values).rank("dense") if kind_of(values.dtype) != "nominal" else None,
            "who": np.arange(table.rows) if table.people is None else table.people,
        }
    )
    counted = cells.group_by("label").agg(pl.col("who").n_unique(), pl.col("least").min())
    counted = counted.sort("least", "label", nulls_last=True)
    bounds = ladder.bounds(counted.get_column("label"), level).rows()
    pairs = zip(counted.select("label", "who").rows(), bounds)
    return [Rung(label, people, *ends) for (label, people), ends in pairs]


def _plain(end: End) -> Any:
    return end.isoformat() if isinstance(end, date) else end
