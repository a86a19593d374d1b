"""What a part of the harness has tried, and what it found."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

MINUTE = 60.0


@dataclass
class Tally:
    """Counts of what was tried, and everything that should not have happened.

    Examples
    --------
    >>> tally = Tally("input", minutes=0.001)
    >>> for number in tally.until(3):
    ...     tally.tried["csv"] += 1
    >>> tally.total, tally.found
    (3, [])
    """

    part: str
    minutes: float = 1.0
    tried: Counter[str] = field(default_factory=Counter)
    found: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)

    @property
    def total(self) -> int:
        return sum(self.tried.values())

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return 60 * self.minutes - self.seconds

    def until(self, most: int) -> Iterator[int]:
        """Numbers from 0, as long as there is time and fewer than `most` were given."""
        said = time.monotonic()
        for number in range(most):
            if self.left <= 0:
                return
            if time.monotonic() - said > MINUTE:
                said = time.monotonic()
                print(f"{self.part}: {self.total:,} tried so far", file=sys.stderr, flush=True)
            yield number

    def check(self, holds: bool, what: str) -> None:
        """Note what should not have happened, once."""
        if not holds and what not in self.found:
            self.found.append(what)

    def note(self, words: str) -> None:
        """Something a reader of the counts must know."""
        if words not in self.notes:
            self.notes.append(words)
