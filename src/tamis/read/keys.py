"""Columns that could identify rows or people: direct identifiers, near-unique values, keys.

Such a column must not be released by oversight, so it is an error until the data holder has stated
its role. Measured fractions are near-unique by nature and only cause a warning.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection
from dataclasses import replace
from typing import NamedTuple, Protocol

import numpy as np
import polars as pl

from tamis.errors import CannotMeet, InputError, ReadingNote, TamisWarning, listed_as
from tamis.people import PersonCandidate, header_words, is_code, is_of_events
from tamis.read.headers import is_of_amounts, is_of_things, is_survey_weight, names_person
from tamis.read.identifiers import SMALL_TYPES, content_of, is_whole
from tamis.read.names import named_by_header, named_by_values
from tamis.read.repeats import repeats_like_people, sibling_of
from tamis.table import Roles, Table, bare, content_order

LEAST = 20
"""Fewest rows, and distinct values, to judge: with fewer, chance makes columns look like keys."""
NEARLY = 0.95
"""Least distinct values per row of a near-unique column."""
NEARLY_TEXTS = 0.9
"""Like `NEARLY`, for text, which is less likely than measured numbers to differ by chance."""
STEADY = 0.9
"""Least share of equal steps in a sequence, so that it may restart; also of values of one shape."""
STEP_ERROR = 1e-6
"""Relative difference within which steps count as equal."""
FEW_EACH = 0.2
"""Least distinct values per row of a column that may number rows with repeats."""
CLOSE = 3
"""Largest median step between numbers of rows."""
BANDS = 5
"""Fewest bands of equal length in which row numbers are still recognised."""
BEGINNING = 1000
"""Rows of a first test, which is enough to show that most columns are not sorted."""
NINE_DIGITS = 10**8
"""The smallest number of nine digits; shorter ones hardly identify people."""
OFTEN = 0.01
"""Least distinct values per row of a column named like a key."""

UNIQUE = "a different value in nearly every row"
ORDER = "follows the order of the rows"
KEY = "looks like a key by name and values"

REPEATS = "repeats like a person: a few rows each, within which other columns do not change"
SIBLING = "tells the same people apart as {}, or is a part of it"

_KEYS = {"id", "uuid", "guid", "key", "hash"}
"""Last words of the names of keys."""
_ROWS = {"row", "rows", "rowname", "rownames", "rownumber", "record", "index", "idx"}
"""Words for rows."""
_SHAPES = (
    r"^[^@\s]+@[^@\s]+\.[^@\s]+$",
    r"^[0-9]{3}-[0-9]{2}-[0-9]{4}$",
    r"^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$",
    r"^[0-9]{9,}$",
)


def refuse_unstated_identifiers(table: Table) -> None:
    """Raise if columns that could identify people have no stated role.

    Measured fractions that hardly repeat only cause a warning.
    """
    if found := _unstated(table):
        ids = [] if _is_settled(table) else [c for c, finding in found.items() if finding.person]
        raise InputError(f"{_described(found)} could identify people; {_offers(ids)}")
    refuse_open_person(table)
    warn_of_sorted(table)
    warn_of_weights(table)
    warn_of_fractions(table)


def refuse_left_identifiers(table: Table) -> None:
    """Raise if a column could identify people among the released rows, though not among all.

    Suppression may leave out exactly those who shared a value. The rows are tested as `verify`
    tests them, in random order.

    >>> frame = pl.DataFrame({"who": range(100, 130), "ill": ["no", "yes"] * 15})
    >>> refuse_left_identifiers(Table(frame, Roles(target="ill", plain=("who",))))
    """
    mixed = table.only((*table.features, table.target)).sample(fraction=1.0, shuffle=True, seed=0)
    if found := identifying_columns(mixed, among=_open(table)):
        raise CannotMeet(
            f"among the {table.rows:,} rows that would be left, {_described(found)} could identify "
            "people; hold it back with --identifier, pass --feature if it says nothing of who "
            "someone is, or leave out fewer people with a smaller --max-suppressed"
        )


def refuse_open_person(table: _Asked) -> None:
    """Raise if identifiers disagree on who is a person, until one of them is named."""
    if found := open_person_words(table):
        raise InputError(found)


class _Asked(Protocol):
    @property
    def open_candidates(self) -> tuple[PersonCandidate, ...]: ...


def open_person_words(table: _Asked) -> str:
    """Ask which column stands for people, with what each answer means; empty if it is settled.

    >>> frame = pl.DataFrame({"set": [1, 1, 2, 2], "patient": [7, 8, 9, 10], "ill": [0, 1, 0, 1]})
    >>> open_person_words(Table(frame, Roles(target="ill", identifiers=("set", "patient"))))
    "who is a person? by 'patient' 4 people with one row each; by 'set' 2 people with 2 rows each. \
Name the column that stands for people with --person, or pass --row-is-person"
    """
    if not (candidates := table.open_candidates):
        return ""
    each = "; ".join(candidate.words() for candidate in candidates)
    return (
        f"who is a person? {each}. Name the column that stands for people with --person, or pass "
        "--row-is-person"
    )


def _is_settled(table: Table) -> bool:
    """Whether the person column is stated, or a code among the identifiers decides it."""
    roles = table.roles
    return roles.person is not None or any(
        is_code(table.frame.get_column(c)) for c in roles.identifiers
    )


def _offers(ids: list[str]) -> str:
    """The options for such columns; --drop is not offered for ids, as k would then count rows."""
    released = (
        "--quasi protects it by k, --feature releases it as an ordinary column that you have "
        "checked"
    )
    if not ids:
        return f"say what it is for: --identifier or --drop never releases it, {released}"
    several = f"{listed_as('column', ids, 'repeats', 'repeat')} as people with several rows do"
    return (
        f"say what it is for: --identifier never releases it and counts people by it, {released}. "
        f"{several}: if it does not stand for people, name what does with --person, or pass "
        "--row-is-person"
    )


def warn_of_unstated_identifiers(table: Table) -> None:
    """Like `refuse_unstated_identifiers`, with warnings instead of an error."""
    if found := _unstated(table):
        roles = "--identifier, --drop, --quasi or --feature"
        if any(f.person for f in found.values()) and not _is_settled(table):
            roles = "--identifier, which counts people by it, --quasi or --feature"
        _warn(
            f"{_described(found)} could identify people; before you release anything, say what it "
            f"is for with {roles}"
        )
    if question := open_person_words(table):
        _warn(question)
    warn_of_sorted(table, told=found)
    warn_of_weights(table)
    warn_of_fractions(table, told=found)


def warn_of_fractions(table: Table, *, told: Collection[str] = ()) -> None:
    """Warn about features of measured fractions and amounts that hardly repeat.

    Columns in `told`, such as coordinates, were reported already and are skipped.
    """
    known = {*likely_weights(table), *told}
    if fractions := [c for c in _open(table) if c not in known and _hardly_repeats(table, c)]:
        _warn(
            f"{listed_as('column', fractions, 'has', 'have')} measured numbers that hardly repeat: "
            "anyone who knows one of them exactly can find the row; round them, or name those that "
            "an attacker may know with --quasi"
        )


def likely_weights(table: Table) -> list[str]:
    """Features without a stated role that look like survey weights.

    >>> frame = pl.DataFrame({"pspwght": [0.5, 1.5, 1.0], "ill": [0, 1, 0]})
    >>> likely_weights(Table(frame, Roles(target="ill")))
    ['pspwght']
    """
    if table.roles.weight is not None:
        return []
    questions = {name: text.question for name, text in table.dictionary.items()}
    columns = ((c, table.frame.get_column(c)) for c in _open(table))
    return [c for c, column in columns if is_survey_weight(column, questions.get(c, ""))]


def warn_of_weights(table: Table) -> None:
    """Warn about columns that look like survey weights, which are no property of a person."""
    if found := likely_weights(table):
        _warn(
            f"{listed_as('column', found, 'looks', 'look')} like a survey weight, of how many "
            "people a row stands for; if so, say it with --weight: it is then not released, and "
            "risks are those in the population. Else it is taken as an ordinary column"
        )


def warn_of_sorted(table: Table, *, told: Collection[str] = ()) -> None:
    """Note which ordinary columns the file is sorted by; that order is never released.

    Columns in `told`, such as those that could identify people, were reported already.
    """
    if names := [c for c in sorted_columns(table) if c not in told]:
        warnings.warn(
            f"the rows are sorted by {listed_as('column', names)}; their order is never released, "
            f"and {_TAKEN[len(names) > 1]} with --drop; if it says who is who, name it with "
            "--identifier",
            ReadingNote,
            stacklevel=3,
        )


_TAKEN = (
    "the column is taken as an ordinary one. If it only numbers the rows, leave it out",
    "the columns are taken as ordinary ones. If one only numbers the rows, leave it out",
)


def sorted_columns(table: Table) -> list[str]:
    """Features without a stated role that the rows are sorted by, of at least `LEAST` values.

    >>> frame = pl.DataFrame({"age": [20 + i // 9 for i in range(300)], "ill": [0, 1] * 150})
    >>> sorted_columns(Table(frame, Roles(target="ill")))
    ['age']
    """
    columns = {c: _comparable(bare(table.frame.get_column(c))).drop_nulls() for c in _open(table)}
    ordering = [
        c for c, cells in columns.items() if _is_sorted_by(cells) and cells.n_unique() >= LEAST
    ]
    return [] if ordering and _is_sorted_by_content(table.frame) else ordering


def unstated_identifiers(table: Table) -> dict[str, str]:
    """Features that could identify people and have no stated role, each with the reason.

    >>> frame = pl.DataFrame({"who": range(100, 130), "ill": ["no", "yes"] * 15})
    >>> unstated_identifiers(Table(frame))
    {'who': 'a different value in nearly every row'}
    """
    return {name: finding.why for name, finding in _unstated(table).items()}


def _unstated(table: Table) -> dict[str, Finding]:
    roles = table.roles
    return identifying_columns(table.frame, known=roles.identifiers, among=_open(table))


class Finding(NamedTuple):
    """Why a column could identify people, and whether it repeats like an id of people."""

    why: str
    person: bool = False


def identifying_columns(
    frame: pl.DataFrame, *, known: Collection[str] = (), among: Collection[str] | None = None
) -> dict[str, Finding]:
    """Columns that could identify people: by header, content, form, or kinship to an identifier.

    This one check is applied to every table that is read, and to all rows that are released.

    Parameters
    ----------
    frame : polars.DataFrame
    known : collection of str
        Stated identifiers; they are not tested, but their siblings are searched for.
    among : collection of str, optional
        The columns to test; by default all but the known ones.

    Returns
    -------
    dict of str to Finding

    Examples
    --------
    >>> frame = pl.DataFrame({"Vorname": ["Uta", "Jan", "Eva"] * 9, "ward": ["A", "B", "C"] * 9})
    >>> identifying_columns(frame)
    {'Vorname': Finding(why='headed as names of people', person=False)}
    """
    asked = [c for c in frame.columns if c not in known and (among is None or c in among)]
    looked = {c: _look_at(frame, c) for c in asked}
    ordered = [c for c, finding in looked.items() if finding and finding.why == ORDER]
    if ordered and _is_sorted_by_content(frame):
        looked |= {c: _look_at(frame, c, arranged=True) for c in ordered}
    found = {name: finding for name, finding in looked.items() if finding is not None}
    kin = [*(c for c in known if c in frame.columns), *found][:MOST_KIN]
    for name in asked:
        of = [c for c in kin if c != name and name not in found]
        if sibling := next((c for c in of if sibling_of(frame, name, c)), None):
            found[name] = Finding(SIBLING.format(repr(sibling)))
    return {name: found[name] for name in asked if name in found}


MOST_KIN = 12
"""The most identifiers whose siblings are searched for."""


def _look_at(frame: pl.DataFrame, name: str, *, arranged: bool = False) -> Finding | None:
    column = frame.get_column(name)
    if column.dtype in SMALL_TYPES:
        return None
    if looks := content_of(column):
        return Finding(f"looks like {looks.words}", counts_people(frame, name))
    if why := named_by_header(column) or identifying_form(column, arranged=arranged):
        person = counts_people(frame, name)
        if why == ORDER and person:  # an id in order, because each person's rows are adjacent
            why = KEY if names_person(column) else REPEATS
        return Finding(why, person)
    if why := named_by_values(column):
        return Finding(why)
    return Finding(REPEATS, person=True) if repeats_like_people(frame, name) else None


def counts_people(frame: pl.DataFrame, name: str) -> bool:
    """Whether a column is an id of people with several rows, by its header or its form.

    Numbers and codes can be; names cannot, since two people may share one.

    >>> frame = pl.DataFrame({"usubjid": [f"S{i // 3}" for i in range(90)], "ill": [0, 1] * 45})
    >>> counts_people(frame, "usubjid"), counts_people(frame, "ill")
    (True, False)
    """
    column = frame.get_column(name)
    if column.dtype in SMALL_TYPES or not is_code(column) or is_of_events(name):
        return False
    present = column.alias("").drop_nulls()
    distinct = present.n_unique()
    if distinct < LEAST or distinct == present.len():
        return False
    return names_person(column) or repeats_like_people(frame, name)


def counted_when_dropped(frame: pl.DataFrame, roles: Roles) -> Roles:
    """Turn dropped columns that are ids of people into identifiers.

    Neither is released, but without the id k would count rows instead of people. Nothing changes
    where the person column is stated, or another code decides it.

    >>> frame = pl.DataFrame({"pid": [i // 3 for i in range(90)], "ill": [0, 1] * 45})
    >>> counted_when_dropped(frame, Roles(target="ill", dropped=("pid",))).identifiers
    ('pid',)
    """
    dropped = [c for c in roles.dropped if c in frame.columns]
    named = [c for c in roles.identifiers if c in frame.columns]
    if roles.person is not None or any(is_code(frame.get_column(c)) for c in named):
        return roles
    if not (people := [c for c in dropped if counts_people(frame, c)]):
        return roles
    return replace(
        roles,
        identifiers=(*roles.identifiers, *people),
        dropped=tuple(c for c in roles.dropped if c not in people),
    )


def _is_sorted_by_content(frame: pl.DataFrame) -> bool:
    """Whether the rows are in the order in which tamis writes releases, and not by chance.

    If so, it says nothing about the first column that it follows the order. In rows sorted by this
    column alone, ties would be in any order; so enough ties must be in order as well.
    """
    varying = [cells.alias("") for cells in frame.get_columns() if bare(cells).n_unique() > 1]
    rows = pl.DataFrame([cells.alias(str(i)) for i, cells in enumerate(varying)])
    if not rows.width or not np.array_equal(content_order(rows), np.arange(rows.height)):
        return False
    content = rows.select(pl.struct(pl.all()).rle_id()).to_series()
    first = bare(rows.to_series(0)).rle_id()
    return int(((first.diff() == 0) & (content.diff() != 0)).sum()) >= LEAST


def identifying_form(column: pl.Series, *, arranged: bool = False) -> str:
    """Why a column could identify rows or people, by its form alone; empty if it does not.

    With `arranged`, the rows were sorted by content, so being sorted is no evidence.
    """
    # Nameless: a name such as "^a.*$" is a pattern to most methods of a polars series.
    present = _comparable(column.alias("")).drop_nulls()
    distinct = present.n_unique()
    if present.len() < LEAST or distinct < BANDS:
        return ""
    nearly = NEARLY if present.dtype.is_numeric() else NEARLY_TEXTS
    often = distinct >= nearly * present.len()
    measured = present.dtype.is_numeric() and is_of_amounts(column.name)
    if (whole := is_whole(present)) and often and not measured:
        return UNIQUE
    # In panel data, years or firms follow the order of the rows without numbering them.
    in_turn = 2 * distinct <= present.len() and is_of_things(column.name)
    if not in_turn and _in_order(present, distinct, arranged):
        return ORDER
    return KEY if whole and distinct >= LEAST and _is_key(column, present, distinct) else ""


def _open(table: Table) -> list[str]:
    """The features without a stated role."""
    said = {*table.roles.plain, *(table.roles.quasi or ())}
    return [c for c in table.features if c not in said]


def _comparable(column: pl.Series) -> pl.Series:
    return column.cast(pl.String) if column.dtype in (pl.Categorical, pl.Enum) else column


def _hardly_repeats(table: Table, name: str) -> bool:
    column = table.frame.get_column(name)  # not `schema`, which polars builds anew for all columns
    if not column.dtype.is_numeric():
        return False
    present = column.alias("").drop_nulls()
    if present.len() < LEAST or present.n_unique() < NEARLY * present.len():
        return False
    return is_of_amounts(name) or not is_whole(present)


def _in_order(present: pl.Series, distinct: int, arranged: bool) -> bool:
    if distinct >= LEAST and _is_counted(present):
        return True
    if arranged or not _is_sorted_by(present):
        return False
    return _in_bands(present) or (distinct >= LEAST and _numbers_rows(present, distinct))


def _is_sorted_by(present: pl.Series) -> bool:
    # The first rows show that most columns are in no order.
    return _is_sorted(present.head(BEGINNING)) and _is_sorted(present)


def _numbers_rows(present: pl.Series, distinct: int) -> bool:
    """Whether sorted values number rows, with gaps and repeats: few rows each, small steps.

    An age or income that a file is sorted by has more rows per value, or larger steps.
    """
    if distinct < FEW_EACH * present.len() or not is_whole(present):
        return False
    if not present.dtype.is_numeric():
        return present.dtype == pl.String and is_code(present)
    steps = present.unique().sort().cast(pl.Float64).diff().drop_nulls()
    return bool(steps.median() <= CLOSE)  # type: ignore[operator]


def _is_sorted(present: pl.Series) -> bool:
    before, after = present.head(-1), present.tail(-1)
    return bool((before <= after).all()) or bool((before >= after).all())


def _is_counted(present: pl.Series) -> bool:
    """Whether nearly all steps from row to row are equal, as in a sequence that restarts."""
    if not present.dtype.is_numeric():
        return False
    steps = present.cast(pl.Float64).diff().drop_nulls()
    middle = steps.median()  # the common step, if most steps are equal
    if middle in (0, None):
        return False
    # With a tolerance, as row numbers may have been scaled, and so rounded.
    same = (steps / middle - 1).abs() <= STEP_ERROR
    return bool(same.sum() >= STEADY * steps.len())


def _in_bands(present: pl.Series) -> bool:
    """Whether a few ascending values form runs of equal length, as banded row numbers do.

    An ordinary column that the file is sorted by has runs of different lengths.
    """
    if not present.dtype.is_numeric():
        return False
    runs = present.cast(pl.Float64).rle().struct.unnest()
    # The last run may be cut short by the end of the table.
    lengths, steps = runs["len"].head(-1), runs["value"].diff().drop_nulls()
    return lengths.n_unique() == 1 and steps.n_unique() == 1


def _is_key(column: pl.Series, present: pl.Series, distinct: int) -> bool:
    if names_person(column) or _shaped(present):
        return True
    words = header_words(column.name)
    named = bool(words) and (words[-1] in _KEYS or set(words) <= {*_ROWS, "ids"})
    return named and not is_of_things(column.name) and distinct >= OFTEN * present.len()


def _shaped(present: pl.Series) -> bool:
    """Whether nearly all values look like e-mail addresses, personal numbers or hashes."""
    if present.dtype.is_numeric():
        return bool((present >= NINE_DIGITS).sum() >= STEADY * present.len())
    tally = present.cast(pl.String).value_counts(name="n")
    texts, counts = tally.to_series(0), tally["n"]
    most = STEADY * present.len()
    return any(counts.filter(texts.str.contains(shape)).sum() >= most for shape in _SHAPES)


def _described(found: dict[str, Finding]) -> str:
    most = 8
    shown = ", ".join(f"{name!r} ({finding.why})" for name, finding in list(found.items())[:most])
    more = f" and {len(found) - most} more" if len(found) > most else ""
    return f"{'column' if len(found) == 1 else 'columns'} {shown}{more}"


def _warn(message: str) -> None:
    warnings.warn(message, TamisWarning, stacklevel=4)
