"""Splits of the rows: to learn from, to choose by, to report on; a person is in one part only."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.arrays import Integers, RowNumbers
from tamis.errors import InputError
from tamis.learn.holdout import HoldOut
from tamis.notebook import by_fields
from tamis.people import People, PeopleLike

Rounds = tuple[tuple[RowNumbers, RowNumbers], ...]


MOST_UNSAMPLED = 15_000
"""Tables from this many rows on are sampled: more rows would take time and change nothing."""
LEARN, CHOOSE, REPORT = 8_000, 4_000, 5_000
"""The most rows of each part. A share of 5,000 people is known to within 1.4 percentage points."""


FOLDED = 3_500
"""From this many rows to learn from and choose by, a search tests on those to choose by alone;
below it, it cross-fits over both."""
FOLDS = 5


@dataclass(frozen=True, eq=False)
class Parts:
    """Row numbers of each part, ascending, and the rounds of training and testing.

    Examples
    --------
    >>> parts = Parts.drawn(np.array([0, 1] * 50))
    >>> len(parts.learn), len(parts.choose), len(parts.report)
    (50, 26, 24)
    >>> [len(ask) for learn, ask in parts.rounds]
    [14, 16, 15, 15, 16]
    >>> many = Parts.drawn(np.array([0, 1] * 4_000))
    >>> [len(ask) for learn, ask in many.rounds], [len(ask) for learn, ask in many.more]
    ([2000], [2000, 2000])
    """

    learn: RowNumbers
    choose: RowNumbers
    report: RowNumbers
    rounds: Rounds
    """Pairs of training and test rows of a search: one pair, or five folds."""
    more: Rounds = ()
    """Further rounds for the final choice, so that it is cross-fitted over all rows. A search over
    many rows does without them to save time."""

    __repr__ = by_fields

    @classmethod
    def drawn(cls, strata: Integers, people: PeopleLike = None, random_state: int = 0) -> Parts:
        """Draw the parts, stratified as far as people allow.

        Half of the rows, a quarter and a quarter; from 15,000 rows on 8,000, 4,000 and up to
        5,000. `strata` has one number a row, such as that of its pair of target and secret. A
        person is in one part only, with the stratum of their first row; without `people` each row
        is a person.
        """
        if len(strata) < 4:
            raise InputError(f"four rows or more are needed to part them, got {len(strata)}")
        draw, who = np.random.default_rng(random_state), People.named(people, len(strata))
        place = _places(strata, who, draw)
        cuts = np.cumsum(_sizes(len(strata))) / len(strata)
        part = np.searchsorted(cuts, place, side="right")
        learn, choose, report = (np.flatnonzero(part == number) for number in range(3))
        for name, rows in (("learn from", learn), ("choose by", choose), ("report on", report)):
            if len(rows) == 0:
                raise InputError(
                    f"no row is left to {name}: {len(strata)} rows are too few, or too many of "
                    "them belong to one person"
                )
        return cls(learn, choose, report, *_rounds(learn, choose, strata, who, draw))

    @classmethod
    def of(
        cls,
        split: HoldOut,
        strata: Integers,
        people: PeopleLike = None,
        random_state: int = 0,
    ) -> Parts:
        """The parts of a hold-out, sampled to at most 8,000, 4,000 and 5,000 rows.

        >>> split = HoldOut.drawn(["a", "b"] * 8, share=0.25)
        >>> parts = Parts.of(split, np.array([0, 1] * 8))
        >>> len(parts.learn), len(parts.choose), len(parts.report), len(parts.rounds)
        (8, 4, 4, 5)
        """
        draw, who = np.random.default_rng(random_state), People.named(people, len(strata))
        learn, choose, report = (
            _sampled(rows, most, strata, who, draw)
            for rows, most in (
                (split.seen, LEARN),
                (split.choosing, CHOOSE),
                (split.reporting, REPORT),
            )
        )
        return cls(learn, choose, report, *_rounds(learn, choose, strata, who, draw))

    @property
    def choosing(self) -> Parts:
        """The parts with all rounds: each row that a search may see is tested on once."""
        return replace(self, rounds=(*self.rounds, *self.more), more=())

    @property
    def reporting(self) -> Parts:
        """The parts with one round: train on all rows that chose, test on those to report on."""
        return replace(self, rounds=((self.search, self.report),), more=())

    def learning_from(self, mask: NDArray[np.bool_]) -> Parts:
        """The parts with training rows limited to a mask; test rows stay as they are.

        >>> parts = Parts.drawn(np.array([0, 1] * 50))
        >>> few = parts.learning_from(np.arange(100) < 60)
        >>> int(few.learn.max()), int(few.asked.max())
        (59, 99)
        """
        return replace(
            self,
            learn=self.learn[mask[self.learn]],
            choose=self.choose[mask[self.choose]],
            rounds=tuple((learn[mask[learn]], ask) for learn, ask in self.rounds),
            more=tuple((learn[mask[learn]], ask) for learn, ask in self.more),
        )

    @cached_property
    def search(self) -> RowNumbers:
        """The rows that a search may see: all but those to report on."""
        return np.concatenate([self.learn, self.choose])

    @cached_property
    def every(self) -> RowNumbers:
        """All rows of a part, ascending."""
        return np.union1d(self.search, self.report)

    @cached_property
    def asked(self) -> RowNumbers:
        """The test rows, round after round."""
        return np.concatenate([ask for _, ask in self.rounds])


def _rounds(
    learn: RowNumbers,
    choose: RowNumbers,
    strata: Integers,
    people: People,
    draw: np.random.Generator,
) -> tuple[Rounds, Rounds]:
    """The rounds of a search, and the further ones of a choice."""
    every = np.concatenate([learn, choose])
    if len(every) < FOLDED:
        return _folds(every, strata, people, draw, FOLDS), ()
    # About as many test rows a fold as in the search's round.
    folds = min(FOLDS - 1, max(2, round(len(learn) / len(choose))))
    others = _folds(learn, strata, people, draw, folds)
    more = tuple((np.concatenate([rest, choose]), ask) for rest, ask in others)
    return ((learn, choose),), more


def _sampled(
    rows: RowNumbers, most: int, strata: Integers, people: People, draw: np.random.Generator
) -> RowNumbers:
    """A stratified sample of whole people with about `most` rows; all rows if they are fewer."""
    if len(rows) <= most:
        return rows
    place = _places(strata[rows], people[rows], draw)
    return rows[place < most / len(rows)]


def _sizes(rows: int) -> tuple[int, int, int]:
    if rows < MOST_UNSAMPLED:
        half, quarter = rows - 2 * (rows // 4), rows // 4
        return half, quarter, quarter
    return LEARN, CHOOSE, min(REPORT, rows - LEARN - CHOOSE)


def _places(strata: Integers, people: People, draw: np.random.Generator) -> NDArray[Any]:
    """A number in [0, 1) for each row, evenly spread within each stratum, equal within a person.

    Cutting it at any share gives a stratified sample of that share.
    """
    if people.each_row:
        return _spread(strata, draw)
    _, first, person = np.unique(people.codes, return_index=True, return_inverse=True)
    return _spread(strata[first], draw)[person]


def _spread(strata: Integers, draw: np.random.Generator) -> NDArray[np.float64]:
    """Random ranks within each stratum, divided by its size, with one random offset a stratum.

    The offset keeps small strata unbiased: without it a stratum of one row would always be first.
    """
    order = np.lexsort((draw.random(len(strata)), strata))
    counts = np.unique(strata, return_counts=True)[1]
    first = np.repeat(np.cumsum(counts) - counts, counts)
    moved = np.repeat(draw.random(len(counts)), counts)
    place = np.empty(len(strata))
    place[order] = (np.arange(len(strata)) - first + moved) / np.repeat(counts, counts)
    return place


def _folds(
    rows: RowNumbers, strata: Integers, people: People, draw: np.random.Generator, folds: int
) -> Rounds:
    place = _places(strata[rows], people[rows], draw)
    fold = np.floor(place * folds).astype(np.int64)
    used = np.unique(fold)
    if len(used) < 2:
        raise InputError(f"{len(rows)} rows of one person cannot be learnt from and asked about")
    return tuple((rows[fold != number], rows[fold == number]) for number in used)
