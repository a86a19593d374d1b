"""Population risk: the table as a sample, and who is unique in the population it was drawn from.

To an attacker who does not know whether a person is in the table, a match may be somebody else
with the same values. If the population itself is at hand, it is counted; otherwise the number of
population uniques is estimated from the class sizes of the sample.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tamis.arrays import Floats, Integers
from tamis.errors import InputError, TamisWarning, plural
from tamis.risk.anonymity import people_there
from tamis.risk.grouping import scope
from tamis.risk.individual import Matches, Matching, checked_weights, frequencies, individual_risk
from tamis.risk.presence import CountedClasses, presence_of_counts
from tamis.table import Table

MOST_PEOPLE = 1e10
"""More than live on Earth: weights that sum to more have probably lost a decimal point."""
MOST_SMALL = 0.1
"""With a larger share of weights below 1 they are taken as relative, not as counts of people."""
Estimator = Literal["pitman", "zayatz", "snb"]
Source = Literal["register", "sampling", "weights"]

SMALL_FRACTION = 0.1
"""The sampling fraction up to which Dankar's rule trusts Pitman's model."""


class _Fitted(NamedTuple):
    """A fitted model's estimates for the population: unique people and classes, per person."""

    unique: float
    classes: float


@dataclass(frozen=True)
class PopulationEstimates:
    """Estimates, by three models, of the share of people who are unique in the population.

    A model that does not fit the sample gives `None`; `trusted` is the one that Dankar's rule
    picks, and `value` its estimate. `matched` is the share of people whom an attacker who matches
    everybody expects to get right, that is the number of classes per person of the population.
    """

    pitman: float | None
    zayatz: float
    snb: float | None
    trusted: Estimator
    matched: float

    @property
    def value(self) -> float:
        estimate = getattr(self, self.trusted)
        assert estimate is not None
        return float(estimate)


@dataclass(frozen=True)
class PopulationRisk:
    """The risk of the people of a table within the population that they were drawn from.

    Parameters
    ----------
    source : {"register", "sampling", "weights"}
        What is known of the population: a register of everybody, the sampling fraction, or weights.
    size : float
        The number of people in the population, estimated except for a register.
    unique_share : float
        The share of the table's people who are alone in the population with their values.
    average, largest : float
        Mean and maximum of 1/F over the people of the table, where F is the number of people in the
        population with the same values: the probability that a match is right. Expected values,
        except for a register.
    sample_unique_share, sample_average : float
        `unique_share` and `average` if the table were the whole population.
    estimates : PopulationEstimates, optional
        If the sampling fraction is known.
    """

    source: Source
    size: float
    unique_share: float
    average: float
    largest: float
    sample_unique_share: float
    sample_average: float
    estimates: PopulationEstimates | None = None

    @property
    def risk(self) -> float:
        """The expected share of the table's people whom matching with the population identifies.

        If it is estimated, at least the share of those who are unique in the population.
        """
        return max(self.average, self.unique_share)

    def to_dict(self) -> dict[str, Any]:
        """The same figures as plain values."""
        return {**asdict(self), "risk": self.risk}


def population_risk(
    data: Any,
    quasi: Sequence[str] | None = None,
    *,
    population: Any = None,
    sampling: float | None = None,
    weights: ArrayLike | None = None,
    missing: Matching = "value",
    people: Any = None,
) -> PopulationRisk:
    """The risk of people within the population, from a register, a sampling fraction or weights.

    Parameters
    ----------
    data, quasi, people
        As in `k_anonymity`. A person with several rows counts in each of their classes.
    population : Table or frame, optional
        Everybody, including those in the table, with the quasi-identifiers as columns.
    sampling : float, optional
        The share of the population that is in the table.
    weights : array of float, optional
        How many people of the population each row stands for.
    missing : {"value", "anything"}
        With weights: whether a missing cell is a value of its own, or matches anything.

    Returns
    -------
    PopulationRisk

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"job": ["cook", "cook", "cook", "judge"]})
    >>> town = pl.DataFrame({"job": ["cook"] * 6 + ["judge"] * 2})
    >>> found = population_risk(frame, population=town)
    >>> found.sample_unique_share, found.unique_share, found.average
    (0.25, 0.0, 0.25)
    >>> population_risk(frame, weights=[50, 50, 50, 2]).unique_share
    0.125
    """
    known = {"population": population, "sampling": sampling, "weights": weights}
    given = [name for name, each in known.items() if each is not None]
    if len(given) != 1:
        raise InputError(
            "the population is known by itself, by the share that was sampled, or by weights; "
            f"give one of them, got {' and '.join(given) or 'none'}"
        )
    if weights is not None:
        return _weighted(data, quasi, weights, missing)
    scoped = scope(data, quasi, people=people)
    grouping = scoped.grouped()
    if sampling is not None:
        return sampled_risk(grouping.sizes, sampling)
    there = people_there(scoped, grouping, population)
    everybody = population.everybody if hasattr(population, "everybody") else len(population)
    return counted_risk(grouping.sizes, there, everybody)


def population_weights(table: Table, *, needed: bool = False) -> Floats | None:
    """The number of people of the population that each row stands for, by a table's weights.

    If the weights cannot be such numbers: `None` with a warning, or an error if they are `needed`.

    Examples
    --------
    >>> import polars as pl
    >>> from tamis import Roles
    >>> frame = pl.DataFrame({"job": ["cook", "judge"], "w": [50.0, 2.0]})
    >>> population_weights(Table(frame, Roles(weight="w")))
    array([50.,  2.])
    """
    name = table.roles.weight
    if name is None:
        return None
    weights = np.asarray(table.frame.get_column(name).to_numpy(), dtype=np.float64)
    if why := _not_of_a_population(table, weights):
        words = f"the weights in {name!r} {why}; without them, risks are those in the table itself"
        if needed:
            raise InputError(words)
        warnings.warn(words, TamisWarning, stacklevel=2)
        return None
    if small := int((weights < 1).sum()):
        warnings.warn(
            f"{plural(small, 'weight')} in {name!r} below 1 count as 1: everybody stands at least "
            "for themselves",
            TamisWarning,
            stacklevel=2,
        )
    return np.maximum(weights, 1.0)


def _not_of_a_population(table: Table, weights: Floats) -> str:
    """Why weights cannot be numbers of people in the population; empty if they can."""
    total, small = float(weights.sum()), int((weights < 1).sum())
    if not table.people.each_row:
        return "are of rows, but people have several rows here"
    if total <= table.rows:
        return (
            f"sum to {total:,.0f}, and the table alone has {table.rows:,} people, so that they "
            "cannot count a population; multiply them until they sum to its size"
        )
    if small > MOST_SMALL * table.rows:
        return (
            f"are below 1 in {small:,} of {table.rows:,} rows, though everybody stands for "
            "themselves at least, so that they cannot count a population; multiply them until they "
            "sum to its size"
        )
    if total > MOST_PEOPLE:
        return (
            f"sum to {total:,.0f}, more people than there are; divide them until they sum to the "
            "size of the population"
        )
    return ""


def classes_risk(
    classes: CountedClasses, register: Table | None, sampling: float | None = None
) -> PopulationRisk:
    """`population_risk` of counted classes, by a register or a sampling fraction.

    >>> import polars as pl
    >>> here = CountedClasses(pl.DataFrame({"job": ["cook", "judge"]}), np.array([3, 1]))
    >>> town = Table(pl.DataFrame({"job": ["cook"] * 6 + ["judge"] * 2}))
    >>> classes_risk(here, town).average
    0.25
    """
    if register is None:
        return sampled_risk(np.sort(classes.people), sampling or 1.0)
    inside, outside = classes.beside(register)
    presence_of_counts(inside, outside)  # an error where the register lacks people
    there = inside > 0
    return counted_risk(inside[there], outside[there], register.everybody)


def counted_risk(sizes: Integers, there: Integers, everybody: int) -> PopulationRisk:
    """The risk by a register, from the people of each class in the table and in the population."""
    return PopulationRisk(
        "register",
        float(everybody),
        float(sizes[there == 1].sum() / sizes.sum()),
        float((sizes / there).sum() / sizes.sum()),
        float(1 / there.min()),
        *_in_sample(sizes),
    )


def sampled_risk(sizes: Integers, sampling: float) -> PopulationRisk:
    """The risk by a sampling fraction, from the class sizes of the table."""
    estimates = population_uniques(sizes, sampling)
    people = np.asarray(sizes, dtype=np.float64)
    risks = individual_risk(Matches(people, people / sampling))
    average = max(float((risks * sizes).sum() / sizes.sum()), estimates.matched)
    return PopulationRisk(
        "sampling",
        float(sizes.sum() / sampling),
        estimates.value,
        average,
        float(risks.max()),
        *_in_sample(sizes),
        estimates=estimates,
    )


def _weighted(
    data: Any, quasi: Sequence[str] | None, weights: ArrayLike, missing: Matching
) -> PopulationRisk:
    matches = frequencies(data, quasi, weights=weights, missing=missing)
    risks = individual_risk(matches)
    alone = matches.sample == 1
    return PopulationRisk(
        "weights",
        float(checked_weights(weights, len(risks)).sum()),
        float((alone / matches.population).mean()),  # F = 1 given f = 1 has probability p
        float(risks.mean()),
        float(risks.max()),
        float(alone.mean()),
        float((1 / matches.sample).mean()),
    )


def _in_sample(sizes: Integers) -> tuple[float, float]:
    """The share of sample uniques and the mean of 1/f, where f is the class size."""
    total = sizes.sum()
    unique = int(np.count_nonzero(sizes == 1))
    return float(unique / total), float(len(sizes) / total)


def population_uniques(sizes: ArrayLike, sampling: float) -> PopulationEstimates:
    """Estimate the share of people who are unique in the population, from class sizes in a sample.

    Parameters
    ----------
    sizes : array of int
        The number of people in each class of the sample.
    sampling : float
        The sampling fraction, above 0 and up to 1.

    Returns
    -------
    PopulationEstimates
        No estimate exceeds the share of people who are unique in the sample: anyone unique in
        the population is unique in every sample.

    Notes
    -----
    Dankar, El Emam, Neisa and Roffey (2012): up to a sampling fraction of a tenth Pitman's model is
    trusted, beyond it Chen and McNulty's. Zayatz's is trusted if that model does not fit and,
    beyond a tenth, if its estimate is smaller.

    Examples
    --------
    >>> found = population_uniques([1] * 300 + [2] * 100 + [5] * 100, 0.05)
    >>> found.trusted, 0 < found.value < 0.3
    ('pitman', True)
    """
    if not 0 < sampling <= 1:
        raise InputError(f"the sampled share must be above 0 and at most 1, got {sampling:g}")
    distinct, times = np.unique(np.asarray(sizes, dtype=np.int64), return_counts=True)
    unique = float(times[distinct == 1].sum() / (distinct * times).sum())
    classes = float(times.sum() / (distinct * times).sum())
    # Everybody is in the table, or nobody is unique in it: there is nothing to estimate.
    if sampling == 1 or unique == 0:
        alike = classes if sampling == 1 else 0.0
        return PopulationEstimates(unique, unique, unique, "pitman", alike)
    fitted = _pitman(distinct, times, sampling), _slide_negative_binomial(distinct, times, sampling)
    pitman, snb = (None if fit is None else min(fit.unique, unique) for fit in fitted)
    zayatz = min(_zayatz(distinct, times, sampling), unique)
    # The more people, the fewer of them open a new class: the population has at most as many
    # classes per person as the sample.
    first, second = fitted if sampling <= SMALL_FRACTION else fitted[::-1]
    model = first or second
    matched = classes if model is None else min(model.classes, classes)
    trusted = _trusted(pitman, zayatz, snb, sampling)
    return PopulationEstimates(pitman, zayatz, snb, trusted, matched)


def _trusted(pitman: float | None, zayatz: float, snb: float | None, sampling: float) -> Estimator:
    if sampling <= SMALL_FRACTION:
        return "zayatz" if pitman is None else "pitman"
    return "zayatz" if snb is None or zayatz < snb else "snb"


def _zayatz(sizes: Integers, times: Integers, sampling: float) -> float:
    """Zayatz (1991): class sizes in the population are distributed as in the sample.

    So a sample unique comes from a class of j people with a probability proportional to the number
    of classes of size j times the hypergeometric probability that exactly one of j is drawn.
    """
    from scipy.special import gammaln

    n = float((sizes * times).sum())
    rest = n / sampling - n
    fits = sizes <= rest + 1  # one of the class is in the sample, so its others are among the rest
    j = sizes[fits].astype(np.float64)
    # log of C(N - j, n - 1) / C(N - 1, n - 1): relative to a class of one
    missed = gammaln(n + rest - j + 1) - gammaln(rest - j + 2)
    missed -= gammaln(n + rest) - gammaln(rest + 1)
    chances = times[fits] * j * np.exp(missed)
    alone = times[sizes == 1].sum()
    return float(alone / chances.sum() * alone / n)


def _pitman(sizes: Integers, times: Integers, sampling: float) -> _Fitted | None:
    """Pitman's sampling formula, fitted by maximum likelihood (Hoshino 2001).

    After n people in u classes the next person opens a new class with probability
    (theta + alpha u) / (theta + n); the share of uniques is the probability that nobody else joins
    a person's class.
    """
    from scipy.optimize import minimize
    from scipy.special import expit, gammaln

    n, classes = float((sizes * times).sum()), float(times.sum())
    everybody = n / sampling

    # Unbounded coordinates for the search: alpha within (0, 1), theta above -alpha.
    def parameters(x: Floats) -> tuple[float, float]:
        alpha = 1e-6 + (1 - 2e-6) * float(expit(x[0]))
        return alpha, float(np.exp(min(x[1], 60.0))) - alpha

    def negative_log_likelihood(x: Floats) -> float:
        alpha, theta = parameters(x)
        new = (classes - 1) * np.log(alpha)
        new += gammaln(theta / alpha + classes) - gammaln(theta / alpha + 1)
        grown = (times * (gammaln(sizes - alpha) - gammaln(1 - alpha))).sum()
        return -float(new + grown - gammaln(theta + n) + gammaln(theta + 1))

    starts = ([0.0, np.log(classes)], [-4.0, np.log(classes)])
    options: Any = {"xatol": 1e-5, "fatol": 1e-7, "maxiter": 2000, "maxfev": 4000}
    runs = [
        minimize(negative_log_likelihood, s, method="Nelder-Mead", options=options) for s in starts
    ]
    best = min(runs, key=lambda run: run.fun)
    alpha, theta = parameters(best.x)
    # At the edge of its parameters the model does not fit: a maximum is not there, or not found.
    if not best.success or alpha > 1 - 1e-5 or theta > 1e3 * everybody:
        return None
    grown = gammaln(theta + 1) - gammaln(theta + everybody) - gammaln(theta + alpha)
    share = np.exp(gammaln(theta + alpha + everybody - 1) + grown)
    kinds = (np.exp(gammaln(theta + alpha + everybody) + grown) - theta) / alpha
    return _Fitted(float(share), float(kinds) / everybody)


def _slide_negative_binomial(sizes: Integers, times: Integers, sampling: float) -> _Fitted | None:
    """Chen and McNulty (1998), slide negative binomial: class sizes are 1 + a negative binomial.

    Its three parameters are chosen so that the expected numbers of people, classes and uniques in
    the sample are those observed, each person being drawn with the same probability.
    """
    from scipy.optimize import least_squares
    from scipy.special import expit

    n, classes = float((sizes * times).sum()), float(times.sum())
    alone, missed = float(times[sizes == 1].sum()), 1 - sampling

    def expected(x: Floats) -> tuple[float, float, float, float]:
        """Classes and unique people in the sample, then unique people and classes of all."""
        more, p = float(np.exp(x[0])), float(expit(x[1]))
        q = 1 - p
        kinds = n / sampling / (1 + more * q / p)
        none = (p / (p + sampling * q)) ** more
        one = none * (1 + more * q * missed / (p + sampling * q))
        return kinds * (1 - missed * none), kinds * sampling * one, kinds * p**more, kinds

    def gap(x: Floats) -> Floats:
        counts = np.maximum(expected(x)[:2], 1e-300)  # so that its logarithm is finite
        return np.asarray(np.log(counts / np.array([classes, alone])))

    bounds = ([-12.0, -30.0], [12.0, 30.0])
    starts = ([0.0, -2.0], [-2.0, -5.0], [2.0, 0.0], [-4.0, -2.0])
    best = min((least_squares(gap, s, bounds=bounds) for s in starts), key=lambda run: run.cost)
    if np.abs(best.fun).max() > 1e-4:  # no parameters give these counts
        return None
    _, _, unique, kinds = expected(best.x)
    return _Fitted(unique / (n / sampling), kinds / (n / sampling))
