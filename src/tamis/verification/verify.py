"""`verify`: check a published folder against everything that its manifest states."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from math import fsum
from pathlib import Path
from typing import Any

import polars as pl

from tamis.catalogue.methods import RECORDED
from tamis.errors import CannotMeet, InputError, listed, plural
from tamis.figures import ROUNDING
from tamis.notebook import in_short
from tamis.rows import EngineName, EngineOptions, chosen_engine, other_engine, running
from tamis.rows.memory_only import unverified_by_engines
from tamis.stated import sentence
from tamis.table import Table
from tamis.verification.checks import wrong_attackers, wrong_exposure, wrong_known
from tamis.verification.claims import (
    NOT_CHECKED,
    budget_claim,
    counted_alone,
    counted_claims,
    only_stated,
    possible_not_promised,
)
from tamis.verification.descriptions import described
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
    unexpected_files,
)
from tamis.verification.people import rows_stated, wrong_left_out, wrong_names, wrong_people
from tamis.verification.presence import Recounted, check_claimed_columns
from tamis.verification.secret_groups import wrong_secret_groups
from tamis.verification.shape import contradiction, wrong_shape
from tamis.verification.value_shapes import is_finite_number
from tamis.verification.written_rows import (
    RowsInMemory,
    WrittenRows,
    open_columns,
    stated_columns,
)

MOST_EPSILON = 500.0
"""Largest epsilon that is accepted; the factor that it promises is already meaningless."""
PRESENCE = "delta-presence"
"""Name of the check that needs a register."""


@dataclass(frozen=True)
class Check:
    """The result of one check: `wrong` says what does not hold, `uncounted` why it was not counted.

    `doubts` say, in words, what looks suspicious but rests on the publisher's word.
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

    `claims` are the promises in words, built from the checked figures; `private` says whether the
    holder's private part was there and checked, too. `not_checked` lists, in words, what the folder
    states and `verify` could not check.
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
        """Claims that someone with more data could count, and why they were not counted here."""
        return [f"Not counted again: {c.name}; {c.uncounted}." for c in self.checks if c.uncounted]

    @property
    def alone(self) -> list[str]:
        """Exposure in words, built from the checked figures."""
        return counted_alone(self.manifest, self.private)


ReadRows = Callable[[dict[str, Any]], WrittenRows]
"""Opens the rows of a published folder, given its manifest."""


def verify(
    folder: str | Path,
    population: Table | pl.DataFrame | None = None,
    *,
    engine: EngineName | EngineOptions = "auto",
    say: Callable[[str], None] | None = None,
) -> Verified:
    """Check a published folder by code that did not make it.

    Parameters
    ----------
    folder : path
        What `publish` wrote, with or without its private part.
    population : Table or polars frame, optional
        The register of everybody that the table was drawn from, where the manifest makes a claim
        about who is in it; without one, that claim is not counted again.
    engine : {"memory", "auto", "polars", "duckdb", "spark"} or EngineOptions
        What counts the rows. "auto" counts in memory where they fit, and otherwise with another
        engine than the one that wrote them. A register is always in memory.
    say : callable, optional
        Called with a line that says why an engine was chosen, where none was asked for.

    Returns
    -------
    Verified

    Raises
    ------
    CannotMeet
        Where a check fails; it names everything that does not hold.
    """
    place = Path(folder)
    register = Table(population) if isinstance(population, pl.DataFrame) else population
    if register is not None and place.is_dir():
        check_claimed_columns(read_json(place / NAME), register)
    options = EngineOptions(engine) if isinstance(engine, str) else engine
    with ExitStack() as engines:

        def read(content: dict[str, Any]) -> WrittenRows:
            name, why = counting_engine(place, content, options)
            if name == "memory":
                return RowsInMemory(place, content, register=register)
            from tamis.verification.behind_engine import RowsBehindEngine

            if why and say is not None:
                say(why)
            started = engines.enter_context(running(options, name))
            return RowsBehindEngine(started, place, content, register)

        return _verify_by(place, read)


def counting_engine(
    folder: Path, content: dict[str, Any], options: EngineOptions
) -> tuple[EngineName, str]:
    """The engine that counts the rows of a folder, and why, where it was not asked for.

    A manifest that states something engines do not count is counted in memory.
    """
    if options.engine != "auto":
        return options.engine, ""
    if unverified_by_engines(content):
        return "memory", ""
    file = folder / content["file"]["name"]
    name, why = chosen_engine(str(file))
    if name == "memory":
        return name, why
    other = other_engine(content.get("engine", {}).get("counted", {}).get("by"))
    return other, why.replace(name, other).replace("the table", file.name)


def _verify_by(folder: Path, read: ReadRows) -> Verified:
    """Check a published folder, whose rows are opened by `read`.

    Rows are opened only once the manifest is valid and the files are those it names.
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
    """Whether delta-presence was counted in a register."""
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
    if not (files.holds and hashes.holds):  # files that others put there are not even opened
        return
    if "described" in content:
        yield look_at("described", lambda: _wrong_descriptions(content))
    yield from _cell_checks(read, folder, content)
    if is_folder(folder / PRIVATE):
        yield look_at("private", lambda: _wrong_private(folder, content))


def _cell_checks(read: ReadRows, folder: Path, content: dict[str, Any]) -> Iterator[Check]:
    try:
        rows = read(content)
    except CannotMeet as error:
        yield Check("schema", str(error))
        return
    schema = look_at("schema", rows.wrong_schema)
    yield schema
    if not schema.holds:
        return
    for entry in content["promises"]:
        look = partial(_wrong_promise, rows, entry)
        yield look_at(str(entry["key"]), look)
    yield look_at("form", rows.wrong_form)
    yield look_at("codes", rows.wrong_codes)
    yield look_at("method", lambda: _wrong_method(content))
    yield look_at("not_promised", lambda: wrong_not_promised(content))
    yield look_at("ladders", rows.wrong_ladders)
    yield look_at("people", lambda: _wrong_people(rows, folder, content))
    left = content["file"]["rows"]  # as many as were read, or the schema is wrong
    yield look_at("suppressed", lambda: wrong_left_out(folder, left, content))
    yield look_at("diversity", lambda: _wrong_groups(rows, folder, content))
    yield look_at("exposure", lambda: wrong_exposure(rows.count_alone, content, rows.has_people()))
    if "presence" in content:
        yield _presence_check(rows)
    yield look_at("budget", lambda: _wrong_budget(content) or rows.outside_bounds())
    yield _identifier_check(rows, folder, content)


def look_at(name: str, look: Callable[[], str]) -> Check:
    """Run a check; an unforeseen error counts as a malformed manifest and fails it."""
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
    named = [entry["name"] for entry in content.get("described", ())]
    known = {NAME, content["file"]["name"], REPORT, PRIVATE, *named}
    here = {path.name for path in folder.iterdir()}
    if strange := sorted({*(here - known), *unexpected_files(folder)}):
        return f"the folder contains {listed(strange)}, which the manifest does not list"
    if lacking := sorted(known - here - {PRIVATE}):
        return f"the folder lacks {listed(lacking)}"
    return ""


def _wrong_hashes(folder: Path, content: dict[str, Any]) -> str:
    for entry in (content["file"], content["report"], *content.get("described", ())):
        if digest(folder / entry["name"]) != entry["sha256"]:
            return f"{entry['name']} is not the file that was published (its SHA-256 differs)"
    return ""


def _wrong_descriptions(content: dict[str, Any]) -> str:
    """Which description differs from what follows from the manifest, in words."""
    expected = described(content)
    for entry in content["described"]:  # whose hashes are those of the files
        if entry["sha256"] != sha256(expected[entry["name"]]).hexdigest():
            return f"{entry['name']} says something else than {NAME}"
    return ""


def wrong_not_promised(content: dict[str, Any]) -> str:
    """Why the caveats of a manifest are not those that follow from the rest; empty if they are."""
    if content["not_promised"] in possible_not_promised(content):
        return ""
    return "what is not promised (not_promised) is not what follows from the promises"


def _wrong_method(content: dict[str, Any]) -> str:
    """What is wrong with the columns that a manifest lists as altered."""
    name, settings = content["method"]["name"], content["method"].get("parameters") or {}
    kinds, makes_alike = RECORDED[name].stated, RECORDED[name].makes_alike
    altered = next((settings.get(key) for key, kind in kinds.items() if kind == "columns"), None)
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


def _wrong_promise(rows: WrittenRows, entry: dict[str, Any]) -> str:
    """What is wrong with a promise of k-anonymity or anonymity by containment."""
    if entry["key"] not in ("k_anonymity", "containment_anonymity"):
        return f"the promise {entry['key']!r} is not one that can be checked"
    key, least = entry["key"], entry["at_least"]
    if entry.get("absences") and key != "containment_anonymity":
        return f"{key} covers every absence, but the manifest names some"
    value = rows.count_alike(entry, in_people=False)
    if value < least:
        return f"{key} is {value}, below the promised {least}"
    if value != (said := rows_stated(entry)):
        return f"{key} is {value}, but the manifest says {said}"
    if entry["claim"] != sentence(entry):
        return f"the wording of the promise {key} does not match its figures"
    return ""


def _wrong_people(rows: WrittenRows, folder: Path, content: dict[str, Any]) -> str:
    count = partial(rows.count_alike, in_people=True) if rows.has_people() else None
    return wrong_people(count, folder, content)


def _wrong_groups(rows: WrittenRows, folder: Path, content: dict[str, Any]) -> str:
    by_target, by_secret = rows.reached_by_target, rows.reached_by_secret
    return wrong_secret_groups(by_target, by_secret, folder, content, rows.has_people())


def _wrong_budget(content: dict[str, Any]) -> str:
    """What is wrong with the figures of a privacy budget; empty where there is none."""
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
    budget_claim(budget)  # raises where something that the sentence needs is missing
    return ""


def _identifier_check(rows: WrittenRows, folder: Path, content: dict[str, Any]) -> Check:
    """Look for identifiers among released columns as reading does; declared ones become doubts."""
    doubts: tuple[str, ...] = ()

    def look() -> str:
        nonlocal doubts
        doubts = doubts_about(rows.identifying(stated_columns(content)))
        return wrong_identifiers(folder, rows.identifying(open_columns(content)), content)

    return replace(look_at("identifiers", look), doubts=doubts)


def doubts_about(like: Mapping[str, str]) -> tuple[str, ...]:
    """Doubts about declared columns that look like identifiers, in words.

    >>> doubts_about({"mail": "looks like e-mail addresses"})
    ("column 'mail' (looks like e-mail addresses) is ordinary, or known to attackers anyway.",)
    """
    return tuple(
        f"column {name!r} ({why}) is ordinary, or known to attackers anyway."
        for name, why in like.items()
    )


def wrong_identifiers(folder: Path, like: Mapping[str, str], content: dict[str, Any]) -> str:
    """Which released column is or looks like an identifier, in words; empty where none does.

    `like` has the undeclared columns that look like identifiers, each with the reason. The private
    part, where it is there, also says which columns must never be released.
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
        secrets = (known["sensitive"], *known.get("also_sensitive", ()))
        shown = {known["target"], *known.get("released_secrets", ())}
        kept = {*known["identifiers"], *secrets} - shown
        if wrong := sorted(kept & {column["name"] for column in content["columns"]}):
            return f"column {listed(wrong)} must never be released"
    return ""


def _wrong_private(folder: Path, content: dict[str, Any]) -> str:
    if (folder / PRIVATE).lstat().st_mode & 0o077:
        return "others may read private/; run chmod 700 on it"
    recipe = read_json(folder / PRIVATE / RECIPE)
    for name in (content["file"]["name"], NAME, REPORT):
        if digest(folder / name) != recipe["sha256"][name]:
            return f"{name} is not the published file, according to private/recipe.json"
    wrong = wrong_attackers(content, recipe)
    if "attackers" not in recipe:
        wrong = wrong_known(content, recipe.get("quasi"))
    return wrong or wrong_names(folder, content["file"]["rows"])
