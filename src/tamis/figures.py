"""Compare figures with bounds under one rule of rounding, and format them for pages and terminals.

A figure is a sum of fractions, so what is 0.3 on paper comes out as 0.3 or 0.30000000000000004,
depending on the order of summation. Two commands, or a release and its verification, must not
disagree because of that. So a figure may exceed its bound by `ROUNDING`, and a figure that must
stay *below* a bound must do so by `ROUNDING`: one that equals the bound on paper is refused however
it comes out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from tamis.errors import plural

MINUS = "\N{MINUS SIGN}"
NONE = "\N{EM DASH}"
ONE = {"people": "person", "rows": "row"}
"""Singular of each unit."""


def percent(value: float, digits: int = 1) -> str:
    """A share as a percentage; a positive share is never written as zero.

    >>> percent(0.74486), percent(0.00001), percent(0.0), percent(0.74486, 2)
    ('74.5%', '<0.1%', '0.0%', '74.49%')
    """
    least = 10.0 ** -(digits + 2)
    if 0 < value < least:
        return f"<{100 * least:.{digits}f}%"
    return f"{100 * value:.{digits}f}%".replace("-", MINUS)


def change(value: float, digits: int = 1) -> str:
    """A change as a percentage with its sign.

    >>> change(0.00882), change(0.0), change(0.0314, 2)
    ('+0.9%', '0.0%', '+3.14%')
    """
    nothing = f"{0:.{digits}f}%"
    text = f"{100 * value:+.{digits}f}%"
    return nothing if text[1:] == nothing else text.replace("-", MINUS)


def count(value: float) -> str:
    """A whole number with thousands separators.

    >>> count(45222)
    '45,222'
    """
    return f"{round(value):,}".replace("-", MINUS)


def count_words(amount: int, unit: str) -> str:
    """A count with its unit.

    >>> count_words(1, "people"), count_words(2, "rows")
    ('1 person', '2 rows')
    """
    return plural(amount, ONE[unit], unit)


def number(value: float) -> str:
    """Any other number, to three significant digits.

    >>> number(2.3456)
    '2.35'
    """
    return f"{value:.3g}".replace("-", MINUS)


def in_100(value: float) -> str:
    """A share in words.

    >>> in_100(0.74486)
    '74 in 100'
    """
    return f"{round(100 * value)} in 100"


def bits(value: float) -> str:
    """A gain in bits.

    >>> bits(0.1234), bits(0.0001)
    ('0.12 bits', '0.00 bits')
    """
    return f"{value:.2f} bits".replace("-", MINUS)


def times(gain: float) -> str:
    """The factor by which so many bits raise a probability, in words.

    >>> times(1.0), times(3.7), times(-1.0)
    ('2.0 times', '13 times', '0.5 times')
    """
    return f"{number_of_times(gain)} times"


def number_of_times(gain: float) -> str:
    """The factor by which so many bits raise a probability.

    >>> number_of_times(1.0)
    '2.0'
    """
    factor = 2.0**gain
    return f"{factor:.1f}" if factor < 10 else count(factor)


SHOWN: dict[str, Callable[[float], str]] = {
    "share": percent,
    "change": change,
    "count": count,
    "number": number,
}
"""Formats by the `shown_as` of a factor or a measure."""


def shown(value: float | None, shown_as: str = "share") -> str:
    """A figure in its format; a dash for `None`.

    >>> shown(3, "count"), shown(None)
    ('3', '—')
    """
    return NONE if value is None else SHOWN[shown_as](value)


class HasEnds(Protocol):
    """Both ends of an interval."""

    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...


def interval(ends: HasEnds | None, shown_as: str = "share") -> str:
    """Both ends of an interval in words; empty for `None`.

    >>> from tamis.evaluate.figure import Interval
    >>> interval(Interval(0.72, 0.77))
    '72.0% to 77.0%'
    """
    if ends is None:
        return ""
    return f"{shown(ends.low, shown_as)} to {shown(ends.high, shown_as)}"


def sizes(low: int, high: int | None) -> str:
    """A range of class sizes in words.

    >>> sizes(1, 1), sizes(2, 4), sizes(80, None)
    ('alone', '2 to 4', '80 or more')
    """
    if high is None:
        return f"{count(low)} or more"
    if low == high:
        return "alone" if low == 1 else count(low)
    return f"{count(low)} to {count(high)}"


ROUNDING = 1e-9
"""Above the rounding error of any sum of shares, and at most the share of one person in a billion.

Kernels have it compiled in, and Numba does not notice when it changes: delete their cache then, as
CONTRIBUTING.md says.
"""


def exceeds(figure: Any, most: float) -> Any:
    """Whether a figure, or each of an array, exceeds the largest value allowed.

    >>> exceeds(0.1 + 0.2, 0.3), exceeds(0.31, 0.3)
    (np.False_, np.True_)
    """
    return _not(figure <= most + ROUNDING)  # so that NaN exceeds everything


def falls_short(figure: Any, least: float) -> Any:
    """Whether a figure, or each of an array, is below the smallest value allowed.

    >>> falls_short(2.9999999999999996, 3), falls_short(2.99, 3)
    (np.False_, np.True_)
    """
    return _not(figure >= least - ROUNDING)


def reaches(figure: Any, bound: float) -> Any:
    """Whether a figure, or each of an array, reaches a bound that it must stay below.

    >>> reaches(2.9999999999999996, 3), reaches(2.99, 3)
    (np.True_, np.False_)
    """
    return _not(figure < bound - ROUNDING)


def _not(kept: Any) -> Any:
    # Imported here: --help imports this module, and NumPy would make it slow.
    import numpy as np

    return np.logical_not(kept)
