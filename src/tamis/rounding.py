"""When a figure keeps its bound: one rule, whoever counts.

A figure is a sum of fractions, so what is 0.3 on paper comes out as 0.3 or as 0.30000000000000004,
depending on the order of the sum. Two commands, or a release and its verification, must not differ
for that. So a figure may be beyond its bound by `ROUNDING`, and whatever must stay *below* a bound
must stay below it by as much: what equals the bound on paper is refused however it comes out.
"""

from __future__ import annotations

from typing import Any

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
    return _not(figure <= most + ROUNDING)  # so that NaN exceeds everything


def falls_short(figure: Any, least: float) -> Any:
    """Whether a figure, or each of some, is below the least that is asked for.

    >>> falls_short(2.9999999999999996, 3), falls_short(2.99, 3)
    (np.False_, np.True_)
    """
    return _not(figure >= least - ROUNDING)


def reaches(figure: Any, bound: float) -> Any:
    """Whether a figure, or each of some, reaches a bound that it must stay below.

    >>> reaches(2.9999999999999996, 3), reaches(2.99, 3)
    (np.True_, np.False_)
    """
    return _not(figure < bound - ROUNDING)


def _not(kept: Any) -> Any:
    # Imported here: what may be asked for is also listed by --help, which has no time for NumPy.
    import numpy as np

    return np.logical_not(kept)
