"""The questions that the checks of a published file ask of its rows, and their answers in memory.

`behind_engine` answers the same questions for files larger than memory.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from tamis.catalogue.methods import RECORDED
from tamis.formulas import undone
from tamis.people import People
from tamis.read.keys import identifying_columns
from tamis.table import Table, bare, only
from tamis.table_file import read_cells
from tamis.verification.checks import Counts, count_alone, measure, target_column
from tamis.verification.form import (
    label_columns,
    with_types,
    wrong_dictionary,
    wrong_form,
    wrong_groups_of_values,
    wrong_ladders,
    wrong_rows,
    wrong_schema,
)
from tamis.verification.layout import PRIVATE, SECRETS
from tamis.verification.people import kept_people, link_column, read_numbers, wrong_link
from tamis.verification.presence import Recounted, counted_shares, recounted_presence
from tamis.verification.secret_groups import (
    Secrets,
    hidden_secrets,
    measured_entry,
    numbered_secrets,
)
from tamis.verification.value_shapes import is_finite_number

RANGED = ("number", "feature")
"""Kind and role of columns whose public bounds are a range; others list every possible value."""


class WrittenRows(Protocol):
    """The rows of a published file.

    Methods that return a text say what is wrong, empty where nothing is; `wrong_schema` is called
    before all others.
    """

    def wrong_schema(self) -> str: ...

    def wrong_form(self) -> str: ...

    def wrong_codes(self) -> str: ...

    def wrong_ladders(self) -> str: ...

    def outside_bounds(self) -> str: ...

    def has_people(self) -> bool:
        """Whether people may have several rows and the person of each row is known."""

    def count_alike(self, entry: dict[str, Any], in_people: bool) -> int:
        """The size of the smallest group of rows, or people, that a promise is about."""

    def count_alone(self, columns: list[str], kind: str, in_people: bool) -> Counts:
        """The exposure by the given known columns, and by all columns."""

    def reached_by_target(self, entry: dict[str, Any]) -> float:
        """The measure of an entry over equivalence classes, with the target as sensitive column."""

    def reached_by_secret(self, entry: dict[str, Any]) -> float:
        """The measure of an entry over equivalence classes, with the secrets the holder keeps."""

    def recount_presence(self) -> Recounted:
        """Delta-presence, counted in the register if there is one."""

    def identifying(self, among: list[str]) -> dict[str, str]:
        """Those of the given columns that look like identifiers, each with the reason."""


class RowsInMemory:
    """The rows of a published file, read whole."""

    def __init__(
        self, folder: Path, content: dict[str, Any], *, register: Table | None = None
    ) -> None:
        self.folder, self.content, self.register = folder, content, register
        self.path = folder / content["file"]["name"]
        self.raw = read_cells(self.path, content)

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The cells without the apostrophes that keep spreadsheets from running them."""
        return undone(self.raw) if self.content["file"]["format"] == "csv" else self.raw

    @cached_property
    def mixed(self) -> pl.DataFrame:
        """The rows shuffled: sorted as in the file, columns could be mistaken for row numbers."""
        return with_types(self.frame, self.content).sample(fraction=1.0, shuffle=True, seed=0)

    @cached_property
    def people(self) -> People | None:
        """The person of each row; `None` where only an absent private part has them."""
        return kept_people(self.folder, self.frame, self.content)

    @cached_property
    def hidden(self) -> list[str]:
        """The sensitive columns that are kept apart from the file."""
        return hidden_secrets(self.folder)

    @cached_property
    def secrets(self) -> Secrets:
        """The sensitive values that the holder keeps, one column for each of `hidden`."""
        rows, columns = self.frame.height, len(self.hidden)
        return read_numbers(self.folder / PRIVATE / SECRETS, rows, columns).reshape(rows, columns)

    @cached_property
    def targets(self) -> Secrets:
        """The values of the target, by number."""
        target = target_column(self.content)
        cells = self.frame.get_column(target["name"])
        return numbered_secrets(cells.cast(pl.Float64) if target["kind"] == "number" else cells)

    def wrong_schema(self) -> str:
        wrong = wrong_rows(self.raw.height, self.content) or wrong_schema(self.raw, self.content)
        return wrong or wrong_link(self.frame, self.content)

    def wrong_form(self) -> str:
        return wrong_form(self.path, self.raw, self.content)

    def wrong_codes(self) -> str:
        return wrong_dictionary(with_types(self.frame, self.content), self.content)

    def wrong_ladders(self) -> str:
        labels = {
            name: self.frame[name].drop_nulls().unique().to_list()
            for name in label_columns(self.content)
        }
        return wrong_ladders(self.frame, self.content) or wrong_groups_of_values(
            labels, self.content
        )

    def outside_bounds(self) -> str:
        return outside_bounds(self.frame, self.content)

    def has_people(self) -> bool:
        return self.people is not None

    def count_alike(self, entry: dict[str, Any], in_people: bool) -> int:
        return measure(entry, self.frame, self._who(in_people))

    def count_alone(self, columns: list[str], kind: str, in_people: bool) -> Counts:
        target, link = target_column(self.content)["name"], link_column(self.content)
        shown = only(self.frame, [name for name in self.frame.columns if name != link])
        return count_alone(shown, columns, kind, target, self._who(in_people))

    def reached_by_target(self, entry: dict[str, Any]) -> float:
        return measured_entry(entry, self.frame, self.targets, self.people)

    def reached_by_secret(self, entry: dict[str, Any]) -> float:
        secrets = self.secrets[:, self.hidden.index(entry["column"])]
        return measured_entry(entry, self.frame, secrets, self.people)

    def recount_presence(self) -> Recounted:
        return recounted_presence(
            self.folder,
            self.content,
            self.register,
            lambda forms, register: counted_shares(
                self.frame, self.content, forms, register, self.people
            ),
        )

    def identifying(self, among: list[str]) -> dict[str, str]:
        findings = identifying_columns(self.mixed, among=among)
        return {name: finding.why for name, finding in findings.items()}

    def _who(self, in_people: bool) -> People | None:
        return self.people if in_people else None


def stated_columns(content: dict[str, Any]) -> list[str]:
    """The features that the holder declared ordinary, or known to attackers."""
    return [c["name"] for c in content["columns"] if c["stated"] and c["role"] == "feature"]


def open_columns(content: dict[str, Any]) -> list[str]:
    """The columns that the holder declared nothing about, so that they must not look identifying.

    Numbers drawn or altered at random are left out: nearly all of them are distinct anyway.
    """
    drawn = RECORDED[content["method"]["name"]].numbers_at_random
    return [
        c["name"]
        for c in content["columns"]
        if not c["stated"] and not (drawn and c["kind"] == "number")
    ]


def outside_bounds(frame: pl.DataFrame, content: dict[str, Any]) -> str:
    """Name, in words, of the first column with a value outside the stated public bounds."""
    ranged = {c["name"] for c in content["columns"] if (c["kind"], c["role"]) == RANGED}
    for name, bound in content.get("budget", {}).get("bounds", {}).items():
        if not _within(bare(frame[name]).drop_nulls(), bound, name in ranged):
            return f"column {name!r} has values outside its public bounds"
    return ""


def _within(cells: pl.Series, bound: list[Any], ranged: bool) -> bool:
    if ranged:
        low, high = bound
        if not (is_finite_number(low) and is_finite_number(high) and low <= high):
            raise ValueError("no range")
        return bool(cells.cast(pl.Float64).is_between(low, high).all())
    # Booleans are written as true and false in both JSON and csv.
    allowed = [str(v).lower() if isinstance(v, bool) else str(v) for v in bound]
    return bool(cells.cast(pl.String).is_in(allowed).all())
