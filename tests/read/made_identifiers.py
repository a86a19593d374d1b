"""Made columns of direct identifiers, and of ordinary values that resemble them."""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable

import polars as pl

from tamis.read.check_digits import NATIONAL, OTHER


def of(text: str) -> list[str]:
    """The words of a text."""
    return text.split()


GIVEN = of(
    "Mary James Maria Ahmed Wei Priya Thandiwe Oluwaseun Lars Ingrid Jean Sophie "
    "Giulia Xochitl Hiroto Bartholomew Eilidh Svetlana Mehmet Fatima Peter Hannah "
    "Nguyen Kwame Siobhan Zbigniew "
)
FAMILY = of(
    "Smith Garcia Nguyen Mueller Okafor Rossi Dubois Ivanova Tanaka Kowalski Haddad "
    "Patel O'Brien Andersson Silva Yilmaz Novak Papadopoulos Johansen Mbeki "
)
ENDINGS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
SHAPES = {
    "NHS numbers (United Kingdom)": "943######~",
    "National Insurance numbers (United Kingdom)": "AB######C",
    "social security numbers (France)": "1850778######~~",
    "identity numbers (Spain)": "########~",
    "tax codes (Italy)": "RSSMRA85T10A###~",
    "tax numbers (Germany)": "8#########~",
    "citizen service numbers (Netherlands)": "########~",
    "national numbers (Belgium)": "850730###~~",
    "personal numbers (Sweden)": "811218###~",
    "personal codes (Finland)": "131052-###~",
    "birth numbers (Norway)": "150765###~~",
    "PESEL numbers (Poland)": "440514####~",
    "tax numbers (Portugal)": "2#######~",
    "social security numbers (Switzerland)": "756.####.####.#~",
    "identity numbers (Turkey)": "1########~~",
    "CPF numbers (Brazil)": "###.###.###-~~",
    "identity numbers (China)": "11010519491231###~",
    "Aadhaar numbers (India)": "4### #### ###~",
    "social insurance numbers (Canada)": "1## ### ##~",
    "tax file numbers (Australia)": "### ### ##~",
    "identity numbers (South Africa)": "800101#####8~",
    "bank account numbers (IBAN)": "DE~~ 3704 0044 #### #### ##",
    "payment card numbers": "4### #### #### ###~",
    "vehicle identification numbers": "1M8GDM9A~KP######",
}
"""How each number is written: # is any digit, ~ is a check."""


def checked_number(words: str, rng: random.Random) -> str:
    """A number with the right check, found by trying all."""
    fits = (NATIONAL | OTHER)[words]
    while True:
        drawn = "".join(str(rng.randrange(10)) if c == "#" else c for c in SHAPES[words])
        for value in range(36 if drawn.count("~") == 1 else 100):
            checks = list(ENDINGS[value] if drawn.count("~") < 2 else f"{value:02d}")
            text = "".join(checks.pop(0) if c == "~" else c for c in drawn)
            if fits("".join(c for c in text if c.isalnum())):
                return text


def _digits(rng: random.Random, shape: str) -> str:
    return "".join(str(rng.randrange(10)) if c == "#" else c for c in shape)


def _day(rng: random.Random, first: int, last: int) -> str:
    day = datetime.date(rng.randint(first, last), rng.randint(1, 12), rng.randint(1, 28))
    return day.isoformat()


def _note(rng: random.Random) -> str:
    start = rng.choice(["seen today", "no pain at all", "stable, review later", "asked to return"])
    if rng.random() < 0.9:
        return f"{start} and slept well ({rng.randrange(999)})"
    return f"{start} with {rng.choice(GIVEN)} {rng.choice(FAMILY)} at home ({rng.randrange(999)})"


IDENTIFYING: dict[str, Callable[[random.Random], str]] = {
    "email": lambda r: (
        f"{r.choice(GIVEN)}.{r.randrange(99)}@example.{r.choice(['org', 'co.uk'])}".lower()
    ),
    "phone": lambda r: _digits(r, r.choice(["+33 6 ## ## ## ##", "+1-555-###-####"])),
    "phone, national": lambda r: _digits(r, "(555) ###-####"),
    "phone, with zero": lambda r: _digits(r, "06########"),
    "url": lambda r: f"https://example.org/{r.randrange(9999)}",
    "ip": lambda r: f"10.{r.randrange(256)}.{r.randrange(256)}.{r.randrange(256)}",
    "ip, version 6": lambda r: f"2001:db8::{r.randrange(65536):x}:{r.randrange(65536):x}",
    "device": lambda r: ":".join(f"{r.randrange(256):02x}" for _ in range(6)),
    "coordinates": lambda r: f"{r.uniform(-89, 89):.5f}, {r.uniform(-179, 179):.5f}",
    "address": lambda r: f"{r.randint(1, 300)} {r.choice(FAMILY)} {r.choice(['Street', 'Road'])}",
    "address, German": lambda r: f"{r.choice(FAMILY)}straße {r.randint(1, 99)}",
    "person": lambda r: f"{r.choice(GIVEN)} {r.choice(FAMILY)}",
    "person, family first": lambda r: f"{r.choice(FAMILY).upper()}, {r.choice(GIVEN)}",
    "person, in notes": _note,
    "birth": lambda r: _day(r, 1930, 2010),
    "national, United States": lambda r: _digits(r, "5##-4#-1###"),
    "national, Denmark": lambda r: _digits(r, "1201##-####"),
    **{words: lambda r, words=words: checked_number(words, r) for words in SHAPES},  # type: ignore[misc]
}
"""What a value of each kind of identifier is."""
ORDINARY: dict[str, Callable[[random.Random], str]] = {
    "town": lambda r: r.choice(
        [
            "Paris",
            "Berlin",
            "Madrid",
            "Sydney",
            "Florence",
            "Austin",
            "Dallas",
            "Charlotte",
            "Lyon",
            "Porto",
            "Lima",
            "Quito",
        ]
    ),
    "job": lambda r: r.choice(
        ["cook", "nurse", "judge", "teacher", "driver", "clerk", "farmer", "builder"]
    ),
    "code": lambda r: _digits(r, "#####"),
    "postcode": lambda r: _digits(r, "0####"),
    "diagnosis": lambda r: (
        f"{r.choice('ABCEGJ')}{r.randrange(10)}{r.randrange(10)}.{r.randrange(10)}"
    ),
    "interval": lambda r: f"[{r.randrange(9) * 10}-{r.randrange(10, 20) * 10})",
    "version": lambda r: f"{r.randrange(9)}.{r.randrange(30)}.{r.randrange(30)}",
    "clock": lambda r: f"{r.randrange(24):02d}:{r.randrange(60):02d}",
    "day of treatment": lambda r: _day(r, 2019, 2024),
    "month": lambda r: r.choice(
        ["January", "February", "March", "April", "May", "June", "July", "August"]
    ),
    "drug": lambda r: f"{r.choice(['aspirin', 'insulin', 'statin'])} {r.choice([5, 10, 20])} mg",
    "firm": lambda r: f"{r.choice(FAMILY)} and Sons Ltd",
    "remark": lambda r: f"patient slept well and ate {r.randrange(999)} g of bread",
    "ten digits": lambda r: _digits(r, "7#########"),
    "nine digits": lambda r: _digits(r, "7########"),
    "eleven digits": lambda r: _digits(r, "6##########"),
    "sixteen digits": lambda r: _digits(r, "4###############"),
    "amount": lambda r: f"{r.randrange(999_999)}",
    "ratio": lambda r: f"{r.uniform(0, 1):.5f}",
    "answer": lambda r: r.choice(["yes", "no", "not asked"]),
    "colour": lambda r: r.choice(of("amber violet olive ruby jade scarlet")),
    "state": lambda r: r.choice(
        ["Virginia", "Georgia", "Carolina", "Dakota", "Washington", "Texas"]
    ),
}
"""Values that no one is found by, though some resemble identifiers."""


def made(value: Callable[[random.Random], str], seed: int, rows: int = 60) -> pl.Series:
    """A column of such values, with some missing."""
    rng = random.Random(seed)
    return pl.Series("c", [value(rng) if rng.random() > 0.05 else None for _ in range(rows)])
