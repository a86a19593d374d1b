"""Inputs of differentially private commands: the public bounds file, and the ledger."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tamis.errors import InputError
from tamis.files import load_toml

if TYPE_CHECKING:
    from tamis.cli.table_source import TableSource
    from tamis.dp.ledger import Spending
    from tamis.table import Table


ENTRIES = ("bounds", "missing", "items", "rows")


class Public(NamedTuple):
    """Public facts about a table, known without looking at it.

    `bounds` are the declarations of the columns, `missing` those in which a cell may be missing,
    `items` the 0/1 columns to choose among, and `rows` about how many rows there are.
    """

    bounds: dict[str, Any]
    missing: list[str]
    items: list[str]
    rows: int | None = None

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Public:
        """The public facts in the settings of `dp`, which a configuration file may hold, too."""
        bounds, rows = dict(settings.get("bounds", {})), settings.get("rows")
        return cls(bounds, list(settings.get("missing", ())), list(settings.get("items", ())), rows)


def public_bounds(file: str | None) -> Public:
    """A table [bounds], and lists of columns that may be missing and of items; or nothing."""
    if file is None:
        return Public({}, [], [])
    content = load_toml(file, "--bounds")
    if set(content) - set(ENTRIES) or not isinstance(content.get("bounds", {}), dict):
        raise InputError(
            f"{file}: it may contain only a [bounds] table of column = [low, high], [values] or "
            "{ type = ... }, and above it missing = [columns], items = [names] and rows = N"
        )
    rows = content.get("rows")
    if rows is not None and (isinstance(rows, bool) or not isinstance(rows, int) or rows < 1):
        raise InputError(f"{file}: rows must be a whole number of at least 1")
    missing = _names(file, "missing", content.get("missing", []))
    items = content.get("items", [])
    listed = _item_lines(file, items) if isinstance(items, str) else _names(file, "items", items)
    return Public(content.get("bounds", {}), missing, listed, rows)


def _names(file: str, entry: str, value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise InputError(f"{file}: {entry} must be a list of names in quotes")
    if len(set(value)) < len(value):
        raise InputError(f"{file}: a name occurs twice in {entry}")
    return list(value)


def _item_lines(file: str, name: str) -> list[str]:
    """The items in a text file in the folder of the bounds file, one per line."""
    path = Path(file).parent / name
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise InputError(f"{file}: there is no text file {path} of items") from None
    return _names(file, "items", [line.strip() for line in lines if line.strip()])


def read_public(source: TableSource, public: Public, *, from_data: bool = False) -> Table:
    """The table with its columns converted as declared, without looking at the cells.

    Sparse records get the public items as columns, whether anybody has them or not.
    """
    if source.drop_unlabelled and not from_data:
        raise InputError(
            "--drop-unlabelled looks at cells, and no epsilon covers what is done for what they "
            "hold; declare the values of the target in --bounds, or remove these rows first"
        )
    if source.sparse:
        return _sparse(source, public, from_data)
    from tamis.dp.domain import axis, brought
    from tamis.read import check_table, without_empty
    from tamis.table import only

    rules = source.rules()
    table = source.read(as_text=tuple(public.bounds))
    rules.check_columns(table.frame.columns)
    known = [c for c in public.bounds if c in table.frame.columns]
    of = [
        axis(c, public.bounds[c], missing=c in public.missing, label=c == table.roles.target)
        for c in known
    ]
    frame = brought(table.frame, of)
    if from_data:
        table = without_empty(replace(table, frame=frame))
        check_table(table)
        return table
    # Undeclared columns that later steps cannot use are left out: nothing is drawn from them.
    useless = [c for c in table.features if c not in known and _useless(frame.get_column(c))]
    useful = [name for name in frame.columns if name not in set(useless)]
    quasi = table.roles.quasi and tuple(c for c in table.roles.quasi if c not in useless)
    return replace(table, frame=only(frame, useful), roles=replace(table.roles, quasi=quasi))


def _useless(column: Any) -> bool:
    from tamis.read import LARGEST_NUMBER

    huge = column.dtype.is_float() and (column.alias("").abs() > LARGEST_NUMBER).any()
    return bool(column.null_count() == column.len() or huge)


def _sparse(source: TableSource, public: Public, from_data: bool) -> Table:
    from tamis.dp.selector import within_items
    from tamis.table import Roles, Table

    if not public.items:
        if from_data:
            return source.read_wide()
        raise InputError(
            "the items of sparse records come from the data, and naming one reveals that somebody "
            "has it; list the publicly known items in the file given with --bounds: "
            'items = ["a", "b"], or items = "FILE" with one per line'
        )
    records = within_items(source.read_binary(), public.items)
    source.check_size(records)
    target = None if records.labels is None else records.target
    return Table(records.frame(), Roles(target=target))


@contextmanager
def spending(
    source: TableSource,
    epsilon: float,
    into: Path,
    *,
    ledger: str | None,
    most: float | None,
    neighbours: str,
    guarantee: bool = True,
    earlier: Mapping[str, Mapping[str, Any]] | None = None,
) -> Iterator[Spending]:
    """Enter what a release of the table will cost, before anything is drawn.

    What `earlier` releases cost, by their folders, is entered first if the ledger lacks it.
    """
    from tamis.cli.table_source import absolute, digest_of
    from tamis.dp.ledger import Entry, Ledger
    from tamis.read.text import file_at

    file_at(source.table.partition("::")[0])
    table = absolute(source.table)
    told = source.fingerprint()
    entry = Entry(
        table,
        digest_of(table),
        epsilon,
        into=str(into.resolve()),
        neighbours=neighbours,
        guarantee=guarantee,
        rows=told.rows,
        columns=told.columns,
    )
    book = Ledger(ledger_path(source, ledger))
    book.recall(
        Entry(
            table,
            entry.sha256,
            cost["epsilon"],
            cost["delta"],
            into=folder,
            neighbours=cost["neighbours"],
            rows=told.rows,
            columns=told.columns,
        )
        for folder, cost in (earlier or {}).items()
    )
    with book.spending(entry, most) as spent:
        yield spent


def ledger_path(source: TableSource, ledger: str | None) -> Path:
    """The file that was named, or the usual one beside the table."""
    from tamis.dp import LEDGER

    if ledger is not None:
        return Path(ledger)
    return Path(source.table.partition("::")[0]).resolve().parent / LEDGER


def spending_words(spent: Spending, path: Path) -> str:
    """The total budget spent, in a sentence."""
    words = spent.account.words()
    return f"{words[0].upper()}{words[1:]} (ledger: {path})."


def total(spent: Spending, path: Path) -> dict[str, Any]:
    """The total budget spent, as entries of the JSON output."""
    return {"epsilon_total": spent.account.epsilon, "ledger": str(path)}
