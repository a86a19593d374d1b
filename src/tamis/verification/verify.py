"""`verify`: read a published folder again and check everything its manifest says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import fsum
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from tamis.catalogue.methods import RECORDED
from tamis.errors import CannotMeet, InputError, listed, plural
from tamis.formulas import undone
from tamis.notebook import in_short
from tamis.read.keys import identifying_columns
from tamis.stated import sentence
from tamis.table import Table, bare
from tamis.table_file import read_cells
from tamis.verification.checks import measure, wrong_exposure, wrong_known
from tamis.verification.claims import (
    NOT_CHECKED,
    budget_claim,
    counted_alone,
    counted_claims,
    only_stated,
    possible_not_promised,
)
from tamis.verification.form import (
    with_types,
    wrong_dictionary,
    wrong_form,
    wrong_ladders,
    wrong_rows,
    wrong_schema,
)
from tamis.verification.layout import (
    CHECK_WORDS,
    NAME,
    PRIVATE,
    RECIPE,
    REPORT,
    digest,
    is_folder,
    is_in_one_form,
    read_json,
    strangers,
)
from tamis.verification.people import (
    kept_people,
    rows_stated,
    wrong_left_out,
    wrong_names,
    wrong_people,
)
from tamis.verification.presence import Recounted, check_claimed_columns, recounted_presence
from tamis.verification.secret_groups import wrong_secret_groups
from tamis.verification.shape import contradiction, wrong_shape
from tamis.verification.value_shapes import is_finite_number

ROUNDING = 1e-9
MOST_EPSILON = 500.0
"""Beyond this the promised factor means nothing: any table would satisfy it."""
PRESENCE = "delta-presence"
"""The check that takes a register."""
RANGED = ("number", "feature")
"""Columns whose public bounds are a range; of others, every possible value is listed."""


@dataclass(frozen=True)
class Check:
    """One thing that was checked; `wrong` says what does not hold, `uncounted` why nobody could.

    `doubts` are what was seen and rests on the publisher's word, in words.
    """

    name: str
    wrong: str = ""
    uncounted: str = ""
    doubts: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        return not self.wrong

    @property
    def words(self) -> str:
        """What was checked, as a sentence."""
        return CHECK_WORDS[self.name]


@dataclass(frozen=True)
class Verified:
    """A published folder that passed every check.

    `claims` are the promises in words built from the figures that were checked; `private` says
    whether the holder's part was there to be checked too. `not_checked` lists, in words, what the
    folder states and nobody could count.
    """

    checks: tuple[Check, ...]
    manifest: dict[str, Any]
    private: bool
    claims: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return in_short(
            self,
            plural(sum(not check.uncounted for check in self.checks), "check"),
            plural(len(self.claims), "claim"),
            f"{len(self.not_checked)} not checked",
            "with private" if self.private else "without private",
        )

    @property
    def not_checked(self) -> list[str]:
        """What the folder states that was not checked, and why, in words."""
        present = _is_present(self.checks)
        doubts = [f"{NOT_CHECKED}{words}" for check in self.checks for words in check.doubts]
        return [*self.uncounted, *doubts, *only_stated(self.manifest, self.private, present)]

    @property
    def uncounted(self) -> list[str]:
        """The claims among them that could be counted by somebody who has more, and why not."""
        return [f"Not counted again: {c.name}; {c.uncounted}." for c in self.checks if c.uncounted]

    @property
    def alone(self) -> list[str]:
        """Who is unique in the release, in words built from the figures that were checked."""
        return counted_alone(self.manifest, self.private)


def verify(folder: str | Path, population: Table | pl.DataFrame | None = None) -> Verified:
    """Check a published folder by code that did not make it.

    Parameters
    ----------
    folder : path
        What `publish` wrote, with or without its private part.
    population : Table or polars frame, optional
        The register of everybody that the table was drawn from, where the manifest makes a claim
        about who is in it; without one, that claim is not counted again.

    Returns
    -------
    Verified
        `CannotMeet` names everything that does not hold.
    """
    register = Table(population) if isinstance(population, pl.DataFrame) else population
    if register is not None and Path(folder).is_dir():
        check_claimed_columns(read_json(Path(folder) / NAME), register)
    return verify_by(Path(folder), partial(RowsInMemory, register=register))


def verify_by(folder: Path, read: ReadRows) -> Verified:
    """Check a published folder, whose rows are read by `read`.

    They are looked at only where the manifest is one, and the files are those it names.
    """
    if not folder.is_dir():
        raise InputError(f"no folder {folder} to verify")
    content = read_json(folder / NAME)
    checks = [look_at("manifest", lambda: _wrong_manifest(folder, content))]
    if checks[0].holds:
        checks += _all_checks(folder, content, read)
    failed = [check for check in checks if not check.holds]
    if failed:
        raise CannotMeet(
            f"{folder} does not match its manifest: "
            + "; ".join(f"{check.wrong} ({check.name})" for check in failed)
        )
    private = is_folder(folder / PRIVATE)
    claims = counted_claims(content, private, _is_present(checks))
    return Verified(tuple(checks), content, private, tuple(claims))


def _is_present(checks: Iterable[Check]) -> bool:
    """Whether delta-presence was counted, in a register."""
    return any(check.name == PRESENCE and not check.uncounted for check in checks)


def _wrong_manifest(folder: Path, content: Any) -> str:
    if wrong := wrong_shape(content) or contradiction(content):
        return wrong
    if not is_in_one_form(folder / NAME, content):
        return f"{NAME} is not written in the one way: other spaces, or other spellings"
    return ""


def _all_checks(folder: Path, content: dict[str, Any], read: ReadRows) -> Iterator[Check]:
    files = look_at("files", lambda: _strange_files(folder, content))
    hashes = look_at("hash", lambda: _wrong_hashes(folder, content))
    yield from (files, hashes)
    if not (files.holds and hashes.holds):  # what somebody else put there is not read
        return
    yield from _cell_checks(read, folder, content)
    if is_folder(folder / PRIVATE):
        yield look_at("private", lambda: _wrong_private(folder, content))


def _cell_checks(read: ReadRows, folder: Path, content: dict[str, Any]) -> Iterator[Check]:
    try:
        rows = read(folder, content)
    except CannotMeet as error:
        yield Check("schema", str(error))
        return
    schema = look_at("schema", rows.wrong_schema)
    yield schema
    if not schema.holds:
        return
    for entry in content["promises"]:
        look = partial(wrong_promise_by, rows.count_alike, entry)
        yield look_at(str(entry["key"]), look)
    yield look_at("form", rows.wrong_form)
    yield look_at("codes", rows.wrong_codes)
    yield look_at("method", lambda: _wrong_method(content))
    yield look_at("not_promised", lambda: wrong_not_promised(content))
    yield look_at("ladders", rows.wrong_ladders)
    yield look_at("people", rows.wrong_people)
    left = content["file"]["rows"]  # as many as were read, or the schema is wrong
    yield look_at("suppressed", lambda: wrong_left_out(folder, left, content))
    yield look_at("diversity", rows.wrong_groups)
    yield look_at("exposure", rows.wrong_exposure)
    if "presence" in content:
        yield _presence_check(rows)
    yield look_at("budget", rows.wrong_budget)
    yield _identifier_check(rows, folder, content)


class WrittenRows(Protocol):
    """The rows of a published file, wherever they are: what is asked of them to check a folder.

    Each question gives what is wrong, in words, or nothing; the schema is asked for first.
    """

    def wrong_schema(self) -> str: ...

    def wrong_form(self) -> str: ...

    def wrong_codes(self) -> str: ...

    def wrong_ladders(self) -> str: ...

    def wrong_people(self) -> str: ...

    def wrong_groups(self) -> str: ...

    def wrong_exposure(self) -> str: ...

    def wrong_budget(self) -> str: ...

    def count_alike(self, entry: dict[str, Any]) -> int:
        """The smallest group of rows that a promise is about."""

    def recount_presence(self) -> Recounted:
        """Who of a register is in the table."""

    def identifying(self, among: list[str]) -> dict[str, str]:
        """The columns among some that look like identifiers, and why."""


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
        """The cells without what guards them from spreadsheets."""
        return undone(self.raw) if self.content["file"]["format"] == "csv" else self.raw

    @cached_property
    def mixed(self) -> pl.DataFrame:
        """Rows in no order: in that of the file, some columns would ascend as row numbers do."""
        return with_types(self.frame, self.content).sample(fraction=1.0, shuffle=True, seed=0)

    def wrong_schema(self) -> str:
        return wrong_rows(self.raw.height, self.content) or wrong_schema(self.raw, self.content)

    def wrong_form(self) -> str:
        return wrong_form(self.path, self.raw, self.content)

    def wrong_codes(self) -> str:
        return wrong_dictionary(with_types(self.frame, self.content), self.content)

    def wrong_ladders(self) -> str:
        return wrong_ladders(self.frame, self.content)

    def wrong_people(self) -> str:
        return wrong_people(self.folder, self.frame, self.content)

    def wrong_groups(self) -> str:
        return wrong_secret_groups(self.folder, self.frame, self.content)

    def wrong_exposure(self) -> str:
        people = kept_people(self.folder, self.frame, self.content)
        return wrong_exposure(self.frame, self.content, people)

    def wrong_budget(self) -> str:
        return _wrong_budget(self.frame, self.content)

    def count_alike(self, entry: dict[str, Any]) -> int:
        return measure(entry, self.frame)

    def recount_presence(self) -> Recounted:
        return recounted_presence(self.folder, self.frame, self.content, self.register)

    def identifying(self, among: list[str]) -> dict[str, str]:
        found = identifying_columns(self.mixed, among=among)
        return {name: finding.why for name, finding in found.items()}


ReadRows = Callable[[Path, dict[str, Any]], WrittenRows]
"""Gives the rows of a published folder with that manifest."""


def look_at(name: str, look: Callable[[], str]) -> Check:
    """A check; a manifest that is malformed in an unforeseen way fails it too."""
    try:
        return Check(name, look())
    except CannotMeet as error:
        return Check(name, str(error))
    except (Exception, pl.exceptions.PanicException) as error:
        return Check(name, f"the manifest is malformed ({type(error).__name__} at {name!r})")


def _presence_check(rows: WrittenRows) -> Check:
    found = Recounted()

    def look() -> str:
        nonlocal found
        found = rows.recount_presence()
        return found.wrong

    return replace(look_at(PRESENCE, look), uncounted=found.uncounted)


def _strange_files(folder: Path, content: dict[str, Any]) -> str:
    known = {NAME, content["file"]["name"], REPORT, PRIVATE}
    here = {path.name for path in folder.iterdir()}
    if strange := sorted({*(here - known), *strangers(folder)}):
        return f"the folder contains {listed(strange)}, which the manifest does not list"
    if lacking := sorted(known - here - {PRIVATE}):
        return f"the folder lacks {listed(lacking)}"
    return ""


def _wrong_hashes(folder: Path, content: dict[str, Any]) -> str:
    for entry in (content["file"], content["report"]):
        if digest(folder / entry["name"]) != entry["sha256"]:
            return f"{entry['name']} is not the file that was published (its SHA-256 differs)"
    return ""


def wrong_not_promised(content: dict[str, Any]) -> str:
    """Whether a manifest leaves out, or adds to, what must be said that is not promised."""
    if content["not_promised"] in possible_not_promised(content):
        return ""
    return "what is not promised (not_promised) is not what follows from the promises"


def _wrong_method(content: dict[str, Any]) -> str:
    """What is wrong with the columns that a manifest says were altered."""
    name, settings = content["method"]["name"], content["method"].get("parameters") or {}
    altered, makes_alike = settings.get("columns"), RECORDED[name].makes_alike
    if altered is None:
        return f"the manifest does not say which columns {name} altered" if makes_alike else ""
    if altered != sorted(set(altered)):
        return "the columns that were altered are not listed once each, in the order of their names"
    features = {column["name"] for column in content["columns"] if column["role"] == "feature"}
    if strange := [column for column in altered if column not in features]:
        return f"column {listed(strange)} is listed as altered, but is no feature of the file"
    promised = [p for p in content["promises"] if p["key"] == "k_anonymity"]
    if makes_alike and not any(
        set(altered) <= set(p["columns"]) and p["at_least"] >= settings["k"] for p in promised
    ):
        return f"{name} with k = {settings['k']} is stated, but no such anonymity is promised"
    return ""


def wrong_promise_by(count: Callable[[dict[str, Any]], int], entry: dict[str, Any]) -> str:
    """What is wrong with a promise, by whatever counts the rows that are alike."""
    if entry["key"] not in ("k_anonymity", "containment_anonymity"):
        return f"the promise {entry['key']!r} is not one that can be checked"
    key, least = entry["key"], entry["at_least"]
    if entry.get("absences") and key != "containment_anonymity":
        return f"{key} covers every absence, but the manifest names some"
    value = count(entry)
    if value < least:
        return f"{key} is {value}, below the promised {least}"
    if value != (said := rows_stated(entry)):
        return f"{key} is {value}, but the manifest says {said}"
    if entry["claim"] != sentence(entry):
        return f"the wording of the promise {key} does not match its figures"
    return ""


def _wrong_budget(frame: pl.DataFrame, content: dict[str, Any]) -> str:
    budget = content.get("budget")
    if budget is None:
        return ""
    whole, parts = budget["epsilon"], [part["epsilon"] for part in budget["spent"]]
    delta = budget.get("delta", 0.0)
    if not is_finite_number(whole) or not 0 < whole <= MOST_EPSILON:
        return f"epsilon of the privacy budget is not a number above 0 and up to {MOST_EPSILON:g}"
    if not parts or not all(is_finite_number(part) and part > 0 for part in parts):
        return "a part of the privacy budget is not a number above 0"
    if not is_finite_number(delta) or not 0 <= delta < 1:
        return "delta of the privacy budget is not a number from 0 up to but not including 1"
    if fsum(parts) > whole + ROUNDING:
        return f"the parts of the privacy budget add up to {fsum(parts):g}, above {whole:g}"
    if budget.get("guarantee", True) is not True:
        return "the manifest itself says that differential privacy does not hold"
    budget_claim(budget)  # fails where something that its words need is missing
    ranged = {c["name"] for c in content["columns"] if (c["kind"], c["role"]) == RANGED}
    for name, bound in budget.get("bounds", {}).items():
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


def _identifier_check(rows: WrittenRows, folder: Path, content: dict[str, Any]) -> Check:
    """The check of the door, of all released columns; what was stated to be ordinary is said."""
    doubts: tuple[str, ...] = ()

    def look() -> str:
        nonlocal doubts
        doubts = doubts_about(rows.identifying(stated_columns(content)))
        return wrong_identifiers(folder, rows.identifying(open_columns(content)), content)

    return replace(look_at("identifiers", look), doubts=doubts)


def stated_columns(content: dict[str, Any]) -> list[str]:
    """The features that the holder says to be ordinary, or known to attackers."""
    return [c["name"] for c in content["columns"] if c["stated"] and c["role"] == "feature"]


def doubts_about(like: Mapping[str, str]) -> tuple[str, ...]:
    """What rests on the publisher's word, of stated columns that look like identifiers.

    >>> doubts_about({"mail": "looks like e-mail addresses"})
    ("column 'mail' (looks like e-mail addresses) is ordinary, or known to attackers anyway.",)
    """
    return tuple(
        f"column {name!r} ({why}) is ordinary, or known to attackers anyway."
        for name, why in like.items()
    )


def open_columns(content: dict[str, Any]) -> list[str]:
    """The columns that the holder did not say to have looked at.

    Synthetic or altered numbers differ in every row by nature.
    """
    drawn = RECORDED[content["method"]["name"]].numbers_at_random
    return [
        c["name"]
        for c in content["columns"]
        if not c["stated"] and not (drawn and c["kind"] == "number")
    ]


def wrong_identifiers(folder: Path, like: Mapping[str, str], content: dict[str, Any]) -> str:
    """What looks like an identifier and was not declared otherwise, or is known to be one.

    `like` says why, by the name of the column.
    """
    if like:
        name, why = next(iter(like.items()))
        more = f", as do {len(like) - 1} more" if len(like) > 1 else ""
        return (
            f"column {name!r} ({why}) could identify people{more}, and has no stated role; the "
            f"holder keeps it back with --identifier, or says with --feature that it does not"
        )
    if is_folder(folder / PRIVATE):
        known = read_json(folder / PRIVATE / RECIPE)
        kept = {*known["identifiers"], known["sensitive"]} - {known["target"]}
        if shown := sorted(kept & {column["name"] for column in content["columns"]}):
            return f"column {listed(shown)} must never be released"
    return ""


def _wrong_private(folder: Path, content: dict[str, Any]) -> str:
    if (folder / PRIVATE).lstat().st_mode & 0o077:
        return "others may read private/; run chmod 700 on it"
    recipe = read_json(folder / PRIVATE / RECIPE)
    for name in (content["file"]["name"], NAME, REPORT):
        if digest(folder / name) != recipe["sha256"][name]:
            return f"{name} is not the published file, according to private/recipe.json"
    wrong = wrong_known(content, recipe.get("quasi"))
    return wrong or wrong_names(folder, content["file"]["rows"])
