"""Printing and progress: results on stdout, messages on stderr, plain text unless on a terminal."""

from __future__ import annotations

import json
import math
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import click

from tamis.errors import Progress, ProgressShare, plural
from tamis.figures import percent
from tamis.serve import is_served, tell_server

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

    from tamis.binary.records import BinaryTable
    from tamis.rows.large_table import LargeTable
    from tamis.table import Table


_WIDE = 30
"""The most columns for which a table is described column by column."""


_FORMS = {"Date": ", as 2021-05-03", "Datetime": ", as 2021-05-03 10:30:00"}
"""How dates are written, by the type of the column."""


def console(stderr: bool = False) -> Console:
    """A console as wide as the terminal, or wide enough for a file."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    return Console(stderr=stderr, width=None if stream.isatty() else 110, highlight=False)


def rich_table(*columns: str, title: str = "", numbers: Sequence[str] = ()) -> RichTable:
    """An empty table; the columns named in `numbers` are right-aligned."""
    from rich import box
    from rich.table import Table

    table = Table(title=title or None, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, justify="right" if column in numbers else "left")
    return table


def escape(text: str) -> str:
    """A text escaped from the markup of rich, as wide as it is printed."""
    from rich.markup import escape as escaped

    return escaped("".join(c if _has(c) else ascii(c)[1:-1] for c in text))


def print_json(result: Mapping[str, Any]) -> None:
    """One JSON document on stdout; infinite or undefined numbers become null.

    Only text that a terminal shows as it is, in an encoding that has it, remains unescaped.
    """
    text = json.dumps(_plain(result), indent=2, ensure_ascii=False, allow_nan=False)
    click.echo(re.sub(r"[^ -~\n]", _shown, text))


def _shown(found: re.Match[str]) -> str:
    return found[0] if found[0].isprintable() and _has(found[0]) else json.dumps(found[0])[1:-1]


def _has(letter: str) -> bool:
    """Whether the encoding of the output has a letter: cp1252, as on Windows, has few."""
    try:
        letter.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):  # numpy scalars and arrays
        return _plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def nearness(margin: float, rival: str) -> str:
    """How close another candidate is to the chosen one, in weight to be moved.

    >>> nearness(0.083, "B"), nearness(0.0, "B")
    ('if 8.3% of the weight moves to other factors, B is as good', 'the score of B is the same')
    """
    if margin < 1e-9:
        return f"the score of {rival} is the same"
    return f"if {percent(margin)} of the weight moves to other factors, {rival} is as good"


def decimals(value: float | None) -> str:
    """A figure in a table; n/a where there is none.

    >>> decimals(0.25), decimals(None)
    ('0.250', 'n/a')
    """
    return "n/a" if value is None else f"{value:.3f}"


def bar(share: float, width: int = 40) -> str:
    """A bar of block characters, at least a sliver for anything above 0.

    >>> bar(0.5, 8)
    '████'
    """
    if not _has("▏"):
        return "#" * (max(1, round(share * width)) if share > 0 else 0)
    eighths = max(1, round(share * width * 8)) if share > 0 else 0
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()


def understood(table: Table) -> list[dict[str, Any]]:
    """How each column was understood, as plain records."""
    return [
        {
            "name": name,
            "role": table.role(name),
            "kind": table.kind(name),
            "distinct": table.frame[name].alias("").drop_nulls().n_unique(),
            "missing": table.frame[name].null_count(),
        }
        for name in table.frame.columns
    ]


def who_is_a_person(table: Table) -> str:
    """The columns that identify people, in one line.

    >>> import polars as pl
    >>> from tamis import Roles, Table
    >>> stays = Table(pl.DataFrame({"who": [7, 7, 9]}), Roles(identifiers=("who",)))
    >>> who_is_a_person(stays)
    "people: identified by 'who' (2 people, 3 rows)"
    >>> homes = Table(pl.DataFrame({"hhid": [7, 7, 9]}), Roles(identifiers=("hhid",)))
    >>> who_is_a_person(homes)
    "people: identified by 'hhid' (2 people, 3 rows); if its rows are different people, as in a \
household, pass --row-is-person, or name what tells them apart with --person"
    """
    names = " and ".join(repr(name) for name in table.person_columns)
    if names:
        by = f"people: identified by {names} ({table.everybody:,} people, {table.rows:,} rows)"
        return by + _shared_words(table) + other_people_words(table)
    if table.unit == "people":
        return "people: every row counts as a different person"
    return (
        "people: nothing identifies them, so rows are counted; name identifiers with "
        "--identifier, or pass --row-is-person"
    )


def _shared_words(table: Table) -> str:
    """Advice for tables where a household or a matched set is counted as one person."""
    from tamis.people import is_of_groups

    if table.everybody == table.rows or not all(map(is_of_groups, table.person_columns)):
        return ""
    return (
        "; if its rows are different people, as in a household, pass --row-is-person, or name what "
        "tells them apart with --person"
    )


def other_people_words(table: Table) -> str:
    """How many people there would be by other identifiers; empty if they agree.

    >>> import polars as pl
    >>> from tamis import Roles, Table
    >>> names = pl.DataFrame({"mrn": [71, 72, 73], "name": ["Ann Lee", "Ann Lee", "Bo Ek"]})
    >>> other_people_words(Table(names, Roles(identifiers=("mrn", "name"))))
    "; by 'name' 2 people with 1.5 rows each: --person says who counts"
    """
    found = [c for c in table.person_candidates if c.people != table.everybody]
    if not found:
        return ""
    return f"; {'; '.join(c.words() for c in found)}: --person says who counts"


def print_understood(table: Table | BinaryTable) -> None:
    """Print on stderr how the table was read."""
    from tamis.table import Table

    out = console(stderr=True)
    if not isinstance(table, Table):
        wide = plural(len(table.features), "column")
        out.print(f"read {plural(table.rows, 'row')}, {wide} of 0 and 1 besides {table.target}")
        return
    out.print(f"read {plural(table.rows, 'row')}, {plural(table.frame.width, 'column')}")
    out.print(who_is_a_person(table), markup=False)
    if table.frame.width > _WIDE:
        kinds = [table.kind(c) for c in table.frame.columns]
        numbers, dates = kinds.count("number"), kinds.count("date")
        others = f"{len(kinds) - numbers - dates:,} nominal"
        of_dates = f", {dates:,} of dates" if dates else ""
        out.print(f"{plural(numbers, 'numeric column')}{of_dates}, {others}")
        return
    shown = rich_table(
        "column", "role", "kind", "distinct", "missing", numbers=("distinct", "missing")
    )
    for c in understood(table):
        name = escape(c["name"])
        kind = c["kind"] + _FORMS.get(str(table.frame.schema[c["name"]].base_type()), "")
        shown.add_row(name, c["role"], kind, f"{c['distinct']:,}", f"{c['missing']:,}")
    out.print(shown)


def print_noticed(table: Table) -> None:
    """Print on stderr which identifiers tamis would have asked about, had nobody named them."""
    from tamis.read.keys import identifying_columns

    found = identifying_columns(table.frame, among=table.roles.identifiers)
    for name, finding in found.items():
        said = f"noticed: {name!r} {finding.why}; a release stops until its role is said"
        console(stderr=True).print(said, markup=False, soft_wrap=True)


def understood_large(large: LargeTable) -> list[dict[str, Any]]:
    """How each column of a table behind an engine was understood, as plain records."""
    counted = ("distinct", "missing")  # what nobody has counted
    return [
        {key: value for key, value in column.items() if key not in counted}
        for column in understood(large.shape)
    ]


def print_large(large: LargeTable) -> None:
    """Print on stderr how a table behind an engine was read."""
    out = console(stderr=True)
    width = plural(large.shape.frame.width, "column")
    out.print(f"{plural(large.rows, 'row')}, {width}, on {large.engine.name}")
    who = " and ".join(map(repr, large.person_columns)) or "nothing: each row counts as one"
    out.print(f"people: identified by {who}", markup=False)
    if large.shape.frame.width <= _WIDE:
        shown = rich_table("column", "role", "kind")
        for c in understood_large(large):
            shown.add_row(escape(c["name"]), c["role"], c["kind"])
        out.print(shown)


EVERY = 5.0
"""Seconds between two lines of progress where there is no bar."""


@contextmanager
def show_progress(wanted: bool = True) -> Iterator[Progress]:
    """A progress callback: a bar on a terminal, else a line now and then."""
    if not wanted:
        yield lambda words, done=0, total=0: None
    elif is_served():
        yield lambda words, done=0, total=0: tell_server(doing=words, done=done, total=total)
    elif sys.stderr.isatty():
        with _bar() as progress:
            yield progress
    else:
        with _lines() as progress:
            yield progress


@contextmanager
def _bar() -> Iterator[Progress]:
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as ProgressBar

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(24),
        TextColumn("{task.fields[place]}"),
        TimeElapsedColumn(),
    )
    with ProgressBar(*columns, console=console(stderr=True), transient=True) as bar:
        task, far = bar.add_task("", total=1.0, place=""), ProgressShare()

        def progress(words: str, done: int = 0, total: int = 0) -> None:
            place = f"{done}/{total} of this step" if total > 1 else ""
            share = far.tell(done, total)
            bar.update(task, description=words[:60], completed=share, place=place)

        yield progress


class Pace:
    """The latest progress, and an estimate of the time left in a step, which never rises.

    Where a step turns out to take longer than was said, no other time is said in its place: it
    would be as wrong.

    >>> pace = Pace(now=lambda: 0.0)
    >>> pace.tell("measuring a", 0, 4)
    >>> pace.now = lambda: 6.0
    >>> pace.tell("measuring b", 2, 4)
    >>> pace.words()
    'measuring b (3 of 4), 6 s so far, about 6 s left in this step'
    >>> pace.now = lambda: 30.0
    >>> pace.words()
    'measuring b (3 of 4), 30 s so far, longer than expected'
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self.now = now
        self.begun = self.step_begun = now()
        self.doing, self.done, self.total = "", 0, 0
        self.least = float("inf")

    def tell(self, words: str, done: int = 0, total: int = 0) -> None:
        if done == 0 or total != self.total:
            self.step_begun, self.least = self.now(), float("inf")
        self.doing, self.done, self.total = words, done, total

    def words(self) -> str:
        passed = self.now() - self.begun
        place = f" ({self.done + 1} of {self.total})" if self.total else ""
        text = f"{self.doing}{place}, {passed:.0f} s so far"
        if self.done == 0:
            return text
        left = (self.now() - self.step_begun) / self.done * (self.total - self.done)
        if round(left) > self.least:
            return f"{text}, longer than expected"
        self.least = round(left)
        return f"{text}, about {left:.0f} s left in this step"


@contextmanager
def _lines() -> Iterator[Progress]:
    pace, over = Pace(), Event()

    def say() -> None:
        while not over.wait(EVERY):
            if pace.doing:
                click.echo(f"tamis: {pace.words()}", err=True)

    speaker = Thread(target=say, daemon=True)
    speaker.start()
    try:
        yield pace.tell
    finally:
        over.set()
        speaker.join()
