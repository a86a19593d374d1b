"""The seventeen datasets of Table 5, read as close to the paper as can be determined."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from experiments.data import Data
from tamis.learn.cv import Folds
from tamis.table import Roles, Table


@dataclass(frozen=True)
class Source:
    """A file, its label, and what is not a feature of it."""

    file: str
    target: str = "class"
    drop: tuple[str, ...] = ()
    nominal: tuple[str, ...] = ()
    positive: str | None = None
    """The rarer label, for the F-measure; none where there are more than two."""


SOURCES = {
    "Banknotes": Source("banknote", positive="1"),
    "Vehicle": Source("vehicle"),
    "RedWine": Source("winequality_red", "quality"),
    "Spambase": Source("spambase", positive="1"),
    "Wilt": Source("wilt", drop=("split",), positive="w"),
    "WallSensor": Source("wall_following_4"),
    "PageBlocks": Source("page_blocks"),
    "OptDigits": Source("optdigits"),
    "PenWritten": Source("pendigits"),
    "GammaTele": Source("magic", positive="h"),
    "Shuttle": Source("shuttle"),
    "Credit": Source("credit_approval", positive="+"),
    # Both determine the label completely: with them a tree has two leaves.
    "Parkinsons": Source("parkinson_speech", drop=("subject_id", "UPDRS"), positive="1"),
    "Yeast": Source("yeast", drop=("Sequence_Name",)),
    "Cardio": Source("cardiotocography", "NSP", nominal=("CLASS",)),
    "Adult": Source("adult_train", positive=">50K"),
    "Bank": Source("bank_marketing", "y", positive="yes"),
}
BINARY = tuple(name for name, source in SOURCES.items() if source.positive is not None)


def file_of(name: str) -> str:
    return f"{SOURCES[name].file}.csv.gz"


def table_of(data: Data, name: str) -> Table:
    """A dataset without rows with missing values and without constant columns."""
    source = SOURCES[name]
    frame = pl.read_csv(data.path(file_of(name)), null_values=["?"], infer_schema_length=None)
    constant = [c for c in frame.columns if frame[c].n_unique() == 1]
    words = pl.col(source.target, *source.nominal).cast(pl.String)
    frame = frame.drop(*source.drop, *constant).drop_nulls().with_columns(words)
    return Table(frame, Roles(target=source.target))


def fold_of(table: Table, fold: int, seed: int = 0) -> tuple[Table, Table]:
    """The rows that one of ten folds trains on, and those it tests."""
    folds = Folds.stratified(table.frame[table.target].to_numpy(), 10, random_state=seed)
    parts = (folds.train(fold), folds.tests[fold])
    train, test = (Table(table.frame[rows], table.roles) for rows in parts)
    return train, test
