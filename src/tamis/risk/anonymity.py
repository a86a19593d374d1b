"""What is asked of every group of people alike: their number, and how their secrets differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from tamis.errors import InputError
from tamis.risk.diversity import Distance, closeness, diversity, spread
from tamis.risk.grouping import Coded, Grouping, counted, people_in

Kind = Literal["distinct", "entropy", "recursive"]
ROUNDING = 1e-12


@dataclass(frozen=True)
class Anonymity:
    """k people or more alike, and l-diversity and t-closeness of the sensitive column among them.

    All of it is lost, never won, when groups are split, so a set of columns that does not keep it
    takes all sets that hold it with it.

    Parameters
    ----------
    k : int
        The fewest people in a group.
    l : int, optional
        The least diversity: how many sensitive values a group has (`distinct`), how many by their
        entropy (`entropy`), or that the commonest is less frequent than `c` times the l-th and
        rarer ones together (`recursive`).
    kind : {"distinct", "entropy", "recursive"}
    c : float
        For `recursive`.
    t : float, optional
        The largest distance of a group's sensitive values from those of the table, 0 to 1.
    distance : {"equal", "ordered"}, optional
        See `t_closeness`; by default ordered for numbers.

    Examples
    --------
    >>> import numpy as np
    >>> jobs, ill = Coded(np.array([0, 0, 1, 1]), 2), pl.Series(["flu", "flu", "flu", "cold"])
    >>> Anonymity(k=2).short_of(jobs, ill)
    ''
    >>> Anonymity(k=2, l=2).short_of(jobs, ill)
    'l = 2 is asked for, but the least diverse group has 1'
    """

    k: int = 1
    l: int | None = None  # noqa: E741 - its name in the field
    kind: Kind = "distinct"
    c: float = 3.0
    t: float | None = None
    distance: Distance | None = None

    def __post_init__(self) -> None:
        if self.k < 1:
            raise InputError(f"k must be a number of people, 1 or more, got {self.k}")
        if self.l is not None and self.l < 2:
            raise InputError(f"l must be 2 or more, got {self.l}")
        if self.kind not in ("distinct", "entropy", "recursive"):
            raise InputError(
                f"the kind of l must be distinct, entropy or recursive, got {self.kind!r}"
            )
        if not self.c > 0:
            raise InputError(f"c must be above 0, got {self.c:g}")
        if self.t is not None and not 0 <= self.t <= 1:
            raise InputError(f"t must be between 0 and 1, got {self.t:g}")

    @property
    def of_secrets(self) -> bool:
        """Whether anything is asked about the sensitive column."""
        return self.l is not None or self.t is not None

    def kept(self, classes: Coded, secret: pl.Series | None, people: Coded | None = None) -> bool:
        """Whether classes of rows keep all that is asked."""
        sizes = counted(classes)[1] if people is None else people_in(classes, people)
        if int(sizes.min()) < self.k:
            return False
        return secret is None or not self.short_of(classes, secret, people)

    def short_of(self, classes: Coded, secret: pl.Series, people: Coded | None = None) -> str:
        """What classes of rows lack of l and t, in words; empty where they lack nothing."""
        if not self.of_secrets:
            return ""
        found = self.reached(classes, secret, people)
        if self.l is not None and self.kind == "recursive" and not found["l"] < self.c:
            return (
                f"recursive ({self.c:g}, {self.l})-diversity is asked for, but the commonest value "
                f"of some group is {found['l']:.3g} times as frequent as the rarer ones"
            )
        if self.l is not None and self.kind != "recursive" and found["l"] < self.l - ROUNDING:
            return f"l = {self.l} is asked for, but the least diverse group has {found['l']:.4g}"
        if self.t is not None and found["t"] > self.t + ROUNDING:
            return f"t = {self.t:g} is asked for, but some group is {found['t']:.4g} away"
        return ""

    def reached(
        self, classes: Coded, secret: pl.Series, people: Coded | None = None
    ) -> dict[str, Any]:
        """The diversity of the kind asked for, and the closeness, of classes of rows."""
        sizes = counted(classes)[1] if people is None else people_in(classes, people)
        found = spread(Grouping((), (), classes, sizes, people), secret)
        diverse = diversity(found, self.l)
        of_kind = {
            "distinct": diverse.distinct,
            "entropy": diverse.entropy,
            "recursive": diverse.recursive_c,
        }
        return {"l": of_kind[self.kind], "t": closeness(found, self.distance)}
