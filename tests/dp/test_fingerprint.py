"""Which tables are the same: however they are stored, and in part."""

from __future__ import annotations

import gzip
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.binary.records import from_matrix
from tamis.dp.ledger import (
    FEWEST_VALUES,
    Fingerprint,
    fingerprint,
    fingerprint_records,
)
from tamis.read import stored_frame

cells = st.one_of(
    st.none(), st.integers(-3, 3), st.sampled_from(["a", "b c", "Ü", "01", "1.50", "2020-01-02"])
)
tables = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.tuples(*[cells] * width), min_size=1, max_size=8)
)


def as_texts(rows: list[tuple[Any, ...]]) -> pl.DataFrame:
    columns = zip(*rows, strict=True)
    texts = [[None if c is None else str(c) for c in column] for column in columns]
    return pl.DataFrame({f"c{i}": pl.Series(t, dtype=pl.String) for i, t in enumerate(texts)})


def multiset(rows: list[tuple[Any, ...]]) -> list[tuple[str, ...]]:
    """The rows as they count, without columns of one value, columns in any order of theirs."""

    def plain(cell: Any) -> str:
        try:
            return "" if cell is None else str(float(cell))
        except ValueError:
            return str(cell).lower()

    columns = [[plain(c) for c in column] for column in zip(*rows, strict=True)]
    varied = [c for c in columns if len(set(c)) > 1]
    ordered = sorted(varied, key=sorted)
    return sorted(zip(*ordered, strict=True))


@given(tables, st.randoms(use_true_random=False))
def test_order_and_names_do_not_matter(rows: list[tuple[Any, ...]], random: Any) -> None:
    frame = as_texts(rows)
    columns = [frame.get_column(c).sort() for c in frame.columns]
    alike = [c for c in columns if sum(c.equals(o) for o in columns) > 1]
    shuffled = as_texts(random.sample(rows, len(rows)))
    if not alike:  # columns with the same values are told apart by their order
        order = random.sample(shuffled.columns, shuffled.width)
        shuffled = shuffled.select(order)
    shuffled.columns = [f"renamed {i}" for i in range(shuffled.width)]
    assert fingerprint(frame) == fingerprint(shuffled)


@given(tables, tables)
def test_rows_are_the_same_exactly_where_the_multisets_are(
    one: list[tuple[Any, ...]], other: list[tuple[Any, ...]]
) -> None:
    mine, theirs = fingerprint(as_texts(one)).rows, fingerprint(as_texts(other)).rows
    if mine == theirs != "":
        assert multiset(one) == multiset(other)


PEOPLE = pl.DataFrame(
    {
        "name": [f"person {i * 7919 % 1000}" for i in range(40)],
        "born": [date(1950, 1, 1) + timedelta(days=i * i * 11) for i in range(40)],
        "seen": [datetime(2020, 1, 1, 9, i % 7) for i in range(40)],
        "height": [1.5 + (i * 37 % 23) / 100 for i in range(40)],
        "visits": [None if i % 9 == 0 else i * i % 13 for i in range(40)],
        "zip": [f"{i * 331 % 97:05d}" for i in range(40)],
        "ill": [i % 3 == 0 for i in range(40)],
        "country": ["FR"] * 40,
    }
)


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    PEOPLE.write_csv(tmp_path / "people.csv")
    return tmp_path / "people.csv"


def stored(path: Path, kind: str) -> str:
    """A copy of the people as a user would make one; the name of the file."""
    text = (path / "people.csv").read_text()
    file = path / f"copy.{kind}"
    match kind:
        case "csv.gz":
            file.write_bytes(gzip.compress(text.encode()))
        case "parquet":
            PEOPLE.write_parquet(file)
        case "arrow":
            PEOPLE.write_ipc(file)
        case "xlsx":
            pytest.importorskip("xlsxwriter")
            PEOPLE.write_excel(file)
        case "duckdb":
            duckdb = pytest.importorskip("duckdb")
            with duckdb.connect(str(file)) as database:
                database.execute(f"CREATE TABLE people AS SELECT * FROM '{path}/people.csv'")
            return f"{file}::people"
        case "tsv":
            PEOPLE.write_csv(file, separator="\t")
        case "blank.csv":
            file.write_text(text.replace("\n", "\n\n", 3) + "\n")
        case "quoted.csv":
            PEOPLE.write_csv(file, quote_style="always", line_terminator="\r\n")
        case "marked.csv":
            PEOPLE.write_csv(file, null_value="NA")
        case "reordered.csv":
            PEOPLE.sort("zip").select(reversed(PEOPLE.columns)).write_csv(file)
        case "renamed.csv":
            PEOPLE.rename(str.upper).write_csv(file)
        case "float32.parquet":
            PEOPLE.with_columns(pl.col("height").cast(pl.Float32)).write_parquet(file)
        case "category.parquet":
            PEOPLE.with_columns(pl.col("zip").cast(pl.Categorical)).write_parquet(file)
        case "moment.csv":
            PEOPLE.write_csv(file, datetime_format="%Y-%m-%dT%H:%M:%S.000Z")
        case "numbers.csv":
            PEOPLE.with_columns(pl.col("ill").cast(pl.Int8), pl.col("zip").cast(int)).write_csv(
                file
            )
        case "german.csv":
            moments = pl.col("born").dt.to_string("%d.%m.%Y")
            PEOPLE.with_columns(moments).write_csv(file, separator=";", decimal_comma=True)
        case "padded.csv":
            PEOPLE.with_columns(pl.col("name") + "  ").write_csv(file)
    return str(file)


KINDS = ["csv.gz", "parquet", "arrow", "xlsx", "duckdb", "tsv", "blank.csv", "quoted.csv"]
KINDS += ["marked.csv", "reordered.csv", "renamed.csv", "float32.parquet", "category.parquet"]
KINDS += ["moment.csv", "numbers.csv", "german.csv", "padded.csv"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_copy_is_the_same_table(csv: Path, kind: str) -> None:
    original = fingerprint(stored_frame(str(csv)))
    copy = fingerprint(stored_frame(stored(csv.parent, kind)))
    assert copy.rows == original.rows
    assert copy.same(original)


@pytest.mark.parametrize(
    "part",
    [
        PEOPLE.drop("name"),
        PEOPLE.drop("country"),
        PEOPLE.select("born", "height", "ill"),
        PEOPLE.with_row_index(),
        PEOPLE.with_columns(pl.col("born").dt.year()),
        PEOPLE.with_columns(pl.col("name").shuffle(seed=1)),
    ],
)
def test_columns_dropped_added_or_derived_leave_the_table_the_same(part: pl.DataFrame) -> None:
    assert fingerprint(part).same(fingerprint(PEOPLE))
    assert fingerprint(PEOPLE).same(fingerprint(part))


def test_tables_of_others_are_others() -> None:
    draw = np.random.default_rng(0)
    designed = {"row": np.arange(1, 201), "block": np.arange(200) % 20}
    drawn = [
        pl.DataFrame({**designed, "arm": draw.integers(0, 2, 200), "weight": draw.normal(size=200)})
        for _ in range(6)
    ]
    binary = [pl.DataFrame(draw.integers(0, 2, (200, 30))) for _ in range(6)]
    prints = [fingerprint(frame) for frame in (*drawn, *binary, PEOPLE)]
    assert not any(a.same(b) for i, a in enumerate(prints) for b in prints[:i])
    assert not fingerprint(PEOPLE.head(39)).same(fingerprint(PEOPLE))


def test_a_column_is_telling_from_its_fewest_values_on() -> None:
    for distinct in (FEWEST_VALUES - 1, FEWEST_VALUES):
        column = [i * i for i in range(distinct)] + [0]
        found = fingerprint(pl.DataFrame({"x": column, "y": [1, *[2] * distinct]}))
        assert len(found.columns) == (distinct == FEWEST_VALUES)


def test_tables_without_anything_that_varies_are_not_taken_for_each_other() -> None:
    nothing = fingerprint(pl.DataFrame({"x": ["a", "a"]}))
    assert nothing == Fingerprint()
    assert not nothing.same(nothing)


def test_exactly_half_of_the_columns_is_not_enough() -> None:
    assert not Fingerprint("1", ("a", "b")).same(Fingerprint("2", ("a", "c")))
    assert Fingerprint("1", ("a", "b", "c")).same(Fingerprint("2", ("a", "b", "d")))
    assert Fingerprint("1", ("a",)).same(Fingerprint("2", ("a", "b", "c")))


def test_very_wide_tables_are_compared_by_what_both_remember(monkeypatch) -> None:
    monkeypatch.setattr("tamis.dp.ledger.MOST_COLUMNS", most := 16)
    values = np.random.default_rng(0).normal(size=(20, 3 * most))
    wide = pl.DataFrame(values)
    whole = fingerprint(wide)
    assert len(whole.columns) == most
    assert fingerprint(wide.select(wide.columns[: 2 * most])).same(whole)
    assert fingerprint(wide.select(wide.columns[:10])).same(whole)
    assert not fingerprint(pl.DataFrame(values + 1.0)).same(whole)


@pytest.mark.parametrize(
    "column",
    [
        pl.Series([None, None], dtype=pl.Null),
        pl.Series([timedelta(1), None]),
        pl.Series([[1], [2, 3]]),
        pl.Series([b"\xff", b""]),
        pl.Series([float("inf"), float("nan")]),
        pl.Series([datetime(2020, 1, 1), None]).dt.replace_time_zone("Europe/Paris"),
        pl.Series(["inf", "\ud7ff"]),
        pl.Series([10**400], dtype=pl.Object),
    ],
)
def test_no_cell_is_refused(column: pl.Series) -> None:
    assert fingerprint(pl.DataFrame({"x": column})) == fingerprint(pl.DataFrame({"y": column}))


def test_zero_has_no_sign_and_further_marks_mean_missing() -> None:
    assert fingerprint(pl.DataFrame({"x": [-0.0, 1.0]})) == fingerprint(pl.DataFrame({"x": [0, 1]}))
    marked, empty = pl.DataFrame({"x": ["-9", "1"]}), pl.DataFrame({"x": [None, 1]})
    assert fingerprint(marked) != fingerprint(empty)
    assert fingerprint(marked, missing=[" -9 "]) == fingerprint(empty)


def test_sparse_records_are_the_same_in_any_order_and_no_others() -> None:
    one = from_matrix([[1, 0], [1, 1], [0, 0]], ["bread", "milk"], labels=["a", "b", "a"])
    same = from_matrix([[0, 0], [0, 1], [1, 1]], ["milk", "Bread"], labels=["a", "a", "b"])
    assert fingerprint_records(one) == fingerprint_records(same)
    others = [
        from_matrix([[1, 0], [1, 1], [0, 0]], ["bread", "milk"], labels=["a", "b", "b"]),
        from_matrix([[1, 0], [1, 1], [0, 1]], ["bread", "milk"], labels=["a", "b", "a"]),
        from_matrix([[1, 0], [1, 1], [0, 0]], ["bread", "beer"], labels=["a", "b", "a"]),
        from_matrix([[1, 0], [1, 0], [0, 1]], ["bread", "milk"], labels=["a", "b", "a"]),
        from_matrix([[1, 0], [0, 1], [1, 0]], ["bread", "milk"], labels=["a", "b", "a"]),
    ]
    assert not any(fingerprint_records(one).same(fingerprint_records(o)) for o in others)
    assert fingerprint_records(from_matrix([[1]], ["a"])).rows
