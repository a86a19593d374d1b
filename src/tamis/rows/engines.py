"""Engines: backends that read, write and hash frames. Nothing else knows which one is at work.

Every engine reads and writes parquet; small answers are read back by polars.
"""

from __future__ import annotations

import hashlib
import os
import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, count
from pathlib import Path
from typing import Any, ClassVar, Literal

import narwhals as nw
import polars as pl

from tamis.errors import CannotMeet, InputError, MissingExtra
from tamis.read.frames import duckdb_module
from tamis.table_file import panics_unheard

Frame = nw.LazyFrame[Any]
Name = Literal["polars", "duckdb", "spark"]

MOST_ROWS = 2_000_000
"""The most rows of an answer that is taken into memory."""
BATCH = 1 << 17
"""Rows read from a written frame at once."""


class Engine(ABC):
    """A backend with a private scratch folder.

    Parameters
    ----------
    scratch : Path
        Where frames are held; the caller removes it.
    """

    name: ClassVar[Name]
    has_nan: bool = True
    """Whether the backend's floats may be NaN, and can be tested for it."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self._numbers = count()

    @abstractmethod
    def open(self, path: str | Path) -> Frame:
        """Open a parquet file; its columns become c0, c1, ... by position."""

    @abstractmethod
    def with_hash(self, frame: Frame, key: str, salt: str) -> Frame:
        """Add a column `hash`: the MD5 of the salt and a text column, as hex digits.

        MD5, as every engine has it: the hash decides what is drawn and protects nothing.
        """

    def plain(self, kind: pl.DataType) -> pl.DataType:
        """The type in which this engine gets a column; times, which engines read differently, as
        whole numbers.
        """
        return pl.Int64() if kind == pl.Time else kind

    def close(self) -> None:  # noqa: B027 - polars has nothing to stop
        """Stop whatever this engine has started."""

    def write(self, frame: Frame, path: Path) -> None:
        """Write a frame as parquet, in its order if it was sorted."""
        with self.trouble():
            frame.sink_parquet(path)

    def hold(self, frame: Frame) -> Frame:
        """Compute a frame once; it is read from a scratch file from then on."""
        path = self.new_path()
        self.write(frame, path)
        return self._named(path, frame.collect_schema().names())

    def keep(self, parts: Iterable[pl.DataFrame]) -> Frame:
        """Store frames made in Python, batch by batch, as one frame of this engine."""
        path = self.new_path()
        return self._named(path, write_in_parts(parts, path))

    def _named(self, path: Path, names: Iterable[str]) -> Frame:
        """Open a parquet file and name its columns, in order."""
        opened = self.open(path)
        return opened.rename(dict(zip(opened.collect_schema().names(), names)))

    def near(self, frame: Frame) -> Frame:
        """The same rows, moved if need be to where they can be joined with those of `keep`."""
        return frame

    def small(self, frame: Frame, most: int = MOST_ROWS) -> pl.DataFrame:
        """Take an answer into memory; raises if it has more than `most` rows."""
        path = self.new_path()
        self.write(frame.head(most + 1), path)
        answer = pl.read_parquet(files_of(path))
        if answer.height > most:
            raise CannotMeet(
                f"an answer has more than {most:,} rows, too many to take into memory; name fewer "
                "columns, or coarser ones"
            )
        return answer

    def batches(self, frame: Frame, rows: int = BATCH) -> Iterator[pl.DataFrame]:
        """Yield the rows of a frame in batches, in its order if it was sorted."""
        path = self.new_path()
        self.write(frame, path)
        yield from pl.scan_parquet(files_of(path)).collect_batches(chunk_size=rows)

    def new_path(self) -> Path:
        """An unused path in the scratch folder."""
        return self.scratch / f"{self.name}-{next(self._numbers)}.parquet"

    @contextmanager
    def trouble(self) -> Iterator[None]:
        """Turn an engine's errors, which may quote cells, into ones that say what to do."""
        try:
            yield
        except (Exception, pl.exceptions.PanicException) as error:
            if not _is_of_engine(error):
                raise
            raise CannotMeet(_advice(self.name, error)) from None


def files_of(path: Path) -> list[Path]:
    """The files of a table in order: a single one, or the parts in a folder."""
    return sorted(path.glob("part-*")) if path.is_dir() else [path]


def write_in_parts(parts: Iterable[pl.DataFrame], folder: Path) -> list[str]:
    """Write frames of one schema as the parts of one table; return the names of its columns."""
    folder.mkdir()
    names: list[str] = []
    for i, part in enumerate(parts):
        names = part.columns
        part.write_parquet(folder / f"part-{i:06}.parquet", statistics=False)
    return names


_ENGINES = ("duckdb", "_duckdb", "ibis", "pyspark", "py4j", "polars", "pyo3_runtime")


_NO_ROOM = (
    r"No space left|os error 28|File too large|os error 27|max_temp_directory_size|[Dd]isk quota"
)
"""What engines say when a disk, a quota or a file size limit is exhausted."""
_NO_MEMORY = r"OutOfMemory|MemoryError|[Oo]ut of [Mm]emory|failed to allocate|heap space"


def _is_of_engine(error: BaseException) -> bool:
    module = type(error).__module__.partition(".")[0]
    return module in _ENGINES or isinstance(error, OSError | MemoryError)


def _advice(name: str, error: BaseException) -> str:
    text, kind = str(error), type(error).__name__
    if re.search(_NO_ROOM, text):
        return (
            f"{name} ran out of disk space for intermediate results; give a larger disk with "
            "--scratch DIR; nothing was published"
        )
    if re.search(_NO_MEMORY, kind + text):
        return (
            f"{name} ran out of memory; allow more with --memory, or name fewer columns with "
            "--quasi; nothing was published"
        )
    return (
        f"{name} stopped before the end ({kind}); run it again, or choose another --engine; "
        "nothing was published"
    )


class Polars(Engine):
    """Polars' streaming engine, in this process."""

    name = "polars"

    def open(self, path: str | Path) -> Frame:
        with self.trouble():
            rows = pl.scan_parquet(files_of(Path(path)), glob=False)
            names = rows.collect_schema().names()
        return nw.from_native(rows.rename({name: f"c{i}" for i, name in enumerate(names)}))

    def write(self, frame: Frame, path: Path) -> None:
        with self.trouble(), panics_unheard():
            native: pl.LazyFrame = frame.to_native()
            native.sink_parquet(path, statistics=False)

    def with_hash(self, frame: Frame, key: str, salt: str) -> Frame:
        def digest(keys: pl.Series) -> pl.Series:
            digests = [hashlib.md5((salt + text).encode()).hexdigest() for text in keys]
            return pl.Series(digests, dtype=pl.String)

        native: pl.LazyFrame = frame.to_native()
        hashed = pl.col(key).map_batches(digest, return_dtype=pl.String, is_elementwise=True)
        return nw.from_native(native.with_columns(hashed.alias("hash")))


class DuckDB(Engine):
    """DuckDB in this process; what does not fit in its memory spills to the scratch folder.

    Parameters
    ----------
    scratch : Path
    memory : int
        The most bytes it may use.
    """

    name = "duckdb"

    def __init__(self, scratch: Path, memory: int = 4 * 10**9) -> None:
        super().__init__(scratch)
        self._database = duckdb_module(instead=", or pass --engine polars").connect(
            config={
                "memory_limit": f"{memory / 1e6:.0f}MB",
                "temp_directory": str(scratch / "spill"),
                # Each thread has buffers of its own, so little memory allows few threads.
                "threads": min(os.cpu_count() or 1, max(1, memory // 100_000_000)),
                "preserve_insertion_order": False,  # saves memory; where order matters, we sort
                "autoload_known_extensions": False,
                "autoinstall_known_extensions": False,
            }
        )
        self._database.execute("SET TimeZone = 'UTC'")

    def open(self, path: str | Path) -> Frame:
        from duckdb import ColumnExpression

        with self.trouble():
            parts = [str(part) for part in files_of(Path(path))]
            rows = self._database.read_parquet(parts).set_alias("rows")
            # DuckDB renames columns whose names differ only in case, so columns are taken by
            # position. The table's name comes first, or a column named * would mean all columns.
            columns = [
                ColumnExpression("rows", name).alias(f"c{i}") for i, name in enumerate(rows.columns)
            ]
            opened: Frame = nw.from_native(rows.select(*columns))
            return opened

    def with_hash(self, frame: Frame, key: str, salt: str) -> Frame:
        from duckdb import ColumnExpression, ConstantExpression, FunctionExpression, StarExpression

        salted = FunctionExpression("concat", ConstantExpression(salt), ColumnExpression(key))
        hashed = FunctionExpression("md5", salted).alias("hash")
        found: Frame = nw.from_native(frame.to_native().select(StarExpression(), hashed))
        return found

    def close(self) -> None:
        self._database.close()


class Ibis(DuckDB):
    """A user's Ibis table: its own backend counts, and DuckDB in this process does the rest.

    Frames that are held or hashed are transferred in batches; of a large table, these are its
    distinct combinations of values with their counts.
    """

    def table(self, rows: Any) -> Frame:
        """Open an Ibis table; its columns become c0, c1, ... by position."""
        from ibis.expr.operations import IsNan

        self.has_nan = rows.get_backend().has_operation(IsNan)
        names = {f"c{i}": name for i, name in enumerate(rows.columns)}
        named: Frame = nw.from_native(rows.rename(names))
        return named

    def write(self, frame: Frame, path: Path) -> None:
        native = frame.to_native()
        if not hasattr(native, "to_pyarrow_batches"):
            super().write(frame, path)
            return
        with self.trouble():
            batches = native.to_pyarrow_batches()
            # An empty first part keeps the schema where the answer has no rows.
            write_in_parts(map(pl.DataFrame, chain([batches.schema.empty_table()], batches)), path)

    def near(self, frame: Frame) -> Frame:
        return self.hold(frame) if hasattr(frame.to_native(), "to_pyarrow_batches") else frame

    def with_hash(self, frame: Frame, key: str, salt: str) -> Frame:
        return super().with_hash(self.near(frame), key, salt)


class Spark(Engine):
    """A Spark session, local or on a cluster; one that runs already is used and left running.

    Parameters
    ----------
    scratch : Path
        A folder that every worker can read and write.
    master : str
        The address of the cluster.
    memory : int
        The most bytes that the driver may use.
    """

    name = "spark"

    def __init__(self, scratch: Path, master: str = "local[2]", memory: int = 4 * 10**9) -> None:
        super().__init__(scratch)
        self._session, self._is_ours = _spark_session(scratch, master, memory)

    def open(self, path: str | Path) -> Frame:
        with self.trouble():
            rows = self._session.read.parquet(str(path))
        return _by_position(rows)

    def plain(self, kind: pl.DataType) -> pl.DataType:
        """Spark has neither nanoseconds nor unsigned 64-bit integers."""
        precise = isinstance(kind, pl.Datetime) and kind.time_unit == "ns"
        return pl.Int64() if precise or kind == pl.UInt64 else super().plain(kind)

    def table(self, name: str) -> tuple[list[str], Frame]:
        """Column names and rows of a table of the catalogue, or of parquet files at a path."""
        with self.trouble():
            is_path = "/" in name
            rows = self._session.read.parquet(name) if is_path else self._session.table(name)
        return rows.columns, _by_position(rows)

    def write(self, frame: Frame, path: Path) -> None:
        with self.trouble():
            frame.to_native().write.parquet(str(path))

    def with_hash(self, frame: Frame, key: str, salt: str) -> Frame:
        from pyspark.sql import functions

        hashed = functions.md5(functions.concat(functions.lit(salt), functions.col(key)))
        found: Frame = nw.from_native(frame.to_native().withColumn("hash", hashed))
        return found

    def close(self) -> None:
        if self._is_ours:
            self._session.stop()


def _by_position(rows: Any) -> Frame:
    named: Frame = nw.from_native(rows.toDF(*(f"c{i}" for i in range(len(rows.columns)))))
    return named


_ANSWERS = {
    "spark.sql.caseSensitive": "true",
    "spark.sql.legacy.parquet.nanosAsLong": "true",
    "spark.sql.session.timeZone": "UTC",
}
"""Settings on which Spark's answers depend."""
_ALONE = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": "4",
}
"""Settings of a local session, so that no other machine can reach it."""
LEAST_FOR_SPARK = 500_000_000
"""The least memory, in bytes, with which Spark starts."""


def _spark_session(scratch: Path, master: str, memory: int) -> tuple[Any, bool]:
    """A Spark session with tamis's settings, and whether tamis started it and must stop it."""
    try:
        from pyspark.errors import PySparkRuntimeError
        from pyspark.sql import SparkSession
    except ModuleNotFoundError:
        raise MissingExtra(
            "--engine spark needs PySpark; pip install 'tamis[spark]', or use --engine duckdb"
        ) from None
    try:
        beside = SparkSession.active().newSession()
    except PySparkRuntimeError:  # none runs
        return _started_session(SparkSession.builder, scratch, master, memory), True
    for name, value in _ANSWERS.items():
        beside.conf.set(name, value)
    return beside, False


def _started_session(builder: Any, scratch: Path, master: str, memory: int) -> Any:
    if memory < LEAST_FOR_SPARK:
        raise InputError(
            f"Spark needs {LEAST_FOR_SPARK // 10**6}MB of memory or more, got "
            f"{memory / 1e6:.0f}MB; allow more with --memory, or use --engine duckdb, which needs "
            "less"
        )
    settings: dict[str, Any] = {
        **_ANSWERS,
        **(_ALONE if master.startswith("local") else {}),
        "spark.driver.memory": f"{memory // 2**20}m",
        "spark.local.dir": str(scratch),
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
    }
    try:
        with panics_unheard(), warnings.catch_warnings():  # Java inherits the silenced stderr
            warnings.simplefilter("ignore")
            return builder.appName("tamis").master(master).config(map=settings).getOrCreate()
    except Exception as error:
        raise InputError(
            f"Spark did not start at {master} ({type(error).__name__}); it needs Java 17 or later "
            "(Debian: apt install openjdk-17-jre-headless, and JAVA_HOME if it is elsewhere) and "
            "an address that answers; --engine duckdb works without either"
        ) from None
