"""Cross-validation: the test rows of each fold, and the significance of differences in score."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tamis.arrays import RowNumbers
from tamis.errors import InputError, TamisWarning, plural


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
        """The largest number of folds that test the same row.

        Above 1 the folds overlap, and scores are compared by `corrected_t_test`.
        """
        return int(np.bincount(np.concatenate(self.tests), minlength=1).max())

    @property
    def test_ratio(self) -> float:
        """Mean number of test rows divided by that of training rows, for the corrected t-test."""
        return float(self.sizes.mean() / (self.rows - self.sizes.mean()))

    @classmethod
    def stratified(
        cls,
        y: ArrayLike,
        folds: int = 10,
        *,
        repeats: int = 1,
        random_state: int | np.random.RandomState | None = 0,
        groups: ArrayLike | None = None,
    ) -> Folds:
        """Distribute the rows of each class evenly over the folds, after a seeded shuffle.

        With `groups`, the person of each row, people are distributed instead, by the class most of
        their rows have and by their number of rows, so that folds are as even as people allow.
        Warns if a class has fewer rows, or people, than there are folds.

        >>> Folds.stratified(["a", "b"] * 10, 5).sizes.tolist()
        [4, 4, 4, 4, 4]
        >>> Folds.stratified([0, 0, 1, 1] * 2, 2, groups=[0, 0, 1, 1, 2, 2, 3, 3]).sizes.tolist()
        [4, 4]
        """
        y = np.asarray(y)
        if groups is not None:
            return cls._of_people(y, np.asarray(groups), folds, repeats, random_state)
        check_counts(y, folds, repeats)
        state, codes = _state(random_state), _by_appearance(y)
        dealt = [_dealt(codes, folds, state) for _ in range(repeats)]
        return cls(tuple(np.flatnonzero(d == fold) for d in dealt for fold in range(folds)), len(y))

    @classmethod
    def _of_people(
        cls,
        y: NDArray[Any],
        groups: NDArray[Any],
        folds: int,
        repeats: int,
        random_state: int | np.random.RandomState | None,
    ) -> Folds:
        people = LabelledPeople.of(y, groups)
        check_counts(people.classes[people.label], folds, repeats, "people")
        state = _state(random_state)
        tests = []
        for _ in range(repeats):
            order = people.ordered(state.random_sample((2, len(people))), folds)
            fold_of = np.empty(len(people), dtype=np.intp)
            fold_of[order] = np.arange(len(people)) % folds
            tests += [np.flatnonzero(fold_of[people.of_row] == fold) for fold in range(folds)]
        return cls(tuple(tests), len(y))

    @classmethod
    def predefined(cls, numbers: ArrayLike) -> Folds:
        """Predefined folds, as the fold number of each row. Rows of fold -1 are only trained on.

        >>> Folds.predefined([0, 0, 1, -1]).sizes.tolist()
        [2, 1]
        """
        numbers = np.asarray(numbers)
        if numbers.ndim != 1 or not np.issubdtype(numbers.dtype, np.integer):
            raise InputError(
                "predefined folds must be one whole number per row (-1: never tested), got an "
                f"array of {numbers.dtype} with {numbers.ndim} dimensions"
            )
        used = np.unique(numbers[numbers >= 0])
        if len(used) < 2:
            raise InputError(
                f"predefined folds need at least two different numbers from 0, got {len(used)}"
            )
        return cls(tuple(np.flatnonzero(numbers == number) for number in used), len(numbers))

    @classmethod
    def of(
        cls,
        scheme: Any,
        y: ArrayLike,
        random_state: int | None = 0,
        groups: ArrayLike | None = None,
    ) -> Folds:
        """Make folds from a number, fold numbers, a scikit-learn splitter, or `Folds`.

        With `groups`, the person of each row, folds that split the rows of a person are refused.

        >>> len(Folds.of(3, [0, 0, 0, 1, 1, 1]))
        3
        """
        y = np.asarray(y)
        if isinstance(scheme, Folds):
            folds = scheme
        elif isinstance(scheme, int | np.integer):
            folds = cls.stratified(y, int(scheme), random_state=random_state, groups=groups)
        elif hasattr(scheme, "split"):
            parts = _split(scheme, y, groups)
            folds = cls(tuple(np.sort(test) for _, test in parts), len(y))
            _refuse_partial(folds, [train for train, _ in parts])
        else:
            folds = cls.predefined(scheme)
        folds._check_rows(y)
        if groups is not None:
            folds._check_people(np.asarray(groups))
        return folds

    def _check_rows(self, y: NDArray[Any]) -> None:
        if self.rows != len(y):
            raise InputError(
                f"the folds are for {plural(self.rows, 'row')}, the table has {len(y)}"
            )
        for fold in range(len(self)):
            if len(np.unique(y[self.train(fold)])) < 2:
                raise InputError(
                    f"fold {fold} would train on a single class; use fewer folds, or folds that "
                    "leave two classes to train on"
                )

    def _check_people(self, groups: NDArray[Any]) -> None:
        people = np.unique(groups, return_inverse=True)[1]
        rows = np.bincount(people)
        for test in self.tests:
            tested = np.bincount(people[test], minlength=len(rows))
            if ((tested > 0) & (tested < rows)).any():
                raise InputError(
                    "the folds train on some rows of a person and test on others, so that models "
                    "would be tested on people they know; give a number of folds, or a splitter "
                    "that keeps each person's rows together, such as StratifiedGroupKFold"
                )


@dataclass(frozen=True, eq=False)
class LabelledPeople:
    """The person each row is about, and each person's most frequent class.

    Examples
    --------
    >>> people = LabelledPeople.of(np.array(["a", "b", "b", "a"]), np.array([7, 7, 7, 9]))
    >>> people.of_row.tolist(), people.label.tolist(), people.rows.tolist()
    ([0, 0, 0, 1], [1, 0], [3, 1])
    """

    of_row: RowNumbers
    label: RowNumbers
    rows: RowNumbers
    classes: NDArray[Any]

    def __len__(self) -> int:
        return len(self.label)

    @classmethod
    def of(cls, y: NDArray[Any], groups: NDArray[Any]) -> LabelledPeople:
        """Count the classes of each person; `groups` is the person of each row."""
        if len(groups) != len(y):
            raise InputError(
                f"groups must name one person per row: got {len(groups)}, the table has "
                f"{plural(len(y), 'row')}"
            )
        classes, codes = np.unique(y, return_inverse=True)
        of_row = np.unique(groups, return_inverse=True)[1]
        rows = np.bincount(of_row)
        pairs, times = np.unique(of_row * len(classes) + codes, return_counts=True)
        who, label = pairs // len(classes), pairs % len(classes)
        # By person, most frequent class first; of equally frequent classes, the first one.
        first = np.lexsort((label, -times, who))
        starts = np.flatnonzero(np.diff(who[first], prepend=-1))
        return cls(of_row, label[first][starts], rows, classes)

    def ordered(self, draws: NDArray[np.float64], block: int) -> RowNumbers:
        """People by class and number of rows, shuffled within blocks of size `block`.

        Taking one person from each block gives similar numbers of people of every class and size.
        `draws` are two random numbers per person.
        """
        # The first draw breaks ties of class and size, the second one shuffles within blocks.
        order = np.lexsort((draws[0], -self.rows, self.label))
        blocks = np.arange(len(order)) // block
        shuffled: RowNumbers = order[np.lexsort((draws[1], blocks))]
        return shuffled


def _state(random_state: int | np.random.RandomState | None) -> np.random.RandomState:
    if isinstance(random_state, np.random.RandomState):
        return random_state
    return np.random.RandomState(random_state)


def _by_appearance(y: NDArray[Any]) -> RowNumbers:
    """The class of each row, numbered in the order in which the classes first appear."""
    _, first, codes = np.unique(y, return_index=True, return_inverse=True)
    numbers: RowNumbers = np.argsort(np.argsort(first))[codes]
    return numbers


def _dealt(codes: RowNumbers, folds: int, state: np.random.RandomState) -> RowNumbers:
    """The fold that tests each row: rows are dealt to the folds by class, then shuffled.

    The dealing goes on from one class to the next where it stopped, so that folds are also of
    equal size. These are the folds of scikit-learn's `RepeatedStratifiedKFold` from the same seed,
    without the two seconds that its import takes.
    """
    rounds = np.arange(len(codes)) % folds
    in_order = np.sort(codes)
    fold_of = np.empty(len(codes), dtype=np.intp)
    for code in range(codes.max() + 1):
        dealt = np.sort(rounds[in_order == code])
        state.shuffle(dealt)
        fold_of[codes == code] = dealt
    return fold_of


def _split(scheme: Any, y: NDArray[Any], groups: Any) -> list[tuple[RowNumbers, RowNumbers]]:
    with warnings.catch_warnings():  # split people are reported afterwards, as an error
        warnings.filterwarnings("ignore", message="The groups parameter is ignored")
        try:
            return list(scheme.split(np.zeros((len(y), 1)), y, groups))
        except ValueError as error:
            raise InputError(f"the splitter cannot split these rows: {error}") from None


def _refuse_partial(folds: Folds, trains: list[RowNumbers]) -> None:
    for fold, train in enumerate(trains):
        if not np.array_equal(np.sort(train), folds.train(fold)):
            raise InputError(
                "the splitter leaves some rows out of both training and test; use one that trains "
                "on all rows that it does not test, such as StratifiedKFold"
            )


def check_counts(y: NDArray[Any], folds: int, repeats: int, unit: str = "rows") -> None:
    """Raise if the folds cannot be dealt, and warn of classes that some folds cannot test."""
    if folds < 2 or repeats < 1:
        raise InputError(f"at least 2 folds and 1 repeat are needed, got {folds} and {repeats}")
    counts = np.unique(y, return_counts=True)[1]
    if len(counts) < 2:
        raise InputError(f"at least two classes are needed, got {len(counts)}")
    if counts.max() < folds:
        raise InputError(
            f"{folds} folds were requested, but no class has more than {counts.max()} {unit}; use "
            f"at most {counts.max()} folds"
        )
    if counts.min() < folds:
        warnings.warn(
            f"{int((counts < folds).sum())} of {len(counts)} classes have fewer {unit} than the "
            f"{folds} folds (the smallest has {counts.min()}): some folds cannot test them",
            TamisWarning,
            stacklevel=3,
        )


def fold_p_value(first: ArrayLike, second: ArrayLike, folds: Folds) -> float:
    """The two-sided p-value of the test that suits the way the folds were drawn.

    Parameters
    ----------
    first, second : array of float
        The scores of two sets of features, fold by fold.
    folds : Folds

    Returns
    -------
    float

    Examples
    --------
    >>> folds = Folds.predefined([0, 0, 1, 1, 2, 2])
    >>> round(fold_p_value([0.9, 0.8, 0.9], [0.7, 0.7, 0.6], folds), 4)
    0.0742
    """
    if folds.repeats > 1:
        return corrected_t_test(first, second, folds.test_ratio)
    return paired_t_test(first, second)


def fold_p_values(
    scores: NDArray[np.float64], baseline: ArrayLike, folds: Folds
) -> NDArray[np.float64]:
    """`fold_p_value` of many sets of features, one a row, each against the same baseline.

    >>> folds = Folds.predefined([0, 0, 1, 1, 2, 2])
    >>> many = np.array([[0.9, 0.8, 0.9], [0.7, 0.7, 0.6]])
    >>> fold_p_values(many, [0.7, 0.7, 0.6], folds).round(4).tolist()
    [0.0742, 1.0]
    """
    correction = folds.test_ratio if folds.repeats > 1 else 0.0
    if scores.shape[1] < 2 or not np.isfinite(scores).all():
        for row in scores:  # raises for the first row that cannot be tested
            _differences(row, baseline)
    differences = scores - np.asarray(baseline, dtype=np.float64)
    return _p_values(differences, 1 / scores.shape[1] + correction)


def paired_t_test(first: ArrayLike, second: ArrayLike) -> float:
    """The two-sided p-value of the paired t-test over folds.

    Parameters
    ----------
    first, second : array of float
        The scores of two sets of features, fold by fold.

    Returns
    -------
    float
        1 if no fold differs; 0 if all folds differ by the same amount.

    Examples
    --------
    >>> round(paired_t_test([0.9, 0.8, 0.9], [0.7, 0.7, 0.6]), 4)
    0.0742
    >>> paired_t_test([0.9, 0.8], [0.9, 0.8])
    1.0
    """
    differences = _differences(first, second)
    return float(_p_values(differences[None, :], 1 / len(differences))[0])


def corrected_t_test(first: ArrayLike, second: ArrayLike, test_ratio: float) -> float:
    """The two-sided p-value of the corrected resampled t-test, for repeated cross-validation.

    Parameters
    ----------
    first, second : array of float
        The scores of two sets of features, over all folds of all repeats.
    test_ratio : float
        Test rows divided by training rows, as in `Folds.test_ratio`; 1/9 for ten folds.

    Returns
    -------
    float

    Notes
    -----
    Nadeau and Bengio, Inference for the Generalization Error, Machine Learning 52 (2003): the
    variance of the mean of J overlapping differences is estimated by (1/J + n2/n1) times their
    variance, where n2 and n1 are the numbers of test and training rows.

    Examples
    --------
    >>> round(corrected_t_test([0.9, 0.8, 0.9], [0.7, 0.7, 0.6], test_ratio=0.5), 4)
    0.1598
    """
    if not 0 <= test_ratio < np.inf:
        raise InputError(f"test_ratio is test rows / training rows, at least 0, got {test_ratio!r}")
    differences = _differences(first, second)
    return float(_p_values(differences[None, :], 1 / len(differences) + test_ratio)[0])


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Adjust p-values of many comparisons by Holm's step-down method.

    Parameters
    ----------
    p_values : array of float in [0, 1]

    Returns
    -------
    array of float
        In the given order. Rejecting those at or below a level bounds the family-wise error by it.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise InputError("p-values must be a list of numbers in [0, 1]")
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def _differences(first: ArrayLike, second: ArrayLike) -> NDArray[np.float64]:
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape or len(a) < 2:
        raise InputError(
            "a paired test needs two lists of scores from the same folds, at least two, got shapes "
            f"{a.shape} and {b.shape}"
        )
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise InputError("a paired test needs a score for every fold, some are missing")
    return a - b


def _p_values(differences: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    """Two-sided p-value of Student's t for each row of differences.

    `share` times the variance of the differences estimates the variance of their mean.
    """
    from scipy.special import stdtr

    # Without spread there is no t: p is 1 if all differences are 0, and 0 if all are equal.
    p_values = np.ones(len(differences))
    p_values[differences.any(axis=1)] = 0.0
    variance = differences.var(axis=1, ddof=1)
    # Equal differences may have a tiny variance by rounding; their range is exactly 0.
    spread = (variance > 0) & (np.ptp(differences, axis=1) > 0)
    means = np.abs(differences[spread].mean(axis=1))
    t = means / np.sqrt(share * variance[spread])
    p_values[spread] = 2 * stdtr(differences.shape[1] - 1, -t)
    return p_values


Interval = tuple[float, float]


def fold_interval(values: ArrayLike, folds: Folds) -> Interval:
    """The 95 % confidence interval for the mean of one value per fold.

    If folds share test rows, the variance is corrected as in `corrected_t_test`. A single fold
    gives no estimate of the variance, so its interval is the whole real line.

    >>> folds = Folds.predefined([0, 0, 1, 1, 2, 2])
    >>> low, high = fold_interval([0.7, 0.8, 0.9], folds)
    >>> round(low, 3), round(high, 3)
    (0.552, 1.048)
    """
    values = np.asarray(values, dtype=np.float64)
    mean = float(values.mean())
    if len(values) < 2:
        return -np.inf, np.inf
    from scipy.special import stdtrit

    share = 1 / len(values) + (folds.test_ratio if folds.repeats > 1 else 0.0)
    half = stdtrit(len(values) - 1, 0.975) * np.sqrt(share * values.var(ddof=1))
    return mean - float(half), mean + float(half)
