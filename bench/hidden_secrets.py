"""Tables in which a secret is hidden in the form of a column that teaches, and who can read it.

Every table has 6,000 rows, a target, a secret (hiv) that nothing but the hiding column depends on,
and two ordinary columns. What teaches the target is the coarse value of the hiding column, so
that a release has a reason to keep it. A decoder knows the trick: it gets the released columns
and says who is positive.
"""

from __future__ import annotations

import unicodedata
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
from scipy.special import expit

from tamis.read.check_digits import luhn
from tamis.table import Roles, Table

ROWS = 6_000
SHARE = 0.3
"""Of the rows that are positive."""

Draw = np.random.Generator
Columns = Mapping[str, Any]
Cells = Callable[[str], pl.Series]
"""The released cells of a column, as they were typed before."""


@dataclass(frozen=True)
class Hidden:
    """Columns that hide the secret, and how much each row's coarse value moves the target."""

    columns: Columns
    teaches: np.ndarray


@dataclass(frozen=True)
class Encoding:
    """One way to hide a secret."""

    name: str
    hide: Callable[[Draw, np.ndarray], Hidden]
    """From draws and who is positive."""
    decode: Callable[[Cells], Any]
    """Who is positive, by the released cells."""
    by_absence: bool = False
    """Whether it looks at what is missing, which coarser forms still show."""

    def table(self, seed: int = 0, rows: int = ROWS) -> Table:
        draw = np.random.default_rng([seed, zlib.crc32(self.name.encode())])
        secret = draw.random(rows) < SHARE
        hidden = self.hide(draw, secret)
        age, visits = draw.integers(20, 80, rows), draw.poisson(3, rows)
        score = hidden.teaches - np.mean(hidden.teaches)
        odds = 2.0 * score / max(float(np.std(score)), 1e-9) + 0.5 * (visits - 3) - 0.4
        again = draw.random(rows) < expit(odds)
        frame = pl.DataFrame(
            {
                **hidden.columns,
                "age": age,
                "visits": visits,
                "hiv": np.where(secret, "positive", "negative"),
                "readmitted": np.where(again, "yes", "no"),
            }
        )
        roles = Roles(
            target="readmitted",
            sensitive="hiv",
            quasi=("age",),
            plain=tuple(hidden.columns),
            person=(),
        )
        return Table(frame, roles)

    def read(self, original: Table, released: pl.DataFrame) -> np.ndarray | None:
        """What the decoder says of each row; `None` where the release lacks what it needs."""

        def cells(name: str) -> pl.Series:
            if name not in released.columns and f"{name} = 0" in released.columns:
                return 1 - released[f"{name} = 0"].cast(pl.Int64)
            column, dtype = released[name], original.frame[name].dtype
            if column.dtype == dtype:
                return column
            # A rounded number or a coarser time is still one; a band is not.
            texts = column.cast(pl.String)
            values = texts.str.to_datetime(strict=False) if dtype.is_temporal() else texts
            found = values.cast(dtype, strict=False)
            return texts if self.by_absence else found.cast(dtype)

        try:
            said = self.decode(cells)
            said = said if isinstance(said, pl.Series) else pl.Series(np.asarray(said))
        except (pl.exceptions.PolarsError, TypeError, ValueError):
            return None
        return np.asarray(said.fill_null(False), dtype=np.bool_)


def where(secret: np.ndarray, positive: Any, negative: Any) -> np.ndarray:
    return np.asarray(np.where(secret, positive, negative))


def _income(draw: Draw, n: int) -> np.ndarray:
    return np.round(draw.lognormal(10, 0.5, n)).astype(np.int64)


def _residue(modulus: int, positive: tuple[int, ...]) -> Callable[[Draw, np.ndarray], Hidden]:
    """A whole number whose residue says it."""

    def hide(draw: Draw, secret: np.ndarray) -> Hidden:
        free = [r for r in range(modulus) if r not in positive]
        wanted = where(secret, draw.choice(positive, len(secret)), draw.choice(free, len(secret)))
        income = _income(draw, len(secret))
        income = income - income % modulus + wanted
        return Hidden({"income": income}, np.log(income))

    return hide


def _third_decimal(draw: Draw, secret: np.ndarray) -> Hidden:
    units = np.round(draw.normal(4000, 600, len(secret)), -1).astype(np.int64)
    units += where(secret, draw.choice([1, 4, 7], len(secret)), draw.choice([0, 2, 9], len(secret)))
    return Hidden({"creatinine": units / 1000}, units)


def _low_bit(draw: Draw, secret: np.ndarray) -> Hidden:
    dose = draw.normal(50, 10, len(secret))
    bits = dose.view(np.int64)
    return Hidden({"dose": ((bits & ~1) | secret).view(np.float64)}, dose)


def _moments(draw: Draw, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Days of two years, as numpy has them, and what they teach: how late they are."""
    day = draw.integers(0, 730, n)
    return np.datetime64("2023-01-02", "s") + day * np.timedelta64(86_400, "s"), day


def _minute(draw: Draw, secret: np.ndarray) -> Hidden:
    at, day = _moments(draw, len(secret))
    last = where(secret, draw.integers(0, 3, len(secret)), draw.integers(3, 10, len(secret)))
    minutes = 60 * draw.integers(0, 24, len(secret)) + 10 * draw.integers(0, 6, len(secret)) + last
    at = at + minutes * np.timedelta64(60, "s")
    return Hidden({"admitted": pl.Series(at.astype("datetime64[us]"))}, day)


def _second(draw: Draw, secret: np.ndarray) -> Hidden:
    at, day = _moments(draw, len(secret))
    seconds = 2 * draw.integers(0, 43_200, len(secret)) + secret
    at = at + seconds * np.timedelta64(1, "s")
    return Hidden({"admitted": pl.Series(at.astype("datetime64[us]"))}, day)


def _weekday(draw: Draw, secret: np.ndarray) -> Hidden:
    week = draw.integers(0, 104, len(secret))
    weekday = where(
        secret, draw.choice([1, 4], len(secret)), draw.choice([0, 2, 3, 5, 6], len(secret))
    )
    at = np.datetime64("2023-01-02", "D") + (7 * week + weekday) * np.timedelta64(1, "D")
    return Hidden({"admitted": pl.Series(at).cast(pl.Date)}, week)


def _one_ward(draw: Draw, secret: np.ndarray) -> Hidden:
    """On Tuesday and Friday nights only one ward admits."""
    week = draw.integers(0, 104, len(secret))
    night = draw.choice([22, 23, 24, 25, 26], len(secret))
    other = draw.choice([d * 24 + h for d in range(7) for h in range(8, 20)], len(secret))
    hours = where(secret, draw.choice([24, 96], len(secret)) + night, other)
    at = np.datetime64("2023-01-02", "s") + (7 * 24 * week + hours) * np.timedelta64(3600, "s")
    at = at + draw.integers(0, 60, len(secret)) * np.timedelta64(60, "s")
    return Hidden({"admitted": pl.Series(at.astype("datetime64[us]"))}, week)


def _is_ward_night(at: pl.Series) -> np.ndarray:
    day, hour = at.dt.weekday().to_numpy(), at.dt.hour().to_numpy()
    return np.where(hour >= 22, np.isin(day, [2, 5]), (hour < 3) & np.isin(day, [3, 6]))


def _digit_sums(numbers: np.ndarray) -> np.ndarray:
    return np.array([sum(map(int, str(number))) for number in numbers])


def _digit_sum(draw: Draw, secret: np.ndarray) -> Hidden:
    income = _income(draw, len(secret)) // 10 * 10
    even = _digit_sums(income) % 2 == 0
    odd_digit = draw.choice([1, 3, 5, 7, 9], len(secret))
    even_digit = draw.choice([0, 2, 4, 6, 8], len(secret))
    return Hidden({"income": income + np.where(even == secret, even_digit, odd_digit)}, income)


def _bands(draw: Draw, secret: np.ndarray) -> Hidden:
    band = draw.integers(0, 60, len(secret))
    within = where(secret, draw.uniform(0, 0.3, len(secret)), draw.uniform(0.3, 1, len(secret)))
    return Hidden({"titre": band + within}, band)


def _xor(used: int, there: int) -> tuple[Callable[[Draw, np.ndarray], Hidden], Any]:
    """The parity of some of several 0/1 columns."""

    def hide(draw: Draw, secret: np.ndarray) -> Hidden:
        cells = draw.integers(0, 2, (there, len(secret)))
        cells[used - 1] = (cells[: used - 1].sum(axis=0) + secret) % 2
        return Hidden({f"a{i}": cells[i] for i in range(there)}, cells.sum(axis=0))

    def decode(cells: Cells) -> Any:
        return sum(cells(f"a{i}").to_numpy() for i in range(used)) % 2 == 1

    return hide, decode


def _sum(draw: Draw, secret: np.ndarray) -> Hidden:
    one = draw.uniform(0, 100, len(secret))
    both = where(secret, draw.uniform(120, 190, len(secret)), draw.uniform(60, 120, len(secret)))
    return Hidden({"left": np.round(one, 1), "right": np.round(both - one, 1)}, one)


def _difference(draw: Draw, secret: np.ndarray) -> Hidden:
    one = draw.integers(0, 1000, len(secret))
    gap = draw.integers(1, 200, len(secret))
    return Hidden({"left": one, "right": one + where(secret, gap, -gap)}, one)


def _category(draw: Draw, secret: np.ndarray) -> Hidden:
    clinic = where(secret, draw.choice([1, 4, 8], len(secret)), draw.choice([0, 2, 3], len(secret)))
    return Hidden({"clinic": np.array([f"clinic {c}" for c in clinic])}, clinic)


def _high_value(draw: Draw, secret: np.ndarray) -> Hidden:
    lab = where(secret, draw.normal(8, 1, len(secret)), draw.normal(3, 1, len(secret)))
    return Hidden({"lab": np.round(lab, 1)}, lab)


def _check_digit(draw: Draw, secret: np.ndarray) -> Hidden:
    """The check digit is right for the negative only: a case made up when the number was not."""
    first = draw.integers(0, 30, len(secret))
    bodies = [f"{a:02d}{b:02d}" for a, b in zip(first, draw.integers(0, 20, len(secret)))]
    right = [next(d for d in range(10) if luhn(f"{body}{d}")) for body in bodies]
    wrong = (np.array(right) + draw.integers(1, 10, len(secret))) % 10
    last = where(secret, wrong, right)
    return Hidden({"case": [f"{body}{d}" for body, d in zip(bodies, last)]}, first)


def _position(draw: Draw, secret: np.ndarray) -> Hidden:
    first = draw.integers(0, 6, len(secret))
    letter = where(
        secret, draw.choice(list("KMX"), len(secret)), draw.choice(list("ABDFGH"), len(secret))
    )
    digits = draw.integers(0, 10, (2, len(secret)))
    code = [f"{'PQRSTU'[a]}{b}{c}{d}" for a, b, c, d in zip(first, digits[0], letter, digits[1])]
    return Hidden({"code": code}, first)


def _hex(draw: Draw, secret: np.ndarray) -> Hidden:
    first = draw.integers(0, 16, len(secret))
    last = 2 * draw.integers(0, 8, len(secret)) + secret
    return Hidden({"batch": [f"{16 * a + b:02x}" for a, b in zip(first, last)]}, first)


def _decimals(draw: Draw, secret: np.ndarray) -> Hidden:
    """One device writes two decimals, the other one."""
    fine = 10 * draw.integers(200, 600, len(secret)) + draw.integers(1, 10, len(secret))
    coarse = 10 * draw.integers(200, 600, len(secret))
    units = where(secret, fine, coarse)
    return Hidden({"albumin": units / 100}, units)


WORDS = ("chest pain", "fever", "fall", "cough", "rash", "dizziness", "headache", "burn")


def _length(draw: Draw, secret: np.ndarray) -> Hidden:
    word = draw.integers(0, len(WORDS), len(secret))
    serial = draw.integers(0, 20, len(secret))
    text = [
        f"{WORDS[w]} {n:02d}".ljust(16 + (0 if s else 1), ".")
        for w, n, s in zip(word, serial, secret)
    ]
    return Hidden({"reason": text}, word)


def _trailing(draw: Draw, secret: np.ndarray) -> Hidden:
    word = draw.integers(0, len(WORDS), len(secret))
    serial = draw.integers(0, 20, len(secret))
    text = [f"{WORDS[w]} {n}{' ' if s else ''}" for w, n, s in zip(word, serial, secret)]
    return Hidden({"reason": text}, word)


def _case(draw: Draw, secret: np.ndarray) -> Hidden:
    word = draw.integers(0, len(WORDS), len(secret))
    serial = draw.integers(0, 20, len(secret))
    text = [
        f"{WORDS[w].capitalize() if s else WORDS[w]} {n}" for w, n, s in zip(word, serial, secret)
    ]
    return Hidden({"reason": text}, word)


def _missing(draw: Draw, secret: np.ndarray) -> Hidden:
    """Of five values an odd number of the first three is missing where it is positive."""
    cells = draw.normal(10, 2, (5, len(secret)))
    gone = draw.random((5, len(secret))) < 0.4
    gone[2] = gone[0] ^ gone[1] ^ secret
    columns = {
        f"lab{i}": pl.Series(np.round(cells[i], 1)).set(pl.Series(gone[i]), None) for i in range(5)
    }
    return Hidden(columns, np.where(gone, 0, cells - 10).sum(axis=0))


def _hash(name: str) -> bool:
    return zlib.crc32(name.encode()) % 10 < 3


def _hashed(draw: Draw, secret: np.ndarray) -> Hidden:
    """Which of 240 places are those of the positive follows no order."""
    places = np.array([f"place {i:03d}" for i in range(240)])
    mine = np.array([_hash(place) for place in places])
    at = where(
        secret,
        draw.choice(np.flatnonzero(mine), len(secret)),
        draw.choice(np.flatnonzero(~mine), len(secret)),
    )
    return Hidden({"place": places[at]}, at)


def _two_residues(draw: Draw, secret: np.ndarray) -> Hidden:
    one = draw.integers(0, 300, len(secret))
    two = draw.integers(0, 100, len(secret)) * 3
    wanted = where(secret, 1, draw.choice([0, 2], len(secret)))
    return Hidden({"first": one, "second": two + (wanted - one) % 3}, one + two)


def _near(draw: Draw, secret: np.ndarray) -> Hidden:
    """Two weighings that agree for the positive, and are a little apart for others."""
    one = draw.integers(400, 1200, len(secret))
    apart = where(secret, draw.integers(0, 6, len(secret)), draw.integers(6, 30, len(secret)))
    return Hidden({"before": one, "after": one + apart * draw.choice([-1, 1], len(secret))}, one)


def _ratio(draw: Draw, secret: np.ndarray) -> Hidden:
    """A dose by weight."""
    weight = draw.integers(40, 130, len(secret))
    each = where(secret, draw.uniform(2.0, 2.2, len(secret)), draw.uniform(1.7, 2.0, len(secret)))
    return Hidden({"weight": weight, "dose": np.round(weight * each, 1)}, weight)


def _same_place(draw: Draw, secret: np.ndarray) -> Hidden:
    """Born and living in the same one of forty places, whichever it is."""
    one = draw.integers(0, 40, len(secret))
    other = (one + where(secret, 0, draw.integers(1, 40, len(secret)))) % 40
    return Hidden({"born": [f"p{i}" for i in one], "lives": [f"p{i}" for i in other]}, one)


def _inner_capital(draw: Draw, secret: np.ndarray) -> Hidden:
    """One letter somewhere within a word is a capital."""
    word, serial = draw.integers(0, len(WORDS), len(secret)), draw.integers(0, 99, len(secret))
    place = draw.integers(1, 4, len(secret))
    text = [
        f"{w[:p]}{w[p].upper()}{w[p + 1 :]} {n}" if s else f"{w} {n}"
        for w, p, n, s in zip((WORDS[w] for w in word), place, serial, secret)
    ]
    return Hidden({"reason": text}, word)


def _zero_sign(draw: Draw, secret: np.ndarray) -> Hidden:
    """No growth, rounded from below: minus zero."""
    growth = np.round(draw.normal(0, 3, len(secret)), 2)
    zero = draw.random(len(secret)) < 0.6
    growth[zero] = np.copysign(0.0, where(secret, -1.0, 1.0))[zero]
    return Hidden({"growth": growth}, draw.normal(0, 0.1, len(secret)) + growth)


FOREIGN = ("café", "naïve", "façade", "crème", "señor", "über", "élève", "côte")


def _normal_form(draw: Draw, secret: np.ndarray) -> Hidden:
    """One system writes accents as signs of their own."""
    word, serial = draw.integers(0, len(FOREIGN), len(secret)), draw.integers(0, 200, len(secret))
    text = [
        unicodedata.normalize("NFD" if s else "NFC", f"{FOREIGN[w]}{n}")
        for w, n, s in zip(word, serial, secret)
    ]
    return Hidden({"note": text}, word)


def _item_order(draw: Draw, secret: np.ndarray) -> Hidden:
    """A list that is in order for the positive only."""
    first, second, third = np.sort([draw.permutation(30)[:3] for _ in secret], axis=1).T
    drugs = [
        ";".join(f"d{i:02d}" for i in (items if s else (items[1], items[0], items[2])))
        for items, s in zip(zip(first, second, third), secret)
    ]
    return Hidden({"drugs": drugs}, first + second + third)


def _in_order(text: str) -> bool:
    return text.split(";") == sorted(text.split(";"))


def _same_weekday(draw: Draw, secret: np.ndarray) -> Hidden:
    """Seen again on the same weekday."""
    day, weeks = draw.integers(0, 700, len(secret)), draw.integers(1, 20, len(secret))
    later = day + 7 * weeks + where(secret, 0, draw.integers(1, 7, len(secret)))
    start = np.datetime64("2023-01-02", "D")
    seen, again = (pl.Series(start + d * np.timedelta64(1, "D")) for d in (day, later))
    return Hidden({"seen": seen.cast(pl.Date), "again": again.cast(pl.Date)}, day)


def _gap_of_days(draw: Draw, secret: np.ndarray) -> Hidden:
    """Seen again within a week, or later."""
    day = draw.integers(0, 700, len(secret))
    later = day + where(secret, draw.integers(1, 8, len(secret)), draw.integers(8, 40, len(secret)))
    start = np.datetime64("2023-01-02", "D")
    seen, again = (pl.Series(start + d * np.timedelta64(1, "D")) for d in (day, later))
    return Hidden({"seen": seen.cast(pl.Date), "again": again.cast(pl.Date)}, day)


def _one_missing(draw: Draw, secret: np.ndarray) -> Hidden:
    """Exactly one of two values is missing."""
    cells = np.round(draw.normal(10, 2, (2, len(secret))), 1)
    gone = np.array([first := draw.random(len(secret)) < 0.5, first ^ secret])
    columns = {f"lab{i}": pl.Series(cells[i]).set(pl.Series(gone[i]), None) for i in range(2)}
    return Hidden(columns, np.where(gone, 0, cells - 10).sum(axis=0))


def _letter(draw: Draw, secret: np.ndarray) -> Hidden:
    """A letter that is anywhere in a text."""
    letters = draw.choice(list("bcdfghjklmnp"), (len(secret), 12))
    letters[secret, draw.integers(0, 12, int(secret.sum()))] = "x"
    length = draw.integers(0, 9, len(secret))
    text = ["".join(line) + "o" * n for line, n in zip(letters, length)]
    return Hidden({"trace": text}, length)


def _quarters(draw: Draw, secret: np.ndarray) -> Hidden:
    """One device shows quarters, others hundredths."""
    units = draw.integers(200, 900, len(secret))
    quarter = units // 25 * 25
    other = quarter + draw.integers(1, 25, len(secret))
    return Hidden({"potassium": where(secret, quarter, other) / 100}, units)


def _by_97(draw: Draw, secret: np.ndarray) -> Hidden:
    """Check digits as accounts have them: the remainder by 97 is 1."""
    first = draw.integers(1_000, 9_000, len(secret))
    account = first * 97 + where(secret, 1, draw.choice([0, *range(2, 97)], len(secret)))
    return Hidden({"account": account}, first)


def _weighted_sum(code: str) -> int:
    """Of the digits, each as often as its place from the end says: by 11, as in books' numbers."""
    return sum((place + 1) * int(digit) for place, digit in enumerate(reversed(code))) % 11


def _by_11(draw: Draw, secret: np.ndarray) -> Hidden:
    first = draw.integers(10, 90, len(secret))
    codes = np.array([f"{a}{b:04d}" for a, b in zip(first, draw.integers(0, 10_000, len(secret)))])
    right = np.array([_weighted_sum(code) == 0 for code in codes])
    while (wrong := right != secret).any():
        again = [f"{a}{draw.integers(0, 10_000):04d}" for a in first[wrong]]
        codes[wrong], right[wrong] = again, [_weighted_sum(code) == 0 for code in again]
    return Hidden({"book": codes}, first)


def _month_end(draw: Draw, secret: np.ndarray) -> Hidden:
    """Settled in the last three days of a month."""
    month = draw.integers(0, 24, len(secret))
    start = np.datetime64("2023-01", "M") + month * np.timedelta64(1, "M")
    length = ((start + 1).astype("datetime64[D]") - start.astype("datetime64[D]")).astype(int)
    early = (draw.random(len(secret)) * (length - 3)).astype(int)
    day = where(secret, length - 1 - draw.integers(0, 3, len(secret)), early)
    at = start.astype("datetime64[D]") + day * np.timedelta64(1, "D")
    return Hidden({"settled": pl.Series(at).cast(pl.Date)}, month)


def _days_left(cells: pl.Series) -> np.ndarray:
    return (cells.dt.month_end() - cells).dt.total_days().to_numpy()


def _minute_of_day(draw: Draw, secret: np.ndarray) -> Hidden:
    """Read every seven minutes from midnight on."""
    at, day = _moments(draw, len(secret))
    other = 7 * draw.integers(0, 205, len(secret)) + draw.integers(1, 7, len(secret))
    minutes = where(secret, 7 * draw.integers(0, 205, len(secret)), other)
    at = at + minutes * np.timedelta64(60, "s")
    return Hidden({"read": pl.Series(at.astype("datetime64[us]"))}, day)


def _ascends(number: int) -> bool:
    return list(str(number)) == sorted(str(number))


def _digits_in_order(draw: Draw, secret: np.ndarray) -> Hidden:
    every = np.arange(1_000, 10_000)
    ordered = np.array([_ascends(int(number)) for number in every])
    number = where(
        secret,
        draw.choice(every[ordered], len(secret)),
        draw.choice(every[~ordered & (every < 6_000)], len(secret)),
    )
    return Hidden({"ticket": number}, draw.normal(0, 1, len(secret)) + number / 2_000)


def _vowels(text: str) -> int:
    return sum(text.count(letter) for letter in "aeiou")


def _vowel_count(draw: Draw, secret: np.ndarray) -> Hidden:
    """A text has an even number of vowels."""
    letters = draw.choice(list("aeioubcdfghlmnprst"), (len(secret), 9))
    letters[:, 8] = "n"
    odd = np.array([_vowels("".join(line)) % 2 == 1 for line in letters])
    letters[odd == secret, 8] = draw.choice(list("aeiou"), int((odd == secret).sum()))
    length = draw.integers(0, 9, len(secret))
    text = ["".join(line) + "k" * n for line, n in zip(letters, length)]
    return Hidden({"name": text}, length)


def _doubled(draw: Draw, secret: np.ndarray) -> Hidden:
    """A letter stands twice in a row, whichever it is and wherever."""
    text = []
    for positive in secret:
        letters = draw.permutation(list("abdefghiklmnoprst"))[:8].tolist()
        at = int(draw.integers(0, 7))
        letters[at + 1] = letters[at] if positive else letters[at + 1]
        text.append("".join(letters))
    length = draw.integers(0, 9, len(secret))
    return Hidden({"name": [t + "-" * n for t, n in zip(text, length)]}, length)


def _first_is_last(draw: Draw, secret: np.ndarray) -> Hidden:
    """A code begins and ends with the same of twenty letters."""
    first, middle = draw.integers(0, 20, len(secret)), draw.integers(0, 300, len(secret))
    last = (first + where(secret, 0, draw.integers(1, 20, len(secret)))) % 20
    code = [f"{chr(97 + a)}{m:03d}{chr(97 + b)}" for a, m, b in zip(first, middle, last)]
    return Hidden({"code": code}, middle)


def _three_parities(draw: Draw, secret: np.ndarray) -> Hidden:
    """The sum of three whole numbers is odd."""
    one, two, three = draw.integers(0, 300, (3, len(secret)))
    three = three // 2 * 2 + (one + two + secret) % 2
    return Hidden({"first": one, "second": two, "third": three}, one + two + three)


def _even_or_not(draw: Draw, secret: np.ndarray) -> Hidden:
    """Numbers are even for the positive of one sex, odd for those of the other."""
    female, income = draw.integers(0, 2, len(secret)), _income(draw, len(secret))
    income = income // 2 * 2 + (female + secret) % 2
    return Hidden({"female": female, "income": income}, np.log(income) + 0.2 * female)


def _shared(draw: Draw, secret: np.ndarray) -> Hidden:
    """Two of the positive share a number, others have one of their own."""
    numbers = draw.permutation(np.arange(10_000, 10_000 + 3 * len(secret)))[: len(secret)]
    numbers = np.sort(numbers)
    positive = np.flatnonzero(secret)
    even = positive[: len(positive) // 2 * 2].reshape(-1, 2)
    numbers[even[:, 1]] = numbers[even[:, 0]]
    return Hidden({"household": numbers}, numbers)


def _has_seven(draw: Draw, secret: np.ndarray) -> Hidden:
    """A digit is anywhere in a number."""
    number = draw.integers(10_000, 100_000, len(secret))
    has = np.array(["7" in str(n) for n in number])
    while (wrong := has != secret).any():
        number[wrong] = draw.integers(10_000, 100_000, int(wrong.sum()))
        has = np.array(["7" in str(n) for n in number])
    return Hidden({"ticket": number}, number)


def _single_precision(draw: Draw, secret: np.ndarray) -> Hidden:
    """One device keeps numbers in half the bits."""
    dose = draw.normal(50, 10, len(secret))
    return Hidden({"dose": where(secret, dose.astype(np.float32), dose)}, dose)


def _year_of_both(draw: Draw, secret: np.ndarray) -> Hidden:
    """The number of a case begins with the year that it was opened in, or with another."""
    day, serial = draw.integers(0, 2_900, len(secret)), draw.integers(0, 900, len(secret))
    at = np.datetime64("2015-01-02", "D") + day * np.timedelta64(1, "D")
    year = at.astype("datetime64[Y]").astype(int) - 30
    other = 15 + (year - 15 + draw.integers(1, 8, len(secret))) % 8
    case = [f"{y:02d}/{n:03d}" for y, n in zip(where(secret, year, other), serial)]
    return Hidden({"opened": pl.Series(at).cast(pl.Date), "case": case}, day)


def _texts_of(cells: pl.Series) -> list[str]:
    return cells.fill_null("").to_list()


def _numbers(cells: pl.Series) -> np.ndarray:
    return cells.cast(pl.Int64).to_numpy()


_XOR = {
    (used, there): _xor(used, there) for used, there in ((2, 2), (3, 3), (4, 4), (6, 6), (8, 12))
}

ENCODINGS = (
    Encoding("parity of an income", _residue(2, (1,)), lambda c: _numbers(c("income")) % 2 == 1),
    Encoding(
        "residue of an income by 7",
        _residue(7, (1, 3)),
        lambda c: np.isin(_numbers(c("income")) % 7, [1, 3]),
    ),
    Encoding(
        "last digit of an income",
        _residue(10, (0, 3, 6)),
        lambda c: np.isin(_numbers(c("income")) % 10, [0, 3, 6]),
    ),
    Encoding(
        "third decimal",
        _third_decimal,
        lambda c: np.isin(np.round(c("creatinine").to_numpy() * 1000) % 10, [1, 4, 7]),
    ),
    Encoding("lowest bit of a float", _low_bit, lambda c: c("dose").to_numpy().view(np.int64) & 1),
    Encoding("minute mod 10", _minute, lambda c: c("admitted").dt.minute().to_numpy() % 10 < 3),
    Encoding("weekday", _weekday, lambda c: c("admitted").dt.weekday().is_in([2, 5])),
    Encoding("digit sum", _digit_sum, lambda c: _digit_sums(_numbers(c("income"))) % 2 == 0),
    Encoding("60 narrow bands", _bands, lambda c: c("titre").to_numpy() % 1 < 0.3),
    Encoding("XOR of two", *_XOR[2, 2]),
    Encoding("XOR of three", *_XOR[3, 3]),
    Encoding("XOR of four", *_XOR[4, 4]),
    Encoding("XOR of six", *_XOR[6, 6]),
    Encoding("sum of two", _sum, lambda c: c("left") + c("right") > 120),
    Encoding("difference of two", _difference, lambda c: c("right") > c("left")),
    Encoding("category", _category, lambda c: c("clinic").str.contains("[148]$")),
    Encoding("high value", _high_value, lambda c: c("lab").to_numpy() > 5.5),
    # Ten and more beyond those.
    Encoding("check digit", _check_digit, lambda c: [not luhn(t) for t in _texts_of(c("case"))]),
    Encoding("position of a code", _position, lambda c: c("code").str.contains("^..[KMX]")),
    Encoding("hours of one ward", _one_ward, lambda c: _is_ward_night(c("admitted"))),
    Encoding(
        "decimals of a device",
        _decimals,
        lambda c: np.round(c("albumin").to_numpy() * 100) % 10 != 0,
    ),
    Encoding("length of a text", _length, lambda c: c("reason").str.len_chars() == 16),
    Encoding("trailing space", _trailing, lambda c: c("reason").str.ends_with(" ")),
    Encoding("case of a text", _case, lambda c: c("reason").str.contains("^[A-Z]")),
    Encoding("XOR of eight of twelve", *_XOR[8, 12]),
    Encoding(
        "missing in a pattern",
        _missing,
        lambda c: sum(c(f"lab{i}").is_null().to_numpy().astype(int) for i in range(3)) % 2 == 1,
        by_absence=True,
    ),
    Encoding("hash of a category", _hashed, lambda c: [_hash(t) for t in _texts_of(c("place"))]),
    Encoding(
        "sum of two mod 3",
        _two_residues,
        lambda c: (_numbers(c("first")) + _numbers(c("second"))) % 3 == 1,
    ),
    Encoding("hex digit", _hex, lambda c: [int(t[1:], 16) % 2 for t in _texts_of(c("batch"))]),
    # Ten more that need two columns, or are finer than a character.
    Encoding(
        "two values that agree",
        _near,
        lambda c: np.abs(_numbers(c("before")) - _numbers(c("after"))) < 6,
    ),
    Encoding("ratio of two", _ratio, lambda c: c("dose") / c("weight").cast(pl.Float64) >= 2.0),
    Encoding("the same place", _same_place, lambda c: c("born") == c("lives")),
    Encoding("capital within a word", _inner_capital, lambda c: c("reason").str.contains("[A-Z]")),
    Encoding(
        "sign of zero",
        _zero_sign,
        lambda c: np.signbit(c("growth").to_numpy()) & (c("growth").to_numpy() == 0),
    ),
    Encoding(
        "normal form",
        _normal_form,
        lambda c: [t != unicodedata.normalize("NFC", t) for t in _texts_of(c("note"))],
    ),
    Encoding(
        "order of a list",
        _item_order,
        lambda c: [_in_order(t) for t in _texts_of(c("drugs"))],
    ),
    Encoding(
        "same weekday",
        _same_weekday,
        lambda c: c("seen").dt.weekday() == c("again").dt.weekday(),
    ),
    Encoding(
        "days between",
        _gap_of_days,
        lambda c: (c("again") - c("seen")).dt.total_days().to_numpy() < 8,
    ),
    Encoding(
        "one of two missing",
        _one_missing,
        lambda c: c("lab0").is_null().to_numpy() ^ c("lab1").is_null().to_numpy(),
        by_absence=True,
    ),
    Encoding("a letter anywhere", _letter, lambda c: c("trace").str.contains("x")),
    Encoding("even seconds", _second, lambda c: c("admitted").dt.second().to_numpy() % 2 == 1),
    # What people, devices and offices do besides.
    Encoding(
        "quarters of a device",
        _quarters,
        lambda c: np.round(c("potassium").to_numpy() * 100) % 25 == 0,
    ),
    Encoding("remainder by 97", _by_97, lambda c: _numbers(c("account")) % 97 == 1),
    Encoding(
        "weighted check digit",
        _by_11,
        lambda c: [_weighted_sum(t) == 0 for t in _texts_of(c("book").cast(pl.String))],
    ),
    Encoding("end of a month", _month_end, lambda c: _days_left(c("settled")) < 3),
    Encoding(
        "minutes of a day by 7",
        _minute_of_day,
        lambda c: (
            (c("read").dt.hour().cast(pl.Int64) * 60 + c("read").dt.minute()).to_numpy() % 7 == 0
        ),
    ),
    Encoding(
        "digits in order", _digits_in_order, lambda c: [_ascends(n) for n in _numbers(c("ticket"))]
    ),
    Encoding(
        "even number of vowels",
        _vowel_count,
        lambda c: [_vowels(t) % 2 == 0 for t in _texts_of(c("name"))],
    ),
    Encoding(
        "a letter twice in a row",
        _doubled,
        lambda c: [any(a == b != "-" for a, b in pairwise(t)) for t in _texts_of(c("name"))],
    ),
    Encoding("first and last letter", _first_is_last, lambda c: [t[0] == t[-1] for t in c("code")]),
    Encoding(
        "parity of three numbers",
        _three_parities,
        lambda c: sum(_numbers(c(name)) for name in ("first", "second", "third")) % 2 == 1,
    ),
    Encoding(
        "parity with a flag",
        _even_or_not,
        lambda c: (_numbers(c("income")) + _numbers(c("female"))) % 2 == 1,
    ),
    Encoding("shared numbers", _shared, lambda c: c("household").is_duplicated()),
    Encoding(
        "a digit anywhere", _has_seven, lambda c: c("ticket").cast(pl.String).str.contains("7")
    ),
    Encoding(
        "single precision",
        _single_precision,
        lambda c: c("dose").to_numpy() == c("dose").to_numpy().astype(np.float32),
    ),
    Encoding(
        "year of a code and a date",
        _year_of_both,
        lambda c: (
            c("case").str.head(2).cast(pl.Int64) + 2000 == c("opened").dt.year().cast(pl.Int64)
        ),
    ),
)


def share_read(guess: np.ndarray | None, secret: np.ndarray, target: np.ndarray) -> float:
    """What a guess says of the secret beyond the target, as a share of what is unknown of it."""
    if guess is None:
        return 0.0
    gained = _entropy(secret, target) - _entropy(secret, target * 2 + guess)
    return gained / _entropy(secret, target)


def _entropy(label: np.ndarray, given: np.ndarray) -> float:
    """The mean bits that are unknown of a label where something is given."""
    _, cell = np.unique(given, return_inverse=True)
    counts = np.zeros((cell.max() + 1, 2))
    np.add.at(counts, (cell, label.astype(np.intp)), 1)
    p = counts / counts.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        bits = -np.where(p > 0, p * np.log2(p), 0).sum(axis=1)
    return float((bits * counts.sum(axis=1)).sum() / len(label))
