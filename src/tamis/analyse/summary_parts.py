"""The parts of the summary that say what a release keeps and tells, and what attackers reach."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict


class Interval(TypedDict):
    """The range in which a figure may lie, at the 95% level."""

    low: float
    high: float


class FigureFacts(TypedDict):
    """A figure and its interval, where it has one."""

    value: float
    interval: Interval | None


class Winner(TypedDict):
    """The release that is worth most from one caution on, up to that of the next."""

    caution: float
    candidate: int
    """Its place in `candidates`."""


class OneMore(TypedDict):
    """The column held back that would be worth most with those released."""

    name: str
    kept: float
    """What the release would keep with it, and tell."""
    told: float | None


class WaveFacts(TypedDict):
    """What the first columns of a large release keep and tell, as shares of everything."""

    columns: int
    kept: float
    told: float | None


class BitsFacts(TypedDict):
    """What the release keeps of the target and tells of the sensitive column.

    Shares are of what all columns together give; bits are a mean over people never seen before.
    """

    by: str
    """What the choice was made by: the name of a rule in `tamis.catalogue.choices`."""
    caution: float
    kept: FigureFacts
    told: FigureFacts | None
    """`None` where no column but the target is sensitive, and on the recipient's page."""
    useful: FigureFacts
    """In bits."""
    telling: FigureFacts | None
    teaches: bool
    """Whether anything here is shown to teach the target."""
    tells: bool
    """Whether anything here is shown to tell the sensitive column more than the target does."""
    weak: bool
    """Whether all columns together teach little of what is unknown about the target."""
    cautions: list[float]
    """What the slider of the page can be set to, ascending."""
    winners: list[Winner]
    one_more: OneMore | None
    """`None` where no further column would keep k, and on the recipient's page."""
    waves: NotRequired[list[WaveFacts]]
    """Of many columns as they are, the first ones in the order of what each adds to those before
    it; the last are all. Empty where single columns are missed, and on the recipient's page."""


class SurestFacts(TypedDict):
    """How often a model is right about the rows it is most certain to have the rarest value."""

    part: float
    """The part of all rows that is looked at."""
    precision: FigureFacts | None
    """`None` where it stands for fewer than k people."""
    recall: FigureFacts | None


class GroupFacts(TypedDict):
    """Of groups of k or more alike in what attackers may know, the one about whom most is told."""

    people: int
    gain: FigureFacts
    """In bits."""


class Beside(TypedDict):
    """A simpler model that guesses the same, to compare with."""

    name: str
    accuracy: FigureFacts
    auc: FigureFacts | None


class GuessedFacts(TypedDict):
    """How well slow, strong learners guess a column from the release."""

    accuracy: FigureFacts
    guessing: float
    """The accuracy of always naming the most frequent value."""
    auc: FigureFacts | None
    share: FigureFacts | None
    """What is kept, or told, by these learners; `None` on the recipient's page."""
    bits: FigureFacts
    surest: list[SurestFacts]
    known: FigureFacts | None
    """The share whose value is as good as known, and was not without the release; `None` where
    that is fewer than k people."""
    largest: list[float]
    """The largest gains of single people, in bits."""
    group: GroupFacts | None
    beside: Beside


class CloseLookFacts(TypedDict):
    """What is guessed of the target, and for the holder of the sensitive column."""

    target: GuessedFacts
    sensitive: GuessedFacts | None


class ColumnShares(TypedDict):
    """What one column teaches and tells, as shares of what all columns do."""

    teaches: float
    teaches_beyond: float | None
    """Beyond the (other) released columns, of many released ones beyond the waves before its own;
    `None` where those are altered."""
    tells: float | None
    """`None` where no column but the target is sensitive."""
    tells_beyond: float | None


class LabelFacts(TypedDict):
    """One label of a column, and the values of at least k people that it stands for."""

    label: str
    values: list[str]
    """Empty for intervals, dates and codes, whose labels say it themselves."""


class RungFacts(TypedDict):
    """What the release would be with the column one rung finer or coarser."""

    finer: bool
    words: str
    kept: float
    """What more, or less, would be kept of the target, as a share of what all columns teach."""
    told: float | None
    """The same of the sensitive column; `None` where no column but the target is sensitive."""
    allowed: bool
    """Whether people alike would be as many and as diverse as was asked for."""


class LadderFacts(TypedDict):
    """The ladder of a column, with the rung taken."""

    level: int
    levels: int
    """The number of the last level, which leaves the column out; 0 on the recipient's page."""
    words: str
    """How to read the labels."""
    labels: list[LabelFacts]
    more: int
    """How many labels are not listed."""
    rungs: list[RungFacts]
    """The neighbours of the rung taken; empty on the recipient's page."""
    stability: NotRequired[float | None]
    """Of learnt groups, the people who are in the same one where other rows were learnt from; none
    on the recipient's page."""


Reached = Literal["found", "joined", "guessed", "named"]


class Attacker(TypedDict):
    """How often one attacker names the sensitive value correctly.

    Recipients see attackers only where the sensitive column is released, as the target."""

    name: str
    """As a reader sees it: "naive Bayes", "nearest neighbours"."""
    guessing: float
    """By always naming the most frequent value."""
    everything: float | None
    """From all features; `None` on the recipient's page."""
    released: float
    """From the released features."""
    interval: Interval | None
    """Of `released`."""
    strongest: bool
    """Right most often from the released features, on the rows used to choose."""
    strongest_before: NotRequired[bool]
    """The same from all features."""


class OfHundred(TypedDict):
    """The share of people about whom an attacker is right, in whole hundredths."""

    attack: Reached
    """`found`: by what attackers may know. `joined`: by two who hold half of the columns each.
    `guessed`: the sensitive value. `named`: of those who have its rarest value."""
    people: int
    """How many the attacker was tried on."""
    released: float | None
    """With the release; `None`: it stands for 1 to k - 1 people."""
    everything: float | None
    guessing: float


class FinalistFacts(TypedDict):
    """What attackers reach with a release that was nearly chosen, in whole hundredths."""

    name: str
    """That of a candidate."""
    found: float | None
    """`None`: it stands for 1 to k - 1 people."""
    guessed: float | None
    people: tuple[int, int]
    """How many each attacker was tried on; 0: not tried."""


class GiveawayColumn(TypedDict):
    """A column, and its part in what singles people out."""

    name: str
    share: float


class GiveawaySet(TypedDict):
    """Columns that single people out together, and by nothing less."""

    columns: list[str]
    people: int


class GiveawayBin(TypedDict):
    """Those whose smallest set has so many columns."""

    low: int
    high: int
    people: int


class GiveawayFacts(TypedDict):
    """What gives people of the original away; never for recipients."""

    exposed: int
    """Those whom some set of columns singles out."""
    most: int
    """The most columns in a set; larger ones were not looked at."""
    by_size: list[GiveawayBin]
    """By the columns in their smallest set."""
    columns: list[GiveawayColumn]
    """The largest share first."""
    sets: list[GiveawaySet]
    worst: list[str]
    """What to make coarser first."""
