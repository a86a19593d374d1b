"""What is hidden in the form of a column is found, and nothing is found in noise."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.evaluate.parts import Parts
from tamis.evaluate.subset_bits import SubsetBits
from tamis.learn import views
from tamis.learn.coded_table import CodedTable
from tamis.learn.value_views import views_of
from tamis.learn.views import (
    BANDS,
    TOGETHER,
    Views,
    _ViewSearch,
    divergence,
    find_views,
    parities,
    walsh_hadamard,
)

WORDS = [f"{a}{b}" for a in "bcdfg" for b in ("ell", "oom", "ark", "ip")]


def found(frame: pl.DataFrame, label: np.ndarray, given: np.ndarray | None = None) -> Views:
    """The views of all columns, by all rows."""
    target = np.zeros(len(label), dtype=np.int64) if given is None else given
    table = CodedTable.of(frame)
    return find_views(
        frame,
        table.beside(CodedTable.of_label(target)),
        np.asarray(label, dtype=np.int64),
        target,
        np.arange(len(label)),
        beside=len(table),
        classes=int(label.max()) + 1,
    )


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 6), st.integers(0, 2**32 - 1))
def test_the_transform_sums_what_its_definition_says(size, seed):
    values = np.random.default_rng(seed).normal(size=1 << size)
    expected = [
        sum(v * (-1) ** (mask & place).bit_count() for place, v in enumerate(values))
        for mask in range(1 << size)
    ]
    assert walsh_hadamard(values) == pytest.approx(expected)


@settings(deadline=None, max_examples=30)
@given(st.integers(2, 5), st.integers(2, 3), st.integers(0, 2**32 - 1))
def test_parities_are_as_strong_as_counted_row_by_row(size, classes, seed):
    draw = np.random.default_rng(seed)
    flags = draw.integers(0, 2, (size, 60))
    label = (flags[:2].sum(axis=0) + (draw.random(60) < 0.1)) % classes
    seen = np.eye(classes)[label]
    expected = np.tile(seen.mean(axis=0), (60, 1))
    masks, strength, looked = parities(flags, seen, expected)
    sets = [s for n in range(2, min(size, TOGETHER) + 1) for s in combinations(range(size), n)]
    assert looked == len(sets)
    spread = (expected * (1 - expected)).sum(axis=0)
    strengths = {}
    for members in sets:
        signs = 1 - 2 * (flags[list(members)].sum(axis=0) % 2)
        squares = (signs @ (seen - expected)) ** 2
        mask = sum(1 << i for i in members)
        strengths[mask] = max(s / v for s, v in zip(squares, spread) if v > 0)
    for mask, strong in zip(masks.tolist(), strength):
        assert strong == pytest.approx(strengths[mask])
    strongest = max(strengths, key=strengths.__getitem__)
    assert not len(masks) or strongest in masks.tolist()


def test_no_parity_of_more_than_eight_columns_is_looked_at():
    flags = np.random.default_rng(0).integers(0, 2, (9, 4000))
    odd = flags.sum(axis=0) % 2
    masks, _, _ = parities(flags, np.eye(2)[odd], np.full((4000, 2), 0.5))
    assert all(mask.bit_count() <= 8 for mask in masks.tolist())
    assert (1 << 9) - 1 not in masks.tolist()


@pytest.mark.parametrize(
    ("cells", "words", "values"),
    [
        (pl.Series([4, 7, None, -3]), "whether {} is even", [0, 1, -1, 1]),
        (pl.Series([1234, 50]), "the tens of {}", [3, 5]),
        (pl.Series([1.25, 3.5, 2.0]), "the number of decimals of {}", [2, 1, 0]),
        (pl.Series([1.25, 3.5]), "decimal 2 of {}", [5, 0]),
        (pl.Series([199, 28]), "the digit sum of {} by 10", [9, 0]),
        (pl.Series(["7992739871" + d for d in "34"]),
         "whether the check digit of the last number in {} is right", [1, 0]),
        (pl.Series(["2024-01-01", None]).str.to_date(), "the weekday of {}", [1, -1]),
        (pl.Series(["2024-01-31T05:17:08"]).str.to_datetime(), "the hour of {}", [5]),
        (pl.Series(["2024-01-31T05:17:08"]).str.to_datetime(),
         "the last digit of the minute of {}", [7]),
        (pl.Series(["a ", " b", "c", None]), "the spaces around {}", [1, 2, 0, -1]),
        (pl.Series(["a-b-c", "x"]), "how often '-' is in {}", [2, 0]),
        (pl.Series(["K9", "x"]), "character 1 of {}", [ord("K"), ord("x")]),
        (pl.Series(["K9", "x"]), "character 1 from the end of {}", [ord("9"), ord("x")]),
        (pl.Series([0.5, float("nan")]), "decimal 1 of {}", None),
        (pl.Series(["a fall", "burnt", None, "fall"] * 10),
         "whether {} has the word 'fall'", [1, 0, -1, 1] * 10),
        (pl.Series(["x{y", "y{", "xz", None] * 10),
         "whether {} has the letter '{{'", [1, 1, 0, -1] * 10),
        (pl.Series(["a;b", "b;a", "B, a", "", None]),
         "whether the parts of {} are in order", [1, 0, 0, 1, -1]),
        (pl.Series([970_001, 97, None]), "the remainder of {} by 97", [1, 0, -1]),
        (pl.Series([4006381333931, 4006381333932]),
         "whether the check digit of {} is right, as of a product", [1, 0]),
        (pl.Series([111000025, 111000052]),
         "whether the check digit of {} is right, as of a bank", [1, 0]),
        (pl.Series(["x0306406152", "x0306406125"]),
         "whether the check digit of the last number in {} is right, as of a book", [1, 0]),
        (pl.Series([1359, 1353, 7, 1135, None]),
         "whether the digits of {} ascend", [1, 0, 1, 1, -1]),
        (pl.Series([1359, 1003, 100, 77]), "whether {} has a digit twice in a row", [0, 1, 1, 1]),
        (pl.Series([1359, 1003, 5]), "whether {} has the digit 0", [0, 1, 0]),
        (pl.Series([0.1, np.float32(0.1), None]), "whether {} has single precision", [0, 1, -1]),
        (pl.Series(["2024-02-28", "2023-02-28"]).str.to_date(),
         "the days from {} to the end of its month", [1, 0]),
        (pl.Series(["2024-01-31T05:17:08"]).str.to_datetime(),
         "the remainder of the minutes of the day of {} by 7", [317 % 7]),
        (pl.Series(["Eve", "sky", None]), "the number of vowels of {}", [2, 0, -1]),
        (pl.Series(["a4a ", "a4b", None]), "whether {} begins as it ends", [1, 0, -1]),
        (pl.Series(["letter", "later--", "aa", None] * 5),
         "whether {} has a letter twice in a row", [1, 0, 1, -1] * 5),
    ],
)  # fmt: skip
def test_a_view_shows_what_its_words_say(cells, words, values):
    assert dict(views_of(cells)).get(words, np.array([])).tolist() == (values or [])


@pytest.mark.parametrize(
    "cells",
    [
        pl.Series([None, None], dtype=pl.Int64),
        pl.Series([float("inf"), float("nan"), None, 1e300]),
        pl.Series([None, ""], dtype=pl.String),
        pl.Series([], dtype=pl.String),
        pl.Series([], dtype=pl.Float64),
        pl.Series([2**62, -(2**62)]),
        pl.Series(["x"], dtype=pl.Categorical),
        pl.Series([True, False]),
        pl.Series([None], dtype=pl.Datetime),
        pl.Series(["é" * 40, "9" * 40]),
    ],
)
def test_every_view_has_a_value_a_row_whatever_the_cells(cells):
    for words, values in views_of(cells):
        assert "{}" in words
        assert values.shape == (len(cells),)
        assert values.min(initial=0) >= -1


def pairs(frame: pl.DataFrame) -> dict[str, np.ndarray]:
    """Every view of two columns, by its words."""
    rows, labels = np.arange(frame.height), np.arange(frame.height) % 2
    table = CodedTable.of(frame)
    given = CodedTable.of_label(labels)
    search = _ViewSearch(frame, table.beside(given), labels, labels, rows, len(table), 2)
    every = range(frame.width)
    return {words: values for _, words, values in search._paired(every)}


def test_a_view_of_two_columns_shows_what_its_words_say():
    draw = np.random.default_rng(0)
    one, other = draw.integers(1, 100, (2, 200))
    gone = draw.random(200) < 0.1
    days = [pl.Series(each).cast(pl.Int32).cast(pl.Date) for each in (one, one + other)]
    frame = pl.DataFrame(
        {
            "one": pl.Series(one).set(pl.Series(gone), None),
            "other": other,
            "from": days[0],
            "until": days[1],
            "born": [f"p{n % 9}" for n in one],
            "lives": [f"p{n % 9}" for n in other],
            "job": [f"j{n}" for n in other],
        }
    )
    found = pairs(frame)
    assert found["the remainder of from less until by 7"].tolist() == (-other % 7).tolist()
    expected = np.where(gone, -1, (one - other) % 5)
    assert found["the remainder of one less other by 5"].tolist() == expected.tolist()
    same = [int(a % 9 == b % 9) for a, b in zip(one, other)]
    assert found["whether born and lives are the same"].tolist() == same
    assert not any("job" in words and words.endswith("the same") for words in found)
    named = np.where(gone, -1, one == other).tolist()
    assert found["whether the last number in job is one"].tolist() == named
    assert not any(words.startswith("until by") for words in found)
    for words, exact in (("until less from", other), ("other by one", np.log(other / one))):
        bands = found[words]
        there = bands >= 0
        assert (there == ~(gone & ("one" in words))).all()
        order = np.argsort(exact[there], kind="stable")
        assert (np.diff(bands[there][order]) >= 0).all()
        assert BANDS / 2 < len(set(bands[there].tolist())) <= BANDS


@pytest.mark.parametrize("seed", range(12))
def test_nothing_is_found_in_noise(seed):
    draw = np.random.default_rng([7, seed])
    rows = 1500
    frame = pl.DataFrame(
        {
            "income": draw.lognormal(10, 1, rows).astype(np.int64),
            "dose": draw.normal(size=rows),
            "lab": np.round(draw.normal(5, 1, rows), 2),
            "code": [f"{a:c}{b:03d}" for a, b in zip(draw.integers(65, 91, rows),
                                                     draw.integers(0, 999, rows))],
            "note": [" ".join(draw.choice(WORDS, 4)) for _ in range(rows)],
            "until": pl.Series(draw.integers(0, 900, rows)).cast(pl.Int32).cast(pl.Date),
            **{f"place{i}": [f"p{n}" for n in draw.integers(0, 40, rows)] for i in range(3)},
            "day": pl.Series(draw.integers(0, 900, rows)).cast(pl.Int32).cast(pl.Date),
            **{f"flag{i}": draw.integers(0, 2, rows) for i in range(10)},
        }
    )  # fmt: skip
    # A rare secret, and one of several values that the target tells much of.
    target = draw.integers(0, 2, rows)
    assert found(frame, (draw.random(rows) < 0.03).astype(np.int64), target).kept == ()
    assert found(frame, (target + draw.integers(0, 4, rows)) % 5, target).kept == ()


def test_what_the_column_or_the_other_label_says_anyway_is_no_view():
    draw = np.random.default_rng(0)
    income = draw.integers(0, 10_000, 2000)
    frame = pl.DataFrame({"income": income, "name": [f"{n:05d}" for n in income]})
    assert found(frame.select("income"), (income > 5000).astype(np.int64)).kept == ()
    even = income % 2
    assert found(frame, even, even).kept == ()
    assert {view.columns for view in found(frame, even).kept} == {(0,), (1,)}


def test_rows_of_one_person_count_once():
    """Ten rows a person with the same even or odd number are no ten draws."""
    draw = np.random.default_rng(1)
    people = np.repeat(np.arange(60), 50)
    income = 2 * draw.integers(0, 5000, len(people)) + draw.integers(0, 2, 60)[people]
    secret = draw.integers(0, 2, 60)[people]
    frame = pl.DataFrame({"income": income})
    target = draw.integers(0, 2, len(people))
    parts = Parts.drawn(target, people)
    for whose, tells in ((people, False), (None, True)):
        asked = SubsetBits.of(frame, target, secret, parts=parts, people=whose).secret
        assert asked is not None
        assert bool(asked.views.kept) == tells


def test_a_parity_needs_all_of_its_columns_and_what_is_missing_in_any_form():
    draw = np.random.default_rng(2)
    flags = draw.integers(0, 2, (4, 3000))
    frame = pl.DataFrame({f"a{i}": flag for i, flag in enumerate(flags)})
    every = found(frame, flags[:3].sum(axis=0) % 2)
    assert [view.columns for view in every.kept] == [(0, 1, 2)]
    assert (every.of((0, 1, 2), (0, 1, 2)), every.of((0, 1, 3), (0, 1, 3))) == ([0], [])
    gone = [pl.Series(draw.normal(size=3000)).set(pl.Series(flag == 1), None) for flag in flags]
    every = found(pl.DataFrame(gone), flags[:3].sum(axis=0) % 2)
    assert [view.lacking for view in every.kept] == [(0, 1, 2)]
    assert every.of((8, 9), (0, 1, 2)) == [0]


def test_whole_numbers_are_odd_or_even_beside_flags():
    draw = np.random.default_rng(5)
    flag, numbers = draw.integers(0, 2, 3000), draw.integers(0, 400, (2, 3000))
    frame = pl.DataFrame({"flag": flag, "income": numbers[0], "rent": numbers[1]})
    every = found(frame, (flag + numbers.sum(axis=0)) % 2)
    assert [view.words for view in every.kept] == ["the parity of flag, income and rent"]
    assert (every.of((0, 1, 2), (0, 1, 2)), every.of((0, 7, 8), (0, 1, 2))) == ([0], [])


def test_a_whole_number_may_be_missing_where_nothing_is_tested():
    """As below people as they are, whose cells an altered release leaves blank."""
    one, other = np.arange(400) % 2, np.arange(400) // 2 % 7
    frame = pl.DataFrame({"flag": one, "number": [*other[:390].tolist(), *[None] * 10]})
    label = (one + other) % 2
    none = np.zeros(400, dtype=np.int64)
    table = CodedTable.of(frame).beside(CodedTable.of_label(none, np.arange(400)))
    tested = np.arange(390)
    views = find_views(frame, table, label, none, tested, beside=2, classes=2)
    assert "the parity of flag and number" in [view.words for view in views.kept]


def test_who_shares_a_value_is_known_by_how_often_it_occurs():
    draw = np.random.default_rng(6)
    shares = draw.random(2000) < 0.3
    number = np.where(shares, 9_000 + np.cumsum(shares) // 2, np.arange(2000))
    every = found(pl.DataFrame({"number": number}), shares.astype(np.int64))
    assert "how often a value of number occurs" in [view.words for view in every.kept]


def test_a_text_may_name_what_another_column_is():
    draw = np.random.default_rng(4)
    day, serial = draw.integers(16_436, 19_000, 3000), draw.integers(0, 900, 3000)
    opened = pl.Series("opened", day.astype(np.int32)).cast(pl.Date)
    same = draw.random(3000) < 0.4
    year = opened.dt.year().to_numpy() - 2000 + np.where(same, 0, draw.integers(1, 5, 3000))
    case = [f"{y:02d}/{n}" for y, n in zip(year, serial)]
    every = found(pl.DataFrame({"opened": opened, "case": case}), same.astype(np.int64))
    words = [view.words for view in every.kept]
    assert "whether the first number in case is the year of opened in two digits" in words


def test_the_columns_that_teach_are_looked_at_where_flags_are_many(monkeypatch):
    monkeypatch.setattr(views, "FLAGS", 3)
    draw = np.random.default_rng(3)
    flags = draw.integers(0, 2, (7, 4000))
    target = (flags[[1, 4, 5]].sum(axis=0) + draw.integers(0, 2, 4000) > 1).astype(np.int64)
    frame = pl.DataFrame({f"a{i}": flag for i, flag in enumerate(flags)})
    every = found(frame, flags[[1, 4, 5]].sum(axis=0) % 2, target)
    assert (1, 4, 5) in {view.columns for view in every.kept}


def test_a_divergence_is_pearsons_or_the_likelihoods_whichever_is_smaller():
    values = np.array([0] * 30 + [1] * 20)
    seen = np.eye(2)[[0] * 20 + [1] * 10 + [0] * 5 + [1] * 15]
    counts, hoped = np.array([[20, 10], [5, 15]]), np.array([[15, 15], [10, 10]])
    squares = ((counts - hoped) ** 2 / hoped).sum()
    likelihood = 2 * (counts * np.log(counts / hoped)).sum()
    statistic, free = divergence(values, seen, np.full((50, 2), 0.5))
    assert statistic == pytest.approx(min(squares, likelihood))
    assert free == 1
