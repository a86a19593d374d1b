"""Anonymity by containment: how many people must have all that a person has, in 0/1 records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from tamis.errors import plural
from tamis.option import Asked, Option
from tamis.require.base import Unit, promised
from tamis.require.k import KAnonymity
from tamis.stated import MOST_ABSENCES

if TYPE_CHECKING:
    from tamis.require.counts import ClassCounts

_HOLDERS = {
    "people": "people who have whatever a person has",
    "rows": "rows that have whatever a row has",
}
"""Among whom a row hides by containment."""


ABSENCES = promised(
    "known_absences",
    "In 0/1 columns: things a person lacks that an attacker may know too.",
    "count",
    default=0,
    least=0,
    most=MOST_ABSENCES,
    because="since more take too long to count, and k-anonymity covers them all",
    rare=True,
    old=("absences",),
    dest="absences",
    asked=Asked(
        "Things a person is known to lack",
        "For yes/no facts: others may know not only what a person has, but also that they do not "
        "have this many things.",
        "Of yes/no facts, others may also know {} that a person does not have.",
        "Of yes/no facts, others know what a person has, not what they lack.",
        "none",
    ),
)


@dataclass(frozen=True)
class ContainmentAnonymity(KAnonymity):
    """Whatever anybody has, k people have; and lack what an attacker may know to be lacking.

    Parameters
    ----------
    absences : int
        How many things that a person lacks an attacker may know too.
    """

    absences: int = 0

    key: ClassVar[str] = "containment_anonymity"
    options: ClassVar[tuple[Option, ...]] = (*KAnonymity.options, ABSENCES)

    def reached(self, counts: ClassCounts) -> float:
        return counts.holders(self.absences, self.k)

    def stated(self) -> dict[str, Any]:
        absences = {"absences": self.absences} if self.absences else {}
        return {"at_least": self.k, **absences}

    def who_is_alike(self, unit: Unit) -> str:
        lacking = f" and lack up to {plural(self.absences, 'thing')} that are known"
        return _HOLDERS[unit] + (lacking if self.absences else "")
