"""All real sparse sets: every engine counts what sparse matrices in memory count.

polars and DuckDB are asked about each set, whole; Spark, which takes seconds for any question,
about all of them at once, whole too, as the records of one long table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest
from scipy import sparse

from tamis.read import read_binary
from tamis.rows.engines import DuckDB, Engine, Polars, Spark
from tamis.rows.pairs import (
    Pairs,
    class_totals,
    common_features,
    feature_gains,
    feature_totals,
    hold_pairs,
    patterns,
    sample_pairs,
)
from tests.long import daily, long
from tests.spark import engines


class Records(NamedTuple):
    """A matrix of 0 and 1, and a label for each row."""

    matrix: sparse.csr_array
    labels: np.ndarray


def libsvm(path: Path) -> Records:
    found = read_binary(path, format="svm")
    return Records(sparse.csr_array(found.matrix), np.asarray(found.labels).astype(str))


def baskets(path: Path) -> Records:
    """Records that have no class: every third gets another label."""
    found = sparse.csr_array(read_binary(path, format="basket").matrix)
    return Records(found, np.where(np.arange(found.shape[0]) % 3, "a", "b"))


def words(path: Path, text: str, label: str = "label") -> Records:
    """Which words, or numbers of words, a text has."""
    rows = pl.read_csv(path, infer_schema=False).with_row_index("row")
    found = rows.select("row", pl.col(text).str.extract_all(r"\w+").alias("word")).explode("word")
    pairs = found.drop_nulls().unique()
    columns = (pairs["word"].rank("dense") - 1).cast(pl.Int64).to_numpy()
    ones = (np.ones(pairs.height), (pairs["row"].to_numpy(), columns))
    shape = rows.height, int(columns.max()) + 1
    return Records(sparse.csr_array(ones, shape=shape), rows[label].to_numpy())


def wide(path: Path) -> Records:
    rows = pl.read_csv(path)
    ones = rows.select(pl.selectors.numeric()).to_numpy()
    return Records(sparse.csr_array(ones), rows["class"].to_numpy())


SETS: dict[str, Callable[[Path], Records]] = {
    **dict.fromkeys(
        (
            "dorothea.txt.gz",
            "hiva.txt.gz",
            "libsvm_a9a.txt.gz",
            "libsvm_a9a_test.txt.gz",
            "libsvm_w8a.txt.gz",
            "news20_binary_presence.txt.gz",
            "pu1_body_binary.txt.gz",
            "supermarket.txt.gz",
        ),
        libsvm,
    ),
    **dict.fromkeys(
        (
            "fimi_accidents_first10k.txt.gz",
            "fimi_bms_webview_1.txt.gz",
            "fimi_bms_webview_2.txt.gz",
            "fimi_chess.txt.gz",
            "fimi_connect_first10k.txt.gz",
            "fimi_mushroom.txt.gz",
            "fimi_retail.txt.gz",
            "fimi_t10i4d100k.txt.gz",
            "spmf_foodmart.txt.gz",
        ),
        baskets,
    ),
    **dict.fromkeys(
        ("pu1.csv.gz", "pu2.csv.gz", "pu3.csv.gz", "pua.csv.gz"), lambda path: words(path, "body")
    ),
    "sms_spam.csv.gz": lambda path: words(path, "text"),
    "review_polarity.csv.gz": lambda path: words(path, "text"),
    "reuters_corn_grain.csv.gz": lambda path: words(path, "text", "grain"),
    "aminer_ed_148x552.csv.gz": wide,
    "dna.csv.gz": wide,
}


def behind(engine: Engine, records: Records, folder: Path) -> Pairs:
    """The same records as pairs and labels behind an engine."""
    rows, columns = records.matrix.nonzero()
    pairs = pl.DataFrame({"e": rows, "f": columns}).cast(pl.Int64)
    known = pl.DataFrame({"e": np.arange(len(records.labels)), "y": records.labels})
    for name, frame in (("pairs", pairs), ("labels", known)):
        frame.write_parquet(folder / f"{name}.parquet")
    opened = (engine.open(folder / f"{name}.parquet") for name in ("pairs", "labels"))
    return hold_pairs(engine, *opened)


def by_group(records: Records, group: np.ndarray) -> pl.DataFrame:
    """How many records of each group have each feature: `group`, `feature` and `n`."""
    places = sparse.csr_array((np.ones(len(group)), (group, np.arange(len(group)))))
    found = (places @ records.matrix).tocoo()
    columns = {"group": found.coords[0], "feature": found.coords[1], "n": found.data}
    return pl.DataFrame(columns).cast(pl.Int64)


def check(found: Pairs, records: Records, chosen: list[int]) -> None:
    """Every question about pairs, against products of matrices."""
    names, label = np.unique(records.labels, return_inverse=True)
    sizes = np.bincount(label)
    assert class_totals(found).rows() == list(zip(names.tolist(), sizes.tolist()))

    def named(frame: pl.DataFrame, *keys: str) -> pl.DataFrame:
        text = pl.Series(names)[frame["group"] % len(names)].alias("label")
        return frame.with_columns(text).select(*keys, "n").sort(keys)

    totals = by_group(records, label)
    assert feature_totals(found).equals(named(totals, "feature", "label"))
    each = totals.group_by("feature").agg(pl.col("n").sum()).filter(pl.col("n") >= 20)
    assert common_features(found, 20).equals(each.sort("feature"))

    bits = records.matrix[:, chosen].toarray().astype(np.int64) @ (1 << np.arange(len(chosen)))
    known, pattern = np.unique(bits, return_inverse=True)
    group = pattern * len(names) + label
    counted = pl.Series("group", group).value_counts(name="n")
    counted = counted.with_columns(pattern=pl.Series(known)[counted["group"] // len(names)])
    assert patterns(found, chosen).equals(
        named(counted.with_columns(pl.col("n").cast(pl.Int64)), "pattern", "label")
    )
    few = chosen[:3]
    bits = records.matrix[:, few].toarray().astype(np.int64) @ (1 << np.arange(len(few)))
    gains = by_group(records, bits * len(names) + label)
    gains = gains.with_columns(pattern=pl.col("group") // len(names))
    gains = gains.filter(~pl.col("feature").is_in(few))
    assert feature_gains(found, few).equals(named(gains, "feature", "pattern", "label"))

    pairs, labels = sample_pairs(found, 0.02, 7)
    drawn = labels["entity"].to_list()
    kinds = list(zip(map(tuple, records.matrix.tolil().rows), label.tolist()))
    alike, some = Counter(kinds), Counter(kinds[e] for e in drawn)
    assert all(abs(some[kind] - n * 0.02) < 1 for kind, n in alike.items())
    assert abs(len(drawn) - 0.02 * len(label)) < 5 * np.sqrt(0.02 * len(label))
    assert labels["label"].to_list() == records.labels[drawn].tolist()
    rows, columns = records.matrix[sorted(drawn)].nonzero()
    assert pairs["entity"].to_list() == np.array(sorted(drawn))[rows].tolist()
    assert pairs["feature"].to_list() == columns.tolist()


def commonest(records: Records, most: int) -> list[int]:
    """The features that most records have."""
    order = np.argsort(-records.matrix.sum(axis=0), kind="stable")
    return [int(feature) for feature in order[:most]]


@pytest.mark.parametrize("kind", [Polars, DuckDB], ids=["polars", "duckdb"])
@pytest.mark.parametrize("name", daily(SETS, "supermarket.txt.gz"))
def test_each_real_set_is_counted_as_in_memory(kind, name, dataset, tmp_path):
    records = SETS[name](dataset(name))
    (tmp_path / "scratch").mkdir()
    engine = kind(tmp_path / "scratch")
    check(behind(engine, records, tmp_path), records, commonest(records, 20))
    engine.close()


@long
@engines
def test_all_real_sets_are_counted_by_spark_as_in_memory(spark, dataset, tmp_path):
    """As one long table: features and labels of different sets are different ones."""
    every = [read(dataset(name)) for name, read in SETS.items()]
    matrix = sparse.csr_array(sparse.block_diag([each.matrix for each in every]))
    labels = [f"{i} {label}" for i, each in enumerate(every) for label in each.labels]
    starts = np.cumsum([0, *(each.matrix.shape[1] for each in every)])
    chosen = [int(a) + c for a, each in zip(starts, every) for c in commonest(each, 2)]
    records = Records(matrix, np.array(labels))
    (tmp_path / "scratch").mkdir()
    check(behind(Spark(tmp_path / "scratch"), records, tmp_path), records, chosen)
