"""Ladders made from a column: enough people everywhere, round ends, and nothing rare named.

Ladders from csv files: any separator, with or without a header, and what is wrong by count.
"""

from __future__ import annotations

import csv
from datetime import date, datetime, time, timedelta
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.coarsen.ladder import Ladder
from tamis.coarsen.ladder_sources import (
    SEPARATORS,
    draft_ladder,
    drawn_in,
    ladders_of,
    read_ladder,
)
from tamis.coarsen.search import coarsened
from tamis.errors import InputError
from tamis.publication.manifest import stated
from tamis.release import Coarsening
from tamis.table import Roles, Table
from tamis.verification.labels import labels_of, wrong_labels

NUMBERS = (
    st.lists(st.integers(0, 60), min_size=1, max_size=80)
    | st.lists(st.floats(-1e3, 1e3, allow_subnormal=False), min_size=1, max_size=80)
    | st.lists(st.sampled_from([0, 0, 0, 0, 7, 7298, 15024]), min_size=1, max_size=80)
)
TEXTS = st.lists(st.sampled_from(["a", "b", "c", "d", "e", "f"]), min_size=1, max_size=60)


def smallest(ladder: Ladder, column: pl.Series, people: np.ndarray) -> int:
    """By the definition: the fewest people who share a label at a level between the ends."""
    least = len(column)
    for level in range(1, ladder.top):
        labels = ladder.apply(column, level).to_list()
        for label in {each for each in labels if each is not None}:
            least = min(least, len({p for p, each in zip(people, labels) if each == label}))
    return least


@given(values=NUMBERS | TEXTS, k=st.integers(1, 6), each=st.integers(1, 3))
def test_every_group_that_is_made_has_k_people(values, k, each):
    column = pl.Series("x", [*values, None], strict=False)
    people = np.arange(len(column)) // each
    ladder = draft_ladder(column, k, people)
    assert ladder.top == 1 or smallest(ladder, column, people) >= k
    widths = ladder.hierarchy(column).hierarchy.widths
    assert all(coarse < fine for fine, coarse in pairwise(widths[:-1]))


def test_ages_get_intervals_that_people_use():
    ages = pl.Series("age", [age for age in range(18, 95) for _ in range(7)])
    assert draft_ladder(ages).to_dict() == {
        "width": [5, 5, 5, 10, 10, 20],
        "bottom": [20, 25, 30, 30, 40, 40],
        "top": [90, 90, 85, 85, 70, 70],
        "whole": True,
    }


def test_a_thin_tail_does_not_cost_the_column():
    """Tails merge as levels rise, about as well as ends that a person chose."""
    rng = np.random.default_rng(0)
    rows = 7874
    frame = pl.DataFrame(
        {
            "age": np.minimum(50 + rng.gamma(1.6, 8.5, rows).astype(int), 101),
            "sex": rng.choice(["F", "M"], rows),
            "year": rng.choice(np.arange(1995, 2004), rows, p=np.arange(9, 0, -1) ** 2 / 285),
            "ill": rng.choice(["no", "yes"], rows),
        }
    )
    table = Table(frame, Roles("ill", quasi=("age", "sex", "year")))
    by_hand = {"age": Ladder.from_dict("age", {"width": [5], "bottom": 55, "top": 85})}
    fixed = {"age": Ladder.from_dict("age", {"width": [5, 10, 20], "bottom": 55, "top": 100})}
    made, hand, thin = (coarsened(table, each).score for each in (None, by_hand, fixed))
    assert made <= hand < thin


def test_skewed_numbers_are_cut_where_the_people_are():
    gains = pl.Series("gain", [0.0] * 900 + [float(g) for g in range(3103, 3203)])
    cuts = draft_ladder(gains).to_dict()["cuts"]
    assert all(cut >= 1 for level in cuts for cut in level)
    assert cuts[0][0] == 3000


def test_a_cut_is_no_measured_value():
    values = np.random.default_rng(1).lognormal(5, 2, 500)
    ladder = draft_ladder(pl.Series("x", values))
    assert not {cut for level in ladder.to_dict()["cuts"] for cut in level} & set(values.tolist())


def test_numbers_beyond_exact_arithmetic_get_a_ladder_too():
    large = pl.Series("x", 2.0**53 + np.arange(-60, 60))
    ladder = draft_ladder(large)
    assert smallest(ladder, large, np.arange(120)) >= 5


def test_codes_lose_their_last_characters_first():
    assert draft_ladder(pl.Series("zip", ["01000", "75011"])).to_dict() == {"keep": [4, 3, 2, 1]}
    assert draft_ladder(pl.Series("PLZ", [10115, 80331])).to_dict() == {"keep": [4, 3, 2, 1]}
    numbers = pl.Series("ward", [f"{i:03d}" for i in range(40)])
    assert draft_ladder(numbers).to_dict() == {"keep": [2, 1]}
    assert "keep" not in draft_ladder(pl.Series("zip", ["1", "75011"])).to_dict()


def test_dates_get_the_units_that_matter():
    days = pl.Series("on", [date(2019, 1, 1) + timedelta(days=i) for i in range(500)])
    assert draft_ladder(days).to_dict() == {"dates": ["month", "quarter", "year"]}
    moments = pl.Series("at", [datetime(2021, 1, 1) + timedelta(minutes=i) for i in range(3000)])
    assert draft_ladder(moments).to_dict() == {"dates": ["hour", "day"]}
    assert draft_ladder(days.head(3)).top == 1
    assert draft_ladder(pl.Series("t", [time(1, 2), time(1, 3), time(2)])).to_dict() == {
        "dates": ["hour"]
    }


def test_rare_values_share_a_name_that_is_not_theirs():
    jobs = pl.Series("job", ["cook"] * 20 + ["judge"] * 9 + ["clerk"] * 6 + ["bard", "page"])
    made = draft_ladder(jobs, 5).to_dict()
    # Two people would be "other" alone, so the clerks join them.
    assert made == {"common": [["cook", "judge"], ["cook"]]}


@pytest.mark.parametrize("values", [["f", "m"] * 9, [True, False] * 9, [0, 1] * 9, [3] * 9, [None]])
def test_columns_with_nothing_in_between_stay_or_go(values):
    ladder = draft_ladder(pl.Series("x", values))
    assert ladder.top == 1
    assert Ladder.from_dict("x", ladder.to_dict()) == ladder


def test_given_ladders_come_first_and_must_fit_the_table():
    table = Table(pl.DataFrame({"age": range(50), "y": [0, 1] * 25}), Roles(target="y"))
    mine = Ladder.from_dict("age", {"cuts": [20]})
    assert ladders_of(table, {"age": mine}) == {"age": mine}
    assert list(ladders_of(table)) == ["age"]
    with pytest.raises(InputError, match="no column 'job'"):
        ladders_of(table, {"job": mine})


LINES = [["a b", "x, y", "*"], ['c"d', "x, y", "*"], ["e;f", "z|w", "*"]]


def write(path, lines, separator=";"):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=separator).writerows(lines)
    return path


@pytest.mark.parametrize("separator", SEPARATORS)
@pytest.mark.parametrize("header", [None, ["job", "1", "2"], ["value", "one", "*"]])
@pytest.mark.parametrize("star", [True, False])
def test_forms_of_a_file_make_one_ladder(tmp_path, separator, header, star):
    lines = [*([header] if header else []), *LINES]
    path = write(tmp_path / "job.csv", [line if star else line[:2] for line in lines], separator)
    ladder = read_ladder(path, "job")
    assert ladder.top == 2
    assert ladder.to_dict() == {"groups": [{"x, y": ["a b", 'c"d'], "z|w": ["e;f"]}]}


def test_a_first_line_without_the_star_of_the_others_is_a_header(tmp_path):
    path = write(tmp_path / "f", [["Beruf", "Gruppe", "alle"], *LINES])
    assert read_ladder(path, "job").hierarchy(pl.Series(["a b"])).hierarchy.leaves == 3


def test_values_alone_can_stay_or_go(tmp_path):
    (tmp_path / "f").write_text("Male\nFemale\n")
    ladder = read_ladder(tmp_path / "f", "sex")
    assert ladder.top == 1
    assert ladder.apply(pl.Series(["Male", None]), 1).to_list() == ["*", "*"]
    assert ladder.hierarchy(pl.Series(["Female", None])).codes.tolist() == [1, 2]
    with pytest.raises(InputError, match="2 values in 2 rows"):
        ladder.check(pl.Series(["Peru", "Chad", "Male"]))


def test_numbers_are_found_however_they_are_written(tmp_path):
    path = write(tmp_path / "f", [["17", "low", "*"], ["18.0", "low", "*"], ["9.50", "less", "*"]])
    ladder = read_ladder(path, "age")
    assert ladder.apply(pl.Series([17.0, 18.0, 9.5]), 1).to_list() == ["low", "low", "less"]
    assert ladder.apply(pl.Series([17, 18]), 1).to_list() == ["low", "low"]
    path = write(tmp_path / "f", [["17", "low", "*"], ["17.0", "low", "*"]])
    with pytest.raises(InputError, match="1 number has more than one line"):
        read_ladder(path, "age").apply(pl.Series([17]), 1)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("\n \n", "is empty"),
        ("job;level 1\n", "is empty"),
        ("secret;x;*\nother;*\n", r"1 line \(the first is line 2\) has fewer than 3"),
        ("secret;x;*\nsecret;x;*\n", "1 value has more than one line"),
        ("secret;;*\n;x;*\n", "2 cells are empty"),
        ("secret;x;p;*\nb;x;q;*\nc;y;q;*\n", "level 2 does not nest .* split 1 time"),
        ("secret;x;p;*\nb;x;q;*\n", "level 2 is finer than the one before"),
    ],
)
def test_what_is_wrong_is_counted_and_never_shown(tmp_path, text, words):
    path = tmp_path / "ladder.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=words) as refused:
        read_ladder(path, "job")
    assert "'job'" in str(refused.value)
    assert "secret" not in str(refused.value)


def test_values_that_the_file_lacks_need_a_way_out(tmp_path):
    path = write(tmp_path / "f", LINES)
    column = pl.Series("job", ["a b", "secret"])
    with pytest.raises(InputError, match="1 value in 1 row"):
        read_ladder(path, "job").hierarchy(column)
    ladder = read_ladder(path, "job", unlisted="other")
    assert ladder.hierarchy(column).hierarchy.leaves == 4
    assert ladder.apply(column, 1).to_list() == ["x, y", "other"]


def test_the_files_of_a_golden_set_are_read(golden):
    files = sorted(golden("arx/hierarchies").glob("*.csv"))
    for file in files:
        text = file.read_text().splitlines()
        ladder = read_ladder(file, file.stem.partition("_")[2])
        leaves = pl.Series([line.partition(";")[0] for line in text])
        for level in range(1, ladder.top + 1):
            assert ladder.apply(leaves, level).to_list() == [
                line.split(";")[level] for line in text
            ]
        assert ladder.hierarchy(leaves).hierarchy.leaves == len(text)
    assert len(files) > 10


@given(
    st.lists(st.integers(0, 99), min_size=30, max_size=200), st.integers(1, 5), st.integers(0, 999)
)
def test_made_ladders_are_drawn_in_to_the_rows_that_are_left(values, k, seed):
    column = pl.Series("x", values)
    kept = column.filter(pl.Series(np.random.default_rng(seed).random(len(values)) < 0.5))
    ladder = draft_ladder(column, k)
    for level in range(1, ladder.top):
        found = drawn_in(ladder, level, kept)
        before = ladder.apply(kept, level)
        if found is None:
            assert before.n_unique() < 2
            continue
        drawn = Ladder.from_dict("x", found)
        after = drawn.apply(kept, level)
        assert drawn.top == ladder.top
        pairs = pl.DataFrame({"one": before, "two": after}).unique()
        assert pairs.height == before.n_unique() == after.n_unique()
        cuts = [c for each in found.get("cuts", []) for c in each]
        given = [found[end] for end in ("bottom", "top") if end in found]
        ends = [end[level - 1] if isinstance(end, list) else end for end in given]
        assert all(kept.min() < end <= kept.max() for end in (*cuts, *ends))


@given(st.lists(st.integers(0, 900), min_size=40, max_size=150), st.integers(1, 6))
def test_thin_tails_of_dates_are_merged(days, k):
    column = pl.Series("on", [date(2019, 12, 28) + timedelta(days=day) for day in days])
    ladder = draft_ladder(column, k)
    for level in range(1, ladder.top):
        labels = ladder.apply(column, level)
        said = stated(Coarsening(ladder.to_dict(), level), column, k)
        assert not wrong_labels(labels, said)
        known = column.unique()
        assert (
            labels_of(known, labels.unique().to_list(), said)
            == ladder.apply(known, level).to_list()
        )
        tails = [label for label in labels.unique() if label[0] in "<>"]
        assert all((labels == label).sum() >= k for label in tails)
    assert Ladder.from_dict("on", ladder.to_dict()) == ladder


def test_a_first_month_with_four_people_does_not_cost_the_months():
    late = [date(2020, 1 + month, 1 + day) for month in range(12) for day in range(25)]
    column = pl.Series("on", [date(2019, 12, 30)] * 4 + late)
    ladder = draft_ladder(column, 5)
    labels = ladder.apply(column, 1)
    assert labels[:5].to_list() == ["< 2020-02-01"] * 5
    assert labels.n_unique() == 12
    assert ladder.bounds(labels[:1], 1).rows() == [(None, date(2020, 2, 1))]
    with pytest.raises(InputError, match="first day of one"):
        Ladder.from_dict("on", {"dates": ["month"], "bottom": "2020-01-15"})
