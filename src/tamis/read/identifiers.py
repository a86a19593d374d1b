"""Direct identifiers recognised by content: what the values of a column look like.

Names of columns mislead, but an e-mail address is one wherever it stands. E-mail and web addresses
are searched for in all values of a column, the rest in a bounded number of distinct values.
`docs/identifiers.md` says how often this is right.
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
"""The most distinct values of a column that are tested."""
MOSTLY = 0.8
"""Least share of values of one kind that makes the column that kind."""
SOME_SHARE = 0.02
"""Least share of texts that contain names or telephone numbers."""
FEWEST_CHECKED = 8
"""The fewest numbers judged by check digits, which one in ten random numbers has right."""
LIFETIME = 50
"""Years that dates must span to count as dates of birth without being named so."""
ROUGHLY, IN_STEP = 0.15, 0.7
"""Relative difference within which steps between dates count as equal, as months differ; and the
least share of equal steps in a series, as markets close at weekends. Of random dates, a tenth of
the steps are that alike."""


@dataclass(frozen=True)
class Content:
    """The kind of direct identifier that a column's values are, and its name in words."""

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
"""Kinds that are recognised by the shape of all values."""
_BIRTH = {"birth", "birthday", "birthdate", "dob", "born", "naissance", "geburt", "geburtsdatum"}
_PLACES = {"lat", "latitude", "lon", "lng", "long", "longitude"}


SMALL_TYPES = (pl.Boolean, pl.Int8, pl.UInt8, pl.Int16, pl.UInt16)
"""Types with too few values to identify anyone; skipping them saves time on very wide tables."""


def content_of(column: pl.Series) -> Content | None:
    """The direct identifier that the values of a column look like; `None` if none.

    Parameters
    ----------
    column : polars.Series

    Returns
    -------
    Content or None
        The first kind that fits, in order of certainty.

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
    looks = (look(texts) for look in (_inside, _shaped, _checked, _networked, _streets))
    return next(filter(None, looks), None) or _of_text_dates(column.name, texts) or _people(texts)


def _known(column: pl.Series) -> pl.Series:
    """Distinct values that may identify; none of numbers with mostly fewer than nine digits."""
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
    """An evenly spaced subset of the values, as texts of bounded length."""
    step = -(-known.len() // LOOKED_AT)
    cut = known.gather_every(step) if step > 1 else known
    return cut.cast(pl.String).str.strip_chars().str.slice(0, 2_000)


def is_whole(present: pl.Series) -> bool:
    """Whether values are texts, dates or whole numbers rather than measured fractions."""
    return not present.dtype.is_float() or bool((present == present.floor()).all())


def _share(texts: pl.Series, *shapes: str) -> float:
    """Largest share of texts that contain any one of the shapes."""
    return max(int(texts.str.contains(shape).sum()) for shape in shapes) / max(texts.len(), 1)


_WRITTEN: tuple[tuple[Content, str, str], ...] = (
    (Content("email", "e-mail addresses"), "@", _EMAIL),
    (Content("url", "web addresses"), "://", _URL),
    (Content("url", "web addresses"), "www.", _URL),
)
"""Addresses that nobody writes by chance, each with a literal that all have: a cheap pre-filter."""


def _written(cells: pl.Series, texts: pl.Series) -> Content | None:
    """E-mail and web addresses, of which one among all distinct values is enough."""
    for looks, sign, shape in _WRITTEN:
        signed = cells.filter(cells.str.contains(sign, literal=True)).head(LOOKED_AT)
        if _share(signed.str.slice(0, 2_000), shape):
            mostly = _share(texts, shape) >= MOSTLY
            return looks if mostly else replace(looks, words=f"{looks.words} in some values")
    return None


def _inside(texts: pl.Series) -> Content | None:
    """Account and telephone numbers inside longer texts."""
    if _some_iban(texts):
        return Content("account", "bank account numbers (IBAN)")
    called = _share(texts, _CALLED)
    if called >= SOME_SHARE and _share(texts, *_PHONES) < MOSTLY:
        return Content("phone", "telephone numbers in some values")
    return None


def _some_iban(texts: pl.Series) -> bool:
    shape = r"\b[A-Z]{2}\d{2}(?: ?[0-9A-Z]{4}){2,7}(?: ?[0-9A-Z]{1,3})?\b"
    candidates = texts.str.extract(f"({shape})").drop_nulls()
    return any(OTHER["bank account numbers (IBAN)"](_plain(text)) for text in candidates)


def _plain(text: str) -> str:
    """A text reduced to capitals and digits.

    >>> _plain("gb82 west-1234")
    'GB82WEST1234'
    """
    return "".join(c for c in text.upper() if c.isalnum())


def _shaped(texts: pl.Series) -> Content | None:
    for looks, shapes in _SHAPES:
        # Summed, since a column may mix the telephone numbers of several countries.
        matched = sum(_share(texts, shape) for shape in shapes)
        if matched >= MOSTLY and (looks.kind != "phone" or texts.len() >= 3):
            return looks
    return None


def _checked(texts: pl.Series) -> Content | None:
    """Numbers recognised by their check digits."""
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
    """Names of people: as whole values, or inside longer texts."""
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
    """A word in lower case, without accents and signs.

    >>> without_accents("François,")
    'francois'
    """
    apart = unicodedata.normalize("NFD", word.lower())
    return "".join(c for c in apart if "a" <= c <= "z")


def _words(name: str) -> set[str]:
    """The words of a name, split at signs and capitals, and again as if it were in lower case.

    >>> sorted(_words("DateOfBirth"))
    ['birth', 'date', 'dateofbirth', 'of']
    """
    return {*header_words(name), *header_words(name.lower())}


def _of_years(name: str, dates: pl.Series) -> Content | None:
    """Dates of birth, by the column's name or because they span a lifetime."""
    years = dates.dt.year() if dates.dtype.is_temporal() else dates
    known = years.filter((years >= 1890) & (years <= 2100)).sort()
    if known.len() < MOSTLY * years.len() or not known.len():
        return None
    # From the 5th to the 95th percentile, so that a few wrong dates do not make a lifetime.
    first, last = known[known.len() // 20], known[-1 - known.len() // 20]
    if _words(name) & _BIRTH or (last - first >= LIFETIME and not _are_in_step(dates)):
        return Content("birth", "dates of birth")
    return None


def _are_in_step(dates: pl.Series) -> bool:
    """Whether dates are a series, each once and in equal steps, like those of prices.

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
    """Latitudes and longitudes: numbers with many decimals, recognised by the column's name."""
    if not is_place(column):
        return None
    present = column.alias("").drop_nulls()
    # Two decimals of a degree are about a kilometre: coarser ones name no address.
    fine = int(((present * 100).round() / 100 != present).sum()) >= 0.5 * present.len()
    return Content("coordinates", "coordinates") if fine else None


def is_place(column: pl.Series) -> bool:
    """Whether a column is a latitude or longitude by its name and range, at any precision.

    >>> is_place(pl.Series("long", [-73.9, 2.3])), is_place(pl.Series("how_long", [1200.5]))
    (True, False)
    """
    if not column.dtype.is_numeric() or not _words(column.name) & _PLACES:
        return False
    present = column.alias("").drop_nulls()
    return present.len() > 0 and bool((present.abs() <= 180).all())
