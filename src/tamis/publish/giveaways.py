"""What gives people of the original away: the columns and sets of columns that single them out.

Nobody else can count this, so it is never published, and no figure is from 1 to k - 1.
"""

from __future__ import annotations

from collections.abc import Sequence

from tamis.flow import Outcome
from tamis.publish.attack_facts import GiveawayBin, GiveawayFacts, GiveawaySet
from tamis.risk.suda import MOST_COLUMNS, affordable, special_uniques

WORK = 10_000_000
"""Rows looked at in all sets together: less than a second."""
SETS = 8
"""The sets of columns to show."""


def giveaway_facts(outcome: Outcome) -> GiveawayFacts | None:
    """What singles people of the original out; `None` where hardly anybody is, or rows are drawn.

    Of more columns than sets can be made of, nothing is said.
    """
    table, k = outcome.table, outcome.settings.k
    quasi = [c for c in table.quasi if c != table.sensitive]
    if outcome.decision.chosen.release.is_drawn or not 0 < len(quasi) <= MOST_COLUMNS:
        return None
    found = special_uniques(table, quasi, most=affordable(len(quasi), table.rows, WORK))
    if found.exposed < k:
        return None
    sets: list[GiveawaySet] = [
        {"columns": list(each.columns), "people": each.people}
        for each in found.sets
        if each.people >= k
    ]
    return {
        "exposed": found.exposed,
        "most": found.most,
        "by_size": size_bins(found.by_size, k),
        "columns": [{"name": c, "share": share} for c, share in found.column_shares.items()],
        "sets": sets[:SETS],
        "worst": list(found.worst_columns),
    }


def size_bins(by_size: Sequence[int], k: int) -> list[GiveawayBin]:
    """Neighbouring sizes together, until each bin holds nobody or at least k people.

    >>> [(b["low"], b["high"], b["people"]) for b in size_bins([2, 30, 9, 1], k=5)]
    [(1, 2, 32), (3, 4, 10)]
    """
    bins: list[GiveawayBin] = []
    low, people = 1, 0
    for size, count in enumerate(by_size, start=1):
        people += count
        if people == 0 or people >= k:
            bins.append({"low": low, "high": size, "people": people})
            low, people = size + 1, 0
    if people:  # too few on their own: with the last bin that holds anybody
        while bins and not bins[-1]["people"]:
            bins.pop()
        last = bins.pop() if bins else {"low": 1, "high": 1, "people": 0}
        bins.append({"low": last["low"], "high": len(by_size), "people": last["people"] + people})
    return bins
