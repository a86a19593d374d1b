# /// script
# requires-python = ">=3.11,<3.13"
# dependencies = ["anjana==1.2.3", "anonypy==0.2.1", "setuptools<81"]
# ///
"""The CPU seconds of anjana and anonypy on one table, as JSON; run in an environment of their own.

uv run --script coarsen_peers.py TABLE.csv FOLDER_OF_HIERARCHIES QUASI,...
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def cpu_seconds(work: Callable[[], Any]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def anonypy_seconds(data: Any, quasi: list[str]) -> float:
    """The partition alone, at k = 25; text columns are categories for it."""
    anonypy = importlib.import_module("anonypy")
    data = data.copy()
    for column in quasi:
        data[column] = data[column].astype(int if column == "age" else "category")
    mondrian = anonypy.mondrian.Mondrian(data, quasi, "class")
    return cpu_seconds(lambda: mondrian.partition(25))


def anjana_seconds(data: Any, quasi: list[str], folder: Path) -> float:
    """The greedy search, at k = 5 with 5 % of the rows suppressed."""
    anonymity = importlib.import_module("anjana.anonymity")
    hierarchies = {}
    for column in quasi:
        lines = (folder / f"adult_{column}.csv").read_text().splitlines()
        levels = zip(*(line.split(";") for line in lines))
        hierarchies[column] = {level: list(values) for level, values in enumerate(levels)}
    return cpu_seconds(lambda: anonymity.k_anonymity(data.copy(), [], quasi, 5, 5, hierarchies))


def main(table: str, folder: str, quasi: str) -> None:
    data = importlib.import_module("pandas").read_csv(table, dtype=str)
    columns = quasi.split(",")
    found = {
        "anonypy": anonypy_seconds(data, columns),
        "anjana": anjana_seconds(data, columns, Path(folder)),
    }
    sys.stdout.write("\n" + json.dumps(found) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
