"""The whole front of kept against told: sets of columns that no other set beats in both.

Tables of few columns are searched whole. Else a beam grows sets by one column at a time and goes on
from those of each size that no other of that size beats in both, thinned to a few that are far
apart. A set that breaks the anonymity asked for takes all sets that hold it with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Protocol

import numpy as np

from tamis.arrays import Floats

Columns = tuple[int, ...]
Keeps = Callable[[Columns], bool]

WHOLE = 10
"""Tables of no more columns are searched whole."""
WIDTH = 8
"""Sets of each size that the front is grown from."""
TRIED = 8
"""On wide tables, additions to each set that are fitted."""
WIDE = 14
"""Tables of more columns are wide."""
BUDGET = 400
"""Sets that are fitted where not all are: twice as many found nothing better on real tables."""
PATIENCE = 2
"""Sizes in a row that may bring nothing new to the front before growing ends."""


class Scorer(Protocol):
    """What a search asks of a table; `SubsetBits` answers."""

    def __len__(self) -> int:
        """The number of columns."""

    def score(self, columns: Columns) -> tuple[float, float]:
        """What a set teaches and what it tells, in bits."""

    def expected(self, columns: Columns) -> tuple[Floats, Floats]:
        """Roughly what each column would add to both."""


@dataclass(eq=False)
class Front:
    """Every set that a search scored.

    `scores` has what each set teaches and tells, in bits, closed: at least what any scored part of
    it does, and at least 0.
    """

    scores: dict[Columns, tuple[float, float]] = field(default_factory=dict)
    fits: int = 0
    """How many sets were fitted."""
    refused: int = 0
    """How many sets were found to break the anonymity asked for, and left out with all above."""
    whole: bool = False
    """Whether every set that keeps it was scored."""
    ended: bool = True
    """Whether the search came to its end, rather than to the end of its budget."""

    def best(self) -> list[Columns]:
        """The sets that no other beats in both, the least telling first."""
        return undominated(self.scores)


@dataclass(eq=False)
class _Search:
    """What is shared by both ways to search: the scores so far, the budget, what was refused."""

    scorer: Scorer
    keeps: Keeps
    budget: int
    progress: Callable[[int], None] | None
    front: Front = field(default_factory=Front)
    minimal: list[frozenset[int]] = field(default_factory=list)
    """Refused sets of which no part was refused."""
    words: dict[Columns, int] = field(default_factory=dict)
    """The scored sets as bits."""

    @property
    def spent(self) -> bool:
        return self.front.fits >= self.budget

    def allowed(self, columns: Columns) -> bool:
        """Whether a set keeps the anonymity; asked only where no part of it is known to break."""
        chosen = frozenset(columns)
        if any(part <= chosen for part in self.minimal):
            return False
        if self.keeps(columns):
            return True
        self.minimal = [part for part in self.minimal if not chosen <= part] + [chosen]
        self.front.refused += 1
        return False

    def score(self, columns: Columns) -> tuple[float, float]:
        if columns not in self.front.scores:
            self.front.fits += bool(columns)
            self._close(columns, self.scorer.score(columns))
            if self.progress is not None:
                self.progress(self.front.fits)
        return self.front.scores[columns]

    def _close(self, columns: Columns, score: tuple[float, float]) -> None:
        """Score a set by the best of its parts, and those that hold it by it."""
        word = sum(1 << c for c in columns)
        best = _raised(score, (0.0, 0.0))
        for other, other_word in self.words.items():
            if other_word & word == other_word:
                best = _raised(best, self.front.scores[other])
            elif other_word & word == word:
                self.front.scores[other] = _raised(self.front.scores[other], score)
        self.front.scores[columns] = best
        self.words[columns] = word


def _raised(one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    return max(one[0], other[0]), max(one[1], other[1])


def search_front(
    scorer: Scorer,
    keeps: Keeps = lambda columns: True,
    *,
    seeds: Iterable[Columns] = (),
    budget: int | None = None,
    width: int = WIDTH,
    whole: int = WHOLE,
    tried: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Front:
    """Score the sets that matter for any weight of told against kept.

    Parameters
    ----------
    keeps : callable
        Whether a set keeps the anonymity asked for; if it does not, no set that holds it may.
    seeds : iterable of sets
        Sets to score in any case and to grow from, such as all columns that nobody can know.
    budget : int, optional
        The most sets to fit. `None`: 400, or all sets of a table that is searched whole.
    width : int, default 8
        Sets of each size to grow from.
    whole : int, default 10
        Tables of no more columns are searched whole, if the budget allows.
    tried : int, optional
        Additions to each set that are fitted, the most promising ones. `None`: all of them, on
        tables of more than 14 columns 8.
    progress : callable, optional
        Told the number of sets fitted so far.
    """
    search = _Search(scorer, keeps, BUDGET if budget is None else budget, progress)
    search.score(())
    columns = len(scorer)
    if columns <= whole and (budget is None or 2**columns <= budget):
        _every_set(search)
        search.front.whole = True
        return search.front
    tried = (TRIED if columns > WIDE else columns) if tried is None else tried
    _grow(search, seeds, tried, width)
    return search.front


def _every_set(search: _Search) -> None:
    columns = range(len(search.scorer))
    for size in range(1, len(search.scorer) + 1):
        for chosen in combinations(columns, size):
            if search.allowed(chosen):
                search.score(chosen)


def _grow(search: _Search, seeds: Iterable[Columns], tried: int, width: int) -> None:
    """Grow sets by one column at a time from the few best of each size."""
    planted: dict[int, list[Columns]] = {}
    for seed in dict.fromkeys(tuple(sorted(set(seed))) for seed in seeds):
        if seed and search.allowed(seed):
            search.score(seed)
            planted.setdefault(len(seed), []).append(seed)
    kept: list[Columns] = [()]
    idle = 0
    for size in range(1, len(search.scorer) + 1):
        before = set(search.front.best())
        level = dict.fromkeys(planted.get(size, ()))
        for columns in kept:
            level |= dict.fromkeys(_additions(search, columns, tried))
        for columns in level:
            if search.spent:
                search.front.ended = False
                return
            search.score(columns)
        kept = thinned({columns: search.front.scores[columns] for columns in level}, width)
        new = size in planted or set(search.front.best()) - before
        idle = 0 if new else idle + 1
        if idle > PATIENCE:
            kept, idle = [], 0
        if not kept and size >= max(planted, default=0):
            return


def _additions(search: _Search, columns: Columns, tried: int) -> list[Columns]:
    """Sets of one column more, the most promising ones where there are many."""
    free = [c for c in range(len(search.scorer)) if c not in columns]
    grown = {c: tuple(sorted((*columns, c))) for c in free}
    if len(free) <= tried:
        return [grown[c] for c in free if search.allowed(grown[c])]
    # In turn the best by a weight of none, one and many, until there are enough of them.
    chosen: dict[Columns, None] = {}
    ways = [iter(way) for way in _ways(*search.scorer.expected(columns), free)]
    while ways and len(chosen) < tried:
        for way in list(ways):
            if len(chosen) == tried:
                break
            found = next(
                (c for c in way if grown[c] not in chosen and search.allowed(grown[c])), None
            )
            if found is None:
                ways.remove(way)
            else:
                chosen[grown[found]] = None
    return list(chosen)


def _ways(teaches: Floats, tells: Floats, free: Sequence[int]) -> list[list[int]]:
    """The columns in the order of what they promise for some weights of told against kept."""
    scale_teaches, scale_tells = (max(float(v.max()), 1e-9) for v in (teaches, tells))
    ways = []
    for weight in (0.0, 0.5, 1.0, 3.0):
        value = teaches / scale_teaches - weight * np.maximum(tells, 0.0) / scale_tells
        ways.append(sorted(free, key=lambda c: (-value[c], c)))
    return ways


def undominated(sets: dict[Columns, tuple[float, float]]) -> list[Columns]:
    """The sets that no other beats, the least telling first; of equals the one of fewer columns.

    >>> undominated({(0,): (0.5, 0.1), (1,): (0.4, 0.2), (0, 1): (0.6, 0.2), (2,): (0.5, 0.1)})
    [(0,), (0, 1)]
    """
    order = sorted(sets, key=lambda each: (sets[each][1], -sets[each][0], len(each), each))
    found: list[Columns] = []
    most = -np.inf
    for columns in order:
        if sets[columns][0] > most:
            found.append(columns)
            most = sets[columns][0]
    return found


def thinned(sets: dict[Columns, tuple[float, float]], most: int) -> list[Columns]:
    """The sets that no other beats, thinned to those that leave the largest area behind them.

    One after the other goes the set whose going loses least of the area that the front spans; the
    two ends stay.

    >>> thinned({(0,): (1.0, 1.0), (1,): (2.0, 2.0), (2,): (2.1, 2.1), (3,): (3.0, 9.0)}, 3)
    [(0,), (2,), (3,)]
    """
    front = undominated(sets)
    while len(front) > max(most, 2):
        teach = np.array([sets[each][0] for each in front])
        tell = np.array([sets[each][1] for each in front])
        lost = (teach[1:-1] - teach[:-2]) * (tell[2:] - tell[1:-1])
        front.pop(1 + int(lost.argmin()))
    return front[:most]
