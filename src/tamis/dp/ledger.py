"""The ledger: the privacy cost of each table so far, over all its releases.

The costs of several releases of one table add up. So the data holder keeps a file of what was spent
on which table, identified by content and by name: a copy in any format is the same table, and a
changed file of the same name is about the same people. The file is private and is never published.

A ledger that was emptied, truncated or edited is an error: it is never empty, since it is created
with its first lines in it, and it ends with a hash of its entries.

Fingerprints say whether two files hold the same people's data. They compare the rows as a multiset
of values, however they are stored: the format and compression of the file, the order of rows and
columns, the names of columns, and whether ``1`` is a number or a text, ``1.0`` or ``true``, make no
difference. Two tables are the same

- if all their rows are, apart from constant columns, or
- if more than half of the telling columns of the one with fewer are among those of the other:
  columns were dropped, added or derived. A column is telling if it has many distinct values, so
  that an unrelated column is not expected to have the same values with the same frequencies.

In doubt two tables count as the same: adding the cost of another table is harmless, and forgetting
a cost is not.
"""

from __future__ import annotations

import errno
import json
import math
import os
import secrets
import stat
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from filelock import FileLock

from tamis.dp import LEDGER
from tamis.dp.budget import BUDGET_ROUNDING, check_epsilon
from tamis.errors import CannotMeet, InputError, listed

if TYPE_CHECKING:
    from tamis.binary.records import BinaryTable


FEWEST_VALUES = 10
"""Least number of distinct values of a telling column."""
MOST_COLUMNS = 256
"""Most telling columns to remember: those with the lowest hashes."""
DIGITS = 6
"""Significant digits to compare: those that survive storage as a 32-bit float."""
MISSING = ("", "na", "n/a", "#n/a", "nan", "null", "none", "nil", "missing", "?", ".", "-")
"""Texts that mean a missing cell in some format, in lower case."""
_TRUTHS = {"true": "1", "false": "0"}
_DAY = r"\d{4}-\d\d-\d\d"
_MOMENTS = {
    rf"^({_DAY})[t ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(?:z|[+-]00:?00)?$": "$1 $2",
    rf"^({_DAY} \d\d:\d\d:\d\d(?:\.\d*[1-9])?)\.?0*$": "$1",
    rf"^({_DAY} \d\d:\d\d):00$": "$1",
    rf"^({_DAY}) 00:00$": "$1",
}
"""Replacements that bring times to one form: without T, a zone of 0, and trailing zeros."""


@dataclass(frozen=True)
class Fingerprint:
    """The stored identity of a table: a hash of its rows, and one of each telling column."""

    rows: str = ""
    columns: tuple[str, ...] = ()

    def same(self, other: Fingerprint) -> bool:
        """Whether both are of the same table, or of a table and a part of its columns."""
        if self.rows and self.rows == other.rows:
            return True
        # A full list was cut at its highest hash and says nothing of those above: compare below.
        full = [f.columns[-1] for f in (self, other) if len(f.columns) == MOST_COLUMNS]
        mine, theirs = (
            {c for c in f.columns if all(c <= last for last in full)} for f in (self, other)
        )
        return 2 * len(mine & theirs) > min(len(mine), len(theirs))


def fingerprint(frame: pl.DataFrame, missing: Collection[str] = ()) -> Fingerprint:
    """The fingerprint of a table.

    Parameters
    ----------
    frame : polars frame
        The cells as they are stored; texts may be numbers.
    missing : texts, optional
        Further texts that mean a missing cell.

    Examples
    --------
    >>> typed = pl.DataFrame({"age": [31, 47], "ill": [True, None]})
    >>> texts = pl.DataFrame({"sick": ["?", "True"], "years": ["47.0", "31"]})
    >>> fingerprint(typed).same(fingerprint(texts))
    True
    """
    markers = {*MISSING, *(text.strip().lower() for text in missing)}
    coded = [_coded(frame.get_column(name), markers) for name in frame.columns]
    varied = sorted((c for c in coded if c.distinct > 1), key=lambda column: column.hash)
    telling = sorted({c.hash for c in varied if c.telling})
    return Fingerprint(_hash_rows(varied), tuple(telling[:MOST_COLUMNS]))


def fingerprint_records(records: BinaryTable) -> Fingerprint:
    """The fingerprint of sparse records, by each record's items and label."""
    names = [name.strip().lower() for name in records.features]
    labels = [""] * records.rows if records.labels is None else records.labels.tolist()
    ends, items = records.matrix.indptr.tolist(), records.matrix.indices.tolist()
    rows = sorted(
        "\0".join([str(label), *sorted(names[i] for i in items[ends[row] : ends[row + 1]])])
        for row, label in enumerate(labels)
    )
    return Fingerprint(sha256("\n".join(rows).encode()).hexdigest())


@dataclass(frozen=True)
class _Coded:
    """A column: a hash of its values with their frequencies, and the rank of each cell's value."""

    hash: str
    codes: pl.Series
    distinct: int
    telling: bool


def _coded(column: pl.Series, markers: Collection[str]) -> _Coded:
    cells = _canonical(column, markers)
    values = cells.group_by("number", "text").len().sort("number", "text").with_row_index("code")
    codes = cells.join(
        values, on=["number", "text"], how="left", nulls_equal=True, maintain_order="left"
    ).get_column("code")
    digest = sha256(values.get_column("number").fill_null(np.nan).to_numpy().tobytes())
    digest.update(values.get_column("len").cast(pl.UInt64).to_numpy().tobytes())
    digest.update("\0".join(values.get_column("text").fill_null("").to_list()).encode())
    telling = values.height >= FEWEST_VALUES and not _is_count_up(values)
    return _Coded(digest.hexdigest()[:16], codes, values.height, telling)


def _canonical(column: pl.Series, markers: Collection[str]) -> pl.DataFrame:
    """Each cell as a number or else as a text; both are null if it is missing."""
    text = _as_text(column).str.strip_chars().str.to_lowercase()
    for form, shorter in _MOMENTS.items():
        text = text.str.replace(form, shorter)
    text = text.replace(_TRUTHS)
    text = text.set(text.is_in(list(markers)).fill_null(True), None)
    number = text.cast(pl.Float64, strict=False)
    number = number.set(~number.is_finite().fill_null(True), None)
    number = number.round_sig_figs(DIGITS)
    number = number.set((number == 0.0).fill_null(False), 0.0)  # minus zero, too
    return pl.DataFrame({"number": number, "text": text.set(number.is_not_null(), None)})


def _as_text(column: pl.Series) -> pl.Series:
    kind = column.dtype
    if isinstance(kind, pl.Datetime):
        zone = column if kind.time_zone is None else column.dt.convert_time_zone("UTC")
        return zone.dt.replace_time_zone(None).dt.to_string("%Y-%m-%d %H:%M:%S%.f")
    if kind.is_nested() or kind in (pl.Binary, pl.Object):
        return pl.Series([repr(value) for value in column.to_list()], dtype=pl.String)
    if isinstance(kind, pl.Duration):
        column = column.dt.total_microseconds()
    return column.cast(pl.String)


def _is_count_up(values: pl.DataFrame) -> bool:
    """Whether values are consecutive numbers of equal frequency: row numbers, or a design.

    Unrelated tables of the same size have such columns in common.
    """
    number = values.get_column("number")
    steps = number.diff().drop_nulls()
    evenly = values.get_column("len").n_unique() == 1
    return not number.null_count() and evenly and bool((steps == 1).all())


def _hash_rows(columns: Sequence[_Coded]) -> str:
    """A hash of the rows, whatever their order; empty without columns."""
    if not columns:
        return ""
    # Big-endian, and each row one byte string: sorted, they are the same on every machine.
    codes = np.column_stack([c.codes.to_numpy().astype(">u4") for c in columns])
    rows = np.ascontiguousarray(codes).view(np.dtype((np.void, 4 * len(columns)))).ravel()
    digest = sha256(" ".join(c.hash for c in columns).encode())  # what the codes stand for
    digest.update(np.sort(rows).tobytes())
    return digest.hexdigest()


SCHEMA = "tamis-ledger"
VERSION = 2
UNHASHED = 1
"""The version of ledgers without a hash at the end."""


@dataclass(frozen=True)
class Entry:
    """One expense: a use of a table.

    Parameters
    ----------
    table : str
        The absolute path of the table.
    sha256 : str
        The hash of the bytes of its file.
    epsilon, delta : float
    into : str
        The output that was made.
    neighbours : str
        The neighbours for which the cost was counted.
    guarantee : bool
        Whether differential privacy holds at all; not if bounds were taken from the data.
    date, id : str
        The time, and a unique name.
    rows, columns
        The fingerprint of the table's content, see `Fingerprint`.
    """

    table: str
    sha256: str
    epsilon: float
    delta: float = 0.0
    into: str = ""
    neighbours: str = "add-remove"
    guarantee: bool = True
    date: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    id: str = field(default_factory=lambda: secrets.token_hex(8))
    rows: str = ""
    columns: tuple[str, ...] = ()

    def same_table(self, other: Entry) -> bool:
        """Whether both are about the same table, by path, file or content."""
        if self.table == other.table or self.sha256 == other.sha256:
            return True
        mine, theirs = (Fingerprint(e.rows, tuple(e.columns)) for e in (self, other))
        return mine.same(theirs)


@dataclass(frozen=True)
class Account:
    """All entries for one table, under any of its names."""

    entries: tuple[Entry, ...]

    @property
    def epsilon(self) -> float:
        return math.fsum(e.epsilon for e in self.entries)

    @property
    def kept(self) -> bool:
        """Whether every release kept its guarantee, so that the sum means something."""
        return all(e.guarantee for e in self.entries)

    def words(self) -> str:
        """The sum as a sentence.

        >>> Account((Entry("a.csv", "", 1.0), Entry("a.csv", "", 0.5))).words()
        'epsilon 1.5 is spent on this table in total, over 2 releases'
        """
        many = f"{len(self.entries)} release{'' if len(self.entries) == 1 else 's'}"
        words = f"epsilon {self.epsilon:.6g} is spent on this table in total, over {many}"
        if not self.kept:
            words += "; at least one of them took bounds from the data, so no epsilon holds for it"
        if len({e.neighbours for e in self.entries}) > 1:
            words += "; they were counted for different neighbours, so treat the sum with caution"
        return words


class Ledger:
    """The file of what was spent on which table, readable by its owner alone (mode 0600).

    Parameters
    ----------
    path : path
        Created by the first expense.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     ledger = Ledger(Path(folder) / "ledger.json")
    ...     with ledger.spending(Entry("/data/stays.csv", "ab12", 1.0)) as spent:
    ...         spent.keep()
    ...     ledger.account("/data/copy.csv", "ab12").epsilon
    1.0
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def account(
        self, table: str, sha256: str, *, rows: str = "", columns: Sequence[str] = ()
    ) -> Account:
        """What was spent on a table under any of its names and contents."""
        if not self.path.exists():
            return Account(())
        like = Entry(table, sha256, math.inf, rows=rows, columns=tuple(columns))
        with self._locked() as entries:
            return _account(entries, like)

    def recall(self, earlier: Iterable[Entry]) -> None:
        """Enter the costs of earlier releases that the ledger has no entry for.

        They stay whatever comes next, since they were spent.
        """
        wanted = list(earlier)
        if not wanted:
            return
        with self._locked() as entries:
            new = [e for e in wanted if e.into not in _made(entries, e)]
            if new:
                self._write([*entries, *new])

    @contextmanager
    def spending(self, entry: Entry, most: float | None = None) -> Iterator[Spending]:
        """Enter a cost before noise is drawn; it is removed again if the block fails.

        The entry is in the file while the block runs, so that it stays even if the process is
        killed. An error removes it, unless the block has called `keep`, which it must do before any
        output gets its final name.

        Parameters
        ----------
        entry : Entry
        most : float, optional
            The most that may be spent on the table in total; `CannotMeet` beyond it.
        """
        account = self._enter(entry, most)
        spending = Spending(account)
        try:
            yield spending
        except BaseException:
            if not spending.kept:
                self._take_out(entry)
            raise

    def _enter(self, entry: Entry, most: float | None) -> Account:
        check_epsilon(entry.epsilon)
        with self._locked() as entries:
            before = _account(entries, entry)
            after = Account((*before.entries, entry))
            if most is not None:
                _check_most(before, after, most, self.path)
            self._write([*entries, entry])
            return after

    def _take_out(self, entry: Entry) -> None:
        with self._locked() as entries:
            self._write([e for e in entries if e.id != entry.id])

    @contextmanager
    def _locked(self) -> Iterator[list[Entry]]:
        """The entries, read under a lock that keeps other processes out.

        The lock is a file beside the ledger, because each write replaces the ledger itself. Links
        are resolved, so that two names of one ledger share one lock.
        """
        place = self.path.resolve()
        if not place.parent.is_dir():  # taking the lock would create the folder
            raise self._cannot_keep(FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT)))
        lock = FileLock(place.with_name(f".{place.name}.lock"), mode=0o600)
        try:
            lock.acquire()
        except OSError as error:
            raise self._cannot_keep(error) from None
        try:
            if not self.path.exists():
                self._write([])  # so that a ledger is never empty
            yield self._read()
        finally:
            lock.release()

    def _cannot_keep(self, error: OSError) -> InputError:
        return InputError(
            f"cannot keep a ledger at {self.path}: {error.strerror}; nothing was "
            "spent; name another file with --ledger FILE"
        )

    def _content(self) -> bytes:
        try:
            # Without blocking: opening a named pipe would wait for its writer.
            handle = os.open(self.path, os.O_RDONLY | _FLAGS)
        except OSError as error:
            raise self._cannot_keep(error) from None
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise InputError(
                    f"{self.path} is not a regular file; name another with --ledger FILE"
                )
            return file.read()

    def _read(self) -> list[Entry]:
        content = self._content()
        try:
            found = json.loads(content)
            if found["schema"] != SCHEMA or found["version"] not in (UNHASHED, VERSION):
                raise ValueError
            if found["version"] == VERSION and found["sha256"] != _hash(found["entries"]):
                raise ValueError
            return [_entry(each) for each in found["entries"]]
        except (ValueError, KeyError, TypeError, RecursionError):
            words = (
                "is damaged: it is empty"
                if not content.strip()
                else ("is not a ledger that this tamis can read, or was cut short or edited")
            )
            raise InputError(
                f"{self.path} {words}, so what was spent is unknown; restore it, or name another "
                "with --ledger FILE"
            ) from None

    def _write(self, entries: list[Entry]) -> None:
        try:
            self._draft(entries).replace(self.path)
        except OSError as error:
            raise self._cannot_keep(error) from None

    def _draft(self, entries: list[Entry]) -> Path:
        """Write a ledger to disk under a temporary name, mode 0600; `_write` renames it."""
        listed = [asdict(e) for e in entries]
        content = {"schema": SCHEMA, "version": VERSION, "entries": listed, "sha256": _hash(listed)}
        text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        with NamedTemporaryFile(
            "w", encoding="utf-8", dir=self.path.parent, prefix=f".{LEDGER}-", delete=False
        ) as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        return Path(file.name)


class Spending:
    """A cost that was entered; `keep` makes it permanent."""

    def __init__(self, account: Account) -> None:
        self.account = account
        self.kept = False

    def keep(self) -> None:
        self.kept = True


_FLAGS = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


def _hash(entries: object) -> str:
    """A hash of the entries as JSON, whatever the white space and the order of keys."""
    text = json.dumps(entries, sort_keys=True, allow_nan=False)
    return sha256(text.encode()).hexdigest()


def _entry(found: dict[str, Any]) -> Entry:
    entry = Entry(**{**found, "columns": tuple(found.get("columns", ()))})
    check_epsilon(entry.epsilon)
    texts = (entry.table, entry.sha256, entry.into, entry.neighbours, entry.date, entry.id)
    if not all(isinstance(text, str) for text in (*texts, entry.rows, *entry.columns)):
        raise ValueError
    if not isinstance(entry.guarantee, bool) or not 0 <= entry.delta < 1:
        raise ValueError
    return entry


def _account(entries: list[Entry], like: Entry) -> Account:
    """The entries about the table of an entry, directly or through others."""
    # The transitive closure: a table may be known by its name to one entry, by content to another.
    waiting, mine = [like], set[int]()
    while waiting:
        known = waiting.pop()
        new = [i for i, e in enumerate(entries) if i not in mine and e.same_table(known)]
        mine.update(new)
        waiting += [entries[i] for i in new]
    return Account(tuple(entries[i] for i in sorted(mine)))


def _made(entries: list[Entry], like: Entry) -> set[str]:
    """The outputs made from the table of an entry so far."""
    return {e.into for e in _account(entries, like).entries}


def _check_most(before: Account, after: Account, most: float, path: Path) -> None:
    check_epsilon(most)
    if not after.kept:
        raise CannotMeet(
            "with bounds taken from the data no epsilon holds, so no total can be kept; give "
            "public bounds, or leave out --max-epsilon"
        )
    if after.epsilon > most * (1 + BUDGET_ROUNDING):
        now = after.epsilon - before.epsilon
        raise CannotMeet(
            f"{before.epsilon:.6g} of epsilon is spent on this table{_named(before)}, and "
            f"{now:.6g} more would exceed --max-epsilon {most:.6g}; at most "
            f"{max(0.0, most - before.epsilon):.6g} is left (ledger: {path})"
        )


def _named(account: Account) -> str:
    """The names under which a table was used, in words; empty if there is only one."""
    names = list(dict.fromkeys(e.table for e in account.entries))
    return f" (as {listed(names, most=5)})" if len(names) > 1 else ""
