"""What there is to say of a choice, measured before anything is written: `analyse`.

::

    examination     everything that trains a model on the chosen release
    column_fates    what happened to each column, and why
    kept_told       what the compared releases keep and tell, and a close look at the chosen one
    usefulness      measures on rows never seen, the rules of the original
    attack_shares   how often attackers are right
    crowds          who is unique, how many look alike, what gives people away
    lost_words      who is left out and why
    notes           what a reader must know to read the figures

    summary         the plain dict that reports are made of
    summary_parts   its parts on what is kept and told, and on attackers

`tamis.publish` writes what is found here and trains nothing: it measures its promises again on the
written file, and adds them.
"""

from __future__ import annotations

from dataclasses import dataclass

from tamis.analyse.attack_shares import attacker_facts, finalist_facts, of_hundred_facts
from tamis.analyse.column_fates import column_fates
from tamis.analyse.crowds import class_facts, exposure_facts, giveaway_facts, same_sensitive
from tamis.analyse.examination import examine
from tamis.analyse.kept_told import (
    bits_facts,
    candidate_facts,
    close_look_facts,
    factor_facts,
    limit_facts,
)
from tamis.analyse.lost_words import left_out_facts
from tamis.analyse.notes import notes_of, table_facts
from tamis.analyse.summary import (
    CandidateFacts,
    ClassSizes,
    ColumnFate,
    Factor,
    LeftOut,
    LimitLines,
    MeasureFacts,
    MethodFacts,
    Note,
    Rules,
    TableFacts,
)
from tamis.analyse.summary_parts import (
    Attacker,
    BitsFacts,
    CloseLookFacts,
    FinalistFacts,
    GiveawayFacts,
    OfHundred,
)
from tamis.analyse.usefulness import measure_facts, rule_facts
from tamis.flow import Outcome
from tamis.notebook import in_short
from tamis.unique_counts import Alike, ExposureFacts


@dataclass(frozen=True, eq=False, kw_only=True)
class Analysis:
    """What was found of the chosen release and of those beside it; see `tamis.analyse.summary`."""

    table: TableFacts
    bits: BitsFacts
    close_look: CloseLookFacts
    columns: list[ColumnFate]
    methods: list[MethodFacts]
    factors: list[Factor]
    candidates: list[CandidateFacts]
    limits: LimitLines
    measures: list[MeasureFacts]
    attackers: list[Attacker]
    of_hundred: list[OfHundred]
    finalists: list[FinalistFacts]
    exposure: ExposureFacts | None
    same_sensitive: Alike | None
    classes: ClassSizes | None
    giveaways: GiveawayFacts | None
    rules: Rules | None
    left_out: LeftOut | None
    notes: list[Note]

    def __repr__(self) -> str:
        return in_short(self, f"{len(self.candidates)} releases of {self.table['rows']:,} rows")


def analyse(outcome: Outcome, *, k: int | None = None, attacks: bool = True) -> Analysis:
    """Examine the chosen release, and gather all that pages and manifests say of the choice.

    Parameters
    ----------
    outcome : Outcome
        From `tamis.flow.consider`.
    k : int, optional
        What a column in another rung must keep, where the rows are a sample and the settings are
        about all rows; `None`: as asked for.
    attacks : bool
        Whether to try attackers on people of the table.

    Returns
    -------
    Analysis

    Examples
    --------
    >>> from tamis.datasets import patients
    >>> from tamis.flow import Settings, consider
    >>> settings = Settings(methods={"containment": {"ks": [20], "utilities": ["difference"]}})
    >>> found = analyse(consider(patients(rows=400), settings))
    >>> sorted({column["fate"] for column in found.columns})
    ['altered', 'held back', 'identifier', 'target']
    """
    examined = examine(outcome, k=k, attacks=attacks)
    exposure = exposure_facts(outcome)
    return Analysis(
        table=table_facts(outcome, exposure),
        bits=bits_facts(examined),
        close_look=close_look_facts(examined),
        columns=column_fates(examined),
        methods=[
            {"name": t.name, "applied": t.applied, "found": t.found, "note": t.note}
            for t in outcome.proposals.method_reports
        ],
        factors=factor_facts(outcome.decision.ranks),
        candidates=candidate_facts(outcome),
        limits=limit_facts(outcome),
        measures=measure_facts(outcome),
        attackers=attacker_facts(outcome),
        of_hundred=of_hundred_facts(examined),
        finalists=finalist_facts(examined),
        exposure=exposure,
        same_sensitive=same_sensitive(outcome),
        classes=class_facts(outcome),
        giveaways=giveaway_facts(outcome),
        rules=rule_facts(outcome),
        left_out=left_out_facts(outcome),
        notes=notes_of(outcome),
    )
