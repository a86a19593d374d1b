"""What attackers reach, in the summary: how often they are right, and what gives people away."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from tamis.publish.bits_facts import Interval

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
