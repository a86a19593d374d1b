"""Sparse records as pairs behind engines: 50 of 50,000 features an entity, from parquet.

Counted: the pairs held once, entities by label, features by label, the patterns of 20 features; and
then what `tamis release` needs, the columns worth comparing for all entities. Each runs in a
process of its own: CPU seconds, and the most memory it held. For other sizes:
`python -m bench.bench_pairs ENTITIES [ENGINE ...]`.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl

SIZES = (20_000, 100_000)
ENGINES = ("polars", "duckdb")
FEATURES, ONES, PART = 50_000, 50, 20_000


def main(sizes: Sequence[int] = SIZES, engines: Sequence[str] = ENGINES) -> None:
    print("pairs        engine   what      CPU s   wall s   peak GB", flush=True)
    for entities in sizes:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "pairs.parquet"
            _write(entities, path)
            for engine in engines:
                for what in ("counts", "columns"):
                    f = _asked(engine, what, path)
                    print(
                        f"{f['pairs']:<12,} {engine:<8} {what:<8} {f['cpu']:6.1f} {f['wall']:8.1f} "
                        f"{f['peak']:8.2f}",
                        flush=True,
                    )


def _write(entities: int, path: Path) -> None:
    """Made pairs as parquet, never whole in memory; twenty features depend on the class."""
    from polars.io.plugins import register_io_source

    def parts(*_: object) -> Iterator[pl.DataFrame]:
        return (_pairs(i, min(PART, entities - i)) for i in range(0, entities, PART))

    register_io_source(parts, schema=_pairs(0, 1).schema).sink_parquet(path)


def _pairs(start: int, entities: int) -> pl.DataFrame:
    rng = np.random.default_rng(start)
    ill = rng.random(entities) < 0.4
    common = (FEATURES * rng.random((entities, ONES)) ** 3).astype(np.int64)
    telling, which = np.nonzero(rng.random((entities, 20)) < np.where(ill, 0.25, 0.05)[:, None])
    row = np.concatenate([np.repeat(np.arange(entities), ONES), telling])
    item = np.concatenate([common.ravel(), FEATURES + which])
    return pl.DataFrame({"who": start + row, "item": item, "ill": np.where(ill[row], "yes", "no")})


def _asked(engine: str, what: str, path: Path) -> dict[str, object]:
    run = [sys.executable, "-m", "bench.bench_pairs", engine, what, str(path)]
    found: dict[str, object] = json.loads(subprocess.check_output(run, text=True))
    return found


def _measure(engine: str, what: str, path: Path) -> None:
    from tamis.rows import EngineOptions, running
    from tamis.rows.counts import count_rows
    from tamis.rows.pairs import class_totals, feature_totals, patterns
    from tamis.rows.sources import open_pairs

    if what == "columns":
        from tamis.propose.containment import compared_records
    start, wall = time.process_time(), time.perf_counter()
    with running(EngineOptions(memory="1GB"), engine) as behind:  # type: ignore[arg-type]
        records = open_pairs(behind, str(path), "who", "item", "ill")
        if what == "counts":
            class_totals(records)
            feature_totals(records)
            patterns(records, [FEATURES + i for i in range(20)])
        else:
            compared_records(records, 50_000, target="ill", k=5, holdout=0.3, seed=0)
        used = time.process_time() - start, time.perf_counter() - wall
        pairs = count_rows(behind, records.pairs)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(json.dumps({"cpu": used[0], "wall": used[1], "peak": peak, "pairs": pairs}))


if __name__ == "__main__":
    if sys.argv[1].isdecimal():
        main([int(sys.argv[1])], sys.argv[2:] or ENGINES)
    else:
        _measure(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
