"""Files as people have them: separators, decimal commas, days first, old encodings."""

from __future__ import annotations

import csv
import io
import warnings
from datetime import date, datetime, timedelta

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis import read_table
from tamis.errors import InputError, ReadingNote
from tamis.read.dialect import Dialect
from tamis.rows.engines import DuckDB, Polars
from tamis.rows.large_table import sampled
from tamis.rows.sources import open_large

EUROPEAN = (
    "Größe;Gehalt;geboren;Ort;krank\n"
    "1,82;1.234,50;03.04.1980;Köln;ja\n"
    "1,7;950;25.12.1975;Graz;nein\n"
    ";12.345.678,9;01.01.2000;Zürich;nein\n"
)


@pytest.fixture
def file(tmp_path):
    def write(text, name="t.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(text.encode(encoding))
        return path

    return write


def engine_frame(path, tmp_path, engine=Polars, **options):
    scratch = tmp_path / f"scratch-{engine.__name__}"
    scratch.mkdir()
    large = open_large(engine(scratch), str(path), **options)
    return sampled(large, large.rows, seed=0).table.frame


def test_a_european_export_is_read_as_it_is_meant_and_the_note_says_how(file):
    path = file(EUROPEAN, encoding="windows-1252")
    said = (
        r"t\.csv: read with ;, decimal comma, points between thousands, dates as day\.month\.year "
        "and windows-1252"
    )
    with pytest.warns(ReadingNote, match=said):
        frame = read_table(path).frame
    assert frame.to_dict(as_series=False) == {
        "Größe": [1.82, 1.7, None],
        "Gehalt": [1234.5, 950.0, 12345678.9],
        "geboren": [date(1980, 4, 3), date(1975, 12, 25), date(2000, 1, 1)],
        "Ort": ["Köln", "Graz", "Zürich"],
        "krank": ["ja", "nein", "nein"],
    }


def test_only_semicolon_and_decimal_comma_are_told_as_such(file):
    with pytest.warns(ReadingNote, match="read with ; and decimal comma; if that is wrong, pass"):
        assert read_table(file("a;b\n1,5;x\n2,25;y\n")).frame["a"].to_list() == [1.5, 2.25]


@pytest.mark.parametrize("engine", [Polars, DuckDB])
def test_engines_read_such_a_file_alike(file, tmp_path, engine):
    path = file(EUROPEAN, encoding="windows-1252")
    expected = read_table(path).frame
    with pytest.warns(ReadingNote, match="read with ;, decimal comma"):
        found = engine_frame(path, tmp_path, engine)
    order = "Gehalt"
    assert found.sort(order).equals(expected.sort(order))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('a,b\n"1,234",x\n"1,234.5",y\n', [1234, 1234.5]),  # a point shows what the comma is
        ('a,b\n"1,234,567",x\n8,y\n', [1234567, 8]),
        ('a,b\n"1,5",x\n"12,25",y\n', [1.5, 12.25]),
        ("a;b\n1.234.567;x\n1.234;y\n", [1234567, 1234]),
        ("a;b\n1'234.50;x\n7;y\n", [1234.5, 7]),
        ("a;b\n1 234,5;x\n7;y\n", [1234.5, 7]),
        ("a;b\n1\u202f234;x\n7;y\n", [1234, 7]),
        ("a;b\n1.234;x\n0,5;y\n", [1234, 0.5]),
        ("a,b\n1.234,x\n2.345,y\n", [1.234, 2.345]),  # commas between cells: a decimal point
        ("a;b\n0.123;x\n2.345;y\n", [0.123, 2.345]),
        ("a;b\n-1,5e3;x\n-,5;y\n", [-1500, -0.5]),
        ("a\tb\n1,5\tx\n2\ty\n", [1.5, 2]),
        ("a|b\n1,5|x\n2|y\n", [1.5, 2]),
    ],
)
def test_numbers_by_what_their_marks_show(file, text, expected):
    assert read_table(file(text)).frame["a"].to_list() == expected


def test_another_column_of_the_file_decides_what_a_mark_is(file):
    text = "a;b;y\n1.234;0,5;x\n2.345;1,25;z\n"
    assert read_table(file(text)).frame["a"].to_list() == [1234, 2345]
    text = "a;b;y\n1.234;0.5;x\n2.345;1.25;z\n"
    assert read_table(file(text)).frame["a"].to_list() == [1.234, 2.345]


@pytest.mark.parametrize(
    "text",
    [
        "a;b\n1.234;x\n2.345;y\n",
        "a;b\n1,234;x\n2,345;y\n",
        'a,b\n"1,234",x\n"2,345",y\n',
        "a;c;d;b\n1.234;0,5;0.5;x\n2.345;1,5;1.5;y\n",  # two columns contradict each other
    ],
)
def test_numbers_of_two_readings_are_asked_for(file, tmp_path, text):
    path = file(text)
    with pytest.raises(InputError, match=r"column 'a' can be read in two ways.*--decimal") as asked:
        read_table(path)
    assert "234" not in str(asked.value)
    with pytest.raises(InputError, match="two ways"):
        engine_frame(path, tmp_path)
    assert read_table(path, decimal="comma").frame["a"][0] in (1.234, 1234)
    assert (
        read_table(path, decimal=",")
        .frame["a"]
        .equals(read_table(path, decimal="comma").frame["a"])
    )
    marks = {read_table(path, decimal=mark).frame["a"][0] for mark in ("comma", "point")}
    assert marks == {1.234, 1234}


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        (["25/12/2021", "03/04/2021"], date(2021, 4, 3)),
        (["12/25/2021", "03/04/2021"], date(2021, 3, 4)),
        (["03.04.2021", "05.06.2021"], date(2021, 6, 5)),  # points: the day is first
        (["2021/12/25", "2021/04/03"], date(2021, 4, 3)),
        (["25-12-2021", "3-4-2021"], date(2021, 4, 3)),
        (["25.12.2021 8:30", "03.04.2021 10:15"], datetime(2021, 4, 3, 10, 15)),
        (["25.12.2021 08:30:15", "03.04.2021 10:15:00.5"], datetime(2021, 4, 3, 10, 15, 0, 500000)),
    ],
)
def test_dates_by_what_their_values_show(file, tmp_path, days, expected):
    path = file("on,y\n" + "".join(f"{day},{i}\n" for i, day in enumerate(days)))
    frame = read_table(path).frame
    assert frame["on"][1] == expected
    assert engine_frame(path, tmp_path).sort("y").equals(frame)


def test_days_that_may_be_months_are_asked_for(file, tmp_path):
    path = file("on,y\n03/04/2021,a\n05/06/2021,b\n")
    with pytest.raises(InputError, match=r"column 'on' can be read in two ways.*--dates dmy") as no:
        read_table(path)
    assert "2021" not in str(no.value)
    with pytest.raises(InputError, match="two ways"):
        engine_frame(path, tmp_path)
    assert read_table(path, dates="dmy").frame["on"][0] == date(2021, 4, 3)
    assert read_table(path, dates="mdy").frame["on"][0] == date(2021, 3, 4)
    shown = file("on,to,y\n03/04/2021,25/12/2021,a\n05/06/2021,01/02/2022,b\n", "both.csv")
    assert read_table(shown).frame["on"][0] == date(2021, 4, 3)
    at_odds = file("on,to,or,y\n3/4/2021,25/12/2021,12/25/2021,a\n5/6/2021,1/2/2022,1/2/2022,b\n")
    with pytest.raises(InputError, match="column 'on' can be read in two ways"):
        read_table(at_odds)


def test_identifiers_and_declared_texts_are_not_asked_about(file, tmp_path):
    path = file("on,y\n03/04/2021,a\n05/06/2021,b\n")
    assert read_table(path, identifier=["on"]).frame["on"].dtype == pl.String
    schema = tmp_path / "s.toml"
    schema.write_text('[columns]\non = "text"\n')
    assert read_table(path, schema=schema).frame["on"].dtype == pl.String


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        (["007", "75011"], "leading zeros"),
        (["12 kg", "7 kg"], "numbers with a unit"),
        (["€ 5", "$ 7"], "numbers with a unit"),
        (["03.04.21", "25.12.21"], "years of two digits"),
        (["25/13/2021", "13/25/2021"], "dates in several forms"),
        (["3 May 2021", "14 June 2020"], "names of months"),
        (["May 3, 2021", "June 14, 2020"], "names of months"),
        (["2021-05", "2021-06"], "months without a day"),
        (["10:30", "23:15"], "times without a day"),
        (["1,5", "2,5", "3,5", "4,5", "?"], "not all in one form"),
        (["1,5", "2.5"], "not all in one form"),
    ],
)
def test_nothing_is_text_in_silence(file, tmp_path, cells, reason):
    path = file("a;y\n" + "".join(f"{cell};{i}x\n" for i, cell in enumerate(cells)))
    with pytest.warns(ReadingNote, match=rf"read as text, though .*'a' \([^)]*{reason}") as told:
        assert read_table(path).frame["a"].dtype == pl.String
    assert not any(cell in str(w.message) for w in told for cell in cells)
    with pytest.warns(ReadingNote, match=reason):
        engine_frame(path, tmp_path)


@pytest.mark.parametrize(
    ("cells", "unit", "values"),
    [
        (["$1,234.50", "-$7", "$0.5"], "$", [1234.5, -7, 0.5]),
        (["$-3", "$4"], "$", [-3, 4]),
        (["1.234,50 €", "7 €", ""], "€", [1234.5, 7, None]),
        (["12 %", "7\u00a0%"], "%", [12, 7]),
        (["£5", "£6"], "£", [5, 6]),
    ],
)
def test_a_sign_beside_all_numbers_is_left_out_and_said(file, tmp_path, cells, unit, values):
    path = file("a\ty\n" + "".join(f"{cell}\t{i}x\n" for i, cell in enumerate(cells)))
    for read in (lambda: read_table(path).frame, lambda: engine_frame(path, tmp_path)):
        with pytest.warns(ReadingNote, match=rf"column 'a' without \{unit}"):
            assert read()["a"].to_list() == values


@pytest.mark.parametrize(
    "cells", [["$5", "7"], ["12 %", "7"], ["$5", "€6"], ["$5", "6$ 7"], ["$$5", "$6"]]
)
def test_signs_that_differ_stay_words(file, cells):
    path = file("a\ty\n" + "".join(f"{cell}\t{i}x\n" for i, cell in enumerate(cells)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert read_table(path).frame["a"].to_list() == cells


@pytest.mark.filterwarnings("error")
def test_plain_files_and_plain_words_are_read_without_a_note(file):
    read_table(file("a,b,on,y\n1,x 1,2021-05-03,A12B\n2.5,y,2021-05-04,E11.9\n"))


def test_words_that_hold_separators_do_not_mislead(file):
    one = read_table(file("a,b\nx;y,1\nz,2\n")).frame
    assert one.columns == ["a", "b"]
    quoted = read_table(file('a;b\n"x;y";1\nz;2\n')).frame
    assert quoted["a"].to_list() == ["x;y", "z"]
    single = read_table(file("a\nx\ny\n")).frame
    assert single.columns == ["a"]
    with pytest.raises(InputError, match="line 3 has 1 field, the header has 2"):
        read_table(file("a;b\nx;1\ny\n"))


def test_what_is_asked_for_is_checked():
    with pytest.raises(InputError, match="--decimal is comma or point, got '-'"):
        Dialect(decimal="-")
    with pytest.raises(InputError, match="--dates is dmy"):
        Dialect(dates="us")
    with pytest.raises(InputError, match="the same mark"):
        Dialect(decimal="comma", thousands="comma")


WORDS = st.sampled_from(["Köln", "Graz", "a;b", "c,d", 'say "no"', "Zürich", "x y"])
NUMBERS = st.one_of(
    st.none(), st.integers(-(10**7), 10**7).map(lambda n: n / 4), st.integers(0, 10**9).map(float)
)
DAYS = st.one_of(st.none(), st.integers(0, 20_000).map(lambda n: date(1970, 1, 1) + timedelta(n)))


def european(number, thousands):
    if number is None:
        return ""
    whole = f"{number:,.2f}".replace(",", thousands).replace(".", "\0")
    return whole.replace("\0", ",") if thousands != "." else _with_points(number)


def _with_points(number):
    whole, _, rest = f"{number:,.2f}".partition(".")
    return f"{whole.replace(',', '.')},{rest}"


@given(
    rows=st.lists(st.tuples(NUMBERS, DAYS, WORDS), min_size=1, max_size=20),
    thousands=st.sampled_from(["", ".", " ", "\u00a0", "'"]),
    separator=st.sampled_from([";", "\t", "|"]),
    encoding=st.sampled_from(["utf-8", "windows-1252", "utf-16"]),
)
@settings(max_examples=60, deadline=None)
def test_a_typed_table_written_as_a_european_export_comes_back_equal(
    tmp_path_factory, rows, thousands, separator, encoding
):
    rows = [*rows, (0.5, date(2020, 12, 31), "Wörter")]
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, lineterminator="\r\n")
    writer.writerow(["number", "day", "word"])
    for number, day, word in rows:
        shown = "" if day is None else f"{day:%d.%m.}{day.year}"
        writer.writerow([european(number, thousands), shown, word])
    path = tmp_path_factory.mktemp("european") / "t.csv"
    path.write_bytes(text.getvalue().encode(encoding))
    found = read_table(path).frame
    kinds = {"number": pl.Float64, "day": pl.Date, "word": pl.String}
    assert found.equals(pl.DataFrame(rows, schema=kinds, orient="row"))
