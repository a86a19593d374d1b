"""`Option`: the description of one option, used by every interface.

Commands, configuration files, pages of `tamis serve` and `Settings` take the same options. An
option's range, meaning and default are declared once, and a value that cannot be used is refused in
the same words by every interface.
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
"""The sections of options that one command has, and of options that all have."""


@dataclass(frozen=True)
class Asked:
    """How a page of `tamis serve` asks for an option.

    Parameters
    ----------
    label, sentence : str
        Its name on the page, and why one would change it.
    says : str
        The meaning of a value in words; ``{}`` stands for the value.
    unset, empty : str
        The meaning of leaving it empty (for a choice, the words of that choice), and the
        placeholder that the field then shows.
    choices : mapping of value to words
        The values to pick from.
    most : float
        The largest number on offer if the option itself has no upper bound.
    more : bool
        Whether it is among the advanced options.
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
        Its key in configuration files; with dashes it is the flag.
    help : str
        One sentence.
    kind : str
        The kind of value.
    default : optional
        The value used if none is given.
    otherwise : str
        The default in words, if it depends on something else.
    least, most, above, below : float, optional
        The range of a number; `above` and `below` are excluded themselves.
    because : str
        The reason for that range.
    choices : tuple of str
    section : str
        The heading that it is listed under.
    rare : bool
        Whether only the complete help lists it.
    metavar, short : str
        The placeholder for its value in a help text, and a one-letter flag.
    old : tuple of str
        Former names, which keep working.
    dest : str
        Its name in commands and `Settings`, if that differs.
    multiple, required, hidden : bool
        Whether it may be repeated, must be given, or is only for files.
    note : str
        Its comment in the file that `tamis init` writes.
    example : optional
        A value for that file if there is no default; it is written as a comment.
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
        """Its names in configuration files, including old ones."""
        return {self.name, self.dest, *self.old}

    @property
    def allowed(self) -> str:
        """The allowed values, in words."""
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
        """Raise for a value that cannot be used; `name` is how the user spelled the option."""
        if not self.allows(value):
            why = f", {self.because};" if self.because else ","
            shown = f"{value:g}" if isinstance(value, float) else repr(value)
            raise InputError(f"{name or self.dest} must be {self.allowed}{why} got {shown}")

    def allows(self, value: Any) -> bool:
        """Whether a value can be used; `None` can if there is no default."""
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
        """Parse and check a number from a command line or a file.

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
    """The flag of an option.

    >>> as_flag("max_told")
    '--max-told'
    """
    return f"--{name.replace('_', '-')}"


def _number(given: Any) -> float:
    """Parse a number; booleans, which Python counts as numbers, are refused."""
    if isinstance(given, bool):
        raise TypeError(given)
    return float(given)


def _whole(given: Any) -> int:
    """Parse a whole number; a file may have it as 5.0."""
    if isinstance(given, str):
        return int(given)
    if _number(given) != int(given):
        raise ValueError(given)
    return int(given)
