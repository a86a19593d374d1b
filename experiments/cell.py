"""One printed value of a paper next to ours, and whether they agree."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

Verdict = Literal["equal", "within", "differs"]
Kind = Literal["method", "data", "zero", "substitute", "given"]
KINDS: dict[Kind, str] = {
    "method": "figures of a method",
    "data": "shapes of data sets",
    "zero": "p-values printed as 0.00",
    "substitute": "figures on substitute rows",
    "given": "true by construction",
}
"""What a cell says, if it agrees: only the first are agreement of a method."""
VERDICTS: tuple[Verdict, ...] = ("equal", "within", "differs")
NO_REASON = "not known"

_NUMBER = re.compile(r"[-+]?\d[\d,]*\.?\d*|[-+]?\.\d+")
_SLACK = 1e-9
"""The error that binary fractions may add to rounding."""


@dataclass(frozen=True)
class Cell:
    """A printed value and ours.

    Attributes
    ----------
    place : str
        The table or figure, as "Table 4".
    row, column : str
        Where in it.
    printed : str
        As printed: the number of decimals says how exact it is.
    ours : float, int, str or None
        In the unit of the print; `None` if we have no value.
    tolerance : float
        The largest difference from the printed number that still counts as agreement.
    truncates : bool
        Whether the paper truncates here instead of rounding.
    reason : str
        Why ours differs, as far as it is known.
    kind : str
        What its agreement says, of `KINDS`.

    Examples
    --------
    >>> Cell("Table 4", "plas", "Perf", "73.043", 73.0434).verdict
    'equal'
    >>> Cell("Table 2", "H", "p", "0.9318", 0.93187, truncates=True).verdict
    'equal'
    >>> Cell("Table 1", "A", "PBI", "0.97", 1.2, tolerance=0.5).verdict
    'within'
    """

    place: str
    row: str
    column: str
    printed: str
    ours: float | str | None
    tolerance: float = 0.0
    truncates: bool = False
    reason: str = ""
    kind: Kind = "method"

    @property
    def verdict(self) -> Verdict:
        if self.ours is None:
            return "differs"
        if isinstance(self.ours, str):
            return "equal" if self.ours.strip() == self.printed.strip() else "differs"
        target = number(self.printed)
        if not math.isfinite(self.ours):
            return "differs"
        if _prints_as(self.ours, target, decimals(self.printed), self.truncates):
            return "equal"
        return "within" if abs(self.ours - target) <= self.tolerance + _SLACK else "differs"

    @property
    def shown(self) -> str:
        """Our value with the decimals of the print, and one more if it does not agree."""
        if self.ours is None:
            return "none"
        if isinstance(self.ours, str):
            return self.ours
        digits = decimals(self.printed)
        if self.verdict == "equal":
            return f"{number(self.printed):.{digits}f}"
        # Large counts are read as whole numbers.
        whole = digits == 0 and (abs(self.ours) >= 1000 or float(self.ours).is_integer())
        return f"{self.ours:.{0 if whole else digits + 1}f}"

    @property
    def why(self) -> str:
        """The reason, if there is something to explain."""
        return "" if self.verdict == "equal" else self.reason or NO_REASON

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"verdict": self.verdict, "why": self.why}


def number(printed: str) -> float:
    """The number in a printed text.

    >>> number("45,222"), number("-3.08"), number("75.26+")
    (45222.0, -3.08, 75.26)
    """
    found = _NUMBER.search(printed.replace("\N{MINUS SIGN}", "-"))
    if found is None:
        raise ValueError(f"no number in {printed!r}; pass ours as words too")
    return float(found.group().replace(",", ""))


def decimals(printed: str) -> int:
    """How many decimals were printed.

    >>> decimals("73.70"), decimals("8"), decimals(".05")
    (2, 0, 2)
    """
    found = _NUMBER.search(printed)
    return len(found.group().partition(".")[2]) if found else 0


def features(names: Iterable[str]) -> str:
    """A set of features as words, in one order.

    >>> features(["plas", "mass"]) == features(["mass", "plas"])
    True
    """
    return ", ".join(sorted(names))


def _prints_as(ours: float, target: float, digits: int, truncates: bool) -> bool:
    unit = 10.0**-digits
    if abs(ours - target) <= unit / 2 + _SLACK:
        return True
    beyond = (ours - target) * (-1 if target < 0 else 1)
    return truncates and -_SLACK <= beyond < unit
