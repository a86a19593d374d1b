"""What gives people away, in words: for the terminal and the holder's report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tamis.publish.exposure_words import count_words
from tamis.publish.figures import percent

if TYPE_CHECKING:
    from tamis.publish.summary import Unit
    from tamis.risk.population import PopulationRisk
    from tamis.risk.suda import SpecialUniques

NAMES = {"pitman": "Pitman", "zayatz": "Zayatz", "snb": "Chen and McNulty"}
SHOWN = 3
"""The sets of columns that are named."""


def giveaway_words(found: SpecialUniques, unit: Unit) -> list[str]:
    """By how few columns people are singled out, by which, and what to make coarser first."""
    needed = [
        f"{size} for {count_words(count, unit)}"
        for size, count in enumerate(found.by_size, start=1)
        if count
    ]
    sets = [
        f"{' + '.join(each.columns)} ({count_words(each.people, unit)})"
        for each in found.sets[:SHOWN]
    ]
    return [
        f"Columns that single somebody out: {', '.join(needed)}.",
        f"Most often by: {'; '.join(sets)}.",
        f"Make coarser or hold back first: {', '.join(found.worst_columns)}.",
    ]


def population_words(found: PopulationRisk) -> list[str]:
    """What the figures of the population are based on."""
    size = f"{found.size:,.0f} people"
    if found.source == "register":
        return [f"Counted in the register of {size}."]
    if found.estimates is None:
        return [f"The weights stand for {size}; risks after Benedetti and Franconi."]
    each = {name: getattr(found.estimates, name) for name in NAMES}
    shares = [f"{NAMES[name]} {'none' if s is None else percent(s)}" for name, s in each.items()]
    trusted = NAMES[found.estimates.trusted]
    return [f"Of {size}, unique are: {', '.join(shares)}; Dankar's rule trusts {trusted}."]
