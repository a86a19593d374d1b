"""The plain dict that a report is made of.

::

    Summary
    ├── table       TableFacts       the original and the release in figures
    ├── bits        BitsFacts        what the release keeps and tells, and how that chose it
    ├── close_look  CloseLookFacts   the same by slower learners, and whom a mean hides
    ├── columns     [ColumnFate]     what happened to each column, in one sentence
    ├── methods     [MethodFacts]    what was tried, what did not apply and why
    ├── factors     [Factor]         what counted, in which direction, with which weight
    ├── candidates  [CandidateFacts] every release that was compared, the baseline included
    ├── limits      LimitLines       hard limits, and what guessing alone would reach
    ├── measures    [MeasureFacts]   how useful the chosen release is, on rows never seen before
    ├── attackers   [Attacker]       how often each attacker was right
    ├── of_hundred  [OfHundred]      whom a few attackers find, and whose secret they guess
    ├── finalists   [FinalistFacts]  the same of the releases that came next
    ├── exposure    ExposureFacts    who is unique, by what attackers know
    ├── classes     ClassSizes       how many people look alike, before and after
    ├── giveaways   GiveawayFacts    which columns single people out; for the holder alone
    ├── rules       Rules            what happened to the rules of the original, worst first
    ├── promises    [PromiseFacts]   with the value measured on the written file
    ├── kept_private [PromiseFacts]  the same of a sensitive column that is not released
    ├── not_promised [str]
    ├── recipe      RecipeFacts      public, and what only the holder keeps
    ├── budget      BudgetFacts      where rows were drawn with differential privacy
    └── notes       [Note]           what a reader must know to understand the rest correctly

It can be written as JSON: texts, finite numbers, booleans, `None`, lists and dicts. Numbers are
fractions, never percentages. It contains no row and no cell value except the labels and thresholds
in the text of a rule.

No count of people from 1 to k - 1 is in it: a figure based on fewer than k people is `None`, and
class sizes are grouped into bins that are wide enough (`tamis.analyse.crowds`). The exceptions
are the figures of `exposure` that anybody can count from the released file: how many rows are
unique in it reveals nothing that the file itself does not. `tamis.publish.report` refuses
what breaks this.

Where `unit` says "people", people are known, by identifiers or because each row is a person; where
it says "rows", nobody said who they are, and what a page calls "people" elsewhere are rows.
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from tamis.analyse.summary_parts import (
    Attacker,
    BitsFacts,
    CloseLookFacts,
    ColumnShares,
    FinalistFacts,
    GiveawayFacts,
    Interval,
    LadderFacts,
    OfHundred,
)
from tamis.table import Unit
from tamis.unique_counts import Alike, ExposureFacts, Kind

SCHEMA_VERSION = 2
"""Increased whenever a field changes its meaning or is removed."""

Fate = Literal["released", "coarsened", "altered", "target", "held back", "identifier", "dropped"]
KEPT_FATES = ("released", "coarsened", "altered", "target")
"""Those of columns that are released."""
Region = Literal["I", "II", "III", "IV"]
RuleState = Literal["kept", "weakened", "flipped", "emptied", "lost"]
Audience = Literal["holder", "recipient"]


class TableFacts(TypedDict):
    """The original and the release in figures."""

    name: str
    """The name by which people know the table: the stem of its file. Empty for recipients."""
    rows: int
    """Rows of the original."""
    rows_released: int
    people: int
    """People in the original where they are known; otherwise its rows."""
    people_released: int
    who: NotRequired[str]
    """Who counts as a person, in words; for the holder alone."""
    features: int
    """Columns that could have been released as features."""
    unlisted: NotRequired[int]
    """Those of them that were never compared, and so are not among `columns`."""
    target: str
    sensitive: str | None
    """The column that must stay hard to guess; the target where none was named. `None` on the
    recipient's page where it is not released."""


class ColumnFate(TypedDict):
    """What happened to one column."""

    name: str
    fate: Fate
    """`coarsened`: released in a coarser form. `altered`: released with changed values. `target`:
    released as what is to be predicted."""
    why: str
    """One sentence in plain words, ending with a full stop, that columns can share; empty on the
    recipient's page, as it may name a column that was held back."""
    shares: NotRequired[ColumnShares | None]
    """`None`, or not there, for columns that are no features, and on the recipient's page."""
    ladder: NotRequired[LadderFacts]
    """Of a coarsened column."""


class MethodFacts(TypedDict):
    """A way to propose releases."""

    name: str
    """As a reader sees it: "breach-aware walk", "containment, k = 5"."""
    applied: bool
    found: int
    """How many candidates it gave."""
    note: str
    """Why it does not apply, or what it does, in one sentence."""


class Factor(TypedDict):
    """One thing that counts in the choice."""

    key: str
    """Its name in `CandidateFacts.values` and `ranks`."""
    label: str
    """As a reader sees it: "Usefulness"."""
    direction: Literal["max", "min"]
    weight: float
    """As used; 0 drops the factor."""
    shown_as: Literal["share", "change", "count", "number"]
    """`share` 0.73 as 73.0%, `change` -0.011 as -1.1%, `count` as a whole number."""


class CandidateFacts(TypedDict):
    """One release that was compared with the others."""

    name: str
    """Short and unique on the page: "plas + mass", "everything"."""
    features: list[str]
    differs: NotRequired[str]
    """What is not in all releases alike, in words: "birth: 8 bands; icd10: 8 groups"."""
    method: str
    """The name of the method that proposed it."""
    performance: float
    """Accuracy in predicting the target, on rows that played no part in the choice."""
    performance_interval: Interval | None
    kept: float
    """The share kept of what can be learnt about the target, on those rows."""
    kept_interval: Interval | None
    told: float | None
    """The share told of what the table tells about the sensitive column."""
    told_interval: Interval | None
    worth: tuple[float, float]
    """Kept and told on the rows used to choose; the page orders by the first less the caution
    times the second."""
    pbi: float
    """The increase of the strongest attacker's accuracy over the baseline; below 0 is safer."""
    pbi_interval: Interval | None
    size: int
    """The number of features; the fewest win among equal scores."""
    region: Region | None
    """`None` for the baseline."""
    values: dict[str, float]
    """The value in each factor, by its key, on the rows used to choose. The page ranks these again
    when weights change; what it shows is `performance`, `pbi` and `size`."""
    ranks: dict[str, int]
    """The rank in each factor among the ranked candidates; 1 is the worst."""
    score: float
    """E(S) under the weights of `factors`."""
    place: int
    """1 is the best."""
    on_front: bool
    """No other ranked candidate is as good in every factor and better in one."""
    chosen: bool
    """True for exactly one candidate: what was released."""
    baseline: bool
    """True for exactly one candidate: everything released."""
    ranked: bool
    """Whether it is included in the ranks. One that is not is shown, with `fails`, but never wins;
    its `ranks` are empty, its `score` and `place` 0."""
    fails: list[str]
    """The hard limits that it breaks, each in a few words. It may be ranked (the baseline often
    is) but cannot be chosen. Empty: it can."""


class LimitLines(TypedDict):
    """Lines in the pictures of the candidates."""

    min_kept: float | None
    max_told: float | None
    max_pbi: float | None
    min_performance: float | None
    guessing_performance: float
    """Accuracy of always naming the most frequent value of the target."""
    guessing_pbi: float
    """PBI of an attacker who always names the most frequent sensitive value."""


class MeasureFacts(TypedDict):
    """One figure of the scorecard for the chosen release, on rows not used to choose."""

    key: str
    """As in the scorecard; `performance` is shown at the top of the page."""
    label: str
    sentence: str
    """What it means, in plain words, without the figures."""
    better: Literal["higher", "lower"]
    shown_as: Literal["share", "change", "count", "number"]
    released: float
    interval: Interval | None
    original: float | None
    """The same with everything released, where that makes sense."""
    floor: float | None
    """The same by guessing, where that makes sense: for what the release shows by itself. A measure
    without a floor compares with the original and is not shown to recipients."""


class ClassBin(TypedDict):
    """People whose class has from `low` to `high` members."""

    low: int
    high: int | None
    """`None`: no upper end."""
    before: int | None
    """People, in the original; 0, or at least k. `None` on the recipient's page."""
    after: int
    """People, in the release; 0, or at least k."""
    everything: int
    """The same by identical values in all released columns, the target included."""


class ClassSizes(TypedDict):
    """How many people look alike."""

    kind: Kind
    """`equal`: people with the same values in the columns that an attacker may know.
    `containment`: people who have at least what a person has."""
    k: int
    smallest_after: int | None
    """The k-anonymity or containment anonymity measured in the release; `None` below k."""
    bins: list[ClassBin]
    bins_released: list[ClassBin]
    """The same without the original, which does not affect their limits either: what a recipient
    reads. Empty on the recipient's page, where `bins` holds them."""


class RuleDamage(TypedDict):
    """What happened to one rule of the original."""

    text: str
    state: RuleState
    """`lost`: it uses a column that is not released. `emptied`: no row matches it any more.
    `flipped`: its most frequent label changed. `weakened`: damage above the noise."""
    damage: float
    """The chi-squared distance of its labels before and after, in [0, 1]; 1 for a lost rule."""
    support_before: float | None
    """Share of the rows that match it; `None` where these are fewer than k."""
    support_after: float | None
    label_before: str
    label_after: str | None
    share_before: float | None
    """Share of `label_before` among the rows that match it; `None` for fewer than k rows."""
    share_after: float | None
    """Share of `label_before` after; `None` where fewer than k rows match it."""
    names_released_only: bool
    """Whether every column it uses was released, so that a recipient may see it."""


class Rules(TypedDict):
    """What happened to the rules of the original."""

    total: int
    kept: int
    weakened: int
    flipped: int
    emptied: int
    lost: int
    origin: str
    """Where the rules come from, in a few words: "a decision tree of depth 12"."""
    worst_first: list[RuleDamage]
    """May be limited to the worst; `total` counts them all."""


class PromiseFacts(TypedDict):
    """Something that holds for the release. Recipients see it: it names no column held back."""

    key: str
    """As in the manifest: "k_anonymity"."""
    claim: str
    """In plain words: "Everybody shares all released values with at least 4 others."."""
    measured: str
    """What was measured on the written file, in a few words: "the smallest group has 7"."""
    value: float
    limit: float | None
    """What was asked for, where something was."""


class Setting(TypedDict):
    """One line of a recipe."""

    label: str
    value: str


class RecipeFacts(TypedDict):
    """How the release was made."""

    public: list[Setting]
    """May be shared: versions, method, public parameters, date, hash of the file."""
    private: list[Setting]
    """What only the holder keeps: seed, original file, command to reproduce the same bytes."""


class BudgetFacts(TypedDict):
    """What drawing the rows has cost."""

    epsilon: float
    delta: float
    claim: str
    """What that means, in one sentence."""
    spent: str
    """What it was spent on, in a few words."""


class Note(TypedDict):
    """What a reader must know to understand the rest correctly."""

    level: Literal["warning", "note"]
    text: str
    public: bool
    """Whether the recipient may read it."""


class LostGroupFacts(TypedDict):
    """A group that is left out, for the holder alone."""

    who: str
    people: int
    why: str


class LeftOut(TypedDict):
    """How many were left out so that all others keep what is promised."""

    words: str
    """For the holder; on the recipient's page the same as `public`."""
    public: str
    """In whole percent."""
    groups: NotRequired[list[LostGroupFacts]]
    """Who goes and why; the holder's alone."""
    warnings: NotRequired[list[str]]
    """Values that go altogether; the holder's alone."""


class Summary(TypedDict):
    """Everything a report shows; see the top of this module."""

    schema_version: int
    tamis_version: str
    made: str
    """The date as people read it, ISO 8601."""
    k: int
    """No count of people from 1 to k - 1 is in the summary."""
    unit: Unit
    """What a count is about."""
    table: TableFacts
    bits: BitsFacts | None
    """`None` for recipients of synthetic rows."""
    close_look: CloseLookFacts | None
    columns: list[ColumnFate]
    methods: list[MethodFacts]
    factors: list[Factor]
    candidates: list[CandidateFacts]
    limits: LimitLines
    measures: list[MeasureFacts]
    attackers: list[Attacker]
    of_hundred: list[OfHundred]
    """Empty on the recipient's page, for synthetic rows and for tables of many cells."""
    finalists: NotRequired[list[FinalistFacts]]
    """Where `of_hundred` is, those of the front that came next."""
    exposure: ExposureFacts | None
    """`None` for synthetic rows."""
    same_sensitive: Alike | None
    """Groups of `exposure.known` in which all share the sensitive value; `None` where that is the
    target, and on the recipient's page."""
    classes: ClassSizes | None
    giveaways: NotRequired[GiveawayFacts | None]
    """`None` on the recipient's page, for synthetic rows, and where hardly anybody is unique."""
    rules: Rules | None
    promises: list[PromiseFacts]
    kept_private: NotRequired[list[PromiseFacts]]
    """What holds of a sensitive column that is not released; empty on the recipient's page."""
    not_promised: list[str]
    """For recipients too."""
    left_out: NotRequired[LeftOut | None]
    """`None` where nobody was."""
    recipe: RecipeFacts
    budget: BudgetFacts | None
    """`None` unless rows are synthetic. Where they are, recipients see no figure that was measured
    on people: no epsilon covers it."""
    notes: list[Note]
