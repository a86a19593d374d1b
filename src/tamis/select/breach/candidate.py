"""What is known about one set of features that may be released."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tamis.learn.cv import Interval

Region = Literal["I", "II", "III", "IV"]


@dataclass(frozen=True)
class Candidate:
    """A set of features with its performance, its breach and its place among the others.

    Attributes
    ----------
    features : tuple of str
        In the order of the table.
    performance : float
        Mean score of predicting the target over the folds, with its 95 % interval.
    p_value : float
        For the test that its performance equals that of the baseline.
    pbi : float
        Privacy breach increase, with its 95 % interval; below 0 is safer than releasing all.
    attacker : str
        The strongest attacker.
    region : {"I", "II", "III", "IV"} or None
        Where it lies relative to the baseline, which itself has no region; see `region`.
    origin : tuple of str
        The list or search that found it.
    allowed : bool
        Whether `pbi` is within the threshold.
    ranks : mapping of str to int
        Ranks in performance, privacy and size among all candidates; 1 is the worst.
    score : float
        The weighted sum of the ranks.
    """

    features: tuple[str, ...]
    performance: float
    performance_interval: Interval
    p_value: float
    pbi: float
    pbi_interval: Interval
    attacker: str
    region: Region | None
    origin: tuple[str, ...]
    allowed: bool = True
    ranks: Mapping[str, int] = field(default_factory=dict)
    score: float = float("nan")

    @property
    def size(self) -> int:
        """The number of features."""
        return len(self.features)

    def to_dict(self) -> dict[str, Any]:
        """A plain record with the stable field names of the command line."""
        return {
            "features": list(self.features),
            "size": self.size,
            "performance": self.performance,
            "performance_interval": list(self.performance_interval),
            "p_value": self.p_value,
            "pbi": self.pbi,
            "pbi_interval": list(self.pbi_interval),
            "attacker": self.attacker,
            "region": self.region,
            "origin": list(self.origin),
            "allowed": self.allowed,
            "ranks": dict(self.ranks),
            "score": self.score,
        }


def region(gain: float, pbi: float) -> Region:
    """Where a set of features lies relative to the baseline (Figure 2).

    I: worse and more exposed. II: better, more exposed. III: worse, safer. IV: at least as good
    and no more exposed.

    Parameters
    ----------
    gain : float
        Its performance minus that of the baseline.
    pbi : float

    Examples
    --------
    >>> region(0.0, 0.0), region(-0.01, -0.02), region(0.01, 0.02), region(-0.01, 0.02)
    ('IV', 'III', 'II', 'I')
    """
    if pbi > ROUNDING:
        return "II" if gain >= -ROUNDING else "I"
    return "IV" if gain >= -ROUNDING else "III"


ROUNDING = 1e-12
"""Means over folds that differ by no more than this are equal."""
