"""`AttackScore`: how often an attacker is right, against guessing and against a control group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.evaluate.figure import Figure, People, design_effect, wilson_share
from tamis.notebook import in_short, share_words

Shares = NDArray[Any]
"""For each person tried, whether or how probably the attacker is right."""


@dataclass(frozen=True)
class AttackScore:
    """How often an attacker is right about people in a release, and about people who are not.

    Parameters
    ----------
    attacker : str
        Its kind and form, such as ``"linkage, exact"``.
    words : str
        What it knows and does, in a sentence.
    success : Figure
        The share of people of the table about whom it is right.
    guess : float
        The same for someone who has no release.
    people : int
        How many people it was tried on.
    control : Figure, optional
        The share of people that are not in the table about whom it is right all the same: what it
        learns of them is knowledge of the world. `None` without a control group.
    control_people : int
    details : mapping
        Figures of this attacker alone.

    Examples
    --------
    >>> found = scored("linkage, exact", "", np.array([1.0, 0.5, 0.5, 0.0]), guess=0.25)
    >>> found.success.value, round(found.gain.value, 3), found.people
    (0.5, 0.333, 4)
    """

    attacker: str
    words: str
    success: Figure
    guess: float
    people: int
    control: Figure | None = None
    control_people: int = 0
    details: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        right = f"right about {share_words(self.success.value)} of {self.people:,} people"
        return in_short(self, self.attacker, right, f"by guessing {share_words(self.guess)}")

    @property
    def gain(self) -> Figure:
        """What is gained over guessing, as a share of what guessing leaves: 1 is certainty."""
        ends = (self.success.value, self.success.low or 0.0, self.success.high or 0.0)
        value, low, high = (_beyond(end, self.guess) for end in ends)
        return Figure(value, low, high)

    @property
    def leak(self) -> Figure | None:
        """What is gained over the control group, in the same way: what the release gives away.

        The interval of the difference is Newcombe's, from those of both shares.
        """
        if self.control is None:
            return None
        mine, theirs = self.success, self.control
        apart = mine.value - theirs.value
        low = apart - _length(mine.value - _low(mine), _high(theirs) - theirs.value)
        high = apart + _length(_high(mine) - mine.value, theirs.value - _low(theirs))
        left = 1 - theirs.value
        if left <= 0:
            return Figure(0.0, 0.0, 0.0)
        return Figure(apart / left, low / left, min(1.0, high / left))

    def to_dict(self) -> dict[str, Any]:
        return {
            "attacker": self.attacker,
            "words": self.words,
            "people": self.people,
            "success": self.success.to_dict(),
            "guess": self.guess,
            "gain": self.gain.to_dict(),
            "control_people": self.control_people,
            "control": None if self.control is None else self.control.to_dict(),
            "leak": None if self.leak is None else self.leak.to_dict(),
            "details": dict(self.details),
        }


def scored(
    attacker: str,
    words: str,
    success: Shares,
    *,
    guess: float,
    control: Shares | None = None,
    people: People | None = None,
    details: Mapping[str, Any] | None = None,
) -> AttackScore:
    """The score of an attacker from how right it is about each row.

    Parameters
    ----------
    success, control : arrays of bool, or of probabilities to be right
        One a row tried; `control` for people who are not in the release.
    guess : float
    people : array of int, optional
        Whose each row of `success` is; `None`: each is a person.
    """
    tried = len(success) if people is None else len(np.unique(people))
    return AttackScore(
        attacker,
        words,
        share(success, people),
        float(guess),
        tried,
        None if control is None or not len(control) else share(control),
        0 if control is None else len(control),
        details or {},
    )


def share(right: Shares, people: People | None = None) -> Figure:
    """The mean of shares of being right, with an interval that is never too narrow for them.

    A probability varies less than the draw that it stands for, so Wilson's interval covers it.
    """
    each = np.asarray(right, dtype=np.float64)
    if not len(each):
        return Figure(0.0, 0.0, 1.0)
    middle = float(each.mean())
    alike = design_effect(each - middle, people)
    found = wilson_share(middle * len(each) / alike, len(each) / alike)
    return Figure(middle, found.low, found.high)


def _beyond(value: float, guess: float) -> float:
    return (value - guess) / (1 - guess) if guess < 1 else 0.0


def _low(figure: Figure) -> float:
    return figure.value if figure.low is None else figure.low


def _high(figure: Figure) -> float:
    return figure.value if figure.high is None else figure.high


def _length(one: float, other: float) -> float:
    return sqrt(one**2 + other**2)
