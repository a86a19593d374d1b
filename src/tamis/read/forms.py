"""How numbers and dates are written in the columns of a text file.

Numbers may have a decimal comma, and points, commas, blanks or apostrophes between thousands. One
currency or percent sign may stand beside all numbers of a column, and is removed. Dates may have
the day, the month or the year first. A form is accepted only if every value of a column fits it.
1.234 and 03/04/2021 are ambiguous: other values and columns of the same file decide, and if none
does, an error asks. Two defaults need no evidence: in a comma-separated file 1.234 has a decimal
point, and in any file 03.04.2021 has the day first.

Cells are rewritten in one form (1234.5, 2021-04-03) before `tamis.read.types` sees them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple

import polars as pl

from tamis.errors import InputError, listed, listed_as
from tamis.read.dialect import Dialect
from tamis.table import bare

_SAMPLE = 1000
_BETWEEN = {
    "": "",
    ".": r"\.",
    ",": ",",
    " ": "[ \u00a0\u202f]",  # no-break blanks, too, as spreadsheets write them
    "'": "['\u2019]",
}
"""Patterns of what may separate thousands."""
_MARK_WORDS = {".": "points", ",": "commas", " ": "blanks", "'": "apostrophes"}


class NumberForm(NamedTuple):
    """Decimal mark, thousands separator and unit sign of a number."""

    decimal: str
    thousands: str
    unit: str = ""

    @property
    def pattern(self) -> str:
        mark = "," if self.decimal == "," else r"\."
        whole = "[0-9]+"
        if self.thousands:
            whole += f"|[1-9][0-9]{{0,2}}(?:{_BETWEEN[self.thousands]}[0-9]{{3}})+"
        return rf"^-?(?:(?:{whole})(?:{mark}[0-9]*)?|{mark}[0-9]+)(?:[eE][+-]?[0-9]+)?$"

    def rewrite(self, cells: pl.Series) -> pl.Series:
        """Rewrite cells of this form plainly, as 1234.5.

        >>> NumberForm(",", ".").rewrite(pl.Series(["1.234,5", "-7"])).to_list()
        ['1234.5', '-7']
        >>> NumberForm(".", ",", "$").rewrite(pl.Series(["$1,234.50", "-$7"])).to_list()
        ['1234.50', '-7']
        """
        cells = _without_unit(cells.str.strip_chars(), self.unit)
        if self.thousands:
            cells = cells.str.replace_all(_BETWEEN[self.thousands], "")
        return cells.str.replace(",", ".", literal=True) if self.decimal == "," else cells


def _without_unit(cells: pl.Series, unit: str) -> pl.Series:
    if not unit:
        return cells
    return cells.str.replace(rf"^(-?)[{unit}]\s?|\s?[{unit}]$", "${1}")


PLAIN = NumberForm(".", "")
_NUMBERS = {
    mark: tuple(NumberForm(mark, between) for between in ("", other, " ", "'"))
    for mark, other in ((".", ","), (",", "."))
}
"""The forms of numbers by decimal mark; the one without thousands, the simplest, comes first."""

_TIMES = ("", "[ T][0-9]{1,2}:[0-9]{2}", r"[ T][0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?")
_ORDERS = {"dmy": (2, 1, 0), "mdy": (2, 0, 1), "ymd": (0, 1, 2)}
_ORDER_WORDS = {
    "dmy": "day{0}month{0}year",
    "mdy": "month{0}day{0}year",
    "ymd": "year{0}month{0}day",
}


class DateForm(NamedTuple):
    """Separator of the parts of a date, pattern of its time of day, whether the year is first."""

    between: str
    time: str
    year_first: bool

    @property
    def pattern(self) -> str:
        mark, short, year = f"[{self.between}]", "([0-9]{1,2})", "([0-9]{4})"
        parts = (year, short, short) if self.year_first else (short, short, year)
        return f"^{mark.join(parts)}({self.time})$"

    def rewrite(self, cells: pl.Series, order: str) -> pl.Series:
        """Rewrite cells of this form as ISO dates.

        >>> DateForm(".", "", False).rewrite(pl.Series(["3.5.2021"]), "dmy").to_list()
        ['2021-05-03']
        """
        groups = cells.str.strip_chars().str.extract_groups(self.pattern).struct.unnest()
        parts = groups.get_columns()
        year, month, day = (parts[i].str.zfill(2) for i in _ORDERS[order])
        time = parts[3].str.replace("^[ T]([0-9]):", " 0${1}:").str.replace("^T", " ")
        return year + "-" + month + "-" + day + time


_DATES = [DateForm("./-"[i], time, False) for i in range(3) for time in _TIMES]
_DATES += [DateForm(mark, time, True) for mark in "./" for time in _TIMES]


@dataclass
class ColumnForms:
    """The forms that fit every value of a text column so far; cells come in batches."""

    name: str
    numbers: set[NumberForm] = field(
        default_factory=lambda: {form for forms in _NUMBERS.values() for form in forms}
    )
    marked: bool = False
    """Whether some value has a point or a comma."""
    unit: str = ""
    """The sign beside every number, or ""."""
    date: DateForm | None = None
    orders: set[str] = field(default_factory=set)
    _began: bool = False

    def see(self, cells: pl.Series) -> None:
        """Take the next cells into account."""
        present = bare(cells).drop_nulls().str.strip_chars()
        if not present.len() or not (self.numbers or self.orders or not self._began):
            return
        if not self._began:
            self._begin(present)
        self._see_numbers(present)
        if self.date is not None and self.orders:
            self._see_dates(self.date, present)

    def _begin(self, present: pl.Series) -> None:
        """Test a sample first: most columns are words, which it rules out cheaply."""
        self._began = True
        sample = present.head(_SAMPLE)
        first = sample.head(1)
        self.unit = first.str.extract(f"([{UNITS}])")[0] or ""
        self._see_numbers(sample)
        matching = (form for form in _DATES if first.str.contains(form.pattern).all())
        self.date = next(matching, None)
        if self.date is not None:
            self.orders = {"ymd"} if self.date.year_first else {"dmy", "mdy"}
            self._see_dates(self.date, sample)

    def _see_numbers(self, present: pl.Series) -> None:
        if self.unit and self.numbers:
            if not (present.str.count_matches(f"[{self.unit}]") == 1).all():
                self.numbers = set()
            present = _without_unit(present, self.unit)
        if not self.numbers or not _any_whole_missing(present):
            return
        self.marked = self.marked or bool(present.str.contains("[.,]").any())
        for forms in _NUMBERS.values():
            open_forms = [form for form in forms if form in self.numbers]
            # Values that all fit the form without thousands fit those with them, too.
            if open_forms and not present.str.contains(forms[0].pattern).all():
                lost = [f for f in open_forms if not present.str.contains(f.pattern).all()]
                self.numbers.difference_update(lost)

    def _see_dates(self, form: DateForm, present: pl.Series) -> None:
        if not present.str.contains(form.pattern).all():
            self.orders = set()
            return
        if form.year_first:
            return
        parts = present.str.extract_groups(form.pattern).struct.unnest().get_columns()[:2]
        # A number above 12 is no month, so it shows which part is the day.
        first, second = (part.cast(pl.Int32) > 12 for part in parts)
        if first.any():
            self.orders.discard("mdy")
        if second.any():
            self.orders.discard("dmy")

    @property
    def marks(self) -> set[str]:
        """The decimal marks by which all values are numbers; empty if no value has either mark."""
        return {form.decimal for form in self.numbers} if self.marked else set()

    def number(self, decimal: str) -> NumberForm | None:
        """The simplest form with this decimal mark."""
        simplest = next((form for form in _NUMBERS[decimal] if form in self.numbers), None)
        return None if simplest is None else simplest._replace(unit=self.unit)


def _any_whole_missing(present: pl.Series) -> bool:
    """Whether some value is not a plain whole number, which every form reads alike."""
    return bool(present.cast(pl.Int64, strict=False).null_count())


Form = NumberForm | tuple[DateForm, str]


@dataclass(frozen=True)
class Forms:
    """The forms to rewrite, by column, and what a note says about how the table was read."""

    columns: Mapping[str, Form]
    words: tuple[str, ...] = ()

    def rewrite(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Rewrite the cells of these columns plainly."""
        return frame.with_columns(
            _rewrite(bare(frame.get_column(name)), form).alias(name)
            for name, form in self.columns.items()
        )


def _rewrite(cells: pl.Series, form: Form) -> pl.Series:
    if isinstance(form, NumberForm):
        return form.rewrite(cells)
    return form[0].rewrite(cells, form[1])


def see_frame(seen: dict[str, ColumnForms], frame: pl.DataFrame, texts: Collection[str]) -> None:
    """Take the next rows of a table into account, except for columns that stay text."""
    for name, kind in frame.schema.items():
        if kind == pl.String and name not in texts:
            seen.setdefault(name, ColumnForms(name)).see(frame.get_column(name))


def decide_forms(seen: Iterable[ColumnForms], dialect: Dialect, separator: str) -> Forms:
    """Decide the form of each column; raises where the file allows two readings."""
    seen = list(seen)
    numbers, decimals = _number_forms(seen, dialect, separator)
    dates = _date_forms(seen, dialect)
    words = [f"decimal {_decimal_word(mark)}" for mark in decimals]
    if dialect.thousands is None:
        between = {form.thousands for form in numbers.values()} - {""}
        words += [f"{_MARK_WORDS[mark]} between thousands" for mark in sorted(between)]
    for unit in sorted({form.unit for form in numbers.values()} - {""}):
        names = [name for name, form in numbers.items() if form.unit == unit]
        words.append(f"{listed_as('column', names)} without {unit}")
    if dialect.dates is None:
        shown = {_ORDER_WORDS[order].format(form.between) for form, order in dates.values()}
        words += [f"dates as {form}" for form in sorted(shown)]
    return Forms({**numbers, **dates}, tuple(words))


def _decimal_word(mark: str) -> str:
    return "comma" if mark == "," else "point"


def _number_forms(
    seen: Collection[ColumnForms], dialect: Dialect, separator: str
) -> tuple[dict[str, NumberForm], list[str]]:
    """The forms of numbers that are not plain, and the decimal marks that a note names."""
    if dialect.thousands is not None:
        for column in seen:
            allowed = ("", dialect.thousands)
            column.numbers = {form for form in column.numbers if form.thousands in allowed}
    sure = {mark: [c for c in seen if c.marks == {mark}] for mark in ",."}
    doubtful = [c for c in seen if len(c.marks) == 2]
    mark = dialect.decimal or _common_mark(sure, doubtful, separator)
    forms = {}
    for column in seen:
        marks = column.marks or {"."}
        own = mark if mark in marks or dialect.decimal else next(iter(marks))
        form = column.number(own) if own else None
        if form is not None and form != PLAIN:
            forms[column.name] = form
    used = {form.decimal for form in forms.values()} | ({"."} if sure["."] else set())
    worth_saying = dialect.decimal is None and "," in used
    return forms, sorted(used) if worth_saying else []


def _common_mark(
    sure: Mapping[str, Collection[ColumnForms]],
    doubtful: Collection[ColumnForms],
    separator: str,
) -> str | None:
    """The decimal mark of the whole file; `None` if columns differ and none is in doubt."""
    marks = [mark for mark, columns in sure.items() if columns]
    if len(marks) == 1:
        return marks[0]
    if not doubtful:
        return None if marks else "."
    if not marks and separator == "," and all(PLAIN in c.numbers for c in doubtful):
        return "."
    names = [c.name for c in doubtful]
    raise InputError(
        f"the numbers in {listed_as('column', names)} can be read in two ways: three digits follow "
        "the point or comma, which may begin a fraction or separate thousands; pass "
        "--decimal comma or --decimal point, or declare them as text in a schema"
    )


def _date_forms(seen: Collection[ColumnForms], dialect: Dialect) -> dict[str, tuple[DateForm, str]]:
    dated = [c for c in seen if c.date is not None and c.orders]
    if dialect.dates is not None:
        dated = [c for c in dated if dialect.dates in c.orders]
        return {c.name: (c.date, dialect.dates) for c in dated if c.date}
    shown = {next(iter(c.orders)) for c in dated if len(c.orders) == 1} - {"ymd"}
    doubtful = [c.name for c in dated if len(c.orders) == 2 and c.date and c.date.between != "."]
    if doubtful and len(shown) != 1:
        raise InputError(
            f"the dates in {listed_as('column', doubtful)} can be read in two ways: no day is "
            "after the twelfth, so that the day or the month may stand first; pass --dates dmy "
            "(day first) or --dates mdy (month first), or declare them as text in a schema"
        )
    # Dates with points have the day first unless a value shows otherwise: month.day.year is rare.
    usual = next(iter(shown)) if len(shown) == 1 else "dmy"
    forms = {}
    for column in dated:
        if column.date is not None:
            order = column.orders if len(column.orders) == 1 else {usual}
            order = {"dmy"} if len(column.orders) == 2 and column.date.between == "." else order
            forms[column.name] = (column.date, next(iter(order)))
    return forms


UNITS = "%\u2030$\u20ac\u00a3\u00a5"
"""Percent, per mille and currency signs, which may stand beside numbers."""
_DIGITS = "-?[0-9][0-9.,' \u00a0\u202f]*"
_SIGNS = f"{UNITS}\u00b0"
_LED = "leading zeros or plus signs"
_REASONS = {
    r"^[+]?[0-9]+(?:[.,][0-9]+)?$": _LED,
    rf"^{_DIGITS}(?:\s?[{_SIGNS}]|\s\p{{L}}{{1,4}}|[kcm]?[gm]|[A-Z]{{3}})$": "numbers with a unit",
    rf"^[{_SIGNS}]\s?{_DIGITS}$": "numbers with a unit",
    r"^[0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{2}$": "dates with years of two digits",
    r"^[0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{4}(?:[ T].*)?$": "dates in several forms",
    r"^[0-9]{4}[./-][0-9]{1,2}[./-][0-9]{1,2}(?:[ T].*)?$": "dates in several forms",
    r"^[0-9]{1,2}[ .-]{0,2}\p{L}{3,9}[ .,-]{0,2}[0-9]{2,4}$": "dates with names of months",
    r"^\p{L}{3,9}[ .]{1,2}[0-9]{1,2},? [0-9]{4}$": "dates with names of months",
    r"^[0-9]{4}[-/.](?:0[1-9]|1[0-2])$": "months without a day",
    r"^(?:0[1-9]|1[0-2])[-/.][0-9]{4}$": "months without a day",
    r"^[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?$": "times without a day",
    rf"^{_DIGITS}$": "numbers, but not all in one form",
}
"""Patterns of what looks like a number or a date but is not read as one, with the reason."""


_PLAIN_DAYS = date(1850, 1, 1), date(2150, 1, 1)
"""Between them, a number of eight digits that is a date is taken for one."""


def why_text(column: pl.Series) -> str:
    """Why a text column stays text though it looks like numbers or dates; empty if it does not.

    Examples
    --------
    >>> why_text(pl.Series(["007", "75011"])), why_text(pl.Series(["12 %", "3 %"]))
    ('leading zeros or plus signs', 'numbers with a unit')
    >>> why_text(pl.Series(["01000", "75011"]))  # all of one length: plainly a code
    ''
    >>> why_text(pl.Series(["yes", "no"]))
    ''
    """
    sample = bare(column).drop_nulls().head(_SAMPLE).str.strip_chars()
    if not sample.len() or not sample.head(20).str.contains("[0-9]").any():
        return ""
    for pattern, reason in _REASONS.items():
        if sample.str.contains(pattern).sum() >= 0.8 * sample.len() and not (
            reason == _LED and not sample.str.contains("^(?:[+]|0[0-9])").any()
        ):
            known = _is_code(sample) if reason == _LED else _told_elsewhere(sample)
            return "" if known else reason
    return ""


def days_unread(column: pl.Series) -> bool:
    """Whether a column holds dates, or months of years, that were not read as such.

    >>> days_unread(pl.Series(["3 May 2021", "29 Jun 2021"])), days_unread(pl.Series(["5 kg"]))
    (True, False)
    >>> days_unread(pl.Series([20210503, 20210629])), days_unread(pl.Series([20219903, 20210629]))
    (True, False)
    """
    if column.dtype.is_integer():
        sample = bare(column).drop_nulls().head(_SAMPLE).cast(pl.String)
        days = sample.filter(sample.str.len_chars() == 8).str.to_date("%Y%m%d", strict=False)
        return sample.len() > 0 and days.is_between(*_PLAIN_DAYS).sum() >= 0.8 * sample.len()
    return column.dtype == pl.String and why_text(column).startswith(("dates", "months"))


def _is_code(sample: pl.Series) -> bool:
    """Whether digits form a code such as a ZIP: all of one length, padded with leading zeros."""
    return sample.str.len_chars().n_unique() == 1


def _told_elsewhere(sample: pl.Series) -> bool:
    """Whether `tamis.read.types` warns of a few texts among plain numbers, with better advice."""
    odd = sample.filter(~sample.str.contains(PLAIN.pattern))
    return 0 < odd.len() <= 0.2 * sample.len() and odd.n_unique() <= 3


def words_of_texts(frame: pl.DataFrame, known: Collection[str]) -> str:
    """Message about columns that look like numbers or dates and are read as text.

    `known` names those that were reported already, or that the caller wants as text.
    """
    texts = [c for c, kind in frame.schema.items() if kind == pl.String and c not in known]
    reasons: dict[str, list[str]] = {}
    for name in texts:
        if reason := why_text(frame.get_column(name)):
            reasons.setdefault(reason, []).append(name)
    if not reasons:
        return ""
    parts = [f"{listed(names)} ({reason})" for reason, names in reasons.items()]
    return (
        f"read as text, though it looks like numbers or dates: {'; '.join(parts)}; if these should "
        "be numbers or dates, write them plainly (1234.5, 2031-05-17), or declare those with "
        "leading zeros as number in a schema; --missing names a text that means missing"
    )
