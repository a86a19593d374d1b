"""`uv run --group bench python -m bench [NAME ...]`: run some benches, or all of them."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

NAMES = sorted(p.stem.removeprefix("bench_") for p in Path(__file__).parent.glob("bench_*.py"))


def main(names: list[str]) -> None:
    for unknown in set(names) - set(NAMES):
        sys.exit(f"unknown bench {unknown!r}; choose from {', '.join(NAMES)}")
    for name in names or NAMES:
        import_module(f"bench.bench_{name}").main()


main(sys.argv[1:])
