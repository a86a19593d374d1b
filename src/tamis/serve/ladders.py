"""Ladders of coarser forms as a person types them, and as a page shows them.

They are typed as in the table ``[ladders]`` of a configuration file. Whether one fits its column is
for `tamis ladder` to say, which runs in a process of its own.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tamis.errors import InputError
from tamis.files import in_toml

MOST_LABELS = 30
"""The most groups of a level that a page shows."""
EXAMPLE = "{ width = [5, 10], top = 90 }"


class Level(NamedTuple):
    """One form of a column, as a page shows it."""

    number: int
    words: str
    groups: int
    smallest: int
    labels: list[tuple[str, int]]
    """Some groups and the people in each."""

    @property
    def more(self) -> int:
        """The groups that are not shown."""
        return self.groups - len(self.labels) if self.labels else 0


def typed_ladder(column: str, text: str, place: Callable[[str], Path]) -> dict[str, Any]:
    """The description that a person typed, with or without its braces.

    `place` gives the path of a file that is named in it, if it may be read.

    >>> typed_ladder("age", "width = [5, 10], top = 90", Path)
    {'width': [5, 10], 'top': 90}
    """
    line = " ".join(text.split("\n")).strip()
    try:
        found = tomllib.loads(f"ladder = {line if line.startswith('{') else f'{{ {line} }}'}")
    except (ValueError, RecursionError):  # of TOML, and of numbers with thousands of digits
        raise InputError(
            f"the ladder of column {column!r} cannot be read; write it as in tamis.toml, such as "
            f"{EXAMPLE}"
        ) from None
    # Dates become texts, which a ladder takes as well and a project can keep.
    described: dict[str, Any] = json.loads(json.dumps(found["ladder"], default=str))
    if isinstance(described.get("file"), str):
        described["file"] = str(place(described["file"]))
    return described


def as_typed(description: Mapping[str, Any] | None) -> str:
    """A description as a person would type it; nothing for none."""
    return in_toml(description) if description else ""


def shown_levels(found: Mapping[str, Any]) -> list[Level]:
    """What `tamis ladder` says, with as many groups of each level as a page can show."""
    last = len(found["levels"]) - 1
    return [
        Level(
            each["level"],
            each["words"],
            each["groups"],
            each["smallest"],
            [] if each["level"] == last else _labels(each.get("labels", ())),
        )
        for each in found["levels"]
    ]


def _labels(given: Any) -> list[tuple[str, int]]:
    named = ((each["label"], each["people"]) for each in given[:MOST_LABELS])
    return [("missing" if label is None else label, people) for label, people in named]
