"""Population risk: counted from a register, or estimated and compared with a known truth."""

from __future__ import annotations

from math import comb

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tamis import Roles, Table
from tamis.errors import InputError
from tamis.risk.grouping import grouped
from tamis.risk.population import (
    classes_risk,
    population_risk,
    population_uniques,
    population_weights,
)
from tamis.risk.presence import CountedClasses


@given(st.lists(st.integers(0, 6), min_size=1, max_size=40), st.data())
def test_a_register_is_counted(everybody, data):
    rows = data.draw(
        st.lists(st.integers(0, len(everybody) - 1), min_size=1, max_size=20, unique=True)
    )
    sample = [everybody[r] for r in rows]
    found = population_risk(
        pl.DataFrame({"town": sample}), population=pl.DataFrame({"town": everybody})
    )
    there = [everybody.count(town) for town in sample]
    assert found.unique_share == pytest.approx(there.count(1) / len(sample))
    assert found.average == pytest.approx(sum(1 / f for f in there) / len(sample))
    assert found.largest == pytest.approx(1 / min(there))
    assert found.size == len(everybody)
    here = [sample.count(town) for town in sample]
    assert found.sample_unique_share == pytest.approx(here.count(1) / len(sample))
    assert found.sample_average == pytest.approx(sum(1 / f for f in here) / len(sample))
    assert found.risk == found.average >= found.unique_share


def test_people_are_counted_not_their_rows():
    visits = pl.DataFrame({"who": [1, 1, 2], "age": [30, 30, 40], "y": [0, 1, 0]})
    table = Table(visits, Roles(target="y", identifiers=("who",), quasi=("age",)))
    town = pl.DataFrame({"who": [1, 1, 2, 3], "age": [30, 30, 40, 40], "y": [0, 1, 0, 1]})
    register = Table(town, Roles(target="y", identifiers=("who",), quasi=("age",)))
    found = population_risk(table, population=register)
    assert found.unique_share == 0.5
    assert found.size == 3


def test_the_whole_population_is_its_own_truth():
    found = population_uniques([1, 1, 2, 6], 1)
    assert found.value == found.pitman == found.zayatz == found.snb == 0.2
    risk = population_risk(pl.DataFrame({"a": [1, 2, 2]}), sampling=1)
    assert risk.unique_share == pytest.approx(1 / 3)
    assert risk.average == pytest.approx(risk.sample_average) == pytest.approx(2 / 3)


def test_who_has_company_in_the_sample_is_unique_nowhere():
    found = population_risk(pl.DataFrame({"a": [1, 1, 2, 2]}), sampling=0.01)
    assert found.unique_share == 0
    assert 0 < found.risk < found.sample_average == 0.5


@settings(max_examples=12)
@given(
    st.lists(st.integers(1, 6), min_size=1, max_size=30).filter(lambda sizes: 1 in sizes),
    st.sampled_from([0.05, 0.25, 0.5]),
)
@example([1, 2], 0.75)  # a class as large as all who were not drawn, and one more
def test_zayatz_by_its_definition(sizes, sampling):
    n = sum(sizes)
    everybody = round(n / sampling)
    chance = {j: j * comb(everybody - j, n - 1) / comb(everybody, n) for j in set(sizes)}
    alone = sizes.count(1)
    share = alone * chance[1] / sum(chance[j] for j in sizes) * alone / n
    assert population_uniques(sizes, sampling).zayatz == pytest.approx(share, rel=1e-6)


def test_a_class_larger_than_all_who_were_not_drawn_hides_no_unique_person() -> None:
    found = population_uniques([1, 3], 4 / 5.5)  # one and a half were not drawn, too few for two
    assert found.zayatz == pytest.approx(1 / 4)


def pitman_by_definition(sizes: list[int], everybody: int) -> float:
    """The share of uniques, by the parameters that make a sequence of people most probable.

    Of n people in u classes the next one opens a class with probability (theta + alpha u) /
    (theta + n), and joins one of k people with probability (k - alpha) / (theta + n).
    """

    def log_likelihood(alpha: np.ndarray, theta: np.ndarray) -> np.ndarray:
        opened = sum(np.log(theta + alpha * u) for u in range(1, len(sizes)))
        joined = sum(np.log(k - alpha) for size in sizes for k in range(1, size))
        came = sum(np.log(theta + n) for n in range(1, sum(sizes)))
        return np.asarray(opened + joined - came)

    alpha, log_theta, width = 0.5, 1.0, 0.5
    for _ in range(30):  # a grid, ever finer about its best point
        alphas = np.clip(np.linspace(alpha - width, alpha + width, 21), 1e-6, 1 - 1e-6)
        log_thetas = np.linspace(log_theta - 10 * width, log_theta + 10 * width, 21)
        a, t = np.meshgrid(alphas, log_thetas)
        best = log_likelihood(a, np.exp(t)).argmax()
        alpha, log_theta, width = a.flat[best], t.flat[best], 0.7 * width
    theta, after = np.exp(log_theta), np.arange(1, everybody)
    return float(np.prod(1 - (1 - alpha) / (theta + after)))  # nobody else joins the first


@pytest.mark.parametrize("sizes", [[1] * 5 + [2] * 2 + [7], [1] * 20 + [2, 3, 4, 9]])
def test_pitman_by_its_definition(sizes: list[int]) -> None:
    everybody = 8 * sum(sizes)
    found = population_uniques(sizes, 1 / 8).pitman
    assert found == pytest.approx(pitman_by_definition(sizes, everybody), rel=1e-4)


def test_pitman_does_not_fit_where_alpha_runs_to_one() -> None:
    found = population_uniques([1] * 3000 + [549], 0.05)  # nobody joins a class but one
    assert found.pitman is None
    assert found.trusted == "zayatz"


@settings(max_examples=12)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=60), st.floats(0.001, 1))
def test_estimates_never_exceed_what_is_unique_in_the_sample(sizes, sampling):
    found = population_uniques(sizes, sampling)
    unique = sizes.count(1) / sum(sizes)
    for share in (found.pitman, found.zayatz, found.snb, found.value):
        assert share is None or 0 <= share <= unique + 1e-12
    assert 0 <= found.matched <= len(sizes) / sum(sizes) + 1e-12


def sample_of(sizes: np.ndarray, sampling: float, seed: int) -> tuple[np.ndarray, float]:
    """The class sizes of a sample, and the share of its people who are unique in the population."""
    rng = np.random.default_rng(seed)
    classes = np.repeat(np.arange(len(sizes)), sizes)
    drawn = rng.choice(classes, int(len(classes) * sampling), replace=False)
    return np.unique(drawn, return_counts=True)[1], float((sizes[drawn] == 1).mean())


def by_pitman(theta: float, alpha: float, people: int, seed: int) -> np.ndarray:
    """Class sizes by Pitman's process: shares of sticks broken one after the other."""
    rng = np.random.default_rng(seed)
    number = np.arange(1, 40_000)
    broken = rng.beta(1 - alpha, theta + alpha * number)
    left = np.cumprod(np.append(1.0, 1 - broken))
    shares = np.append(broken * left[:-1], left[-1])
    drawn = rng.choice(len(shares), people, p=shares / shares.sum())
    return np.unique(drawn, return_counts=True)[1]


@pytest.mark.parametrize("alpha", [0.3, 0.5])
def test_pitman_finds_the_truth_of_his_own_model(alpha):
    sizes = by_pitman(500, alpha, 40_000, seed=2)
    sample, truth = sample_of(sizes, 0.2, seed=5)
    assert population_uniques(sample, 0.2).pitman == pytest.approx(truth, rel=0.2)


def test_chen_and_mcnulty_find_the_truth_of_their_own_model():
    rng = np.random.default_rng(3)
    sizes = 1 + rng.negative_binomial(0.7, 0.15, 12_000)
    for sampling in (0.05, 0.3):
        sample, truth = sample_of(sizes, sampling, seed=5)
        assert population_uniques(sample, sampling).snb == pytest.approx(truth, rel=0.2)


def populations() -> dict[str, pl.DataFrame]:
    """Made people: values of skewed and of even columns."""
    rng = np.random.default_rng(1)

    def skewed(values: int, power: float) -> np.ndarray:
        chance = 1 / np.arange(1, values + 1) ** power
        return rng.choice(values, 50_000, p=chance / chance.sum())

    return {
        "skewed": pl.DataFrame({f"c{v}": skewed(v, 1.0) for v in (60, 30, 12, 5)}),
        "heavy": pl.DataFrame({f"c{v}": skewed(v, 1.5) for v in (400, 150, 30, 8)}),
    }


@pytest.mark.parametrize("name", ["skewed", "heavy"])
@pytest.mark.parametrize("sampling", [0.05, 0.3])
def test_the_trusted_estimate_is_cautious_and_near_on_made_people(name, sampling):
    people = populations()[name]
    truth = grouped(people, people.columns)
    rows = np.random.default_rng(2).choice(people.height, int(people.height * sampling), False)
    share = (truth.sizes[truth.class_of[rows]] == 1).mean()
    found = population_risk(people[rows], sampling=sampling)
    assert 0.95 * share <= found.unique_share <= 1.5 * share
    mean = (1 / truth.sizes[truth.class_of[rows]]).mean()
    assert 0.85 * mean <= found.risk <= 1.3 * mean
    assert found.unique_share < found.sample_unique_share
    assert found.size == pytest.approx(people.height)


def test_weights_of_one_make_the_table_its_own_population():
    frame = pl.DataFrame({"a": [1, 1, 2, 3]})
    found = population_risk(frame, weights=np.ones(4))
    assert found.unique_share == found.sample_unique_share == 0.5
    assert found.average == found.sample_average == pytest.approx(0.75)


def test_exactly_one_thing_is_known_of_the_population():
    frame = pl.DataFrame({"a": [1, 2]})
    with pytest.raises(InputError, match="got none"):
        population_risk(frame)
    with pytest.raises(InputError, match="got sampling and weights"):
        population_risk(frame, sampling=0.1, weights=[1, 1])
    with pytest.raises(InputError, match=r"above 0 and at most 1, got 1\.5"):
        population_risk(frame, sampling=1.5)
    with pytest.raises(InputError, match="must include everyone"):
        population_risk(frame, population=frame.head(1))


def test_people_in_large_classes_are_found_as_rarely_as_they_should_be():
    people = pl.DataFrame({"town": np.random.default_rng(0).integers(0, 40, 100_000)})
    found = population_risk(people.head(2_000), sampling=0.02)
    assert found.unique_share == 0
    assert found.risk == pytest.approx(40 / 100_000, rel=0.1)


def weighted(weights: list[float]) -> Table:
    frame = pl.DataFrame({"job": ["cook"] * len(weights), "w": weights})
    return Table(frame, Roles(weight="w", quasi=("job",)))


def test_weights_below_one_are_a_tenth_at_most() -> None:
    with pytest.warns(UserWarning, match="^2 weights in 'w' below 1 count as 1"):
        found = population_weights(weighted([0.5] * 2 + [1.0] * 10 + [3.0] * 8))
    assert found is not None
    assert found.tolist() == [1.0] * 12 + [3.0] * 8
    with pytest.raises(InputError, match="below 1 in 3 of 20 rows"):
        population_weights(weighted([0.5] * 3 + [1.0] * 9 + [3.0] * 8), needed=True)


def test_weights_count_more_people_than_the_table_has_and_no_more_than_there_are() -> None:
    with pytest.raises(InputError, match="sum to 2, and the table alone has 2 people"):
        population_weights(weighted([1.0, 1.0]), needed=True)
    assert population_weights(weighted([5e9, 5e9]), needed=True) is not None
    with pytest.raises(InputError, match="more people than there are"):
        population_weights(weighted([5e9, 5e9 + 2]), needed=True)


def test_a_class_of_the_register_without_people_of_the_table_finds_nobody() -> None:
    here = CountedClasses(pl.DataFrame({"job": ["cook"]}), np.array([3]))
    town = Table(pl.DataFrame({"job": ["cook"] * 6 + ["judge"]}))
    found = classes_risk(here, town)
    assert (found.average, found.unique_share, found.largest) == (1 / 6, 0.0, 1 / 6)


def test_shares_of_all_and_of_nobody() -> None:
    assert population_uniques([1, 2], 1).matched == pytest.approx(2 / 3)
    with pytest.raises(InputError, match="above 0 and at most 1, got 0"):
        population_uniques([1, 2], 0)


def test_a_tenth_is_the_last_share_that_pitman_is_trusted_with() -> None:
    sizes = [1] * 300 + [2] * 100 + [5] * 100
    below, at, above = (population_uniques(sizes, s) for s in (0.1 - 1e-9, 0.1, 0.1 + 1e-9))
    assert (at.trusted, above.trusted == "pitman") == ("pitman", False)
    assert at.matched == pytest.approx(below.matched, rel=1e-4)
    assert at.matched != pytest.approx(above.matched, rel=1e-3)
