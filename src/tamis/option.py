"""`Option`: all that is known of one option, whoever asks for it.

A command, a configuration file, a page of `tamis serve` and `Settings` take the same options. What
may be given, what it means and what is used otherwise is written here once an option; a value that
cannot be used is refused in the same words at every door.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from numbers import Integral, Real
from typing import Any, Literal

from tamis.errors import InputError

Kind = Literal[
    "flag",  # given or not
    "count",  # a whole number
    "number",
    "share",  # a number that is a share of something
    "shares",  # some of them
    "text",
    "choice",  # one of `choices`
    "names",  # names separated by commas
    "weights",  # numbers by name
    "pairs",  # texts by name
    "bins",  # how many classes, or where they end
    "output",  # a file to write
    "table",  # settings that only a file can hold
    "attacker",  # who knows what, and what must hold then
]
NUMBERS = ("count", "number", "share")
OWN, GENERAL = "Options", "General"
"""The sections of what only one command has, and of what all have."""


@dataclass(frozen=True)
class Asked:
    """How a page of `tamis serve` asks for an option.

    Parameters
    ----------
    label, sentence : str
        What it is called; why one would change it.
    says : str
        What a value means in words; ``{}`` stands for it.
    unset, empty : str
        What it means to leave it empty; of a choice, the words of that choice. And what then
        stands in the field.
    choices : mapping of value to words
        What can be picked.
    most : float
        The largest number that is offered where the option itself has no such bound.
    more : bool
        Whether it is for those who want to say more.
    """

    label: str
    sentence: str
    says: str = ""
    unset: str = ""
    empty: str = "no limit"
    choices: Mapping[str, str] = field(default_factory=dict, hash=False)
    most: float = 1_000_000
    more: bool = True


@dataclass(frozen=True)
class Option:
    """One option.

    Parameters
    ----------
    name : str
        As in a configuration file; with dashes it is the flag.
    help : str
        One sentence.
    kind : str
        What may be given.
    default : optional
        What is used where it is not given.
    otherwise : str
        The same in words, where that depends on something else.
    least, most, above, below : float, optional
        What a number may be; `above` and `below` are not themselves allowed.
    because : str
        Why it may not be less or more.
    choices : tuple of str
    section : str
        Under which heading a help lists it.
    rare : bool
        Whether only the complete help lists it.
    metavar, short : str
        What stands for the value in a help; a flag of one letter.
    old : tuple of str
        Former names, which keep working.
    dest : str
        What commands and `Settings` call it, where that differs from its name.
    multiple, required, hidden : bool
        Whether it may be repeated, must be given, or is for files alone.
    note : str
        Its comment in the file that `tamis init` writes.
    example : optional
        A value for that file where there is no default; it is written as a comment.
    asked : Asked, optional
        How `tamis serve` asks for it.

    Examples
    --------
    >>> told = Option("max_told", "The most to tell.", "share", least=0, most=1)
    >>> told.flag, told.allowed
    ('--max-told', 'a share between 0 and 1')
    >>> told.check(1.5)
    Traceback (most recent call last):
    tamis.errors.InputError: max_told must be a share between 0 and 1, got 1.5
    """

    name: str
    help: str
    kind: Kind = "text"
    default: Any = None
    otherwise: str = ""
    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None
    because: str = ""
    choices: tuple[str, ...] = ()
    section: str = OWN
    rare: bool = False
    metavar: str = ""
    short: str = ""
    old: tuple[str, ...] = ()
    dest: str = ""
    multiple: bool = False
    required: bool = False
    hidden: bool = False
    note: str = ""
    example: Any = field(default=None, hash=False)
    asked: Asked | None = None

    def __post_init__(self) -> None:
        if not self.dest:
            object.__setattr__(self, "dest", self.name)

    @property
    def flag(self) -> str:
        return as_flag(self.name)

    @property
    def spellings(self) -> set[str]:
        """What a configuration file may call it."""
        return {self.name, self.dest, *self.old}

    @property
    def allowed(self) -> str:
        """What may be given, in words."""
        if self.kind == "choice":
            return f"one of {', '.join(self.choices)}"
        noun = {"count": "a whole number", "share": "a share"}.get(self.kind, "a number")
        return f"{noun}{self._range}"

    @property
    def _range(self) -> str:
        if self.least is not None and self.most is not None:
            joined = ("from", "to") if self.kind == "count" else ("between", "and")
            return f" {joined[0]} {self.least:g} {joined[1]} {self.most:g}"
        ends = [
            f"of at least {self.least:g}" if self.least is not None else "",
            f"above {self.above:g}" if self.above is not None else "",
            f"below {self.below:g}" if self.below is not None else "",
            f"up to {self.most:g}" if self.most is not None else "",
        ]
        return " and".join(f" {end}" for end in ends if end)

    def check(self, value: Any, name: str = "") -> None:
        """Refuse a value that cannot be used; `name` is what the person called the option."""
        if not self.allows(value):
            why = f", {self.because};" if self.because else ","
            shown = f"{value:g}" if isinstance(value, float) else repr(value)
            raise InputError(f"{name or self.dest} must be {self.allowed}{why} got {shown}")

    def allows(self, value: Any) -> bool:
        """Whether a value can be used; `None` where there is no default."""
        if self.kind not in (*NUMBERS, "choice"):
            return True
        if value is None:
            return self.default is None
        return value in self.choices if self.kind == "choice" else self._allows_number(value)

    def _allows_number(self, value: Any) -> bool:
        kind: Any = Integral if self.kind == "count" else Real
        if isinstance(value, bool) or not isinstance(value, kind):
            return False
        if isinstance(value, float) and not isfinite(value):
            return False
        return bool(
            (self.least is None or value >= self.least)
            and (self.above is None or value > self.above)
            and (self.most is None or value <= self.most)
            and (self.below is None or value < self.below)
        )

    def read_number(self, given: Any, name: str = "") -> int | float:
        """The number that was typed or stands in a file, checked.

        >>> Option("k", "", "count", least=1).read_number("7")
        7
        """
        try:
            number = _whole(given) if self.kind == "count" else _number(given)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"{name or self.dest} must be {self.allowed}, got {given!r}") from None
        self.check(number, name)
        return number


def as_flag(name: str) -> str:
    """The flag of an option of that name.

    >>> as_flag("max_told")
    '--max-told'
    """
    return f"--{name.replace('_', '-')}"


def _number(given: Any) -> float:
    """A number of a text or a file, where true is none."""
    if isinstance(given, bool):
        raise TypeError(given)
    return float(given)


def _whole(given: Any) -> int:
    """A whole number; a file may have it as 5.0."""
    if isinstance(given, str):
        return int(given)
    if _number(given) != int(given):
        raise ValueError(given)
    return int(given)
