"""What `tamis judge` and other tools say of the same files: original, release, control group.

anonymeter is asked in an environment of its own (see `bench_attack`). R's synthpop, whose repU and
DiSCO `tamis judge` prints, is in no registry that Python or Debian installs from; a line compares
them with its published formulas, counted here once more over plain rows. The attackers differ: both
tools are asked for singling out by several columns, for the secret of a person by all others, and
for two halves of a person, and each risk is the gain over the control group.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import polars as pl

from bench.bench_attack import ATTACKS, FIRST, SECOND, SECRET, anonymeter, mixed, people
from tamis.judgement.judgement import Judgement, judge
from tamis.table import Roles, Table


def replicated(original: Sequence[tuple[str, ...]], released: Sequence[tuple[str, ...]]) -> str:
    """RepU and DiSCO of Raab, Nowok and Dibben (2024); the secret is the last cell of a row."""
    d, s = (Counter(row[:-1] for row in rows) for rows in (original, released))
    both = Counter(released)
    rep_u = sum(d[row[:-1]] == s[row[:-1]] == 1 for row in original) / len(original)
    certain = [row for row in original if both[row] and both[row] == s[row[:-1]]]
    return f"repU {rep_u:.3f}, DiSCO {len(certain) / len(original):.3f}"


def lines(found: Judgement, peer: dict[str, dict[str, list[float]]]) -> list[str]:
    said = []
    for name, entry in peer.items():
        if "risk" not in entry:
            continue
        value, low, high = entry["risk"]
        said.append(f"anonymeter {name:16} risk {value:.3f} ({low:.3f} to {high:.3f})")
    for score in found.attacks.scores:
        if (leak := score.leak) is not None:
            within = f"({leak.low or 0:.3f} to {leak.high or 0:.3f})"
            said.append(f"tamis      {score.attacker[:40]:40} risk {leak.value:.3f} {within}")
    return said


def main() -> None:
    control = people(1)
    original = Table(people(0).frame, Roles(sensitive=SECRET, quasi=(*FIRST, *SECOND)))
    releases = {
        "the original itself": people(0),
        "half of its rows and others": mixed(),
        "rows of others": people(2),
    }
    for title, release in releases.items():
        print(f"\n{title}")
        found = judge(original, {title: release}, control=control, most=ATTACKS).releases[0]
        print("\n".join(lines(found, anonymeter(original, release, control))))
        asked = [*FIRST, *SECOND, SECRET]
        rows = (t.frame.select(asked).cast(pl.String).rows() for t in (original, release))
        copies = found.replicated
        assert copies is not None
        ours = f"repU {copies.rep_u:.3f}, DiSCO {copies.disco or 0:.3f}"
        print(f"tamis      {ours}; by the published formulas {replicated(*rows)}")
