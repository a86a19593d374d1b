"""Empirical checks of differential privacy, and that they catch broken mechanisms."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from tamis import Roles, Table
from tamis.dp import budget as budget_module
from tamis.dp import budget as noise
from tamis.dp import histogram as histogram_module
from tamis.dp import selector as private_module
from tamis.dp.histogram import DPHistogram, measured_boxes
from tamis.dp.selector import chosen_places, hamming_scores
from tests.long import LONG, daily

EPSILON = 1.0
MANY = 20_000
COUNTED = MANY if LONG else 5_000
RUNS = 1_200 if LONG else 300
LEVEL = 1e-6


def violations(left: Iterable[Hashable], right: Iterable[Hashable], epsilon: float) -> list[str]:
    """Outcomes that are too much likelier on one table than epsilon allows.

    Where a mechanism keeps epsilon, an outcome that was seen a times on one table and b times on
    its neighbour has a of a + b at most as a coin of chance e^epsilon / (1 + e^epsilon) gives.
    Each outcome is tested both ways, with the level shared among them: a sound mechanism is
    flagged in one of a million runs.
    """
    first, second = Counter(left), Counter(right)
    outcomes = set(first) | set(second)
    chance = 1 / (1 + math.exp(-epsilon))
    found = []
    for outcome in outcomes:
        a, b = first[outcome], second[outcome]
        least = min(stats.binom.sf(x - 1, a + b, chance) for x in (a, b))
        if least < LEVEL / (2 * len(outcomes)):
            found.append(f"{outcome}: {a} against {b}")
    return sorted(found)


def draws(mechanism: Callable[[], Hashable], times: int = RUNS) -> list[Hashable]:
    return [mechanism() for _ in range(times)]


def counts(level: int, epsilon: float, sensitivity: int = 1) -> list[int]:
    drawn = noise.laplace(np.full(COUNTED, level), sensitivity, epsilon)
    return [int(n) for n in np.clip(drawn, -3, 4)]


def test_laplace_counts_keep_epsilon() -> None:
    assert not violations(counts(0, EPSILON), counts(1, EPSILON), EPSILON)
    assert not violations(counts(0, EPSILON, 2), counts(2, EPSILON, 2), EPSILON)


@pytest.mark.parametrize("factor", daily([1.3, 2.0], 2.0))
def test_the_check_catches_noise_that_is_too_small(factor) -> None:
    left, right = (counts(level, EPSILON * factor) for level in (0, 1))
    assert violations(left, right, EPSILON)


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1.0, 7.0])
@pytest.mark.parametrize("sensitivity", [1, 2, 6180])
def test_opendp_itself_counts_the_same_cost(epsilon, sensitivity) -> None:
    dp = noise.opendp()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    cost = dp.m.make_laplace(*space, scale=sensitivity / epsilon).map(sensitivity)
    assert cost == pytest.approx(epsilon, rel=budget_module.BUDGET_ROUNDING)


def test_the_check_catches_a_count_without_noise() -> None:
    assert violations([0] * 100, [1] * 100, EPSILON)


def test_laplace_noise_is_discrete_laplace() -> None:
    drawn = noise.laplace(np.zeros(MANY, int), 2, 0.5)
    decay = math.exp(-0.25)
    near = np.arange(-12, 13)
    chance = (1 - decay) / (1 + decay) * decay ** np.abs(near)
    seen = [int((drawn == z).sum()) for z in near]
    rest = MANY - sum(seen)
    expected = [*(chance * MANY), (1 - chance.sum()) * MANY]
    assert stats.chisquare([*seen, rest], expected).pvalue > 1e-5
    wrong = decay ** (1.2 * np.abs(near))
    wrong = wrong / wrong.sum() * sum(seen)
    assert stats.chisquare(seen, wrong).pvalue < 1e-9


def test_exponential_draws_have_the_stated_probabilities() -> None:
    """Two of three places without replacement, by the product of the two steps."""
    scores, epsilon, sensitivity, picks = [0, 4, 7], 2.0, 3, 2
    weight = np.exp(epsilon * np.array(scores) / (2 * sensitivity * picks))
    pairs = [(i, j) for i in range(3) for j in range(3) if i != j]
    chance = [weight[i] * weight[j] / weight.sum() / (weight.sum() - weight[i]) for i, j in pairs]
    times = 4000 if LONG else 1000
    seen = Counter(
        tuple(noise.exponential(np.array(scores), sensitivity, epsilon, picks))
        for _ in range(times)
    )
    observed = [seen[pair] for pair in pairs]
    assert stats.chisquare(observed, np.array(chance) * times).pvalue > 1e-5
    even = np.full(len(pairs), times / len(pairs))
    assert stats.chisquare(observed, even).pvalue < 1e-5


Labelled = tuple[np.ndarray, np.ndarray]


def other_cells() -> tuple[Labelled, Labelled]:
    """One row against eleven turns two columns on and two off: the scores move by n - 1."""
    y = np.arange(12) == 0
    left = np.zeros((12, 4), int)
    left[0, :2] = 1
    right = np.zeros((12, 4), int)
    right[0, 2:] = 1
    return (left, y), (right, y)


def other_label() -> tuple[Labelled, Labelled]:
    """The same row, but it has the other label too."""
    (left, _), (right, _) = other_cells()
    y = np.arange(12) < 6
    return (left, y), (right, y & (np.arange(12) > 0))


MECHANISMS = daily(
    product(["exponential", "laplace"], [other_cells, other_label]),
    ("exponential", other_cells),
    ("laplace", other_label),
)


def least_epsilon(left: list[Hashable], right: list[Hashable]) -> float:
    """An epsilon that the mechanism surely has at least, by Clopper and Pearson's intervals."""
    first, second = Counter(left), Counter(right)
    outcomes = set(first) | set(second)
    level = LEVEL / (4 * len(outcomes))
    found = 0.0
    for outcome in outcomes:
        for one, other in ((first, second), (second, first)):
            a, b, n = one[outcome], other[outcome], len(left)
            low = stats.beta.ppf(level, a, n - a + 1) if a else 0.0
            high = stats.beta.ppf(1 - level, b + 1, n - b) if b < n else 1.0
            found = max(found, math.log(low / high)) if low > 0 else found
    return found


def chosen(
    labelled: Labelled, mechanism: Any, epsilon: float, sensitivity: int | None = None
) -> Callable[[], str]:
    """The pair of columns that is chosen, with the right sensitivity unless another is given."""
    scores, right = hamming_scores(*labelled)
    used = right if sensitivity is None else sensitivity
    return lambda: str(chosen_places(scores, used, epsilon, 2, mechanism))


@pytest.mark.parametrize(("mechanism", "neighbouring"), MECHANISMS)
def test_selection_keeps_epsilon_on_neighbours(mechanism, neighbouring) -> None:
    epsilon = 2.0
    first, second = (draws(chosen(table, mechanism, epsilon)) for table in neighbouring())
    assert not violations(first, second, epsilon)
    assert least_epsilon(first, second) <= epsilon


@pytest.mark.parametrize("mechanism", ["exponential", "laplace"])
def test_selection_prefers_what_separates(mechanism) -> None:
    left, _ = other_cells()
    drawn = draws(chosen(left, mechanism, 4.0), 400)
    assert stats.chisquare([drawn.count(v) for v in set(drawn)]).pvalue < 1e-6


@pytest.mark.parametrize(("mechanism", "neighbouring"), MECHANISMS)
def test_the_check_catches_a_selection_with_a_wrong_sensitivity(mechanism, neighbouring) -> None:
    """The sensitivity of a pair of rows, as if the sizes of the classes did not count."""
    first, second = (draws(chosen(table, mechanism, 1.0, 1), 400) for table in neighbouring())
    assert violations(first, second, 1.0)
    assert least_epsilon(first, second) > 1.0


def test_the_scale_that_the_paper_prints_for_laplace_is_caught(monkeypatch) -> None:
    """Laplace(S / epsilon) on every feature, where 2 S features / epsilon is needed."""
    honest = noise.laplace
    monkeypatch.setattr(
        private_module, "laplace", lambda scores, s, epsilon: honest(scores, s // 4, epsilon)
    )
    first, second = (draws(chosen(table, "laplace", 1.0), 600) for table in other_cells())
    assert violations(first, second, 1.0)


@pytest.mark.parametrize("rows", range(2, 6))
def test_the_sensitivity_of_hamdist_is_what_is_stated(rows) -> None:
    """By brute force: all labelled columns, all substitutions of a row with its label."""
    places = np.arange(rows)
    every = [(c >> places & 1, y >> places & 1) for c in range(2**rows) for y in range(2**rows)]
    scores = {
        (*column, *y): int(hamming_scores(column[:, None], y == 1)[0][0]) for column, y in every
    }
    worst = 0
    for column, y in every:
        for row in range(rows):
            for cell, label in ((0, 0), (0, 1), (1, 0), (1, 1)):
                other, flipped = column.copy(), y.copy()
                other[row], flipped[row] = cell, label
                change = scores[(*column, *y)] - scores[(*other, *flipped)]
                worst = max(worst, abs(change))
    assert worst == hamming_scores(column[:, None], y == 1)[1] == rows - 1


COPIES = 2_000 if LONG else 1_000
BOUNDS: dict[str, Any] = {"copy": [0, COPIES - 1], "a": [0, 3], "label": ["no", "yes"]}
SMALL = [(0, "no"), (1, "no"), (3, "yes")]
NEIGHBOURS = {
    "add-remove": (SMALL, [*SMALL, (3, "no")]),
    "substitute": ([*SMALL, (0, "no")], [*SMALL, (3, "no")]),
}


def cell_counts(rows: list[tuple[int, str]], neighbours: Any) -> list[Hashable]:
    """The noisy counts of the two cells that one row can move, cut to a few outcomes.

    Many copies of the small table lie side by side in one table, each in cells of its own; so
    one fit gives as many independent draws as there are copies.
    """
    a, label = zip(*rows)
    each = pl.DataFrame({"a": a, "label": label})
    frame = pl.DataFrame({"copy": range(COPIES)}).join(each, how="cross")
    model = DPHistogram(EPSILON, bounds=BOUNDS, bins=COPIES, neighbours=neighbours)
    noisy = model.fit(frame, target="label").counts_
    assert noisy.shape == (2, COPIES, 4)
    cells = np.clip(noisy[0][:, [0, 3]], 0, 2)
    return [tuple(pair) for pair in cells.tolist()]


@pytest.mark.parametrize("neighbours", ["add-remove", "substitute"])
def test_the_histogram_keeps_epsilon(neighbours) -> None:
    left, right = (cell_counts(rows, neighbours) for rows in NEIGHBOURS[neighbours])
    assert not violations(left, right, EPSILON)


def test_the_check_catches_a_histogram_made_for_other_neighbours(monkeypatch) -> None:
    monkeypatch.setitem(budget_module.MOVED, "substitute", 1)
    left, right = (cell_counts(rows, "substitute") for rows in NEIGHBOURS["substitute"])
    assert violations(left, right, EPSILON)


def test_the_check_catches_empty_cells_without_noise(monkeypatch) -> None:
    """A common mistake: noise only where somebody is."""
    honest = noise.laplace
    monkeypatch.setattr(
        histogram_module, "laplace", lambda n, s, e: np.where(n > 0, honest(n, s, e), 0)
    )
    left, right = (cell_counts(rows, "add-remove") for rows in NEIGHBOURS["add-remove"])
    assert violations(left, right, EPSILON)


def people_counts(stays: int, most: int) -> list[Hashable]:
    """The noisy count of one cell, in which a person has so many rows, of each copy."""
    rows = [("a", 0), ("b", 0), *[("c", 3)] * stays]
    who, a = zip(*rows)
    each = pl.DataFrame({"who": who, "a": a, "label": "no"})
    frame = pl.DataFrame({"copy": range(COPIES)}).join(each, how="cross")
    named = frame.with_columns(who=pl.format("{}-{}", "copy", "who"))
    table = Table(named, Roles(target="label", identifiers=("who",)))
    model = DPHistogram(EPSILON, bounds=BOUNDS, bins=COPIES, max_rows_per_person=most)
    return [int(n) for n in np.clip(model.fit(table).counts_[0][:, 3], -2, 4)]


@pytest.mark.parametrize("most", daily([1, 2], 2))
def test_a_person_of_several_rows_is_hidden(most) -> None:
    without, present = (people_counts(stays, most) for stays in (0, 5))
    assert not violations(without, present, EPSILON)
    assert least_epsilon(without, present) <= EPSILON


def test_the_check_catches_a_person_who_counts_as_a_row(monkeypatch) -> None:
    monkeypatch.setattr(DPHistogram, "_moved", 1)
    without, present = (people_counts(stays, 3) for stays in (0, 5))
    assert violations(without, present, EPSILON)


GRID = np.array([[12, 3], [3, 12]])


def boxes(rows: int) -> Callable[[], tuple[int, ...]]:
    """How many boxes there are, and about how many rows the box of the last cell got.

    Without and with one more row in the last cell.
    """
    grid = GRID.copy()
    grid[1, 1] += rows

    def mechanism() -> tuple[int, ...]:
        found, counts = measured_boxes(grid, 1, EPSILON / 2)
        inside = [n for box, n in zip(found, counts) if all(s.stop == 2 for s in box)]
        return len(found), int(np.clip(inside[0] - 11, 0, 3))

    return mechanism


def test_the_partition_keeps_epsilon() -> None:
    left, right = (draws(boxes(rows)) for rows in (0, 1))
    assert len(set(left)) > 8  # cut in several ways
    assert not violations(left, right, EPSILON)


def test_the_check_catches_boxes_counted_without_noise(monkeypatch) -> None:
    honest = noise.laplace
    monkeypatch.setattr(
        histogram_module, "laplace", lambda n, s, e: n if n.ndim == 1 else honest(n, s, e)
    )
    left, right = (draws(boxes(rows), 400) for rows in (0, 1))
    assert violations(left, right, EPSILON)
