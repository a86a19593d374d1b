# /// script
# requires-python = ">=3.11,<3.13"
# dependencies = ["pycanon==1.3.6", "setuptools<81"]
# ///
"""What pycanon says of some tables, as JSON; run in an environment of its own.

pycanon pins old versions of numpy and pandas, so it cannot stand beside tamis. The test and the
bench start this script, which imports nothing of ours; uv makes its environment from the lines
above.

    uv run --script pycanon_peer.py TABLE.csv ...

A table's columns named `q...` are its quasi-identifiers, its column `s...` is sensitive; the
name of a text column ends in `_text`; an empty field is a missing cell.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from typing import Any


def figures(path: str, anonymity: Any, pandas: Any) -> dict[str, Any]:
    """The measures of one table and the seconds that each took."""
    header = pandas.read_csv(path, nrows=0).columns
    text = {c: str for c in header if c.endswith("_text")}
    data = pandas.read_csv(path, dtype=text, keep_default_na=False, na_values=[""])
    quasi = [c for c in header if c.startswith("q")]
    sensitive = [c for c in header if c.startswith("s")]
    found: dict[str, Any] = {"seconds": {}}

    def timed(name: str, function: str, *columns: list[str]) -> None:
        start = time.perf_counter()
        value = getattr(anonymity, function)(data, *columns)
        found["seconds"][name] = time.perf_counter() - start
        found[name] = [float(v) for v in value] if isinstance(value, tuple) else float(value)

    timed("k", "k_anonymity", quasi)
    timed("distinct", "l_diversity", quasi, sensitive)
    timed("t", "t_closeness", quasi, sensitive)
    if len(data) <= 1000:
        timed("entropy", "entropy_l_diversity", quasi, sensitive)
        timed("recursive", "recursive_c_l_diversity", quasi, sensitive)
    return found


if __name__ == "__main__":
    modules = [importlib.import_module(name) for name in ("pycanon.anonymity", "pandas")]
    sys.stdout.write(json.dumps([figures(path, *modules) for path in sys.argv[1:]]))
