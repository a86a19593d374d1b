"""Everything that trains a model on the chosen release, after the choice and before any page.

Learners slower than those of the scorecard look at it closely, each column is weighed beside it,
each coarser form a rung up and down, and a few attackers are tried on it and on its neighbours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tamis.attack.run import FINALISTS, OF_FINALISTS, QuickAttack, quick_attack
from tamis.evaluate.close_look import CloseLook
from tamis.evaluate.column_bits import (
    ColumnBits,
    NeighbourRung,
    Wave,
    column_bits,
    neighbour_rungs,
    waves,
)
from tamis.flow import Outcome


@dataclass(frozen=True, eq=False)
class Examination:
    """What models made of the chosen release."""

    outcome: Outcome
    close_look: CloseLook
    """What slower learners make of it, and about whom it tells most."""
    waves: tuple[Wave, ...]
    """The columns of a large release in the order of what they add; empty for a small one."""
    column_bits: Mapping[str, ColumnBits]
    """What each column teaches and tells, alone and beyond the release."""
    neighbour_rungs: Mapping[str, list[NeighbourRung]]
    """What a rung up or down would cost and gain, for each column in a coarser form."""
    attacked: tuple[QuickAttack, QuickAttack] | None
    """What a few attackers reach with the release, and with everything; `None` where that is not
    tried: for synthetic rows, for tables of many cells, and on request."""
    attacked_finalists: Mapping[str, QuickAttack]
    """The same of the releases that came next, by their names; empty where `attacked` is `None`."""


def examine(outcome: Outcome, *, k: int | None = None, attacks: bool = True) -> Examination:
    """Train all that there is to train.

    `k` is what rungs must keep, where the rows are a sample and the settings about all rows.
    """
    outcome = outcome.closer()
    assert outcome.look is not None
    yardstick, compared = outcome.evaluator.yardstick, outcome.decision.scorecard.compared
    release, asked = outcome.release, outcome.settings.k
    ordered = waves(yardstick, compared, release)
    attacked = _attacked(outcome) if attacks else None
    return Examination(
        outcome,
        outcome.look,
        ordered,
        column_bits(yardstick, compared, release, ordered),
        neighbour_rungs(outcome.evaluator, compared, release, k or asked),
        attacked,
        {} if attacked is None else _attacked_finalists(outcome),
    )


def _attacked(outcome: Outcome) -> tuple[QuickAttack, QuickAttack] | None:
    baseline, seed = outcome.decision.scorecard.baseline.release, outcome.settings.seed
    everything = quick_attack(outcome.table, baseline, random_state=seed)
    chosen = quick_attack(outcome.table, outcome.release, random_state=seed)
    return None if chosen is None or everything is None else (chosen, everything)


def _attacked_finalists(outcome: Outcome) -> dict[str, QuickAttack]:
    found = {
        row.release.name: quick_attack(
            outcome.table,
            row.release,
            most=OF_FINALISTS,
            joined=False,
            random_state=outcome.settings.seed,
        )
        for row in outcome.decision.runners_up(FINALISTS)
    }
    return {name: each for name, each in found.items() if each is not None}
