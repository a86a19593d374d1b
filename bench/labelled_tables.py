"""Real labelled 0/1 tables for the benches; the data is next to the checkout."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from sklearn.feature_extraction.text import CountVectorizer

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def libsvm(name: str):
    X, y = load_svmlight_file(str(DATA / name))
    return sparse.csr_array(X, dtype=np.uint8), y > 0


def adult():
    """Eight attributes as 19 columns, cut as in Zhang et al. (2017), section 5.1."""
    frame = pl.read_csv(DATA / "adult_train.csv.gz")
    age, school, hours = (frame[c].to_numpy() for c in ("age", "education-num", "hours-per-week"))
    columns = [
        *_intervals(age, [25, 35, 45, 55]),
        *_intervals(school, [8, 9, 12]),
        *_intervals(hours, [20, 39, 40, 50]),
        (frame["workclass"] == "Private").to_numpy(),
        (frame["marital-status"] == "Never-married").to_numpy(),
        (frame["occupation"].is_in(["Exec-managerial", "Prof-specialty"])).to_numpy(),
        (frame["race"] == "White").to_numpy(),
        (frame["sex"] == "Male").to_numpy(),
    ]
    return np.column_stack(columns).astype(np.uint8), (frame["class"] == ">50K").to_numpy()


def sms():
    """Words that occur in at least two messages."""
    frame = pl.read_csv(DATA / "sms_spam.csv.gz")
    X = CountVectorizer(binary=True, min_df=2, dtype=np.uint8).fit_transform(frame["text"])
    return sparse.csr_array(X), (frame["label"] == "spam").to_numpy()


def _intervals(values, cuts):
    place = np.searchsorted(cuts, values)
    return [place == i for i in range(len(cuts) + 1)]


TABLES: dict[str, Callable[[], Any]] = {
    "Adult, 19 columns": adult,
    "a9a": lambda: libsvm("libsvm_a9a.txt.gz"),
    "w8a": lambda: libsvm("libsvm_w8a.txt.gz"),
    "SMS words": sms,
    "PU1": lambda: libsvm("pu1_body_binary.txt.gz"),
    "supermarket": lambda: libsvm("supermarket.txt.gz"),
}
