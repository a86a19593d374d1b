"""How pages and the terminal write numbers: percentages, changes, counts, ranges."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import floor, log10
from typing import Any

from tamis.errors import plural

MINUS = "\N{MINUS SIGN}"
NONE = "\N{EM DASH}"
ONE = {"people": "person", "rows": "row"}
"""What one of them is called."""


def percent(value: float, digits: int = 1) -> str:
    """A share as a percentage; what is not nothing is not written as nothing.

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
    """A whole number, thousands set apart.

    >>> count(45222)
    '45,222'
    """
    return f"{round(value):,}".replace("-", MINUS)


def count_words(amount: int, unit: str) -> str:
    """A count with its word.

    >>> count_words(1, "people"), count_words(2, "rows")
    ('1 person', '2 rows')
    """
    return plural(amount, ONE[unit], unit)


def number(value: float) -> str:
    """Any other number.

    >>> number(2.3456)
    '2.35'
    """
    return f"{value:.3g}".replace("-", MINUS)


def in_100(value: float) -> str:
    """A share as people say it.

    >>> in_100(0.74486)
    '74 in 100'
    """
    return f"{round(100 * value)} in 100"


def in_hundredths(facts: Any) -> Any:
    """Figures, however nested, no finer than people read them.

    An exact share gives away of how many rows it is, and so how many were left out.

    >>> in_hundredths({"value": 0.7656, "interval": {"low": 0.6999, "high": None}, "rows": 12})
    {'value': 0.77, 'interval': {'low': 0.7, 'high': None}, 'rows': 12}
    """
    if isinstance(facts, dict):
        return {key: in_hundredths(part) for key, part in facts.items()}
    if isinstance(facts, list | tuple):
        return [in_hundredths(part) for part in facts]
    return round(facts, 2) if isinstance(facts, float) else facts


def as_supported(facts: Any) -> Any:
    """Figures for others, however nested, no finer than their intervals support.

    More digits say nothing of how good a release is, but by them whoever guesses how it was
    measured could confirm the guess. A figure and both ends of its interval are rounded alike, to
    between a half and a twentieth of half its width; one without an interval to hundredths.

    >>> as_supported({"value": 0.70667, "interval": {"low": 0.62938, "high": 0.77364}, "rows": 12})
    {'value': 0.71, 'interval': {'low': 0.63, 'high': 0.77}, 'rows': 12}
    >>> as_supported([{"value": 0.70667, "low": 0.70123, "high": 0.71234}, 0.64123])
    [{'value': 0.707, 'low': 0.701, 'high': 0.712}, 0.64]
    """
    if isinstance(facts, list | tuple):
        return [as_supported(part) for part in facts]
    if not isinstance(facts, dict):
        return round(facts, 2) if isinstance(facts, float) else facts
    found = {key: as_supported(part) for key, part in facts.items()}
    for key in facts:
        ends = facts if key == "value" and "low" in facts else facts.get(_ENDS.get(key, ""))
        if key in _ENDS and isinstance(ends, dict) and (digits := _digits(ends)) is not None:
            found[key] = round(facts[key], digits)
            rounded = {end: round(ends[end], digits) for end in ("low", "high")}
            found |= rounded if ends is facts else {_ENDS[key]: rounded}
    return found


_ENDS = {"value": "interval"} | {
    name: f"{name}_interval" for name in ("performance", "pbi", "kept", "told")
}
"""Under which key the interval of a figure is; beside a value may be both of its ends."""


def _digits(ends: dict[str, Any]) -> int | None:
    """The decimals that an interval supports; `None` where it has no width."""
    low, high = ends["low"], ends["high"]
    if low is None or high is None or not high > low:
        return None
    return max(0, -floor(log10((high - low) / 4)))


def bits(value: float) -> str:
    """A gain in bits.

    >>> bits(0.1234), bits(0.0001)
    ('0.12 bits', '0.00 bits')
    """
    return f"{value:.2f} bits".replace("-", MINUS)


def times(gain: float) -> str:
    """How many times as likely something is that gained so many bits.

    >>> times(1.0), times(3.7), times(-1.0)
    ('2.0 times', '13 times', '0.5 times')
    """
    return f"{number_of_times(gain)} times"


def number_of_times(gain: float) -> str:
    """The same without the word.

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
"""By the `shown_as` of a factor or a measure."""


def shown(value: float | None, shown_as: str = "share") -> str:
    """A figure in its own form; a dash where there is none.

    >>> shown(3, "count"), shown(None)
    ('3', '—')
    """
    return NONE if value is None else SHOWN[shown_as](value)


def interval(ends: Mapping[str, Any] | None, shown_as: str = "share") -> str:
    """Both ends of an interval; empty where there is none.

    >>> interval({"low": 0.72, "high": 0.77})
    '72.0% to 77.0%'
    """
    if ends is None:
        return ""
    return f"{shown(ends['low'], shown_as)} to {shown(ends['high'], shown_as)}"


def sizes(low: int, high: int | None) -> str:
    """The members of a class, from the least to the most.

    >>> sizes(1, 1), sizes(2, 4), sizes(80, None)
    ('alone', '2 to 4', '80 or more')
    """
    if high is None:
        return f"{count(low)} or more"
    if low == high:
        return "alone" if low == 1 else count(low)
    return f"{count(low)} to {count(high)}"
