"""One row per person: aggregate the rows of each person as the data holder states.

What is to be learnt is often about people (who comes back, who falls ill) while the table has a row
for each stay. Each column then becomes one value per person, by a stated aggregate; a column that
never differs between the rows of a person needs none. Every aggregate skips missing cells: a person
without any value gets a missing one, or 0 for counts.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from tamis.errors import InputError, ReadingNote, did_you_mean, listed, listed_as, plural
from tamis.table import ColumnText, Dictionary, Roles, Table, bare, kind_of

OTHERS = "*"
"""Stands for all columns that differ within people and are not named."""
SAME = "same"
WORDS = {
    "first": "the first of a person's values",
    "last": "the last of a person's values",
    "count": "how many values a person has",
    "distinct": "how many different values a person has",
    "sum": "the sum over a person's rows",
    "mean": "the mean over a person's rows",
    "median": "the median over a person's rows",
    "min": "the least of a person's values",
    "max": "the greatest of a person's values",
    "most": "the value that most rows of a person have",
    "any": "whether it is so in any row of a person",
    "all": "whether it is so in every row of a person that says it",
}
"""What each aggregate returns, in words."""
IN_ORDER = ("first", "last")
OF_NUMBERS = ("sum", "mean", "median")
OF_FLAGS = ("any", "all")
COUNTING = ("count", "distinct")
_SHAPE = re.compile(r"(?P<how>[a-z]+)(?:\((?P<inside>.*)\))?", re.DOTALL)


@dataclass(frozen=True)
class Aggregate:
    """How one column of the result is made.

    Parameters
    ----------
    name : str
        Its name in the result.
    how : str
        One of `WORDS`, or ``"same"`` where all rows of a person agree.
    column : str, optional
        The column that is aggregated; `None`: rows are counted.
    value : str, optional
        For ``"any"`` and ``"all"``: the value to look for.
    """

    name: str
    how: str
    column: str | None
    value: str | None = None

    @property
    def keeps_values(self) -> bool:
        """Whether the result has values of the column itself."""
        return self.how not in (*COUNTING, *OF_NUMBERS, *OF_FLAGS)

    @property
    def words(self) -> str:
        """What it returns, in words.

        >>> Aggregate("visits", "count", None).words, Aggregate("a", "mean", "a").words
        ('how many rows a person has', "the mean over a person's rows")
        """
        if self.column is None:
            return "how many rows a person has"
        return WORDS[self.how]


def asked_aggregates(given: Iterable[str] | Mapping[str, str] | None) -> dict[str, str]:
    """The aggregate asked for each column, from options or a mapping.

    >>> asked_aggregates(["age=first", "diabetes=any(icd=E11)"])
    {'age': 'first', 'diabetes': 'any(icd=E11)'}
    """
    if given is None:
        return {}
    if isinstance(given, Mapping):
        pairs = list(given.items())
    else:
        parts = given.split(",") if isinstance(given, str) else given
        pairs = [_pair(part) for part in parts]
    asked: dict[str, str] = {}
    for name, how in pairs:
        if name in asked:
            raise InputError(f"--per-person names {name!r} twice; give each column one aggregate")
        if not isinstance(how, str):
            raise InputError(
                f"--per-person: what becomes of {name!r} must be a text such as 'first', got "
                f"{type(how).__name__}"
            )
        asked[name] = how.strip()
    return asked


def _pair(part: str) -> tuple[str, str]:
    name, equals, how = part.partition("=")
    if not (equals and name.strip() and how.strip()):
        raise InputError(
            "--per-person takes COLUMN=HOW separated by commas, such as age=first,visits=count, "
            f"with {listed(WORDS, most=20)}; got {part!r}"
        )
    return name.strip(), how


def one_row_a_person(
    frame: pl.DataFrame,
    roles: Roles,
    asked: Mapping[str, str],
    order: str | None = None,
    *,
    said: Dictionary | None = None,
    check: bool = True,
) -> tuple[pl.DataFrame, Roles, Dictionary]:
    """Aggregate the rows of each person into one.

    Parameters
    ----------
    frame : polars frame
    roles : Roles
        Its identifiers distinguish people, see `Table.people`; other roles are of the result.
    asked : mapping of column to str
        How each column is made: ``"mean"``, ``"last(hba1c)"`` of another column, or
        ``"any(icd=E11)"``, whether a value occurs; ``"count"`` under a name that no column has
        counts rows. ``"*"`` stands for all columns that differ within people and are not named.
    order : str, optional
        The column that decides which row is first and last.
    said : mapping of column to ColumnText, optional
        What the file says of its columns.
    check : bool
        `False` where no error may depend on cells, for differential privacy.

    Returns
    -------
    frame, roles, dictionary
        Each row is a person, and the roles name what identifies them.

    Examples
    --------
    >>> stays = pl.DataFrame(
    ...     {"who": [7, 7, 8], "day": [2, 1, 5], "hba1c": [7.0, 6.0, None], "sex": list("ffm")}
    ... )
    >>> asked = {"hba1c": "last", "stays": "count"}
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     people, _, _ = one_row_a_person(stays, Roles(identifiers=("who",)), asked, "day")
    >>> people.rows(named=True)[0]
    {'who': 7, 'hba1c': 7.0, 'sex': 'f', 'stays': 2}
    """
    whole = Table(frame, _identifying(roles))
    who = _who(whole, check)
    texts = _with_texts(whole.frame)
    plan = _plan(texts, roles, asked, order, whole if check else None)
    people = _Rows(texts, whole.people.codes, order)
    if check:
        _check_values(people, plan)
        _note(people, plan, who)
    columns = [people.first_present(name) for name in who]
    columns += [people.aggregate(aggregate) for aggregate in plan]
    dictionary = dict(said or {})
    texts_of = {aggregate.name: _text(aggregate, dictionary) for aggregate in plan}
    kept_roles = replace(roles, identifiers=who, person=who)
    made = pl.DataFrame(columns)
    return made, kept_roles, {name: text for name, text in texts_of.items() if text is not None}


def _identifying(roles: Roles) -> Roles:
    return Roles(
        identifiers=roles.identifiers,
        person=roles.person,
        exact_identifiers=roles.exact_identifiers,
    )


def _with_texts(frame: pl.DataFrame) -> pl.DataFrame:
    """Turn categories into texts: unlike an Enum's, their order has no stated meaning."""
    return frame.with_columns(
        [
            cells.cast(pl.String)
            for cells in frame.get_columns()
            if isinstance(cells.dtype, pl.Categorical)
        ]
    )


def _who(table: Table, check: bool) -> tuple[str, ...]:
    """The columns that distinguish people; raises where that is open, or a row has none."""
    if not check and table.roles.person is None:
        raise InputError(
            "--per-person would find out who is a person from cells, which differential privacy "
            "hides; name the column with --person COL"
        )
    who = table.person_columns
    if not who:
        raise InputError(
            "--per-person puts the rows of a person together, and no column says who that is; name "
            "it with --person COL"
        )
    if candidates := table.open_candidates:
        meant = "; ".join(each.words() for each in candidates)
        raise InputError(
            "--per-person puts the rows of a person together, and several columns may say who that "
            f"is ({meant}); name the right one with --person COL"
        )
    lacking = {c: bare(table.frame.get_column(c)).null_count() for c in who} if check else {}
    if bad := next((c for c, rows in lacking.items() if rows), None):
        raise InputError(
            f"{plural(lacking[bad], 'row')} have no {bad!r}, so nobody knows whose they are; give "
            "it, or remove these rows before making one row per person"
        )
    return who


def _plan(
    frame: pl.DataFrame,
    roles: Roles,
    asked: Mapping[str, str],
    order: str | None,
    table: Table | None,
) -> list[Aggregate]:
    """The aggregate of each column of the result: the table's in their order, then new ones."""
    columns = frame.columns
    if order is not None and order not in columns:
        raise InputError(
            f"--order names {order!r}, which the table does not have; its columns are "
            f"{listed(columns, most=30)}{did_you_mean(order, columns)}"
        )
    named = {name: _aggregate(name, how, frame) for name, how in asked.items() if name != OTHERS}
    for each in named.values():
        if each.name in roles.identifiers:
            raise InputError(
                f"--per-person: {each.name!r} is an identifier and never released; leave it out, "
                "or name what is made of it otherwise"
            )
        if each.column in roles.identifiers and each.how not in COUNTING:
            raise InputError(
                f"--per-person: {each.column!r} is an identifier, of which only count and distinct "
                "may be taken"
            )
    sources = {each.column for each in named.values()} | {order}
    held = {*roles.identifiers, *roles.dropped}
    rest = [c for c in columns if c not in held and c not in named and c not in sources]
    differing = _differing(frame, rest, table)
    others = asked.get(OTHERS)
    if differing and others is None:
        raise InputError(
            f"{listed_as('column', differing, 'differs', 'differ')} between the rows of a person, "
            f"and nobody said what becomes of {'it' if len(differing) == 1 else 'them'}; add "
            f"{differing[0]}=HOW to --per-person, with HOW one of {listed(WORDS, most=20)}; "
            f'"{OTHERS}=last" means all that are not named; or leave columns out with --drop'
        )
    for name in rest:
        how = SAME if name not in differing else str(others)
        named[name] = Aggregate(name, SAME, name) if how == SAME else _aggregate(name, how, frame)
    if order is None and (needing := [n for n, each in named.items() if each.how in IN_ORDER]):
        raise InputError(
            f"--per-person asks for the first or last of {listed(needing)}, and no column says "
            "which row that is; name it with --order COL, such as a date"
        )
    old = [named[c] for c in columns if c in named]
    return [*old, *(each for name, each in named.items() if name not in columns)]


def _aggregate(name: str, how: str, frame: pl.DataFrame) -> Aggregate:
    """Parse an aggregate, and check that it fits its column."""
    parts = _SHAPE.fullmatch(how)
    verb = parts["how"] if parts else how
    if parts is None or verb not in WORDS:
        raise InputError(
            f"--per-person: {name}={how} is none of {listed(WORDS, most=20)}, each of the column "
            f"itself or, as {name}=last(OTHER), of another{did_you_mean(verb, WORDS)}"
        )
    inside, value = parts["inside"], None
    column: str | None = name if inside is None else inside.strip()
    if verb in OF_FLAGS and inside is not None and inside not in frame.columns:
        text, equals, wanted = inside.partition("=")
        if equals:
            column, value = text.strip(), wanted.strip()
    if column not in frame.columns:
        if verb == "count" and inside is None:
            return Aggregate(name, verb, None)
        raise InputError(
            f"--per-person: {name}={how} is of a column {column!r}, which the table does not have; "
            f"its columns are {listed(frame.columns, most=30)}"
            f"{did_you_mean(str(column), frame.columns)}"
        )
    aggregate = Aggregate(name, verb, column, value)
    _check_kind(aggregate, frame.get_column(str(column)))
    return aggregate


def _check_kind(each: Aggregate, cells: pl.Series) -> None:
    """Raise for an aggregate that is meaningless for a column's kind of values."""
    kind, what = kind_of(cells.dtype), f"--per-person: {each.how} of {each.column!r}"
    held = {"number": "numbers", "date": "dates", "nominal": "texts"}[kind]
    if each.how in OF_NUMBERS and kind != "number":
        raise InputError(
            f"{what} takes numbers, but the column holds {held}; take first, last, most or count"
        )
    if each.how in ("min", "max") and kind == "nominal" and not isinstance(cells.dtype, pl.Enum):
        raise InputError(
            f"{what} takes values with an order, but the column holds texts; list their order in a "
            'schema (size = ["S", "M", "L"] under [columns]), or take first, last, most or any'
        )
    if each.how in OF_FLAGS and each.value is None and not _may_be_flags(cells.dtype):
        raise InputError(
            f"{what} asks whether something is so, but the column holds {held}; say which value is "
            f"meant: {each.name}={each.how}({each.column}=VALUE)"
        )


def _may_be_flags(dtype: pl.DataType) -> bool:
    return dtype == pl.Boolean or dtype.is_numeric()


def _differing(frame: pl.DataFrame, columns: Sequence[str], table: Table | None) -> list[str]:
    """The columns of which some person has several values; all columns where cells are hidden."""
    if table is None:
        return list(columns)
    who = pl.Series(table.people.codes)
    differing = []
    for name in columns:
        pairs = pl.DataFrame([who.alias("who"), bare(frame.get_column(name)).alias("value")])
        several = pairs.drop_nulls().unique().get_column("who").is_duplicated().any()
        if several:
            differing.append(name)
    return differing


class _Rows:
    """The rows of a table with their people, ready to be aggregated."""

    def __init__(self, frame: pl.DataFrame, people: Any, order: str | None) -> None:
        self.frame, self.order = frame, order
        self.who = pl.Series("who", people)
        self.people = self.who.unique(maintain_order=True)
        self.place = None if order is None else bare(frame.get_column(order)).alias("place")

    def cells(self, name: str) -> pl.Series:
        return bare(self.frame.get_column(name)).alias("value")

    def first_present(self, name: str) -> pl.Series:
        """The value that all rows of a person share; the smallest if they differ."""
        return self._least(pl.DataFrame([self.who, self.cells(name)]), name)

    def aggregate(self, each: Aggregate) -> pl.Series:
        """The value of each person."""
        if each.column is None:
            return self._of_people(
                pl.DataFrame([self.who]).group_by("who").agg(pl.len().alias("value")), each.name
            ).cast(pl.Int64)
        rows = pl.DataFrame([self.who, self.cells(each.column)])
        if each.how == SAME:
            return self._least(rows, each.name)
        if each.how in IN_ORDER:
            return self._in_order(rows, each)
        present = rows.drop_nulls()
        if each.how in OF_FLAGS:
            return self._flag(present, each)
        if each.how == "most":
            counted = present.group_by("who", "value").agg(pl.len().alias("rows"))
            best = counted.filter(pl.col("rows") == pl.col("rows").max().over("who"))
            return self._least(best, each.name)  # ties: the smallest value, in any order of rows
        grouped = present.group_by("who", maintain_order=True)
        if each.how in COUNTING:
            number = pl.col("value").len() if each.how == "count" else pl.col("value").n_unique()
            counts = self._of_people(grouped.agg(number), each.name)
            return counts.fill_null(0).cast(pl.Int64)
        value = pl.col("value")
        # The widest type of its kind, since a sum in the column's own type could overflow.
        total = pl.Float64 if self.cells(each.column).dtype.is_float() else pl.Int64
        aggregates = {
            "sum": value.cast(total).sum(),
            "mean": value.mean(),
            "median": value.median(),
            "min": value.min(),
            "max": value.max(),
        }
        return self._of_people(grouped.agg(aggregates[each.how]), each.name)

    def _in_order(self, rows: pl.DataFrame, each: Aggregate) -> pl.Series:
        """First or last value; ties take the smallest, as the order of a file means nothing."""
        assert self.place is not None
        placed = rows.with_columns(self.place).drop_nulls()
        end = pl.col("place").min() if each.how == "first" else pl.col("place").max()
        return self._least(placed.filter(pl.col("place") == end.over("who")), each.name)

    def _flag(self, present: pl.DataFrame, each: Aggregate) -> pl.Series:
        cells = present.get_column("value")
        if each.value is not None:
            cells = is_value(cells, each.value).cast(pl.Int64)
        rows = pl.DataFrame([present.get_column("who"), cells])
        value = pl.col("value").max() if each.how == "any" else pl.col("value").min()
        return self._of_people(rows.group_by("who").agg(value), each.name)

    def _least(self, rows: pl.DataFrame, name: str) -> pl.Series:
        present = rows.drop_nulls().sort("value", maintain_order=True)
        return self._of_people(present.group_by("who").agg(pl.col("value").first()), name)

    def _of_people(self, values: pl.DataFrame, name: str) -> pl.Series:
        """The value of each person, in order of first appearance; missing where there is none."""
        joined = pl.DataFrame([self.people]).join(
            values, on="who", how="left", maintain_order="left"
        )
        return joined.get_column("value").alias(name)


def is_value(cells: pl.Series, value: str) -> pl.Series:
    """Which cells equal a value given as text; among numbers, "3" equals 3.0.

    >>> is_value(pl.Series([3.0, 4.0]), "3").to_list()
    [True, False]
    """
    if not cells.dtype.is_numeric():
        return cells.cast(pl.String) == value
    try:
        return cells.cast(pl.Float64) == float(value)
    except ValueError:
        raise InputError(
            "--per-person looks for a value that is not a number in a column of numbers; give a "
            "number"
        ) from None


def _check_values(people: _Rows, plan: Sequence[Aggregate]) -> None:
    """Raise for flags other than 0 and 1, and for values that no row has."""
    for each in plan:
        if each.how not in OF_FLAGS or each.column is None:
            continue
        cells = people.cells(each.column).drop_nulls()
        if (
            each.value is None
            and cells.dtype.is_numeric()
            and not ((cells == 0) | (cells == 1)).all()
        ):
            raise InputError(
                f"--per-person: {each.how} of {each.column!r} takes 0 and 1, and the column has "
                f"other numbers; say which is meant: {each.name}={each.how}({each.column}=NUMBER)"
            )
        if each.value is not None and not is_value(cells, each.value).any():
            raise InputError(
                f"--per-person: no row of {each.column!r} has the value that {each.name} asks for; "
                "write it as in the table"
            )


def _note(people: _Rows, plan: Sequence[Aggregate], who: Sequence[str]) -> None:
    """Note what became of rows and columns."""
    made = [f"{each.name}: {each.words}" for each in plan if each.how != SAME]
    same = [each.name for each in plan if each.how == SAME]
    parts = [*made, f"the same in all rows of a person: {listed(same, most=30)}" if same else ""]
    left = [
        c for c in people.frame.columns if c not in who and c not in {each.name for each in plan}
    ]
    parts.append(f"left out: {listed(left, most=30)}" if left else "")
    unplaced = 0 if people.place is None else people.place.null_count()
    if unplaced and any(each.how in IN_ORDER for each in plan):
        parts.append(f"{people.order!r} is missing in {plural(unplaced, 'row')}, passed over")
    rows = plural(len(people.who), "row")
    warnings.warn(
        f"{rows} became one row for each of {len(people.people):,} people ("
        f"{'; '.join(filter(None, parts))})",
        ReadingNote,
        stacklevel=5,
    )


def _text(each: Aggregate, said: Mapping[str, ColumnText]) -> ColumnText | None:
    """A column's text for recipients: what the file says of it, and how it was aggregated."""
    known = said.get(each.column) if each.column is not None else None
    if each.how == SAME:
        return known
    codes = known.codes if known is not None and each.keeps_values else {}
    asked = known.question if known is not None and known.question else each.column or each.name
    return ColumnText(f"{asked}: {each.words}", codes)
