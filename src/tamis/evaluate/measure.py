"""A measure: what a release keeps or loses, as one number with a direction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Measure:
    """A function of (original, released) with a name and the direction that is better.

    Examples
    --------
    >>> kept = Measure("columns_kept", "max", lambda original, released: released.width)
    >>> import polars as pl
    >>> kept(pl.DataFrame({"a": [1], "b": [2]}), pl.DataFrame({"a": [1]}))
    1.0
    """

    name: str
    better: Literal["min", "max"]
    score: Callable[[Any, Any], float]

    def __call__(self, original: Any, released: Any) -> float:
        return float(self.score(original, released))
