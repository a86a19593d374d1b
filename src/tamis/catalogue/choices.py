"""The rules by which one release is chosen; `tamis.decide` has what they do."""

from __future__ import annotations

from dataclasses import dataclass

from tamis.notebook import in_short


@dataclass(frozen=True)
class ChoiceRule:
    """One rule.

    Parameters
    ----------
    name : str
        As it is asked for.
    words : str
        What it goes by, after "by".
    chose : str
        How the release was chosen, for a report.
    chose_untold : str
        The same where nothing can be told about a sensitive column.
    smaller : str
        Why a column was left out that would have taught something.
    """

    name: str
    words: str
    chose: str
    chose_untold: str
    smaller: str

    def __repr__(self) -> str:
        return in_short(self, self.name)


VALUE = ChoiceRule(
    "value",
    "what is kept and told",
    chose="Among those that meet every limit, the one that keeps most, less what it tells, was "
    "chosen; of those within a hundredth of it, the smallest.",
    chose_untold="Among those that meet every limit, the one that keeps most was chosen; of those "
    "within a hundredth of it, the smallest.",
    smaller="A larger release was worth no more, or hardly more.",
)
RANKS = ChoiceRule(
    "ranks",
    "ranks, E(S)",
    chose="The choice was made by weighted ranks.",
    chose_untold="The choice was made by weighted ranks.",
    smaller="By the weighted ranks, a smaller release is better.",
)
CHOICES = {rule.name: rule for rule in (VALUE, RANKS)}
