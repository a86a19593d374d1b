"""The ladder of a column in a coarser form, as reports show it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

import polars as pl

from tamis.coarsen.ladder import Ladder
from tamis.evaluate.neighbour_rungs import NeighbourRung
from tamis.flow import Outcome
from tamis.publish.bits_facts import LabelFacts, LadderFacts, RungFacts
from tamis.table import bare

SHOWN_LABELS = 40
"""More labels than this are counted, not listed."""


def ladder_facts(outcome: Outcome, name: str, said: Mapping[str, Any]) -> LadderFacts:
    """The ladder of one column; `said` is what the manifest states of it."""
    release = outcome.decision.chosen.release
    form = release.forms[name]
    ladder = Ladder.from_dict(name, form.ladder)
    labels = list(_labels(ladder, form.level, release.table.frame[name], said))
    told = outcome.decision.scorecard.compared.choosing.secret_gains is not None
    return {
        "level": form.level,
        "levels": ladder.top,
        "words": ladder.words(form.level),
        "labels": labels[:SHOWN_LABELS],
        "more": max(0, len(labels) - SHOWN_LABELS),
        "rungs": [_rung(each, form.level, told) for each in outcome.neighbour_rungs.get(name, ())],
    }


def _rung(found: NeighbourRung, level: int, told: bool) -> RungFacts:
    return {
        "finer": found.level < level,
        "words": found.words.partition(",")[0],  # the rung taken says the rest
        "kept": found.kept,
        "told": found.told if told else None,
        "allowed": found.allowed,
    }


def _labels(
    ladder: Ladder, level: int, cells: pl.Series, said: Mapping[str, Any]
) -> Iterator[LabelFacts]:
    """The released labels, intervals and dates in their order."""
    found = bare(cells).drop_nulls().unique().sort()
    ends = ladder.bounds(found, level).rows()
    order = sorted(range(found.len()), key=lambda i: _place(ends[i][0], ends[i][1]))
    groups = said.get("groups", {})
    for i in order:
        yield {"label": found[i], "values": list(groups.get(found[i], ()))}


def _place(lower: Any, upper: Any) -> float:
    """Where an interval lies: open ones first or last; what is none stays where it is."""
    if lower is None and upper is None:
        return 0.0
    if lower is None:
        return float("-inf")
    return float(lower.toordinal()) if isinstance(lower, date) else float(lower)
