"""Numbers with check digits against python-stdnum, whose authors wrote the same rules down apart.

Every ending of a drawn number is tried: the right one, and all wrong ones.
"""

from __future__ import annotations

import re
import string
from importlib import import_module

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stdnum import iban, luhn, numdb, verhoeff

from tamis.read import check_digits
from tamis.read.check_digits import NATIONAL, OTHER, card

PUBLISHED = {
    "NHS numbers (United Kingdom)": "9434765919",
    "social security numbers (France)": "255081416802538",
    "identity numbers (Spain)": "12345678Z",
    "tax codes (Italy)": "RSSMRA85T10A562S",
    "tax numbers (Germany)": "86095742719",
    "citizen service numbers (Netherlands)": "111222333",
    "national numbers (Belgium)": "85073003328",
    "personal numbers (Sweden)": "8112189876",
    "personal codes (Finland)": "131052-308T",
    "birth numbers (Norway)": "15076500565",
    "PESEL numbers (Poland)": "44051401359",
    "tax numbers (Portugal)": "123456789",
    "social security numbers (Switzerland)": "7569217076985",
    "identity numbers (Turkey)": "10000000146",
    "CPF numbers (Brazil)": "11144477735",
    "identity numbers (China)": "11010519491231002X",
    "Aadhaar numbers (India)": "234123412346",
    "social insurance numbers (Canada)": "130692544",
    "tax file numbers (Australia)": "123456782",
    "identity numbers (South Africa)": "8001015009087",
    "bank account numbers (IBAN)": "GB82WEST12345698765432",
    "payment card numbers": "4111111111111111",
    "vehicle identification numbers": "1M8GDM9AXKP042788",
}
"""Examples that the authorities themselves print; nobody has these numbers."""


@pytest.mark.parametrize("words", list(PUBLISHED))
def test_published_examples_are_right_and_slips_are_not(words):
    fits, number = (NATIONAL | OTHER)[words], PUBLISHED[words].replace("-", "")
    assert fits(number)
    last = [number[:-1] + c for c in "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ" if c != number[-1]]
    assert sum(map(fits, last)) <= (3 if "vehicle" in words else 0)  # whose check is not the last
    assert not fits(number[:-1])
    assert not fits("")


DAY, MONTH = "(0[1-9]|1[0-9]|2[0-8])", "(0[1-9]|1[0-2])"
YEAR = "([01][0-9]|2[0-5])"
"""Births that are past, whichever of two centuries is meant."""
SCHEMES = {
    "NHS numbers (United Kingdom)": ("gb.nhs", r"\d{9}~"),
    "social security numbers (France)": ("fr.nir", r"[1-478]\d{4}(\d{2}|2A|2B)\d{6}~~"),
    "identity numbers (Spain)": ("es.nif", r"[XYZ\d]\d{7}~"),
    "tax codes (Italy)": ("it.codicefiscale", rf"[A-Z]{{6}}\d\d[ABCDEHLMPRST]{DAY}[A-Z]\d{{3}}~"),
    "tax numbers (Germany)": ("iso7064.mod_11_10", r"[1-9]\d{9}~"),
    "citizen service numbers (Netherlands)": ("nl.bsn", r"\d{8}~"),
    "national numbers (Belgium)": ("be.ssn", rf"{YEAR}({MONTH}|[24][1-9]){DAY}\d{{3}}~~"),
    "personal numbers (Sweden)": ("se.personnummer", rf"(19|20)?{YEAR}{MONTH}{DAY}\d{{3}}~"),
    "personal codes (Finland)": ("fi.hetu", rf"{DAY}{MONTH}{YEAR}[-A-FU-Y][1-8]\d\d~"),
    "birth numbers (Norway)": ("no.fodselsnummer", rf"({DAY}|[4-5]1)[04][1-9]\d\d[0-4]\d\d~~"),
    "PESEL numbers (Poland)": ("pl.pesel", rf"\d\d({MONTH}|[2468]1){DAY}\d{{4}}~"),
    "tax numbers (Portugal)": ("pt.nif", r"([1235689]\d|45)\d{6}~"),
    "social security numbers (Switzerland)": ("ch.ssn", r"(756|\d{3})\d{9}~"),
    "identity numbers (Turkey)": ("tr.tckimlik", r"\d{9}~~"),
    "CPF numbers (Brazil)": ("br.cpf", r"\d{9}~~"),
    "identity numbers (China)": ("cn.ric", rf"11010119[5-9]\d{MONTH}{DAY}\d{{3}}~"),
    "Aadhaar numbers (India)": ("in_.aadhaar", r"[1-9]\d{4}1[02-9]\d{4}~"),
    "social insurance numbers (Canada)": ("ca.sin", r"\d{8}~"),
    "tax file numbers (Australia)": ("au.tfn", r"[1-9]\d{7}~"),
    "identity numbers (South Africa)": ("za.idnr", rf"{YEAR}{MONTH}{DAY}\d{{4}}[01]\d~"),
}
"""What python-stdnum calls each kind, and numbers that both know; ~ stands for their check.

Outside these shapes one of them is stricter: python-stdnum refuses births in the future, counties
that do not exist and palindromes; we refuse what begins as nobody's number does.
"""


def with_every_check(number: str) -> list[str]:
    """A number with each check that could stand for ~, or for two of them."""
    checks = string.digits + string.ascii_uppercase
    two = [f"{n:02d}" for n in range(100)]
    return [re.sub("~+", check, number) for check in (two if "~~" in number else checks)]


@pytest.mark.parametrize("words", list(SCHEMES))
@settings(max_examples=25)
@given(data=st.data())
def test_a_number_is_right_with_the_checks_that_stdnum_says(words, data):
    name, shape = SCHEMES[words]
    theirs = import_module(f"stdnum.{name}")
    number = data.draw(st.from_regex(re.compile(shape, re.ASCII), fullmatch=True))
    tried = with_every_check(number)
    right = [text for text in tried if NATIONAL[words](text.replace("-", ""))]
    assert right == [text for text in tried if theirs.is_valid(text)]


@pytest.mark.parametrize("words", list(SCHEMES))
def test_published_examples_are_right_for_stdnum_too(words):
    assert import_module(f"stdnum.{SCHEMES[words][0]}").is_valid(PUBLISHED[words])


@given(st.text(string.digits, min_size=1, max_size=20))
def test_digits_are_summed_and_multiplied_as_in_stdnum(digits):
    assert check_digits.luhn(digits) == luhn.is_valid(digits)
    assert check_digits.verhoeff(digits) == verhoeff.is_valid(digits)
    assert card(digits) == (
        digits[0] in "3456" and 13 <= len(digits) <= 19 and luhn.is_valid(digits)
    )


@pytest.mark.parametrize("country", list(check_digits.IBAN_LENGTHS))
@settings(max_examples=5)
@given(data=st.data())
def test_accounts_are_those_of_the_register_of_stdnum(country, data):
    [(_, entry), *_] = numdb.get("iban").info(country)
    parts = re.findall(r"(\d+)!([nac])", entry["bban"])
    letters = {"n": "0-9", "a": "A-Z", "c": "0-9A-Z"}
    shape = "".join(f"[{letters[kind]}]{{{size}}}" for size, kind in parts)
    account = data.draw(st.from_regex(shape, fullmatch=True))
    tried = [f"{country}{check:02d}{account}" for check in range(100)]
    right = [text for text in tried if check_digits.iban(text)]
    assert right == [text for text in tried if iban.is_valid(text, check_country=False)] != []
    assert not any(check_digits.iban(text[:-1]) or check_digits.iban(text + "0") for text in right)
