"""Derived values of a single column: remainders, digits, check digits, parts of times, letters.

Each view has a value for every row; `tamis.learn.views` tests which of them predict anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.arrays import Floats, Ints
from tamis.table import bare

Named = tuple[str, Ints]
"""A view's description, with {} for the column, and its value in every row; below 0: no value."""

MODULI = (2, 3, 4, 5, 6, 7, 8, 9, 11, 12)
"""Without 10, whose remainder is the last digit, a view of its own."""
EXACT = 1e15
"""Larger numbers are not tested by digits: a float64 holds 15 decimal digits exactly."""
FURTHER = (*range(13, 32), 97)
"""More moduli for single numbers: up to the number of codes of a column, and that of IBANs."""
CHECKS = (
    ("", (1, 2), 10),
    (", as of a product", (1, 3), 10),
    (", as of a bank", (1, 7, 3), 10),
    (", as of a book", tuple(range(1, 20)), 11),
)
"""Check digits: words, weights of the digits from the last one on (repeated), and the modulus."""
DECIMALS = 9
"""Numbers with more decimals are tested by their lowest bits instead of their digits."""
PLACES = 16
"""Characters tested from the start of a text; half as many from its end."""
LONG = 64
"""Characters of a text that are searched for a repeated letter."""
PARTS = 40
"""Most words, and most characters, whose presence anywhere in a text is tested."""
DAY = 86_400_000_000
"""Microseconds of a day."""
SEPARATORS = " -_./,;:"
RARE = 10
"""Values of a view that fewer rows have are tested as one value."""


def views_of(column: pl.Series) -> Iterator[Named]:
    """All views of one column.

    >>> [words for words, _ in views_of(pl.Series([31, 47, 1250]))][:3]
    ['whether {} is even', 'the remainder of {} by 3', 'the remainder of {} by 4']
    >>> dict(views_of(pl.Series(["K-12", "cook "])))["the length of {}"].tolist()
    [4, 5]
    """
    cells = bare(column)
    if cells.dtype.is_temporal():
        yield from _of_times(cells)
    elif cells.dtype.is_numeric() and cells.dtype != pl.Boolean:
        yield from _of_numbers(cells.cast(pl.Float64).to_numpy())
    elif cells.dtype != pl.Boolean:
        yield from _of_texts(cells.cast(pl.String))


def _of_numbers(values: Floats) -> Iterator[Named]:
    there = np.isfinite(values) & (np.abs(values) < EXACT)
    known = np.where(there, values, 0.0)
    decimals = _decimals(known)
    most = int(decimals[there].max(initial=0))
    # Digits are tested in whole units of the last decimal, if all numbers fit into 15 digits so.
    if most <= DECIMALS and np.abs(known).max(initial=0.0) * 10.0**most < EXACT:
        units = np.rint(known * 10.0**most).astype(np.int64)
        yield from _of_digits(units, there, most)
        if most:
            yield "the number of decimals of {}", np.where(there, decimals, -1)
    else:
        single = np.abs(known) < np.finfo(np.float32).max
        single &= np.where(single, known, 0.0).astype(np.float32) == known
        yield "whether {} has single precision", np.where(there, single, -1)
        bits = np.ascontiguousarray(known).view(np.int64)
        for count, words in ((1, "bit"), (2, "two bits"), (3, "three bits")):
            yield f"the lowest {words} of {{}}", np.where(there, bits & (2**count - 1), -1)
    yield from _of_bands(known, there)


def _decimals(values: Floats) -> Ints:
    """The number of decimals of each number; `DECIMALS` + 1 stands for any more.

    >>> _decimals(np.array([3.0, 2.5, 0.125, np.pi])).tolist()
    [0, 1, 3, 10]
    """
    needed = np.full(len(values), DECIMALS + 1, dtype=np.int64)
    left = np.arange(len(values))
    for decimals in range(DECIMALS + 1):
        numbers = values[left]
        same = np.round(numbers, decimals) == numbers
        needed[left[same]] = decimals
        left = left[~same]
        if not len(left):
            break
    return needed


def _of_digits(units: Ints, there: NDArray[np.bool_], decimals: int) -> Iterator[Named]:
    """Remainders and digits of numbers in units of their last decimal."""
    one = "{}" if not decimals else f"{{}} in units of 1e-{decimals}"
    size = np.abs(units)
    most = int(size.max(initial=0))
    for modulus in (*MODULI, *FURTHER):
        words = f"whether {one} is even" if modulus == 2 else f"the remainder of {one} by {modulus}"
        if 2 * modulus <= most:  # else the remainder is little else than the number
            yield words, np.where(there, units % modulus, -1)
    digits = [size // 10**place % 10 for place in range(len(str(most)))]
    for place, digit in enumerate(digits[:-1]):
        yield f"{_place(place - decimals)} of {{}}", np.where(there, digit, -1)
    sums = np.sum(digits, axis=0)
    for modulus in (2, 3, 7, 10, 11):
        yield f"the digit sum of {{}} by {modulus}", np.where(there, sums % modulus, -1)
    for words, weights, modulus in CHECKS:
        right = _checksum(digits, weights, modulus) == 0
        yield f"whether the check digit of {{}} is right{words}", np.where(there, right, -1)
    # Leading zeros are not digits of a number: whether each digit but the last one is written.
    written = [size >= 10**place for place in range(1, len(digits))]
    pairs = list(zip(written, digits[1:], digits))
    falling = [there & second & (left > right) for second, left, right in pairs]
    twice = [there & second & (left == right) for second, left, right in pairs]
    none = np.zeros(len(units), dtype=np.bool_)
    yield "whether the digits of {} ascend", np.where(there, ~np.any([none, *falling], axis=0), -1)
    yield (
        "whether {} has a digit twice in a row",
        np.where(there, np.any([none, *twice], axis=0), -1),
    )
    for wanted in range(10):
        places = [digits[0] == wanted, *(w & (d == wanted) for w, d in zip(written, digits[1:]))]
        yield f"whether {{}} has the digit {wanted}", np.where(there, np.any(places, axis=0), -1)


def _checksum(digits: Sequence[Ints], weights: Sequence[int], modulus: int) -> Ints:
    """The weighted sum of digits, from the last one on, by a modulus; weights repeat.

    With weights 1 and 2 the digits of each product are summed, as for payment cards (Luhn).

    >>> luhn, book = ((1, 2), 10), (tuple(range(1, 20)), 11)
    >>> digits = [np.array([int(digit)]) for digit in reversed("4539148803436467")]
    >>> _checksum(digits, *luhn).tolist()
    [0]
    >>> digits = [np.array([int(digit)]) for digit in reversed("0306406152")]
    >>> _checksum(digits, *book).tolist()
    [0]
    """
    total = np.zeros_like(digits[0])
    for place, digit in enumerate(digits):
        product = digit * weights[place % len(weights)]
        # The digit sum of a product from 10 to 18 is the product less 9.
        total += product - 9 * (product > 9) if weights == (1, 2) else product
    return np.asarray(total % modulus)


def _place(power: int) -> str:
    """The name of the digit of a power of ten.

    >>> [_place(power) for power in (-3, -1, 0, 1, 4)]
    ['decimal 3', 'decimal 1', 'the last digit', 'the tens', 'the digit of 10000']
    """
    if power < 0:
        return f"decimal {-power}"
    return {0: "the last digit", 1: "the tens", 2: "the hundreds"}.get(
        power, f"the digit of {10**power}"
    )


def _of_bands(values: Floats, there: NDArray[np.bool_]) -> Iterator[Named]:
    """Position of numbers within a repeating round period (1, 2 or 5 times a power), in tenths."""
    span = float(np.ptp(values[there])) if there.any() else 0.0
    if not 0 < span < EXACT:
        return
    power = int(np.floor(np.log10(span)))
    for exponent in range(power - 3, power + 1):
        for digit in (1, 2, 5):
            period = float(f"{digit}e{exponent}")
            if 8 * period <= span:
                # 1e-9 keeps a multiple of the period, off by rounding, in its own tenth.
                place = np.floor(np.mod(values, period) / period * 10 + 1e-9).astype(np.int64) % 10
                yield f"{{}} within each {period:g}", np.where(there, place, -1)


def _of_times(cells: pl.Series) -> Iterator[Named]:
    there = cells.is_not_null().to_numpy()

    def part(numbers: pl.Series) -> Ints:
        return np.where(there, numbers.cast(pl.Int64).fill_null(0).to_numpy(), -1)

    if cells.dtype == pl.Duration:
        yield from _of_digits(part(cells.dt.total_seconds()), there, 0)
        return
    if cells.dtype != pl.Time:
        days = part(cells.cast(pl.Date).to_physical())
        yield "the weekday of {}", part(cells.dt.weekday())
        yield "the day of the month of {}", part(cells.dt.day())
        yield (
            "the days from {} to the end of its month",
            part((cells.dt.month_end() - cells).dt.total_days()),
        )
        yield "the month of {}", part(cells.dt.month())
        yield "whether the week of {} is even", np.where(there, days // 7 % 2, -1)
        for modulus in (m for m in (*MODULI, *FURTHER) if m != 7):
            words = f"the remainder of the day of {{}} by {modulus}"
            yield words, np.where(there, days % modulus, -1)
    if cells.dtype == pl.Date:
        return
    minute, second = part(cells.dt.minute()), part(cells.dt.second())
    yield "the hour of {}", part(cells.dt.hour())
    for words, number in (("minute", minute), ("second", second)):
        yield f"the last digit of the {words} of {{}}", np.where(there, number % 10, -1)
        yield f"whether the {words} of {{}} is even", np.where(there, number % 2, -1)
        yield f"the remainder of the {words} of {{}} by 15", np.where(there, number % 15, -1)
        yield f"the tens of the {words} of {{}}", np.where(there, number // 10, -1)
    of_day = 60 * part(cells.dt.hour()) + minute
    for modulus in (m for m in range(7, 60) if 60 % m):  # divisors of 60 need the minute alone
        words = f"the remainder of the minutes of the day of {{}} by {modulus}"
        yield words, np.where(there, of_day % modulus, -1)
    fine = part(cells.dt.microsecond())
    yield "whether {} has a fraction of a second", np.where(there, fine > 0, -1)
    yield "the last digit of the fraction of a second of {}", np.where(there, fine % 10, -1)


def _of_texts(cells: pl.Series) -> Iterator[Named]:
    there = cells.is_not_null().to_numpy()
    texts = cells.fill_null("")

    def count(numbers: pl.Series) -> Ints:
        return np.where(there, numbers.cast(pl.Int64).to_numpy(), -1)

    yield "the length of {}", count(texts.str.len_chars())
    for words, every in (
        ("character {at} of {{}}", _characters(texts, PLACES)),
        ("character {at} from the end of {{}}", _characters(texts.str.reverse(), PLACES // 2)),
    ):
        for at, letters in enumerate(every, start=1):
            yield words.format(at=at), np.where(there, letters, -1)
    for mark in SEPARATORS:
        yield f"how often {mark!r} is in {{}}", count(texts.str.count_matches(mark, literal=True))
    stripped = texts.str.strip_chars()
    shape = (
        2 * (texts.str.head(1) != stripped.str.head(1)).cast(pl.Int64)
        + (texts.str.tail(1) != stripped.str.tail(1))
    )  # fmt: skip
    yield "the spaces around {}", count(shape)
    lower, upper = texts == texts.str.to_lowercase(), texts == texts.str.to_uppercase()
    first = stripped.str.head(1)
    capital = first != first.str.to_lowercase()
    yield (
        "the capitals of {}",
        count(lower.cast(pl.Int64) + 2 * upper.cast(pl.Int64) + 4 * capital.cast(pl.Int64)),
    )
    yield "the number of digits of {}", count(texts.str.count_matches(r"[0-9]"))
    yield "the number of vowels of {}", count(texts.str.count_matches(r"[AEIOUaeiou]"))
    yield "whether {} begins as it ends", count(first == stripped.str.tail(1))
    yield (
        "whether {} has letters with accents or other signs",
        count(texts.str.len_bytes() != texts.str.len_chars()),
    )
    if len(texts):
        yield from _of_items(texts, there)
    last = texts.str.extract(r"([0-9]{1,15})[^0-9]*$")
    if last.null_count() < len(last):
        numbers = last.cast(pl.Int64, strict=False)
        found = numbers.is_not_null().to_numpy()
        for words, values in _of_digits(numbers.fill_null(0).to_numpy(), found, 0):
            yield words.replace("{}", "the last number in {}"), values


def _of_items(texts: pl.Series, there: NDArray[np.bool_]) -> Iterator[Named]:
    """Presence of a word or a character anywhere, repeated letters, and words in sorted order."""
    # Worked out for distinct texts, then looked up for every row.
    distinct = texts.unique()
    place = texts.replace_strict(distinct, np.arange(len(distinct)), return_dtype=pl.Int64)
    at = place.to_numpy()
    words = distinct.str.to_lowercase().str.extract_all(r"[\p{L}\p{N}]+")
    for kind, parts in (("word", words), ("letter", distinct.str.split(""))):
        own = pl.DataFrame({"text": np.arange(len(distinct)), "part": parts})
        own = own.explode("part").drop_nulls().unique()
        weight = np.bincount(at, minlength=len(distinct))
        rows = own.with_columns(pl.Series("rows", weight[own["text"].to_numpy()]))
        counts = rows.group_by("part").agg(pl.col("rows").sum(), pl.col("text"))
        few = counts.filter(pl.col("rows").is_between(RARE, len(texts) - RARE))
        few = few.sort("rows", "part", descending=[True, False]).head(PARTS)
        for part, _, having in few.iter_rows():
            has = np.zeros(len(distinct), dtype=np.int64)
            has[having] = 1
            shown = repr(part).replace("{", "{{").replace("}", "}}")
            yield f"whether {{}} has the {kind} {shown}", np.where(there, has[at], -1)
    letters = _characters(distinct, LONG)
    # `| 32` maps ASCII capitals to small letters; from 192 on Latin-1 and others are letters.
    is_letter = ((letters | 32) >= ord("a")) & ((letters | 32) <= ord("z")) | (letters >= 192)
    twice = ((letters[1:] == letters[:-1]) & is_letter[1:]).any(axis=0)
    yield "whether {} has a letter twice in a row", np.where(there, twice[at], -1)
    order = [split == sorted(split) for split in words.to_list()]
    yield "whether the parts of {} are in order", np.where(there, np.array(order)[at], -1)


def points_of(cells: pl.Series) -> Floats:
    """Numbers, and dates and times as days, NaN where missing."""
    if cells.dtype.is_temporal():
        return cells.cast(pl.Datetime("us")).cast(pl.Int64).cast(pl.Float64).to_numpy() / DAY
    return cells.cast(pl.Float64).fill_null(np.nan).to_numpy()


def whole_parts(cells: pl.Series, name: str) -> Iterator[Named]:
    """The whole numbers in a text, a date or a number; -1 where there is none."""
    parts = {}
    if cells.dtype == pl.String:
        first, last = r"([0-9]{1,15})", r"([0-9]{1,15})[^0-9]*$"
        parts = {
            f"the first number in {name}": cells.str.extract(first),
            f"the last number in {name}": cells.str.extract(last),
            f"how {name} begins": cells.str.extract("^([0-9]{2})"),
        }
    elif cells.dtype == pl.Date:
        year = cells.dt.year()
        parts = {
            f"the year of {name}": year,
            f"the year of {name} in two digits": year % 100,
            f"the month of {name}": cells.dt.month(),
            f"the day of the month of {name}": cells.dt.day(),
        }
    else:
        parts = {name: cells}
    for words, values in parts.items():
        yield words, values.cast(pl.Int64, strict=False).fill_null(-1).to_numpy()


def _characters(texts: pl.Series, most: int) -> NDArray[np.int64]:
    """The first `most` characters of texts as numbers, places by texts; 0 past the end of a text.

    Characters from U+03FF on share one number, so that counts by character stay short.
    """
    wide = np.array(texts.str.head(most).to_list(), dtype=f"U{most}")
    letters = np.ascontiguousarray(wide).view(np.uint32).reshape(len(wide), most)
    used = int(letters.any(axis=0).sum())
    return np.minimum(letters[:, :used].T, 1023).astype(np.int64)
