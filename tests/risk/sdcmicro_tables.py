"""The tables that sdcMicro was measured on, from the public datasets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

KEYS = {
    "adult3k_A7": [
        "age",
        "workclass",
        "education",
        "marital_status",
        "race",
        "sex",
        "native_country",
    ],
    "adult3k_A5": ["age", "education", "marital_status", "race", "sex"],
    "credit_C5": ["A1", "A4", "A6", "A7", "A13"],
    "credit_C6": ["A1", "A4", "A6", "A7", "A11", "A13"],
    "credit_C7": ["A1", "A4", "A6", "A7", "A9", "A11", "A13"],
    "credit_C7c": ["A1", "A4", "A5", "A6", "A7", "A11", "A13"],
}


def measured(name: str, data: Path) -> pl.DataFrame:
    """The rows and keys of one set; missing cells are null."""
    frame = pl.read_csv(data, infer_schema_length=None, null_values="?")
    frame = frame.rename({c: c.replace("-", "_") for c in frame.columns})
    if name.startswith("adult"):
        text = pl.col(pl.String).str.strip_chars()
        frame = frame.with_columns(pl.when(text != "?").then(text)).drop_nulls().head(3000)
    return frame.select(KEYS[name])


def file_of(name: str) -> str:
    return "adult_train.csv.gz" if name.startswith("adult") else "credit_approval.csv.gz"


def weights(rows: int) -> dict[str, np.ndarray]:
    """The weights that sdcMicro was given, by their names in its figures."""
    i = np.arange(1, rows + 1)
    return {
        "one": np.ones(rows),
        "w100": np.full(rows, 100.0),
        "wmod": 1.0 + 37 * i % 101,
        "wfrac": 10 + (7919 * i % 1000) / 8,
    }
