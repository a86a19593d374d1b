"""An external synthesiser: a command that reads a table and writes another.

It is run without a shell, in a temporary folder, with a time limit. A shadow attack runs it on a
table with and without one person, and measures how well the results can be told apart.
"""

from __future__ import annotations

import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl

from tamis.attack.membership import shadow_attack
from tamis.attack.scene import AttackScore
from tamis.errors import CannotMeet, InputError
from tamis.read import read_table
from tamis.read.schema import Schema

TIMEOUT = 600.0
"""Seconds that one run may take by default."""
RUNS = 20
"""Runs of a shadow attack, with and as often without the person, by default."""
SHADOWED = 200
"""Most people in the table of the shadow attack: one person stands out most among few."""


@dataclass(frozen=True)
class Generator:
    """A command with ``{in}`` and ``{out}``, and ``{seed}`` where it takes one.

    Parameters
    ----------
    command : str
        Split into words as a shell would; no other feature of a shell is supported.
    timeout : float
        Seconds after which a run is stopped.

    Examples
    --------
    >>> Generator("synth {in}")
    Traceback (most recent call last):
    tamis.errors.InputError: --generator takes a command with {in} and {out}, got 'synth {in}'
    """

    command: str
    timeout: float = TIMEOUT

    def __post_init__(self) -> None:
        if not ("{in}" in self.command and "{out}" in self.command):
            raise InputError(
                f"--generator takes a command with {{in}} and {{out}}, got {self.command!r}"
            )
        try:
            shlex.split(self.command)
        except ValueError:
            raise InputError(f"--generator has an open quotation: {self.command!r}") from None

    @property
    def name(self) -> str:
        """The name of the program, for tables and pictures."""
        return f"generator ({Path(shlex.split(self.command)[0]).name})"

    def run(self, frame: pl.DataFrame, seed: int = 0) -> pl.DataFrame:
        """The rows that the command makes from a frame; both are csv files with a header."""
        with TemporaryDirectory(prefix="tamis-generator-") as folder:
            given, made = Path(folder) / "in.csv", Path(folder) / "out.csv"
            frame.write_csv(given)
            self._call(folder, {"{in}": str(given), "{out}": str(made), "{seed}": str(seed)})
            if not made.is_file():
                raise CannotMeet("the generator ended without writing {out}; run it by hand to see")
            kinds = {c: "text" for c, kind in frame.schema.items() if kind == pl.String}
            return read_table(made, schema=Schema(columns=kinds), check=False).frame

    def _call(self, folder: str, places: dict[str, str]) -> None:
        # Paths are filled in after splitting, so that one with spaces remains a single word.
        words = shlex.split(self.command)
        for mark, place in places.items():
            words = [word.replace(mark, place) for word in words]
        try:
            done = subprocess.run(
                words, cwd=folder, capture_output=True, timeout=self.timeout, check=False
            )
        except FileNotFoundError:
            raise InputError(f"--generator: there is no program {words[0]!r}") from None
        except OSError as error:
            raise InputError(
                f"--generator: {words[0]!r} cannot be run ({error.strerror})"
            ) from None
        except subprocess.TimeoutExpired:
            raise CannotMeet(
                f"the generator ran for more than {self.timeout:g} seconds; give it more with "
                "--timeout, or a table of fewer rows"
            ) from None
        if done.returncode:  # what it printed may quote a cell, so it is not shown
            raise CannotMeet(
                f"the generator ended with exit code {done.returncode}; run it by hand to see why"
            )

    def shadow(
        self,
        frame: pl.DataFrame,
        *,
        runs: int = RUNS,
        most: int = SHADOWED,
        epsilon: float | None = None,
        random_state: int = 0,
    ) -> AttackScore:
        """A shadow attack on the person who stands out most among at most `most` people.

        `epsilon` is what the generator promises, if anything.
        """
        drawn = np.random.default_rng([random_state, 11]).permutation(frame.height)[:most]
        few = frame[np.sort(drawn)]
        attack = shadow_attack(
            self.run, few, epsilon=epsilon or 0.0, runs=runs, random_state=random_state
        )
        promised = {"epsilon": epsilon, "allowed": attack.allowed, "within": attack.within}
        return AttackScore(
            "membership, shadow tables",
            "has the generator make rows with and without the person who stands out most among "
            f"{few.height:,}, and tells the results apart",
            attack.success,
            0.5,
            1,
            details={
                "epsilon_at_least": attack.epsilon_at_least,
                "runs": attack.runs,
                **(promised if epsilon is not None else {}),
            },
        )
