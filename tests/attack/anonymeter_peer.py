# /// script
# requires-python = ">=3.11,<3.13"
# dependencies = ["anonymeter>=1.1,<1.2"]
# ///
"""What anonymeter says of an original, a release and a control group, as JSON.

It pins its own versions of pandas and numpy, so it runs in an environment of its own, which uv
makes from the lines above; the bench starts this script, which imports nothing of ours.

    uv run --script anonymeter_peer.py ORIGINAL.csv RELEASE.csv CONTROL.csv ATTACKS SECRET A,B C,D

The columns A,B are known to one attacker and C,D to another; the first infers SECRET from A,B,C,D.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from typing import Any


def figures(files: list[str], attacks: int, secret: str, halves: list[list[str]]) -> dict[str, Any]:
    """Rates and risks of each attack, and the seconds that each took."""
    pandas: Any = importlib.import_module("pandas")
    peer: Any = importlib.import_module("anonymeter.evaluators")
    ori, syn, control = (pandas.read_csv(path) for path in files)
    tables = {"ori": ori, "syn": syn, "control": control, "n_attacks": attacks}
    known = [*halves[0], *halves[1]]
    single = peer.SinglingOutEvaluator
    ways: dict[str, tuple[Any, dict[str, Any]]] = {
        "one column": (single(**tables), {"mode": "univariate"}),
        "several columns": (single(n_cols=3, **tables), {"mode": "multivariate"}),
        "two halves": (
            peer.LinkabilityEvaluator(aux_cols=halves, n_neighbors=1, **tables),
            {"n_jobs": 1},
        ),
        "inference": (
            peer.InferenceEvaluator(aux_cols=known, secret=secret, **tables),
            {"n_jobs": 1},
        ),
    }
    return {name: measured(evaluator, options) for name, (evaluator, options) in ways.items()}


def measured(evaluator: Any, options: dict[str, Any]) -> dict[str, Any]:
    start = time.process_time()
    try:
        evaluator.evaluate(**options)
    except RuntimeError as error:
        return {"failed": str(error), "seconds": time.process_time() - start}
    took = time.process_time() - start
    found, risk = evaluator.results(), evaluator.risk()
    rates = {name: getattr(found, f"{name}_rate") for name in ("attack", "baseline", "control")}
    return {
        **{name: [rate.value, rate.error] for name, rate in rates.items()},
        "risk": [risk.value, *risk.ci],
        "seconds": took,
    }


if __name__ == "__main__":
    *files, attacks, secret, first, second = sys.argv[1:]
    halves = [first.split(","), second.split(",")]
    sys.stdout.write(json.dumps(figures(files, int(attacks), secret, halves)))
