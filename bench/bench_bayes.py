"""Score sets of features with naive Bayes on Adult: additions against refitting."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB

from bench.ratio import Ratio, seconds, show
from tamis.learn.bayes.model import ContributionCache, NaiveBayes
from tamis.learn.columns import Coding
from tamis.learn.cv import Folds

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
PEER = "GaussianNB, cross_val_score on ordinal codes"


def adult() -> pl.DataFrame:
    """The complete rows of Adult, test then train: 45,222."""
    parts = (
        pl.read_csv(DATA / f"adult_{part}.csv.gz", null_values="?") for part in ("test", "train")
    )
    return pl.concat(parts).drop_nulls()


def main() -> None:
    if not DATA.exists():
        print("bench bayes: the real datasets are not next to this checkout; skipped")
        return
    frame = adult()
    y = frame["class"].cast(pl.Categorical).to_physical().to_numpy()
    columns = Coding.of(frame.drop("class")).columns(frame.drop("class"))
    codes = frame.drop("class").select(pl.col(pl.String).rank("dense"), pl.col(pl.Int64)).to_numpy()
    folds = Folds.stratified(y, 10, random_state=1)
    splits = [(folds.train(fold), test) for fold, test in enumerate(folds.tests)]

    def refit(kept: list[int]) -> None:
        cross_val_score(GaussianNB(), codes[:, kept], y, cv=splits)

    def all_drop_ones() -> None:
        for gone in range(codes.shape[1]):
            refit([i for i in range(codes.shape[1]) if i != gone])

    cache = ContributionCache(NaiveBayes(), columns, y, folds)
    build = seconds(lambda: ContributionCache(NaiveBayes(), columns, y, folds))
    drops = seconds(cache.drop_ones, repeat=9)
    walk = seconds(lambda: cache.all_subsets(range(12)))
    peer_drops = seconds(all_drop_ones, repeat=2)
    peer_subset = seconds(lambda: refit(list(range(6))), repeat=2)

    show(
        f"naive Bayes on Adult, {frame.height:,} x {len(columns)}, ten folds, "
        f"cache of {cache.nbytes / 2**20:.1f} MiB",
        [
            Ratio("all 14 drop-ones, cache built", PEER, drops, peer_drops, 1 / 100),
            Ratio("building the cache and all drop-ones", PEER, build + drops, peer_drops, 1),
            Ratio(
                "all 4,095 subsets of 12 features",
                "the same, 4,095 x one subset of 6",
                walk,
                4095 * peer_subset,
                1 / 100,
            ),
        ],
    )
