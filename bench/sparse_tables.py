"""The real 0/1 tables that benches share: a CSR matrix and a label of 0 and 1.

Transactions have no label; here every other row is of the first class.
"""

from __future__ import annotations

import gzip
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"

LIBSVM = {
    "PU1": "pu1_body_binary",
    "dorothea": "dorothea",
    "hiva": "hiva",
    "a9a": "libsvm_a9a",
    "w8a": "libsvm_w8a",
}
TRANSACTIONS = {
    "chess": "fimi_chess",
    "BMS-WebView-1": "fimi_bms_webview_1",
    "BMS-WebView-2": "fimi_bms_webview_2",
    "retail": "fimi_retail",
    "mushroom": "fimi_mushroom",
}

ADULT_LEVELS = {
    "workclass": "Private",
    "marital-status": "Never-married",
    "occupation": "Exec-managerial",
    "race": "White",
    "sex": "Male",
}

Labelled = tuple[sparse.csr_array, NDArray[np.int8]]


@cache
def load(name: str) -> Labelled:
    """The table of that name; see the dictionaries above for the others."""
    if name == "aminer_ed":
        return _aminer()
    if name == "Adult":
        return _adult()
    if name == "SMS words":
        return _sms_words()
    if name in LIBSVM:
        return _libsvm(LIBSVM[name])
    return _transactions(TRANSACTIONS[name])


def _lines(stem: str) -> list[list[str]]:
    with gzip.open(DATA / f"{stem}.txt.gz", "rt") as lines:
        return [line.split() for line in lines]


def _libsvm(stem: str) -> Labelled:
    lines = _lines(stem)
    y = np.array([float(line[0]) > 0 for line in lines], dtype=np.int8)
    return _rows([[int(cell.partition(":")[0]) for cell in line[1:]] for line in lines]), y


def _transactions(stem: str) -> Labelled:
    X = _rows([[int(cell) for cell in line] for line in _lines(stem)])
    return X, (np.arange(X.shape[0]) % 2).astype(np.int8)


def _rows(rows: list[list[int]]) -> sparse.csr_array:
    """Rows of item numbers; items are renumbered from 0 in their order, unused ones left out."""
    lengths = [len(set(row)) for row in rows]
    flat = np.array([item for row in rows for item in sorted(set(row))], dtype=np.int64)
    items, indices = np.unique(flat, return_inverse=True)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    ones = np.ones(len(flat), dtype=np.int8)
    return sparse.csr_array((ones, indices, indptr), shape=(len(rows), len(items)))


def _aminer() -> Labelled:
    frame = pl.read_csv(DATA / "aminer_ed_148x552.csv.gz")
    y = (frame["class"] == "pure").to_numpy().astype(np.int8)
    return sparse.csr_array(frame.drop("name", "class").to_numpy().astype(np.int8)), y


def _sms_words() -> Labelled:
    from sklearn.feature_extraction.text import CountVectorizer

    frame = pl.read_csv(DATA / "sms_spam.csv.gz")
    words = CountVectorizer(binary=True, dtype=np.int8).fit_transform(frame["text"].to_list())
    words.sort_indices()
    y = (frame["label"] == "spam").to_numpy().astype(np.int8)
    return sparse.csr_array(words), y


def _adult() -> Labelled:
    """Adult in 19 columns after Zhang et al. (2017), section 5.1, with cuts of our own."""
    frame = pl.read_csv(DATA / "adult_train.csv.gz")
    columns = [
        *_intervals(frame["age"], [25, 35, 45, 55]),
        *_intervals(frame["education-num"], [8, 9, 12]),
        *_intervals(frame["hours-per-week"], [20, 34, 40, 50]),
        *((frame[name] == level).to_numpy() for name, level in ADULT_LEVELS.items()),
    ]
    y = (frame["class"] == ">50K").to_numpy().astype(np.int8)
    return sparse.csr_array(np.column_stack(columns).astype(np.int8)), y


def _intervals(values: pl.Series, ends: list[int]) -> list[NDArray[np.bool_]]:
    """A column for each interval, closed on the right."""
    which = np.searchsorted(ends, values.to_numpy())
    return [which == i for i in range(len(ends) + 1)]
