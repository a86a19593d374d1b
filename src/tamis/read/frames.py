"""Typed sources: frames in memory, parquet, arrow and DuckDB files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from tamis.errors import InputError, MissingExtra, listed, listed_as
from tamis.files import scratch_folder
from tamis.read.text import check_width, empty_file, file_at
from tamis.spreadsheet import read_sheet
from tamis.statistical_file import read_described
from tamis.table import Dictionary
from tamis.table_file import panics_unheard


def polars_frame(data: Any) -> pl.DataFrame:
    """Convert a frame to polars, reading NaN as missing.

    Takes pandas, polars and pyarrow frames, and anything that exports an Arrow stream
    (``__arrow_c_stream__``), such as a relation of DuckDB. A pandas index is dropped: it is not a
    column, and must not reach a release.

    >>> polars_frame(pl.DataFrame({"x": [1.0, float("nan")]}))["x"].to_list()
    [1.0, None]
    """
    if isinstance(data, pl.DataFrame):
        return plain(data)
    import narwhals as nw

    if not nw.dependencies.is_into_dataframe(data):
        return plain(_streamed(data))
    names = [str(name) for name in getattr(data, "column_names", getattr(data, "columns", ()))]
    if twice := sorted(name for name, times in Counter(names).items() if times > 1):
        raise InputError(f"column name {listed(twice)} occurs twice in the frame; rename one")
    try:
        frame: pl.DataFrame = nw.from_native(data, eager_only=True).to_polars()
    except ModuleNotFoundError:
        raise MissingExtra("reading a pandas frame needs pyarrow; pip install pyarrow") from None
    except Exception as error:
        # Arrow refuses mixed columns with messages that quote a cell, so only the problem is named.
        raise InputError(
            "a column of the frame has values of several types; give each column one type "
            f"({type(error).__name__})"
        ) from None
    return plain(frame)


def _streamed(data: Any) -> pl.DataFrame:
    """Read an object that exports an Arrow stream; some can be read only once."""
    if not hasattr(data, "__arrow_c_stream__"):
        raise InputError(
            "expected a path, a pandas, polars or pyarrow frame, or an object with "
            f"__arrow_c_stream__, got {type(data).__module__}.{type(data).__name__}"
        )
    try:
        return pl.DataFrame(data)
    except pl.exceptions.DuplicateError:
        raise InputError("two columns of the stream have one name; rename one") from None
    except Exception as error:  # its text is another library's, and may quote a cell
        raise InputError(
            f"the Arrow stream of {type(data).__module__}.{type(data).__name__} cannot be read "
            f"({type(error).__name__}); make it a frame first, such as with pyarrow.table"
        ) from None


def native_kind(data: Any) -> str:
    """The library that a frame in memory belongs to; polars for Arrow streams."""
    import narwhals as nw

    if not nw.dependencies.is_into_dataframe(data):
        return "polars"
    return str(nw.get_native_namespace(nw.from_native(data, eager_only=True)).__name__)


def refuse_nested(schema: pl.Schema) -> None:
    """Raise for columns whose cells are not single numbers or texts."""
    if odd := [c for c, t in schema.items() if t.is_nested() or t in (pl.Object, pl.Binary)]:
        raise InputError(
            f"{listed_as('column', odd, 'holds', 'hold')} lists, records, bytes or objects; a cell "
            "must be one number or text: unpack or drop such columns first"
        )
    refuse_durations([c for c, t in schema.items() if isinstance(t, pl.Duration)])


_UNITS = "store them as numbers in a unit of your choice, such as hours, or drop them first"


def refuse_durations(columns: Sequence[str]) -> None:
    """Raise for columns of durations, since their unit is for the data holder to choose."""
    if columns:
        raise InputError(f"{listed_as('column', columns, 'holds', 'hold')} durations; {_UNITS}")


def plain(frame: pl.DataFrame) -> pl.DataFrame:
    """Reduce columns to the types a table can have: numbers, text, categories, booleans, dates."""
    refuse_nested(frame.schema)
    return frame.with_columns(
        pl.selectors.decimal().cast(pl.Float64), pl.selectors.float().fill_nan(None)
    )


def parquet_frame(path: str | Path) -> pl.DataFrame:
    return _typed_file(path, "parquet file", pl.read_parquet)


def arrow_frame(path: str | Path) -> pl.DataFrame:
    return _typed_file(path, "feather (arrow) file", pl.read_ipc)


def _not_empty(source: str | Path) -> Path:
    path = file_at(source)
    if path.stat().st_size == 0:
        raise empty_file(path)
    return path


def _of_file(path: Path, frame: pl.DataFrame) -> pl.DataFrame:
    check_width(path, frame.width)
    return plain(frame)


def _typed_file(source: str | Path, kind: str, reader: Any) -> pl.DataFrame:
    path = _not_empty(source)
    try:
        with panics_unheard():
            frame: pl.DataFrame = reader(path.read_bytes())
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        raise unreadable(path, kind, error) from None
    return _of_file(path, frame)


def unreadable(path: str | Path, kind: str, error: BaseException) -> InputError:
    """The error for a file that polars cannot read."""
    if "_interval" in str(error):  # Arrow's name for DuckDB's intervals, which polars cannot read
        return InputError(f"{path} has a column of durations; {_UNITS}")
    return InputError(f"{path} is not a {kind}, or is damaged; export it again")


def statistical_frame(source: str | Path, kind: str) -> tuple[pl.DataFrame, Dictionary]:
    """Read an SPSS, Stata or SAS file with labels for codes, and what it says of its columns."""
    path = _not_empty(source)
    frame, said = read_described(path, kind)
    return _of_file(path, frame), said


def sheet_frame(source: str | Path) -> pl.DataFrame:
    """Read a sheet of a spreadsheet, named ``file.xlsx::sheet`` if there are several."""
    file, _, sheet = str(source).partition("::")
    path = _not_empty(file)
    return _of_file(path, read_sheet(path, sheet))


def duckdb_frame(source: str) -> pl.DataFrame:
    """Read a table of a DuckDB file, named ``file.duckdb::table``."""
    with scratch_folder() as folder:
        # DuckDB exports frames only through pyarrow, which tamis does not otherwise need.
        return plain(pl.read_parquet(duckdb_parquet(source, folder).read_bytes()))


def duckdb_module(instead: str = "") -> Any:
    """Import DuckDB; if it is not installed, the error names the extra."""
    try:
        import duckdb
    except ModuleNotFoundError:
        raise MissingExtra(
            "DuckDB, which reads its own files and counts tables beyond memory, is not installed; "
            f"pip install 'tamis[duckdb]'{instead}"
        ) from None
    return duckdb


def duckdb_parquet(source: str, folder: Path) -> Path:
    """Write a table of a DuckDB file to a folder as parquet, without loading it.

    The file may come from anyone. It is opened read-only; nothing in it can reach other files, the
    network or an extension; and views are not read, since they are programs.
    """
    duckdb = duckdb_module()
    file, _, name = source.partition("::")
    path = file_at(file)
    try:
        with duckdb.connect(str(path), read_only=True, config=_NO_EXTENSIONS) as database:
            _shut_in(database, str(folder))
            tables = {_named(*row): row for row in database.execute(_TABLES).fetchall()}
            if name not in tables:
                raise InputError(
                    f"no table {name!r} in {path}; its tables are: {listed(tables) or 'none'} "
                    "(views are not read; store them as tables first)"
                )
            written = folder / "table.parquet"
            rows = ".".join('"' + part.replace('"', '""') + '"' for part in tables[name])
            described = database.execute(f"DESCRIBE {rows}").fetchall()
            refuse_durations([column for column, kind, *_ in described if kind == "INTERVAL"])
            database.execute(
                f"COPY (SELECT * FROM {rows}) TO {_quoted(str(written))} (FORMAT parquet)"
            )
            return written
    except duckdb.Error:
        raise InputError(
            f"{path} is not a readable DuckDB file; close any program that is "
            "writing to it, or check the name"
        ) from None


def asked_library(estimator: Any) -> str | None:
    """The library that `set_output` asks an estimator to return; `None`: that of its input."""
    from sklearn import get_config

    own = getattr(estimator, "_sklearn_output_config", {})
    asked: str = own.get("transform", get_config()["transform_output"])
    return None if asked == "default" else asked


def _shut_in(database: Any, folder: str) -> None:
    """Permanently restrict DuckDB to its own file and those of one folder."""
    # In this order: the last statement forbids any further change of settings.
    database.execute(f"SET allowed_directories = [{_quoted(folder)}]")
    database.execute("SET enable_external_access = false")
    database.execute("SET lock_configuration = true")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _named(schema: str, table: str) -> str:
    return table if schema == "main" else f"{schema}.{table}"


_NO_EXTENSIONS: dict[str, str | bool | int | float | list[str]] = {
    "autoload_known_extensions": False,
    "autoinstall_known_extensions": False,
}
_TABLES = """
SELECT table_schema, table_name FROM information_schema.tables
WHERE table_type = 'BASE TABLE' AND table_catalog = current_database() ORDER BY 1, 2
"""
