"""What needs the rows in memory, and why: the one place that refuses a table behind an engine.

An engine answers a few queries about rows: class sizes, values, a sample, all rows in batches. What
is listed here takes more than these.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from tamis.catalogue.methods import METHODS
from tamis.errors import InputError, listed

PROPOSED = "front,coarsen"
"""Methods to take instead of those that need memory."""


class MemoryOnly(NamedTuple):
    """An option that needs the rows in memory: as users write it, why, and what to do instead."""

    option: str
    why: str
    instead: str = ""

    def refusal(self) -> InputError:
        other = f", or {self.instead}" if self.instead else ""
        return InputError(
            f"{self.option} needs the table in memory: {self.why}; pass --engine memory{other}"
        )


RELEASING: Mapping[str, MemoryOnly] = {
    "only_front": MemoryOnly("--choose front", "the releases of a sample would be shown"),
    "earlier": MemoryOnly("--earlier", "rows are matched with those of earlier releases"),
    "absences": MemoryOnly(
        "--known-absences",
        "it is for the method containment, which compares each row with all others",
        "leave it out",
    ),
    "known_rows": MemoryOnly(
        "--known-rows", "sets of rows of each person are compared with those of all others"
    ),
    "link": MemoryOnly("--link", "people are compared by all of their rows", "leave it out"),
    "shift_dates": MemoryOnly("--shift-dates", "dates are moved person by person", "leave it out"),
    "released_secrets": MemoryOnly(
        "a column that is --sensitive and a --feature",
        "how secrets that are released differ is counted in memory",
        "name it as one of them",
    ),
    "epsilon": MemoryOnly("--epsilon", "synthetic rows are drawn from all rows at once"),
}
"""Options of `tamis release`, by the name of the setting."""
READING: Mapping[str, MemoryOnly] = {
    "target_bins": MemoryOnly(
        "--target-bins", "classes are cut after reading", "write the classes into the table"
    ),
    "per_person": MemoryOnly(
        "--per-person",
        "the rows of a person are put together after reading",
        "write one row a person into the table",
    ),
    "weight": MemoryOnly("--weight", "weights are added up row by row"),
    "label_item": MemoryOnly(
        "--label-item",
        "labels are made of items after reading",
        "name a column of labels with --target",
    ),
}
"""Options of reading a table."""
_OF_POPULATION = "a population is counted for tables"
OF_RECORDS: Mapping[str, MemoryOnly] = {
    **{name: RELEASING[name] for name in ("only_front", "earlier", "epsilon")},
    "register": MemoryOnly("--population", _OF_POPULATION),
    "sampling": MemoryOnly("--sampling", _OF_POPULATION),
    "max_population_risk": MemoryOnly("--max-population-risk", _OF_POPULATION),
}
"""Options refused for sparse records; the columns that are compared are in memory there."""


def refuse_memory_only(
    given: Mapping[str, Any], among: Mapping[str, MemoryOnly], names: Iterable[str] | None = None
) -> None:
    """Raise for the first option given that needs the rows in memory.

    >>> refuse_memory_only({"weight": "w"}, READING)
    Traceback (most recent call last):
    tamis.errors.InputError: --weight needs the table in memory: weights are added up row by row; \
pass --engine memory
    """
    for name in among if names is None else names:
        if given.get(name):
            raise among[name].refusal()


def methods_on_engines(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """The methods that work behind engines; raises if one alters cells, or if none is left."""
    if altering := [name for name in chosen if METHODS[name].alters]:
        raise MemoryOnly(
            f"--methods {','.join(altering)}",
            f"{listed(altering)} alters cells",
            f"--methods {PROPOSED}",
        ).refusal()
    kept = {name: options for name, options in chosen.items() if METHODS[name].on_engines}
    if not kept:
        raise MemoryOnly(
            f"--methods {','.join(chosen)}",
            "it compares each row with all others",
            f"--methods {PROPOSED}",
        ).refusal()
    return kept


def unverified_by_engines(content: Mapping[str, Any]) -> str:
    """What a manifest states that no engine can count, as a message; empty if there is nothing."""
    promised = {entry["key"] for entry in content["promises"]}
    said = {key for column in content["columns"] for key in column}
    reasons = {
        "sparse files": content["file"]["format"] not in ("csv", "parquet"),
        "promises other than k-anonymity": promised - {"k_anonymity"},
        "questions and codes": said & {"codes", "question"},
        "claims about known rows": "known_rows" in {e["key"] for e in content.get("diversity", ())},
        "rows of a person that belong together": any(
            column["role"] == "link" for column in content["columns"]
        ),
    }
    words = next((what for what, stated in reasons.items() if stated), "")
    return f"{words} are verified in memory only; pass --engine memory" if words else ""
