"""`python -m fuzz [PART ...]`: run the long form, and write what was withstood."""

from __future__ import annotations

import argparse
import math
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fuzz import claims, composition, crafted, damaged, kills, mutants, privacy, undo
from fuzz.page import kept, written
from fuzz.tally import Tally

PARTS: dict[str, Callable[..., None]] = {
    "kills": kills.run,
    "input": damaged.run,
    "claims": claims.run,
    "privacy": privacy.run,
    "undo": undo.run,
    "composition": composition.run,
    "crafted": crafted.run,
    "mutants": mutants.run,
}
PARTLY = ("input", "privacy", "mutants")
"""Parts of which some cases can be asked for alone."""
PAGE = Path(__file__).resolve().parents[1] / "docs" / "withstood.md"


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)} [all]")
    parser.add_argument("--minutes", type=float, help="for each part [60; any with --times]")
    parser.add_argument("--seed", type=int, default=0, help="begin elsewhere [0]")
    parser.add_argument("--times", type=int, help="stop a part after so many cases")
    parser.add_argument(
        "--only",
        default="",
        help='readers, mechanisms or modules with one of these words, as "SPSS|Stata"',
    )
    parser.add_argument(
        "--at-limits", action="store_true", help="only mutants that move a limit by one"
    )
    parser.add_argument(
        "--resume",
        type=Path,
        metavar="FILE",
        help="pass over mutants noticed before; FILE keeps them",
    )
    asked = parser.parse_args(words)
    if unknown := set(asked.parts) - set(PARTS):
        parser.error(f"no part {', '.join(sorted(unknown))}; choose from {', '.join(PARTS)}")
    if asked.only and (not asked.parts or set(asked.parts) - set(PARTLY)):
        parser.error(f"--only is for the parts {', '.join(PARTLY)}; name one")
    mutants_only = {"at_limits": asked.at_limits, "resume": asked.resume}
    if any(mutants_only.values()) and asked.parts != ["mutants"]:
        parser.error("--at-limits and --resume are for the part mutants; name it alone")
    found = []
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    for name in asked.parts or PARTS:
        tally = Tally(name, asked.minutes or (60 if asked.times is None else math.inf))
        more: dict[str, Any] = {} if asked.times is None else {"most": asked.times}
        more |= {"only": asked.only} if asked.only else {}
        more |= mutants_only if name == "mutants" else {}
        try:
            PARTS[name](tally, seed=asked.seed, **more)
        except KeyboardInterrupt:
            tally.note("The run was stopped before it was done.")
        _tell(tally)
        kept(PAGE, written(tally, only=asked.only), name, asked.only)
        found += tally.found
    return 1 if found else 0


def _tell(tally: Tally) -> None:
    print(f"{tally.part}: {tally.total:,} tried in {tally.seconds / 60:.1f} minutes")
    for kind, count in sorted(tally.tried.items()):
        print(f"  {count:>9,}  {kind}")
    for words in (*tally.notes, *(f"FOUND: {each}" for each in tally.found)):
        print(f"  {words}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
