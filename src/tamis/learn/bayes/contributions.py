"""Score many sets of features with naive Bayes at the cost of additions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tamis.errors import InputError
from tamis.learn.bayes.model import NaiveBayes, Units
from tamis.learn.columns import Column
from tamis.learn.cv import Folds, RowNumbers

Counts = NDArray[np.int64]

MOST_WALKED = 24
"""The largest number of features whose subsets are all scored (2**24 is sixteen million)."""

TOGETHER = 2**15
"""Sums computed together when all subsets are scored, so that they stay in cache."""

BLOCK_BYTES = 32 * 2**20
"""What is held at a time if the cache would exceed its memory limit."""


@dataclass(frozen=True, eq=False)
class TestedBlock:
    """Some test rows of one fold, and the class of each as numbered by the fold's model."""

    fold: int
    rows: RowNumbers
    truth: NDArray[np.intp]


class ContributionCache:
    """What each feature contributes to each class, on the test rows of every fold.

    One model is fitted per fold. Its log-likelihoods, class by class relative to the first class,
    are kept as whole numbers, whose sums and differences are exact: every count below is what a
    fit on that subset would give.

    Parameters
    ----------
    bayes : NaiveBayes
    columns : sequence of Column
        The features, coded over the whole table.
    y : array of class labels
    folds : Folds
    memory_limit : int, default 512 MiB
        Bytes that the cache may take: 8 x features x test rows x (classes - 1). If that would
        be more, nothing is cached: contributions are recomputed when needed, in blocks
        of rows, with the same results.

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
        self._last: dict[int, tuple[frozenset[int], Units]] = {}
        every = range(len(columns))
        self._held = [self._computed(block, every) for block in self._blocks] if self.kept else None

    def correct(self, subsets: Sequence[Sequence[int]]) -> Counts:
        """Rows predicted correctly with each subset: an array of subsets by folds."""
        counts = np.zeros((len(subsets), len(self._models)), dtype=np.int64)
        for number, block in enumerate(self._blocks):
            for i, subset in enumerate(subsets):
                total = self._total(number, subset)
                counts[i, block.fold] += _correct(total, block.truth)
        return counts

    def drop_ones(self, subset: Sequence[int] | None = None) -> Counts:
        """Rows predicted correctly without each feature of a subset (by default all) in turn."""
        subset = range(len(self._columns)) if subset is None else subset
        return self._moves(subset, subset, np.subtract)

    def add_ones(self, subset: Sequence[int]) -> Counts:
        """Rows predicted correctly with each feature the subset lacks added, in column order."""
        others = [i for i in range(len(self._columns)) if i not in set(subset)]
        return self._moves(subset, others, np.add)

    def all_subsets(self, features: Sequence[int] | None = None) -> Counts:
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
        """The classes a fold's model knows, and the score of each (classes by test rows)."""
        numbers = [n for n, block in enumerate(self._blocks) if block.fold == fold]
        relative = np.concatenate([self._total(n, subset) for n in numbers], axis=1)
        first = np.zeros((1, relative.shape[1]), dtype=np.int64)
        return self._labels[self._models[fold].classes], np.vstack([first, relative])

    def _walk(self, held: list[Units], total: Units, block: TestedBlock, counts: Counts) -> None:
        first = total[None]
        while held and 2 * first.size <= TOGETHER:
            first = np.concatenate([first, first + held.pop(0)])
        together = len(first)
        mask = 0
        for step in range(2 ** len(held)):
            if step:
                changed = (step & -step).bit_length() - 1
                mask ^= 1 << changed
                move = np.add if mask >> changed & 1 else np.subtract
                move(first, held[changed], out=first)
            counts[mask * together : (mask + 1) * together, block.fold] += _correct(
                first, block.truth
            )

    def _moves(self, subset: Sequence[int], moved: Sequence[int], move: np.ufunc) -> Counts:
        counts = np.zeros((len(moved), len(self._models)), dtype=np.int64)
        for number, block in enumerate(self._blocks):
            total = self._total(number, subset)
            for i, contribution in enumerate(self._contributions(number, moved)):
                counts[i, block.fold] += _correct(move(total, contribution), block.truth)
        return counts

    def _total(self, number: int, subset: Sequence[int]) -> Units:
        """The sum over a subset: from zero, or from the last sum if that is closer.

        Searches ask for one subset after another that differ by a feature or two. Whole numbers
        ensure that both ways give the same sum. The array must not be changed.
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
        found = (parts[i].log_likelihoods(self._columns[i].values[block.rows]) for i in features)
        return [likelihoods[1:] - likelihoods[0] for likelihoods in found]

    def _cut(self, folds: Folds, y: NDArray[np.intp], block_bytes: int) -> Iterator[TestedBlock]:
        for fold, (test, model) in enumerate(zip(folds.tests, self._models)):
            row_bytes = 8 * max(1, len(self._columns)) * len(model.classes)
            size = max(1, len(test) if self.kept else block_bytes // row_bytes)
            for start in range(0, len(test), size):
                rows = test[start : start + size]
                yield TestedBlock(fold, rows, _positions(model.classes, y[rows]))


def check_walkable(features: Sequence[int]) -> None:
    """Refuse to score all subsets if there are too many features to finish."""
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
    if relative.shape[-2] == 1:
        return np.count_nonzero((relative[..., 0, :] > 0) == truth, axis=-1)
    best = np.where(relative.max(axis=-2) > 0, relative.argmax(axis=-2) + 1, 0)
    return np.count_nonzero(best == truth, axis=-1)
