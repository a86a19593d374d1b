"""One yardstick in bits: what a release keeps of the target, what it tells of the secret.

For a row that nothing was learnt from, the *gain* is how much more probable its true label is to
someone who has the release than to someone who has not, as the log2 of the ratio. Its mean is a
proper score: nobody gains by claiming more, or less, than the data say. For the target the other
one knows the shares of the classes; for the secret they know the target of the row, since that is
in every release: what it tells cannot be held against columns.

    U(S)     mean gain about the target from the columns S
    A(S)     mean gain about the secret from the columns S and the target
    kept(S)  U(S) by the most that any set gives: nothing 0, everything about 1
    told(S)  A(S) by the most that any set gives

Who has S may ignore part of it, so kept and told are at least those of every scored part of S, and
at least 0 (*closure*); else a search would add columns of noise to push told down.
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
"""The least probability that counts: one row that was held impossible is not the whole mean."""
CLEAR = 2.0
"""How many standard errors a mean is from 0 to be taken for more than chance."""
LEAST_SCALE = 0.05
"""Told is a share of no less than this part of what is unknown of the secret."""
TRIFLE = 1e-9
"""The least bits that can be a scale: below them all sets are worse than guessing."""
CLOSE = 0.01
"""Sets whose value and kept differ by no more are alike: then the fewest columns are released."""
REDRAWS = 400
"""How often people are drawn again to see what else might have been chosen."""
NO_BITS = 1e-6
"""Means of no more bits are what rounding leaves of nothing, however alike they are in all rows."""
WEAK = 0.05
"""Columns that tell less than this part of what is unknown of the target hardly teach it."""


@dataclass(frozen=True)
class Mean:
    """A mean over rows and its standard error."""

    value: float
    error: float

    @property
    def clear(self) -> bool:
        """Whether it is above 0 by more than two standard errors."""
        return self.is_above(CLEAR)

    def is_above(self, errors: float) -> bool:
        """Whether it is above 0 by so many standard errors, and by more than a rounding.

        >>> Mean(0.3, 0.1).is_above(2.0), Mean(1e-9, 1e-10).is_above(2.0)
        (True, False)
        """
        return self.value > max(errors * self.error, NO_BITS)


def gains(probabilities: ArrayLike, baseline: ArrayLike, truth: ArrayLike) -> Floats:
    """For each row the bits by which its true label is more probable with a release than without.

    Both are arrays of rows by classes; `truth` is the class of each row.

    >>> gains([[0.5, 0.5], [0.5, 0.5]], [[0.25, 0.75], [0.5, 0.5]], [0, 1]).tolist()
    [1.0, 0.0]
    """
    return surprise(baseline, truth) - surprise(probabilities, truth)


def surprise(probabilities: ArrayLike, truth: ArrayLike) -> Floats:
    """For each row the bits that its true label was unexpected by; the mean is the cross-entropy.

    >>> surprise([[0.25, 0.75], [0.5, 0.5]], [0, 1]).tolist()
    [2.0, 1.0]
    """
    truth = np.asarray(truth)
    of_truth = np.asarray(probabilities, dtype=np.float64)[np.arange(len(truth)), truth]
    return np.asarray(-np.log2(np.clip(of_truth, FLOOR, 1.0)))


def mean(values: Gains, people: PeopleLike = None) -> Mean:
    """The mean of one value a row; its error counts the rows of one person as one draw.

    `people` is whose each row is; `None`: each row is a person.

    >>> mean(np.array([1.0, 3.0]))
    Mean(value=2.0, error=1.0)
    >>> mean(np.array([1.0, 1.0, 3.0, 3.0]), np.array([0, 0, 1, 1]))
    Mean(value=2.0, error=1.0)
    """
    middle = float(np.mean(values, dtype=np.float64))
    apart = np.asarray(values, dtype=np.float64) - middle
    who = People.named(people, len(apart))
    if not who.each_row:
        sums: Floats = np.bincount(who.codes, weights=apart).astype(np.float64)
        apart = sums[np.bincount(who.codes) > 0]
    draws = len(apart)
    if draws < 2:
        return Mean(middle, np.inf)
    spread = float(np.sqrt((apart**2).sum() * draws / (draws - 1)))
    return Mean(middle, spread / len(values))


def parts_of(sets: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which set lies within which: `[i, j]` says that all columns of j are columns of i.

    >>> parts_of(np.array([[True, True], [True, False], [False, True]])).astype(int).tolist()
    [[1, 1, 1], [0, 1, 0], [0, 0, 1]]
    """
    inside = np.asarray(sets, dtype=np.float32)
    outside_of_i = (1 - inside) @ inside.T
    return np.asarray(outside_of_i == 0)


def closed(values: ArrayLike, within: NDArray[np.bool_]) -> tuple[Floats, NDArray[np.intp]]:
    """The largest value of each set's parts, and which part has it; 0 and -1 where all are below 0.

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
        `None` where there is no secret besides the target: nothing is told then.
    within : array of bool, sets by sets
        `[i, j]`: who has i can make j of it, see `parts_of`.
    everything : int
        Which set is that of all columns.
    unsure_target, unsure_secret : float
        The mean bits that the target, and the secret where the target is known, are unexpected by
        without a release.
    people : array of int, optional
        Whose each row is, see `mean`.
    shown : pair of bool, optional
        Whether anything teaches the target and tells the secret, where other rows have shown it.
        `None`: what these rows show.
    tried : int
        How many sets were scored to find these; the best of many is above 0 by luck.
    means : pair of tuples of Mean, optional
        U and A of each set, where they are known already.

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
        """The same where others have read some sets, too: told is by whoever gains most.

        What is read clearly is told, even where the sets alone had shown nothing.

        >>> none = np.zeros((1, 9))
        >>> before = KeptTold(none, none, np.eye(1, dtype=bool), 0, 1.0, 1.0)
        >>> before.with_readings({0: np.ones(9)}).told.tolist()
        [1.0]
        """
        if self.secret_gains is None:
            return self
        rows, found = np.array(self.secret_gains), list(self.telling)
        for which, gain in readings.items():
            read = mean(gain, self.people)
            if read.value > found[which].value:
                rows[which], found[which] = gain, read
        clear = _any_clear(found, self.everything, self.tried)
        shown = self.shown and (self.shown[0], self.shown[1] or clear)
        return replace(self, secret_gains=rows, means=(self.useful, tuple(found)), shown=shown)

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
        """Whether anything here teaches the target."""
        return self.shown[0] if self.shown else _any_clear(self.useful, self.everything, self.tried)

    @cached_property
    def tells(self) -> bool:
        """Whether anything here tells the secret more than the target does."""
        return (
            self.shown[1] if self.shown else _any_clear(self.telling, self.everything, self.tried)
        )

    @property
    def weak(self) -> bool:
        """Whether all columns together teach little of what is unknown of the target."""
        return self.target_scale < WEAK * self.unsure_target

    @cached_property
    def target_scale(self) -> float:
        """The bits that are 1 in `kept`: the most that any set gives."""
        return max(TRIFLE, *(each.value for each in self.useful))

    @cached_property
    def secret_scale(self) -> float:
        """The bits that are 1 in `told`: the most that any set gives, but no trifle."""
        return max(LEAST_SCALE * self.unsure_secret, *(each.value for each in self.telling))

    @cached_property
    def kept(self) -> Floats:
        """What each set keeps of the target."""
        if not self.teaches:
            return np.zeros(len(self.within))
        return self._closed_target[0] / self.target_scale

    @cached_property
    def told(self) -> Floats:
        """What each set tells of the secret; 0 everywhere if nothing here tells it."""
        if not self.tells:
            return np.zeros(len(self.within))
        return self._closed_secret[0] / self.secret_scale

    def value(self, caution: float = 1.0) -> Floats:
        """What each set is worth: kept less `caution` times told."""
        return np.asarray(self.kept - caution * self.told)

    def kept_error(self, one: int, other: int | None = None) -> float:
        """The standard error of what a set keeps, or of how much more it keeps than another."""
        return self.value_error(one, other, 0.0)

    def value_error(self, one: int, other: int | None = None, caution: float = 1.0) -> float:
        """The standard error of a value, or of a difference of two: paired, on the same rows."""
        apart = self.kept_rows(one) - caution * self.told_rows(one)
        if other is not None:
            apart = apart - self.kept_rows(other) + caution * self.told_rows(other)
        return mean(apart, self.people).error

    def told_error(self, one: int, other: int | None = None) -> float:
        """The standard error of what a set tells, or of how much more it tells than another."""
        apart = self.told_rows(one) - (0.0 if other is None else self.told_rows(other))
        return mean(apart, self.people).error

    def kept_rows(self, which: int) -> Floats:
        """One value a row whose mean is what the set keeps."""
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
    """Whether all columns together clearly gain, or any set beyond what the luckiest of all would.

    All columns may gain less than a few of them where most are noise; the best of many sets is
    above two errors by luck alone, so it must pass as one test among as many sets as were scored.
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
    """Which set to release: the number of the one that has the most kept less `caution` times told.

    Of sets whose value and kept are within a hundredth of the best one's, the one of the fewest
    columns is chosen, then the one that comes first by `merges` (see `merges_of`), then the most
    valuable. Errors play no part: what is uncertain is as often better than it looks as worse, so
    that to prefer small sets within an error would throw away what was measured where it matters
    most, on few rows and weak targets.

    `sizes` are the columns of each set that may be chosen; sets that `measured` has beyond them
    were scored for the scales only. `allowed` are those that keep the anonymity asked for and all
    limits; `None`: all.
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
    """How often each set would be chosen if other people had been drawn: as a share of `draws`.

    A bootstrap of the people asked about: their gains count as often as each is drawn. What was
    learnt, the scales and the part of each set that is best stay as they are.

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
    times = np.random.default_rng(0).poisson(1.0, (draws, int(persons.max()) + 1))
    weights = times[:, persons].T / np.maximum(times[:, persons].sum(axis=1), 1)
    kept_again, told_again = kept @ weights, told @ weights
    best = _best(kept_again - caution * told_again, kept_again, _order(sets, sizes, merges))
    found = np.zeros(len(sizes))
    found[sets] = np.bincount(best, minlength=len(sets)) / draws
    return found


def _allowed(sizes: Sequence[int], allowed: NDArray[np.bool_] | None) -> NDArray[np.intp]:
    sets = np.arange(len(sizes)) if allowed is None else np.flatnonzero(allowed[: len(sizes)])
    if len(sets) == 0:
        raise CannotMeet("no set of columns keeps what was asked for")
    return sets


def _order(
    sets: NDArray[np.intp], sizes: Sequence[int], merges: Sequence[tuple[int, ...]] | None
) -> NDArray[np.intp]:
    """The place of each set by its columns, then by what it merges; equal ones share it."""
    keys = [(sizes[i], () if merges is None else merges[i]) for i in sets]
    places = {key: place for place, key in enumerate(sorted(set(keys)))}
    return np.array([places[key] for key in keys])


def _best(value: Floats, kept: Floats, order: NDArray[np.intp]) -> NDArray[np.intp]:
    """The set that each draw chooses, of arrays of sets by draws."""
    top = value.argmax(axis=0), np.arange(value.shape[1])
    close = (value >= value[top] - CLOSE) & (kept >= kept[top] - CLOSE)
    place = np.where(close, order[:, None], len(order))
    first = place == place.min(axis=0)
    return np.asarray(np.where(first, value, -np.inf).argmax(axis=0))


def merges_of(groups: Sequence[int | None], dropped: int = 0) -> tuple[int, int, int]:
    """What to prefer of sets that are as good: fewer columns in a coarser form, then fewer groups.

    A merge that gains next to nothing is not made, and where one is made, a split within it that
    gains next to nothing is not kept. `groups` are those of each column, `None` for a column as it
    is, or of which only digits were `dropped`, in all so many: numbers leave with no more digits
    than teach.

    >>> merges_of([None, None, 5]) < merges_of([None, 3, 2]) < merges_of([None, 5, 3])
    True
    >>> merges_of([None, 5], dropped=2) < merges_of([None, 5])
    True
    """
    coarser = [count for count in groups if count is not None]
    return len(coarser), sum(coarser), -dropped


def as_good(measured: KeptTold, one: int, best: int, caution: float = 1.0) -> bool:
    """Whether no error of these rows tells two sets apart: by two paired standard errors of value.

    >>> gains = np.tile([[2.0, 0.0], [0.0, 1.9]], 50)
    >>> measured = KeptTold(gains, None, np.eye(2, dtype=bool), 0, 1.0)
    >>> as_good(measured, 1, 0)
    True
    """
    value = measured.value(caution)
    apart = abs(float(value[best] - value[one]))
    return apart <= CLEAR * measured.value_error(best, one, caution)
