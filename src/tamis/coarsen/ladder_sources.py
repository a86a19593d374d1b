"""Where ladders come from: csv files, descriptions, or drafts made from the column.

A csv file has the layout that users of ARX know: ``value;level 1;...;*``, a line per value.

Drafts are meant to be read and corrected. Numbers become intervals with round ends, codes such as
ZIP keep their first characters, dates become parts of the calendar, and among other values the rare
ones become "other". No end is chosen because it is someone's value, and no interval is made nor
value named for fewer than k people.
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
"""Intervals of nearly equal counts at the finest level, where equal widths do not fit."""
LARGEST_SHARE = 1 / 2
"""The largest share of the rows that one interval of equal width may hold."""
TAILS: tuple[tuple[float, ...], ...] = ((0.02, 0.05, 0.1), (0.2,))
"""Least shares of the rows in each open interval, level by level: of the first width, the next."""
DATE_TAILS = (0.0, 0.02, 0.05, 0.1)
"""Least share of the rows in each open interval of dates, unit by unit; the last one repeats."""
NAMED = 40
"""The most values that keep their name."""
CODES = 20
"""Texts of digits count as codes only where at least so many are different."""
DIGITLESS = 31
"""Columns with no more different numbers lose no digits: a learner can tell that many apart."""
FEWEST_STEPS = 10
"""The fewest different numbers that must be left after digits are dropped."""
DIGITS = 4
"""The most levels of dropped digits, so that the finest is a thousandth of the coarsest."""
DECIMALS = 9
"""The finest step is ten to the power of minus this."""
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
    """The ladder of each column: the given one, or else a draft made from the column.

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
    """Draft a ladder for a column from its values.

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
    """A ladder of dropped digits, for a column with more numbers than a learner tells apart.

    Steps are powers of ten. The coarsest leaves at least `FEWEST_STEPS` different numbers: a
    coarser one would amount to intervals, which `draft_ladder` makes. The finest still merges some
    values.

    >>> digit_ladder(pl.Series("income", range(20_000, 31_000, 7))).to_dict()
    {'step': [10, 100, 1000]}
    >>> digit_ladder(pl.Series("children", [0, 1, 2, 3]))
    """
    cells = bare(column).drop_nulls()
    if not cells.dtype.is_numeric() or cells.dtype == pl.Boolean or cells.n_unique() <= DIGITLESS:
        return None
    values = np.unique(cells.cast(pl.Float64).to_numpy())
    if not np.abs(values).max() < EXACT:  # written so that NaN is refused, too
        return None
    span = float(values[-1] - values[0])
    groups, steps = len(values), list[float]()
    for power in range(int(np.floor(np.log10(span))), -DECIMALS - 1, -1):
        step = float(f"1e{power}")  # the nearest float to the decimal, which 10.0**power may miss
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
    """A draft for dates: the units of the calendar that leave fewer groups than the one before.

    Where the first or last part has too few people, it is merged with its neighbours until it has
    k; coarser units merge more of them.
    """
    units, groups = [], cells.n_unique()
    for unit in ("hour",) if cells.dtype == pl.Time else UNITS:
        parts = Calendar((unit,)).labels(cells, 1).n_unique()
        if 1 < parts < groups:
            units.append(unit)
            groups = parts
    if not units or cells.dtype == pl.Time:
        return Calendar(tuple(units)) if units else _NO_STEPS
    levels = _calendar_tails(cells.cast(pl.Date), units, k, people)
    if not levels:
        return Calendar(tuple(units))
    bottoms, tops = ([end for end in side if end is not None] for side in zip(*levels))
    return Calendar(tuple(units[: len(levels)]), tuple(bottoms) or None, tuple(tops) or None)


def _calendar_tails(
    days: pl.Series, units: Sequence[str], k: int, people: People
) -> list[tuple[float | None, float | None]]:
    """The ends (bottom, top) for each unit, each the first day of one; empty if no tail is thin.

    The list stops at the first unit that leaves no part between the tails.
    """
    levels: list[tuple[float | None, float | None]] = []
    for unit, share in zip(units, itertools.chain(DATE_TAILS, itertools.repeat(DATE_TAILS[-1]))):
        first_days = [float(unit_start(day, unit).toordinal() - 1) for day in days]
        starts, place = np.unique(first_days, return_inverse=True)
        tails = _tails(starts, place, max(k, ceil(share * len(days))), people)
        if tails is None:
            return levels
        low, high = levels[-1] if levels else tails
        if not levels:
            thin = [people.among(place == i) < k for i in (0, len(starts) - 1)]
            low, high = (end if is_thin else None for end, is_thin in zip(tails, thin))
            if low is None and high is None:
                return []
        else:  # to nest, an end inside a part of the coarser unit moves to that part's edge
            low = None if low is None else max(tails[0], _edge(starts, low, 1))
            high = None if high is None else min(tails[1], _edge(starts, high, 0))
        if (-np.inf if low is None else low) >= (np.inf if high is None else high):
            return levels
        levels.append((low, high))
    return levels


def _edge(starts: Values, end: float, after: int) -> float:
    """Move an end inside a part to the start of that part, or of the one `after` parts later."""
    place = int(np.searchsorted(starts, end, side="right")) - 1
    if starts[place] == end:
        return end
    return float(starts[place + after]) if place + after < len(starts) else np.inf


_NO_STEPS = CommonValues(())
"""For a column without any level between the exact values and ``*``."""


def _code_lengths(name: str, cells: pl.Series) -> tuple[int, ...]:
    """How many characters to keep at each level; empty if the column does not hold codes.

    Codes have one length, and a name such as "zip" or many different texts of digits.
    """
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
    mirrored = reversed(quantile_cuts(-values, PARTS, k=k, people=people))
    cuts = [_plain_cut(-cut, values) for cut in mirrored]  # ascending again
    whole = all_whole(values)
    # Between whole numbers, a cut is as good at the next whole one.
    cuts = [float(np.ceil(cut)) for cut in cuts] if whole else cuts
    levels = []
    while cuts and len(cuts) + 1 < len(np.unique(values)):
        levels.append(tuple(cuts))
        cuts = cuts[1::2]  # every other cut: neighbouring intervals merge in pairs
    return Cuts(tuple(levels), whole=whole) if levels else _NO_STEPS


def _plain_cut(cut: float, values: Values) -> float:
    """The same cut, but never -0.0, nor a subnormal number just beside zero."""
    if not 0 < abs(cut) < np.finfo(np.float64).tiny:
        return cut + 0.0
    below, above = values[values < cut].max(), values[values >= cut].min()
    low, high = np.nextafter([below, above], np.inf)
    return fewest_digits(low, high, above)


def _equal_widths(values: Values, k: int, people: People) -> Iterator[Widths]:
    """Drafts with a round width, finest first, of at least k people an interval, not lopsided."""
    if len(values) == 0 or (span := float(np.ptp(values))) == 0:
        return
    for width in _round_from(span / MOST_INTERVALS):
        if width > span / 3:
            return
        if len(np.unique(np.floor(values / width))) >= len(np.unique(values)):
            continue  # merges no two values
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
    """A level for each width with the ends so far, then levels with larger open intervals.

    Other columns split a thin tail further. Without these levels, the whole column would have to
    become coarser for the sake of its tails.
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
    """Inner ends of open intervals with at least `least` people; `None` if none lies between."""
    places = range(len(starts))
    first = next((i for i in places if people.among(place <= i) >= least), len(starts))
    last = next((i for i in reversed(places) if people.among(place >= i) >= least), -1)
    return (float(starts[first + 1]), float(starts[last])) if last >= first + 2 else None


def _ends(values: Values, width: float, k: int, people: People) -> tuple[float, float] | None:
    """Inner ends of the two open intervals; `None` if some interval has too few or too many."""
    starts, place = np.unique(Widths((width,)).ends(values, 1)[0], return_inverse=True)
    if np.isnan(starts).any():
        return None  # values too large for exact multiples of this width
    tails = _tails(starts, place, k, people)
    if tails is None:
        return None
    first, last = (int(np.searchsorted(starts, end)) for end in tails)
    first -= 1  # of the intervals, `first` and `last` are the open ones
    if round((starts[last] - starts[first]) / width) > last - first:
        return None  # some interval is empty
    part = np.clip(place, first, last)
    if np.bincount(part).max() > LARGEST_SHARE * len(values):
        return None
    if any(people.among(part == i) < k for i in range(first, last + 1)):
        return None
    return tails


def _round_from(least: float) -> Iterator[float]:
    """Round numbers from `least` up: 1, 2 and 5 times powers of ten."""
    power = int(np.floor(np.log10(least)))
    for exponent in range(power, power + 4):
        for digit in (1, 2, 5):
            number = float(f"{digit}e{exponent}")
            if number >= least:
                yield number


def _coarser(width: float, span: float) -> Iterator[float]:
    """The width, then each time the next round multiple, up to half the span."""
    yield width
    while (width := _next_round(width)) <= span / 2:
        yield width


def _next_round(width: float) -> float:
    """The next round multiple: 1 to 2, 2 to 10 (5 would not nest), 5 to 10.

    >>> _next_round(0.2), _next_round(50.0)
    (1.0, 100.0)
    """
    return float(f"{width * (5 if f'{width:e}'[0] == '2' else 2):.12g}")


def _common(texts: pl.Series, k: int, people: People) -> Form:
    """A draft for nominal values: name those of at least k people, then half as many each time."""
    kept = _common_values(texts, k, people)
    levels, groups = [], texts.n_unique()
    while kept:
        if len(kept) + 1 < groups:  # coarser than the level before
            levels.append(tuple(sorted(kept)))
            groups = len(kept) + 1
        kept = kept[: len(kept) // 2]
    return CommonValues(tuple(levels))


def _common_values(texts: pl.Series, k: int, people: People) -> list[str]:
    """Values of at least k people, commonest first, such that the rest has k people or none."""
    rows = pl.DataFrame({"value": texts, "who": people.codes}).unique()
    counts = rows.group_by("value").len("people")
    counts = counts.sort("people", "value", descending=[True, False])
    kept = counts.filter(pl.col("people") >= k).head(NAMED).get_column("value").to_list()
    # The rarest named values join the rest until that has k people: too few would stand out in it.
    while kept and len(kept) < counts.height:
        rest = rows.filter(~pl.col("value").is_in(kept)).get_column("who").n_unique()
        if rest >= k:
            break
        kept.pop()
    return kept


def drawn_in(ladder: Ladder, level: int, cells: pl.Series) -> dict[str, Any] | None:
    """Description of a drafted ladder, drawn in to some rows: only ends and cuts that they justify.

    Ends beyond these values go, and cuts are placed anew between them. `None` where all these rows
    are alike at the level.

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
        # Levels must keep their numbers, so one that has lost all its cuts repeats the one before.
        for number in range(1, len(levels)):
            levels[number] = levels[number] or levels[number - 1]
        return Cuts(tuple(levels), whole=form.whole).to_dict()
    return ladder.to_dict()


def _drawn_cut(cut: float, values: Values) -> float:
    """A round number between the values on either side of a cut."""
    below, above = float(values[values < cut].max()), float(values[values >= cut].min())
    return fewest_digits(
        float(np.nextafter(below, np.inf)), float(np.nextafter(above, np.inf)), cut
    )


def _drawn_whole_cut(cut: float, values: Values) -> float:
    """Like `_drawn_cut`, for whole numbers: a whole one."""
    below, above = float(values[values < cut].max()), float(values[values >= cut].min())
    return fewest_digits(below + 1, above + 1, cut)


SEPARATORS = (";", "\t", "|", ",")
_HEADERS = ("leaf", "value", "level0", "level 0", "level-0", "level_0")

Lines = list[list[str]]


def read_ladder(path: str | Path, column: str, *, unlisted: str | None = None) -> Ladder:
    """Read the ladder of a column from a csv file: each line has a value, then its groups.

    Parameters
    ----------
    path : path
        The separator is a semicolon, tab, bar or comma. A first line that names the column or its
        levels is a header. A last level ``*`` may be left out.
    column : str
    unlisted : str, optional
        The group of values without a line; by default a table must not have any.

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
    """Make a ladder from a description, or from a csv file that it names.

    The latter is ``{"file": ..., "unlisted": ...}``.

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
    """Split lines by the separator that gives all as many cells, preferably with a last ``*``."""
    tried = [(separator, _records(where, text, separator)) for separator in SEPARATORS]
    even = [lines for _, lines in tried if len({len(line) for line in lines}) == 1]
    wide = [lines for lines in even if len(lines[0]) > 1]
    if len(even) == len(tried) and not wide:
        return even[0]  # a file of values alone
    if not wide:
        _refuse_ragged(where, *max(tried, key=lambda one: sum(len(line) > 1 for line in one[1])))
    return max(wide, key=lambda lines: lines[-1][-1] == NOTHING)


def _records(where: str, text: str, separator: str) -> Lines:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        return [[cell.strip() for cell in line] for line in reader if line]
    except csv.Error:
        # Under a wrong separator quotes may not balance: read them as plain characters.
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
    """Whether the first line names the column or level 0, or alone does not end in ``*``."""
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
