"""One scale in bits: what a release keeps of the target, what it tells of the secret.

The *gain* of an evaluation row is log2(p / q): p is the probability of its true label given the
release, q the probability without the release (the baseline). The mean gain is a proper score, a
difference of cross-entropies, so that neither overconfidence nor false modesty pays. The baseline
of the target is the class shares; the baseline of the secret is its distribution given the row's
target, since every release contains the target, and what that tells is not the fault of columns.

    U(S)     mean gain about the target from the columns S
    A(S)     mean gain about the secret from the columns S and the target
    kept(S)  U(S) divided by the largest U of any set: nothing 0, everything about 1
    told(S)  A(S) divided by the largest A of any set

A holder of S can ignore columns, so S scores at least as high as each of its scored subsets, and at
least 0 (*closure*). Otherwise a search would add columns of noise to push told down.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from tamis.arrays import Floats
from tamis.errors import CannotMeet
from tamis.notebook import by_fields
from tamis.people import People, PeopleLike

Gains = NDArray[np.floating[Any]]

FLOOR = 1e-4
"""Lower clip of probabilities, 13.3 bits: one row held impossible must not decide the mean."""
CLEAR = 2.0
"""Standard errors above 0 from which a mean is taken for more than chance."""
LEAST_SCALE = 0.05
"""Lower bound of told's denominator, as a share of the secret's baseline cross-entropy."""
TRIFLE = 1e-9
"""Smallest denominator of kept, in bits: it is used only where every set is worse than guessing."""
CLOSE = 0.01
"""Sets whose value and kept differ by at most this are ties: the one of fewest columns wins."""
REDRAWS = 400
"""Bootstrap draws of people, to see what else might have been chosen."""
NO_BITS = 1e-6
"""Means up to this are rounding noise, even where their standard error is as small."""
WEAK = 0.05
"""Columns that explain less than this share of the target's baseline cross-entropy are weak."""


@dataclass(frozen=True)
class Mean:
    """A mean over rows and its standard error."""

    value: float
    error: float

    @property
    def clear(self) -> bool:
        """Whether it exceeds 0 by more than two standard errors."""
        return self.is_above(CLEAR)

    def is_above(self, errors: float) -> bool:
        """Whether it exceeds 0 by so many standard errors, and by more than rounding noise.

        >>> Mean(0.3, 0.1).is_above(2.0), Mean(1e-9, 1e-10).is_above(2.0)
        (True, False)
        """
        return self.value > max(errors * self.error, NO_BITS)


def gains(probabilities: ArrayLike, baseline: ArrayLike, truth: ArrayLike) -> Floats:
    """Gain of each row in bits: log2 of its true label's probability over the baseline's.

    Both are arrays of rows by classes; `truth` is the class of each row.

    >>> gains([[0.5, 0.5], [0.5, 0.5]], [[0.25, 0.75], [0.5, 0.5]], [0, 1]).tolist()
    [1.0, 0.0]
    """
    return surprise(baseline, truth) - surprise(probabilities, truth)


def surprise(probabilities: ArrayLike, truth: ArrayLike) -> Floats:
    """Log loss of each row in bits; the mean is the cross-entropy.

    >>> surprise([[0.25, 0.75], [0.5, 0.5]], [0, 1]).tolist()
    [2.0, 1.0]
    """
    truth = np.asarray(truth)
    of_truth = np.asarray(probabilities, dtype=np.float64)[np.arange(len(truth)), truth]
    return np.asarray(-np.log2(np.clip(of_truth, FLOOR, 1.0)))


def mean(values: Gains, people: PeopleLike = None) -> Mean:
    """The mean of one value a row, with a standard error clustered by person.

    `people` gives the person of each row; `None`: each row is a person.

    >>> mean(np.array([1.0, 3.0]))
    Mean(value=2.0, error=1.0)
    >>> mean(np.array([1.0, 1.0, 3.0, 3.0]), np.array([0, 0, 1, 1]))
    Mean(value=2.0, error=1.0)
    """
    middle = float(np.mean(values, dtype=np.float64))
    apart = np.asarray(values, dtype=np.float64) - middle
    who = People.named(people, len(apart))
    if not who.each_row:
        # Residuals add up within a person: rows of one person are one draw. Numbers that no row
        # here has are gaps of a sample, not people with a residual of 0.
        sums: Floats = np.bincount(who.codes, weights=apart).astype(np.float64)
        apart = sums[np.bincount(who.codes) > 0]
    draws = len(apart)
    if draws < 2:
        return Mean(middle, np.inf)
    spread = float(np.sqrt((apart**2).sum() * draws / (draws - 1)))
    return Mean(middle, spread / len(values))


def parts_of(sets: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Subset relation of sets of columns: `[i, j]` says that all columns of j are columns of i.

    >>> parts_of(np.array([[True, True], [True, False], [False, True]])).astype(int).tolist()
    [[1, 1, 1], [0, 1, 0], [0, 0, 1]]
    """
    # Counting columns of j outside i is one matrix product; float32 counts are exact to 2**24.
    inside = np.asarray(sets, dtype=np.float32)
    outside_of_i = (1 - inside) @ inside.T
    return np.asarray(outside_of_i == 0)


def closed(values: ArrayLike, within: NDArray[np.bool_]) -> tuple[Floats, NDArray[np.intp]]:
    """Largest value among each set's subsets, and which subset has it; 0 and -1 if none exceeds 0.

    >>> closed([0.5, 0.7, -0.1], parts_of(np.array([[1, 1], [1, 0], [0, 1]], dtype=bool)))
    (array([0.7, 0.7, 0. ]), array([ 1,  1, -1]))
    """
    known = np.where(within, np.asarray(values, dtype=np.float64), -np.inf)
    best = known.argmax(axis=1)
    value = known[np.arange(len(known)), best]
    above = value > 0
    return np.where(above, value, 0.0), np.where(above, best, -1)


@dataclass(frozen=True, eq=False)
class KeptTold:
    """What each of many sets keeps of the target and tells of the secret.

    Parameters
    ----------
    target_gains : array of float, sets by rows
        See `gains`; the same unseen rows for every set.
    secret_gains : array of float, sets by rows, optional
        `None` if there is no secret besides the target: told is 0 then.
    within : array of bool, sets by sets
        `[i, j]`: set j can be derived from set i, see `parts_of`.
    everything : int
        The number of the set of all columns.
    unsure_target, unsure_secret : float
        Baseline cross-entropy of the evaluation rows, in bits: of the target, and of the secret
        given the target.
    people : array of int, optional
        The person of each row, see `mean`.
    shown : pair of bool, optional
        Whether anything teaches the target and tells the secret, if other rows settled that.
        `None`: settle it on these rows.
    tried : int
        How many sets were scored to find these; the best of many exceeds 0 by luck.
    means : pair of tuples of Mean, optional
        U and A of each set, if they are known already.

    Examples
    --------
    >>> rows = np.tile([1.0, 0.0, 0.5, 0.5], (2, 1))
    >>> measured = KeptTold(rows * [[1.0], [0.5]], rows * [[0.8], [0.2]],
    ...                     parts_of(np.array([[True, True], [True, False]])), 0, 1.0, 1.0)
    >>> measured.kept.tolist(), measured.told.tolist()
    ([1.0, 0.5], [1.0, 0.25])
    >>> measured.value(caution=1.0).tolist()
    [0.0, 0.25]
    """

    target_gains: Gains
    secret_gains: Gains | None
    within: NDArray[np.bool_]
    everything: int
    unsure_target: float
    unsure_secret: float = 0.0
    people: PeopleLike = None
    shown: tuple[bool, bool] | None = None
    means: tuple[tuple[Mean, ...], tuple[Mean, ...]] | None = None
    tried: int = 0

    __repr__ = by_fields

    def with_readings(self, readings: Mapping[int, Gains]) -> Self:
        """A copy in which a set's told is that of the best attacker who read it.

        A clear gain of any reading counts, even where the sets alone had told nothing.

        >>> none = np.zeros((1, 9))
        >>> before = KeptTold(none, none, np.eye(1, dtype=bool), 0, 1.0, 1.0)
        >>> before.with_readings({0: np.ones(9)}).told.tolist()
        [1.0]
        """
        if self.secret_gains is None:
            return self
        rows, telling = np.array(self.secret_gains), list(self.telling)
        for which, gain in readings.items():
            read = mean(gain, self.people)
            if read.value > telling[which].value:
                rows[which], telling[which] = gain, read
        clear = _any_clear(telling, self.everything, self.tried)
        shown = self.shown and (self.shown[0], self.shown[1] or clear)
        return replace(self, secret_gains=rows, means=(self.useful, tuple(telling)), shown=shown)

    @cached_property
    def useful(self) -> tuple[Mean, ...]:
        """U of each set, in bits."""
        if self.means is not None:
            return self.means[0]
        return tuple(mean(row, self.people) for row in self.target_gains)

    @cached_property
    def telling(self) -> tuple[Mean, ...]:
        """A of each set, in bits."""
        if self.means is not None:
            return self.means[1]
        if self.secret_gains is None:
            return (Mean(0.0, 0.0),) * len(self.target_gains)
        return tuple(mean(row, self.people) for row in self.secret_gains)

    @cached_property
    def teaches(self) -> bool:
        """Whether any set clearly gains about the target."""
        return self.shown[0] if self.shown else _any_clear(self.useful, self.everything, self.tried)

    @cached_property
    def tells(self) -> bool:
        """Whether any set clearly gains about the secret, beyond what the target tells."""
        return (
            self.shown[1] if self.shown else _any_clear(self.telling, self.everything, self.tried)
        )

    @property
    def weak(self) -> bool:
        """Whether even all columns together explain little of the target."""
        return self.target_scale < WEAK * self.unsure_target

    @cached_property
    def target_scale(self) -> float:
        """The bits that make kept 1: the largest U of any set."""
        return max(TRIFLE, *(each.value for each in self.useful))

    @cached_property
    def secret_scale(self) -> float:
        """The bits that make told 1: the largest A of any set, bounded below by `LEAST_SCALE`."""
        return max(LEAST_SCALE * self.unsure_secret, *(each.value for each in self.telling))

    @cached_property
    def kept(self) -> Floats:
        """Kept of each set; 0 everywhere if nothing teaches the target."""
        if not self.teaches:
            return np.zeros(len(self.within))
        return self._closed_target[0] / self.target_scale

    @cached_property
    def told(self) -> Floats:
        """Told of each set; 0 everywhere if nothing tells the secret."""
        if not self.tells:
            return np.zeros(len(self.within))
        return self._closed_secret[0] / self.secret_scale

    def value(self, caution: float = 1.0) -> Floats:
        """Value of each set: kept less `caution` times told."""
        return np.asarray(self.kept - caution * self.told)

    def kept_error(self, one: int, other: int | None = None) -> float:
        """Standard error of a set's kept, or of its difference from another set's."""
        return self.value_error(one, other, 0.0)

    def value_error(self, one: int, other: int | None = None, caution: float = 1.0) -> float:
        """Standard error of a set's value, or of a paired difference of two on the same rows."""
        apart = self.kept_rows(one) - caution * self.told_rows(one)
        if other is not None:
            apart = apart - self.kept_rows(other) + caution * self.told_rows(other)
        return mean(apart, self.people).error

    def told_error(self, one: int, other: int | None = None) -> float:
        """Standard error of a set's told, or of its difference from another set's."""
        apart = self.told_rows(one) - (0.0 if other is None else self.told_rows(other))
        return mean(apart, self.people).error

    def kept_rows(self, which: int) -> Floats:
        """One value a row whose mean is the set's kept, by the subset that closure took it from."""
        source = int(self._closed_target[1][which])
        if source < 0 or not self.teaches:
            return np.zeros(self.target_gains.shape[1])
        return np.asarray(self.target_gains[source] / self.target_scale, dtype=np.float64)

    def told_rows(self, which: int) -> Floats:
        source = int(self._closed_secret[1][which])
        if source < 0 or not self.tells or self.secret_gains is None:
            return np.zeros(self.target_gains.shape[1])
        return np.asarray(self.secret_gains[source] / self.secret_scale, dtype=np.float64)

    @cached_property
    def _closed_target(self) -> tuple[Floats, NDArray[np.intp]]:
        return closed([each.value for each in self.useful], self.within)

    @cached_property
    def _closed_secret(self) -> tuple[Floats, NDArray[np.intp]]:
        return closed([each.value for each in self.telling], self.within)


def _any_clear(means: Sequence[Mean], everything: int, tried: int) -> bool:
    """Whether all columns clearly gain, or any set does after a Bonferroni correction.

    Single sets count because all columns may gain less than a few of them where most are noise. The
    best of many sets exceeds two standard errors by luck alone, so each is one test among all sets
    that were scored; the set of all columns was fixed in advance and needs no correction.
    """
    if means[everything].clear:
        return True
    bar = -float(ndtri(ndtr(-CLEAR) / max(tried, len(means))))
    return any(each.is_above(bar) for each in means)


def chosen(
    measured: KeptTold,
    sizes: Sequence[int],
    allowed: NDArray[np.bool_] | None = None,
    *,
    caution: float = 1.0,
    merges: Sequence[tuple[int, ...]] | None = None,
) -> int:
    """The number of the set to release: the largest kept less `caution` times told.

    Among sets whose value and kept are within a hundredth of the best one's, the fewest columns
    win, then the first by `merges` (see `merges_of`), then the highest value. Standard errors play
    no part: an uncertain set is as often better than it looks as worse, so preferring small sets
    within one error would discard measured value where it matters most, on few rows and weak
    targets.

    `sizes` are the numbers of columns of the sets that may be chosen; further sets in `measured`
    were scored for the scales only. `allowed` marks the sets that meet the anonymity asked for and
    all limits; `None`: all.
    """
    sets = _allowed(sizes, allowed)
    value, kept = measured.value(caution)[sets], measured.kept[sets]
    return int(sets[_best(value[:, None], kept[:, None], _order(sets, sizes, merges))[0]])


def redrawn(
    measured: KeptTold,
    sizes: Sequence[int],
    allowed: NDArray[np.bool_] | None = None,
    *,
    caution: float = 1.0,
    merges: Sequence[tuple[int, ...]] | None = None,
    draws: int = REDRAWS,
) -> Floats:
    """Share of bootstrap draws in which each set would be chosen.

    People of the evaluation rows are drawn again and their gains weighted. The models, the scales
    and the subset that closure took for each set stay as they are.

    >>> gains = np.tile([[2.0, 0.0], [0.0, 1.6]], 50)
    >>> measured = KeptTold(gains, None, np.eye(2, dtype=bool), 0, 1.0)
    >>> redrawn(measured, [2, 2]).round(1).tolist()
    [0.9, 0.1]
    """
    sets = _allowed(sizes, allowed)
    kept, told = (
        np.stack([rows(int(i)) for i in sets]) for rows in (measured.kept_rows, measured.told_rows)
    )
    who = People.named(measured.people, kept.shape[1])
    persons = np.unique(who.codes, return_inverse=True)[1]
    # A Poisson bootstrap: independent counts of mean 1 stand in for drawing n people of n, and
    # all sets see the same draws. The seed is fixed, so the answer depends on the gains alone.
    times = np.random.default_rng(0).poisson(1.0, (draws, int(persons.max()) + 1))
    weights = times[:, persons].T / np.maximum(times[:, persons].sum(axis=1), 1)
    kept_again, told_again = kept @ weights, told @ weights
    best = _best(kept_again - caution * told_again, kept_again, _order(sets, sizes, merges))
    shares = np.zeros(len(sizes))
    shares[sets] = np.bincount(best, minlength=len(sets)) / draws
    return shares


def _allowed(sizes: Sequence[int], allowed: NDArray[np.bool_] | None) -> NDArray[np.intp]:
    sets = np.arange(len(sizes)) if allowed is None else np.flatnonzero(allowed[: len(sizes)])
    if len(sets) == 0:
        raise CannotMeet("no set of columns keeps what was asked for")
    return sets


def _order(
    sets: NDArray[np.intp], sizes: Sequence[int], merges: Sequence[tuple[int, ...]] | None
) -> NDArray[np.intp]:
    """Rank of each set by its number of columns, then by what it merges; ties share a rank."""
    keys = [(sizes[i], () if merges is None else merges[i]) for i in sets]
    places = {key: place for place, key in enumerate(sorted(set(keys)))}
    return np.array([places[key] for key in keys])


def _best(value: Floats, kept: Floats, order: NDArray[np.intp]) -> NDArray[np.intp]:
    """The set chosen in each draw; all arrays are sets by draws."""
    top = value.argmax(axis=0), np.arange(value.shape[1])
    close = (value >= value[top] - CLOSE) & (kept >= kept[top] - CLOSE)
    place = np.where(close, order[:, None], len(order))  # a rank past all others: not in the tie
    first = place == place.min(axis=0)
    return np.asarray(np.where(first, value, -np.inf).argmax(axis=0))


def merges_of(groups: Sequence[int | None], dropped: int = 0) -> tuple[int, int, int]:
    """Sort key for tied sets: fewer generalised columns, then fewer groups, then more digits cut.

    So a merge that gains next to nothing is not made, and where one is made, a split within it that
    gains next to nothing is not kept. `groups` has the number of groups of each column, `None` for
    a column as it is or with only digits cut off; `dropped` is how many digits were cut in all,
    since numbers should be released with no more digits than teach.

    >>> merges_of([None, None, 5]) < merges_of([None, 3, 2]) < merges_of([None, 5, 3])
    True
    >>> merges_of([None, 5], dropped=2) < merges_of([None, 5])
    True
    """
    coarser = [count for count in groups if count is not None]
    return len(coarser), sum(coarser), -dropped


def as_good(measured: KeptTold, one: int, best: int, caution: float = 1.0) -> bool:
    """Whether the values of two sets differ by at most two paired standard errors.

    >>> gains = np.tile([[2.0, 0.0], [0.0, 1.9]], 50)
    >>> measured = KeptTold(gains, None, np.eye(2, dtype=bool), 0, 1.0)
    >>> as_good(measured, 1, 0)
    True
    """
    value = measured.value(caution)
    apart = abs(float(value[best] - value[one]))
    return apart <= CLEAR * measured.value_error(best, one, caution)
