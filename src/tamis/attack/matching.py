"""Matching the rows of earlier releases with those of the table of today.

Everybody who is in any file has *units*, one for each real record: the rows of the table, and rows
that have left it. A unit is in some files and not in others. Rows are matched by names made from
identifiers, where the holder has kept them (`RowNames`):

1. by all identifiers of a row, where these never occur twice in a file;
2. else by the person, where nobody has several rows; a row that has changed is still theirs;
3. else by the person and all cells of the row. Where rows of a person went and others came, any of
   the former may have become any of the latter.

Without identifiers rows are matched by their cells: those of the table, or else those that were
released, as the release wrote them. Equal rows cannot be told apart: of three equal rows of which
an earlier release has two, any may be the new one. If some rows went and others came, nobody can
tell whether these are the same people with changed values: that is refused, with advice.

So units form groups, of which only this is known: how many members are in a file, and with which
view.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from tamis.arrays import Ints
from tamis.attack.row_names import CONTENT, PERSON, ROW, RowNames
from tamis.errors import InputError, listed_as, plural
from tamis.people import People
from tamis.table import Table

ABSENT = -1
"""The view of a unit that is not in a file, and the line of its row there."""
NOW = -1
"""The number of the table among the files."""


@dataclass(frozen=True, eq=False)
class FileRows:
    """The rows of an earlier release.

    Parameters
    ----------
    views : array of int
        Equal for rows that look alike to an attacker.
    names : RowNames, optional
        The names of the rows, where the holder has kept them.
    by_cells : callable
        Returns keys of the table's rows and of the file's, equal where the released cells are;
        raises where the table lacks these columns.
    """

    views: Ints
    names: RowNames | None
    by_cells: Callable[[], tuple[pl.Series, pl.Series]]


@dataclass(frozen=True, eq=False)
class FilePlaces:
    """The places of units in one earlier release.

    Parameters
    ----------
    group : array of int
        The group of each unit.
    options : polars.DataFrame
        The views that members of a `group` may have (`view`), and how many certainly have each
        (`amount`).
    line : array of int
        For each row of the table, its row in the release; `ABSENT` for none.
    """

    group: Ints
    options: pl.DataFrame
    line: Ints

    @cached_property
    def sizes(self) -> pl.DataFrame:
        """How many units each group has."""
        return pl.DataFrame({"group": self.group}).group_by("group").agg(members=pl.len())

    @cached_property
    def view(self) -> Ints | None:
        """The view of each unit; `None` where it is not certain."""
        told = self.options.join(self.sizes, on="group")
        if not told.select((pl.col("amount") == pl.col("members")).all()).item():
            return None
        seen = pl.DataFrame({"group": self.group}).join(
            told, on="group", how="left", maintain_order="left"
        )
        return seen["view"].to_numpy().astype(np.int64)


@dataclass(frozen=True, eq=False)
class Units:
    """The records of everybody who is in the table or in an earlier release.

    Parameters
    ----------
    rows : int
        The number of rows of the table, which are the first units; the others have left it.
    people : People
        The person of each unit.
    pattern : array of int
        Equal for units whose people are in the same files.
    places : tuple of FilePlaces
        For each earlier release.
    """

    rows: int
    people: People
    pattern: Ints
    places: tuple[FilePlaces, ...]

    @cached_property
    def certain(self) -> bool:
        """Whether the view of every unit in every file is certain."""
        return all(place.view is not None for place in self.places)


def match_units(table: Table, files: Sequence[FileRows]) -> Units:
    """Find the people of a table in earlier releases.

    Examples
    --------
    >>> then = Table(pl.DataFrame({"who": ["ann", "bob"], "zip": ["75011", "75012"]}))
    >>> now = Table(pl.DataFrame({"who": ["bob", "eve"], "zip": ["75***", "75***"]}))
    >>> then, now = (each.with_roles(identifiers=("who",)) for each in (then, now))
    >>> file = FileRows(np.array([0, 1]), RowNames.of(then), lambda: None)
    >>> units = match_units(now, [file])
    >>> units.places[0].view.tolist()  # of bob, of eve, and of ann, who has left
    [1, -1, 0]
    """
    named = {i: file for i, file in enumerate(files) if _has_people(table, file)}
    people = _named_units(table, named) if named else None
    keys = {i: _content_keys(table, file) for i, file in enumerate(files) if i not in named}
    gone = {i: _surplus(then, now) for i, (now, then) in keys.items()}
    left = [i for i, surplus in gone.items() if surplus.len()]
    gone_named = 0 if people is None else people.units.height - table.rows
    if len(left) + (gone_named > 0) > 1:
        raise InputError(
            "rows of several earlier releases are no longer in the table, and whether they are the "
            "same people's cannot be told without identifiers; " + WITH_IDENTIFIERS
        )
    more = sum(gone[i].len() for i in left)
    places = []
    for i, file in enumerate(files):
        if people is not None and i in named:
            units = pl.concat([people.keys[i], _nowhere(more)])
            places.append(_place(units, table.rows, people.file_keys[i], file, people.loose[i]))
        else:
            now, then = keys[i]
            last = gone[i] if i in left else _nowhere(more)
            places.append(
                _place(pl.concat([now, _nowhere(gone_named), last]), table.rows, then, file)
            )
    who, pattern = _whose(table, people, more)
    return Units(table.rows, who, pattern, tuple(places))


WITH_IDENTIFIERS = (
    "name what tells people apart with --identifier, for this release as for the earlier ones, and "
    "give their folders with the private part"
)


def _nowhere(units: int) -> pl.Series:
    """Missing keys, of units that are certainly not in a file."""
    return pl.Series([None] * units, dtype=pl.String)


def _place(
    keys: pl.Series, rows: int, then: pl.Series, file: FileRows, loose: Collection[str] = ()
) -> FilePlaces:
    """The places of units in a file, matched by keys.

    Nothing is certain about groups with a `loose` key: their amounts are 0.
    """
    # Missing keys get code 0, which no line of the file has.
    codes = pl.concat([keys, then]).rank("dense").fill_null(0).cast(pl.Int64)
    group, of_line = codes[: keys.len()].to_numpy(), codes[keys.len() :].to_numpy()
    seen = pl.DataFrame({"group": of_line, "view": file.views.astype(np.int64)})
    seen = seen.group_by("group", "view").agg(amount=pl.len().cast(pl.Int64))
    width = int(codes.max() or 0) + 1  # type: ignore[arg-type]
    # Units of a group beyond its lines in the file are not in the file.
    free = np.bincount(group, minlength=width) - np.bincount(of_line, minlength=width)
    unsure = np.zeros(width, dtype=np.bool_)
    unsure[group[keys.is_in(list(loose)).fill_null(False).to_numpy()]] = True
    absent = np.flatnonzero((free > 0) | unsure)
    missing = pl.DataFrame(
        {"group": absent, "view": np.full(len(absent), ABSENT), "amount": free[absent]}
    )
    options = pl.concat([seen, missing.cast(pl.Int64)])
    doubt = pl.Series(unsure[options["group"].to_numpy()])
    amount = options["amount"].to_numpy() * ~doubt.to_numpy()
    return FilePlaces(group, options.with_columns(amount=amount), _lines(group[:rows], of_line))


def _lines(group: Ints, of_line: Ints) -> Ints:
    """For each row of the table, a row of the file in the same group, each used at most once.

    The first row of a group gets its first line, and so on; `ABSENT` where no line is left.
    """
    rows, lines = (
        pl.DataFrame({"group": codes})
        .with_row_index("place")
        .with_columns(turn=pl.int_range(pl.len()).over("group"))
        for codes in (group, of_line)
    )
    both = rows.join(lines, on=["group", "turn"], how="left", maintain_order="left")
    return both["place_right"].cast(pl.Int64).fill_null(ABSENT).to_numpy()


def _whose(table: Table, people: _NamedUnits | None, more: int) -> tuple[People, Ints]:
    """The person of each unit, and a number that stands for the files the person is in."""
    if people is None:
        who = table.people.and_others(People.of_rows(more))
        return who, np.zeros(len(who), dtype=np.int64)
    names, patterns = people.units[PERSON], people.pattern
    who = People.of(_numbers(names)).and_others(People.of_rows(more))
    return who, np.concatenate([_numbers(patterns), np.full(more, patterns.n_unique())])


def _numbers(texts: pl.Series) -> Ints:
    return texts.rank("dense").cast(pl.Int64).to_numpy() - 1


# By identifiers


def _has_people(table: Table, file: FileRows) -> bool:
    """Whether the rows of a file are named by the columns that tell people of the table apart."""
    then = () if file.names is None else file.names.columns[PERSON]
    if then and set(then) != set(table.person_columns):
        raise InputError(
            f"an earlier release told people apart by {listed_as('column', then)}, and this table "
            "does not, so who is in both cannot be told; name the same with --identifier or "
            "--person"
        )
    return bool(then)


@dataclass(frozen=True, eq=False)
class _NamedUnits:
    """Units with identifiers: the rows of the table, then those that have left it."""

    units: pl.DataFrame
    pattern: pl.Series
    keys: dict[int, pl.Series]
    file_keys: dict[int, pl.Series]
    loose: dict[int, list[str]]


def _named_units(table: Table, files: Mapping[int, FileRows]) -> _NamedUnits:
    every, exact = _keyed(_named_rows(table, files))
    _refuse_strangers(every)
    counts = every.group_by("key", PERSON, "file").agg(rows=pl.len().cast(pl.Int64))
    # A key has as many records as its most frequent file has rows of it; those that the table
    # lacks have left.
    there = counts.group_by("key", PERSON).agg(
        gone=pl.col("rows").max() - pl.col("rows").filter(pl.col("file") == NOW).sum()
    )
    left = there.filter(pl.col("gone") > 0).sort("key")
    gone = left.select(pl.col("key", PERSON).repeat_by("gone").explode())
    now = every.filter(pl.col("file") == NOW).select("key", PERSON)
    units = pl.concat([now, gone])
    loose = {i: [] if exact else _changed(counts, i) for i in files}
    known_in = pl.col("file").unique().sort().cast(pl.String).str.join(",")
    patterns = every.group_by(PERSON).agg(pattern=known_in)
    pattern = units.join(patterns, on=PERSON, how="left", maintain_order="left")["pattern"]
    return _NamedUnits(
        units,
        pattern,
        {i: _loosened(units, loose[i]) for i in files},
        {i: _loosened(every.filter(pl.col("file") == i), loose[i]) for i in files},
        loose,
    )


def _refuse_strangers(every: pl.DataFrame) -> None:
    """Raise if identifiers match nobody of an earlier release."""
    now = every.filter(pl.col("file") == NOW)[PERSON].unique()
    for _, rows in every.filter(pl.col("file") != NOW).group_by("file"):
        if rows.height and not rows[PERSON].is_in(now.implode()).any():
            raise InputError(
                "nobody of an earlier release is in this table by what tells people apart; if "
                "identifiers were given out anew, nobody can tell who is in both: give the table "
                "with the identifiers of then, or leave a release of other people out"
            )


def _named_rows(table: Table, files: Mapping[int, FileRows]) -> pl.DataFrame:
    """The names of the rows of all files, with only those that are made of the same columns."""
    names = {i: file.names for i, file in files.items() if file.names is not None}
    mine, first = RowNames.of(table), next(iter(names.values()))
    alike = len({theirs.columns[CONTENT] for theirs in names.values()}) == 1
    content = first.contents_of(table) if alike else None
    same_ids = {theirs.columns[ROW] for theirs in names.values()} == {mine.columns[ROW]}
    parts = [_part(NOW, mine, content, same_ids)]
    for i, theirs in names.items():
        parts.append(_part(i, theirs, None if content is None else theirs[CONTENT], same_ids))
    return pl.concat(parts)


def _part(number: int, names: RowNames, content: pl.Series | None, same_ids: bool) -> pl.DataFrame:
    # Where contents cannot be compared, the number of the line makes every row different.
    lines = pl.Series(CONTENT, [f"{number}/{line}" for line in range(names.names.height)])
    return pl.DataFrame(
        [
            pl.repeat(number, names.names.height, dtype=pl.Int64, eager=True).alias("file"),
            names[PERSON],
            names[ROW] if same_ids else _nowhere(lines.len()).alias(ROW),
            lines if content is None else content.alias(CONTENT),
        ]
    )


def _keyed(every: pl.DataFrame) -> tuple[pl.DataFrame, bool]:
    """The rows with a key that is equal for rows of one record, and whether that is certain."""
    if not every[ROW].null_count() and not every.select("file", ROW).is_duplicated().any():
        return every.with_columns(key=pl.col(ROW)), True
    several = pl.len().over("file", PERSON).max().over(PERSON) > 1
    of_row = pl.concat_str(PERSON, pl.lit("/"), CONTENT)
    return every.with_columns(key=pl.when(several).then(of_row).otherwise(PERSON)), False


def _changed(counts: pl.DataFrame, number: int) -> list[str]:
    """People whose rows in a file may have changed: another file lacks some and has new ones."""
    here = counts.filter(pl.col("file") == number)
    changed: set[str] = set()
    for other in counts["file"].unique().to_list():
        there = counts.filter(pl.col("file") == other)
        both = here.join(there, on=["key", PERSON], how="full", coalesce=True)
        surplus = pl.col("rows").fill_null(0) - pl.col("rows_right").fill_null(0)
        people = both.group_by(PERSON).agg(more=(surplus > 0).any(), less=(surplus < 0).any())
        changed |= set(people.filter(pl.col("more") & pl.col("less"))[PERSON])
    return sorted(changed)


def _loosened(rows: pl.DataFrame, loose: list[str]) -> pl.Series:
    """The keys of rows; people whose rows may have changed have a single key."""
    key = pl.when(pl.col(PERSON).is_in(loose)).then(PERSON).otherwise("key")
    return rows.select(key.alias("key"))["key"]


# By content


def _content_keys(table: Table, file: FileRows) -> tuple[pl.Series, pl.Series]:
    """Keys of the rows of the table and of a file, equal where their cells are.

    They are made of all cells of the table, or else of those that were released: a row whose other
    cells have changed looks the same to anyone with the file.
    """
    now = None if file.names is None else file.names.contents_of(table)
    if now is not None and file.names is not None:
        then = file.names[CONTENT]
        if not (_surplus(now, then).len() and _surplus(then, now).len()):
            return _settled(table, now, then)
    return _settled(table, *file.by_cells())


def _settled(table: Table, now: pl.Series, then: pl.Series) -> tuple[pl.Series, pl.Series]:
    """The keys, unless they leave open who came and who went: then an error with advice."""
    came, went = _surplus(now, then).len(), _surplus(then, now).len()
    if came and went:
        raise InputError(
            f"{plural(went, 'row')} of an earlier release {'is' if went == 1 else 'are'} not in "
            f"this table, and {plural(came, 'row')} of it {'is' if came == 1 else 'are'} not in "
            "that release; without identifiers nobody can tell other people from the same ones "
            "whose values have changed. So " + WITH_IDENTIFIERS
        )
    if (came or went) and not table.people.each_row:
        raise InputError(
            f"{plural(came + went, 'row')} came or went since an earlier release, and whose they "
            "are cannot be told; " + WITH_IDENTIFIERS
        )
    return now, then


def _surplus(one: pl.Series, other: pl.Series) -> pl.Series:
    """The multiset difference of keys: what `one` has beyond `other`."""
    counts = [
        pl.DataFrame({"key": keys}).group_by("key").agg(rows=pl.len().cast(pl.Int64))
        for keys in (one, other)
    ]
    both = counts[0].join(counts[1], on="key", how="left").sort("key")
    more = both.with_columns(more=pl.col("rows") - pl.col("rows_right").fill_null(0))
    more = more.filter(pl.col("more") > 0)
    return more.select(pl.col("key").repeat_by("more").explode())["key"]
