"""Generated tables of any size, larger than the real ones: sparse 0/1 ones, and real ones grown."""

from __future__ import annotations

import numpy as np
import polars as pl
from scipy import sparse


def uniform(rows: int, columns: int, ones: int, seed: int = 0):
    """About `ones` columns in each row, all columns equally likely; labels of two classes."""
    rng = np.random.default_rng(seed)
    return _table(rng, rows, columns, ones, lambda size: rng.integers(0, columns, size))


def skewed(rows: int, columns: int, ones: int, seed: int = 0):
    """Like click streams: column j occurs in proportion to 1 / (j + 1)."""
    rng = np.random.default_rng(seed)

    def draw(size):
        return np.minimum(columns ** rng.random(size) - 1, columns - 1)

    return _table(rng, rows, columns, ones, draw)


def repeated(rows: int, columns: int, ones: int, times: int, seed: int = 0):
    """Like `uniform`, but each row occurs several times, so that all columns are safe up to "
    "that k."""
    X, _ = uniform(rows // times, columns, ones, seed)
    labels = np.random.default_rng(seed + 1).random(X.shape[0] * times) < 0.4
    return X[np.repeat(np.arange(X.shape[0]), times)], labels


def grown(frame: pl.DataFrame, rows: int, seed: int = 0) -> pl.DataFrame:
    """Rows of a table drawn again, with numbers of many values moved a little; 0 stays 0."""
    rng = np.random.default_rng(seed)
    drawn = frame[rng.integers(0, frame.height, rows)]
    return pl.DataFrame([_moved(column, rng) for column in drawn])


def mixed(rows: int, columns: int = 15, seed: int = 0) -> pl.DataFrame:
    """Numbers with and without fractions and nominal values, about three hidden traits.

    Of any size every row is different, so that nothing is saved by counting equal rows once. The
    last two columns are `outcome`, of two values, and `secret`, of four.
    """
    rng = np.random.default_rng(seed)
    traits = rng.standard_normal((rows, 3))
    made = [
        _of_trait(j, traits[:, j % 3] * (0.5 if j % 2 else 0.1) + rng.standard_normal(rows))
        for j in range(columns - 2)
    ]
    likely = 1 / (1 + np.exp(-traits[:, 0] - traits[:, 1]))
    level = traits[:, 2] + traits[:, 0] * 0.3 + rng.standard_normal(rows)
    outcome = np.where(rng.random(rows) < likely, "yes", "no")
    secret = np.array(["a", "b", "c", "d"])[np.digitize(level, [-1, 0.5, 2])]
    return pl.DataFrame([*made, pl.Series("outcome", outcome), pl.Series("secret", secret)])


def _of_trait(number: int, cells: np.ndarray) -> pl.Series:
    """The column of this number: one of three is nominal, of 2, 5, 12 or 40 values."""
    if number % 3 == 0:
        return pl.Series(f"number {number}", np.round(cells * 100, 4))
    if number % 3 == 1:
        return pl.Series(f"whole {number}", (np.round(cells * 20) + 100).astype(np.int64))
    values = (2, 5, 12, 40)[number // 3 % 4]
    place = np.clip((cells + 3) / 6 * values, 0, values - 1).astype(np.int64)
    return pl.Series(f"kind {number}", np.array([f"v{i:02}" for i in range(values)])[place])


def _moved(column: pl.Series, rng: np.random.Generator) -> pl.Series:
    if not column.dtype.is_integer() or column.n_unique() <= 20:
        return column
    cells = column.to_numpy()
    spread = max(1, round(float(np.std(cells)) / 10))
    moved = np.maximum(cells + rng.integers(-spread, spread + 1, len(cells)), 0)
    return pl.Series(column.name, np.where(cells == 0, 0, moved))


def _table(rng, rows, columns, ones, draw):
    lengths = rng.poisson(ones, rows)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    which = draw(int(starts[-1])).astype(np.int32)
    X = sparse.csr_array((np.ones(len(which), np.uint8), which, starts), shape=(rows, columns))
    X.sum_duplicates()
    X.data[:] = 1
    return X, rng.random(rows) < 0.4
