"""`DPSynthesiser`: OpenDP's own synthesisers AIM and MST, run in a Python of their own.

``opendp[mbi]`` needs polars 1.36.1 exactly, tamis needs polars 2: they cannot be installed side by
side. So the synthesiser runs in another environment, and bins travel to it and back in files.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import polars as pl

from tamis.dp.budget import Budget, Neighbours
from tamis.dp.domain import Ints
from tamis.dp.private_table import PrivateTable
from tamis.errors import CannotMeet, InputError, MissingExtra, check_whole
from tamis.files import scratch_folder
from tamis.table import Table
from tamis.table_file import panics_unheard

SCRIPT = Path(__file__).with_name("synthesiser_script.py")
INSTALL = (
    "create an environment for it, for example: uv venv mbi && uv pip install --python mbi "
    "'opendp[mbi]' pandas; then name its Python with python=... or --python FILE"
)


@dataclass(eq=False, repr=False, kw_only=True)
class DPSynthesiser(PrivateTable):
    """Draw a table from noisy counts of pairs and triples of columns that OpenDP chooses.

    For tables with more columns than a histogram or a partition can handle.

    Parameters
    ----------
    algorithm : {"aim", "mst"}
        AIM (McKenna et al. 2022) or MST (McKenna, Miklau and Sheldon 2021), as OpenDP has them.
    python : path, optional
        A Python interpreter that has ``opendp[mbi]``. `None`: this one, which has it only where
        tamis runs with the same polars as OpenDP.
    time_limit : float, optional
        Seconds to wait.
    epsilon, bounds, bins, missing, bounds_from_data, max_rows_per_person, random_state
        As for `DPHistogram`; the seed is for values within the bins, OpenDP's part has none.

    Attributes
    ----------
    codes_ : polars frame
        The bins of the rows that OpenDP drew.
    budget_ : Budget
    recipe_ : dict
        What was spent, for neighbours ``"add-remove"``, within which bounds.
    """

    bins: int = 10
    algorithm: Literal["aim", "mst"] = "aim"
    python: str | Path | None = None
    time_limit: float | None = None
    neighbours: Neighbours = field(init=False, default="add-remove")

    def _measure(self, table: Table, budget: Budget) -> None:
        check_whole("bins", self.bins)
        if self.algorithm not in ("aim", "mst"):
            raise InputError(f"algorithm must be 'aim' or 'mst', got {self.algorithm!r}")
        python = interpreter(self.python)
        self.axes_ = self._axes(table, self.bins)
        # Columns are sent as c0, c1, ...: their names stay private, and none can be reserved.
        codes = {f"c{i}": a.codes(table.frame.get_column(a.name)) for i, a in enumerate(self.axes_)}
        budget.spend(self.epsilon, f"OpenDP's {self.algorithm.upper()}")
        self.codes_ = self._synthesised(python, pl.DataFrame(codes))

    def _synthesised(self, python: Path, codes: pl.DataFrame) -> pl.DataFrame:
        with scratch_folder() as folder:
            source, result = folder / "codes.parquet", folder / "drawn.parquet"
            codes.write_parquet(source)
            bins = ",".join(str(a.bins) for a in self.axes_)
            settings = [str(self.epsilon), self.algorithm, bins, str(self._moved)]
            command = [python, SCRIPT, source, result, *settings]
            try:
                done = subprocess.run(
                    [str(part) for part in command],
                    capture_output=True,
                    timeout=self.time_limit,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                raise CannotMeet(
                    f"OpenDP's synthesiser took more than {self.time_limit:g} s; the budget is "
                    "spent all the same; give it more time, fewer columns or fewer bins"
                ) from None
            if done.returncode or not result.exists():
                raise CannotMeet(
                    "OpenDP's synthesiser failed; the budget is spent all the same; run "
                    f"{SCRIPT.name} by hand to see why"
                )
            return drawn_bins(result.read_bytes(), [a.bins for a in self.axes_])

    def _boxes(self) -> list[tuple[Ints, Ints]]:
        codes = [self.codes_[f"c{i}"].to_numpy() for i in range(len(self.axes_))]
        return [(places, places + 1) for places in codes]


def drawn_bins(data: bytes, bins: Sequence[int]) -> pl.DataFrame:
    """The bins of drawn rows, as the other Python wrote them; an error for anything else.

    A missing bin means "none of the public values" to OpenDP, which never occurs here.

    >>> import io
    >>> file = io.BytesIO()
    >>> pl.DataFrame({"c0": [0, 1, None], "c1": [2, 0, 1]}).write_parquet(file)
    >>> drawn_bins(file.getvalue(), [2, 3]).rows()
    [(0, 2), (1, 0)]
    """
    names = [f"c{i}" for i in range(len(bins))]
    try:
        with panics_unheard():
            drawn = pl.read_parquet(data).select(pl.col(names).cast(pl.Int64)).drop_nulls()
        inside = [drawn[name].is_between(0, many - 1).all() for name, many in zip(names, bins)]
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError):
        inside = [False]
    if not all(inside):
        raise CannotMeet(
            "OpenDP's synthesiser gave something other than the bins that were asked for; the "
            f"budget is spent all the same; run {SCRIPT.name} by hand to see why"
        )
    return drawn


def interpreter(python: str | Path | None) -> Path:
    """A Python that can run the synthesiser; otherwise an error that says how to get one."""
    if python is None:
        if find_spec("mbi") is None:
            raise MissingExtra(f"OpenDP's synthesiser needs opendp[mbi]; {INSTALL}")
        return Path(sys.executable)
    path = Path(python)
    if not path.is_file():
        raise InputError(f"no Python interpreter at {path}; {INSTALL}")
    command = [str(path), "-c", "import mbi, opendp.prelude, pandas"]
    try:
        able = subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        able = False
    if not able:
        raise MissingExtra(f"{path} has no opendp[mbi]; {INSTALL}")
    return path
