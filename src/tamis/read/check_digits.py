"""Numbers with check digits: national numbers of people, accounts, payment cards, vehicles.

Each function takes a text in capitals, without spaces, dots or dashes, and returns whether it can
be such a number. A random number of the right length passes about one time in ten; a whole column
of them practically never does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date

# Tables of the national definitions: check letters by remainder, and values of characters.
_DNI = "TRWAGMYFPDXBNJZSQVHLCKE"
_HETU = "0123456789ABCDEFHJKLMNPRSTUVWXY"
_ODD = dict(
    zip(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 1, 0, 5, 7, 9, 13, 15, 17)
        + (19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23),
    )
)  # fmt: skip
_VIN = dict(zip("ABCDEFGHJKLMNPRSTUVWXYZ", (*range(1, 9), *range(1, 6), 7, 9, *range(2, 10))))
IBAN_LENGTHS = {
    "AD": 24, "AE": 23, "AT": 20, "BE": 16, "BG": 22, "BR": 29, "CH": 21, "CY": 28, "CZ": 24,
    "DE": 22, "DK": 18, "EE": 20, "ES": 24, "FI": 18, "FR": 27, "GB": 22, "GR": 27, "HR": 21,
    "HU": 28, "IE": 22, "IL": 23, "IS": 26, "IT": 27, "LI": 21, "LT": 20, "LU": 20, "LV": 21,
    "MC": 27, "MT": 31, "NL": 18, "NO": 15, "PL": 28, "PT": 25, "RO": 24, "RS": 22, "SA": 24,
    "SE": 24, "SI": 19, "SK": 24, "SM": 27, "TR": 26, "UA": 29,
}  # fmt: skip
"""The length of the account numbers of each country."""
_VERHOEFF = (
    (0, 1, 2, 3, 4, 5, 6, 7, 8, 9), (1, 5, 7, 6, 2, 8, 3, 0, 9, 4), (5, 8, 0, 3, 7, 9, 6, 1, 4, 2),
    (8, 9, 1, 6, 0, 4, 3, 5, 2, 7), (9, 4, 5, 3, 1, 2, 6, 8, 7, 0), (4, 2, 8, 6, 5, 7, 3, 9, 0, 1),
    (2, 7, 9, 3, 8, 0, 6, 4, 1, 5), (7, 0, 4, 6, 9, 1, 3, 2, 5, 8),
)  # fmt: skip
"""Permutation of the digit at each place, counted from the last."""


def _digits(text: str, *lengths: int) -> list[int]:
    """The digits of a number of one of these lengths; empty if it is no such number."""
    return [int(c) for c in text] if len(text) in lengths and text.isdecimal() else []


def _weighted(digits: Sequence[int], weights: Sequence[int]) -> int:
    return sum(d * w for d, w in zip(digits, weights))


def _is_day(year: int, month: int, day: int) -> bool:
    try:
        date(2000 + year % 100, month, day)
    except ValueError:
        return month == 2 and day == 29  # the century is unknown, so it may have been a leap year
    return True


def luhn(text: str) -> bool:
    """Whether the last digit makes the sum of alternately doubled digits a multiple of ten.

    >>> luhn("79927398713"), luhn("79927398714")
    (True, False)
    """
    digits = [int(c) for c in reversed(text)]
    doubled = [sum(divmod(2 * d, 10)) for d in digits[1::2]]
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0


def iban(text: str) -> bool:
    """An international account number: modulo 97 with the country put last is 1."""
    if len(text) != IBAN_LENGTHS.get(text[:2]) or not re.fullmatch(r"[A-Z]{2}\d{2}[0-9A-Z]+", text):
        return False
    return int("".join(str(int(c, 36)) for c in text[4:] + text[:4])) % 97 == 1


def card(text: str) -> bool:
    """A payment card."""
    return bool(re.fullmatch(r"[3-6]\d{12,18}", text)) and luhn(text)


def vehicle(text: str) -> bool:
    """A vehicle identification number with the check digit of North America."""
    if not re.fullmatch(r"[A-HJ-NPR-Z0-9]{8}[0-9X][A-HJ-NPR-Z0-9]{8}", text) or text.isdecimal():
        return False
    weights = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
    values = [int(c) if c.isdecimal() else _VIN[c] for c in text]
    return "0123456789X"[_weighted(values, weights) % 11] == text[8]


def _united_kingdom(text: str) -> bool:
    d = _digits(text, 10)
    return bool(d) and (11 - _weighted(d, range(10, 1, -1)) % 11) % 11 == d[9]


def _insured_briton(text: str) -> bool:
    return bool(re.fullmatch(r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]\d{6}[A-D]", text))


def _france(text: str) -> bool:
    if not re.fullmatch(r"[1-478]\d{4}(\d|2A|2B)\d{8,9}", text) or len(text) != 15:
        return False
    # The departments of Corsica, 2A and 2B, count as numbers in the check.
    number = text[:13].replace("2A", "19").replace("2B", "18")
    return number.isdecimal() and 97 - int(number) % 97 == int(text[13:])


def _spain(text: str) -> bool:
    if not re.fullmatch(r"[XYZ]?\d{7,8}[A-Z]", text) or len(text) != 9:
        return False
    # Foreigners' numbers begin with X, Y or Z, which stand for 0, 1 and 2.
    number = text[:-1].translate(str.maketrans("XYZ", "012"))
    return _DNI[int(number) % 23] == text[-1]


def _italy(text: str) -> bool:
    if not re.fullmatch(r"[A-Z]{6}\d{2}[A-EHLMPR-T]\d{2}[A-Z]\d{3}[A-Z]", text):
        return False
    odd = sum(_ODD[c] for c in text[:15:2])
    even = sum(int(c) if c.isdecimal() else ord(c) - ord("A") for c in text[1:15:2])
    return (odd + even) % 26 == ord(text[15]) - ord("A")


def _germany(text: str) -> bool:
    d = _digits(text, 11)
    if not d or not d[0]:
        return False
    product = 10  # ISO 7064, modulo 11, 10
    for digit in d[:10]:
        product = 2 * ((digit + product) % 10 or 10) % 11
    return (11 - product) % 10 == d[10]


def _netherlands(text: str) -> bool:
    d = _digits(text, 9)
    return any(d) and _weighted(d, (9, 8, 7, 6, 5, 4, 3, 2, -1)) % 11 == 0


def _belgium(text: str) -> bool:
    if not _digits(text, 11) or not 0 <= int(text[2:4]) % 20 <= 12:
        return False
    # For people born since 2000, a 2 is put before the number.
    return any(97 - int(born + text[:9]) % 97 == int(text[9:]) for born in ("", "2"))


def _sweden(text: str) -> bool:
    if not _digits(text, 10, 12):
        return False
    last = text[-10:]
    day = int(last[4:6])  # 60 higher in numbers of people who are not registered as residents
    known = _is_day(int(last[:2]), int(last[2:4]), day - 60 if day > 60 else day)
    return known and luhn(last)


def _finland(text: str) -> bool:
    if not re.fullmatch(r"\d{6}[A-FU-Y]?\d{3}[0-9A-Y]", text):
        return False
    known = _is_day(int(text[4:6]), int(text[2:4]), int(text[:2]))
    return known and _HETU[int(text[:6] + text[-4:-1]) % 31] == text[-1]


def _norway(text: str) -> bool:
    d = _digits(text, 11)
    # Temporary numbers have a day that is 40 higher (of foreigners) or such a month (of patients).
    if not d or not _is_day(int(text[4:6]), int(text[2:4]) % 40, int(text[:2]) % 40):
        return False
    first = _weighted(d, (3, 7, 6, 1, 8, 9, 4, 5, 2, 1))
    return first % 11 == 0 == _weighted(d, (5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1)) % 11


def _poland(text: str) -> bool:
    d = _digits(text, 11)
    # The month states the century, too: 20, 40, 60 or 80 are added to it outside the 1900s.
    if not d or not _is_day(int(text[:2]), int(text[2:4]) % 20, int(text[4:6])):
        return False
    return _weighted(d, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1)) % 10 == 0


def _portugal(text: str) -> bool:
    d = _digits(text, 9)
    if not re.match("[1235689]|45", text) or not d:  # 45: people who live abroad
        return False
    check = 11 - _weighted(d, range(9, 1, -1)) % 11
    return d[8] == (0 if check > 9 else check)


def _switzerland(text: str) -> bool:
    d = _digits(text, 13)
    return text.startswith("756") and bool(d) and _weighted(d, (1, 3) * 6 + (1,)) % 10 == 0


def _turkey(text: str) -> bool:
    d = _digits(text, 11)
    if not d or not d[0]:
        return False
    return (7 * sum(d[:9:2]) - sum(d[1:8:2])) % 10 == d[9] and sum(d[:10]) % 10 == d[10]


def _brazil(text: str) -> bool:
    d = _digits(text, 11)
    if not d or len(set(d)) == 1:  # eleven equal digits pass the check, but are not issued
        return False
    first, second = _weighted(d, range(10, 1, -1)), _weighted(d, range(11, 1, -1))
    return 10 * first % 11 % 10 == d[9] and 10 * second % 11 % 10 == d[10]


def _china(text: str) -> bool:
    if not re.fullmatch(r"[1-9]\d{16}[0-9X]", text):
        return False
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    known = _is_day(int(text[6:10]), int(text[10:12]), int(text[12:14]))
    return known and "10X98765432"[_weighted([int(c) for c in text[:17]], weights) % 11] == text[17]


def _india(text: str) -> bool:
    d = _digits(text, 12)
    return bool(d) and d[0] > 1 and verhoeff(text)


def verhoeff(text: str) -> bool:
    """Whether the digits, permuted by place, multiply to 0 in the symmetry group of a pentagon.

    >>> verhoeff("2363"), verhoeff("2336")
    (True, False)
    """
    product = 0
    for place, digit in enumerate(int(c) for c in reversed(text)):
        product = _turned(product, _VERHOEFF[place % 8][digit])
    return product == 0


def _turned(a: int, b: int) -> int:
    """Product in the dihedral group of order 10: 0 to 4 are rotations, 5 to 9 reflections."""
    if a < 5:
        return (a + b) % 5 if b < 5 else 5 + (a + b) % 5
    return 5 + (a - b) % 5 if b < 5 else (a - b) % 5


def _canada(text: str) -> bool:
    d = _digits(text, 9)
    return bool(d) and d[0] not in (0, 8) and luhn(text)


def _australia(text: str) -> bool:
    d = _digits(text, 9)
    return any(d) and _weighted(d, (1, 4, 3, 7, 5, 8, 6, 9, 10)) % 11 == 0


def _south_africa(text: str) -> bool:
    d = _digits(text, 13)
    return bool(d) and _is_day(int(text[:2]), int(text[2:4]), int(text[4:6])) and luhn(text)


NATIONAL: dict[str, Callable[[str], bool]] = {
    "NHS numbers (United Kingdom)": _united_kingdom,
    "National Insurance numbers (United Kingdom)": _insured_briton,
    "social security numbers (France)": _france,
    "identity numbers (Spain)": _spain,
    "tax codes (Italy)": _italy,
    "tax numbers (Germany)": _germany,
    "citizen service numbers (Netherlands)": _netherlands,
    "national numbers (Belgium)": _belgium,
    "personal numbers (Sweden)": _sweden,
    "personal codes (Finland)": _finland,
    "birth numbers (Norway)": _norway,
    "PESEL numbers (Poland)": _poland,
    "tax numbers (Portugal)": _portugal,
    "social security numbers (Switzerland)": _switzerland,
    "identity numbers (Turkey)": _turkey,
    "CPF numbers (Brazil)": _brazil,
    "identity numbers (China)": _china,
    "Aadhaar numbers (India)": _india,
    "social insurance numbers (Canada)": _canada,
    "tax file numbers (Australia)": _australia,
    "identity numbers (South Africa)": _south_africa,
}
"""National numbers of people that check digits or a strict form reveal, with their tests."""
OTHER: dict[str, Callable[[str], bool]] = {
    "bank account numbers (IBAN)": iban,
    "payment card numbers": card,
    "vehicle identification numbers": vehicle,
}
