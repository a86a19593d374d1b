"""Direct identifiers by content: every kind is found, and nothing else."""

from __future__ import annotations

import datetime
import random

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Roles, Table, read_table
from tamis.datasets import patients
from tamis.errors import InputError
from tamis.read.check_digits import NATIONAL, OTHER
from tamis.read.harbour import safe_harbour
from tamis.read.identifiers import LOOKED_AT, Content, content_of
from tamis.read.keys import refuse_unstated_identifiers, unstated_identifiers
from tests.read.made_identifiers import IDENTIFYING, ORDINARY, SHAPES, checked_number, made, of


@given(st.text(max_size=30))
def test_no_text_breaks_a_check(text):
    for fits in (NATIONAL | OTHER).values():
        assert fits(text) in (True, False)
    assert content_of(pl.Series([text] * 3)) is None or text


@pytest.mark.parametrize("name", list(IDENTIFYING))
def test_made_identifiers_are_found(name):
    for seed in range(3):
        looks = content_of(made(IDENTIFYING[name], seed))
        assert looks is not None
        if name in SHAPES:
            kinds = {"national": NATIONAL, "account": OTHER, "vehicle": OTHER}
            assert name in kinds[looks.kind]
        else:
            assert looks.kind == name.partition(",")[0]


@pytest.mark.parametrize("name", list(ORDINARY))
def test_ordinary_values_are_left_alone(name):
    for seed in range(5):
        assert content_of(made(ORDINARY[name], seed)) is None


def test_numbers_read_as_numbers_are_checked_too():
    texts = made(IDENTIFYING["PESEL numbers (Poland)"], 1)
    looks = content_of(texts.cast(pl.Int64))
    assert looks is not None
    assert looks.words == "PESEL numbers (Poland)"
    assert content_of(pl.Series(range(10**9, 10**9 + 500))) is None


def test_a_single_address_among_many_texts_is_found():
    texts = [f"slept well, day {i}" for i in range(3 * LOOKED_AT)]
    texts.insert(7, "cost 3 @ 5 each")
    looks = content_of(pl.Series([*texts, "write to ann@example.org"]))
    assert looks is not None
    assert looks.words == "e-mail addresses in some values"


def test_dates_are_those_of_births_by_name_or_span():
    treated = pl.Series("treated", [datetime.date(2020 + i % 4, 1, 2) for i in range(50)])
    assert content_of(treated) is None
    assert content_of(treated.alias("date_of_birth")) is not None
    assert content_of(treated.alias("DateOfBirth")) is not None
    births = [datetime.date(1930 + i, 1 + i * i % 12, 2) for i in range(80)]
    assert content_of(pl.Series(births)) is not None


@pytest.mark.parametrize("step", ["1d", "1mo", "1y"])
def test_prices_day_by_day_are_no_births(step):
    first, last = datetime.date(1930, 1, 1), datetime.date(2020, 1, 1)
    days = pl.date_range(first, last, step, eager=True)
    days = days.filter(days.dt.weekday() < 6) if step == "1d" else days
    assert content_of(days.alias("date").shuffle(1)) is None
    assert content_of(days.alias("birth_date")) is not None
    people = pl.Series("date", [*days, days[0]])  # two of one day
    assert content_of(people) is not None


def test_coordinates_need_a_name_that_says_so():
    numbers = pl.Series("x", [48.85341 + i / 997 for i in range(50)])
    assert content_of(numbers) is None
    looks = content_of(numbers.alias("home_latitude"))
    assert looks is not None
    assert looks.kind == "coordinates"
    assert content_of((numbers * 1000).alias("latitude")) is None


@pytest.mark.parametrize("empty", [pl.Series([], dtype=pl.String), pl.Series([None, None])])
def test_empty_columns_look_like_nothing(empty):
    assert content_of(empty) is None


def people(mails: int = 40) -> Table:
    frame = pl.DataFrame(
        {
            "contact": [f"p{i % 7}@example.org" for i in range(mails)],
            "ward": ["A", "B"] * (mails // 2),
            "ill": ["no", "yes"] * (mails // 2),
        }
    )
    return Table(frame, Roles(target="ill"))


def test_a_release_is_refused_until_the_role_is_said():
    table = people()
    assert unstated_identifiers(table) == {"contact": "looks like e-mail addresses"}
    with pytest.raises(InputError, match=r"'contact' \(looks like e-mail addresses\)") as error:
        refuse_unstated_identifiers(table)
    assert "example.org" not in str(error.value)
    for role in ("identifiers", "dropped", "quasi", "plain"):
        refuse_unstated_identifiers(table.with_roles(**{role: ("contact",)}))


def test_the_demo_has_no_direct_identifiers():
    frame = patients().frame
    assert [c for c in frame.columns if content_of(frame[c])] == []


def test_the_eighteen_in_their_order():
    frame = pl.DataFrame(
        {
            "contact": [f"p{i}@example.org" for i in range(40)],
            "postcode": ["01000", "75011"] * 20,
            "age": [30, 91] * 20,
            "seen": [datetime.date(2024, 1, 1 + i % 28) for i in range(40)],
            "who": [f"P{i}" for i in range(40)],
            "photo": ["a.jpg", "b.jpg"] * 20,
            "ward": ["A", "B"] * 20,
            "fax_home": [f"+33 1 40 00 00 {10 + i % 9}" for i in range(40)],
        }
    )
    items = safe_harbour(Table(frame))
    assert [item.number for item in items] == list(range(1, 19))
    found = {f.column: (item.number, f.why) for item in items for f in item.found}
    assert found == {
        "contact": (6, "e-mail addresses"),
        "postcode": (2, "by its name"),
        "age": (3, "ages over 89"),
        "seen": (3, "dates"),
        "who": (18, "a different value in nearly every row"),
        "photo": (17, "by its name"),
        "fax_home": (5, "telephone numbers"),
    }
    held = Table(frame, Roles(identifiers=("contact",)))
    assert not any(f.column == "contact" for item in safe_harbour(held) for f in item.found)


ALL = of(
    "adult_train bank_marketing banknote cardiotocography credit_approval "
    "ilpd magic mushroom page_blocks pima vehicle wilt winequality_red yeast "
)


@pytest.mark.parametrize("name", ALL)
def test_real_tables_give_no_false_alarm(name, dataset):
    frame = read_table(dataset(f"{name}.csv.gz"), check=False, missing="?").frame
    assert [c for c in frame.columns if content_of(frame[c])] == []


def test_names_in_real_tables_are_found(dataset):
    frame = read_table(dataset("aminer_name_disambiguation.csv.gz"), check=False).frame
    assert content_of(frame["name"]) is not None
    assert content_of(frame["title"]) is None


def test_one_wrong_number_in_five_is_forgiven():
    rng = random.Random(1)
    words = "CPF numbers (Brazil)"
    right = [checked_number(words, rng) for _ in range(50)]
    assert content_of(pl.Series([*right, *["111.111.111-12"] * 9])) is not None


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("fips", [6037, 36061]),
        ("county_fips", ["06037", "36061"]),
        ("msa", [31080, 35620]),
        ("area_code", [213, 212]),
        ("AreaCode", [213, 212]),
        ("long", [-118.2, 2.3]),
        ("lat", [34.1, 48.9]),
    ],
)
def test_codes_of_places_are_on_the_list(name, values):
    found = {
        f.column: i.number
        for i in safe_harbour(Table(pl.DataFrame({name: values})))
        for f in i.found
    }
    assert found == {name: 2}


def test_ids_of_trials_are_no_telephone_numbers():
    ids = pl.Series("x", [f"ABC-101-{100 + i % 7:03d}-{1000 + i}" for i in range(60)])
    assert content_of(ids) is None
    calls = pl.Series("x", [f"call 212-555-{1000 + i} after six" for i in range(60)])
    assert content_of(calls) == Content("phone", "telephone numbers in some values")
