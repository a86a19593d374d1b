"""Forms of columns: who is in which group, what they are called, what they never name."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.coarsen.ladder import Ladder
from tamis.coarsen.learnt_forms import CoarserForm, FinestForm, named_after
from tamis.errors import InputError
from tamis.learn.coded_table import CodedTable


def finest(column, k=5, people=None, rows=None):
    rows = np.arange(len(column)) if rows is None else rows
    codes = CodedTable.of(column.to_frame(), rows).codes[0]
    return FinestForm.of(column, codes, rows, k=k, people=people)


numbers = st.one_of(
    st.lists(st.integers(-50, 50), min_size=1, max_size=150),
    st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 2)), min_size=1, max_size=150),
)


@given(numbers, st.integers(1, 6))
def test_cuts_are_whole_or_no_cells_and_every_interval_has_k_people(values, k):
    column = pl.Series("x", values)
    form = finest(column, k)
    assert form.whole == all(value == int(value) for value in values)
    if form.whole:
        assert all(cut == int(cut) for cut in form.cuts)
    else:
        assert not set(form.cuts) & set(map(float, values))
    codes = form.codes(column)
    assert codes.min() >= 1
    assert len(form) == 1 or np.bincount(codes, minlength=len(form) + 1)[1:].min() >= k
    for value, code in zip(values, codes):
        assert code == 1 + sum(cut <= value for cut in form.cuts)


def test_people_are_counted_not_rows():
    column = pl.Series("x", np.repeat([1, 2, 3, 4], 10))
    people = np.concatenate([np.arange(20), np.repeat([20, 21], 10)])
    assert len(finest(column, k=5)) == 4
    assert len(finest(column, k=5, people=people)) == 2
    texts = column.cast(pl.String)
    form = finest(texts, k=5, people=people)
    assert form.values == ("1", "2")
    assert form.others


def test_rare_values_are_named_nowhere():
    column = pl.Series("job", ["cook"] * 9 + ["judge"] * 7 + ["falconer"] * 4 + ["bard"])
    form = finest(column)
    assert form.values == ("cook", "judge")
    assert form.names() == ["other", "cook", "judge"]
    coarse = CoarserForm(form, (0, 0, 1))
    for written in (coarse.names(), coarse.mapping(), coarse.description()):
        assert "falconer" not in str(written)
    assert coarse.applied(column).unique(maintain_order=True).to_list() == [
        "cook and others",
        "judge",
    ]


def test_a_rare_value_of_rows_not_looked_at_is_one_of_the_others():
    column = pl.Series("job", ["cook"] * 9 + ["judge"] * 7 + ["bard"])
    form = finest(column, rows=np.arange(16))
    assert form.others
    assert form.codes(column)[-1] == 1
    assert not finest(column[:16]).others


def test_what_is_missing_stays_missing():
    for column in (pl.Series([1.0, None, 3.0] * 9), pl.Series(["a", None, "b"] * 9)):
        form = finest(column)
        coarse = CoarserForm(form, (0,) * len(form))
        assert coarse.codes(column).tolist() == [1, 0, 1] * 9
        assert coarse.applied(column).null_count() == 9
    nothing = pl.Series("x", [None] * 9, dtype=pl.Float64)
    assert finest(nothing).codes(nothing).tolist() == [0] * 9


def test_values_that_nobody_had_are_others_or_missing():
    new = pl.Series(["a", "z", None])
    assert FinestForm(values=("a",), others=True).codes(new).tolist() == [2, 1, 0]
    assert FinestForm(values=("a",)).codes(new).tolist() == [1, 0, 0]


def test_a_value_called_other_is_not_the_others():
    form = FinestForm(values=("other", "a"), others=True)
    assert form.names() == ["(other)", "other", "a"]
    names = CoarserForm(form, (0, 1, 1)).names()
    assert names == ["(other)", "other or a"]
    clash = CoarserForm(FinestForm(values=("a", "b", "a or b")), (0, 0, 1))
    assert len(set(clash.names())) == 2


def test_many_values_have_a_short_name():
    form = FinestForm(values=tuple("abcde"))
    assert CoarserForm(form, (0, 0, 0, 0, 1)).names() == ["a and others", "e"]


def test_dates_are_cut_at_months():
    days = pl.Series("d", [date(2015, 1, 5) + timedelta(days=9 * i) for i in range(300)])
    form = finest(days)
    assert form.dated
    assert len(form) > 10
    coarse = CoarserForm(form, (0,) * 5 + (1,) * (len(form) - 5))
    (cut,) = coarse.description()["cuts"]
    assert cut.endswith("-01")
    assert coarse.names() == [f"< {cut}", f">= {cut}"]
    codes = coarse.codes(days)
    assert codes.tolist() == [1 + (day >= date.fromisoformat(cut)) for day in days]
    with_times = days.cast(pl.Datetime("us"))
    assert finest(with_times).codes(with_times).tolist() == form.codes(days).tolist()


def test_few_months_are_cut_at_days():
    days = pl.Series("d", [date(2024, 3, 1) + timedelta(days=i // 8) for i in range(240)])
    form = finest(days)
    assert len(form) > 10
    assert np.bincount(form.codes(days))[1:].min() >= 5


def test_truth_values_are_nominal():
    column = pl.Series("b", [True, False] * 9)
    assert finest(column).names() == ["false", "true"]


def test_a_form_reads_back_from_its_intervals():
    form = CoarserForm(FinestForm((1.5, 2.5, 1e6)), (0, 1, 1, 2))
    assert form.description() == {"cuts": [1.5, 1000000.0]}
    assert form.names() == ["< 1.5", "[1.5, 1000000)", ">= 1000000"]
    assert form.mapping()["[2.5, 1000000)"] == "[1.5, 1000000)"


@pytest.mark.parametrize(
    ("group_of", "words"),
    [((0, 1), "3 finest groups needs"), ((1, 0, 0), "from 0"), ((0, 1, 0), "no gap")],
)
def test_what_is_no_form_is_refused(group_of, words):
    with pytest.raises(InputError, match=words):
        CoarserForm(FinestForm((1.0, 2.0)), group_of)


@pytest.mark.parametrize(
    ("form", "column"),
    [
        (CoarserForm(FinestForm((18.5, 44.5)), (0, 1, 1)), pl.Series("c", [17, None, 45, 30])),
        (
            CoarserForm(FinestForm(values=("cook", "judge", "clerk"), others=True), (0, 0, 1, 1)),
            pl.Series("c", ["judge", "cook", "bard", None]),
        ),
        (
            CoarserForm(FinestForm((date(2021, 3, 1).toordinal(),), dated=True), (0, 1)),
            pl.Series("c", [date(2021, 2, 28), date(2021, 3, 1), None]),
        ),
    ],
    ids=["numbers", "values", "dates"],
)
def test_a_form_is_a_ladder_of_one_level(form, column):
    """What its description says, read as a ladder, is what it does."""
    ladders = pytest.importorskip("tamis.coarsen.ladder")
    ladder = ladders.Ladder.from_dict("c", form.description())
    assert ladder.top == 2
    assert ladder.apply(column, 1).to_list() == form.applied(column).to_list()


def test_a_cut_is_nobodys_value_of_rows_that_were_not_looked_at_either():
    values = pl.Series("x", [i + 0.25 for i in range(40)])
    codes = np.repeat(np.arange(1, 5, dtype=np.uint8), 10)
    rows = np.arange(40)
    known = FinestForm.of(values, codes, rows, k=2).cuts
    assert known
    more = pl.concat([values, pl.Series("x", list(known))])
    padded = np.append(codes, np.ones(len(known), dtype=np.uint8))
    assert not set(FinestForm.of(more, padded, rows, k=2).cuts or ()) & set(known)


def test_whole_numbers_have_whole_names():
    form = FinestForm((1.0, 5.0, 57.0, 63.0, 80.0), whole=True)
    every = CoarserForm(form, (0, 1, 2, 3, 4, 5))
    assert every.names() == ["0 or less", "1 to 4", "5 to 56", "57 to 62", "63 to 79", "80 or more"]
    ages = pl.Series("age", [0] * 5 + [3, 9, 60, 70, 95])
    found = named_after(every, ages, k=5)
    assert found == {"cuts": [0, 1, 6, 30, 70, 80], "whole": True}
    ladder = Ladder.from_dict("age", found)
    labels = ladder.apply(ages, 1)
    assert labels.unique(maintain_order=True).to_list() == [
        *("0", "1 to 5", "6 to 29", "30 to 69", "70 to 79", "80 or more"),
    ]
    assert ladder.bounds(labels, 1).rows()[-3:] == [(30.0, 70.0), (70.0, 80.0), (80.0, None)]


def test_values_with_an_order_merge_with_neighbours_only():
    levels = ["Preschool", "7th-8th", "HS-grad", "Bachelors", "Masters"]
    column = pl.Series("education", np.repeat([*levels, "11th"], [9, 20, 60, 40, 30, 2]))
    form = finest(column)
    assert form.ranked
    assert form.values == tuple(levels)
    assert form.rare == (("11th", 1),)
    with pytest.raises(InputError, match="no gap"):
        CoarserForm(form, (0, 1, 0, 1, 1))
    coarse = CoarserForm(form, (0, 0, 1, 1, 1))
    assert coarse.names() == ["Preschool to 7th-8th", "HS-grad to Masters"]
    assert coarse.codes(pl.Series(["11th", "Masters", None])).tolist() == [1, 2, 0]
    declared = pl.Series(["c", "a", "b"] * 9, dtype=pl.Enum(["b", "a", "c"]))
    assert finest(declared).values == ("b", "a", "c")


@given(st.data())
def test_what_is_described_comes_from_the_rows_given(data):
    """The same whatever other rows the form was learnt from, as long as the groups are the same."""
    k = data.draw(st.integers(1, 3))
    whole = data.draw(st.booleans())
    number = st.integers(-60, 60) if whole else st.floats(-60, 60).map(lambda x: round(x, 1) + 0.05)
    cells = pl.Series("x", data.draw(st.lists(number, min_size=2, max_size=30)), dtype=pl.Float64)
    cut = st.integers(-70, 70).map(float)
    one = sorted(data.draw(st.sets(cut, min_size=1, max_size=5)))
    present = np.unique(cells.to_numpy())
    other = [data.draw(st.sampled_from([c, *_between(present, c)])) for c in one]
    forms = [
        CoarserForm(FinestForm(tuple(c), whole=whole), tuple(range(len(c) + 1)))
        for c in (one, sorted(set(other)))
    ]
    first, second = (named_after(form, cells, k) for form in forms)
    assert first == second
    if first is not None:
        assert all(present[0] <= c <= present[-1] for c in first["cuts"])


def _between(present, cut):
    """Other cuts that part the same values."""
    below, above = present[present < cut], present[present >= cut]
    low = below.max() if len(below) else above.min() - 30
    high = above.min() if len(above) else below.max() + 30
    return [
        float(c) for c in range(int(np.floor(low)) + 1, int(np.floor(high)) + 1) if low < c <= high
    ]
