"""Sources that a user names, as parquet files that every engine reads; rows pass in batches."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from shutil import rmtree
from typing import Any, NamedTuple

import narwhals as nw
import polars as pl

from tamis.errors import InputError, MissingExtra, listed
from tamis.read import format_of, need_plain, roles_of
from tamis.read.dialect import Dialect
from tamis.read.forms import ColumnForms, Forms, decide_forms, see_frame
from tamis.read.frames import duckdb_parquet, unreadable
from tamis.read.schema import Schema, load_schema
from tamis.read.text import (
    DELIMITERS,
    delimited_chunks,
    encoding_of,
    file_at,
    say_found,
    say_texts,
    stay_texts,
)
from tamis.read.types import ColumnRule, without_markers
from tamis.rows import POSTGRES, SPARK
from tamis.rows.counts import count_cells
from tamis.rows.engines import Engine, Frame, Ibis, Spark, files_of, write_in_parts
from tamis.rows.large_table import LargeTable, large_table, refuse_uncountable
from tamis.rows.memory_only import READING, refuse_memory_only
from tamis.rows.pairs import (
    ENTITY,
    FEATURE,
    LABEL,
    Pairs,
    hold_labelled,
    hold_pairs,
    refuse_several,
)
from tamis.statistical_file import PROGRAMS
from tamis.table import Roles
from tamis.table_file import panics_unheard

ROWS_AT_ONCE = 1 << 17


def open_large(
    engine: Engine,
    source: str,
    *,
    missing: Iterable[str] = (),
    schema: str | Path | Schema | None = None,
    format: str | None = None,
    person: Collection[str] | None = None,
    dialect: Dialect | None = None,
    **roles: Any,
) -> LargeTable:
    """Open a table of any size behind an engine.

    Parameters
    ----------
    engine : Engine
    source : str
        csv, tsv (also gzipped), parquet or arrow file, ``file.duckdb::table``,
        ``postgresql://...::table``, ``spark::table`` of a Spark catalogue, or parquet at a path
        that Spark reads, ``spark::hdfs://host/folder``.
    missing, schema, format, person, **roles
        As in `tamis.read_table`.
    dialect : Dialect, optional
        How a text file is written; inferred where not given.

    Returns
    -------
    LargeTable
    """
    rules = load_schema(schema)
    refuse_memory_only({"per_person": rules.per_person}, READING, ["per_person"])
    said = roles_of({**rules.roles, **{k: v for k, v in roles.items() if v}}, person)
    markers = [*rules.missing, *missing]
    if source.startswith(SPARK):
        return _catalogued(engine, source.removeprefix(SPARK), said, rules)
    path = _parquet(engine, source, format, dialect, markers, rules.columns, said)
    columns = _schema_of(path)
    _check_names(columns, said, rules)
    return large_table(engine, engine.open(_readable(engine, path)), columns, said)


def open_pairs(
    engine: Engine,
    source: str,
    entity: str,
    feature: str,
    target: str,
    *,
    labels: str | None = None,
    format: str | None = None,
    dialect: Dialect | None = None,
    drop_unlabelled: bool = False,
) -> Pairs:
    """Open sparse 0/1 records of any number behind an engine, from a long table.

    Parameters
    ----------
    engine : Engine
    source : str
        A file with a row for each feature that an entity has.
    entity, feature : str
        Its two columns.
    target : str
        The label: a column of `labels`, or of the long table with one value per entity; a row
        without a feature then states that the entity exists.
    labels : str, optional
        A file with the label of every entity.
    format
        As in `tamis.read_table`.
    dialect : Dialect, optional
        How text files are written; inferred where not given.
    drop_unlabelled : bool
        Whether to leave out entities without a label.
    """
    hold = partial(hold_labelled, target=target) if drop_unlabelled else hold_pairs
    if labels is not None:
        pairs = _keys(engine, source, {ENTITY: entity, FEATURE: feature}, format, dialect)
        known = _keys(engine, labels, {ENTITY: entity, LABEL: target}, None, dialect)
        return hold(engine, *_joinable(pairs, known))
    names = {ENTITY: entity, FEATURE: feature, LABEL: target}
    rows = _keys(engine, source, names, format, dialect)
    known = engine.hold(count_cells(rows, [ENTITY, LABEL]).select(ENTITY, LABEL))
    if drop_unlabelled:  # checked while missing labels still count: a label and none are two
        refuse_several(engine, known)
    pairs = rows.filter(~nw.col(FEATURE).is_null()).select(ENTITY, FEATURE)
    return hold(engine, pairs, known)


def _joinable(pairs: Frame, labels: Frame) -> tuple[Frame, Frame]:
    """Give both frames entities of one type: text, if only one of them has numbers."""
    kinds = {frame.collect_schema()[ENTITY] for frame in (pairs, labels)}
    if len(kinds) == 1:
        return pairs, labels
    text = nw.col(ENTITY).cast(nw.String)
    return pairs.with_columns(text), labels.with_columns(text)


def _keys(
    engine: Engine,
    source: str,
    names: Mapping[str, str],
    format: str | None,
    dialect: Dialect | None,
) -> Frame:
    """Select and rename columns of a source, as whole numbers (which join fastest) or texts."""
    wanted = tuple(names.values())
    roles = Roles(identifiers=wanted)  # identifiers keep the type in which they are stored
    path = _parquet(engine, source, format, dialect, [], {}, roles)
    place = {name: f"c{i}" for i, name in enumerate(_schema_of(path))}
    if unknown := [name for name in wanted if name not in place]:
        raise InputError(
            f"no column {listed(unknown)} in {source}; its columns are {listed(place, most=30)}"
        )
    frame = engine.open(path)
    schema = frame.collect_schema()
    columns = []
    for new, name in names.items():
        column = nw.col(place[name])
        whole = new != LABEL and schema[place[name]].is_integer()
        columns.append((column if whole else column.cast(nw.String)).alias(new))
    return frame.select(*columns)


def _schema_of(path: Path) -> pl.Schema:
    parts = files_of(path)
    if not parts:
        raise InputError("the table has no rows")
    return pl.Schema(pl.read_parquet_schema(parts[0]))


def _check_names(columns: Mapping[str, Any], roles: Roles, rules: Schema) -> None:
    rules.check_columns(list(columns))
    need_plain(columns, roles)


def _catalogued(engine: Engine, name: str, roles: Roles, rules: Schema) -> LargeTable:
    if not isinstance(engine, Spark):
        raise InputError(f"{SPARK}{name} is a table that Spark reads; pass --engine spark")
    names, frame = engine.table(name)
    columns = _types(engine, names, frame)
    _check_names(columns, roles, rules)
    return large_table(engine, frame, columns, roles)


def ibis_table(engine: Ibis, rows: Any, **roles: Any) -> LargeTable:
    """Take a table that a user has opened with Ibis, such as one of BigQuery, Snowflake or Trino.

    Parameters
    ----------
    engine : Ibis
    rows : ibis.Table
    **roles
        As in `tamis.read_table`.
    """
    person = roles.pop("person", None)
    names, frame = list(rows.columns), engine.table(rows)
    return large_table(engine, frame, _types(engine, names, frame), roles_of(roles, person))


def _types(engine: Engine, names: list[str], frame: Frame) -> pl.Schema:
    """The columns by their real names, with the types that a row of them has in parquet."""
    return pl.Schema(dict(zip(names, engine.small(frame.head(1)).dtypes)))


def _parquet(
    engine: Engine,
    source: str,
    format: str | None,
    dialect: Dialect | None,
    markers: list[str],
    declared: Mapping[str, str],
    roles: Roles,
) -> Path:
    """The rows of a source as parquet: the source itself, or a file in the scratch folder."""
    kept = engine.new_path()
    untouched = (*roles.identifiers, *roles.dropped)
    if source.startswith(POSTGRES):
        numbers: dict[str, str] = {}
        write_in_parts(_postgres_chunks(source, numbers), kept)
        return _typed_again(kept, markers, {**numbers, **declared}, untouched)
    kind = format or format_of(source)
    if kind in DELIMITERS:
        text = TextSource(file_at(source), DELIMITERS[kind], dialect or Dialect())
        return _typed_text(text, kept, markers, declared, untouched)
    if kind == "duckdb":
        duckdb_parquet(source, engine.scratch).rename(kept)
    elif kind == "arrow":
        write_in_parts(pl.scan_ipc(file_at(source), glob=False).collect_batches(), kept)
    elif kind == "parquet":
        # Under a plain name, since DuckDB and Spark take * and [ in a path for patterns.
        kept.symlink_to(file_at(source).resolve())
        _check_parquet(kept, source)
        kept = _without_nan(kept)
    elif kind in (*PROGRAMS, "excel"):
        raise InputError(
            f"{kind} files are read in memory only; write the table as parquet, or pass --engine "
            "memory"
        )
    else:
        raise InputError(
            f"{kind} files hold sparse 0/1 records, which --engine does not read; write them as a "
            "long table in parquet, or pass --engine memory"
        )
    return _typed_again(kept, markers, declared, untouched)


def _beside(path: Path, what: str) -> Path:
    return path.with_name(f"{path.stem}-{what}.parquet")


def _check_parquet(path: Path, source: str) -> None:
    try:
        with panics_unheard():
            pl.read_parquet_schema(path)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise unreadable(source, "parquet file", error) from None


def _without_nan(path: Path) -> Path:
    """The same rows, or if there is any NaN, a copy in which NaN is missing.

    The statistics of parquet files ignore NaN, so an engine that trusts them wrongly concludes
    that no row has one.
    """
    schema = pl.read_parquet_schema(path)
    names = {name: f"c{i}" for i, name in enumerate(schema)}
    floats = [names[name] for name, kind in schema.items() if kind.is_float()]
    if not floats:
        return path
    rows = pl.scan_parquet(path, glob=False).rename(names)
    any_nan = rows.select(pl.any_horizontal(pl.col(c).is_nan().any() for c in floats))
    if not any_nan.collect(engine="streaming").item():
        return path
    again = _beside(path, "without_nan")
    plain = rows.with_columns(pl.col(c).fill_nan(None) for c in floats)
    plain.rename({c: name for name, c in names.items()}).sink_parquet(again, statistics=False)
    return again


def _readable(engine: Engine, path: Path) -> Path:
    """The same rows, or a copy without the types that the engine misreads."""
    stored = _schema_of(path)
    kinds = {name: engine.plain(kind) for name, kind in stored.items()}
    changed = {name: kind for name, kind in kinds.items() if kind != stored[name]}
    if not changed:
        return path
    again = _beside(path, "readable")
    try:
        write_in_parts((part.cast(changed) for part in _read_parts(path)), again)  # type: ignore[arg-type]
    except pl.exceptions.InvalidOperationError:
        raise InputError(
            f"column {listed(changed)} has whole numbers above 2^63, which {engine.name} does not "
            "read; write them as text, or choose another --engine"
        ) from None
    return again


class TextSource(NamedTuple):
    """A delimited file, the separator that its name suggests, and how it is written."""

    path: Path
    usual: str
    dialect: Dialect


def _typed_text(
    source: TextSource,
    path: Path,
    markers: list[str],
    declared: Mapping[str, str],
    untouched: Collection[str],
) -> Path:
    """Type delimited text by the one rule, in three passes: to find forms, find types, and write.

    Types depend on every cell, so no batch can be written before all have been seen.
    """
    text = _beside(path, "text")
    texts = stay_texts(declared, untouched)
    seen: dict[str, ColumnForms] = {}
    names, separator = [], source.usual

    def cells() -> Iterator[pl.DataFrame]:
        nonlocal names, separator
        for chunk, separator in delimited_chunks(*source):  # noqa: B007
            frame = without_markers(chunk, markers)
            names = frame.columns
            see_frame(seen, frame, texts)
            yield frame

    write_in_parts(cells(), text)
    forms = decide_forms(seen.values(), source.dialect, separator)
    said = {n: "text" if n in texts else declared.get(n) for n in names}
    rules = {name: ColumnRule(name, said[name]) for name in names}
    for chunk in _read_parts(text):
        for column in forms.rewrite(chunk).get_columns():
            rules[column.name].see(column.alias(""))
    dtypes = {name: rule.dtype() for name, rule in rules.items()}
    first: list[pl.DataFrame] = []

    def typed_parts() -> Iterator[pl.DataFrame]:
        for part in _cast(text, rules, dtypes, forms):
            first.append(part) if not first else None  # enough for the note about texts
            yield part

    write_in_parts(typed_parts(), path)
    found = source.dialect.encoding or encoding_of(source.path)
    say_found(source.path, source.dialect, (separator, source.usual), found, forms)
    for part in first:
        say_texts(source.path, part, texts)
    rmtree(text)
    return path


def _typed_again(
    path: Path, markers: list[str], declared: Mapping[str, str], untouched: Collection[str]
) -> Path:
    """Apply markers for missing values and declared types to rows that have types already."""
    columns = _schema_of(path)
    refuse_uncountable(columns)
    texts = [name for name, kind in columns.items() if kind == pl.String]
    wanted = {n: ColumnRule(n, declared.get(n), infer=False) for n in texts if n not in untouched}
    if not texts or not (markers or any(name in declared for name in texts)):
        return path
    for chunk in _read_parts(path):
        for name, rule in wanted.items():
            rule.see(without_markers(chunk, markers).get_column(name).alias(""))
    dtypes = {name: rule.dtype() for name, rule in wanted.items()}
    again = _beside(path, "typed")
    parts = (without_markers(chunk, markers) for chunk in _cast(path, wanted, dtypes))
    write_in_parts(parts, again)
    return again


def _cast(
    path: Path,
    rules: Mapping[str, ColumnRule],
    dtypes: Mapping[str, pl.DataType],
    forms: Forms | None = None,
) -> Iterator[pl.DataFrame]:
    for chunk in _read_parts(path):
        columns = [
            rules[s.name].read(s.alias(""), dtypes[s.name]).alias(s.name) if s.name in rules else s
            for s in (forms.rewrite(chunk) if forms else chunk).get_columns()
        ]
        yield pl.DataFrame(columns)


def _read_parts(path: Path) -> Iterator[pl.DataFrame]:
    for part in files_of(path):
        rows = pl.scan_parquet(part, glob=False)
        yield from rows.collect_batches(chunk_size=ROWS_AT_ONCE)


def _postgres_chunks(source: str, numbers: dict[str, str]) -> Iterator[pl.DataFrame]:
    """Yield the rows of a Postgres table, in the batches that the server sends.

    Columns of Postgres' `numeric`, of any precision, arrive as text; they are added to `numbers`.
    """
    address, mark, name = source.rpartition("::")
    if not mark:
        raise InputError("name a table of the database, as in postgresql://host/database::table")
    try:
        from adbc_driver_postgresql import dbapi
    except ModuleNotFoundError:
        raise MissingExtra("Postgres needs ADBC; pip install 'tamis[postgres]'") from None
    quoted = ".".join('"' + part.replace('"', '""') + '"' for part in name.split("."))
    try:
        with dbapi.connect(address) as database, database.cursor() as cursor:
            cursor.execute(f"SELECT * FROM {quoted}")
            for batch in cursor.fetch_record_batch():
                yield _stored(pl.DataFrame(batch), numbers)
    except dbapi.Error as error:
        # The address may hold a password, so only the table is named.
        raise InputError(
            f"Postgres did not give the table {name!r} ({type(error).__name__}); check the "
            "address, the name and the rights"
        ) from None


def _stored(frame: pl.DataFrame, numbers: dict[str, str]) -> pl.DataFrame:
    """Unwrap columns of extension types, which only the database knows, to their storage type."""
    columns = []
    for column in frame.get_columns():
        if isinstance(column.dtype, pl.datatypes.BaseExtension):
            if '"numeric"' in (column.dtype.ext_metadata() or ""):
                numbers[column.name] = "number"
            column = column.ext.storage()
        columns.append(column)
    return pl.DataFrame(columns)
