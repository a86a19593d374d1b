"""The checks of `tamis.verification.verify` for files larger than memory, counted by an engine.

The file is read once, in parts. Each part is compared with the manifest and written to the scratch
folder, together with the person of each row where the holder's private part has it. Promises and
unique rows are counted from there. For equivalence classes the engine counts the sensitive values;
`tamis.verification.secret_groups` then applies its definitions to a few classes at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import narwhals as nw
import polars as pl

from tamis.errors import CannotMeet
from tamis.files import open_plain_file
from tamis.formulas import undone
from tamis.read.identifiers import content_of
from tamis.read.keys import LEAST, NEARLY, NEARLY_TEXTS, UNIQUE
from tamis.read.names import named_by_header
from tamis.rows.counts import (
    ALL,
    ROWS,
    ReleasedRows,
    SensitiveCounts,
    count_cells,
    count_distinct,
    count_rows,
    counted_average_risk,
    crowds_of,
    one_group,
    sensitive_counts,
    whole_classes,
)
from tamis.rows.counts import PEOPLE as MEMBERS
from tamis.rows.engines import BATCH, Engine, Frame
from tamis.rows.memory_only import unverified_by_engines
from tamis.stated import STATED, SecretGroup, reached_by_groups, worst_figure
from tamis.table import Table
from tamis.table_file import raw_parts
from tamis.verification.checks import Counts, target_column
from tamis.verification.form import (
    BOUNDS,
    label_columns,
    with_types,
    wrong_groups_of_values,
    wrong_ladders,
    wrong_parts,
    wrong_rows,
    wrong_schema,
)
from tamis.verification.layout import (
    PEOPLE,
    PRIVATE,
    SECRETS,
    is_folder,
)
from tamis.verification.people import DIGITS, number_header
from tamis.verification.presence import (
    PresentShares,
    Recounted,
    counted_shares,
    recounted_presence,
)
from tamis.verification.secret_groups import check_columns, hidden_secrets
from tamis.verification.written_rows import open_columns, outside_bounds, stated_columns

SECRET = "secret"
"""Name of the added column of sensitive values."""


class RowsBehindEngine:
    """The rows of a release file, read in parts and held by an engine once the schema is right."""

    def __init__(
        self,
        engine: Engine,
        folder: Path,
        content: dict[str, Any],
        register: Table | None = None,
    ) -> None:
        self.engine, self.folder, self.content = engine, folder, content
        self.register = register
        self.path, self.format = folder / content["file"]["name"], content["file"]["format"]
        private = any(entry.get("recount") == "private" for entry in content["promises"])
        self.has_kept_people = private and is_folder(folder / PRIVATE)
        self.hidden = hidden_secrets(folder)
        self.frame: Frame | None = None
        self.looks: dict[str, str] = {}
        """Columns that look like identifiers by their values, and what they look like."""
        self.labels: dict[str, set[str]] = {name: set() for name in label_columns(content)}
        """The distinct labels seen so far, by column."""

    def wrong_schema(self) -> str:
        """What does not fit the manifest; parts that fit are handed to the engine."""
        if reason := unverified_by_engines(self.content):
            return reason
        with ExitStack() as opened:
            private = self.folder / PRIVATE
            kept = [
                (private / PEOPLE, int(self.has_kept_people)),
                (private / SECRETS, len(self.hidden)),
            ]
            beside = [
                _Numbers(opened.enter_context(open_plain_file(path)), path, columns)
                for path, columns in kept
                if columns
            ]
            self.frame = self.engine.keep(self._parts(beside))
            for numbers in beside:
                numbers.check_end()
        return wrong_rows(count_rows(self.engine, self.frame), self.content)

    def wrong_form(self) -> str:
        """What the file reveals besides its rows."""
        return wrong_parts(self.path, raw_parts(self.path, self.format, BATCH), self.content)

    def wrong_codes(self) -> str:
        """Always empty: a manifest with codes is refused by `wrong_schema`."""
        return ""

    def wrong_ladders(self) -> str:
        """Stated groups that no row has; the cells were checked when their part was read."""
        return "" if self.frame is None else wrong_groups_of_values(self.labels, self.content)

    outside_bounds = wrong_codes

    def recount_presence(self) -> Recounted:
        return recounted_presence(self.folder, self.content, self.register, self._present)

    def _present(self, forms: dict[str, Any], register: Table) -> PresentShares:
        """Extreme shares of the register's classes that are in the file, counted by the engine."""
        rows, names = self.rows, self.content["presence"]["columns"]
        cells, columns = one_group(rows.cells, rows.named(names))
        classes = pl.concat(rows.engine.batches(crowds_of(cells, columns, rows.who)))
        frame = classes.select(pl.col(c).alias(n) for n, c in zip(names, columns))
        return counted_shares(frame, self.content, forms, register, None, classes[MEMBERS])

    def has_people(self) -> bool:
        return bool(self.rows.who)

    def count_alike(self, entry: dict[str, Any], in_people: bool) -> int:
        return self.rows.reached(entry["columns"], in_people)

    def count_alone(self, columns: list[str], kind: str, in_people: bool) -> Counts:
        if kind == "containment":
            raise CannotMeet("anonymity by containment is counted in memory only")
        return self.rows.counts(columns, in_people)

    def reached_by_target(self, entry: dict[str, Any]) -> float:
        target = target_column(self.content)
        cells = nw.col(self.rows.columns[target["name"]])
        return self._reached(cells.cast(nw.Float64) if target["kind"] == "number" else cells, entry)

    def reached_by_secret(self, entry: dict[str, Any]) -> float:
        place = len(self.content["columns"]) + self.has_kept_people
        number = nw.col(f"c{place + self.hidden.index(entry['column'])}")
        return self._reached(nw.when(number > 0).then(number), entry)  # 0 is missing

    def _reached(self, secret: nw.Expr, entry: dict[str, Any]) -> float:
        """The value that the rows reach for an entry, with the sensitive values as `secret`."""
        rows = self.rows
        check_columns(entry, rows.columns)
        columns = rows.named(entry["columns"])
        of_risks = STATED[entry["key"]].of_risks
        if of_risks == "largest":
            return 1 / rows.reached(entry["columns"], in_people=True)
        if of_risks == "mean":
            return counted_average_risk(rows.engine, rows.cells, columns, rows.who)
        frame = rows.frame.with_columns(nw.lit(1).alias(ALL), secret.alias(SECRET))
        cells = count_cells(frame, [ALL, *columns, SECRET, *rows.who])
        counts = sensitive_counts(
            rows.engine, rows.engine.hold(cells), [ALL, *columns], SECRET, rows.who, number=True
        )
        usual = dict(zip(_numbers(counts), counts.values[ROWS].to_list()))
        parts = [reached_by_groups(entry, part, usual) for part in _parts(counts)]
        return worst_figure(entry, parts)

    def identifying(self, among: list[str]) -> dict[str, str]:
        """Columns whose values look like identifiers in some part, or hardly ever repeat."""
        like = {name: why for name, why in self.looks.items() if name in among}
        numbers = {c["name"] for c in self.content["columns"] if c["kind"] == "number"}
        for name in among if self.content["file"]["rows"] >= LEAST else ():
            nearly = NEARLY if name in numbers else NEARLY_TEXTS
            if name in like or not _hardly_repeats(self.rows, name, nearly):
                continue
            if name not in numbers or _whole(self.rows, name):
                like[name] = UNIQUE
        return like

    @cached_property
    def rows(self) -> ReleasedRows:
        """The rows to count; columns of bounds are left out, as they follow from their labels."""
        assert self.frame is not None
        columns = self.content["columns"]
        return ReleasedRows(
            self.engine,
            self.frame,
            {c["name"]: f"c{i}" for i, c in enumerate(columns) if c["role"] not in BOUNDS},
            target_column(self.content)["name"],
            [f"c{len(columns)}"] if self.has_kept_people else [],
        )

    def _parts(self, beside: list[_Numbers]) -> Iterator[pl.DataFrame]:
        """The parts, with the private numbers of their rows; an error at the first wrong part."""
        for raw in raw_parts(self.path, self.format, BATCH):
            frame = undone(raw) if self.format == "csv" else raw
            if wrong := wrong_schema(raw, self.content) or self._wrong_cells(frame):
                raise CannotMeet(wrong)
            self._look_at(frame)
            for name, labels in self.labels.items():
                labels.update(frame[name].drop_nulls().unique().to_list())
            columns = [s.alias(f"c{i}") for i, s in enumerate(frame.get_columns())]
            for numbers in beside:
                for column in numbers.of_next(frame.height):
                    columns.append(column.alias(f"c{len(columns)}"))
            yield pl.DataFrame(columns)

    def _wrong_cells(self, frame: pl.DataFrame) -> str:
        return wrong_ladders(frame, self.content) or outside_bounds(frame, self.content)

    def _look_at(self, frame: pl.DataFrame) -> None:
        """Remember columns of these rows that hold addresses, names and the like."""
        cells = with_types(frame, self.content)
        for name in (*open_columns(self.content), *stated_columns(self.content)):
            column = cells.get_column(name)
            if found := content_of(column):
                self.looks[name] = f"looks like {found.words}"
            elif why := named_by_header(column):
                self.looks[name] = why


class _Numbers:
    """A private file with numbers for each row, read in step with the rows."""

    def __init__(self, file: BinaryIO, path: Path, columns: int) -> None:
        self.file, self.name, self.columns = file, f"{PRIVATE}/{path.name}", columns
        self.header = number_header(path, columns)
        if file.readline(DIGITS * columns).rstrip() != self.header.encode():
            raise CannotMeet(f"{self.name} does not begin with {self.header!r}")

    def of_next(self, rows: int) -> list[pl.Series]:
        """The numbers of the next `rows` rows, column by column."""
        lines = [line.rstrip(b"\n").split(b",") for line in islice(self.file, rows)]
        short = all(
            len(line) == self.columns
            and all(cell.isdigit() and len(cell) < DIGITS - 1 for cell in line)
            for line in lines
        )
        if len(lines) < rows or not short:
            raise CannotMeet(f"{self.name} does not hold a {self.header} for each row")
        return [pl.Series([int(line[i]) for line in lines]) for i in range(self.columns)]

    def check_end(self) -> None:
        if self.file.read(1):
            raise CannotMeet(f"{self.name} has more lines than the file has rows")


def _hardly_repeats(rows: ReleasedRows, name: str, nearly: float) -> bool:
    """Whether at least the share `nearly` of the present values of a column are distinct."""
    present = rows.cells.filter(~nw.col(rows.columns[name]).is_null())
    total = count_rows(rows.engine, present)
    distinct = count_distinct(rows.engine, present, [rows.columns[name]])
    return total >= LEAST and distinct >= nearly * total


def _whole(rows: ReleasedRows, name: str) -> bool:
    """Whether a column, which may hold numbers as texts, holds only whole ones."""
    number = nw.col(rows.columns[name]).cast(nw.Float64)
    return not count_rows(rows.engine, rows.cells.filter(number != number.floor()))


def _numbers(counts: SensitiveCounts) -> list[int]:
    """The number of each sensitive value: 0 if missing, larger for larger values."""
    missing = counts.values[counts.sensitive].is_null()
    return [0 if gone else i + 1 for i, gone in enumerate(missing)]


def _parts(counts: SensitiveCounts) -> Iterator[list[SecretGroup]]:
    """The equivalence classes, in batches that never split a class."""
    numbers = _numbers(counts)
    for part in whole_classes(counts):
        # Where people have several rows, a person counts once for each value: the counts of the
        # values then add up to more than the people, who are counted beside them.
        people = pl.col(MEMBERS).first() if counts.several else pl.col(ROWS).sum()
        groups = part.group_by("class", maintain_order=True).agg(people.alias("of"), "value", ROWS)
        rows = groups.select("of", "value", ROWS).iter_rows()
        yield [SecretGroup(n, {numbers[v]: c for v, c in zip(vs, cs)}) for n, vs, cs in rows]
