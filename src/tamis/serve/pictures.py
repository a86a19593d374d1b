"""The audit as pictures: figures as lengths and counts, which the templates draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

BINS = ((1, 1), (2, 4), (5, 9), (10, 19), (20, None))
MOST_BARS = 8


class Bar(NamedTuple):
    """A line of a bar chart; `share` is its length, from 0 to 1."""

    label: str
    share: float
    figure: str
    care: bool = False


def dots(share: float) -> int:
    """How many of a hundred dots to fill: at least one, and not all, unless that is exact.

    >>> dots(0.001), dots(0.999), dots(0.0), dots(0.5)
    (1, 99, 0, 50)
    """
    return round(100 * share) if share in (0, 1) else min(99, max(1, round(100 * share)))


def group_bars(sizes: Sequence[Mapping[str, int]], everybody: int) -> list[Bar]:
    """How many people are alone, in small groups, in large ones.

    >>> [(b.label, b.figure) for b in group_bars([{"size": 1, "people": 3}], 4)][:2]
    [('alone', '3'), ('2 to 4 alike', '0')]
    """
    found = []
    for low, high in BINS:
        people = sum(s["people"] for s in sizes if low <= s["size"] <= (high or s["size"]))
        label = f"{low} or more alike" if high is None else f"{low} to {high} alike"
        label = "alone" if high == 1 else label
        found.append(Bar(label, people / everybody, f"{people:,}", care=low < 5))
    return found


def column_bars(effects: Sequence[Mapping[str, Any]], everybody: int) -> list[Bar]:
    """How many people are no longer alone when one column is held back, the most first."""
    return [
        Bar(e["column"], e["fewer_unique"] / everybody, f"{e['fewer_unique']:,}")
        for e in effects[:MOST_BARS]
        if e["fewer_unique"]
    ]


def attacker_bars(attacker: Mapping[str, Any] | None) -> list[Bar]:
    """How often the secret is guessed: with nothing, and from the columns."""
    if not attacker or "accuracy" not in attacker:
        return []
    return [
        Bar("by guessing the most frequent", attacker["majority"], _percent(attacker["majority"])),
        Bar("from all columns", attacker["accuracy"], _percent(attacker["accuracy"]), care=True),
    ]


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%"
