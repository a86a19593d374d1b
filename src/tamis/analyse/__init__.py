"""Analyse a choice: everything that pages and manifests say of it, measured before publishing.

::

    examination     everything that trains a model on the chosen release: use, close look
    column_fates    what happened to each column, and why
    kept_told       what the chosen release keeps and tells, what another caution would choose
    candidates      every release that was compared, what counted, the limits
    attack_shares   how often attackers are right
    crowds          who is unique, the sizes of classes, what singles people out
    lost_words      who is suppressed and why
    notes           the table in figures, and what a reader needs to understand them

    records         records as plain values, and as recipients may read them

`tamis.publish` writes these results and trains nothing; it measures the promises again on the
written file and adds them. Each record is defined where it is made, with what recipients may see of
it; numbers are fractions, never percentages, and texts contain no cell value except the labels and
thresholds of a rule.

No count of people from 1 to k - 1 is included: a figure based on fewer than k people is `None`, and
class sizes are grouped into wide enough bins. The exceptions are figures of `exposure` that anybody
can count from the released file: how many rows are unique in it reveals nothing beyond the file.
`tamis.publication.report` refuses what breaks this.

Where `unit` is "people", people are known, by identifiers or because each row is a person; where it
is "rows", nobody said who they are, and what a page calls "people" elsewhere are rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

from tamis import __version__
from tamis.all_rows import AllRows
from tamis.analyse.attack_shares import (
    AttackerRate,
    AttackShare,
    FinalistFacts,
    RiskTest,
    attacker_rates,
    finalist_facts,
    of_hundred_facts,
    risk_tests,
)
from tamis.analyse.candidates import (
    NOTHING,
    CandidateFacts,
    Factor,
    LimitLines,
    candidate_facts,
    factor_facts,
    limit_facts,
)
from tamis.analyse.column_fates import KEPT_FATES, ColumnFate, column_fates
from tamis.analyse.crowds import (
    ClassSizes,
    GiveawayFacts,
    class_facts,
    exposure_facts,
    giveaway_facts,
    same_sensitive,
)
from tamis.analyse.examination import (
    CloseLookFacts,
    Examination,
    MeasureFacts,
    Rules,
    close_look_facts,
    examine,
    measure_facts,
    rule_facts,
)
from tamis.analyse.kept_told import BitsFacts, bits_facts
from tamis.analyse.lost_words import LeftOut, left_out_facts
from tamis.analyse.notes import Note, TableFacts, notes_of, table_facts
from tamis.analyse.records import (
    SHARED,
    UNKNOWN,
    Audience,
    BudgetFacts,
    PromiseFacts,
    RecipeFacts,
    ThreatFacts,
    as_plain,
    as_supported,
    for_recipient,
    in_hundredths,
)
from tamis.notebook import in_short
from tamis.outcome import Outcome
from tamis.propose import MethodReport
from tamis.release_counts import Alike, ExposureFacts, Kind
from tamis.table import Unit

SCHEMA_VERSION = 2
"""Version of ``private/summary.json``; increased when a field changes meaning or is removed."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Analysis:
    """Everything that a report shows.

    A part is the holder's alone unless it says what recipients see, see `tamis.analyse.records`.
    `tamis.publish` adds what only the written file can tell.
    """

    tamis_version: str = field(default=__version__, metadata=SHARED)
    made: str = field(default="", metadata=SHARED)
    """The date as people read it, ISO 8601; known once written."""
    k: int = field(metadata=SHARED)
    """Counts of people from 1 to k - 1 are left out."""
    unit: Unit = field(metadata=SHARED)
    """What is counted: people or rows."""
    table: TableFacts
    """The original and the release in figures."""
    bits: BitsFacts | None
    """What the release keeps and tells, and how the choice used it; `None` for recipients of
    synthetic rows, like the close look."""
    close_look: CloseLookFacts | None
    """Kept and told by slower learners, and the few people that a mean hides."""
    columns: tuple[ColumnFate, ...]
    """What happened to each column, in one sentence."""
    methods: tuple[MethodReport, ...]
    """The methods that were tried, and why others did not apply."""
    factors: tuple[Factor, ...]
    """Factors of the ranks with direction and weight; empty unless ranks were asked for."""
    candidates: tuple[CandidateFacts, ...]
    """Every release that was compared, the baseline included."""
    limits: LimitLines
    """Hard limits, and what guessing alone would reach."""
    measures: tuple[MeasureFacts, ...]
    """How useful the chosen release is, on the reporting rows."""
    attackers: tuple[AttackerRate, ...]
    """How often each attacker was right; recipients see them where the target is the secret."""
    of_hundred: tuple[AttackShare, ...] = ()
    """How many people a few attackers find, and whose secret they guess; empty for synthetic rows
    and for tables of many cells."""
    risk_tests: tuple[RiskTest, ...] = ()
    """Singling out, linkability, inference: the figures of the dossier."""
    finalists: tuple[FinalistFacts, ...] = ()
    """What the same attackers reach with the releases that came next."""
    exposure: ExposureFacts | None = field(metadata=SHARED)
    """Who is unique, by what attackers know; `None` for synthetic rows."""
    same_sensitive: Alike | None = None
    """Classes of `exposure.known` in which all share the sensitive value; `None` if that is the
    target."""
    classes: ClassSizes | None = None
    """The sizes of equivalence classes, before and after."""
    giveaways: GiveawayFacts | None = None
    """Which columns single people out; `None` for synthetic rows, and if hardly anybody is
    unique."""
    rules: Rules | None = None
    """What happened to the rules of the original, worst first."""
    promises: tuple[PromiseFacts, ...] = field(default=(), metadata=SHARED)
    """The promises, each with the value measured on the written file."""
    threats: tuple[ThreatFacts, ...] = field(default=(), metadata=SHARED)
    """Each named attacker and the risk that is left, the worst first."""
    kept_private: tuple[PromiseFacts, ...] = ()
    """Promises about a sensitive column that is not released."""
    not_promised: tuple[str, ...] = field(default=(), metadata=SHARED)
    left_out: LeftOut | None = None
    """Who is suppressed; `None` if nobody is."""
    recipe: RecipeFacts = UNKNOWN
    """How the release was made; known once written."""
    budget: BudgetFacts | None = field(default=None, metadata=SHARED)
    """The privacy budget of synthetic rows, else `None`. With synthetic rows, recipients see no
    figure that was measured on people, since epsilon does not cover it."""
    notes: tuple[Note, ...] = ()
    """What a reader needs to understand the rest correctly."""

    def __repr__(self) -> str:
        return in_short(self, f"{len(self.candidates)} releases of {self.table.rows:,} rows")

    @property
    def held_back(self) -> int:
        """Number of the original's columns that are not released in any form."""
        return sum(c.fate not in KEPT_FATES for c in self.columns) + self.table.unlisted

    def to_dict(self, audience: Audience = "holder") -> dict[str, Any]:
        """Everything that an audience may read, as plain values that JSON can represent."""
        seen = self.seen_by(audience)
        parts = {name: as_plain(part) for name, part in vars(seen).items()}
        return {"schema_version": SCHEMA_VERSION, **parts}

    def seen_by(self, audience: Audience) -> Self:
        """The analysis as an audience may read it: recipients learn nothing of held-back columns.

        For recipients these are removed: the name of the table and the order of its columns; the
        other candidates; the rules of the original, whose thresholds come from values that may not
        be released; all comparisons with the original except how much is kept, in whole percent;
        the reasons for each column, which may name others; what gives people away; class sizes
        before, and the bins that depend on them; private settings and notes; what is told of the
        sensitive column. If the sensitive column is not released, so are its name and the
        attackers, whose figures reveal how frequent its values are. `table.features` still says how
        many columns there were. With suppression, figures are in hundredths. For synthetic rows,
        every figure measured on people is removed, including the numbers of rows and columns of the
        original.
        """
        if audience == "holder":
            return self
        seen = as_supported(self if self.budget is None else self._without_people())
        seen = for_recipient(seen if seen.left_out is None else in_hundredths(seen))
        by_name = sorted(seen.columns, key=lambda c: (c.fate == "target", c.name))
        attackers = () if seen.table.sensitive is None else seen.attackers
        return replace(seen, columns=tuple(by_name), attackers=attackers)  # type: ignore[no-any-return]

    def _without_people(self) -> Self:
        rows, columns = self.table.rows_released, self.columns
        features = sum(c.fate in KEPT_FATES and c.fate != "target" for c in columns)
        return replace(
            self,
            table=replace(self.table, who="", rows=rows, people=rows, features=features),
            bits=None,
            close_look=None,
            candidates=tuple(replace(c, performance=NOTHING, pbi=NOTHING) for c in self.candidates),
            limits=replace(self.limits, guessing_performance=0.0, guessing_pbi=0.0),
            measures=(),
            attackers=(),
            classes=None,
        )


def analyse(outcome: Outcome, *, attacks: bool = True) -> Analysis:
    """Examine the chosen release, and gather everything that pages and manifests say of the choice.

    Parameters
    ----------
    outcome : Outcome
        From `tamis.flow.consider`.
    attacks : bool
        Whether to try attackers on people of the table. They never are on a sample of all rows, for
        which they would say little.

    Returns
    -------
    Analysis

    Examples
    --------
    >>> from tamis.datasets import patients
    >>> from tamis.flow import Settings, consider
    >>> settings = Settings(methods={"containment": {"ks": [20], "utilities": ["difference"]}})
    >>> found = analyse(consider(patients(rows=400), settings))
    >>> sorted({column.fate for column in found.columns})
    ['altered', 'held back', 'identifier', 'target']
    """
    counted = outcome.all_rows
    if counted is None:
        return _of_table(examine(outcome, attacks=attacks))
    examined = examine(outcome, k=counted.k_of_sample, attacks=False)
    return _about_all_rows(outcome, counted, _of_table(examined))


def _of_table(examined: Examination) -> Analysis:
    outcome = examined.outcome
    exposure = exposure_facts(outcome)
    return Analysis(
        k=outcome.least_k,
        unit=outcome.table.unit,
        table=table_facts(outcome, exposure),
        bits=bits_facts(examined),
        close_look=close_look_facts(examined),
        columns=column_fates(examined),
        methods=outcome.proposals.method_reports,
        factors=factor_facts(outcome.decision.ranks) if outcome.decision.is_ranked else (),
        candidates=candidate_facts(outcome),
        limits=limit_facts(outcome),
        measures=measure_facts(outcome),
        attackers=attacker_rates(outcome),
        of_hundred=of_hundred_facts(examined),
        risk_tests=risk_tests(examined),
        finalists=finalist_facts(examined),
        exposure=exposure,
        same_sensitive=same_sensitive(outcome),
        classes=class_facts(outcome),
        giveaways=giveaway_facts(outcome),
        rules=rule_facts(outcome),
        left_out=left_out_facts(outcome),
        notes=notes_of(outcome),
    )


def _about_all_rows(outcome: Outcome, counted: AllRows, analysis: Analysis) -> Analysis:
    """The analysis of a sample, with figures that were counted on all rows put in."""
    released, unit = counted.released(outcome.release), counted.large.shape.unit
    kind: Kind = "together" if len(counted.promises) > 1 else "equal"
    exposure = released.exposure(counted.known, outcome.least_k, unit, kind)
    rows, people, sampled = counted.large.rows, exposure["total"], counted.said()["sampled"]
    about = f"{rows:,} rows" if counted.left_out is None else f"{rows:,} rows that are released"
    note = (
        f"The table has {about}. Models were trained and evaluated on {sampled['rows']:,} of them, "
        "drawn by a salted hash; what is promised, and who is unique, was counted on all."
    )
    everybody = counted.left_out["of_people"] if counted.left_out else people
    return replace(
        analysis,
        table=replace(
            analysis.table,
            rows=counted.rows,
            rows_released=rows,
            people=everybody,
            people_released=people,
        ),
        exposure=exposure,
        same_sensitive=None,
        classes=None,
        notes=(Note(level="note", text=note, public=True), *analysis.notes),
    )
