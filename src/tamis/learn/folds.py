"""Which rows are tested when: one scheme, drawn once and used for every set of features."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import RepeatedStratifiedKFold

from tamis.errors import InputError, TamisWarning

RowNumbers = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Folds:
    """The rows that each fold tests; it trains on all others.

    Parameters
    ----------
    tests : tuple of arrays
        The row numbers of each fold, ascending.
    rows : int
        The number of rows of the table.

    Examples
    --------
    >>> folds = Folds.predefined([0, 1, 1, 0])
    >>> folds.train(0).tolist(), folds.tests[0].tolist()
    ([1, 2], [0, 3])
    """

    tests: tuple[RowNumbers, ...]
    rows: int

    def __len__(self) -> int:
        return len(self.tests)

    def train(self, fold: int) -> RowNumbers:
        """The row numbers that a fold trains on."""
        tested = np.zeros(self.rows, dtype=bool)
        tested[self.tests[fold]] = True
        return np.flatnonzero(~tested)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of rows that each fold tests."""
        return np.array([len(test) for test in self.tests], dtype=np.int64)

    @cached_property
    def repeats(self) -> int:
        """How often a row is tested, at most.

        Where it is more than once, folds share rows: compare with `corrected_t_test`.
        """
        return int(np.bincount(np.concatenate(self.tests), minlength=1).max())

    @property
    def test_ratio(self) -> float:
        """Tested rows by trained rows, on average: what the corrected t-test asks for."""
        return float(self.sizes.mean() / (self.rows - self.sizes.mean()))

    @classmethod
    def stratified(
        cls,
        y: ArrayLike,
        folds: int = 10,
        *,
        repeats: int = 1,
        random_state: int | np.random.RandomState | None = 0,
    ) -> Folds:
        """Deal the rows of each class evenly into folds, after a seeded shuffle.

        Warns where a class has fewer rows than there are folds.

        >>> Folds.stratified(["a", "b"] * 10, 5).sizes.tolist()
        [4, 4, 4, 4, 4]
        """
        y = np.asarray(y)
        _check_counts(y, folds, repeats)
        dealer = RepeatedStratifiedKFold(
            n_splits=folds, n_repeats=repeats, random_state=random_state
        )
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="The least populated class", module="sklearn")
            tests = tuple(test for _, test in dealer.split(np.zeros(len(y)), y))
        return cls(tests, len(y))

    @classmethod
    def predefined(cls, numbers: ArrayLike) -> Folds:
        """Folds that are given: the number of each row's fold. Rows of fold -1 are only trained on.

        >>> Folds.predefined([0, 0, 1, -1]).sizes.tolist()
        [2, 1]
        """
        numbers = np.asarray(numbers)
        if numbers.ndim != 1 or not np.issubdtype(numbers.dtype, np.integer):
            raise InputError(
                "predefined folds are one whole number a row (-1: never tested), got an array of "
                f"{numbers.dtype} with {numbers.ndim} dimensions"
            )
        used = np.unique(numbers[numbers >= 0])
        if len(used) < 2:
            raise InputError(f"predefined folds need two or more numbers from 0, got {len(used)}")
        return cls(tuple(np.flatnonzero(numbers == number) for number in used), len(numbers))

    @classmethod
    def of(cls, scheme: Any, y: ArrayLike, random_state: int | None = 0) -> Folds:
        """Any way of naming folds: a number, fold numbers, a scikit-learn splitter, or `Folds`.

        >>> len(Folds.of(3, [0, 0, 0, 1, 1, 1]))
        3
        """
        y = np.asarray(y)
        if isinstance(scheme, Folds):
            folds = scheme
        elif isinstance(scheme, int | np.integer):
            folds = cls.stratified(y, int(scheme), random_state=random_state)
        elif hasattr(scheme, "split"):
            try:
                parts = list(scheme.split(np.zeros((len(y), 1)), y))
            except ValueError as error:
                raise InputError(f"the splitter cannot deal these rows: {error}") from None
            folds = cls(tuple(np.sort(test) for _, test in parts), len(y))
            _refuse_partial(folds, [train for train, _ in parts])
        else:
            folds = cls.predefined(scheme)
        folds._check_rows(y)
        return folds

    def _check_rows(self, y: NDArray[Any]) -> None:
        if self.rows != len(y):
            raise InputError(f"the folds are of {self.rows} rows, the table has {len(y)}")
        for fold in range(len(self)):
            if len(np.unique(y[self.train(fold)])) < 2:
                raise InputError(
                    f"fold {fold} would train on a single class; use fewer folds, or folds that "
                    "leave two classes to train on"
                )


def _refuse_partial(folds: Folds, trains: list[RowNumbers]) -> None:
    for fold, train in enumerate(trains):
        if not np.array_equal(np.sort(train), folds.train(fold)):
            raise InputError(
                "the splitter leaves rows out of both training and test; use one that trains on "
                "all rows that it does not test, such as StratifiedKFold"
            )


def _check_counts(y: NDArray[Any], folds: int, repeats: int) -> None:
    if folds < 2 or repeats < 1:
        raise InputError(f"two or more folds and one or more repeats, got {folds} and {repeats}")
    counts = np.unique(y, return_counts=True)[1]
    if len(counts) < 2:
        raise InputError(f"two or more classes are needed, got {len(counts)}")
    if counts.max() < folds:
        raise InputError(
            f"{folds} folds, but no class has more than {counts.max()} rows; use at most "
            f"{counts.max()} folds"
        )
    if counts.min() < folds:
        warnings.warn(
            f"{int((counts < folds).sum())} of {len(counts)} classes have fewer rows than the "
            f"{folds} folds (the smallest has {counts.min()}): some folds cannot test them",
            TamisWarning,
            stacklevel=3,
        )
