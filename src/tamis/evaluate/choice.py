"""The choice by kept and told: worth most, and of what is worth as much the smallest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tamis.errors import CannotMeet
from tamis.evaluate.bits import KeptTold


def chosen(
    measured: KeptTold,
    sizes: Sequence[int],
    allowed: NDArray[np.bool_] | None = None,
    *,
    caution: float = 1.0,
) -> int:
    """Which set to release: the most kept less `caution` times told.

    Sets within one standard error of the best, in value and in what they keep, are as good; the
    errors are of differences on the same rows. Of those the one of the fewest columns is chosen,
    then the one of the largest value.

    Parameters
    ----------
    measured : KeptTold
    sizes : sequence of int
        The number of columns of each set that may be chosen; sets that `measured` has beyond
        them were scored for the scales only.
    allowed : array of bool, optional
        The sets that keep the anonymity asked for and all limits. `None`: all.
    caution : float, default 1
        What told weighs against kept.

    Returns
    -------
    int
        The number of the set.
    """
    sets = np.arange(len(sizes)) if allowed is None else np.flatnonzero(allowed[: len(sizes)])
    if len(sets) == 0:
        raise CannotMeet("no set of columns keeps what was asked for")
    value = measured.value(caution)
    best = int(sets[np.argmax(value[sets])])
    tied = [int(i) for i in sets if as_good(measured, int(i), best, caution)]
    return min(tied, key=lambda i: (sizes[i], -value[i], i))


def as_good(measured: KeptTold, one: int, best: int, caution: float = 1.0) -> bool:
    """Whether a set is within one paired standard error of the best, in value and in kept."""
    value, kept = measured.value(caution), measured.kept
    return bool(
        value[best] - value[one] <= measured.value_error(best, one, caution)
        and kept[best] - kept[one] <= measured.kept_error(best, one)
    )
