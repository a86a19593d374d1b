"""Ladders made by tamis where nobody wrote any, for people to read and correct.

Numbers become intervals with round ends, codes such as ZIP their first characters, dates parts of
the calendar, and of other values the rare ones become "other". No end is chosen for being
someone's value, and no interval is made and no value kept for fewer than k people.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.coarsen.intervals import UNITS, Calendar, Cuts, Widths
from tamis.coarsen.ladder import Form, Ladder
from tamis.coarsen.value_groups import CommonValues, Prefixes, plain_text
from tamis.cuts import K, People, fewest_digits, quantile_cuts
from tamis.errors import InputError, listed
from tamis.table import Table, bare, kind_of

MOST = 20
"""The most intervals of equal width at the finest level."""
PARTS = 16
"""Intervals at the finest level where equal widths do not fit."""
LARGEST = 1 / 2
"""The largest share of the rows that one interval of equal width may hold."""
NAMED = 40
"""The most values that keep their name."""
CODES = 20
"""Codes are told by their values where there are at least so many different ones."""
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


def draft_ladder(column: pl.Series, k: int = K, people: People | None = None) -> Ladder:
    """A ladder for a column, from its values.

    >>> draft_ladder(pl.Series("zip", ["01000", "01010", "75011"]), k=1).to_dict()
    {'keep': [4, 3, 2, 1]}
    >>> draft_ladder(pl.Series("age", range(18, 90)), k=5).to_dict()
    {'width': [5, 10, 20], 'bottom': 25, 'top': 85}
    """
    cells = bare(column)
    present = cells.is_not_null()
    whose = None if people is None else people[present.to_numpy()]
    return Ladder(column.name, _form(column.name, cells.filter(present), k, whose))


def _form(name: str, cells: pl.Series, k: int, people: People | None) -> Form:
    if kind_of(cells.dtype) == "date":
        return _calendar(cells)
    if codes := _code_lengths(name, cells):
        return Prefixes(codes)
    if cells.dtype.is_numeric():
        return _intervals(cells.cast(pl.Float64).to_numpy(), k, people)
    return _common(plain_text(cells), k, people)


def _calendar(cells: pl.Series) -> Form:
    """The units of the calendar that tell fewer groups apart than the one before."""
    units, groups = [], cells.n_unique()
    for unit in ("hour",) if cells.dtype == pl.Time else UNITS:
        found = Calendar((unit,)).labels(cells, 1).n_unique()
        if 1 < found < groups:
            units.append(unit)
            groups = found
    return Calendar(tuple(units)) if units else _NO_STEPS


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


def _intervals(values: Values, k: int, people: People | None) -> Form:
    form = next(_equal_widths(values, k, people), None)
    if form is not None:
        return form
    # Mirrored, since an interval here contains its lower end, and there its upper one.
    found = reversed(quantile_cuts(-values, PARTS, k=k, people=people))
    cuts = [_plain_cut(-cut, values) for cut in found]
    levels = []
    while cuts and len(cuts) + 1 < len(np.unique(values)):
        levels.append(tuple(cuts))
        cuts = cuts[1::2]
    return Cuts(tuple(levels)) if levels else _NO_STEPS


def _plain_cut(cut: float, values: Values) -> float:
    """The same cut without a sign of zero, and not as the smallest number above zero."""
    if not 0 < abs(cut) < np.finfo(np.float64).tiny:
        return cut + 0.0
    below, above = values[values < cut].max(), values[values >= cut].min()
    low, high = np.nextafter([below, above], np.inf)
    return fewest_digits(low, high, above)


def _equal_widths(values: Values, k: int, people: People | None) -> Iterator[Widths]:
    """Intervals of a round width, finest first, that have k people each and are not lopsided."""
    if len(values) == 0 or (span := float(np.ptp(values))) == 0:
        return
    for width in _round_from(span / MOST):
        if width > span / 3:
            return
        if len(np.unique(np.floor(values / width))) >= len(np.unique(values)):
            continue  # no coarser than the values
        edges = _ends(values, width, k, people)
        if edges is not None:
            chain = _coarser(width, edges[1] - edges[0])
            yield Widths(tuple(chain), bottom=edges[0], top=edges[1], dated=False)


def _ends(
    values: Values, width: float, k: int, people: People | None
) -> tuple[float, float] | None:
    """The inner ends of the two open intervals; `None` if an interval has too few or too many."""
    starts, place = np.unique(Widths((width,)).ends(values, 1)[0], return_inverse=True)
    if np.isnan(starts).any():
        return None  # too large to be counted in such widths
    places = range(len(starts))
    first = next((i for i in places if _count(place <= i, people) >= k), len(starts))
    last = next((i for i in reversed(places) if _count(place >= i, people) >= k), -1)
    if last < first + 2 or round((starts[last] - starts[first]) / width) > last - first:
        return None  # nothing lies between them, or some interval is empty
    part = np.clip(place, first, last)
    if np.bincount(part).max() > LARGEST * len(values):
        return None
    if any(_count(part == i, people) < k for i in range(first, last + 1)):
        return None
    return float(starts[first + 1]), float(starts[last])


def _count(rows: NDArray[np.bool_], people: People | None) -> int:
    return int(rows.sum()) if people is None else len(np.unique(people[rows]))


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


def _common(texts: pl.Series, k: int, people: People | None) -> Form:
    """The values of at least k people, then ever fewer of them, the commonest last."""
    kept = _common_values(texts, k, people)
    levels, groups = [], texts.n_unique()
    while kept:
        if len(kept) + 1 < groups:
            levels.append(tuple(sorted(kept)))
            groups = len(kept) + 1
        kept = kept[: len(kept) // 2]
    return CommonValues(tuple(levels))


def _common_values(texts: pl.Series, k: int, people: People | None) -> list[str]:
    """Values of k people, commonest first; as many as leave k people, or nobody, to the rest."""
    who = np.arange(texts.len()) if people is None else people
    rows = pl.DataFrame({"value": texts, "who": who}).unique()
    counts = rows.group_by("value").len("people")
    counts = counts.sort("people", "value", descending=[True, False])
    kept = counts.filter(pl.col("people") >= k).head(NAMED).get_column("value").to_list()
    while kept and len(kept) < counts.height:
        rest = rows.filter(~pl.col("value").is_in(kept)).get_column("who").n_unique()
        if rest >= k:
            break
        kept.pop()
    return kept
