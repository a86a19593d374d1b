"""Noise from OpenDP: exact integer arithmetic, drawn from the system's secure source.

Such noise cannot be seeded: whoever knew the seed could subtract the noise. What is done with
noisy numbers afterwards is drawn from seeds as everywhere else, for it costs no privacy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.errors import MissingExtra

Ints = NDArray[np.int64]

BATCH = 1 << 16
"""Counts are handed over so many at a time, to keep the lists of Python numbers short."""


def laplace(counts: Ints, sensitivity: int, epsilon: float) -> Ints:
    """Whole numbers plus discrete Laplace noise of scale sensitivity / epsilon.

    Parameters
    ----------
    counts : array of int
    sensitivity : int
        By how much all the numbers together change at most between neighbours.
    epsilon : float
        What the result costs.

    Notes
    -----
    P(noise = z) is proportional to exp(-|z| epsilon / sensitivity): the geometric mechanism
    of Ghosh, Roughgarden and Sundararajan (2012).
    """
    dp = opendp()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    noisy = dp.m.make_laplace(*space, scale=sensitivity / epsilon)
    flat = np.asarray(counts, np.int64).ravel()
    parts = [noisy(flat[i : i + BATCH].tolist()) for i in range(0, len(flat), BATCH)]
    drawn = np.array([n for part in parts for n in part], np.int64)
    return drawn.reshape(np.shape(counts))


def exponential(scores: Ints, sensitivity: int, epsilon: float, picks: int) -> list[int]:
    """Places drawn one after the other without replacement, good scores far more often.

    Each draw takes place i with a probability proportional to
    exp(epsilon score_i / (2 sensitivity picks)).

    Parameters
    ----------
    scores : array of int
    sensitivity : int
        By how much any one score changes at most between neighbours.
    epsilon : float
        What all draws together cost.
    picks : int

    Notes
    -----
    The exponential mechanism of McSherry and Talwar (2007), repeated. The `picks` largest
    scores after Gumbel noise of this scale are distributed exactly so. OpenDP offers Gumbel
    noise under its measure of concentrated privacy; the noise is the same whatever the measure.
    """
    dp = opendp()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
    scale = 2 * sensitivity * picks / epsilon
    measure = dp.zero_concentrated_divergence()
    best = dp.m.make_noisy_top_k(*space, measure, k=picks, scale=scale)
    return [int(i) for i in best(np.asarray(scores, np.int64).tolist())]


def opendp() -> Any:
    """OpenDP where it is installed; otherwise an error that names the extra."""
    try:
        import opendp.prelude as dp
    except ImportError:
        raise MissingExtra(
            "differential privacy needs OpenDP's noise, which is not installed; "
            "pip install 'tamis[dp]'"
        ) from None
    dp.enable_features("contrib")
    return dp
