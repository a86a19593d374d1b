"""Searches for sets of features that predict the target but do not reveal the sensitive column.

::

    walk         as in the paper: along both rankings, removing one feature after another
    exhaustive   all subsets; the exact front
    forward      from nothing, adding the feature with the best E(S)
    backward     from everything, removing likewise
    best-first   a wrapper that looks at performance alone, from nothing and from everything
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from tamis.errors import plural
from tamis.learn.subset_scores import FoldScores
from tamis.rank.evaluation import Direction, front, goodness, levels, ordered, ranked, weighted
from tamis.risk.breach import Guess
from tamis.select.breach.candidate import BASELINE, EQUAL_MEANS, Candidate
from tamis.select.breach.trials import Trials

Subset = tuple[str, ...]
FACTORS: dict[str, Direction] = {"performance": "max", "privacy": "min", "size": "min"}


def walk(trials: Trials) -> list[Candidate]:
    """Remove features along each ranking, from last to first, as long as nothing is lost.

    A removal is kept if performance is not significantly below the baseline and, if there is a
    limit, the breach is within it; else the feature is put back and the next one tried. At least
    one feature stays.

    Notes
    -----
    Jafer, Matwin and Sokolova (2017), Figure 5.
    """
    found: dict[Subset, list[str]] = {}
    rankings = {
        "performance ranking": trials.performance_ranking,
        "privacy ranking": trials.privacy_ranking,
    }
    for origin, ranking in rankings.items():
        kept = ranking
        for tried, feature in enumerate(reversed(ranking)):
            trials.progress(f"{origin}: {tried} of {len(ranking)} removals tried")
            left = tuple(name for name in kept if name != feature)
            if left and trials.keeps(left):
                kept = left
                found.setdefault(_in_order(trials, left), []).append(origin)
    return _with_baseline(trials, found)


def exhaustive(trials: Trials) -> list[Candidate]:
    """Score all subsets; the candidates are those that no other beats.

    Of the subsets that meet the constraints, it keeps those that no other equals or beats in
    performance, breach and size at once.
    """
    trials.progress(f"scoring all {2 ** len(trials.features) - 1:,} subsets")
    subsets = _Masks(trials)
    masks = 1 + np.flatnonzero(trials.all_worthy(subsets.scores[1:]))
    pbi = subsets.guessed[masks].mean(axis=1) / trials.attack.all.accuracy - 1
    within = np.array([trials.safe(p) for p in pbi], dtype=bool)
    masks, pbi = masks[within], pbi[within]
    sizes = np.bitwise_count(masks).astype(float)
    values = {"performance": subsets.scores[masks].mean(axis=1), "privacy": pbi, "size": sizes}
    good = np.column_stack([goodness(values[name], way) for name, way in FACTORS.items()])
    chosen = masks[front(good)] if len(masks) else masks
    records = [subsets.candidate(int(mask)) for mask in chosen]
    return [_baseline(trials), *(c for c in records if c.size < len(trials.features))]


def backward(trials: Trials, weights: Mapping[str, float]) -> list[Candidate]:
    """Remove the feature whose removal has the best E(S), while the weighted vote favours it."""
    state = trials.features
    found: dict[Subset, list[str]] = {}
    while len(state) > 1:
        trials.progress(f"backward: {plural(len(state), 'feature')} left")
        trials.scores.drop_ones(state)
        removals = [tuple(n for n in state if n != gone) for gone in state]
        moves = [left for left in removals if trials.keeps(left)]
        best = _best_move(trials, state, moves, weights)
        if best is None:
            break
        state = best
        found[state] = ["backward"]
    return _with_baseline(trials, found)


def forward(trials: Trials, weights: Mapping[str, float]) -> list[Candidate]:
    """Add the feature whose addition has the best E(S), while the weighted vote favours it.

    Until the constraints are met, the feature that raises performance most is added: smaller sets
    are not candidates, so E(S) only breaks ties.
    """
    state: Subset = ()
    found: dict[Subset, list[str]] = {}
    while len(state) < len(trials.features):
        trials.progress(f"forward: {plural(len(state), 'feature')} chosen")
        trials.scores.add_ones(state)
        others = [n for n in trials.features if n not in state]
        moves = [_in_order(trials, (*state, new)) for new in others]
        must = state not in found
        if must:
            moves = _best_performing(trials, moves)
        best = _best_move(trials, state, moves, weights, must=must)
        if best is None:
            break
        state = best
        if trials.keeps(state):
            found[state] = ["forward"]
    return _with_baseline(trials, found)


def best_first(trials: Trials) -> list[Candidate]:
    """Open the best set seen so far, again and again, until nothing better comes.

    A wrapper that does not look at privacy: from nothing it adds, from everything it removes one
    feature at a time, and goes back to earlier sets where that promises more. `STALE` sets in a
    row that lead to nothing better end it. Candidates are the sets that were the best when they
    were found.

    Notes
    -----
    Kohavi and John (1997). Jafer, Matwin and Sokolova (2017) compare with it.
    """
    found: dict[Subset, list[str]] = {}
    for origin, start in (("best-first, adding", ()), ("best-first, removing", trials.features)):
        for subset in _records(trials, origin, start):
            if subset and trials.keeps(subset):
                found.setdefault(subset, []).append(origin)
    return _with_baseline(trials, found)


STALE = 5
"""How many sets in a row may lead to nothing better before best-first ends."""


def _records(trials: Trials, origin: str, start: Subset) -> list[Subset]:
    """The sets that performed best when they were found, one after another."""
    open_sets = [(-trials.scores.of(start).mean, 0, start)]
    seen, found, best, stale = {start}, [start], -open_sets[0][0], 0
    while open_sets and stale < STALE:
        trials.progress(f"{origin}: {plural(len(seen), 'set')} seen")
        _, _, state = heappop(open_sets)
        stale += 1
        for near, performance in _neighbours(trials, state, adding=not start):
            if near in seen:
                continue
            heappush(open_sets, (-performance, len(seen), near))
            seen.add(near)
            if performance > best + EQUAL_MEANS:
                best, stale = performance, 0
                found.append(near)
    return found


def _neighbours(trials: Trials, state: Subset, adding: bool) -> list[tuple[Subset, float]]:
    """The sets with one feature more or less, in the order of the columns; never none."""
    if not adding and len(state) < 2:
        return []
    found = trials.scores.add_ones(state) if adding else trials.scores.drop_ones(state)
    return [(_in_order(trials, each.features), each.mean) for each in found.values()]


def _best_performing(trials: Trials, moves: list[Subset]) -> list[Subset]:
    """The moves with the highest performance."""
    performance = levels([found.mean for found in trials.scores.many(moves)])
    return [move for move, level in zip(moves, performance) if level == performance.max()]


def _best_move(
    trials: Trials,
    state: Subset,
    moves: list[Subset],
    weights: Mapping[str, float],
    must: bool = False,
) -> Subset | None:
    """The move with the largest E(S); `None` if the vote against the current state rejects it."""
    if not moves:
        return None
    columns = _factors(trials, [*moves, state] if state else moves)
    ranks = {name: ranked(columns[name], way) for name, way in FACTORS.items()}
    total = weighted(ranks, weights)[: len(moves)]
    best = ordered(total, columns["size"][: len(moves)])[0]
    if must or _vote(columns, best, len(moves), weights) > 0:
        return moves[best]
    return None


def _vote(
    columns: Mapping[str, NDArray[np.float64]], one: int, other: int, weights: Mapping[str, float]
) -> float:
    """The weights of the factors in which one is better, minus those in which it is worse.

    For two sets this is the difference of their E(S), each ranked against the other alone.
    """
    total = 0.0
    for name, way in FACTORS.items():
        pair = goodness(columns[name][[one, other]], way)
        total += weights[name] * float(np.sign(pair[0] - pair[1]))
    return round(total, 12)


def _factors(trials: Trials, subsets: list[Subset]) -> dict[str, NDArray[np.float64]]:
    performance = [found.mean for found in trials.scores.many(subsets)]
    breach = [trials.attack.pbi(trials.attack.strongest(subset)) for subset in subsets]
    sizes = [float(len(subset)) for subset in subsets]
    return dict(zip(FACTORS, (np.array(performance), np.array(breach), np.array(sizes))))


class _Masks:
    """Every subset as the bits of a number, with its fold scores and the attacker's."""

    def __init__(self, trials: Trials) -> None:
        self._trials = trials
        counts = trials.scores.all_subsets()
        self.scores = trials.scores.all_scores(counts)
        self._counts = counts
        if trials.same:
            self.guessed, self._who = self.scores, np.zeros(len(counts), dtype=np.int64)
        else:
            self.guessed, self._who = trials.attack.all_subsets()

    def names(self, mask: int) -> Subset:
        return tuple(n for bit, n in enumerate(self._trials.features) if mask >> bit & 1)

    def candidate(self, mask: int) -> Candidate:
        names = self.names(mask)
        found = FoldScores(
            names, tuple(self.scores[mask].tolist()), tuple(self._counts[mask].tolist())
        )
        who = self._trials.attack.names[int(self._who[mask])]
        guess = Guess(names, who, self.guessed[mask], 0)  # its strength has been used
        return self._trials.record(found, guess, ["exhaustive"])


def _with_baseline(trials: Trials, found: Mapping[Subset, Iterable[str]]) -> list[Candidate]:
    records = [
        trials.candidate(subset, dict.fromkeys(origin))
        for subset, origin in found.items()
        if len(subset) < len(trials.features)
    ]
    return [_baseline(trials), *records]


def _baseline(trials: Trials) -> Candidate:
    return trials.candidate(trials.features, [BASELINE])


def _in_order(trials: Trials, subset: Iterable[str]) -> Subset:
    named = set(subset)
    return tuple(name for name in trials.features if name in named)
