"""The errors and warnings that tamis raises, as a small tree.

::

    TamisError (ValueError)
    ├── InputError          the table, a file or a parameter is wrong          exit code 2
    │   └── MissingExtra    an optional package is needed and not installed    exit code 2
    └── CannotMeet          the request is valid but cannot be met             exit code 1

    TamisWarning (UserWarning)
    └── ReadingNote         how a file was read: to be checked, though nothing is wrong

A message says what was wrong, what is allowed, what it got and what to do. It names columns, files,
lines and counts, never the value of a cell. Helpers for messages are here, too: lists of names,
counts with their nouns, and the progress of long work.
"""

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from numbers import Integral
from typing import Any, Protocol


class TamisError(ValueError):
    """The base class of all errors that tamis raises deliberately."""

    exit_code = 2


class InputError(TamisError):
    """A table, file or parameter that cannot be used as it is."""


class MissingExtra(InputError):
    """An optional package is needed for this request."""


class CannotMeet(TamisError):
    """A valid request that no release can meet."""

    exit_code = 1


class TamisWarning(UserWarning):
    """Something a user needs to know to read a result correctly."""


class ReadingNote(TamisWarning):
    """How a file was read, if it could have been read otherwise."""


def listed(names: Iterable[str], most: int = 8) -> str:
    """Quoted names for a message, at most `most` of them.

    >>> listed(["age", "zip"])
    "'age', 'zip'"
    >>> listed(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    names = list(names)
    shown = ", ".join(repr(name) for name in names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def listed_as(noun: str, names: Iterable[str], one: str = "", many: str = "") -> str:
    """Names after their noun, and a verb that agrees with them.

    >>> listed_as("column", ["age"], "has", "have"), listed_as("column", ["a", "b"], "has", "have")
    ("column 'age' has", "columns 'a', 'b' have")
    >>> listed_as("feature", ["a", "b"])
    "features 'a', 'b'"
    """
    names = list(names)
    single = len(names) == 1
    words = f"{noun if single else noun + 's'} {listed(names)}"
    verb = one if single else many
    return f"{words} {verb}" if verb else words


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A suggestion for a mistyped name, to end a message with; empty if nothing is close.

    >>> did_you_mean("sensitve", ["target", "sensitive"]), did_you_mean("zzz", ["target"])
    ("; did you mean 'sensitive'?", '')
    """
    matches = get_close_matches(name, list(known), n=1)
    return f"; did you mean {matches[0]!r}?" if matches else ""


def plural(amount: int, one: str, many: str | None = None) -> str:
    """A count with its noun for a message.

    >>> plural(1, "row"), plural(1200, "row"), plural(2, "person", "people")
    ('1 row', '1,200 rows', '2 people')
    """
    return f"{amount:,} {one if amount == 1 else many or one + 's'}"


def others(amount: int, unit: str = "people") -> str:
    """A number of people or rows other than the one in question, in words.

    >>> others(5), others(2), others(5, "rows"), others(2, "rows")
    ('4 others', '1 other', '4 other rows', '1 other row')
    """
    one, many = ("other row", "other rows") if unit == "rows" else ("other", "others")
    return f"{amount - 1:,} {one if amount == 2 else many}"


def check_whole(name: str, value: Any, least: int = 1) -> None:
    """Raise unless `value` is a whole number of at least `least`.

    >>> check_whole("k", 2.5)
    Traceback (most recent call last):
    tamis.errors.InputError: k must be a whole number of at least 1, got 2.5
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InputError(f"{name} must be a whole number of at least {least}, got {value!r}")


class Progress(Protocol):
    """Progress callback: what is being done, how much is done and of how much; 0 means unknown."""

    def __call__(self, words: str, done: int = 0, total: int = 0) -> None: ...


when_compiling: list[Callable[[bool], None]] = []
"""Callbacks before kernels are compiled, which takes seconds; the argument says whether the result
will be cached. They are here so that they can be added without importing the compiler."""


class ProgressShare:
    """Overall progress of several steps, from 0 to 1; it never decreases.

    The number of steps is not known in advance, so each step gets half of what the steps before it
    left. A new step begins when the total changes or less is done than before.

    Examples
    --------
    >>> far = ProgressShare()
    >>> [far.tell(done, 4) for done in (0, 2, 0, 2)]
    [0.0, 0.25, 0.25, 0.4375]
    """

    def __init__(self) -> None:
        self.share = self._begin = 0.0
        self._done = self._total = 0

    def tell(self, done: int, total: int) -> float:
        """Update with the progress of a step, and return the overall progress."""
        if total != self._total or done < self._done:
            self._begin = self.share
        self._done, self._total = done, total
        of_step = min(done / total, 1.0) if total else 0.0
        self.share = max(self.share, self._begin + (1 - self._begin) / 2 * of_step)
        return self.share
