"""What a search over sets of features returns."""

from __future__ import annotations

from dataclasses import dataclass

from tamis.errors import plural
from tamis.notebook import in_short


@dataclass(frozen=True)
class Step:
    """One feature chosen: what it added, and where the set stood afterwards."""

    feature: int
    gain: float
    utility: float
    anonymity: int


@dataclass(frozen=True)
class Selection:
    """A feasible set of columns, by number, in the order of choice.

    `bound` is a proven upper limit of the utility over all feasible sets, if the search gives
    one; `steps` is the path, if the search had one.
    """

    features: tuple[int, ...]
    anonymity: int
    utility: float
    bound: float | None = None
    steps: tuple[Step, ...] = ()

    def __repr__(self) -> str:
        figures = f"anonymity {self.anonymity:,}, utility {self.utility:.4g}"
        return in_short(self, plural(len(self.features), "feature"), figures)

    @property
    def gap(self) -> float | None:
        """How far the utility may be below the optimum, as a share of the bound."""
        if self.bound is None:
            return None
        return 0.0 if self.bound == 0 else max(0.0, (self.bound - self.utility) / self.bound)
