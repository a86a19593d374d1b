"""The table as a sample: who is alone in the population, not only in the table.

An attacker who does not know whether a person is in the table must fear that somebody else has the
same values. Where the population itself is at hand, it is counted; else the number of people who
are unique in it is estimated from the sizes of the classes in the sample.
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
"""More than live on Earth: weights that sum to more have lost their decimal mark."""
MOST_SMALL = 0.1
"""The share of weights below 1 from which they compare rows, and count nobody."""
Estimator = Literal["pitman", "zayatz", "snb"]
Source = Literal["register", "sampling", "weights"]

SMALL_FRACTION = 0.1
"""The sampled fraction up to which Dankar's rule trusts Pitman's model."""


class _Fitted(NamedTuple):
    """What a model says of the population: unique people, and classes, per person."""

    unique: float
    classes: float


@dataclass(frozen=True)
class PopulationEstimates:
    """The share of people who are unique in the population, by three models.

    A model that does not fit the sample gives `None`; `trusted` is the one that Dankar's rule
    picks, `value` what it says. `matched` is the share of people whom a match of everybody would
    find, that is the classes per person in the population, by the model that fits.
    """

    pitman: float | None
    zayatz: float
    snb: float | None
    trusted: Estimator
    matched: float

    @property
    def value(self) -> float:
        found = getattr(self, self.trusted)
        assert found is not None
        return float(found)


@dataclass(frozen=True)
class PopulationRisk:
    """How exposed the people of a table are among the population that they were drawn from.

    Parameters
    ----------
    source : {"register", "sampling", "weights"}
        What is known of the population: itself, the share that was sampled, or weights.
    size : float
        The people in the population, estimated except for a register.
    unique_share : float
        The share of the table's people who are alone in the population with their values.
    average, largest : float
        Of 1/F over the people of the table, where F are the people of the population with the same
        values: the chance that a match is right. Expected, except for a register.
    sample_unique_share, sample_average : float
        The same where the table is taken for the whole population.
    estimates : PopulationEstimates, optional
        Where the sampled share is known.
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
        """The share of the table's people whom a match with the population is expected to find.

        Where it is estimated, not fewer than those who are unique in the population.
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
    """How exposed people are in the population, from one of three things known about it.

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
    """How many people of the population each row stands for, by the weight of a table.

    `None`, with a warning, where the weights cannot be that; an error where they are `needed`.

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
    """Why weights cannot say how many people each row stands for; empty where they can."""
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
    """The same from classes that were counted where the rows are, by a register or a share.

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
    """From the people of each class in the table, and of the same class in the population."""
    return PopulationRisk(
        "register",
        float(everybody),
        float(sizes[there == 1].sum() / sizes.sum()),
        float((sizes / there).sum() / sizes.sum()),
        float(1 / there.min()),
        *_in_sample(sizes),
    )


def sampled_risk(sizes: Integers, sampling: float) -> PopulationRisk:
    """From the sizes of the classes of a table that holds a known share of the population."""
    found = population_uniques(sizes, sampling)
    each = np.asarray(sizes, dtype=np.float64)
    risks = individual_risk(Matches(each, each / sampling))
    average = max(float((risks * sizes).sum() / sizes.sum()), found.matched)
    return PopulationRisk(
        "sampling",
        float(sizes.sum() / sampling),
        found.value,
        average,
        float(risks.max()),
        *_in_sample(sizes),
        estimates=found,
    )


def _weighted(
    data: Any, quasi: Sequence[str] | None, weights: ArrayLike, missing: Matching
) -> PopulationRisk:
    found = frequencies(data, quasi, weights=weights, missing=missing)
    risks = individual_risk(found)
    alone = found.sample == 1
    return PopulationRisk(
        "weights",
        float(checked_weights(weights, len(risks)).sum()),
        float((alone / found.population).mean()),  # F = 1 given f = 1 has probability p
        float(risks.mean()),
        float(risks.max()),
        float(alone.mean()),
        float((1 / found.sample).mean()),
    )


def _in_sample(sizes: Integers) -> tuple[float, float]:
    """The share of unique people, and the mean of 1/f."""
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
        The share of the population that was sampled, above 0 and up to 1.

    Returns
    -------
    PopulationEstimates
        No estimate exceeds the share of people who are unique in the sample: anyone unique in
        the population is unique in every sample.

    Notes
    -----
    Dankar, El Emam, Neisa and Roffey (2012): where at most a tenth was sampled, Pitman's model is
    trusted, else Chen and McNulty's; Zayatz's where the model does not fit, and beyond a tenth
    where it says less.

    Examples
    --------
    >>> found = population_uniques([1] * 300 + [2] * 100 + [5] * 100, 0.05)
    >>> found.trusted, 0 < found.value < 0.3
    ('pitman', True)
    """
    if not 0 < sampling <= 1:
        raise InputError(f"the sampled share must be above 0 and at most 1, got {sampling:g}")
    each, times = np.unique(np.asarray(sizes, dtype=np.int64), return_counts=True)
    unique = float(times[each == 1].sum() / (each * times).sum())
    classes = float(times.sum() / (each * times).sum())
    if sampling == 1 or unique == 0:
        alike = classes if sampling == 1 else 0.0
        return PopulationEstimates(unique, unique, unique, "pitman", alike)
    fitted = _pitman(each, times, sampling), _slide_negative_binomial(each, times, sampling)
    pitman, snb = (None if fit is None else min(fit.unique, unique) for fit in fitted)
    zayatz = min(_zayatz(each, times, sampling), unique)
    # Classes grow ever more slowly with the people, so there are at most as many per person there.
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
    """Zayatz (1991): classes of the population are as large as those of the sample.

    So a class that is alone in the sample came from one of j people with a chance in proportion to
    the classes of size j times the hypergeometric chance that one of j is drawn.
    """
    from scipy.special import gammaln

    n = float((sizes * times).sum())
    rest = n / sampling - n
    fits = sizes <= rest + 1
    j = sizes[fits].astype(np.float64)
    # log of C(N - j, n - 1) / C(N - 1, n - 1): relative to a class of one
    missed = gammaln(n + rest - j + 1) - gammaln(rest - j + 2)
    missed -= gammaln(n + rest) - gammaln(rest + 1)
    chances = times[fits] * j * np.exp(missed)
    alone = times[sizes == 1].sum()
    return float(alone / chances.sum() * alone / n)


def _pitman(sizes: Integers, times: Integers, sampling: float) -> _Fitted | None:
    """Pitman's sampling formula, fitted by maximum likelihood (Hoshino 2001).

    The next person opens a new class with a chance of (theta + alpha u) / (theta + n) among n
    people in u classes; the share of unique ones is the chance that nobody joins a given class.
    """
    from scipy.optimize import minimize
    from scipy.special import expit, gammaln

    n, classes = float((sizes * times).sum()), float(times.sum())
    everybody = n / sampling

    def parameters(x: Floats) -> tuple[float, float]:
        alpha = 1e-6 + (1 - 2e-6) * float(expit(x[0]))
        return alpha, float(np.exp(min(x[1], 60.0))) - alpha

    def unlikely(x: Floats) -> float:
        alpha, theta = parameters(x)
        new = (classes - 1) * np.log(alpha)
        new += gammaln(theta / alpha + classes) - gammaln(theta / alpha + 1)
        grown = (times * (gammaln(sizes - alpha) - gammaln(1 - alpha))).sum()
        return -float(new + grown - gammaln(theta + n) + gammaln(theta + 1))

    starts = ([0.0, np.log(classes)], [-4.0, np.log(classes)])
    options: Any = {"xatol": 1e-5, "fatol": 1e-7, "maxiter": 2000, "maxfev": 4000}
    runs = [minimize(unlikely, s, method="Nelder-Mead", options=options) for s in starts]
    best = min(runs, key=lambda run: run.fun)
    alpha, theta = parameters(best.x)
    if not best.success or alpha > 1 - 1e-5 or theta > 1e3 * everybody:
        return None
    grown = gammaln(theta + 1) - gammaln(theta + everybody) - gammaln(theta + alpha)
    share = np.exp(gammaln(theta + alpha + everybody - 1) + grown)
    kinds = (np.exp(gammaln(theta + alpha + everybody) + grown) - theta) / alpha
    return _Fitted(float(share), float(kinds) / everybody)


def _slide_negative_binomial(sizes: Integers, times: Integers, sampling: float) -> _Fitted | None:
    """Chen and McNulty (1998): a class has one person and a negative binomial number more.

    Its three parameters are those with which the people, the classes and the unique ones of the
    sample are as expected, each person being drawn with the same chance.
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
        found = np.maximum(expected(x)[:2], 1e-300)
        return np.asarray(np.log(found / np.array([classes, alone])))

    bounds = ([-12.0, -30.0], [12.0, 30.0])
    starts = ([0.0, -2.0], [-2.0, -5.0], [2.0, 0.0], [-4.0, -2.0])
    best = min((least_squares(gap, s, bounds=bounds) for s in starts), key=lambda run: run.cost)
    if np.abs(best.fun).max() > 1e-4:
        return None
    _, _, unique, kinds = expected(best.x)
    return _Fitted(unique / (n / sampling), kinds / (n / sampling))
