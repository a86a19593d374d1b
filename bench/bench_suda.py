"""Minimal unique combinations on Adult, seven keys; sdcMicro's time was measured elsewhere.

sdcMicro 5.8.1 (R 4.2.2, two cores, median of five) takes .049 s for all combinations of 3,000 rows;
ten times that is the peer of 30,162 rows, though its time grows faster than the rows.
"""

from __future__ import annotations

import polars as pl

from bench.labelled_tables import DATA
from bench.ratio import Ratio, seconds, show
from tamis.risk.suda import special_uniques

KEYS = ["age", "workclass", "education", "marital-status", "race", "sex", "native-country"]
THEIRS = 0.049


def adult() -> pl.DataFrame:
    frame = pl.read_csv(DATA / "adult_train.csv.gz").with_columns(
        pl.col(pl.String).str.strip_chars()
    )
    return frame.filter(~pl.any_horizontal(pl.col(pl.String) == "?")).select(KEYS)


def line(frame: pl.DataFrame, peer: str, theirs: float, most: int) -> Ratio:
    ours = seconds(lambda: special_uniques(frame, most=most), repeat=5)
    return Ratio(f"{frame.height:,} rows, up to {most} columns", peer, ours, theirs, 1)


def main() -> None:
    whole = adult()
    few = whole.head(3_000)
    special_uniques(few)  # compiles
    lines = [
        line(few, "sdcMicro suda2", THEIRS, 4),
        line(few, "sdcMicro suda2", THEIRS, 7),
        line(whole, "ten times sdcMicro's 3,000 rows", 10 * THEIRS, 4),
        line(whole, "ten times sdcMicro's 3,000 rows", 10 * THEIRS, 7),
    ]
    show("who is singled out by which of 7 keys, Adult", lines)


if __name__ == "__main__":
    main()
