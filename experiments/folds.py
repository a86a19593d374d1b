"""The folds of an experiment: Weka's own if available, otherwise ours.

The papers used Weka, whose assignment of folds for a seed decides the last printed digits.
It comes from a record of such folds, or from the program itself (Debian's package `weka`),
which prints for each row of a cross-validation in which fold it was tested.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.errors import CannotMeet

Origin = Literal["a record of Weka's", "Weka", "ours"]
FOLDS, SEED = 10, 1
RECORD = "weka_folds.csv.gz"
PLACES = (".", "../golden")
"""Where a record lies, seen from the folder of datasets."""
_TESTED = re.compile(r"^\s*(\d+)\s.*\((\d+)\)\s*$", re.MULTILINE)
"""A line of the program: the number of a row within its fold, and its `id` in brackets."""


@dataclass(frozen=True)
class Dealer:
    """Assigns the rows of a table to folds.

    Parameters
    ----------
    record : Path, optional
        A file of `dataset`, `row` and `fold`, as Weka assigned them for the class of each dataset.
    program : str, optional
        The command `weka`.
    """

    record: Path | None = None
    program: str | None = None

    @classmethod
    def beside(cls, folder: Path) -> Self:
        """With a record near the datasets, and the program, where there are any."""
        near = [folder / place / RECORD for place in PLACES]
        return cls(next((p for p in near if p.is_file()), None), shutil.which("weka"))

    def origin(self, rows: int, dataset: str | None = None) -> Origin:
        """Whose folds so many rows get; a dataset is named where they are for its class."""
        if self._recorded(rows, dataset) is not None:
            return "a record of Weka's"
        return "ours" if self.program is None else "Weka"

    def deal(self, labels: Sequence[object], dataset: str | None = None) -> NDArray[np.int64]:
        """The fold that tests each row, classes spread evenly.

        Examples
        --------
        >>> np.bincount(Dealer().deal(["a", "b", "b"] * 10)).tolist()
        [3, 3, 3, 3, 3, 3, 3, 3, 3, 3]
        """
        recorded = self._recorded(len(labels), dataset)
        if recorded is not None:
            return recorded
        codes = np.unique(np.asarray(labels, dtype=np.str_), return_inverse=True)[1]
        return _ours(codes) if self.program is None else _by_weka(self.program, codes)

    def _recorded(self, rows: int, dataset: str | None) -> NDArray[np.int64] | None:
        """The recorded folds; none where the dataset there has another number of rows."""
        if self.record is None or dataset is None:
            return None
        found = pl.read_csv(self.record).filter(dataset=dataset).sort("row")
        return found["fold"].to_numpy() if found.height == rows else None


def _ours(codes: NDArray[np.intp]) -> NDArray[np.int64]:
    from sklearn.model_selection import StratifiedKFold

    found = np.empty(len(codes), dtype=np.int64)
    parts = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED).split(codes, codes)
    for fold, (_, tested) in enumerate(parts):
        found[tested] = fold
    return found


def _by_weka(program: str, codes: NDArray[np.intp]) -> NDArray[np.int64]:
    """Have the program cross-validate a majority guess, and read which fold tested each row."""
    with TemporaryDirectory() as folder:
        rows = Path(folder) / "rows.arff"
        rows.write_text(_arff(codes), encoding="ascii")
        guess = [program, "-m", "2g", "-c", "weka.classifiers.rules.ZeroR", "--"]
        command = [*guess, "-t", str(rows), "-x", str(FOLDS), "-s", str(SEED), "-p", "1"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [(int(place), int(row)) for place, row in _TESTED.findall(done.stdout)]
    if len(lines) != len(codes):
        raise CannotMeet(
            f"{program} assigned {len(lines)} of {len(codes)} rows to folds; check that it runs, "
            "or "
            "remove it from the path to use our own folds"
        )
    found = np.empty(len(codes), dtype=np.int64)
    fold = -1
    for place, row in lines:
        fold += place == 1  # counted anew in each fold
        found[row] = fold
    return found


def _arff(codes: NDArray[np.intp]) -> str:
    """Rows of a number and a class, in the format of Weka."""
    classes = ",".join(f"c{code}" for code in range(int(codes.max()) + 1))
    rows = "\n".join(f"{row},c{code}" for row, code in enumerate(codes))
    head = f"@relation rows\n@attribute id numeric\n@attribute class {{{classes}}}\n@data"
    return f"{head}\n{rows}\n"
