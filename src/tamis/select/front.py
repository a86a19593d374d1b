"""The Pareto front of kept against told: sets of columns that no other set beats in both.

Tables of few columns are searched completely. For others a beam search grows sets by one column at
a time; from the sets of each size that no other of that size beats in both, it keeps a few that are
far apart. If a set breaks the required anonymity, so does every larger set, and none is scored.
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
"""Tables with at most this many columns are searched completely: 1,023 sets."""
WIDTH = 8
"""Width of the beam: sets of each size that are grown."""
TRIED = 8
"""On wide tables, the additions to each set that are scored."""
WIDE = 14
"""Tables with more columns than this are wide."""
BUDGET = 400
"""The most sets scored by the beam search: twice as many found nothing better on real tables."""
PATIENCE = 2
"""Sizes in a row that may bring nothing new to the front before growing ends."""


class Scorer(Protocol):
    """What a search asks of a table, as `SubsetBits` answers it."""

    def __len__(self) -> int:
        """The number of columns."""

    def score(self, columns: Columns) -> tuple[float, float]:
        """Kept and told of a set, in bits."""

    def expected(self, columns: Columns) -> tuple[Floats, Floats]:
        """Estimates of what each column would add to both."""


@dataclass(eq=False)
class Front:
    """All sets that a search scored.

    `scores` has kept and told of each set, in bits. Both are made monotone: at least those of any
    scored subset, and at least 0, since a holder of the set can ignore columns.
    """

    scores: dict[Columns, tuple[float, float]] = field(default_factory=dict)
    fits: int = 0
    """The number of sets scored."""
    refused: int = 0
    """The number of sets found to break the required anonymity, not counting larger ones."""
    whole: bool = False
    """Whether every set that keeps the anonymity was scored."""
    ended: bool = True
    """Whether the search ended by itself rather than by its budget."""

    def best(self) -> list[Columns]:
        """The sets that no other beats in both, those that tell least first."""
        return undominated(self.scores)


@dataclass(eq=False)
class _Search:
    """State of a search: the scores so far, the budget, and the sets that were refused."""

    scorer: Scorer
    keeps: Keeps
    budget: int
    progress: Callable[[int], None] | None
    front: Front = field(default_factory=Front)
    minimal: list[frozenset[int]] = field(default_factory=list)
    """Refused sets without a refused subset."""
    words: dict[Columns, int] = field(default_factory=dict)
    """The scored sets as bits, so that a subset is one AND."""

    @property
    def spent(self) -> bool:
        return self.front.fits >= self.budget

    def allowed(self, columns: Columns) -> bool:
        """Whether a set keeps the anonymity; measured only if no subset is known to break it."""
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
        """Record a score, raised to those of its subsets, and raise those of its supersets to it.

        A holder of the larger set can ignore columns, so it keeps and tells at least as much. Its
        measured score may be lower, from noise or a model that overfits.
        """
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
    """Find the sets that may be best for some weight of told against kept.

    Parameters
    ----------
    keeps : callable
        Whether a set keeps the required anonymity; if it does not, no larger set may.
    seeds : iterable of sets
        Sets to score in any case and to grow, such as all columns that nobody can know.
    budget : int, optional
        The most sets to score. `None`: 400, or all sets of a table that is searched completely.
    width : int, default 8
        Width of the beam: sets of each size to grow.
    whole : int, default 10
        Tables with at most this many columns are searched completely, if the budget allows.
    tried : int, optional
        Additions to each set that are scored, the most promising ones. `None`: all of them, or 8
        on tables of more than 14 columns.
    progress : callable, optional
        Called with the number of sets scored so far.
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
    """Beam search: grow the best few sets of each size by one column at a time."""
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
        # An exhausted beam ends, but larger seeds still to come start a new one.
        if idle > PATIENCE:
            kept, idle = [], 0
        if not kept and size >= max(planted, default=0):
            return


def _additions(search: _Search, columns: Columns, tried: int) -> list[Columns]:
    """Allowed sets with one column more; if there are many, the `tried` most promising ones."""
    free = [c for c in range(len(search.scorer)) if c not in columns]
    grown = {c: tuple(sorted((*columns, c))) for c in free}
    if len(free) <= tried:
        return [grown[c] for c in free if search.allowed(grown[c])]
    # The best by each weight of told takes its turn until there are enough, so that both ends of
    # the front are served.
    chosen: dict[Columns, None] = {}
    ways = [iter(way) for way in _ways(*search.scorer.expected(columns), free)]
    while ways and len(chosen) < tried:
        for way in list(ways):
            if len(chosen) == tried:
                break
            column = next(
                (c for c in way if grown[c] not in chosen and search.allowed(grown[c])), None
            )
            if column is None:
                ways.remove(way)
            else:
                chosen[grown[column]] = None
    return list(chosen)


def _ways(teaches: Floats, tells: Floats, free: Sequence[int]) -> list[list[int]]:
    """Columns in descending order of expected value, for several weights of told against kept."""
    # Scaled by the largest of each, so that a weight means the same on every table.
    scale_teaches, scale_tells = (max(float(v.max()), 1e-9) for v in (teaches, tells))
    ways = []
    for weight in (0.0, 0.5, 1.0, 3.0):
        value = teaches / scale_teaches - weight * np.maximum(tells, 0.0) / scale_tells
        ways.append(sorted(free, key=lambda c: (-value[c], c)))
    return ways


def undominated(sets: dict[Columns, tuple[float, float]]) -> list[Columns]:
    """The sets that no other beats, those that tell least first; equals: the fewest columns.

    >>> undominated({(0,): (0.5, 0.1), (1,): (0.4, 0.2), (0, 1): (0.6, 0.2), (2,): (0.5, 0.1)})
    [(0,), (0, 1)]
    """
    # In this order whatever beats a set comes before it, so a set stays if it keeps more than all.
    order = sorted(sets, key=lambda s: (sets[s][1], -sets[s][0], len(s), s))
    best: list[Columns] = []
    most = -np.inf
    for columns in order:
        if sets[columns][0] > most:
            best.append(columns)
            most = sets[columns][0]
    return best


def thinned(sets: dict[Columns, tuple[float, float]], most: int) -> list[Columns]:
    """The sets that no other beats, thinned to `most` that span nearly as large an area.

    The set whose removal costs the front the least area is removed, again and again; both ends
    stay.

    >>> thinned({(0,): (1.0, 1.0), (1,): (2.0, 2.0), (2,): (2.1, 2.1), (3,): (3.0, 9.0)}, 3)
    [(0,), (2,), (3,)]
    """
    front = undominated(sets)
    while len(front) > max(most, 2):
        teach = np.array([sets[columns][0] for columns in front])
        tell = np.array([sets[columns][1] for columns in front])
        # The area that only this set dominates: a rectangle between its two neighbours.
        lost = (teach[1:-1] - teach[:-2]) * (tell[2:] - tell[1:-1])
        front.pop(1 + int(lost.argmin()))
    return front[:most]
