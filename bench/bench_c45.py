"""C4.5 on Adult, ten folds: fits against scikit-learn's unpruned entropy tree; the first use."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from bench.ratio import Ratio, seconds, show
from tamis.learn.c45 import C45Classifier
from tamis.learn.c45.fit import encode

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"

FIRST_USE = """
import time
start = time.process_time()
import numpy as np
from tamis.learn.c45 import C45Classifier
imported = time.process_time()
X = np.arange(40.0).reshape(20, 2)
C45Classifier(nominal=[1]).fit(X, np.arange(20) % 3 > 0).predict(X)
print(imported - start, time.process_time() - imported)
"""
ONE_LINE = """
import time
start = time.process_time()
from numba import njit
imported = time.process_time()
njit(lambda x: x + 1)(1)
print(imported - start, time.process_time() - imported)
"""


def adult() -> tuple[pl.DataFrame, np.ndarray]:
    """The complete rows, test part first; the class as 0 and 1."""
    parts = [pl.read_csv(DATA / f"adult_{part}.csv.gz") for part in ("test", "train")]
    frame = pl.concat(parts).filter(~pl.any_horizontal(pl.selectors.string() == "?"))
    labels = frame["class"].str.strip_suffix(".").to_numpy()
    return frame.drop("class"), np.unique(labels, return_inverse=True)[1]


def in_new_process(script: str, bytecode: str, compiled: str) -> np.ndarray:
    """The two times that a script prints; modules are loaded from bytecode, as usual."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": bytecode, "NUMBA_CACHE_DIR": compiled}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-c", script]
    output = subprocess.run(command, env=environment, check=True, capture_output=True).stdout
    return np.array(output.split(), float)


def first_use() -> str:
    """CPU seconds of a first fit and predict: with nothing compiled, then with everything "
    "cached."""
    with tempfile.TemporaryDirectory() as bytecode, tempfile.TemporaryDirectory() as compiled:
        in_new_process(FIRST_USE, bytecode, compiled)
        empty = [os.path.join(compiled, f"empty {i}") for i in range(3)]
        cold = np.min([in_new_process(FIRST_USE, bytecode, cache) for cache in empty], axis=0)
        warm = np.min([in_new_process(FIRST_USE, bytecode, compiled) for _ in empty], axis=0)
        line = np.min([in_new_process(ONE_LINE, bytecode, compiled) for _ in empty], axis=0)
    return (
        f"imports {cold[0]:.2f} s, then {cold[1]:.2f} s compiling or {warm[1]:.2f} s from the "
        f"cache; numba alone, with one line to compile, {line.sum():.2f} s"
    )


def main() -> None:
    frame, y = adult()
    folds = [train for train, _ in StratifiedKFold(10).split(y, y)]
    coded = encode(frame)
    columns = np.ascontiguousarray(coded.values.T)
    frames = [frame[train] for train in folds]
    C45Classifier().fit_coded(coded, y)

    def peer() -> None:
        for train in folds:
            DecisionTreeClassifier(criterion="entropy", random_state=0).fit(
                columns[train], y[train]
            )

    def from_frames() -> None:
        for part, train in zip(frames, folds):
            C45Classifier().fit(part, y[train])

    def from_coded() -> None:
        for train in folds:
            C45Classifier().fit_coded(coded, y, train)

    # In turn, round by round, so that a busy machine slows all three equally.
    rounds = [[seconds(work, 1) for work in (from_frames, from_coded, peer)] for _ in range(5)]
    frames_best, coded_best, theirs = np.min(rounds, axis=0).tolist()
    name = "scikit-learn entropy tree, unpruned"
    show(
        f"C4.5, ten fits on Adult {frame.height} x {frame.width}",
        [
            Ratio("C45Classifier.fit on frames", name, frames_best, theirs, 1.0),
            Ratio("C45Classifier.fit_coded", name, coded_best, theirs, 1.0),
        ],
    )
    print(f"first fit and predict in a new process, CPU time: {first_use()}")
