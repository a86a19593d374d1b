"""Which rows are learnt from, which choose, and which report: never a person on two sides."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.errors import InputError
from tamis.learn.holdout import HoldOut
from tamis.notebook import by_fields

RowNumbers = NDArray[np.intp]
Numbers = NDArray[np.integer[Any]]

MANY = 15_000
"""Tables of so many rows are sampled: more would take time and change nothing."""
LEARN, CHOOSE, REPORT = 8_000, 4_000, 10_000
FOLDED = 3_500
"""Fewer rows than this to learn and choose are used for both, in turn."""
FOLDS = 5


@dataclass(frozen=True, eq=False)
class Parts:
    """Row numbers, ascending: to learn from, to choose by, to report on.

    Examples
    --------
    >>> parts = Parts.drawn(np.array([0, 1] * 50))
    >>> len(parts.learn), len(parts.choose), len(parts.report)
    (50, 26, 24)
    >>> [len(ask) for learn, ask in parts.rounds]
    [14, 16, 15, 15, 16]
    """

    learn: RowNumbers
    choose: RowNumbers
    report: RowNumbers
    rounds: tuple[tuple[RowNumbers, RowNumbers], ...]
    """What is learnt from and what is then asked about, to choose: once, or in five folds."""

    __repr__ = by_fields

    @classmethod
    def drawn(cls, strata: Numbers, people: Numbers | None = None, random_state: int = 0) -> Parts:
        """Draw the parts, each with the same mix of strata as far as people allow.

        Half of the rows, a quarter and a quarter; of 15,000 rows or more 8,000, 4,000 and up to
        10,000.

        Parameters
        ----------
        strata : array of int
            A number a row, such as that of its pair of target and secret.
        people : array of int, optional
            The number of the person that each row is about; a person is in one part only, with
            the stratum of their first row. `None`: each row is a person.
        random_state : int, default 0
        """
        if len(strata) < 4:
            raise InputError(f"four rows or more are needed to part them, got {len(strata)}")
        draw = np.random.default_rng(random_state)
        place = _places(strata, people, draw)
        cuts = np.cumsum(_sizes(len(strata))) / len(strata)
        part = np.searchsorted(cuts, place, side="right")
        learn, choose, report = (np.flatnonzero(part == number) for number in range(3))
        for name, rows in (("learn from", learn), ("choose by", choose), ("report on", report)):
            if len(rows) == 0:
                raise InputError(
                    f"no row is left to {name}: {len(strata)} rows are too few, or too many of "
                    "them belong to one person"
                )
        return cls(learn, choose, report, _rounds(learn, choose, strata, people, draw))

    @classmethod
    def of(
        cls,
        split: HoldOut,
        strata: Numbers,
        people: Numbers | None = None,
        random_state: int = 0,
    ) -> Parts:
        """The parts of a hold-out, of which up to 8,000, 4,000 and 10,000 rows are drawn.

        >>> split = HoldOut.drawn(["a", "b"] * 8, share=0.25)
        >>> parts = Parts.of(split, np.array([0, 1] * 8))
        >>> len(parts.learn), len(parts.choose), len(parts.report), len(parts.rounds)
        (8, 4, 4, 5)
        """
        draw = np.random.default_rng(random_state)
        learn, choose, report = (
            _sampled(rows, most, strata, people, draw)
            for rows, most in (
                (split.seen, LEARN),
                (split.choosing, CHOOSE),
                (split.reporting, REPORT),
            )
        )
        return cls(learn, choose, report, _rounds(learn, choose, strata, people, draw))

    @property
    def reporting(self) -> Parts:
        """The same, where all that chose is learnt from and the rest is asked about."""
        return replace(self, rounds=((self.search, self.report),))

    def learning_from(self, kept: NDArray[np.bool_]) -> Parts:
        """The same, where only kept rows are learnt from; all others are still asked about.

        >>> parts = Parts.drawn(np.array([0, 1] * 50))
        >>> few = parts.learning_from(np.arange(100) < 60)
        >>> int(few.learn.max()), int(few.asked.max())
        (59, 99)
        """
        return replace(
            self,
            learn=self.learn[kept[self.learn]],
            choose=self.choose[kept[self.choose]],
            rounds=tuple((learn[kept[learn]], ask) for learn, ask in self.rounds),
        )

    @cached_property
    def search(self) -> RowNumbers:
        """The rows that a search may see: all but those to report on."""
        return np.sort(np.concatenate([self.learn, self.choose]))

    @cached_property
    def every(self) -> RowNumbers:
        """All rows of a part, ascending."""
        return np.union1d(self.search, self.report)

    @cached_property
    def asked(self) -> RowNumbers:
        """The rows asked about to choose, round after round."""
        return np.concatenate([ask for _, ask in self.rounds])


def _rounds(
    learn: RowNumbers,
    choose: RowNumbers,
    strata: Numbers,
    people: Numbers | None,
    draw: np.random.Generator,
) -> tuple[tuple[RowNumbers, RowNumbers], ...]:
    if len(learn) + len(choose) >= FOLDED:
        return ((learn, choose),)
    return _folds(np.sort(np.concatenate([learn, choose])), strata, people, draw)


def _sampled(
    rows: RowNumbers, most: int, strata: Numbers, people: Numbers | None, draw: np.random.Generator
) -> RowNumbers:
    """At most about so many of some rows, with the same mix of strata, of whole people."""
    if len(rows) <= most:
        return rows
    place = _places(strata[rows], None if people is None else people[rows], draw)
    return rows[place < most / len(rows)]


def _sizes(rows: int) -> tuple[int, int, int]:
    if rows < MANY:
        half, quarter = rows - 2 * (rows // 4), rows // 4
        return half, quarter, quarter
    return LEARN, CHOOSE, min(REPORT, rows - LEARN - CHOOSE)


def _places(strata: Numbers, people: Numbers | None, draw: np.random.Generator) -> NDArray[Any]:
    """A number from 0 to 1 for each row, spread evenly over each stratum; one for each person."""
    if people is None:
        return _spread(strata, draw)
    _, first, person = np.unique(people, return_index=True, return_inverse=True)
    return _spread(strata[first], draw)[person]


def _spread(strata: Numbers, draw: np.random.Generator) -> NDArray[np.float64]:
    """Ranks in a random order within each stratum, by its size, all moved by one chance."""
    order = np.lexsort((draw.random(len(strata)), strata))
    counts = np.unique(strata, return_counts=True)[1]
    first = np.repeat(np.cumsum(counts) - counts, counts)
    moved = np.repeat(draw.random(len(counts)), counts)
    place = np.empty(len(strata))
    place[order] = (np.arange(len(strata)) - first + moved) / np.repeat(counts, counts)
    return place


def _folds(
    rows: RowNumbers, strata: Numbers, people: Numbers | None, draw: np.random.Generator
) -> tuple[tuple[RowNumbers, RowNumbers], ...]:
    place = _places(strata[rows], None if people is None else people[rows], draw)
    fold = np.floor(place * FOLDS).astype(np.int64)
    used = np.unique(fold)
    if len(used) < 2:
        raise InputError(f"{len(rows)} rows of one person cannot be learnt from and asked about")
    return tuple((rows[fold != number], rows[fold == number]) for number in used)
