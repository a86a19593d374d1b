"""Where ladders come from: csv files and descriptions, or tamis where nobody wrote any.

A csv file is one as users of ARX have it: ``value;level 1;...;*``, a line a value.

What tamis makes is for people to read and correct. Numbers become intervals with round ends, codes
such as ZIP their first characters, dates parts of the calendar, and of other values the rare ones
become "other". No end is chosen for being someone's value, and no interval is made and no value
kept for fewer than k people.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.coarsen.calendar import UNITS, Calendar, unit_start
from tamis.coarsen.intervals import Cuts, Multiples, Widths, end_at, on_axis, only_words
from tamis.coarsen.ladder import NOTHING, Form, Ladder
from tamis.coarsen.value_groups import (
    CommonValues,
    Prefixes,
    ValueGroups,
    plain_text,
    unlisted_label,
)
from tamis.cuts import K, all_whole, fewest_digits, quantile_cuts
from tamis.errors import InputError, listed, plural
from tamis.people import People, PeopleLike
from tamis.read.text import file_at, read_bytes, read_utf8
from tamis.read.types import EXACT
from tamis.table import Table, bare, kind_of

MOST_INTERVALS = 20
"""The most intervals of equal width at the finest level."""
PARTS = 16
"""Intervals at the finest level where equal widths do not fit."""
LARGEST_SHARE = 1 / 2
"""The largest share of the rows that one interval of equal width may hold."""
TAILS: tuple[tuple[float, ...], ...] = ((0.02, 0.05, 0.1), (0.2,))
"""The shares of the rows that open intervals hold at least, as levels of each width rise."""
DATE_TAILS = (0.0, 0.02, 0.05, 0.1)
"""The same of dates, whose units get coarser anyway."""
NAMED = 40
"""The most values that keep their name."""
CODES = 20
"""Codes are told by their values where there are at least so many different ones."""
DIGITLESS = 31
"""A learner tells so many numbers of a column apart; columns of no more lose no digits."""
FEWEST_STEPS = 10
"""The fewest different numbers that are left where digits go."""
DIGITS = 4
"""The most steps of a ladder: what is below the finest of them is a thousandth of what teaches."""
DECIMALS = 9
"""The finest step, as a power of ten below 1."""
_POSTAL = re.compile(r"zip|postal|post_?code|postleitzahl|plz", re.IGNORECASE)
_CODE = r"^[0-9]{3,10}$"

Values = NDArray[np.float64]


def ladders_of(
    table: Table,
    given: Mapping[str, Ladder] | None = None,
    columns: Iterable[str] | None = None,
    *,
    k: int = K,
) -> dict[str, Ladder]:
    """The ladder of each column: the given one, or else one made from the column.

    Parameters
    ----------
    table : Table
    given : mapping of column to Ladder, optional
    columns : names, optional
        By default the quasi-identifiers.
    k : int
        The fewest people in an interval, or with a value that keeps its name.

    Examples
    --------
    >>> table = Table(pl.DataFrame({"on": ["a"] * 9 + ["b"] * 6 + ["c", "d"] * 3}))
    >>> ladders_of(table, k=5)["on"].to_dict()
    {'common': [['a', 'b'], ['a']]}
    """
    given = given or {}
    wanted = table.quasi if columns is None else tuple(columns)
    if unknown := [name for name in (*given, *wanted) if name not in table.frame.columns]:
        raise InputError(
            f"no column {listed(unknown)} to make coarser; the columns of the table are "
            f"{listed(table.frame.columns, most=30)}"
        )
    made = (c for c in wanted if c not in given)
    drafts = {c: draft_ladder(table.frame.get_column(c), k, table.people) for c in made}
    return {c: given[c] if c in given else drafts[c] for c in wanted}


def draft_ladder(column: pl.Series, k: int = K, people: PeopleLike = None) -> Ladder:
    """A ladder for a column, from its values.

    >>> draft_ladder(pl.Series("zip", ["01000", "01010", "75011"]), k=1).to_dict()
    {'keep': [4, 3, 2, 1]}
    >>> draft_ladder(pl.Series("age", range(18, 90)), k=5).to_dict()
    {'width': [5, 5, 10, 10, 20], 'bottom': [25, 30, 30, 40, 40], 'top': [85, 80, 80, 70, 70], 'whole': True}
    """  # noqa: E501
    cells = bare(column)
    present = cells.is_not_null()
    whose = People.named(people, column.len())[present.to_numpy()]
    return Ladder(column.name, _form(column.name, cells.filter(present), k, whose))


def digit_ladder(column: pl.Series) -> Ladder | None:
    """Steps by which numbers lose digits, if they have more than a learner tells apart.

    Powers of ten, the coarsest one such that `FEWEST_STEPS` different numbers are left: coarser
    ones would be intervals, which `draft_ladder` makes, and finer ones next to all values.

    >>> digit_ladder(pl.Series("income", range(20_000, 31_000, 7))).to_dict()
    {'step': [10, 100, 1000]}
    >>> digit_ladder(pl.Series("children", [0, 1, 2, 3]))
    """
    cells = bare(column).drop_nulls()
    if not cells.dtype.is_numeric() or cells.dtype == pl.Boolean or cells.n_unique() <= DIGITLESS:
        return None
    values = np.unique(cells.cast(pl.Float64).to_numpy())
    if not np.abs(values).max() < EXACT:  # nor of what is no number
        return None
    span = float(values[-1] - values[0])
    groups, steps = len(values), list[float]()
    for power in range(int(np.floor(np.log10(span))), -DECIMALS - 1, -1):
        step = float(f"1e{power}")
        left = len(np.unique(np.floor(values / step)))
        if left >= groups or len(steps) == DIGITS:
            break
        if left >= FEWEST_STEPS:
            steps.append(step)
    return Ladder(column.name, Multiples(tuple(reversed(steps)))) if steps else None


def _form(name: str, cells: pl.Series, k: int, people: People) -> Form:
    if kind_of(cells.dtype) == "date":
        return _calendar(cells, k, people)
    if codes := _code_lengths(name, cells):
        return Prefixes(codes)
    if cells.dtype.is_numeric():
        return _intervals(cells.cast(pl.Float64).to_numpy(), k, people)
    return _common(plain_text(cells), k, people)


def _calendar(cells: pl.Series, k: int, people: People) -> Form:
    """The units of the calendar that tell fewer groups apart than the one before.

    Where the first or the last part has too few people, it is merged with those beside it until k
    fits, and more of them as units get coarser.
    """
    units, groups = [], cells.n_unique()
    for unit in ("hour",) if cells.dtype == pl.Time else UNITS:
        found = Calendar((unit,)).labels(cells, 1).n_unique()
        if 1 < found < groups:
            units.append(unit)
            groups = found
    if not units or cells.dtype == pl.Time:
        return Calendar(tuple(units)) if units else _NO_STEPS
    levels = _calendar_tails(cells.cast(pl.Date), units, k, people)
    if not levels:
        return Calendar(tuple(units))
    ends = ([end for end in each if end is not None] for each in zip(*levels))
    return Calendar(tuple(units[: len(levels)]), *(tuple(each) or None for each in ends))


def _calendar_tails(
    days: pl.Series, units: Sequence[str], k: int, people: People
) -> list[tuple[float | None, float | None]]:
    """Where the tails of each unit begin, at the first day of one; none if no tail is thin.

    Units of which no part is left between the tails are not among them.
    """
    levels: list[tuple[float | None, float | None]] = []
    for unit, share in zip(units, itertools.chain(DATE_TAILS, itertools.repeat(DATE_TAILS[-1]))):
        first_days = [float(unit_start(day, unit).toordinal() - 1) for day in days]
        starts, place = np.unique(first_days, return_inverse=True)
        found = _tails(starts, place, max(k, ceil(share * len(days))), people)
        if found is None:
            return levels
        low, high = levels[-1] if levels else found
        if not levels:
            thin = [people.among(place == i) < k for i in (0, len(starts) - 1)]
            low, high = (end if is_thin else None for end, is_thin in zip(found, thin))
            if low is None and high is None:
                return []
        else:  # an end within a part of a coarser unit goes to the edge of that part
            low = None if low is None else max(found[0], _edge(starts, low, 1))
            high = None if high is None else min(found[1], _edge(starts, high, 0))
        if (-np.inf if low is None else low) >= (np.inf if high is None else high):
            return levels
        levels.append((low, high))
    return levels


def _edge(starts: Values, end: float, after: int) -> float:
    """An end at the start of a part of the calendar: of the next one, or of the one it lies in."""
    place = int(np.searchsorted(starts, end, side="right")) - 1
    if starts[place] == end:
        return end
    return float(starts[place + after]) if place + after < len(starts) else np.inf


_NO_STEPS = CommonValues(())
"""For a column that has nothing between its values and nothing at all."""


def _code_lengths(name: str, cells: pl.Series) -> tuple[int, ...]:
    """How many characters of a code to keep at each level; none if the column has no codes."""
    postal = _POSTAL.search(name) is not None
    if cells.is_empty() or not (cells.dtype == pl.String or (postal and cells.dtype.is_integer())):
        return ()
    texts = plain_text(cells)
    lengths = texts.str.len_chars()
    digits = texts.n_unique() >= CODES and bool(texts.str.contains(_CODE).all())
    if not (postal or digits) or lengths.min() != lengths.max():
        return ()
    return tuple(range(int(lengths[0]) - 1, 0, -1))


def _intervals(values: Values, k: int, people: People) -> Form:
    form = next(_equal_widths(values, k, people), None)
    if form is not None:
        return form
    # Mirrored, since an interval here contains its lower end, and there its upper one.
    found = reversed(quantile_cuts(-values, PARTS, k=k, people=people))
    cuts = [_plain_cut(-cut, values) for cut in found]
    whole = all_whole(values)
    # Between whole numbers, a cut is as good at the next whole one.
    cuts = [float(np.ceil(cut)) for cut in cuts] if whole else cuts
    levels = []
    while cuts and len(cuts) + 1 < len(np.unique(values)):
        levels.append(tuple(cuts))
        cuts = cuts[1::2]
    return Cuts(tuple(levels), whole=whole) if levels else _NO_STEPS


def _plain_cut(cut: float, values: Values) -> float:
    """The same cut without a sign of zero, and not as the smallest number above zero."""
    if not 0 < abs(cut) < np.finfo(np.float64).tiny:
        return cut + 0.0
    below, above = values[values < cut].max(), values[values >= cut].min()
    low, high = np.nextafter([below, above], np.inf)
    return fewest_digits(low, high, above)


def _equal_widths(values: Values, k: int, people: People) -> Iterator[Widths]:
    """Intervals of a round width, finest first, that have k people each and are not lopsided."""
    if len(values) == 0 or (span := float(np.ptp(values))) == 0:
        return
    for width in _round_from(span / MOST_INTERVALS):
        if width > span / 3:
            return
        if len(np.unique(np.floor(values / width))) >= len(np.unique(values)):
            continue  # no coarser than the values
        edges = _ends(values, width, k, people)
        if edges is not None:
            chain = list(_coarser(width, edges[1] - edges[0]))
            yield _closing_in(chain, edges, values, k, people)


def _closing_in(
    chain: Sequence[float],
    edges: tuple[float, float],
    values: Values,
    k: int,
    people: People,
) -> Widths:
    """Each width with the ends before, then with ends that leave more people in the tails.

    A thin tail would keep the whole column back, where other columns split it further.
    """
    levels = []
    for width, shares in zip(chain, itertools.chain(TAILS, itertools.repeat(()))):
        levels.append((width, *edges))
        starts, place = np.unique(Widths((width,)).ends(values, 1)[0], return_inverse=True)
        for share in shares:
            closer = _tails(starts, place, max(k, ceil(share * len(values))), people) or edges
            low, high = max(closer[0], edges[0]), min(closer[1], edges[1])
            if (low, high) != edges and high - low >= 2 * width:
                edges = low, high
                levels.append((width, *edges))
    widths, *ends = zip(*levels)
    bottom, top = (end if len(set(end)) > 1 else end[0] for end in ends)
    return Widths(widths, bottom=bottom, top=top, dated=False, whole=all_whole(values))


def _tails(
    starts: Values, place: NDArray[np.intp], least: int, people: People
) -> tuple[float, float] | None:
    """The inner ends of open intervals that hold so many people; `None` if nothing lies between."""
    places = range(len(starts))
    first = next((i for i in places if people.among(place <= i) >= least), len(starts))
    last = next((i for i in reversed(places) if people.among(place >= i) >= least), -1)
    return (float(starts[first + 1]), float(starts[last])) if last >= first + 2 else None


def _ends(values: Values, width: float, k: int, people: People) -> tuple[float, float] | None:
    """The inner ends of the two open intervals; `None` if an interval has too few or too many."""
    starts, place = np.unique(Widths((width,)).ends(values, 1)[0], return_inverse=True)
    if np.isnan(starts).any():
        return None  # too large to be counted in such widths
    found = _tails(starts, place, k, people)
    if found is None:
        return None
    first, last = (int(np.searchsorted(starts, end)) for end in found)
    first -= 1
    if round((starts[last] - starts[first]) / width) > last - first:
        return None  # some interval is empty
    part = np.clip(place, first, last)
    if np.bincount(part).max() > LARGEST_SHARE * len(values):
        return None
    if any(people.among(part == i) < k for i in range(first, last + 1)):
        return None
    return found


def _round_from(least: float) -> Iterator[float]:
    """Round numbers from about `least` up: 1, 2 and 5 times powers of ten."""
    power = int(np.floor(np.log10(least)))
    for exponent in range(power, power + 4):
        for digit in (1, 2, 5):
            number = float(f"{digit}e{exponent}")
            if number >= least:
                yield number


def _coarser(width: float, span: float) -> Iterator[float]:
    """The width, and after each the next round multiple of it, up to half of the whole span."""
    yield width
    while (width := _next_round(width)) <= span / 2:
        yield width


def _next_round(width: float) -> float:
    """From 1 to 2, from 2 to 10, from 5 to 10.

    >>> _next_round(0.2), _next_round(50.0)
    (1.0, 100.0)
    """
    return float(f"{width * (5 if f'{width:e}'[0] == '2' else 2):.12g}")


def _common(texts: pl.Series, k: int, people: People) -> Form:
    """The values of at least k people, then ever fewer of them, the commonest last."""
    kept = _common_values(texts, k, people)
    levels, groups = [], texts.n_unique()
    while kept:
        if len(kept) + 1 < groups:
            levels.append(tuple(sorted(kept)))
            groups = len(kept) + 1
        kept = kept[: len(kept) // 2]
    return CommonValues(tuple(levels))


def _common_values(texts: pl.Series, k: int, people: People) -> list[str]:
    """Values of k people, commonest first; as many as leave k people, or nobody, to the rest."""
    rows = pl.DataFrame({"value": texts, "who": people.codes}).unique()
    counts = rows.group_by("value").len("people")
    counts = counts.sort("people", "value", descending=[True, False])
    kept = counts.filter(pl.col("people") >= k).head(NAMED).get_column("value").to_list()
    while kept and len(kept) < counts.height:
        rest = rows.filter(~pl.col("value").is_in(kept)).get_column("who").n_unique()
        if rest >= k:
            break
        kept.pop()
    return kept


def drawn_in(ladder: Ladder, level: int, cells: pl.Series) -> dict[str, Any] | None:
    """A made ladder without ends or cuts beyond some rows, or between no two of their values.

    `None` where all these rows are alike at the level.

    >>> ages = Ladder.from_dict("age", {"width": [5, 10], "bottom": 25, "top": 85})
    >>> drawn_in(ages, 1, pl.Series([23, 40, 61, 79]))
    {'width': [5, 10], 'bottom': 25}
    """
    if ladder.apply(cells, level).n_unique() < 2:
        return None
    form, present = ladder.form, bare(cells).drop_nulls()
    if isinstance(form, Widths | Calendar) and present.dtype != pl.Time:
        at = on_axis(present, None)
        lowest, highest = float(at.min()), float(at.max())
        bottom, top = end_at(form.bottom, level), end_at(form.top, level)
        return replace(
            form,
            bottom=None if bottom is None or lowest >= bottom else form.bottom,
            top=None if top is None or highest < top else form.top,
        ).to_dict()
    if isinstance(form, Cuts) and not form.dated:
        at = np.unique(present.cast(pl.Float64).to_numpy())
        drawn = _drawn_whole_cut if form.whole else _drawn_cut
        near = {c: drawn(c, at) for level in form.cuts for c in level if at[0] < c <= at[-1]}
        levels = [tuple(dict.fromkeys(near[c] for c in cuts if c in near)) for cuts in form.cuts]
        # Levels keep their numbers: one that has lost all its cuts is as the one before.
        for number in range(1, len(levels)):
            levels[number] = levels[number] or levels[number - 1]
        return Cuts(tuple(levels), whole=form.whole).to_dict()
    return ladder.to_dict()


def _drawn_cut(cut: float, values: Values) -> float:
    """A round cut between the values next to another one."""
    below, above = float(values[values < cut].max()), float(values[values >= cut].min())
    return fewest_digits(
        float(np.nextafter(below, np.inf)), float(np.nextafter(above, np.inf)), cut
    )


def _drawn_whole_cut(cut: float, values: Values) -> float:
    """The same of whole numbers: a whole one."""
    below, above = float(values[values < cut].max()), float(values[values >= cut].min())
    return fewest_digits(below + 1, above + 1, cut)


SEPARATORS = (";", "\t", "|", ",")
_HEADERS = ("leaf", "value", "level0", "level 0", "level-0", "level_0")

Lines = list[list[str]]


def read_ladder(path: str | Path, column: str, *, unlisted: str | None = None) -> Ladder:
    """The ladder of a column from a csv file: on each line a value, then its groups.

    Parameters
    ----------
    path : path
        The separator is a semicolon, tab, bar or comma. A first line that names the column or its
        levels is a header. A last level ``*`` may be left out.
    column : str
    unlisted : str, optional
        The group of values that no line has; by default a table must not have any.

    Returns
    -------
    Ladder

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "jobs.csv")
    ...     _ = file.write_text("cook;manual;*\\nbuilder;manual;*\\njudge;office;*\\n")
    ...     read_ladder(file, "job").to_dict()
    {'groups': [{'manual': ['cook', 'builder'], 'office': ['judge']}]}
    """
    where = f"{path}, the ladder of column {column!r}"
    lines = _split(where, _text(where, path))
    if _is_header(lines, column):
        lines = lines[1:]
    if not lines:
        raise InputError(f"{where}, is empty; it needs a line for each value")
    _check_cells(where, lines)
    if len(lines[0]) > 1 and all(line[-1] == NOTHING for line in lines):
        lines = [line[:-1] for line in lines]
    try:
        return Ladder(column, ValueGroups(tuple(map(tuple, lines)), unlisted))
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def ladder_from(column: str, description: Mapping[str, Any]) -> Ladder:
    """The ladder of a description, which may name a csv file: ``{"file": ..., "unlisted": ...}``.

    >>> ladder_from("zip", {"keep": [3, 2]}).top
    3
    """
    if "file" not in description:
        return Ladder.from_dict(column, description)
    try:
        only_words(description, ("file", "unlisted"))
    except InputError as error:
        raise InputError(f"the ladder of column {column!r}: {error}") from None
    return read_ladder(description["file"], column, unlisted=unlisted_label(description))


def _text(where: str, path: str | Path) -> str:
    if not read_bytes(file_at(path)).strip():
        raise InputError(f"{where}, is empty; it needs a line for each value")
    return read_utf8(path).decode("utf-8")


def _split(where: str, text: str) -> Lines:
    """The lines by the separator that gives each the same number of cells, best with a last *."""
    tried = [(separator, _records(where, text, separator)) for separator in SEPARATORS]
    even = [lines for _, lines in tried if len({len(line) for line in lines}) == 1]
    wide = [lines for lines in even if len(lines[0]) > 1]
    if len(even) == len(tried) and not wide:
        return even[0]  # a file of values alone
    if not wide:
        _refuse_ragged(where, *max(tried, key=lambda each: sum(len(line) > 1 for line in each[1])))
    return max(wide, key=lambda lines: lines[-1][-1] == NOTHING)


def _records(where: str, text: str, separator: str) -> Lines:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        return [[cell.strip() for cell in line] for line in reader if line]
    except csv.Error:
        # Another separator may be the right one: a quote in a cell is then no quote.
        plain = csv.reader(io.StringIO(text), delimiter=separator, quoting=csv.QUOTE_NONE)
        return [[cell.strip() for cell in line] for line in plain if line]


def _refuse_ragged(where: str, separator: str, lines: Lines) -> None:
    width = max(len(line) for line in lines)
    short = [number for number, line in enumerate(lines, start=1) if len(line) < width]
    name = "tab" if separator == "\t" else repr(separator)
    raise InputError(
        f"{where}: {plural(len(short), 'line')} (the first is line {short[0]}) "
        f"{'has' if len(short) == 1 else 'have'} fewer than {width} cells between {name}; give "
        "each value all its levels"
    )


def _is_header(lines: Lines, column: str) -> bool:
    """A first line that names the column or level 0, or alone does not end in a star."""
    first, others = lines[0], lines[1:]
    if first[0].casefold() in (column.casefold(), *_HEADERS):
        return True
    stars = [line[-1] == NOTHING for line in others]
    return len(first) > 1 and bool(stars) and all(stars) and first[-1] != NOTHING


def _check_cells(where: str, lines: Lines) -> None:
    if empty := sum(not cell for line in lines for cell in line):
        raise InputError(
            f"{where}: {plural(empty, 'cell')} {'is' if empty == 1 else 'are'} empty; give each "
            "value all its levels (missing values need no line, they are a group of their own)"
        )
