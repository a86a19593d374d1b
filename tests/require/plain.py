"""What is asked as plain numbers, for oracles that know nothing of requirement objects."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import polars as pl

from tamis.coding import Coded
from tamis.people import People
from tamis.require import options_of_groups
from tamis.require.base import Requirements
from tamis.require.counts import ClassCounts
from tamis.risk.diversity import count_groups
from tamis.risk.grouping import Grouping


def plain(asked: Requirements) -> Any:
    """Every parameter by its name, `None` or its default where nobody asks for it."""
    found = {name: each.default for name, each in options_of_groups().items()} | {"k": 1}
    for each in asked:
        found |= {option.dest: getattr(each, option.dest) for option in each.options}
    return SimpleNamespace(**found)


def counts_of(
    classes: Coded, secret: pl.Series | None = None, people: People | None = None
) -> ClassCounts:
    """What requirements are asked of, for rows whose classes are known."""
    return count_groups(Grouping.of_classes(classes, people), secret)
