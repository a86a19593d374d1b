"""The only way in: read files and frames as a `Table`, and sparse files as a `BinaryTable`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from tamis.catalogue.formats import FORMATS
from tamis.errors import InputError, ReadingNote, TamisWarning, listed, listed_as, plural
from tamis.people import is_code
from tamis.read.dialect import Dialect
from tamis.read.frames import (
    arrow_frame,
    duckdb_frame,
    native_kind,
    parquet_frame,
    polars_frame,
    sheet_frame,
    statistical_frame,
)
from tamis.read.keys import counted_when_dropped
from tamis.read.per_person import asked_aggregates, one_row_a_person
from tamis.read.schema import Schema, load_schema
from tamis.read.target_bins import asked_bins, bin_target
from tamis.read.text import DELIMITERS, delimited_frame, file_at, text_frame
from tamis.read.types import typed
from tamis.statistical_file import PROGRAMS
from tamis.table import Dictionary, Roles, Table, bare, only

if TYPE_CHECKING:
    from tamis.binary.records import BinaryTable

__all__ = ["format_of", "polars_frame", "read_binary", "read_table", "roles_of"]


def read_table(
    source: Any,
    *,
    target: str | None = None,
    sensitive: str | Sequence[str] | None = None,
    quasi: Sequence[str] | None = None,
    identifier: Sequence[str] = (),
    person: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    feature: Sequence[str] = (),
    weight: str | None = None,
    missing: str | Iterable[str] = (),
    schema: str | Path | Schema | None = None,
    format: str | None = None,
    encoding: str | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    dates: str | None = None,
    check: bool = True,
    drop_unlabelled: bool = False,
    exact_identifiers: bool = False,
    target_bins: int | Sequence[float] | None = None,
    per_person: Mapping[str, str] | Sequence[str] | None = None,
    order: str | None = None,
) -> Table:
    """Read a table and assign the roles of its columns.

    Parameters
    ----------
    source : path, or pandas, polars or pyarrow frame, or Arrow stream
        csv, tsv (both also gzipped), parquet, arrow or feather, SPSS, Stata, SAS, a spreadsheet
        (one of several sheets as ``"file.xlsx::sheet"``), or a table of a DuckDB file as
        ``"file.duckdb::table"``.
    target, sensitive, quasi, identifier, person, drop, feature, weight
        The roles, see `Roles`; a `person` column is an identifier without being named as one,
        and `feature` names ordinary columns that you have checked.
    missing : str or sequence of str
        Text that means a missing value, besides an empty cell.
    schema : path of a TOML file, optional
        Types, roles and markers for missing values; arguments override it.
    format : str, optional
        One of csv, tsv, parquet, arrow, sav, dta, sas, excel, if the file name does not show it.
    encoding, separator, decimal, thousands, dates : str, optional
        How a text file is written, see `tamis.read.dialect`; inferred from the file where not
        given. `decimal` is ``"comma"`` or ``"point"``; `dates` is ``"dmy"``, ``"mdy"`` or
        ``"ymd"``.
    check : bool
        Whether to drop empty columns, and to raise for infinite numbers and a useless target. Pass
        `False` if rows will be drawn with differential privacy: an error that depends on cells
        reveals them.
    drop_unlabelled : bool
        Whether to drop rows whose target is missing; a warning says how many. Otherwise they are
        an error.
    exact_identifiers : bool
        Whether identifiers that differ only in capital letters, blanks or Unicode forms are
        different people. Otherwise they count as one, and a warning says how many.
    target_bins : int or sequence of float, optional
        Cut a numeric target into classes: how many, or where they end.
    per_person : mapping of column to str, optional
        Aggregate the rows of each person into one, each column by the aggregate stated for it,
        such as ``{"hba1c": "mean", "visits": "count"}``; see `tamis.read.per_person`. Roles are
        those of the result.
    order : str, optional
        The column that decides which row is first and last for these aggregates.

    Returns
    -------
    Table

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"age": [31, 47, 52], "ill": ["no", "yes", "no"]})
    >>> read_table(frame, target="ill").features
    ('age',)
    """
    rules = load_schema(schema)
    given = {
        "target": target,
        "sensitive": sensitive,
        "quasi": quasi,
        "identifier": tuple(identifier),
        "drop": tuple(drop),
        "feature": tuple(feature),
        "weight": weight,
        "exact_identifiers": exact_identifiers,
    }
    known = {**rules.roles, **{name: value for name, value in given.items() if value}}
    roles = roles_of(known, person)
    asked = asked_aggregates(rules.per_person if per_person is None else per_person)
    markers = [*rules.missing, *([missing] if isinstance(missing, str) else missing)]
    dialect = Dialect(separator, encoding, decimal, thousands, dates)
    frame, said = _frame(source, format, dialect, markers, rules.columns, roles)
    if not frame.width or not frame.height:
        raise InputError(f"the table has no {'rows' if frame.width else 'columns'}")
    if check:
        rules.check_columns([*frame.columns, *asked])
        frame = _in_stated_order(frame, rules.orders)
    if asked:
        by = order or rules.roles.get("order")
        frame, roles, said = one_row_a_person(frame, roles, asked, by, said=said, check=check)
    elif order:
        raise InputError("--order says which row is first and last for --per-person; give both")
    library = "polars" if isinstance(source, str | Path) else native_kind(source)
    need_plain(frame.columns, roles)
    if check:  # looks at cells, which differential privacy must not let decide anything
        roles = counted_when_dropped(frame, roles)
    table = Table(frame, roles, library, dictionary=said)
    if drop_unlabelled:
        table = labelled(table)
    if check:
        table = without_empty(table)
        check_table(table)
        say_respelt(table.respelt())
        say_unnamed(table)
    bins = asked_bins((), known) if target_bins is None else target_bins
    if bins is None:
        return table
    if not check:
        raise InputError(
            "--target-bins looks at cells, which differential privacy hides; declare the classes "
            "of the target in --bounds"
        )
    return bin_target(table, bins)


def _in_stated_order(frame: pl.DataFrame, orders: Mapping[str, Sequence[str]]) -> pl.DataFrame:
    """Cast columns whose values a schema lists in order to an Enum of these."""
    columns = []
    for name, order in orders.items():
        cells = frame.get_column(name).cast(pl.String)
        ranked = cells.cast(pl.Enum(list(dict.fromkeys(order))), strict=False)
        if lost := ranked.null_count() - cells.null_count():
            raise InputError(
                f"column {name!r} has values in {plural(lost, 'row')} that its order in the schema "
                "lacks; add them to the list, or declare them missing"
            )
        columns.append(ranked)
    return frame.with_columns(columns)


def format_of(source: str | Path) -> str:
    """The format that a file name implies."""
    file, inside, _ = str(source).partition("::")
    suffixes = [s for s in Path(file).suffixes if s != ".gz"]
    kind = FORMATS.get(suffixes[-1].lower()) if suffixes else None
    if inside and kind != "excel":
        return "duckdb"
    if kind is None:
        raise InputError(
            f"cannot infer the format of {source} from its name; pass --format with one of "
            f"{', '.join(dict.fromkeys(FORMATS.values()))}, or file.duckdb::table for DuckDB"
        )
    return kind


def _frame(
    source: Any,
    format: str | None,
    dialect: Dialect,
    missing: list[str],
    declared: Mapping[str, str],
    roles: Roles,
) -> tuple[pl.DataFrame, Dictionary]:
    untouched = (*roles.identifiers, *roles.dropped)
    kind = (format or format_of(source)) if isinstance(source, str | Path) else "frame"
    guided: dict[str, Any] = {"missing": missing, "declared": declared, "untouched": untouched}
    if kind in DELIMITERS:
        return delimited_frame(Path(source), DELIMITERS[kind], dialect, **guided), {}
    frame, said = _typed_source(source, kind)
    return typed(frame, **guided, infer=False), said


def _typed_source(source: Any, kind: str) -> tuple[pl.DataFrame, Dictionary]:
    """Read a source with types of its own, and what it says of its columns."""
    if kind in PROGRAMS:
        return statistical_frame(source, kind)
    readers: dict[str, Callable[[Any], pl.DataFrame]] = {
        "frame": polars_frame,
        "duckdb": duckdb_frame,
        "parquet": parquet_frame,
        "arrow": arrow_frame,
        "excel": sheet_frame,
    }
    if kind not in readers:
        raise InputError(
            f"{kind} files contain sparse 0/1 records; read them with tamis.read_binary"
        )
    return readers[kind](source), {}


def stored_frame(
    source: str, *, format: str | None = None, dialect: Dialect | None = None
) -> pl.DataFrame:
    """Read the cells of a file as they are stored: texts stay texts, and nothing is checked."""
    kind = format or format_of(source)
    if kind in DELIMITERS:
        return text_frame(Path(source), DELIMITERS[kind], dialect or Dialect())
    return _typed_source(source, kind)[0]


def roles_of(given: Mapping[str, Any], person: Collection[str] | None = None) -> Roles:
    """Build the roles from a schema or from options, keyed by the names of the options."""
    quasi, said = given.get("quasi"), given.get("person")
    who = said if person is None else person
    # A schema's person columns stay identifiers even if --row-is-person overrides their meaning.
    identifiers = (*given.get("identifier", ()), *(said or ()), *(who or ()))
    return Roles(
        target=given.get("target"),
        sensitive=given.get("sensitive"),
        quasi=tuple(quasi) if quasi else None,
        identifiers=tuple(dict.fromkeys(identifiers)),
        dropped=tuple(given.get("drop", ())),
        person=None if who is None else tuple(who),
        plain=tuple(given.get("feature", ())),
        weight=given.get("weight"),
        exact_identifiers=bool(given.get("exact_identifiers", False)),
    )


def need_plain(columns: Collection[str], roles: Roles) -> None:
    """Raise if a column named as ordinary is not in the source.

    Checked here and not by `Table`, since a part of a table may lack such columns.
    """
    if unknown := [c for c in roles.plain if c not in columns]:
        raise InputError(
            f"no {listed_as('column', unknown)} in the table; its columns are "
            f"{listed(columns, most=30)}"
        )


def check_table(table: Table) -> None:
    """Raise for what no later step can use: infinite numbers, bad weights, a useless target."""
    check_numbers(table)
    check_weight(table)
    if table.roles.target is not None:
        check_target(table.frame[table.roles.target])


def without_empty(table: Table) -> Table:
    """Drop columns without any value; a note names them.

    >>> frame = pl.DataFrame({"age": [31, 47], "note": [None, None], "ill": ["no", "yes"]})
    >>> without_empty(Table(frame, Roles(target="ill"))).frame.columns
    ['age', 'ill']
    """
    frame = table.frame
    return table.with_roles(
        **roles_without_empty(
            table.roles, [c for c in frame.columns if frame[c].null_count() == frame.height]
        )
    )


def roles_without_empty(roles: Roles, columns: Collection[str]) -> dict[str, Any]:
    """Changes to the roles for dropping columns without any value; a note names these."""
    needed = {roles.target, roles.sensitive, *roles.also_sensitive, roles.weight}
    needed |= {*(roles.person or ())}
    if bad := [c for c in columns if c in needed]:
        raise InputError(
            f"{listed_as('column', bad, 'has', 'have')} no values at all; name another, or give "
            "its values"
        )
    if not columns:
        return {}
    warnings.warn(
        f"{listed_as('column', columns, 'has', 'have')} no values at all and is left out"
        if len(columns) == 1
        else f"{listed_as('column', columns)} have no values at all and are left out",
        ReadingNote,
        stacklevel=4,
    )
    left = {
        name: tuple(c for c in getattr(roles, name) or () if c not in columns)
        for name in ("quasi", "identifiers", "plain")
    }
    quasi = {} if roles.quasi is None else {"quasi": left["quasi"]}
    both = {name: left[name] for name in ("identifiers", "plain")}
    return {**both, **quasi, "dropped": (*roles.dropped, *columns)}


LARGEST_NUMBER = 1e30
"""Numbers up to here fit the 32-bit floats of trees, and their variances do not overflow."""


def check_numbers(table: Table) -> None:
    """Raise for infinite numbers, and for numbers too large to compute with."""
    floats = only(table.frame, (c for c, t in table.frame.schema.items() if t.is_float()))
    infinite = floats.select(pl.all().is_infinite().sum())
    if bad := [c for c in infinite.columns if infinite[c].item()]:
        raise InputError(
            f"column {bad[0]!r} has infinite numbers in "
            f"{plural(infinite[bad[0]].item(), 'row')}; replace them or make them missing"
        )
    large = floats.select((pl.all().abs() > LARGEST_NUMBER).sum())
    named = table.roles.identifiers
    if bad := [c for c in large.columns if large[c].item() and c not in named]:
        raise InputError(
            f"column {bad[0]!r} has numbers beyond {LARGEST_NUMBER:g} in "
            f"{plural(large[bad[0]].item(), 'row')}, too large to learn from; use a larger unit or "
            "logarithms, make them missing, or leave the column out with --drop"
        )


def check_weight(table: Table) -> None:
    """Raise unless the weight is a number above 0 in every row."""
    name = table.roles.weight
    if name is None:
        return
    cells = bare(table.frame.get_column(name))
    if not cells.dtype.is_numeric() or cells.null_count() or not (cells > 0).all():
        raise InputError(
            f"the weight {name!r} must be a number above 0 in every row; give the missing ones, or "
            "leave it out with --drop"
        )


def check_target(target: pl.Series) -> None:
    """Raise unless the target has a value in every row, and at least two distinct values."""
    need_labels(target.name, target.null_count(), target.len())
    if target.n_unique() < 2:
        raise InputError(
            f"the target {target.name!r} has only one value, so there is nothing to learn; choose "
            "another --target, or a table with rows of two or more classes"
        )


def need_labels(target: str, missing: int, rows: int) -> None:
    """Raise for a target that is missing in some rows."""
    if missing:
        raise InputError(
            f"the target {target!r} is missing in {missing} of {rows} rows; give these rows a "
            "label, or leave them out with --drop-unlabelled"
        )


def labelled(table: Table) -> Table:
    """Keep the rows that have a label; a warning says how many have none.

    Examples
    --------
    >>> from tamis.table import Roles
    >>> frame = pl.DataFrame({"age": [31, 47], "ill": ["no", "yes"]})
    >>> table = labelled(Table(frame, Roles(target="ill")))
    >>> table.rows, table.unlabelled
    (2, 0)
    """
    target = named_target(table.roles.target)
    has = table.frame.get_column(target).is_not_null()
    say_unlabelled(target, int(has.sum()), table.rows)
    rows = table.frame.filter(has)
    return replace(table, frame=rows, unlabelled=table.rows - rows.height)


def named_target(target: str | None) -> str:
    """The target; raises if none is named, since no row has a label then."""
    if target is None:
        raise InputError(
            "--drop-unlabelled leaves out rows without a value of the target; name it with --target"
        )
    return target


def say_unlabelled(target: str, left: int, rows: int) -> None:
    """Warn how many rows without a label are dropped; raise if that leaves none."""
    if not left:
        raise InputError(
            f"no row has a value of the target {target!r}, so --drop-unlabelled leaves nothing"
        )
    if left < rows:
        words = f"{rows - left:,} of {rows:,} rows have no {target!r} and are left out"
        warnings.warn(words, TamisWarning, stacklevel=3)


def say_unnamed(table: Table) -> None:
    """Warn of rows without any person's identifier, which all count as one person.

    Also note when people are distinguished by names alone, as namesakes then count as one.
    """
    columns = table.person_columns
    names = [c for c in columns if not is_code(table.frame.get_column(c))]
    if columns and names == list(columns) and table.roles.person is None:
        people, rows = table.people.count, table.rows
        if people < rows:
            words = (
                f"people are told apart by {listed(names)} alone, so that namesakes count as one: "
                f"{people:,} people in {rows:,} rows; pass --row-is-person if each row is another "
                "person"
            )
            warnings.warn(words, ReadingNote, stacklevel=3)
    without = table.frame.select(pl.all_horizontal(pl.col(columns).is_null()).sum()).item()
    if columns and without > 1:
        words = (
            f"{without:,} rows have no {listed(columns)}, and count as one person; give each a "
            "number of its own if these are different people"
        )
        warnings.warn(words, TamisWarning, stacklevel=3)


def say_respelt(merged: Mapping[str, int]) -> None:
    """Warn of identifiers with different spellings that count as one person."""
    for column, spellings in merged.items():
        words = (
            f"column {column!r}: {plural(spellings, 'spelling')} counted as the person of another "
            "that differs only in capital letters, blanks or Unicode forms; pass "
            "--exact-identifiers if these are different people"
        )
        warnings.warn(words, TamisWarning, stacklevel=3)


def read_binary(
    source: str | Path,
    *,
    format: str | None = None,
    labels: str | Path | None = None,
    label_items: Sequence[str] = (),
    long: tuple[str, str] | None = None,
    target: str | None = None,
    encoding: str | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    dates: str | None = None,
    drop_unlabelled: bool = False,
) -> BinaryTable:
    """Read sparse 0/1 records.

    Parameters
    ----------
    source : path
        ``.svm`` or ``.libsvm`` (a label, then ``index:1`` words), ``.basket`` (one row of items
        per line), or, with `long`, any table that `read_table` reads.
    labels : path, optional
        For baskets, a file with one label per line; for a long table, a table of labels by entity.
    label_items : sequence of str
        For baskets and long tables: the item or items that are the label.
    long : (entity, feature), optional
        The two columns of a long table.
    target : str, optional
        The label column of a long table or of its label table.
    encoding, separator, decimal, thousands, dates
        As in `read_table`.
    drop_unlabelled : bool
        For long tables: whether to drop entities without a label, as in `read_table`.

    Returns
    -------
    BinaryTable
    """
    from tamis.read.sparse import basket_table, labelled_by_item, long_table, svm_table

    kind = format or format_of(source)
    if long is not None:
        dialect = Dialect(separator, encoding, decimal, thousands, dates)
        options: dict[str, Any] = asdict(dialect)
        pairs = read_table(source, format=format, **options).frame
        known = None if labels is None else read_table(labels, **options).frame
        if label_items and (known is not None or target is not None or drop_unlabelled):
            raise InputError(
                "--label-item says which features of a long table are the label; leave out "
                "--labels, --target and --drop-unlabelled, or leave it out"
            )
        table = long_table(
            pairs, *long, labels=known, target=target, drop_unlabelled=drop_unlabelled
        )
        table = labelled_by_item(source, table, label_items) if label_items else table
    elif drop_unlabelled:
        raise InputError("in svm and basket files every row has a label, so none can be left out")
    elif kind == "svm":
        table = svm_table(file_at(source), encoding)
    elif kind == "basket":
        table = basket_table(
            file_at(source),
            labels=labels,
            label_items=label_items,
            encoding=encoding,
            separator=separator,
        )
    else:
        raise InputError(
            f"{kind} is not a sparse format; give a .svm or .basket file, or name the two columns "
            "of a long table with --long ENTITY,FEATURE"
        )
    if table.labels is not None and len(set(table.labels)) < 2:
        raise InputError("the label has only one value, so there is nothing to learn")
    return table
