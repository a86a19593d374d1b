"""Attacks against anonymeter, on the same original, release and control group.

A line has the share of attacks that succeed, in the table and in the control group, then the risk,
which is the gain over the control group, of both; and whether each risk lies in the interval of the
other. Times are of a processor, so that a busy machine changes them little. Where they differ:

- one column: anonymeter divides by the attacks that were asked for, also where it found fewer
  conditions; tamis by the conditions that it found.
- two halves: of rows that are equally near, anonymeter takes the first, tamis each with equal
  chance.
- inference: both guess by the nearest row; of `tamis attack` this is only one of the learners.
- a risk below 0 is cut to 0 by anonymeter.
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
from tamis.attack.scene import AttackScore, Scene
from tamis.attack.singling_out import singling_out
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
        start = time.process_time()
        found[name] = (way(), time.process_time() - start)
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
    theirs, low, high = peer["risk"]
    return (
        f"{name:16} tamis {mine[0]:.3f} {mine[1]:.3f} risk {risk}; anonymeter "
        f"{peer['attack'][0]:.3f} {peer['control'][0]:.3f} risk {theirs:.3f} "
        f"({low:.3f} to {high:.3f}): {'agree' if agree(score, peer) else 'DIFFER'}"
    )


def agree(score: AttackScore, peer: dict[str, Any]) -> bool:
    """Whether each risk lies in the interval of the other; risks below 0 count as 0."""
    if score.leak is None:
        return False
    ours = [max(0.0, end or 0.0) for end in (score.leak.value, score.leak.low, score.leak.high)]
    theirs = peer["risk"]
    slack = 1e-9
    return bool(
        theirs[1] - slack <= ours[0] <= theirs[2] + slack
        and ours[1] - slack <= theirs[0] <= ours[2] + slack
    )


def mixed() -> Table:
    """Half of the people of the original, and as many others."""
    half = ROWS // 2
    frame = people(0).frame[:half].vstack(people(2).frame[:half])
    return Table(frame, Roles(sensitive=SECRET))


def main() -> None:
    control = people(1)
    releases = {
        "the original itself": people(0),
        "half of its rows and others": mixed(),
        "rows of others": people(2),
    }
    for title, release in releases.items():
        scene = scene_of(release, control)
        ours(scene)  # compiles what the second time measures
        mine, theirs = ours(scene_of(release, control)), anonymeter(people(0), release, control)
        rows = [name for name in mine if "risk" in theirs[name]]
        for name in set(mine) - set(rows):
            print(f"{name}: anonymeter failed: {theirs[name]['failed']}")
        print("\n".join(told(name, mine[name][0], theirs[name]) for name in rows))
        show(
            f"attacks, {ROWS:,} people, {ATTACKS} tries, release: {title}",
            [Ratio(n, "anonymeter", mine[n][1], theirs[n]["seconds"], 1) for n in rows],
        )
