"""Columns that identify rows or people: direct identifiers, values that hardly repeat, keys.

Such a column must not be released by oversight. So it is refused until the data holder
has said what it is for; measured fractions hardly repeat by nature and only cause a warning.
`guess_columns` drafts what all columns seem to be for, for a person to correct. `safe_harbour` goes
through the eighteen identifiers of HIPAA.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from tamis.errors import InputError, TamisWarning, listed_as
from tamis.read.identifiers import Kind, content_of, is_whole
from tamis.table import Table

LEAST = 20
"""Rows, and distinct values, below which chance alone makes columns look like keys."""
NEARLY = 0.95
"""The share of distinct values at which a column has a different one in nearly every row."""
NEARLY_TEXTS = 0.9
"""The same for text, which is less likely than measured numbers to differ by chance."""
STEADY = 0.9
"""The share of equal steps at which numbers count as a sequence, even if it restarts."""
BANDS = 5
"""Row numbers in this many bands of equal length, or more, are still recognised."""
BEGINNING = 1000
"""The first rows, which tell at once that most columns are not sorted."""
NINE_DIGITS = 10**8
"""The smallest number of nine digits: shorter ones hardly name people."""
OFTEN = 0.01
"""Distinct values per row at which a column named like a key counts as one."""

UNIQUE = "a different value in nearly every row"
ORDER = "follows the order of the rows"
KEY = "looks like a key by name and values"

_PEOPLE = {
    "patient", "person", "people", "subject", "customer", "client", "user", "member",
    "employee", "student", "participant", "respondent", "citizen", "voter", "ssn", "nhs", "nin",
    "sin", "mrn", "npi", "passport", "email", "mail", "phone", "telephone", "mobile", "iban",
    "username", "surname", "firstname", "lastname", "fullname", "forename",
}  # fmt: skip
"""Words for people, and for things that identify them."""
_KEYS = {
    "id", "ids", "uuid", "guid", "key", "index", "idx", "name", "hash",
}  # fmt: skip
"""What the names of keys end in."""
_COUNTED = {
    "no", "nr", "nbr", "num", "number", "code", "address",
}  # fmt: skip
"""What may accompany a word for people."""
_ROWS = {
    "row", "rows", "rowname", "rownames", "rownumber", "record",
}  # fmt: skip
"""Words for rows."""
_SHAPES = (
    r"^[^@\s]+@[^@\s]+\.[^@\s]+$",
    r"^[0-9]{3}-[0-9]{2}-[0-9]{4}$",
    r"^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$",
    r"^[0-9]{9,}$",
)
TARGETS = ("class", "target", "label", "outcome", "y")
"""What targets are often called."""
MOST_CLASSES = 20
"""The most values that a column may have to be taken for the target."""


def refuse_unstated_identifiers(table: Table) -> None:
    """Refuse a table with columns that could identify people and have no stated role.

    Measured fractions that hardly repeat only cause a warning.
    """
    found = unstated_identifiers(table)
    if found:
        raise InputError(
            f"{_described(found)} could identify people; say what it is for: --identifier or "
            "--drop never releases it, --quasi protects it by k, --feature releases it as an "
            "ordinary column that you have checked"
        )
    warn_of_fractions(table)


def warn_of_unstated_identifiers(table: Table) -> None:
    """Warn about what `refuse_unstated_identifiers` refuses, and about measured fractions."""
    if found := unstated_identifiers(table):
        _warn(
            f"{_described(found)} could identify people; before you release anything, say what it "
            "is for with --identifier, --drop, --quasi or --feature"
        )
    warn_of_fractions(table)


def warn_of_fractions(table: Table) -> None:
    """Warn about features of measured fractions that hardly repeat."""
    if fractions := [c for c in _open(table) if _hardly_repeats(table, c)]:
        _warn(
            f"{listed_as('column', fractions, 'has', 'have')} fractions that hardly repeat: "
            "anyone who knows one of them exactly can find the row; round them, or name those that "
            "an attacker may know with --quasi"
        )


def unstated_identifiers(table: Table) -> dict[str, str]:
    """The features that could identify people and have no stated role, each with the reason.

    >>> frame = pl.DataFrame({"who": range(100, 130), "ill": ["no", "yes"] * 15})
    >>> unstated_identifiers(Table(frame))
    {'who': 'a different value in nearly every row'}
    """
    found = {c: identifying(table.frame.get_column(c)) for c in _open(table)}
    return {name: why for name, why in found.items() if why}


def identifying(column: pl.Series) -> str:
    """Why a column could identify people, by its content or its form; empty if it does not."""
    looks = content_of(column)
    return identifying_form(column) if looks is None else f"looks like {looks.words}"


def identifying_form(column: pl.Series) -> str:
    """Why a column identifies rows or people, by its form alone; empty if it does not seem to."""
    # Nameless: a name such as "^a.*$" is a pattern to most methods of a polars series.
    present = _comparable(column.alias("")).drop_nulls()
    distinct = present.n_unique()
    if present.len() < LEAST or distinct < BANDS:
        return ""
    nearly = NEARLY if present.dtype.is_numeric() else NEARLY_TEXTS
    if (whole := is_whole(present)) and distinct >= nearly * present.len():
        return UNIQUE
    if _in_order(present, distinct):
        return ORDER
    return KEY if whole and distinct >= LEAST and _is_key(column.name, present, distinct) else ""


def _open(table: Table) -> list[str]:
    """The features without a stated role."""
    said = {*table.roles.plain, *(table.roles.quasi or ())}
    return [c for c in table.features if c not in said]


def _comparable(column: pl.Series) -> pl.Series:
    return column.cast(pl.String) if column.dtype in (pl.Categorical, pl.Enum) else column


def _hardly_repeats(table: Table, name: str) -> bool:
    column = table.frame.get_column(name)  # a schema is made anew, of all columns
    if not column.dtype.is_float():
        return False
    present = column.alias("").drop_nulls()
    often = present.len() >= LEAST and present.n_unique() >= NEARLY * present.len()
    return often and not is_whole(present)


def _in_order(present: pl.Series, distinct: int) -> bool:
    # A few rows tell of most columns that they are in no order.
    sorted_ = _is_sorted(present.head(BEGINNING)) and _is_sorted(present)
    if distinct >= LEAST:
        return sorted_ or _is_counted(present)
    return sorted_ and _in_bands(present)


def _is_sorted(present: pl.Series) -> bool:
    before, after = present.head(-1), present.tail(-1)
    return bool((before <= after).all()) or bool((before >= after).all())


def _is_counted(present: pl.Series) -> bool:
    """Whether nearly all steps from row to row are equal, as in a sequence that restarts."""
    if not present.dtype.is_numeric():
        return False
    steps = present.cast(pl.Float64).diff().drop_nulls()
    middle = steps.median()  # a step that most are equal to
    return bool(middle != 0 and (steps == middle).sum() >= STEADY * steps.len())


def _in_bands(present: pl.Series) -> bool:
    """Whether a few ascending values form runs of one length, as row numbers in bands do.

    A column the file is sorted by has runs of different lengths, as its values vary in frequency.
    """
    if not present.dtype.is_numeric():
        return False
    runs = present.cast(pl.Float64).rle().struct.unnest()
    lengths, steps = runs["len"].head(-1), runs["value"].diff().drop_nulls()
    return lengths.n_unique() == 1 and steps.n_unique() == 1


def _is_key(name: str, present: pl.Series, distinct: int) -> bool:
    words = _words(name)
    if _names_people(words) or _shaped(present):
        return True
    named = bool(words) and (words[-1] in _KEYS or set(words) <= _ROWS)
    return named and distinct >= OFTEN * present.len()


def _names_people(words: list[str]) -> bool:
    """Whether a name says only who: patient, patient_nbr, but not patient_age."""
    return bool(_PEOPLE & set(words)) and set(words) <= _PEOPLE | _KEYS | _COUNTED


def _words(name: str) -> list[str]:
    """The words of a name.

    >>> _words("PatientID"), _words("patient_nbr")
    (['patient', 'id'], ['patient', 'nbr'])
    """
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return re.findall(r"[a-z]+", apart.lower())


def _shaped(present: pl.Series) -> bool:
    """Whether nearly all values look like e-mail addresses, personal numbers or hashes."""
    if present.dtype.is_numeric():
        return bool((present >= NINE_DIGITS).sum() >= STEADY * present.len())
    found = present.cast(pl.String).value_counts(name="n")
    texts, counts = found.to_series(0), found["n"]
    most = STEADY * present.len()
    return any(counts.filter(texts.str.contains(shape)).sum() >= most for shape in _SHAPES)


def _described(found: dict[str, str]) -> str:
    most = 8
    shown = ", ".join(f"{name!r} ({why})" for name, why in list(found.items())[:most])
    more = f" and {len(found) - most} more" if len(found) > most else ""
    return f"column {shown}{more}"


def _warn(message: str) -> None:
    warnings.warn(message, TamisWarning, stacklevel=4)


@dataclass(frozen=True)
class ColumnGuess:
    """One column: what it contains, and what it looks like."""

    name: str
    kind: str
    distinct: int
    missing: int
    looks: str
    """"identifier", "order" (of the rows), "constant", "target" or nothing."""
    content: str = ""
    """The direct identifier that its values look like, in words, or nothing."""


def guess_columns(table: Table) -> list[ColumnGuess]:
    """Look at every column.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"who": [f"P{i}" for i in range(40)], "class": ["a", "b"] * 20})
    >>> [(c.name, c.looks) for c in guess_columns(Table(frame))]
    [('who', 'identifier'), ('class', 'target')]
    """
    target = table.roles.target or likely_target(table)
    return [_column(table, name, target) for name in table.frame.columns]


def likely_target(table: Table) -> str | None:
    """A column named like a target, else the last one, if it has few values and none missing."""
    names = table.frame.columns
    named = [c for c in names if c.lower() in TARGETS]
    for name in (*named, names[-1]):
        column = table.frame.get_column(name)
        if not column.null_count() and 2 <= column.n_unique() <= MOST_CLASSES:
            return name
    return None


def _column(table: Table, name: str, target: str | None) -> ColumnGuess:
    column = table.frame.get_column(name)
    distinct = column.alias("").drop_nulls().n_unique()
    looks, content = "", content_of(column)
    if name == target:
        looks = "target"
    elif distinct <= 1 and not column.null_count():
        looks = "constant"
    elif name in table.roles.identifiers:
        looks = "identifier"
    elif name not in (*table.roles.named(), *table.roles.plain):
        why = identifying_form(column)
        looks = "order" if why == ORDER else "identifier" if why or content else ""
    words = "" if content is None else content.words
    return ColumnGuess(name, table.kind(name), distinct, column.null_count(), looks, words)


class ListedColumn(NamedTuple):
    """A column, and why it is on the list."""

    column: str
    why: str


@dataclass(frozen=True)
class HarbourItem:
    """One of the eighteen identifiers of HIPAA's safe harbour, and where it was found."""

    number: int
    what: str
    found: tuple[ListedColumn, ...]


class _Listed(NamedTuple):
    what: str
    kinds: tuple[Kind, ...] = ()
    words: str = ""


_LIST = (
    _Listed("names", ("person",), "surname|firstname|lastname|fullname|forename|maiden"),
    _Listed(
        "places smaller than a state",
        ("address", "coordinates"),
        "zip|zipcode|postcode|postal|plz|city|town|county|district|street|address|parish|commune",
    ),
    _Listed("dates other than years, ages over 89", ("birth",)),
    _Listed("telephone numbers", ("phone",), "phone|telephone|mobile|cell"),
    _Listed("fax numbers", (), "fax|telefax"),
    _Listed("e-mail addresses", ("email",), "email|mail"),
    _Listed("social security numbers", ("national",), "ssn|nin|nir"),
    _Listed("medical record numbers", (), "mrn|medrec|chart"),
    _Listed("health plan numbers", (), "beneficiary|medicare|medicaid|hicn|insured"),
    _Listed("account numbers", ("account",), "iban|account|card"),
    _Listed("certificate and licence numbers", (), "licence|license|certificate|passport|npi"),
    _Listed("vehicle identifiers", ("vehicle",), "vin|plate|registration"),
    _Listed("device identifiers", ("device",), "imei|serial|udid|mac"),
    _Listed("web addresses", ("url",), "url|website|homepage"),
    _Listed("IP addresses", ("ip",), "ip|ipaddress"),
    _Listed("biometric identifiers", (), "fingerprint|retina|voiceprint|biometric"),
    _Listed("photographs of faces", (), "photo|photograph|portrait|selfie"),
    _Listed("any other unique number or code"),
)
OLDEST = 89
"""Ages above are identifiers of their own."""


def safe_harbour(table: Table) -> tuple[HarbourItem, ...]:
    """The eighteen identifiers of HIPAA's safe harbour, 45 CFR 164.514(b)(2), as a check-list.

    All columns are looked at, by their values and names, but those that are never released. That
    nothing was found is no proof that nothing is there: photographs and biometric data, for one,
    are known by their names alone.

    Parameters
    ----------
    table : Table

    Returns
    -------
    tuple of HarbourItem
        In the order of the rule.

    Examples
    --------
    >>> frame = pl.DataFrame({"age": [31, 95], "mail": ["a@example.org", "b@example.org"]})
    >>> for item in safe_harbour(Table(frame)):
    ...     for column, why in item.found:
    ...         print(item.number, item.what, column, why)
    3 dates other than years, ages over 89 age ages over 89
    6 e-mail addresses mail e-mail addresses
    """
    found: list[list[ListedColumn]] = [[] for _ in range(len(_LIST) + 1)]
    for name in table.frame.columns:
        if name not in table.roles.identifiers:
            number, why = _placed(table.frame.get_column(name))
            found[number].append(ListedColumn(name, why))
    return tuple(
        HarbourItem(number, asked.what, tuple(found[number]))
        for number, asked in enumerate(_LIST, start=1)
    )


def _placed(column: pl.Series) -> tuple[int, str]:
    """The number on the list and why; 0 if the column is not on it."""
    words = _words(column.name)
    if looks := content_of(column):
        if looks.kind == "phone" and "fax" in words:
            return 5, looks.words
        kinds = (looks.kind in asked.kinds for asked in _LIST)
        return next(n for n, has in enumerate(kinds, start=1) if has), looks.words
    if column.dtype in (pl.Date, pl.Datetime):
        return 3, "dates"
    if "age" in words and column.dtype.is_numeric():
        oldest = column.alias("").max()
        if isinstance(oldest, int | float) and OLDEST < oldest < 130:
            return 3, f"ages over {OLDEST}"
    if not is_whole(column.alias("").drop_nulls()):  # measured, whatever it is called
        return 0, ""
    for number, asked in enumerate(_LIST, start=1):
        if set(words) & set(asked.words.split("|")):
            return number, "by its name"
    why = identifying_form(column)
    return (len(_LIST), why) if why else (0, "")
