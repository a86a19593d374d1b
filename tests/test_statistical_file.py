"""Files of SPSS, Stata, SAS and spreadsheets come in with their labels, and go out with them."""

import os
import struct
import time
from contextlib import suppress
from datetime import date
from pathlib import Path

import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import read_table
from tamis.errors import CannotMeet, InputError
from tamis.spreadsheet import read_sheet, write_sheet
from tamis.statistical_file import (
    parse_described,
    parse_statistical,
    read_statistical,
    write_statistical,
)
from tamis.table import ColumnText, sort_by_content
from tamis.table_file import read_written, write_table

pyreadstat = pytest.importorskip("pyreadstat")
pytest.importorskip("fastexcel")

ROWS = pl.DataFrame(
    {
        "age": [31, 47, None, 52],
        "weight": [60.5, 71.25, 80.0, None],
        "job": ["cook", "judge", "cook", None],
        "seen": [date(2021, 5, 3), None, date(1999, 12, 31), date(2000, 1, 1)],
        "ill": ["no", "yes", "no", "yes"],
    }
)


@pytest.mark.usefixtures("parsed_here")
@pytest.mark.parametrize("ending", ["sav", "dta", "xlsx"])
def test_rows_come_back_as_they_were(ending, tmp_path):
    path = tmp_path / f"rows.{ending}"
    write_table(ROWS, path)
    rows = sort_by_content(ROWS)
    assert read_written(path, ending).equals(rows)
    table = read_table(path, target="ill")
    assert table.frame.with_columns(pl.col(pl.Enum).cast(pl.String)).equals(rows)


def test_the_same_rows_are_the_same_bytes(tmp_path):
    endings = ("sav", "dta", "xlsx")
    for ending in endings:
        write_table(ROWS, tmp_path / f"one.{ending}")
    time.sleep(1.05)  # what is written may hold the moment, to the second
    for ending in endings:
        write_table(ROWS, tmp_path / f"two.{ending}")
        one, two = (tmp_path / f"{name}.{ending}" for name in ("one", "two"))
        assert one.read_bytes() == two.read_bytes(), ending


texts = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=9)


@given(st.lists(st.tuples(st.none() | texts, st.none() | st.integers(-999, 999)), min_size=2))
def test_any_text_and_number_comes_back(tmp_path_factory, rows):
    frame = pl.DataFrame(rows, schema={"a": pl.String, "b": pl.Int64}, orient="row")
    path = tmp_path_factory.mktemp("rows") / "rows.sav"
    write_statistical(frame, path, "sav")
    found = parse_statistical(path, "sav")
    assert found["a"].cast(pl.String).to_list() == frame["a"].to_list()
    assert [None if v is None else int(v) for v in found["b"]] == frame["b"].to_list()


def test_codes_become_their_labels_in_the_order_of_the_codes(tmp_path):
    frame = pl.DataFrame({"grade": [3.0, 1.0, 2.0, 1.0], "sex": [1.0, 2.0, 1.0, None]})
    labels = {"grade": {1.0: "low", 2.0: "middle", 3.0: "high"}, "sex": {1.0: "man", 2.0: "woman"}}
    pyreadstat.write_sav(frame, str(tmp_path / "a.sav"), variable_value_labels=labels)
    found = read_statistical(tmp_path / "a.sav", "sav")
    assert found["grade"].to_list() == ["high", "low", "middle", "low"]
    assert found["grade"].dtype == pl.Enum(["low", "middle", "high"])
    assert found["sex"].to_list() == ["man", "woman", "man", None]
    write_table(found, tmp_path / "b.sav")
    _, about = pyreadstat.read_sav(tmp_path / "b.sav", output_format="polars")
    assert about.variable_value_labels["sex"] == labels["sex"]
    assert set(about.variable_value_labels["grade"].values()) == {"low", "middle", "high"}


def test_what_a_file_declares_missing_is_missing(tmp_path):
    frame = pl.DataFrame({"income": [1200.0, 999.0, 1500.0, 998.0], "y": [0.0, 1.0, 0.0, 1.0]})
    pyreadstat.write_sav(
        frame,
        str(tmp_path / "a.sav"),
        missing_ranges={"income": [{"lo": 998.0, "hi": 999.0}]},
        variable_value_labels={"income": {999.0: "refused", 998.0: "unknown"}},
    )
    found = parse_statistical(tmp_path / "a.sav", "sav")["income"]
    assert found.to_list() == [1200, None, 1500, None]


def test_a_column_with_labels_for_some_values_stays_a_number(tmp_path):
    frame = pl.DataFrame({"age": [31.0, 47.0, 99.0]})
    labels = {"age": {99.0: "99 or older"}}
    pyreadstat.write_sav(frame, str(tmp_path / "a.sav"), variable_value_labels=labels)
    assert parse_statistical(tmp_path / "a.sav", "sav")["age"].to_list() == [31, 47, 99]


def test_a_sheet_runs_nothing_and_is_named_where_there_are_several(tmp_path):
    frame = pl.DataFrame({"=a": ["=1+1", "http://x.org", "01000"], "b": [1, 2, 3]})
    write_sheet(frame, tmp_path / "a.xlsx")
    assert read_sheet(tmp_path / "a.xlsx").equals(frame)
    import xlsxwriter

    with xlsxwriter.Workbook(tmp_path / "two.xlsx") as book:
        frame.write_excel(book, worksheet="stays")
        frame.head(1).write_excel(book, worksheet="notes")
    with pytest.raises(InputError, match=r"has 2 sheets; name one as two\.xlsx::SHEET"):
        read_table(tmp_path / "two.xlsx")
    assert read_table(f"{tmp_path / 'two.xlsx'}::stays").rows == 3


DAMAGED = [
    ("a.sav", b"$FL2 nothing", "is not an SPSS file that can be read"),
    ("a.sav", b"\x1c\0\0\0\0\0\0\0ENCRYPTEDSAV\x15", "is protected by a password"),
    ("a.dta", b"<stata_dta>", "is not a Stata file that can be read"),
    ("a.sas7bdat", b"\0" * 2000, "is not an SAS file that can be read"),
    ("a.xlsx", b"PK\3\4 no", "is not a spreadsheet that can be read"),
    ("a.xlsx", bytes.fromhex("d0cf11e0a1b11ae1") + b"\0" * 600, "is protected by a password"),
    ("a.sav", b"", "is empty"),
    ("a.xlsx", b"", "is empty"),
]


@pytest.mark.parametrize(("name", "data", "message"), DAMAGED)
def test_a_bad_file_gets_its_message(name, data, message, tmp_path, request):
    if name != "a.dta":  # one of them in a process of its own, as all are
        request.getfixturevalue("parsed_here")
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=message):
        read_table(tmp_path / name)


@pytest.mark.parametrize(("kind", "name"), [("sav", "a b"), ("dta", "1st"), ("dta", "n" * 33)])
def test_a_name_that_a_program_does_not_take_is_refused(kind, name, tmp_path):
    with pytest.raises(InputError, match="takes no column named"):
        write_statistical(pl.DataFrame({name: [1]}), tmp_path / f"a.{kind}", kind)
    with pytest.raises(InputError, match="takes for one"):
        write_statistical(pl.DataFrame({"Age": [1], "age": [2]}), tmp_path / "a.dta", "dta")


CHANGED = {
    "a blank text": ["", "x", "y"],
    "a space at the end": ["x", "x ", "y"],
    "more than 15 digits": [2**60, 2**60 + 1, 1],
    "a row without any value": [None, "x", "y"],
}


@pytest.mark.usefixtures("parsed_here")
@pytest.mark.parametrize("ending", ["sav", "dta", "xlsx"])
@pytest.mark.parametrize("cells", CHANGED.values(), ids=CHANGED)
def test_rows_are_written_as_they_are_or_not_at_all(ending, cells, tmp_path):
    frame, path = pl.DataFrame({"a": cells}), tmp_path / f"rows.{ending}"
    with suppress(InputError):
        write_table(frame, path)
        assert read_written(path, ending).rows() == frame.rows()


def test_blank_texts_and_long_numbers_are_refused(tmp_path):
    for cells in (CHANGED["a blank text"], CHANGED["more than 15 digits"]):
        for ending in ("sav", "dta", "xlsx"):
            with pytest.raises(InputError, match="cannot hold"):
                write_table(pl.DataFrame({"a": cells}), tmp_path / f"rows.{ending}")


def test_a_spreadsheet_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    write_sheet(ROWS, tmp_path / "a.xlsx")
    monkeypatch.setattr("tamis.spreadsheet.MOST_UNPACKED", 100)
    with pytest.raises(InputError, match="unpacks to more"):
        read_table(tmp_path / "a.xlsx")
    with pytest.raises(CannotMeet, match="unpacks to more"):
        read_written(tmp_path / "a.xlsx", "xlsx")


def test_a_sheet_with_a_blank_column_is_read_in_silence(tmp_path, capfd):
    pl.DataFrame({"a": [1, 2], "b": [None, None]}).write_excel(tmp_path / "a.xlsx")
    assert read_sheet(tmp_path / "a.xlsx")["b"].null_count() == 2
    assert capfd.readouterr().err == ""


@pytest.mark.skipif("TAMIS_SAS_FILE" not in os.environ, reason="no .sas7bdat file is named")
def test_a_file_of_sas_is_read_as_another_reader_reads_it():
    path = Path(os.environ["TAMIS_SAS_FILE"])
    ours = read_table(path, check=False).frame
    theirs = pd.read_sas(path, encoding="infer")
    assert (ours.height, ours.columns) == (len(theirs), list(theirs.columns))
    for name in (n for n in ours.columns if ours[n].dtype.is_numeric()):
        assert ours[name].cast(float).to_list() == pytest.approx(
            theirs[name].to_list(), nan_ok=True
        )


def test_a_file_that_ends_the_process_that_reads_it_is_refused(tmp_path):
    write_statistical(ROWS, tmp_path / "a.sav", "sav")
    data = (tmp_path / "a.sav").read_bytes()
    labelled = struct.pack("<ii", 4, 1)  # a record: labels of one column, which becomes very many
    at = data.index(labelled, 176)
    many = struct.pack("<ii", 4, 0x40000001)
    (tmp_path / "a.sav").write_bytes(data[:at] + many + data[at + len(many) :])
    with pytest.raises(InputError, match=r"or is damaged or encrypted \(.+\); export it again"):
        read_table(tmp_path / "a.sav")


def test_a_file_where_tamis_runs_is_not_taken_for_a_module(tmp_path, monkeypatch):
    write_statistical(ROWS, tmp_path / "a.sav", "sav")
    (tmp_path / "polars.py").write_text("raise SystemExit(3)")
    monkeypatch.chdir(tmp_path)
    assert read_table("a.sav", target="ill").rows == 4


def test_a_date_that_is_shown_as_its_month_is_a_date(tmp_path):
    seconds = (date(2010, 8, 11) - date(1582, 10, 14)).days * 86_400
    frame = pl.DataFrame({"seen": [float(seconds)], "x": [float(seconds)]})
    pyreadstat.write_sav(frame, str(tmp_path / "a.sav"), variable_format={"seen": "MOYR8"})
    assert parse_statistical(tmp_path / "a.sav", "sav").row(0) == (date(2010, 8, 11), seconds)


@pytest.mark.usefixtures("parsed_here")
@pytest.mark.parametrize("ending", ["sav", "dta"])
def test_questions_codes_and_labels_come_back_as_they_were(ending, tmp_path):
    frame = pl.DataFrame(
        {
            "sex": [2.0, 5.0, 2.0, 5.0, None],
            "vote": [1.0, 3.0, 7.0, 3.0, 1.0],
            "age": [31.0, 99.0, 47.0, 52.0, 99.0],
            "w": [1.5, 2.5, 1.0, 1.0, 3.0],
        }
    )
    labels = {
        "sex": {2.0: "woman", 5.0: "man", 9.0: "never occurs"},
        "vote": {1.0: "no", 3.0: "yes", 7.0: "no"},  # two codes with one label
        "age": {99.0: "99 or older"},
    }
    questions = {"sex": "Are you a woman or a man?", "age": "How old are you?", "vote": "Vote?"}
    one, two = tmp_path / f"one.{ending}", tmp_path / f"two.{ending}"
    write = getattr(pyreadstat, f"write_{ending}")
    write(frame, str(one), variable_value_labels=labels, column_labels=questions)
    table = read_table(one)
    assert table.frame["sex"].to_list() == ["woman", "man", "woman", "man", None]
    assert table.frame["vote"].to_list() == ["no [1]", "yes", "no [7]", "yes", "no [1]"]
    write_table(table.frame, two, dictionary=table.dictionary)
    again, about = getattr(pyreadstat, f"read_{ending}")(two, output_format="polars")
    by = ["vote", "age", "w"]
    assert again.cast(pl.Float64).sort(by).equals(frame.sort(by))
    asked = about.column_names_to_labels
    assert {name: asked[name] for name in questions} == questions
    assert about.variable_value_labels == {**labels, "sex": {2.0: "woman", 5.0: "man"}}


def test_values_without_a_code_get_codes_after_those_that_have_one(tmp_path):
    said = {"job": ColumnText("Your job?", {"cook": 4, "judge": 2})}
    frame = pl.DataFrame({"job": ["cook", "other", "judge", "else"]})
    write_table(frame, tmp_path / "a.sav", dictionary=said)
    _, about = pyreadstat.read_sav(tmp_path / "a.sav", output_format="polars")
    assert about.variable_value_labels["job"] == {4: "cook", 2: "judge", 5: "else", 6: "other"}


@pytest.mark.parametrize("ending", [".sav", ".dta"])
@pytest.mark.parametrize(
    "labels",
    [
        ["9 or less", "10 to 19", "100 or more"],
        ["< 6.5", "[6.5, 7)", "[7, 12)", ">= 12"],
        ["< -5", "[-5, 0)", ">= 0"],
        ["< 2020-03-01", "[2020-03-01, 2020-10-01)", ">= 2020-10-01"],
        ["10 to 19", "20 or more", "other"],
    ],
)
def test_groups_have_codes_in_the_order_of_their_numbers(ending, labels, tmp_path):
    cells = pl.DataFrame({"x": [*reversed(labels), *sorted(labels)]})
    path, again = tmp_path / f"a{ending}", tmp_path / f"b{ending}"
    write_statistical(cells, path, ending[1:], {"x": ColumnText("Which?")})
    back, said = parse_described(path, ending[1:])
    found = said["x"].codes
    assert sorted(found, key=lambda label: found[label]) == labels
    assert back["x"].to_list() == cells["x"].to_list()
    write_statistical(cells, again, ending[1:], said)
    assert again.read_bytes() == path.read_bytes()


def test_texts_that_have_labels_keep_both_in_spss(tmp_path):
    frame = pl.DataFrame({"land": ["d", "f", "d"]})
    labels = {"land": {"d": "Germany", "f": "France"}}
    pyreadstat.write_sav(frame, str(tmp_path / "a.sav"), variable_value_labels=labels)
    table = read_table(tmp_path / "a.sav")
    assert table.frame["land"].to_list() == ["Germany", "France", "Germany"]
    write_table(table.frame, tmp_path / "b.sav", dictionary=table.dictionary)
    again, about = pyreadstat.read_sav(tmp_path / "b.sav", output_format="polars")
    assert about.variable_value_labels == labels
    assert sorted(again["land"]) == ["d", "d", "f"]


def test_a_spreadsheet_takes_no_two_names_that_differ_in_case(tmp_path):
    frame = pl.DataFrame({"Age": [1], "b": [2], "age": [3]})
    with pytest.raises(InputError, match="columns 'Age', 'age' have names that a spreadsheet"):
        write_sheet(frame, tmp_path / "x.xlsx")
    assert not (tmp_path / "x.xlsx").exists()
