"""Dates at the door: one ISO form a column, stated, overridable, and text where in doubt."""

from __future__ import annotations

from datetime import date, datetime

import polars as pl
import pytest

from tamis.errors import InputError, TamisWarning
from tamis.read import read_table
from tamis.read.types import typed


def kind(*cells, **options):
    return typed(pl.DataFrame({"on": list(cells)}), **options).schema["on"]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["2021-05-03", "1999-12-31"], pl.Date),
        (["2021-05-03", None], pl.Date),
        ([" 2021-05-03", "2020-02-29 "], pl.Date),
        (["2021-05-03 10:30", "2021-05-03 23:59"], pl.Datetime),
        (["2021-05-03T10:30:00", "2021-05-03T10:30:00.25"], pl.Datetime),
        (["2021-05-03", "2021-05-03 10:30"], pl.String),  # two forms
        (["2021-05-03 10:30", "2021-05-03T10:30"], pl.String),
        (["2021-05-03", "2021-02-30"], pl.String),  # no such day
        (["2021-5-3", "2021-05-03"], pl.String),
        (["03.05.2021", "04.05.2021"], pl.String),
        (["2021-05-03T10:30:00Z"], pl.String),
        (["2021-05", "2021-06"], pl.String),
        (["20210503"], pl.Int64),
        ([None, None], pl.Int64),
    ],
)
def test_a_column_is_of_dates_only_if_every_value_is_one_in_the_same_form(cells, expected):
    frame = pl.DataFrame({"on": cells}, schema={"on": pl.String})
    assert typed(frame).schema["on"] == expected


def test_moments_keep_their_time_of_day():
    read = typed(pl.DataFrame({"at": ["2021-05-03T10:30:00", "2021-05-03T10:30:00.25"]}))
    assert read["at"].to_list() == [
        datetime(2021, 5, 3, 10, 30), datetime(2021, 5, 3, 10, 30, 0, 250000),
    ]  # fmt: skip


def test_one_bad_date_among_many_is_told_and_not_shown():
    cells = ["2021-05-03"] * 30 + ["2021-02-30"]
    with pytest.warns(TamisWarning, match="'on' is read as text: 1 of its values") as told:
        assert kind(*cells) == pl.String
    assert "02-30" not in str(told[0].message)


def test_a_schema_overrides_the_rule():
    assert kind("2021-05-03", declared={"on": "text"}) == pl.String
    assert kind("2021-05-03", untouched=["on"]) == pl.String
    assert kind("2021-05-03", declared={"on": "date"}, infer=False) == pl.Date
    with pytest.raises(InputError, match="'on' is declared a date, but 2 rows") as refused:
        kind("2021-05-03", "secret", "2021-02-30", declared={"on": "date"})
    assert "secret" not in str(refused.value)


def test_a_long_file_is_read_as_a_short_one(tmp_path):
    """The fast way looks at the first rows only, so the last one must count too."""
    days = [f"2021-{1 + i % 12:02d}-{1 + i % 28:02d}" for i in range(1500)]
    rows = [f"{day},{i % 7}" for i, day in enumerate(days)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["on,x", *rows]))
    table = read_table(path)
    assert table.kind("on") == "date"
    assert table.frame["on"][0] == date(2021, 1, 1)
    path.write_text("\n".join(["on,x", *rows, "2021-02-30,1"]))
    with pytest.warns(TamisWarning, match="read as text"):
        assert read_table(path).kind("on") == "nominal"


def test_what_a_schema_may_call_a_column(tmp_path):
    (tmp_path / "t.csv").write_text("on,y\n2021-05-03,a\n2021-05-04,b\n")
    (tmp_path / "s.toml").write_text('[columns]\non = "text"\n')
    assert read_table(tmp_path / "t.csv", schema=tmp_path / "s.toml").kind("on") == "nominal"
    (tmp_path / "s.toml").write_text('[columns]\non = "day"\n')
    with pytest.raises(InputError, match='"text", "number" or "date"'):
        read_table(tmp_path / "t.csv", schema=tmp_path / "s.toml")
