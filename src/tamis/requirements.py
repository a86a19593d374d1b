"""What may be asked of people alike, and when a figure keeps it: one rule, whoever counts.

A figure is a sum of fractions, so what is 0.3 on paper comes out as 0.3 or as 0.30000000000000004,
depending on the order of the sum. Two commands, or a release and its verification, must not differ
for that. So a figure may be beyond its bound by `ROUNDING`, and whatever must stay *below* a bound
must stay below it by as much: what equals the bound on paper is refused however it comes out.
"""

from __future__ import annotations

from math import ceil, inf
from typing import Any, Literal, get_args

import numpy as np

from tamis.errors import InputError, check_whole

Kind = Literal["distinct", "entropy", "recursive"]
BetaKind = Literal["basic", "enhanced"]
ROUNDING = 1e-9
"""More than any sum of shares is off by, and less than one person of a billion is worth.

Kernels compare with it by themselves. Numba does not notice that it changed: delete their cache
then, as CONTRIBUTING.md says.
"""


def exceeds(figure: Any, most: float) -> Any:
    """Whether a figure, or each of some, is above the most that is allowed.

    >>> exceeds(0.1 + 0.2, 0.3), exceeds(0.31, 0.3)
    (np.False_, np.True_)
    """
    return np.logical_not(figure <= most + ROUNDING)  # so that NaN exceeds everything


def falls_short(figure: Any, least: float) -> Any:
    """Whether a figure, or each of some, is below the least that is asked for.

    >>> falls_short(2.9999999999999996, 3), falls_short(2.99, 3)
    (np.False_, np.True_)
    """
    return np.logical_not(figure >= least - ROUNDING)


def reaches(figure: Any, bound: float) -> Any:
    """Whether a figure, or each of some, reaches a bound that it must stay below.

    >>> reaches(2.9999999999999996, 3), reaches(2.99, 3)
    (np.True_, np.False_)
    """
    return np.logical_not(figure < bound - ROUNDING)


def fewest_people(max_risk: float) -> int:
    """The people that a group must have for a chance of 1 by their number.

    >>> fewest_people(0.2), fewest_people(0.09)
    (5, 12)
    """
    if not 0 < max_risk <= 1:
        raise InputError(f"max_risk must be a share above 0 and up to 1, got {max_risk:g}")
    return ceil(1 / max_risk - ROUNDING)


def check_diversity(l: int | None, kind: str, c: float, t: float | None) -> None:  # noqa: E741
    """Refuse an l, its kind and c, or a t that cannot be asked for.

    >>> check_diversity(1, "distinct", 3.0, None)
    Traceback (most recent call last):
    tamis.errors.InputError: l must be 2 or more, since every group has one value; got 1
    """
    if l is not None:
        check_whole("l", l)
        if l < 2:
            raise InputError(f"l must be 2 or more, since every group has one value; got {l}")
    if kind not in get_args(Kind):
        raise InputError(f"the kind of l must be distinct, entropy or recursive, got {kind!r}")
    if not 0 < c < inf:
        raise InputError(f"c must be a number above 0, got {c:g}")
    if t is not None and not 0 <= t <= 1:
        raise InputError(f"t must be between 0 and 1, got {t:g}")


def check_likeness(
    alpha: float | None,
    beta: float | None,
    beta_kind: str,
    delta_disclosure: float | None,
    max_average_risk: float | None,
) -> None:
    """Refuse an alpha, beta, delta or average risk that cannot be asked for."""
    for name, share in (("alpha", alpha), ("max_average_risk", max_average_risk)):
        if share is not None and not 0 < share <= 1:
            raise InputError(f"{name} must be a share above 0 and up to 1, got {share:g}")
    for name, bound in (("beta", beta), ("delta_disclosure", delta_disclosure)):
        if bound is not None and not 0 < bound < inf:
            raise InputError(f"{name} must be a number above 0, got {bound:g}")
    if beta_kind not in get_args(BetaKind):
        raise InputError(f"beta_kind must be basic or enhanced, got {beta_kind!r}")
