"""Direct identifiers by their content: what the values of a column look like.

Names of columns mislead; an e-mail address is one wherever it stands. Addresses are looked for in
all values of a column, the rest in a bounded number of distinct ones. `docs/identifiers.md` says
how often this is right.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, replace
from ipaddress import IPv6Address
from itertools import pairwise
from typing import Literal

import numpy as np
import polars as pl

from tamis.people import header_words
from tamis.read.check_digits import NATIONAL, OTHER
from tamis.read.common_names import GIVEN_NAMES

Kind = Literal[
    "email", "url", "phone", "national", "account", "vehicle", "ip", "device", "coordinates",
    "address", "person", "birth",
]  # fmt: skip

LOOKED_AT = 5_000
"""The most distinct values of a column that are looked at."""
MOSTLY = 0.8
"""The share of values at which a column is of one kind."""
SOME_SHARE = 0.02
"""The share of texts at which they have names or telephone numbers in them."""
FEWEST_CHECKED = 8
"""The fewest numbers that are told by their check digits, one in ten being right by chance."""
LIFETIME = 50
"""The years over which dates are spread that are those of births."""
ROUGHLY, IN_STEP = 0.15, 0.7
"""How far steps from date to date may differ, as months do, and the share of alike ones that it
takes, since markets close at weekends; of dates at random, a tenth of the steps are so alike."""


@dataclass(frozen=True)
class Content:
    """What the values of a column are: the kind of direct identifier, and in words."""

    kind: Kind
    words: str


_EMAIL = r"[A-Za-z0-9._%+'-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}"
_URL = r"(?i)\b(?:https?://|ftp://|www\.)[a-z0-9-]+(?:\.[a-z0-9-]+)+"
_PHONES = (
    r"^\+\d{1,3}(?:[ ./()-]*\d){7,12}$",
    r"^\(?0\d{1,4}\)?(?:[ ./-]?\d){7,10}$",
    r"^(?:1[ .-])?\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}(?: ?x\d{1,5})?$",
)
_CALLED = (
    r"(?:\+\d{1,3}|\(0?\d{2,4}\))(?:[ ./()-]*\d){7,12}\b|(?:^|[\s:;,(])\d{3}[.-]\d{3}[.-]\d{4}\b"
)
_SSN = r"^(?:00[1-9]|0[1-9]\d|[1-578]\d\d|6[0-57-9]\d|66[0-57-9])-(?:0[1-9]|[1-9]\d)-\d{4}$"
_CPR = r"^(?:0[1-9]|[12]\d|3[01])(?:0[1-9]|1[0-2])\d{2}-\d{4}$"
_IP = r"^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:/\d{1,2})?$"
_MAC = r"^[0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){5}$"
_PLACE = (
    r"^\(?[-+]?(?:[0-8]?\d|90)\.\d{3,}\s*[,; ]\s*[-+]?(?:1[0-7]\d|\d?\d|180)\.\d{3,}\)?$"
    r"|^(?i:point) ?\("
    r"|^\d{1,3}°\s?\d{1,2}['\x{2032}].*[NSns]"
)
_STREET = (
    r"(?i)^\d{1,5}[a-z]?,? .*\b(?:street|st|road|rd|avenue|ave|lane|ln|drive|dr|boulevard|blvd"
    r"|court|ct|way|place|square|rue|chemin|all[ée]e|impasse|quai)\b"
    r"|^(?:via|calle|rua|piazza|avenida|ul\.?) .*\d"
    r"|(?:stra(?:ß|ss)e|str\.|weg|platz|gasse|gatan|v[äa]gen|straat|laan) \d{1,4}"
)
_NAMED = r"\b(?:Mr|Mrs|Ms|Miss|Dr|Prof|Mme|Mlle|Herr|Frau|Sr|Sra|Signora?)\.? +\p{Lu}[\p{L}'-]+"
_DATE = r"^(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})(?:[ T]00:00(?::00)?)?$"
_PERSON = r"^\p{L}[\p{L}'\x{2019}.-]*,?(?: \p{L}[\p{L}'\x{2019}.-]*,?){0,3}$"

_SHAPES: tuple[tuple[Content, tuple[str, ...]], ...] = (
    (Content("national", "social security numbers (United States)"), (_SSN,)),
    (Content("national", "CPR numbers (Denmark)"), (_CPR,)),
    (Content("ip", "IP addresses"), (_IP,)),
    (Content("device", "addresses of network devices"), (_MAC,)),
    (Content("coordinates", "coordinates"), (_PLACE,)),
    (Content("phone", "telephone numbers"), _PHONES),
)
"""What all values have the shape of."""
_BIRTH = {"birth", "birthday", "birthdate", "dob", "born", "naissance", "geburt", "geburtsdatum"}
_PLACES = {"lat", "latitude", "lon", "lng", "long", "longitude"}


SMALL_TYPES = (pl.Boolean, pl.Int8, pl.UInt8, pl.Int16, pl.UInt16)
"""Types of numbers too small to identify; of very many columns, each look takes milliseconds."""


def content_of(column: pl.Series) -> Content | None:
    """What direct identifier the values of a column look like; `None` if none.

    Parameters
    ----------
    column : polars.Series

    Returns
    -------
    Content or None
        The surest kind.

    Examples
    --------
    >>> content_of(pl.Series(["ann@example.org", "bob@example.org"])).words
    'e-mail addresses'
    >>> content_of(pl.Series("age", [31, 47, 52]))
    """
    if column.dtype in SMALL_TYPES:
        return None
    if column.dtype in (pl.Date, pl.Datetime):
        return _of_years(column.name, column.alias("").drop_nulls())
    if column.dtype.is_float() and not is_whole(column.alias("").drop_nulls()):
        return _of_places(column)
    known = _known(column)
    texts = _some(known)
    if texts.len() == 0:
        return None
    if column.dtype.is_numeric():
        return _checked(texts)
    if written := _written(known.cast(pl.String), texts):
        return written
    found = (look(texts) for look in (_inside, _shaped, _checked, _networked, _streets))
    return next(filter(None, found), None) or _of_text_dates(column.name, texts) or _people(texts)


def _known(column: pl.Series) -> pl.Series:
    """The distinct values that may identify; of numbers, those of nine digits or more."""
    bare = column.alias("").drop_nulls()
    if column.dtype.is_numeric():
        whole = bare.cast(pl.Int64, strict=False).drop_nulls()
        if whole.len() == 0 or (whole.abs().quantile(0.5) or 0) < 10**8:
            return pl.Series([], dtype=pl.String)
        bare = whole
    elif column.dtype not in (pl.String, pl.Categorical, pl.Enum):
        return pl.Series([], dtype=pl.String)
    return bare.unique(maintain_order=True)


def _some(known: pl.Series) -> pl.Series:
    """Some of the values as texts, spread evenly."""
    step = -(-known.len() // LOOKED_AT)
    cut = known.gather_every(step) if step > 1 else known
    return cut.cast(pl.String).str.strip_chars().str.slice(0, 2_000)


def is_whole(present: pl.Series) -> bool:
    """Whether values are text, dates or whole numbers rather than measured fractions."""
    return not present.dtype.is_float() or bool((present == present.floor()).all())


def _share(texts: pl.Series, *shapes: str) -> float:
    """The share of texts that one of the shapes is found in."""
    return max(int(texts.str.contains(shape).sum()) for shape in shapes) / max(texts.len(), 1)


_WRITTEN: tuple[tuple[Content, str, str], ...] = (
    (Content("email", "e-mail addresses"), "@", _EMAIL),
    (Content("url", "web addresses"), "://", _URL),
    (Content("url", "web addresses"), "www.", _URL),
)
"""What nobody writes by chance, with a sign that every one of them has."""


def _written(cells: pl.Series, texts: pl.Series) -> Content | None:
    """Addresses, of which one among all distinct values is enough."""
    for looks, sign, shape in _WRITTEN:
        signed = cells.filter(cells.str.contains(sign, literal=True)).head(LOOKED_AT)
        if _share(signed.str.slice(0, 2_000), shape):
            mostly = _share(texts, shape) >= MOSTLY
            return looks if mostly else replace(looks, words=f"{looks.words} in some values")
    return None


def _inside(texts: pl.Series) -> Content | None:
    """Numbers inside longer texts."""
    if _some_iban(texts):
        return Content("account", "bank account numbers (IBAN)")
    called = _share(texts, _CALLED)
    if called >= SOME_SHARE and _share(texts, *_PHONES) < MOSTLY:
        return Content("phone", "telephone numbers in some values")
    return None


def _some_iban(texts: pl.Series) -> bool:
    shape = r"\b[A-Z]{2}\d{2}(?: ?[0-9A-Z]{4}){2,7}(?: ?[0-9A-Z]{1,3})?\b"
    found = texts.str.extract(f"({shape})").drop_nulls()
    return any(OTHER["bank account numbers (IBAN)"](_plain(text)) for text in found)


def _plain(text: str) -> str:
    """Capitals and digits alone.

    >>> _plain("gb82 west-1234")
    'GB82WEST1234'
    """
    return "".join(c for c in text.upper() if c.isalnum())


def _shaped(texts: pl.Series) -> Content | None:
    for looks, shapes in _SHAPES:
        # Telephone numbers in some countries' forms, others in another's.
        matched = sum(_share(texts, shape) for shape in shapes)
        if matched >= MOSTLY and (looks.kind != "phone" or texts.len() >= 3):
            return looks
    return None


def _checked(texts: pl.Series) -> Content | None:
    """Numbers whose check digits are right."""
    numbers = [_plain(text) for text in texts.head(500)]
    some = sum(8 <= len(n) <= 34 for n in numbers)
    if len(numbers) < FEWEST_CHECKED or some < MOSTLY * len(numbers):
        return None

    def are(fits: Callable[[str], bool]) -> bool:
        return sum(map(fits, numbers)) >= max(FEWEST_CHECKED, MOSTLY * len(numbers))

    for words, fits in NATIONAL.items():
        if are(fits):
            return Content("national", words)
    for words, fits in OTHER.items():
        if are(fits):
            return Content("vehicle" if "vehicle" in words else "account", words)
    return None


def _networked(texts: pl.Series) -> Content | None:
    some = texts.head(500)
    if _share(some, r"^[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*$") < MOSTLY:
        return None
    right = sum(map(_is_ip6, some))
    return Content("ip", "IP addresses") if right >= MOSTLY * some.len() else None


def _is_ip6(text: str) -> bool:
    try:
        IPv6Address(text)
    except ValueError:
        return False
    return True


def _streets(texts: pl.Series) -> Content | None:
    many = texts.len() >= 3 and _share(texts, _STREET) >= 0.5
    return Content("address", "street addresses") if many else None


def _people(texts: pl.Series) -> Content | None:
    """Names of people: alone, or in texts of several words."""
    shaped = texts.filter(texts.str.contains(_PERSON))
    if texts.len() >= FEWEST_CHECKED and shaped.len() >= 0.7 * texts.len():
        named = [_has_given_name(text) for text in shaped.head(1_000)]
        several = _share(shaped, " ") >= 0.5
        if sum(named) >= (0.25 if several else 0.5) * len(named):
            return Content("person", "names of people")
        return None
    prose = texts.filter(texts.str.count_matches(" ") >= 3)
    if prose.len() < FEWEST_CHECKED:
        return None
    named = [_tells_a_name(text) for text in prose.head(1_000)]
    share = max(sum(named) / len(named), _share(prose, _NAMED))
    return Content("person", "names of people in some values") if share >= SOME_SHARE else None


def _has_given_name(text: str) -> bool:
    return any(without_accents(word) in GIVEN_NAMES for word in text.replace(",", " ").split())


def _tells_a_name(text: str) -> bool:
    """Whether a given name is followed by another capitalised word."""
    words = text.split()
    return any(
        one[:1].isupper()
        and without_accents(one) in GIVEN_NAMES
        and other[:1].isupper()
        and other[1:2].islower()
        and len(other) > 2
        for one, other in pairwise(words)
    )


def without_accents(word: str) -> str:
    """A word in small letters without accents and signs.

    >>> without_accents("François,")
    'francois'
    """
    apart = unicodedata.normalize("NFD", word.lower())
    return "".join(c for c in apart if "a" <= c <= "z")


def _words(name: str) -> set[str]:
    """The words of a name, by its signs and by its capitals, and as if it had no capitals.

    >>> sorted(_words("DateOfBirth"))
    ['birth', 'date', 'dateofbirth', 'of']
    """
    return {*header_words(name), *header_words(name.lower())}


def _of_years(name: str, dates: pl.Series) -> Content | None:
    """Dates of birth, by the name of their column or because they span a life."""
    years = dates.dt.year() if dates.dtype.is_temporal() else dates
    known = years.filter((years >= 1890) & (years <= 2100)).sort()
    if known.len() < MOSTLY * years.len() or not known.len():
        return None
    first, last = known[known.len() // 20], known[-1 - known.len() // 20]
    if _words(name) & _BIRTH or (last - first >= LIFETIME and not _are_in_step(dates)):
        return Content("birth", "dates of birth")
    return None


def _are_in_step(dates: pl.Series) -> bool:
    """Whether dates follow each other day by day or month by month, each once, as prices have them.

    >>> days = pl.date_range(pl.date(1950, 1, 1), pl.date(2019, 1, 1), "1mo", eager=True)
    >>> _are_in_step(days), _are_in_step(days.gather([0, 3, 4, 9, 40, 41, 80, 95]))
    (True, False)
    """
    if not dates.dtype.is_temporal() or dates.n_unique() < dates.len():
        return False
    steps = np.diff(np.sort(dates.to_physical().to_numpy()))
    alike = np.abs(steps / np.median(steps) - 1) <= ROUGHLY
    return bool(alike.mean() >= IN_STEP)


def _of_text_dates(name: str, texts: pl.Series) -> Content | None:
    if _share(texts, _DATE) < MOSTLY:
        return None
    return _of_years(name, texts.str.extract(r"(\d{4})").drop_nulls().cast(pl.Int32))


def _of_places(column: pl.Series) -> Content | None:
    """Latitudes and longitudes: numbers of many digits that only their name tells from others."""
    if not is_place(column):
        return None
    present = column.alias("").drop_nulls()
    fine = int(((present * 100).round() / 100 != present).sum()) >= 0.5 * present.len()
    return Content("coordinates", "coordinates") if fine else None


def is_place(column: pl.Series) -> bool:
    """Whether a column is a latitude or longitude by its name and range, however fine.

    >>> is_place(pl.Series("long", [-73.9, 2.3])), is_place(pl.Series("how_long", [1200.5]))
    (True, False)
    """
    if not column.dtype.is_numeric() or not _words(column.name) & _PLACES:
        return False
    present = column.alias("").drop_nulls()
    return present.len() > 0 and bool((present.abs() <= 180).all())
