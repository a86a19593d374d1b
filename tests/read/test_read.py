"""The door: what comes in, what is refused, and how it is said."""

import gzip
import io
import os
import signal
import subprocess
import sys
import warnings
from datetime import timedelta
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xlsxwriter
from hypothesis import given
from hypothesis import strategies as st

from tamis import Roles, Table, consider, read_table
from tamis.errors import InputError, ReadingNote, TamisWarning
from tamis.read.schema import load_schema
from tamis.read.text import _text_frame, direct_frame
from tamis.read.types import typed

GOOD = b"zip,age,glad,pay\n01000,31,yes,1.5\n75011,47,no,2\n75011,,no,3e2\n"


@pytest.fixture
def file(tmp_path):
    def write(content: bytes, name: str = "table.csv"):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write


def test_types_follow_the_rule(file):
    frame = read_table(file(GOOD)).frame
    assert frame["zip"].to_list() == ["01000", "75011", "75011"]
    assert frame["age"].to_list() == [31, 47, None]
    assert frame["glad"].to_list() == ["yes", "no", "no"]
    assert frame["pay"].to_list() == [1.5, 2.0, 300.0]


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        (["1", "2"], [1, 2]),
        (["-1", "0", "-0"], [-1, 0, 0]),
        (["1.", ".5", "-2.5e-3"], [1.0, 0.5, -0.0025]),
        ([" 1", "2 "], [1, 2]),
        (["9223372036854775807"], [2**63 - 1]),
        (["00", "1"], None),
        (["-07", "1"], None),
        (["+33", "34"], None),
        (["0x10", "2"], None),
        (["1_000", "2"], None),
        (["1,5", "2"], None),
        (["true", "1"], None),
        (["01.5", "2.5"], None),
        (["٣", "٤"], None),
    ],
)
def test_what_is_a_number(values, numbers):
    column = typed(pl.DataFrame({"x": values}))["x"]
    assert column.to_list() == (values if numbers is None else numbers)


def test_a_marker_of_missing_values_that_is_not_named_is_told():
    values = [str(i) for i in range(20)] + ["NA"]
    with pytest.warns(TamisWarning, match=r"'x' is read as text: 1 of its 21 values.*--missing"):
        typed(pl.DataFrame({"x": values}))


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["."], "among them '.'; if that marks missing values, pass --missing .$"),
        (
            ["?", "NA"],
            r"'\?', 'NA'; if these mark missing .* --missing '\?' --missing NA$",
        ),
        (["Jan"], "are not numbers; if some text marks missing values, pass it with --missing$"),
    ],
)
def test_usual_markers_are_named_and_no_other_value(texts, words):
    with pytest.warns(TamisWarning, match=words):
        typed(pl.DataFrame({"x": [*(str(i) for i in range(20)), *texts]}))


def test_rows_of_nobody_are_said_to_count_as_one_person():
    frame = pl.DataFrame({"pid": ["a", None, "b", None], "ill": [0, 1, 0, 1], "age": [1, 2, 3, 4]})
    with pytest.warns(TamisWarning, match="2 rows have no 'pid', and count as one person"):
        table = read_table(frame, target="ill", identifier=["pid"])
    assert table.people.count == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error", TamisWarning)
        read_table(frame.head(3), target="ill", identifier=["pid"])


def test_namesakes_are_said_to_count_as_one():
    frame = pl.DataFrame(
        {"name": ["Ann", "Bo", "Ann"], "pid": ["7a", "8b", "9c"], "ill": [0, 1, 1]}
    )
    with pytest.warns(ReadingNote, match="'name' alone, so that namesakes count as one: 2 people"):
        read_table(frame, target="ill", identifier=["name"])
    for said in ({"person": ()}, {"person": ["name"]}, {"drop": ["pid"]}):
        with warnings.catch_warnings():
            warnings.simplefilter("error", TamisWarning)
            ids = ["name"] if "drop" not in said else []
            read_table(frame, target="ill", identifier=ids, **said)
    several = pl.DataFrame(
        {"name": ["Ann", "Bob"] * 4, "pid": [f"{i}a" for i in range(8)], "ill": [0, 1] * 4}
    )
    with warnings.catch_warnings():  # a number decides where it has many more values
        warnings.simplefilter("error", TamisWarning)
        table = read_table(several, target="ill", identifier=["name", "pid"])
    assert table.people.count == 8


def test_markers_of_missing_values(file):
    path = file(b"age,job\n31,cook\n ?,?\n47,judge\n")
    frame = read_table(path, missing="?").frame
    assert frame["age"].to_list() == [31, None, 47]
    assert frame["job"].to_list() == ["cook", None, "judge"]


def test_schema_overrides_the_rule_and_arguments_override_the_schema(file):
    schema = file(
        b'missing = ["?"]\n[columns]\nage = "text"\nzip = "number"\n'
        b'[roles]\ntarget = "glad"\ndrop = ["pay"]\n',
        "schema.toml",
    )
    table = read_table(file(GOOD), schema=schema)
    assert table.frame["age"].to_list() == ["31", "47", None]
    assert table.frame["zip"].to_list() == [1000, 75011, 75011]
    assert table.features == ("zip", "age")
    assert read_table(file(GOOD), schema=schema, target="zip").target == "zip"


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        (b"nonsense", "not a TOML file"),
        (b"[colums]\nage = 'text'", r"unknown entry colums; allowed: missing, columns"),
        (b"[columns]\nage = 'day'", "columns.age must be"),
        (b"[roles]\ntarjet = 'x'", r"unknown entry roles\.tarjet"),
        (b"[columns]\nagee = 'text'", "'agee', which the table does not have"),
        (b"[columns]\nglad = 'number'", "declared a number, but 3 rows"),
        (b"[binary]\nage = {cuts = [3, 1]}", "ascending order"),
        (b"[binary]\nage = {quantiles = 1}", "at least 2, got 1"),
        (b"[binary]\nage = 7", "binary.age must be"),
    ],
)
def test_a_wrong_schema_is_refused(file, toml, said):
    with pytest.raises(InputError, match=said):
        read_table(file(GOOD), schema=file(toml, "schema.toml"))


def test_gzip_tsv_encodings_and_line_ends(file):
    tsv = GOOD.replace(b",", b"\t")
    expected = read_table(file(GOOD)).frame
    assert read_table(file(gzip.compress(GOOD), "t.csv.gz")).frame.equals(expected)
    assert read_table(file(tsv, "t.tsv")).frame.equals(expected)
    assert read_table(file(GOOD.replace(b"\n", b"\r\n"), "dos.csv")).frame.equals(expected)
    assert read_table(file(GOOD.replace(b"\n", b"\r"), "mac.csv")).frame.equals(expected)
    assert read_table(file(b"\xef\xbb\xbf" + GOOD, "bom.csv")).frame.equals(expected)
    assert read_table(file(GOOD + b"\n\n", "trailing.csv")).frame.equals(expected)
    utf16 = file(GOOD.decode().encode("utf-16"), "wide.csv")
    assert read_table(utf16, encoding="utf-16").frame.equals(expected)
    latin = file("nom,âge\nZoé,3\n".encode("latin-1"), "latin.csv")
    assert read_table(latin, encoding="latin-1").frame.columns == ["nom", "âge"]


def test_quotes_inside_a_name_are_not_doubled(file):
    table = read_table(file(b'"x""y","a,b"\n"p""q",1\nr,2\n'))
    assert table.frame.to_dict(as_series=False) == {'x"y': ['p"q', "r"], "a,b": [1, 2]}


def test_quotes_and_blank_lines(file):
    path = file(b'a,b\n"x,1",2\n\n"say ""hi""",3\n"two\nlines",4\n')
    assert read_table(path).frame["a"].to_list() == ["x,1", 'say "hi"', "two\nlines"]


def test_parquet_arrow_and_duckdb(file, tmp_path):
    expected = read_table(file(GOOD)).frame
    for name in ("t.parquet", "t.arrow", "t.feather"):
        sink = io.BytesIO()
        (expected.write_parquet if name.endswith("parquet") else expected.write_ipc)(sink)
        assert read_table(file(sink.getvalue(), name)).frame.equals(expected)
    parquet = tmp_path / "t.parquet"
    base = tmp_path / "t.duckdb"
    with duckdb.connect(str(base)) as database:
        database.execute(f"CREATE TABLE people AS SELECT * FROM '{parquet}'")
    assert read_table(f"{base}::people").frame.equals(expected)
    with pytest.raises(InputError, match=r"no table 'persons'.*'people'"):
        read_table(f"{base}::persons")


def test_text_in_a_typed_source_stays_text():
    assert read_table(pl.DataFrame({"x": ["1", "2"]})).frame["x"].to_list() == ["1", "2"]


def test_what_goes_in_as_pandas_comes_out_as_pandas():
    frame = pd.DataFrame({"age": [31.0, None], "job": ["cook", "judge"]}, index=[7, 9])
    table = read_table(frame)
    assert table.frame["age"].to_list() == [31.0, None]
    out = table.native()
    assert isinstance(out, pd.DataFrame)
    assert list(out.columns) == ["age", "job"]
    assert list(out.index) == [0, 1]
    assert isinstance(read_table(pa.table({"x": [1, 2]})).native(), pa.Table)
    assert isinstance(read_table(pl.DataFrame({"x": [1, 2]})).native(), pl.DataFrame)


class Streamed:
    """Rows that are given as an Arrow stream and in no other way."""

    def __init__(self, frame: pl.DataFrame | pa.Table) -> None:
        self.frame = frame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.frame.__arrow_c_stream__(requested_schema)


def test_whatever_gives_an_arrow_stream_is_read():
    expected = pl.DataFrame({"age": [31.0, None], "job": ["cook", "judge"]})
    relation = duckdb.sql(
        "SELECT * FROM (VALUES (31.0::DOUBLE, 'cook'), (NULL, 'judge')) t(age, job)"
    )
    arrow = expected.to_arrow()
    batches = pa.RecordBatchReader.from_batches(arrow.schema, arrow.to_batches())
    for source in (Streamed(expected), relation, batches):
        table = read_table(source)
        assert table.frame.equals(expected)
        assert isinstance(table.native(), pl.DataFrame)


def test_what_gives_no_rows_or_odd_ones_is_refused():
    with pytest.raises(InputError, match=r"__arrow_c_stream__, got builtins\.list"):
        read_table([1, 2])
    twice = pa.table([[1], [2]], names=["x", "x"])
    with pytest.raises(InputError, match="two columns of the stream have one name"):
        read_table(Streamed(twice))

    class Broken:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            raise ValueError("S3CRET")

    with pytest.raises(InputError, match="make it a frame first") as told:
        read_table(Broken())
    assert "S3CRET" not in str(told.value)


SECRET = b"S3CRET"
BAD = {
    "empty.csv": (b"", "is empty"),
    "blank.csv": (b" \n\n", "is empty"),
    "header.csv": (b"a,b\n", "header but no rows"),
    "short.csv": (b"a,b,c\n1,2,3\n4,S3CRET\n", "line 3 has 2 fields, the header has 3"),
    "long.csv": (b"a,b\n1,2\n4,5,S3CRET\n6,7,8\n", r"line 3 has 3 fields.*2 such lines"),
    "twice.csv": (b"a,b,a\n1,2,3\n", "'a' occurs twice"),
    "unnamed.csv": (b",b\n1,2\n", "column 1 has no name"),
    "quote.csv": (b'a,b\n1,"S3CRET\n', "is not closed properly"),
    "plain.csv.gz": (GOOD, "is not gzip data"),
    "cut.csv.gz": (gzip.compress(GOOD)[:-9], "ends too early"),
    "bad.csv.gz": (gzip.compress(GOOD)[:12] + b"\xff" * 30, "damaged gzip|ends too early"),
    "fake.parquet": (GOOD, "is not a parquet"),
    "fake.arrow": (GOOD, "is not a feather"),
    "nul.csv": (b"a,b\n1,S3CRET\0\n", "NUL byte in line 2"),
    "neither.csv": (b"a,b\n1,Zo\x81 S3CRET\n", "not windows-1252.*--encoding"),
    "infinite.csv": (b"a,b\n1,inf\n2,3\n", "'b' has infinite numbers in 1 row"),
    "huge.csv": (b"a,b\n1,1e999\n2,3\n", "too large to store in 1 row"),
    "digits.csv": (b"a,b\n1,123456789012345678901\n2,3\n", "too long to store exactly in 1 row"),
    "table.doc": (GOOD, "cannot infer the format.*--format"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_refused_with_their_own_message(file, name):
    content, said = BAD[name]
    with pytest.raises(InputError, match=said) as caught:
        read_table(file(content, name))
    assert SECRET.decode() not in str(caught.value)


def test_numbers_that_are_too_long_may_be_identifiers_or_text(file):
    path = file(b"id,x\n123456789012345678901,1\n123456789012345678902,2\n")
    assert read_table(path, identifier=["id"]).frame["id"][0] == "123456789012345678901"
    assert read_table(path, drop=["id"]).frame.columns == ["x"]


def test_absent_files_and_folders(tmp_path):
    with pytest.raises(InputError, match="no file"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(InputError, match="is a folder"):
        read_table(tmp_path, format="csv")


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("none", r"no column 'none'.*'zip', 'age'"),
        ("age", "missing in 1 of 3 rows"),
    ],
)
def test_bad_targets(file, target, said):
    with pytest.raises(InputError, match=said):
        read_table(file(GOOD), target=target)


def test_a_target_of_one_class(file):
    with pytest.raises(InputError, match="only one value"):
        read_table(file(b"a,b\n1,x\n2,x\n"), target="b")


def test_frames_that_hold_no_table():
    with pytest.raises(InputError, match="no rows"):
        read_table(pl.DataFrame({"x": []}))
    with pytest.raises(InputError, match="lists, records"):
        read_table(pl.DataFrame({"x": [[1], [2]]}))
    with pytest.raises(InputError, match="infinite numbers in 1 row"):
        read_table(pl.DataFrame({"x": [1.0, float("inf")]}))
    with pytest.raises(InputError, match="several types") as caught:
        read_table(pd.DataFrame({"x": [1, "S3CRET"]}, dtype=object))
    assert "S3CRET" not in str(caught.value)
    with pytest.raises(InputError, match="'x' occurs twice"):
        read_table(pd.DataFrame([[1, 2]], columns=["x", "x"]))
    with pytest.raises(InputError, match=r"got builtins\.int"):
        read_table(7)


CELL = st.sampled_from(
    ["", "0", "-0", "7", "42", "007", "-05", "1.5", "0.5", "-0.25", "1e3", "x", "01a", " 3", "?"]
)


@given(st.lists(st.tuples(CELL, CELL, CELL), min_size=1, max_size=8))
def test_the_quick_way_agrees_with_the_slow_way(rows):
    data = "\n".join(["a,b,c", *(",".join(row) for row in rows)]).encode() + b"\n"
    quick = direct_frame(data, ",", missing=["?"])
    if quick is not None:
        slow = typed(_text_frame(Path("t.csv"), data, ["a", "b", "c"], ","), missing=["?"])
        assert quick.schema == slow.schema
        assert quick.equals(slow)


def test_the_quick_way_is_taken_for_a_plain_file_and_not_for_a_late_zero():
    rows = [b"%d,%d" % (i, i) for i in range(1, 3000)]
    plain = b"\n".join([b"a,b", *rows]) + b"\n"
    assert direct_frame(plain, ",") is not None
    assert direct_frame(plain + b"5,007\n", ",") is None


def test_gzip_data_that_unpacks_to_too_much_is_refused(file, monkeypatch):
    monkeypatch.setattr("tamis.read.text.MOST_UNPACKED", 2**21)
    packed = gzip.compress(b"a,b\n" + b"1,2\n" * 2**20)
    assert len(packed) < 2**17
    with pytest.raises(InputError, match=r"table.csv.gz unpacks to more than .* unpack it"):
        read_table(file(packed, "table.csv.gz"))


def test_a_header_of_too_many_columns_is_refused(file):
    wide = b",".join(b"%d" % i for i in range(100_001))
    with pytest.raises(InputError, match=r"100,001 columns, more than 100,000; use"):
        read_table(file(wide + b"\n"))


def test_a_typed_file_of_too_many_columns_is_refused(file, monkeypatch):
    monkeypatch.setattr("tamis.read.text.MOST_COLUMNS", 2)
    whole = io.BytesIO()
    pl.DataFrame({"a": [1], "b": [2], "c": [3]}).write_parquet(whole)
    with pytest.raises(InputError, match="3 columns, more than 2"):
        read_table(file(whole.getvalue(), "t.parquet"))


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_a_damaged_typed_file_is_refused_quietly(file, kind, capfd):
    frame = pl.DataFrame({"x": range(300), "y": ["a", "b", None] * 100, "z": [0.5] * 300})
    whole = io.BytesIO()
    (frame.write_parquet if kind == "parquet" else frame.write_ipc)(whole)
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(150):
        data = bytearray(whole.getvalue())
        for place in rng.integers(0, len(data), 3):
            data[place] = rng.integers(0, 256)
        try:
            read_table(file(bytes(data), f"t.{kind}"))
        except InputError:
            refused += 1
    assert refused > 20
    assert capfd.readouterr().err == ""


COPYING = """
import os, signal, sys
from tamis.read import frames
frames.plain = lambda frame: os.kill(os.getpid(), signal.SIGKILL)
frames.duckdb_frame(sys.argv[1])
"""


def test_a_copy_that_a_killed_run_left_is_removed_by_the_next(tmp_path, monkeypatch):
    """DuckDB hands its table over in a file, which would otherwise stay for anyone to find."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    with duckdb.connect(str(tmp_path / "t.duckdb")) as database:
        database.execute("CREATE TABLE t AS SELECT 1 AS x")
    source = f"{tmp_path / 't.duckdb'}::t"
    environment = dict(os.environ, TMPDIR=str(scratch))
    command = [sys.executable, "-c", COPYING, source]
    assert subprocess.run(command, env=environment, check=False).returncode == -signal.SIGKILL
    assert [path.name for path in scratch.rglob("*.parquet")] == ["table.parquet"]
    monkeypatch.setattr("tamis.files.gettempdir", lambda: str(scratch))
    with pytest.warns(TamisWarning, match="left behind by a stopped run"):
        read_table(source)
    assert list(scratch.iterdir()) == []


def test_nothing_in_a_duckdb_file_is_run(tmp_path):
    secret, base = tmp_path / "secret.csv", tmp_path / "t.duckdb"
    secret.write_text("a,b\n1,2\n")
    with duckdb.connect(str(base)) as database:
        database.execute("CREATE TABLE \"o'dd\" AS SELECT 1 AS a, 'u'::ENUM('u', 'v') AS b")
        database.execute(f"CREATE VIEW looks AS SELECT * FROM '{secret}'")
        database.execute("CREATE SCHEMA other")
        database.execute("CREATE TABLE other.rows AS SELECT range % 2 AS a FROM range(4)")
    with pytest.raises(InputError, match=r"no table 'looks'.*views are not read"):
        read_table(f"{base}::looks")
    assert read_table(f"{base}::o'dd").frame.rows() == [(1, "u")]
    assert read_table(f"{base}::other.rows").rows == 4


def test_a_table_of_a_duckdb_file_reaches_no_other_file(tmp_path):
    from tamis.read.frames import _shut_in

    inside, outside = tmp_path / "inside", tmp_path / "outside.csv"
    inside.mkdir()
    outside.write_text("a\n1\n")
    with duckdb.connect(str(tmp_path / "t.duckdb")) as database:
        _shut_in(database, str(inside))
        database.execute(f"COPY (SELECT 1 AS a) TO '{inside}/x.csv'")
        for asked, why in (
            (f"SELECT * FROM '{outside}'", "Cannot access file"),
            (f"COPY (SELECT 1 AS a) TO '{tmp_path}/y.csv'", "Cannot access file"),
            ("SET enable_external_access = true", "configuration has been locked"),
            ("LOAD httpfs", "extensions is disabled"),
        ):
            with pytest.raises(duckdb.Error, match=why):
                database.execute(asked)


@pytest.mark.parametrize("huge", [1e300, -1e300, 1.1e30])
def test_numbers_too_large_to_learn_from_are_refused(file, huge):
    rows = "".join(f"{i},{i % 2},{i % 3}\n" for i in range(30))
    path = file(f"x,y,^z$\n{rows}1,0,{huge}\n".encode())
    with pytest.raises(InputError, match=r"'\^z\$' has numbers beyond 1e\+30 in 1 row.*--drop"):
        read_table(path, target="y")
    assert read_table(path, target="y", drop=["^z$"]).features == ("x",)
    assert read_table(path, target="y", identifier=["^z$"]).features == ("x",)
    table = Table(pl.DataFrame({"x": [1.0, huge] * 20, "y": ["a", "b"] * 20}), Roles(target="y"))
    with pytest.raises(InputError, match="too large to learn from"):
        consider(table)


@pytest.mark.parametrize(
    "text",
    [
        "missing = 5",
        "missing = [5]",
        "columns = 3",
        "binary = 3",
        "[roles]\nquasi = 3",
        '[roles]\ntarget = ["a"]',
        '[roles]\nidentifier = [["a"]]',
        "[roles]\nfeature = [1]",
        "[binary]\na = { quantiles = 4.5 }",
        "[binary]\na = { cuts = [nan] }",
    ],
)
def test_a_schema_of_wrong_types_is_refused(file, text):
    with pytest.raises(InputError, match=r"s\.toml"):
        load_schema(file(text.encode(), "s.toml"))


def test_one_name_may_stand_for_a_list(file):
    assert load_schema(file(b'[roles]\nquasi = "age"\n', "s.toml")).roles["quasi"] == ("age",)


def test_an_empty_column_is_dropped_with_a_word(file):
    path = file(b"a,b,y\n1,,u\n2,,v\n")
    cases: list[Any] = [{}, {"quasi": ["a", "b"]}, {"identifier": ["b"]}, {"feature": ["b"]}]
    for options in cases:
        with pytest.warns(ReadingNote, match="column 'b' has no values at all and is left out"):
            table = read_table(path, target="y", **options)
        assert table.features == ("a",)
        assert table.roles.dropped == ("b",)
    with pytest.raises(InputError, match="'b' has no values at all; name another"):
        read_table(path, target="y", sensitive="b")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("[rolse]\n", "roles"),
        ('[roles]\nsensitve = "a"\n', "sensitive"),
        ('[columns]\nagee = "text"\n', "age"),
    ],
)
def test_a_mistyped_name_in_a_schema_is_answered_with_the_nearest(file, tmp_path, text, meant):
    (tmp_path / "s.toml").write_text(text)
    with pytest.raises(InputError, match=f"did you mean '{meant}'"):
        read_table(file(GOOD), schema=tmp_path / "s.toml")


STAYS = pl.DataFrame({"age": [1, 2], "stay": [timedelta(hours=1), None]})


@pytest.mark.parametrize(
    "kind", ["frame", "parquet", "arrow", "xlsx", "duckdb", "interval.parquet"]
)
def test_durations_are_refused_by_name_in_every_format(tmp_path, kind, capfd):
    file = tmp_path / f"stays.{kind}"
    words = "column 'stay' holds durations; store them as numbers"
    source: object = str(file)
    if kind == "frame":
        source = STAYS
    elif kind == "parquet":
        STAYS.write_parquet(file)
    elif kind == "arrow":
        STAYS.write_ipc(file)
    elif kind == "xlsx":
        with xlsxwriter.Workbook(file) as book:
            sheet, hours = book.add_worksheet(), book.add_format({"num_format": "[h]:mm:ss"})
            sheet.write_row(0, 0, STAYS.columns)
            sheet.write_row(1, 0, [1, 1 / 24], hours)
            sheet.write(1, 0, 1)
    else:
        with duckdb.connect(str(tmp_path / "stays.duckdb")) as database:
            database.execute("CREATE TABLE t AS SELECT 1 AS age, to_hours(2) AS stay")
            if kind == "interval.parquet":
                database.execute(f"COPY t TO '{file}'")
                words = r"stays.interval.parquet has a column of durations; store them"
            else:
                source = f"{file}::t"
    with pytest.raises(InputError, match=words):
        read_table(source)
    assert capfd.readouterr().err == ""  # Rust tells the terminal of what it cannot read


def test_a_schema_may_state_the_order_of_values(tmp_path):
    frame = pl.DataFrame({"size": ["L", "S", None, "M"], "ill": ["no", "yes", "no", "no"]})
    schema = tmp_path / "schema.toml"
    schema.write_text('[columns]\nsize = ["S", "M", "L", "XL"]\n')
    found = read_table(frame, target="ill", schema=schema).frame["size"]
    assert found.dtype == pl.Enum(["S", "M", "L"])
    assert found.to_list() == ["L", "S", None, "M"]
    schema.write_text('[columns]\nsize = ["S", "M"]\n')
    with pytest.raises(InputError, match="1 row that its order in the schema lacks"):
        read_table(frame, target="ill", schema=schema)
    schema.write_text("[columns]\nsize = [1, 2]\n")
    with pytest.raises(InputError, match="list of strings"):
        read_table(frame, target="ill", schema=schema)
