"""How far the lists of words reach: recall and precision on headers that were written before them.

What is missed is named, so that the figures of docs/how-to/what-is-each-column.md stay true.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from tamis.coarsen.merging import order_of
from tamis.read.keys import identifying_columns
from tests.read import held_out
from tests.read.made_columns import family_names, given_names

PEOPLE = 300


def seeded(header: str) -> np.random.Generator:
    return np.random.default_rng(sum(map(ord, header)))


def is_reported(header: str, cells: object, rng: np.random.Generator) -> bool:
    """In a table of which no other column follows it."""
    frame = pl.DataFrame({header: cells})
    rows = frame.height
    beside = {"f_m": rng.choice(["f", "m"], rows), "value_": rng.integers(0, 40, rows)}
    return header in identifying_columns(frame.with_columns(pl.DataFrame(beside)))


def a_few_rows_each(values: Sequence[object], rng: np.random.Generator) -> list[object]:
    whose = rng.permutation(np.repeat(np.arange(len(values)), rng.integers(1, 6, len(values))))
    return [values[i] for i in whose]


@pytest.mark.parametrize("make", [given_names, family_names])
def test_headers_of_names_in_two_dozen_languages(make):
    headers = held_out.NAMES.split("|")
    assert [h for h in headers if not is_reported(h, make(150, seeded(h)), seeded(h))] == []


@pytest.mark.parametrize(
    ("names", "unnoticed"),
    [
        (40, ["sname", "alias", "aka", "nombres", "jina"]),
        (200, ["sname"]),
    ],
)
def test_headers_of_names_that_repeat(names, unnoticed):
    missed = []
    for header in held_out.NAMES_AGAIN.split("|"):
        rng = seeded(header)
        full = [f"{a} {b}" for a, b in zip(given_names(names, rng), family_names(names, rng))]
        if not is_reported(header, rng.choice(full, 1_500), rng):
            missed.append(header)
    assert missed == unnoticed


@pytest.mark.parametrize(
    ("headers", "unnoticed"),
    [
        (held_out.IDS, ["hosp_num"]),
        (held_out.IDS_AGAIN, ["part_no", "hospital_no", "booking_no"]),  # of things and events
    ],
)
def test_headers_of_the_numbers_of_people(headers, unnoticed):
    missed = []
    for header in headers.split("|"):
        rng = seeded(header)
        numbers = rng.permutation(9_000)[:PEOPLE] + 1_000
        codes = [f"K{number}" for number in numbers]
        for values in (numbers.tolist(), codes):
            if not is_reported(header, a_few_rows_each(values, rng), rng):
                missed.append(header)
    assert missed == [header for header in unnoticed for _ in range(2)]


def test_headers_of_telephones_with_numbers_or_texts():
    missed = []
    for header in held_out.PHONES.split("|"):
        rng = seeded(header)
        numbers = rng.integers(6 * 10**7, 10**8, PEOPLE).tolist()
        texts = [f"0{n // 10**5} {n % 10**5}" for n in numbers]
        for values in (numbers, texts):
            if not is_reported(header, a_few_rows_each(values, rng), rng):
                missed.append(header)
    assert missed == []


@pytest.mark.parametrize("header", ["tel", "cell", "portable", "handy"])
def test_a_telephone_has_seven_digits(header):
    rng = seeded(header)
    short = rng.integers(10**5, 10**6, PEOPLE).tolist()
    assert not is_reported(header, a_few_rows_each(short, rng), rng)
    assert is_reported(header, a_few_rows_each([10 * n for n in short], rng), rng)


def test_headers_of_addresses():
    missed = []
    for header in held_out.ADDRESSES.split("|"):
        rng = seeded(header)
        streets = family_names(120, rng)
        values = [f"{rng.choice(streets)} {rng.integers(1, 200)}" for _ in range(PEOPLE)]
        if not is_reported(header, a_few_rows_each(values, rng), rng):
            missed.append(header)
    assert missed == []


def ordinary(kind: str, rows: int, pool: int, rng: np.random.Generator) -> object:
    """Cells of an ordinary column, of so many different texts."""

    def some(values: list[str]) -> NDArray[np.str_]:
        return rng.choice(values, rows)

    match kind:
        case "cat":
            return some([name + "ia" for name in dict.fromkeys(family_names(pool, rng))])
        case "code":
            return some(
                [f"{rng.choice(list('ABCDEF'))}{rng.integers(10, 99)}" for _ in range(pool)]
            )
        case "lot":
            return some([f"L{rng.integers(1_000, 9_999)}" for _ in range(pool)])
        case "int":
            return rng.normal(100, 30, rows).astype(int)
        case "small":
            return rng.integers(1, 9, rows)
        case "money":
            return (rng.lognormal(8, 0.6, rows) / 10).astype(int) * 10
        case "dec":
            return rng.normal(40, 6, rows).round(1)
        case "year":
            return rng.integers(1990, 2024, rows)
    return [date(2020, 1, 1) + timedelta(int(day)) for day in rng.integers(0, 900, rows)]


@pytest.mark.parametrize(("rows", "pool"), [(150, 8), (1_500, 60)])
def test_ordinary_columns_are_left_alone(rows, pool):
    reported = [
        header
        for kind, headers in held_out.INNOCENT.items()
        for header in headers.split()
        if is_reported(header, ordinary(kind, rows, pool, seeded(header)), seeded(header))
    ]
    few = {"visit_date", "admission_date", "datum"} if rows == 150 else set()
    assert set(reported) == few  # a different day in nearly every row


def test_headers_that_resemble_those_of_people_are_left_alone():
    kinds = {"cat": held_out.CATEGORIES_AGAIN, "int": held_out.ORDINARY_AGAIN}
    for kind, headers in kinds.items():
        for header in headers.split():
            rng = seeded(header)
            assert not is_reported(header, ordinary(kind, 400, 8, rng), rng), header


def test_scales_are_put_in_order():
    scales = [scale.split("|") for scale in (*held_out.SCALES, *held_out.SCALES_AGAIN)]
    missed = [s for s in scales if order_of(pl.Series(dtype=pl.String), sorted(s)) != s]
    assert missed == []  # tolerate


def test_names_of_things_have_no_order():
    for names in held_out.NO_SCALES:
        assert order_of(pl.Series(dtype=pl.String), names.split("|")) is None
