"""Attacks against anonymeter, on the same original, release and control group.

Both columns of a line are the share of attacks that succeed, in the table and in the control group,
then the risk: the gain over the control group. Where they differ:

- one column: anonymeter divides by the attacks that were asked for, also where it found fewer
  conditions; tamis by the conditions that it found.
- two halves: of rows that are equally near, anonymeter takes the first, tamis each with equal
  chance.
- inference: both guess by the nearest row; of `tamis attack` this is only one of the learners.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.ratio import Ratio, show
from tamis.attack.inference import infer
from tamis.attack.learners import LOOKUP
from tamis.attack.linkage import halves
from tamis.attack.scene import Scene
from tamis.attack.score import AttackScore
from tamis.attack.singling import singling_out
from tamis.datasets import patients
from tamis.table import Roles, Table

PEER = Path(__file__).parents[1] / "tests" / "attack" / "anonymeter_peer.py"
ROWS, ATTACKS = 1000, 100
FIRST, SECOND = ("zip", "birth_year", "sex"), ("ward", "stay_days", "visits")
SECRET = "blood_group"


def people(random_state: int) -> Table:
    frame = patients(ROWS, random_state).frame.select(*FIRST, *SECOND, SECRET)
    return Table(frame, Roles(sensitive=SECRET))


def anonymeter(*tables: Table) -> dict[str, Any]:
    """What it says, and the seconds of each attack; reading the tables is not counted."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{i}.csv" for i in range(3)]
        for table, file in zip(tables, files):
            table.frame.write_csv(file)
        words = [*map(str, files), str(ATTACKS), SECRET, ",".join(FIRST), ",".join(SECOND)]
        command = ["uv", "run", "--script", str(PEER), *words]
        run = subprocess.run(command, capture_output=True, check=True)
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def ours(scene: Scene) -> dict[str, tuple[AttackScore, float]]:
    """The same attacks, and the seconds of each."""
    ways: dict[str, Callable[[], Any]] = {
        "one column": lambda: singling_out(scene, forms=["one column"])[0],
        "several columns": lambda: singling_out(scene, forms=["several columns"])[0],
        "two halves": lambda: halves(without_secret(scene), FIRST),
        "inference": lambda: infer(scene, SECRET, learners=[LOOKUP]),
    }
    found = {}
    for name, way in ways.items():
        start = time.perf_counter()
        found[name] = (way(), time.perf_counter() - start)
    return found


def without_secret(scene: Scene) -> Scene:
    """The same in the columns that the two attackers hold."""
    release = Table(scene.release.frame.select(*FIRST, *SECOND))
    return replace(scene, release=release)


def scene_of(release: Table, control: Table) -> Scene:
    known = (*FIRST, *SECOND)
    return Scene(people(0), release, control, known=known, most=ATTACKS)


def told(name: str, score: AttackScore, peer: dict[str, Any]) -> str:
    """One line of figures, ours and theirs."""
    mine = [score.success.value, score.control.value if score.control else 0.0]
    leak = score.leak
    risk = "" if leak is None else f"{leak.value:.3f} ({leak.low:.3f} to {leak.high:.3f})"
    low, high = peer["risk"][1:]
    return (
        f"{name:16} tamis {mine[0]:.3f} {mine[1]:.3f} risk {risk}; anonymeter "
        f"{peer['attack'][0]:.3f} {peer['control'][0]:.3f} risk {peer['risk'][0]:.3f} "
        f"({low:.3f} to {high:.3f})"
    )


def main() -> None:
    control = people(1)
    for title, release in (("the original itself", people(0)), ("rows of others", people(2))):
        scene = scene_of(release, control)
        ours(scene)  # compiles what the second time measures
        mine, theirs = ours(scene_of(release, control)), anonymeter(people(0), release, control)
        rows = [name for name in mine if "risk" in theirs[name]]
        print("\n".join(told(name, mine[name][0], theirs[name]) for name in rows))
        show(
            f"attacks, {ROWS:,} people, {ATTACKS} tries, release: {title}",
            [Ratio(n, "anonymeter", mine[n][1], theirs[n]["seconds"], 1) for n in rows],
        )
