"""Naive Bayes on coded columns: the log-likelihoods that each feature contributes, and their sums.

`ContributionCache` scores many sets of features by such sums, at the cost of additions.

The module needs neither frames nor scikit-learn, so an audit can use the model as an attacker
without waiting for either to load. `AdditiveNaiveBayes` is the estimator made of it. The part of a
feature does not depend on the other features, so it is the same in every set of features.

Log-likelihoods are whole numbers, so that their sums are exact in any order. Floating-point
additions round, so the sum over a set of features would depend on the order in which its features
were added, and a near tie between two classes could go either way. With whole numbers, a sum over a
subset, a total less one feature and a walk that adds and removes features all give exactly the
same number as a fit on that subset.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tamis.arrays import Floats, Ints, RowNumbers
from tamis.errors import InputError
from tamis.learn.columns import Column
from tamis.learn.cv import Folds

Units = NDArray[np.int64]
Precision = Literal["data"] | None

UNITS = 2.0**28
"""Units in one nat: a contribution is kept to within 2e-9."""

LIMIT = 2.0**18
"""No value of a single feature counts for more than this many nats."""

MOST_FEATURES = 2**15
"""This many contributions, and differences of them, can be summed without overflowing int64.

Each is at most 2**18 nats of 2**28 units, or 2**46; this many are 2**61, and the difference of two
such sums is 2**62, below the 2**63 of int64.
"""

LEAST_INTERVAL = 1e-75
"""Floor of an interval's probability, so that its logarithm is finite; the value Weka uses."""

LONE_PRECISION = 0.01
"""The precision of a column with a single value, which has no gaps to measure."""


def to_units(nats: NDArray[np.float64]) -> NDArray[np.int64]:
    """Convert nats, capped at the limit, to whole units.

    >>> to_units(np.array([-0.5, -1e9])).tolist()
    [-134217728, -70368744177664]
    """
    return np.rint(np.clip(nats, -LIMIT, LIMIT) * UNITS).astype(np.int64)


def to_nats(units: NDArray[np.int64]) -> NDArray[Any]:
    """Convert whole units to nats.

    >>> to_nats(np.array([-134217728])).tolist()
    [-0.5]
    """
    return units / UNITS


@dataclass(frozen=True)
class Rows:
    """The class (by number) and the weight of each training row."""

    classes: NDArray[np.intp]
    weights: Floats
    n_classes: int

    def known(self, present: NDArray[np.bool_]) -> Rows:
        return Rows(self.classes[present], self.weights[present], self.n_classes)

    def sums(self, values: Floats | float = 1.0) -> Floats:
        """The weighted sum of some values in each class."""
        return np.bincount(self.classes, self.weights * values, self.n_classes).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Frequencies:
    """Laplace-corrected frequencies of the categories, one row of log-shares per class."""

    log_shares: Floats

    @classmethod
    def fit(
        cls, codes: NDArray[np.int64], categories: int, rows: Rows, smoothing: float
    ) -> Frequencies:
        present = codes >= 0
        known = rows.known(present)
        cells = known.classes * categories + codes[present]
        size = rows.n_classes * categories
        counts = np.bincount(cells, known.weights, size).reshape(rows.n_classes, categories)
        shares = (counts + smoothing) / (counts.sum(1, keepdims=True) + smoothing * categories)
        return cls(np.log(shares))

    def log_likelihoods(self, codes: NDArray[np.int64]) -> Units:
        table = np.hstack([self.log_shares, np.zeros((len(self.log_shares), 1))])
        return to_units(table)[:, codes]  # code -1 (missing) reads the zeros at the end


@dataclass(frozen=True, eq=False)
class Gaussians:
    """A normal density for each class."""

    means: Floats
    variances: Floats

    @classmethod
    def fit(cls, values: Floats, rows: Rows, variance_floor: float) -> Gaussians:
        present = ~np.isnan(values)
        means, variances, pooled = _moments(values[present], rows.known(present))
        floor = variance_floor * pooled if pooled > 0 else 1.0
        return cls(means, np.maximum(variances, floor))

    def log_likelihoods(self, values: Floats) -> Units:
        spread = self.variances[:, None]
        with np.errstate(over="ignore"):  # an infinite distance is capped, as any contribution is
            squares = (values - self.means[:, None]) ** 2 / spread
        nats = -0.5 * (np.log(2 * np.pi * spread) + squares)
        return to_units(np.nan_to_num(nats, nan=0.0))


@dataclass(frozen=True, eq=False)
class Intervals:
    """The normal probability, in each class, of the interval a value was rounded to.

    The width of the intervals is the mean gap between neighbouring distinct values in training,
    and a deviation is at least a sixth of it.

    Notes
    -----
    This is what the documentation of Weka's NaiveBayes describes, and with the plain difference of
    two distribution functions it matches that program fold by fold. That difference cancels to
    zero about eight deviations above a mean, but not below it, so the floor of 1e-75 is reached
    sooner on the upper side; a difference taken in the lower tail on both sides would be cleaner
    but differs from Weka in 5 of 1,350 folds.
    """

    means: Floats
    deviations: Floats
    width: float

    @classmethod
    def fit(cls, values: Floats, rows: Rows) -> Intervals:
        present = ~np.isnan(values)
        # `cumsum` adds one by one, as Weka does; `sum` adds in pairs. The last digit of the width
        # decides how a value halfway between two multiples of it is rounded.
        gaps = np.cumsum(np.diff(np.unique(values[present])))
        width = float(gaps[-1]) / len(gaps) if len(gaps) else LONE_PRECISION
        rounded = np.rint(values[present] / width) * width
        means, variances, _ = _moments(rounded, rows.known(present))
        return cls(means, np.maximum(np.sqrt(variances), width / 6), width)

    def log_likelihoods(self, values: Floats) -> Units:
        distinct, place = np.unique(values, return_inverse=True)
        if 2 * len(distinct) > len(values):
            return self._of_each(values)
        return self._of_each(distinct)[:, place]  # sorting takes a fifth of the time of `ndtr`

    def _of_each(self, values: Floats) -> Units:
        from scipy.special import ndtr

        rounded = np.rint(values / self.width) * self.width
        distances = rounded - self.means[:, None]
        low = ndtr((distances - self.width / 2) / self.deviations[:, None])
        high = ndtr((distances + self.width / 2) / self.deviations[:, None])
        nats = np.log(np.maximum(high - low, LEAST_INTERVAL))
        return to_units(np.where(np.isnan(values), 0.0, nats))


Part = Frequencies | Gaussians | Intervals


def _moments(values: Floats, rows: Rows) -> tuple[Floats, Floats, float]:
    """Mean and variance in each class, and the variance over all rows.

    A class without any known value takes the moments of all rows, and so is neutral.
    """
    if len(values) == 0:
        return np.zeros(rows.n_classes), np.ones(rows.n_classes), 1.0
    centre = np.average(values, weights=rows.weights)
    pooled = float(np.average((values - centre) ** 2, weights=rows.weights))
    known = rows.sums()
    with np.errstate(invalid="ignore"):
        means = np.where(known > 0, rows.sums(values) / known, centre)
        squares = rows.sums((values - means[rows.classes]) ** 2) / known
    return means, np.where(known > 0, squares, pooled), pooled


@dataclass(frozen=True, eq=False)
class BayesModel:
    """A fitted model: the sorted classes, their log-priors, and the part of each feature."""

    classes: NDArray[Any]
    prior: Units
    parts: tuple[Part, ...]

    def sums(self, columns: Sequence[Column], rows: int) -> Units:
        """The log-score of each class for each row, classes by rows."""
        total = np.repeat(self.prior[:, None], rows, axis=1)
        for part, column in zip(self.parts, columns):
            total += part.log_likelihoods(column.values)
        return total


@dataclass(frozen=True)
class NaiveBayes:
    """Naive Bayes on coded columns; the parameters are those of `AdditiveNaiveBayes`.

    Examples
    --------
    >>> age = Column(np.array([25.0, 31.0, 58.0, 64.0]))
    >>> model = NaiveBayes().fit([age], np.array(["no", "no", "yes", "yes"]))
    >>> model.classes[model.sums([Column(np.array([29.0, 70.0]))], 2).argmax(axis=0)].tolist()
    ['no', 'yes']
    """

    smoothing: float = 1.0
    precision: Precision = "data"
    variance_floor: float = 0.01

    def __post_init__(self) -> None:
        if self.precision not in (None, "data"):
            raise InputError(f'precision must be "data" or None, got {self.precision!r}')
        for name in ("smoothing", "variance_floor"):
            value = getattr(self, name)
            if not value > 0:
                raise InputError(f"{name} must be a number above 0, got {value!r}")

    def fit(
        self, columns: Sequence[Column], y: NDArray[Any], weights: Floats | None = None
    ) -> BayesModel:
        """Learn from columns that are already coded."""
        if len(columns) > MOST_FEATURES:
            raise InputError(f"at most {MOST_FEATURES:,} features, got {len(columns):,}")
        labels, classes = np.unique(y, return_inverse=True)
        rows = Rows(classes, np.ones(len(y)) if weights is None else weights, len(labels))
        total = rows.sums() + self.smoothing
        return BayesModel(
            labels,
            to_units(np.log(total / total.sum())),
            tuple(self._part(column, rows) for column in columns),
        )

    def _part(self, column: Column, rows: Rows) -> Part:
        if column.categories is not None:
            return Frequencies.fit(column.values, column.categories, rows, self.smoothing)
        if self.precision == "data":
            return Intervals.fit(column.values, rows)
        return Gaussians.fit(column.values, rows, self.variance_floor)


MOST_WALKED = 24
"""The largest number of features whose subsets are all scored (2**24 is sixteen million)."""

TOGETHER = 2**15
"""Sums computed together when all subsets are scored, so that they stay in cache."""

BLOCK_BYTES = 32 * 2**20
"""Memory for one block of rows at a time, if the whole cache would exceed its limit."""


@dataclass(frozen=True, eq=False)
class TestedBlock:
    """Some test rows of one fold, and the class of each as numbered by the fold's model."""

    fold: int
    rows: RowNumbers
    truth: NDArray[np.intp]


class ContributionCache:
    """The contributions of each feature to each class, on the test rows of every fold.

    One model is fitted per fold. Its log-likelihoods, class by class relative to the first class,
    are kept as whole numbers, whose sums and differences are exact: every count below is what a
    fit on that subset would give.

    The columns are coded over the whole table. `memory_limit` is how many bytes the cache may take:
    8 x features x test rows x (classes - 1). If that would be more, nothing is cached:
    contributions are recomputed when needed, in blocks of rows, with the same results.

    Examples
    --------
    >>> ages = Column(np.array([20.0, 30.0, 50.0, 60.0, 25.0, 55.0, 35.0, 65.0]))
    >>> coin = Column(np.array([0, 1, 0, 1, 1, 0, 1, 0]), categories=2)
    >>> y = np.array(["no", "no", "yes", "yes", "no", "yes", "no", "yes"])
    >>> folds = Folds.predefined([0, 0, 0, 0, 1, 1, 1, 1])
    >>> cache = ContributionCache(NaiveBayes(), [ages, coin], y, folds)
    >>> cache.correct([[0], [1], [0, 1]]).tolist()
    [[4, 4], [2, 2], [4, 4]]
    >>> cache.nbytes
    128
    """

    def __init__(
        self,
        bayes: NaiveBayes,
        columns: Sequence[Column],
        y: ArrayLike,
        folds: Folds,
        *,
        memory_limit: int = 512 * 2**20,
    ) -> None:
        self._labels, classes = np.unique(np.asarray(y), return_inverse=True)
        self._columns = list(columns)
        trains = [folds.train(fold) for fold in range(len(folds))]
        self._models = [bayes.fit([c.take(t) for c in columns], classes[t]) for t in trains]
        self.nbytes = sum(
            8 * len(columns) * len(test) * (len(model.classes) - 1)
            for test, model in zip(folds.tests, self._models)
        )
        self.kept = self.nbytes <= memory_limit
        self._blocks = list(self._cut(folds, classes, min(BLOCK_BYTES, memory_limit)))
        # The last subset summed in each block and its sum, from which the next one starts.
        self._last: dict[int, tuple[frozenset[int], Units]] = {}
        every = range(len(columns))
        self._held = [self._computed(block, every) for block in self._blocks] if self.kept else None

    def correct(self, subsets: Sequence[Sequence[int]]) -> Ints:
        """Rows predicted correctly with each subset: an array of subsets by folds."""
        counts = np.zeros((len(subsets), len(self._models)), dtype=np.int64)
        for number, block in enumerate(self._blocks):
            for i, subset in enumerate(subsets):
                total = self._total(number, subset)
                counts[i, block.fold] += _correct(total, block.truth)
        return counts

    def drop_ones(self, subset: Sequence[int] | None = None) -> Ints:
        """Rows predicted correctly without each feature of a subset (by default all) in turn."""
        subset = range(len(self._columns)) if subset is None else subset
        return self._moves(subset, subset, np.subtract)

    def add_ones(self, subset: Sequence[int]) -> Ints:
        """Rows predicted correctly with each feature the subset lacks added, in column order."""
        others = [i for i in range(len(self._columns)) if i not in set(subset)]
        return self._moves(subset, others, np.add)

    def all_subsets(self, features: Sequence[int] | None = None) -> Ints:
        """Rows predicted correctly with every subset of some features (by default all).

        Row `mask` of the result is the subset with `features[i]` for each bit i set in `mask`;
        row 0 is the empty set. The sums over subsets of the first few features are computed once;
        the subsets of the others are visited, each differing from the last in one feature (a
        Gray code). So a subset costs one addition per test row and class.
        """
        features = range(len(self._columns)) if features is None else features
        check_walkable(features)
        counts = np.zeros((2 ** len(features), len(self._models)), dtype=np.int64)
        for number, block in enumerate(self._blocks):
            held = self._contributions(number, features)
            self._walk(held, self._of_none(number), block, counts)
        return counts

    def log_scores(self, subset: Sequence[int], fold: int) -> tuple[NDArray[Any], Units]:
        """The classes a fold's model knows, and the score of each (classes by test rows).

        Scores are relative to the first class, whose own are 0.
        """
        numbers = [n for n, block in enumerate(self._blocks) if block.fold == fold]
        relative = np.concatenate([self._total(n, subset) for n in numbers], axis=1)
        first = np.zeros((1, relative.shape[1]), dtype=np.int64)
        return self._labels[self._models[fold].classes], np.vstack([first, relative])

    def _walk(self, held: list[Units], total: Units, block: TestedBlock, counts: Ints) -> None:
        # The sums over all subsets of the first features, doubled with each of them while they
        # fit into cache; then a Gray code walks through the subsets of the other features.
        first = total[None]
        while held and 2 * first.size <= TOGETHER:
            first = np.concatenate([first, first + held.pop(0)])
        together = len(first)
        mask = 0
        for step in range(2 ** len(held)):
            if step:
                # The position of the lowest set bit of the step is the bit that a Gray code flips.
                changed = (step & -step).bit_length() - 1
                mask ^= 1 << changed
                move = np.add if mask >> changed & 1 else np.subtract
                move(first, held[changed], out=first)
            counts[mask * together : (mask + 1) * together, block.fold] += _correct(
                first, block.truth
            )

    def _moves(self, subset: Sequence[int], moved: Sequence[int], move: np.ufunc) -> Ints:
        counts = np.zeros((len(moved), len(self._models)), dtype=np.int64)
        for number, block in enumerate(self._blocks):
            total = self._total(number, subset)
            for i, contribution in enumerate(self._contributions(number, moved)):
                counts[i, block.fold] += _correct(move(total, contribution), block.truth)
        return counts

    def _total(self, number: int, subset: Sequence[int]) -> Units:
        """The sum over a subset, from the priors or from the last sum, whichever is closer.

        Consecutive subsets of a search differ by a feature or two. With whole numbers both ways
        give the same sum. The array must not be changed.
        """
        wanted = frozenset(subset)
        before, total = self._last.get(number, (frozenset(), None))
        if total is None or len(before ^ wanted) > len(wanted):
            before, total = frozenset(), self._of_none(number)
        for features, move in ((before - wanted, np.subtract), (wanted - before, np.add)):
            for contribution in self._contributions(number, sorted(features)):
                total = move(total, contribution)
        self._last[number] = wanted, total
        return total

    def _of_none(self, number: int) -> Units:
        block = self._blocks[number]
        prior = self._models[block.fold].prior
        return np.repeat((prior[1:] - prior[0])[:, None], len(block.rows), axis=1)

    def _contributions(self, number: int, features: Sequence[int]) -> list[Units]:
        """One array of (classes - 1) by rows for each feature."""
        if self._held is None:
            return self._computed(self._blocks[number], features)
        held = self._held[number]
        return [held[i] for i in features]

    def _computed(self, block: TestedBlock, features: Sequence[int]) -> list[Units]:
        parts = self._models[block.fold].parts
        values = ((parts[i], self._columns[i].values[block.rows]) for i in features)
        every = (part.log_likelihoods(column) for part, column in values)
        # Relative to the first class: one class fewer to store and to add.
        return [likelihoods[1:] - likelihoods[0] for likelihoods in every]

    def _cut(self, folds: Folds, y: NDArray[np.intp], block_bytes: int) -> Iterator[TestedBlock]:
        for fold, (test, model) in enumerate(zip(folds.tests, self._models)):
            row_bytes = 8 * max(1, len(self._columns)) * len(model.classes)
            size = max(1, len(test) if self.kept else block_bytes // row_bytes)
            for start in range(0, len(test), size):
                rows = test[start : start + size]
                yield TestedBlock(fold, rows, _positions(model.classes, y[rows]))


def check_walkable(features: Sequence[int]) -> None:
    """Raise if there are too many features to score all their subsets."""
    if len(features) > MOST_WALKED:
        raise InputError(
            f"{len(features)} features have too many subsets to score them all; name at most "
            f"{MOST_WALKED} features"
        )


def _positions(classes: NDArray[np.intp], labels: NDArray[np.intp]) -> NDArray[np.intp]:
    """The index of each label among the sorted classes; -1 if it is not among them."""
    places = np.searchsorted(classes, labels).clip(max=len(classes) - 1)
    return np.where(classes[places] == labels, places, -1)


def _correct(relative: Units, truth: NDArray[np.intp]) -> Any:
    """Count rows whose best class is the true one; a tie goes to the first class.

    The last two axes are the classes except the first, and the rows.
    """
    if relative.shape[-2] == 1:  # two classes: the second one wins if its relative score is above 0
        return np.count_nonzero((relative[..., 0, :] > 0) == truth, axis=-1)
    best = np.where(relative.max(axis=-2) > 0, relative.argmax(axis=-2) + 1, 0)
    return np.count_nonzero(best == truth, axis=-1)
