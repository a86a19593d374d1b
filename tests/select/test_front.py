"""The search for the front: against all sets, with anonymity, budgets and wide tables."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.select.front import BUDGET, search_front, thinned, undominated


class Additive:
    """What each column teaches and tells adds up; some pairs tell only together."""

    def __init__(self, teaches, tells, pairs=()):
        self.teaches, self.tells = np.asarray(teaches, float), np.asarray(tells, float)
        self.pairs = dict(pairs)
        self.asked = []

    def __len__(self):
        return len(self.teaches)

    def score(self, columns):
        self.asked.append(columns)
        chosen = list(columns)
        told = sum(v for pair, v in self.pairs.items() if set(pair) <= set(columns))
        return float(self.teaches[chosen].sum()), float(self.tells[chosen].sum() + told)

    def expected(self, columns):
        return self.teaches, self.tells


def all_sets(n):
    return [c for size in range(n + 1) for c in combinations(range(n), size)]


def area(points):
    """What a front spans: for each that tells so much, the most that is taught."""
    total, most = 0.0, 0.0
    points = sorted(points, key=lambda p: (p[1], -p[0]))
    edges = [p[1] for p in points[1:]] + [1.01 * max(p[1] for p in points) + 1e-9]
    for (teaches, tells), edge in zip(points, edges):
        most = max(most, teaches)
        total += most * (edge - tells)
    return total


def random_scorer(n, seed):
    rng = np.random.default_rng(seed)
    pairs = {(int(a), int(b)): rng.random() for a, b in rng.integers(0, n, (3, 2)) if a < b}
    return Additive(rng.exponential(size=n), rng.exponential(size=n), pairs)


@given(st.integers(1, 6), st.integers(0, 999), st.floats(0.5, 4))
def test_few_columns_are_searched_whole(n, seed, most):
    scorer = random_scorer(n, seed)
    weights = np.random.default_rng(seed).random(n)

    def keeps(columns):
        return bool(weights[list(columns)].sum() <= most)

    front = search_front(scorer, keeps)
    assert front.whole
    assert set(front.scores) == {c for c in all_sets(n) if keeps(c)}
    assert front.fits == len(front.scores) - 1
    assert len(scorer.asked) == len(set(scorer.asked))


@given(st.integers(3, 8), st.integers(0, 999))
def test_the_beam_loses_little_of_the_front(n, seed):
    scorer = random_scorer(n, seed)
    front = search_front(scorer, whole=0)
    truth = area([scorer.score(c) for c in all_sets(n)])
    assert area([front.scores[c] for c in front.best()]) >= 0.97 * truth


def test_what_holds_a_refused_set_is_never_asked_about():
    asked = []

    def keeps(columns):
        asked.append(columns)
        return not {1, 3} <= set(columns)

    front = search_front(Additive([1.0] * 5, [1.0] * 5), keeps)
    assert [c for c in asked if {1, 3} <= set(c)] == [(1, 3)]
    assert front.refused == 1
    assert not any({1, 3} <= set(c) for c in front.scores)
    assert len(front.scores) == 32 - 8


def test_scores_are_closed_even_over_seeds_that_came_first():
    class Noisy(Additive):
        def score(self, columns):
            teaches, tells = super().score(columns)
            return (teaches, tells) if len(columns) < 3 else (0.0, -1.0)

    scorer = Noisy([3.0, 2, 1, 0.5], [1.0, 0.5, 0.2, 0.1])
    front = search_front(scorer, seeds=[(0, 1, 2, 3)], whole=0)
    for columns, (teaches, tells) in front.scores.items():
        parts = [front.scores[c] for c in front.scores if set(c) <= set(columns)]
        assert teaches == max(0.0, *(p[0] for p in parts))
        assert tells == max(0.0, *(p[1] for p in parts))
    assert front.scores[(0, 1, 2, 3)][0] == 5


def test_seeds_are_scored_and_grown_from():
    """The seed's columns tell a lot alone but nothing more with 5 beside them."""
    teaches = np.array([1.0, 1, 1, 1, 1, 6] + [2.0] * 8)
    tells = np.array([9.0, 9, 9, 9, 9, 0.1] + [0.1] * 8)
    seed = (0, 1, 2, 3, 4)
    front = search_front(Additive(teaches, tells), seeds=[seed[::-1]], width=2)
    assert seed in front.scores
    assert any(set(seed) < set(c) for c in front.scores)
    broken = search_front(Additive(teaches, tells), lambda c: len(c) < 5, seeds=[seed], width=2)
    assert seed not in broken.scores


def test_wide_tables_fit_only_what_promises_most():
    rng = np.random.default_rng(0)
    teaches, tells = rng.exponential(size=200), rng.exponential(size=200)
    scorer = Additive(teaches, tells)
    front = search_front(scorer, lambda c: len(c) <= 4)
    assert front.fits < 4 * 8 * 8 + 8
    assert (int(teaches.argmax()),) in front.scores
    best = tuple(sorted(np.argsort(-teaches)[:4].tolist()))
    assert max(front.scores[c][0] for c in front.scores) == pytest.approx(scorer.score(best)[0])


def test_growing_ends_where_nothing_new_is_found_and_goes_on_at_the_seeds():
    teaches = np.array([2.0, 1.0] + [0.0] * 10)
    seed = tuple(range(3, 12))
    front = search_front(Additive(teaches, np.ones(12)), seeds=[seed])
    sizes = {len(columns) for columns in front.scores}
    assert sizes == {0, 1, 2, 3, 4, 5, 9, 10, 11, 12}
    assert front.ended


def test_a_budget_is_kept_and_said():
    told: list[int] = []
    scorer = Additive(np.arange(12.0), np.ones(12))
    front = search_front(scorer, budget=40, progress=told.append)
    assert front.fits == 40
    assert not front.ended
    assert told[-1] == 40
    assert told == sorted(told)
    assert search_front(scorer).ended
    many = search_front(random_scorer(40, 0), tried=40)
    assert many.fits == BUDGET
    assert not many.ended
    few = search_front(Additive(np.arange(6.0), np.ones(6)), budget=20)
    assert not few.whole
    assert few.fits <= 20


def test_the_same_search_finds_the_same():
    one, two = (search_front(random_scorer(13, 4)) for _ in range(2))
    assert list(one.scores.items()) == list(two.scores.items())


def test_no_columns_leave_the_empty_set():
    front = search_front(Additive([], []))
    assert front.scores == {(): (0.0, 0.0)}
    assert front.best() == [()]
    nothing = search_front(Additive([1.0], [1.0]), lambda c: False)
    assert list(nothing.scores) == [()]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=20))
def test_the_undominated_are_those_that_none_beats(points):
    sets: dict[tuple[int, ...], tuple[float, float]] = {
        (i,): (float(a), float(b)) for i, (a, b) in enumerate(points)
    }

    def beats(one, other):
        return one[0] >= other[0] and one[1] <= other[1] and one != other

    expected = {p for p in sets.values() if not any(beats(q, p) for q in sets.values())}
    found = undominated(sets)
    assert {sets[c] for c in found} == expected
    assert len(found) == len(expected)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=15, unique=True), st.integers(2, 6))
def test_thinning_keeps_both_ends(values, most):
    values = sorted(values)
    sets: dict[tuple[int, ...], tuple[float, float]] = {(i,): (v, v) for i, v in enumerate(values)}
    found = thinned(sets, most)
    assert len(found) == min(most, len(values))
    assert found[0] == (0,)
    assert found[-1] == (len(values) - 1,)
