"""The breach search: how much more does a whole search cost than one cross-validation?"""

from __future__ import annotations

import time
import warnings
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB

from bench.bench_bayes import adult
from bench.ratio import Ratio, seconds, show
from tamis.learn.bayes import AdditiveNaiveBayes
from tamis.learn.c45 import C45Classifier
from tamis.learn.cv import Folds
from tamis.read import read_table
from tamis.select.breach import BreachSelector

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


class Watched(C45Classifier):
    """C4.5 that adds up the time spent inside its own fits and predictions."""

    inside: ClassVar[float] = 0.0

    def fit_coded(self, *args: Any, **kwargs: Any) -> Any:
        return self._timed(super().fit_coded, *args, **kwargs)

    def predict_coded(self, *args: Any, **kwargs: Any) -> Any:
        return self._timed(super().predict_coded, *args, **kwargs)

    def _timed(self, work: Any, *args: Any, **kwargs: Any) -> Any:
        start = time.perf_counter()
        found = work(*args, **kwargs)
        Watched.inside += time.perf_counter() - start
        return found


def codes(frame: pl.DataFrame) -> np.ndarray:
    """Nominal columns by the order of their values, missing ones 0: what GaussianNB can read."""
    ranked = frame.select(pl.col(pl.String).rank("dense"), pl.selectors.numeric())
    return ranked.fill_null(0).to_numpy().astype(float)


def labels(column: pl.Series) -> np.ndarray:
    """Classes as whole numbers, which scikit-learn compares fastest."""
    return np.unique(column.to_numpy(), return_inverse=True)[1]


def splits(folds: Folds) -> list[Any]:
    return [(folds.train(fold), test) for fold, test in enumerate(folds.tests)]


def fit(estimator: Any, X: pl.DataFrame, y: np.ndarray, hidden: Any, **given: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return BreachSelector(estimator, **given).fit(X, y, sensitive=hidden)


def walks() -> list[Ratio]:
    """The whole walk on Diabetes130, both cases, against one cross-validation of GaussianNB."""
    table = read_table(DATA / "diabetes130.csv.gz", target="readmitted", missing=["?"])
    X = table.frame.drop("readmitted", "encounter_id", "patient_nbr")
    y = labels(table.frame["readmitted"])
    folds = Folds.stratified(y, 10, random_state=1)
    plain = codes(X)
    once = seconds(lambda: cross_val_score(GaussianNB(), plain, y, cv=splits(folds)))
    peer = f"cross_val_score of GaussianNB, {X.width} columns"
    found = []
    for hidden in (None, "gender"):
        features = X if hidden is None else X.drop(hidden)
        guessed = None if hidden is None else X[hidden]
        work = partial(fit, AdditiveNaiveBayes(), features, y, guessed, preset="paper", cv=folds)
        ours = seconds(work, repeat=2)
        what = "walk, target hidden" if hidden is None else f"walk, {hidden} hidden"
        found.append(Ratio(f"{what}, {X.height:,} rows", peer, ours, once, 5))
    return found


def every_subset() -> Ratio:
    frame = adult()
    y = labels(frame["class"])
    X = frame.drop("class", "sex", "fnlwgt")
    folds = Folds.stratified(y, 10, random_state=1)
    plain = codes(X)
    once = seconds(lambda: cross_val_score(GaussianNB(), plain, y, cv=splits(folds)), repeat=2)
    ours = seconds(
        lambda: fit(AdditiveNaiveBayes(), X, y, frame["sex"], search="exhaustive", cv=folds),
        repeat=1,
    )
    subsets = 2**X.width - 1
    peer = f"GaussianNB, {subsets:,} x one cross-validation, twice"
    what = f"all {subsets:,} subsets, {frame.height:,} rows, sex hidden"
    return Ratio(what, peer, ours, 2 * subsets * once, 1 / 100)


def overhead() -> Ratio:
    """The walk with C4.5: all of its time against the time inside the fits, in one run."""
    frame = adult()
    X, y = frame.drop("class"), labels(frame["class"])
    folds = Folds.stratified(y, 3, random_state=1)
    fit(Watched(), X.head(500), y[:500], None, search="walk", cv=2)  # compile before timing
    Watched.inside = 0.0
    start = time.perf_counter()
    fit(Watched(), X, y, None, search="walk", cv=folds)
    total = time.perf_counter() - start
    return Ratio("walk with C4.5 on Adult, 3 folds", "its fits alone", total, Watched.inside, 1.05)


def main() -> None:
    if not DATA.exists():
        print("bench breach: the real datasets are not next to this checkout; skipped")
        return
    show("breach search", [*walks(), every_subset(), overhead()])
