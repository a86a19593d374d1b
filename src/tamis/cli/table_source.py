"""The table that a command is given: reading it into memory or behind an engine, and again later.

Nothing heavy is imported here: `tamis --help` must stay light.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tamis.catalogue.formats import SPARSE
from tamis.errors import InputError

if TYPE_CHECKING:
    from tamis.binary.records import BinaryTable
    from tamis.dp.ledger import Fingerprint
    from tamis.read.dialect import Dialect
    from tamis.read.schema import Schema
    from tamis.rows.engines import Engine
    from tamis.rows.large_table import LargeTable
    from tamis.rows.pairs import Pairs
    from tamis.table import Table

ELSEWHERE = ("postgresql://", "postgres://", "spark::")
"""Prefixes of tables that are in a database rather than a file."""
TEXT = ("encoding", "separator", "decimal", "thousands", "dates")
"""The options that say how a text file is written."""
MOST_CELLS = 50_000_000
"""Sparse records of more cells than this are not turned into a table."""


@dataclass(frozen=True)
class TableSource:
    """A table as named on the command line."""

    table: str
    target: str | None
    sensitive: str | tuple[str, ...] | None
    quasi: tuple[str, ...]
    identifier: tuple[str, ...]
    drop: tuple[str, ...]
    feature: tuple[str, ...]
    missing: tuple[str, ...]
    schema: str | None
    format: str | None
    encoding: str | None
    separator: str | None
    long: tuple[str, ...]
    labels: str | None
    label_item: tuple[str, ...]
    person: tuple[str, ...] = ()
    row_is_person: bool = False
    drop_unlabelled: bool = False
    weight: str | None = None
    exact_identifiers: bool = False
    decimal: str | None = None
    thousands: str | None = None
    dates: str | None = None
    target_bins: tuple[str, ...] = ()
    per_person: tuple[str, ...] = ()
    order: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.sensitive, str):  # a single column by itself, as most have it
            some = tuple(self.sensitive or ())
            object.__setattr__(self, "sensitive", some if len(some) > 1 else next(iter(some), None))
        if self.person and self.row_is_person:
            raise InputError(
                "--person names the columns that identify people and --row-is-person says that "
                "every row is a different person; give only one of them"
            )

    @property
    def who(self) -> tuple[str, ...] | None:
        """The columns that identify people: empty if every row is a person, `None` if not given."""
        return () if self.row_is_person else self.person or None

    @property
    def sparse(self) -> bool:
        """Whether the source holds sparse 0/1 records."""
        from tamis.read import format_of

        if self.table.startswith(ELSEWHERE):
            return False
        return bool(self.long) or (self.format or format_of(self.table)) in SPARSE

    @property
    def _roles(self) -> dict[str, Any]:
        """The schema of the columns, for readers."""
        return {
            "target": self.target,
            "sensitive": self.sensitive,
            "quasi": self.quasi or None,
            "identifier": self.identifier,
            "person": self.who,
            "drop": self.drop,
            "feature": self.feature,
            "weight": self.weight,
            "missing": self.missing,
            "exact_identifiers": self.exact_identifiers,
        }

    @property
    def text(self) -> dict[str, Any]:
        """How text files are read."""
        return {name: getattr(self, name) for name in TEXT}

    @property
    def _dialect(self) -> Dialect:
        from tamis.read.dialect import Dialect

        return Dialect(**self.text)

    @property
    def _pair(self) -> tuple[str, str]:
        """The two columns of a long table."""
        if len(self.long) != 2:
            raise InputError(f"--long takes two columns, ENTITY,FEATURE; got {len(self.long)}")
        return self.long[0], self.long[1]

    def rules(self) -> Schema:
        from tamis.read.schema import load_schema

        return load_schema(self.schema)

    def made_of_quasi(self, records: BinaryTable) -> list[str]:
        """The 0/1 features that were made of columns that attackers may know.

        None where nobody said which columns these are.
        """
        named = set(self.quasi or self.rules().roles.get("quasi") or ())
        return [c for c in records.features if records.sources.get(c, c) in named]

    def read(self, path: str | None = None, as_text: tuple[str, ...] = ()) -> Table:
        """The table of the named file, or of another file read in the same way.

        Columns to be read as text get their types elsewhere, and no cell is checked.
        """
        from tamis.read import read_table
        from tamis.read.target_bins import asked_bins

        rules = self.rules()
        columns = {**rules.columns, **dict.fromkeys(as_text, "text")}
        return read_table(
            path or self.table,
            **self._roles,
            **self.text,
            schema=replace(rules, columns=columns),
            format=None if path else self.format,
            check=not as_text,
            drop_unlabelled=self.drop_unlabelled,
            target_bins=asked_bins(self.target_bins, rules.roles),
            per_person=self.per_person or None,
            order=self.order,
        )

    def fingerprint(self) -> Fingerprint:
        """A fingerprint of the table's content, however it is stored."""
        from tamis.dp.ledger import fingerprint, fingerprint_records
        from tamis.read import stored_frame

        if self.sparse:
            return fingerprint_records(self.read_binary())
        frame = stored_frame(self.table, format=self.format, dialect=self._dialect)
        return fingerprint(frame, missing=(*self.rules().missing, *self.missing))

    def read_like(
        self, original: Table, path: str, check: bool = True, as_text: Sequence[str] = ()
    ) -> Table:
        """A table whose texts stay texts, as in the original, even where they look like numbers.

        Unchecked, it may lack the target or have columns without any value.
        """
        from tamis.read import read_table
        from tamis.read.schema import Schema

        rules = self.rules()
        reading: dict[str, Any] = {**self.text, "drop": self.drop}
        schema = Schema(
            missing=(*rules.missing, *self.missing), columns=dict.fromkeys(as_text, "text")
        )
        target = original.roles.target if check else None
        table = read_table(path, target=target, schema=schema, check=check, **reading)
        texts = [
            c
            for c in table.frame.columns
            if c in original.frame.columns
            and original.kind(c) == "nominal"
            and table.kind(c) in ("number", "date")
        ]
        if texts:
            schema = replace(schema, columns=dict.fromkeys((*texts, *as_text), "text"))
            table = read_table(path, target=target, schema=schema, check=check, **reading)
        named = original.roles.target if original.roles.target in table.frame.columns else None
        return table if check else replace(table, roles=replace(table.roles, target=named))

    def open_large(self, engine: Engine) -> LargeTable:
        """The table of the named file behind an engine, its rows not loaded."""
        from tamis.rows.large_table import check_large, labelled_large
        from tamis.rows.memory_only import READING, refuse_memory_only
        from tamis.rows.sources import open_large

        if self.sparse:
            raise InputError(
                "sparse 0/1 records are read into memory, except by tamis release of a --long "
                "table; leave --engine out, or pass --engine memory"
            )
        refuse_memory_only(vars(self), READING)
        roles = {name: value for name, value in self._roles.items() if name != "weight"}
        large = open_large(
            engine,
            self.table,
            **roles,
            dialect=self._dialect,
            schema=self.rules(),
            format=self.format,
        )
        large = labelled_large(large) if self.drop_unlabelled else large
        return check_large(large)

    def open_pairs(self, engine: Engine) -> Pairs:
        """The long table of the named file behind an engine, its pairs not loaded."""
        from tamis.rows.memory_only import READING, refuse_memory_only
        from tamis.rows.sources import open_pairs

        self._refuse_roles_of_tables()
        self._refuse_person()
        self._refuse_per_person()
        refuse_memory_only(vars(self), READING, ["label_item"])
        if self.target is None:
            raise InputError("a release needs a target; name the column with --target")
        return open_pairs(
            engine,
            self.table,
            *self._pair,
            self.target,
            labels=self.labels,
            format=self.format,
            drop_unlabelled=self.drop_unlabelled,
            dialect=self._dialect,
        )

    def read_with_roles(self) -> Table:
        """The table; an error if a column that could identify people has no given role."""
        from tamis.read.keys import refuse_unstated_identifiers

        table = self.read()
        refuse_unstated_identifiers(table)
        return table

    def read_wide(self, *, need_roles: bool = True) -> Table:
        """The table; sparse records as one of 0/1 columns, the label last."""
        from tamis.read import read_table

        if not self.sparse:
            return self.read_with_roles() if need_roles else self.read()
        records = self.read_binary()
        self.check_size(records)
        target = None if records.labels is None else records.target
        return read_table(records.frame(), target=target, person=self.who)

    def read_records(self) -> BinaryTable:
        """Sparse 0/1 records; one feature may be sensitive, and some may be left out."""
        self._refuse_roles_of_tables()
        records = self.read_binary().without(self.drop)
        if self.sensitive in (None, records.target):
            return records
        return records.with_sensitive(str(self.one_secret))

    @property
    def one_secret(self) -> str | None:
        """The sensitive feature of sparse records, which have one."""
        if isinstance(self.sensitive, tuple):
            raise InputError(
                "of sparse records one feature may be sensitive; name one with --sensitive"
            )
        return self.sensitive

    def check_size(self, records: BinaryTable) -> None:
        """Refuse sparse records that would make a table too large."""
        if records.rows * len(records.features) > MOST_CELLS:
            raise InputError(
                f"{records.rows:,} rows of {len(records.features):,} columns are too many for a "
                "table; choose some columns first with tamis select containment TABLE -o FILE"
            )

    def read_binary(self) -> BinaryTable:
        """Sparse 0/1 records, or a table converted to 0/1 by its schema or its values."""
        from tamis.binary.records import binarise, from_wide, is_binary
        from tamis.read import read_binary

        if not self.sparse:
            table, how = self.read_with_roles(), self.rules().binary
            return from_wide(table) if how is None and is_binary(table) else binarise(table, how)
        pair = self._pair if self.long else None
        self._refuse_person()
        self._refuse_per_person()
        records = read_binary(
            self.table,
            format=self.format,
            labels=self.labels,
            label_items=self.label_item,
            long=pair,
            target=self.target,
            drop_unlabelled=self.drop_unlabelled,
            **self.text,
        )
        return replace(records, unit="people" if self.row_is_person else "rows")

    def _refuse_roles_of_tables(self) -> None:
        for name in ("quasi", "identifier", "feature", "weight"):
            if getattr(self, name):
                raise InputError(
                    f"--{name} is for tables; of sparse records every feature may be known to "
                    "attackers, and --drop or --sensitive say which are not released"
                )

    def _refuse_per_person(self) -> None:
        if self.per_person:
            raise InputError(
                "--per-person is for tables; of sparse records every row is one entity already"
            )

    def _refuse_person(self) -> None:
        if self.person:
            raise InputError(
                f"--person names a column, but {self.table} is read as one row of 0 and 1 per "
                "entity; pass --row-is-person if each is a person, or give a table with that column"
            )


FILES = ("table", "schema", "labels")


def origin_of(source: TableSource) -> dict[str, Any]:
    """How the table was read, for a recipe, so that it can be read again."""
    given = asdict(source)
    for name in FILES:
        if given[name]:
            given[name] = str(absolute(given[name]))
    path = Path(str(source.table).partition("::")[0])
    return {
        "name": path.name.split(".")[0],
        "path": given["table"],
        "source": given,
        "sha256": {name: digest_of(given[name]) for name in FILES if given[name]},
    }


def absolute(path: str) -> str:
    """A path, with the table of a DuckDB file, that is valid from anywhere."""
    file, mark, rest = path.partition("::")
    return f"{Path(file).resolve()}{mark}{rest}"


def digest_of(path: str) -> str:
    """The SHA-256 of the file behind a path."""
    with open(path.partition("::")[0], "rb") as file:
        return file_digest(file, "sha256").hexdigest()


def register_origin(path: str) -> dict[str, str]:
    """Where a register is, for a recipe, so that it can be read again."""
    where = absolute(path)
    return {"path": where, "sha256": digest_of(where)}


def register_again(
    origin: dict[str, Any], table: Table | BinaryTable, path: str | None
) -> Table | None:
    """The register that a release was compared with; `None` where there was none."""
    from tamis.cli.population import read_register
    from tamis.table import Table

    known = origin.get("population")
    if known is None or not isinstance(table, Table):
        return None
    file = known["path"]
    if not Path(file.partition("::")[0]).is_file():
        raise InputError(f"there is no file {file}, the register of the population")
    if digest_of(file) != known["sha256"]:
        raise InputError(f"{file} is not the register that the release was compared with")
    return read_register(source_again(origin, path), file, table)


def source_again(origin: dict[str, Any], table: str | None) -> TableSource:
    """The table that a release was made from, to be read again; `table` is its new path."""
    if "source" not in origin:
        raise InputError("the release was not made from a file, so --reproduce cannot reproduce it")
    lists = ("quasi", "identifier", "person", "drop", "feature", "missing", "long")
    more = ("label_item", "target_bins", "per_person")
    given: dict[str, Any] = dict(origin["source"])
    source = TableSource(**given | {key: tuple(given.get(key, ())) for key in (*lists, *more)})
    if table is not None:
        source = replace(source, table=str(absolute(table)))
    for name in FILES:
        path = getattr(source, name)
        if path and not Path(str(path).partition("::")[0]).is_file():
            raise InputError(f"there is no file {path}; give the TABLE at its new path")
        if path and digest_of(path) != origin["sha256"][name]:
            raise InputError(f"{path} is not the file that the release was made from")
    return source
