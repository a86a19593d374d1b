"""Rows that describe nobody, from a page: what is public, what it costs, then the draw.

Bounds must be known without the table, so the page proposes what a header alone says (an age is
from 0 to 110). Who has nothing better may take ends and values from the table; then the page says
that this is not private, and goes on only once each of them is confirmed as known from elsewhere.

Every draw costs, whether anybody likes the rows or not. So the form leads to a page that says what
was spent before and what would be, and only the button there begins.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from tamis.dp import LEDGER
from tamis.errors import InputError, listed
from tamis.figures import percent
from tamis.serve.access import PostedForm
from tamis.serve.app_state import AppState
from tamis.serve.pages import Bar
from tamis.serve.project import Project
from tamis.serve.steps import checked_form, form_step, go, show, step
from tamis.serve.work import Work

KNOWN_RANGES: dict[str, tuple[int, int]] = {
    "age": (0, 110),
    "percent": (0, 100),
    "pct": (0, 100),
    "hour": (0, 23),
    "minute": (0, 59),
    "weekday": (1, 7),
    "month": (1, 12),
    "quarter": (1, 4),
    "year": (1900, date.today().year),
    "systolic": (0, 300),
    "diastolic": (0, 200),
}
"""What a word of a header says of its numbers, whoever is in the table."""
KINDS = {
    "": "not released",
    "whole": "whole numbers from … to …",
    "number": "numbers from … to …",
    "values": "one of these values",
}
ALGORITHMS = {
    "aim": "count what the rows so far get most wrong (AIM): for most tables",
    "mst": "count pairs along one tree (MST): faster",
    "": "count boxes of even density: for few columns",
}
USUAL = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0)
"""The budgets that the picture shows."""
ACCOUNT = "account.json"
PARTS = ("kind", "low", "high", "values", "missing", "sure")
"""What is said of each column, by the names of its fields."""

Declared = dict[str, str]
"""What was said of one column: `PARTS`, and `from_data` where the table gave it."""


def certainty(epsilon: float) -> float:
    """How sure somebody can be that a person is in the table, who thought it as likely as not.

    >>> round(certainty(1.0), 3), certainty(0.0)
    (0.731, 0.5)
    """
    return 1 / (1 + math.exp(-epsilon))


def certainty_bars(epsilon: float) -> list[Bar]:
    """The same for usual budgets and for this one."""
    return [
        Bar(f"epsilon {e:g}", certainty(e), _sure_words(certainty(e)), care=e == epsilon)
        for e in sorted({*USUAL, epsilon})
    ]


def _sure_words(share: float) -> str:
    """A share that is never everything.

    >>> _sure_words(0.73106), _sure_words(0.99995)
    ('73.1%', 'over 99.9%')
    """
    return percent(share) if share <= 0.999 else "over 99.9%"


def proposal(name: str) -> Declared:
    """What the header of a column says about its values, without a look at any.

    >>> proposal("birth_year")["low"], proposal("colour")["kind"]
    ('1900', '')
    """
    words = re.split(r"[^a-z]+", name.lower())
    for word in reversed(words):
        if word in KNOWN_RANGES:
            low, high = KNOWN_RANGES[word]
            return _declared(kind="whole", low=str(low), high=str(high))
    return _declared()


def from_table(column: Mapping[str, Any]) -> Declared:
    """The ends or values of a column as the table has them: not private."""
    missing = "yes" if column["missing"] else ""
    ends = column.get("ends")
    if ends:
        kind = "whole" if column["whole"] else "number"
        low, high = (f"{end:g}" if column["whole"] else repr(end) for end in ends)
        return _declared(kind=kind, low=low, high=high, missing=missing, from_data="yes")
    if values := [value for value, _ in column["values"]]:
        lines = "\n".join(sorted(values))
        return _declared(kind="values", values=lines, missing=missing, from_data="yes")
    return _declared()


def _declared(**said: str) -> Declared:
    return {**dict.fromkeys((*PARTS, "from_data"), ""), **said}


def _columns(project: Project) -> list[dict[str, Any]]:
    """The columns that may be declared: those that `tamis release` would draw."""
    look, roles = project.found("look.json") or {"columns": []}, project.roles
    never = ("identifier", "sensitive", "drop")
    return [c for c in look["columns"] if roles.get(c["name"]) not in never]


def _said(project: Project) -> dict[str, Any]:
    """What the form shows: what was said before, or what headers say."""
    known: Mapping[str, Declared] = project.synthetic.get("columns", {})
    return {
        **{"epsilon": "1", "max_epsilon": "", "delta": "", "algorithm": "aim"},
        **project.synthetic,
        "columns": {
            c["name"]: known.get(c["name"]) or proposal(c["name"]) for c in _columns(project)
        },
    }


@step
async def synthetic(state: AppState, project: Project, request: Request) -> Response:
    return _asking(state, project)


def _asking(
    state: AppState, project: Project, error: str = "", said: Mapping[str, Any] | None = None
) -> Response:
    if not project.is_audited:
        return go(project.address("columns"))
    said = said or _said(project)
    return show(
        state,
        "synthetic",
        here="settings",
        project=project,
        columns=_columns(project),
        said=said,
        kinds=KINDS,
        algorithms=ALGORITHMS,
        bars=certainty_bars(_shown_epsilon(said["epsilon"])),
        installed=find_spec("opendp") is not None,
        error=error,
    )


def _shown_epsilon(text: str) -> float:
    try:
        return _positive("epsilon", text)
    except InputError:
        return 1.0


@step
async def set_synthetic(state: AppState, project: Project, request: Request) -> Response:
    """Keep what was said; then look up what was spent, or fill in what is asked of the table."""
    form = await checked_form(state, request)
    said = _sent(project, form)
    if form.one("fill"):
        return _asking(state, project, said=_filled(project, said))
    try:
        given = options(project, said)
    except InputError as error:
        return _asking(state, project, str(error), said)
    if project.own:
        given["ledger"] = str(ledger_of(state, project))
    project.synthetic = {**said, "options": given, "asked": False}
    project.save()
    await _look_up(state, project)
    return go(project.address("work"))


def _sent(project: Project, form: PostedForm) -> dict[str, Any]:
    before = project.synthetic.get("columns", {})
    columns = {}
    for at, column in enumerate(_columns(project)):
        one = {part: form.one(f"{part}-{at}").strip().replace("\r\n", "\n") for part in PARTS}
        given = from_table(column)
        # A box that only a filled field has; what was typed over is the person's own.
        filled = bool(form.one(f"filled-{at}")) or before.get(column["name"], {}).get("from_data")
        same = all(one[part] == given[part] for part in ("kind", "low", "high", "values"))
        columns[column["name"]] = {**one, "from_data": "yes" if filled and same else ""}
    names = ("epsilon", "max_epsilon", "delta", "algorithm")
    return {**{name: form.one(name).strip() for name in names}, "columns": columns}


def _filled(project: Project, said: Mapping[str, Any]) -> dict[str, Any]:
    """What the form lacks, taken from the table."""
    columns = {
        c["name"]: said["columns"][c["name"]]
        if said["columns"][c["name"]]["kind"]
        else from_table(c)
        for c in _columns(project)
    }
    return {**said, "columns": columns}


def options(project: Project, said: Mapping[str, Any]) -> dict[str, Any]:
    """What was said as options of `tamis release`; an error where something is not yet public."""
    columns: Mapping[str, Declared] = said["columns"]
    used = {name: how for name, how in columns.items() if how["kind"]}
    doubtful = [name for name, how in used.items() if how["from_data"] and not how["sure"]]
    if doubtful:
        raise InputError(
            f"the bounds of {listed(doubtful)} were taken from the table, and are not private: "
            "type over them what is known without it, or confirm that these are"
        )
    target = project.source_options["target"]
    if target not in used:
        raise InputError(
            f"say which values the target {target!r} may have: nothing is learnt without"
        )
    if len(used) < 2:
        raise InputError("say what is public of at least one column besides the target")
    given: dict[str, Any] = {"epsilon": _positive("epsilon", said["epsilon"])}
    if said["max_epsilon"]:
        given["max_epsilon"] = _positive("the most in total", said["max_epsilon"])
    if said["algorithm"] not in ALGORITHMS:
        raise InputError(f"rows are drawn by one of {', '.join(filter(None, ALGORITHMS))} or boxes")
    if said["algorithm"]:
        given["algorithm"] = said["algorithm"]
    if said["delta"]:
        if not said["algorithm"]:
            raise InputError(
                "a chance to fail (delta) is for AIM and MST; leave it empty for boxes"
            )
        given["delta"] = _positive("delta", said["delta"])
    bounds = {name: _bound(name, how) for name, how in used.items()}
    missing = [name for name, how in used.items() if how["missing"]]
    return {**given, "dp": {"bounds": bounds, **({"missing": missing} if missing else {})}}


def _positive(what: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise InputError(f"{what} must be a number above 0")
    return number


def _bound(name: str, how: Declared) -> Any:
    """One column as a bounds file declares it."""
    if how["kind"] == "values":
        values = list(
            dict.fromkeys(line.strip() for line in how["values"].splitlines() if line.strip())
        )
        if len(values) < 2:
            raise InputError(f"{name!r}: give at least two values, one a line")
        return values
    if how["kind"] not in KINDS:
        raise InputError(f"{name!r}: choose what it holds from the list")
    whole = how["kind"] == "whole"
    try:
        low, high = ((int if whole else float)(how[end]) for end in ("low", "high"))
    except ValueError:
        words = "two whole numbers" if whole else "two numbers"
        raise InputError(f"{name!r}: its lowest and highest must be {words}") from None
    if not low < high or not math.isfinite(high - low):
        raise InputError(f"{name!r}: its lowest must be below its highest")
    return {"type": "integer" if whole else "number", "low": low, "high": high}


# What it costs, and the draw


def ledger_of(state: AppState, project: Project) -> Path:
    """Beside the table; for a dropped one, which may be removed, where the server was started."""
    beside = Path(project.path.partition("::")[0]).parent
    return (state.opened[0] if project.own else beside) / LEDGER


async def _look_up(state: AppState, project: Project) -> None:
    """What was spent on this table so far, whatever it was called."""

    def finished(found: dict[str, Any]) -> None:
        project.write(ACCOUNT, json.dumps(found))

    then, back = project.address("synthetic/cost"), project.address("synthetic")
    work = Work("Looking up what was spent on this table", then, back, finished=finished)
    given = {"source": project.path, "ledger": str(ledger_of(state, project)), **project.reading}
    await state.run(project.key, work, state.task("account"), given)


@step
async def cost(state: AppState, project: Project, request: Request) -> Response:
    """What it would cost, before it is spent."""
    account = project.found(ACCOUNT)
    if account is None or not project.synthetic or not project.is_audited:
        return go(project.address("synthetic"))
    given = project.synthetic["options"]
    asked = replace(project, synthetic={**project.synthetic, "asked": True})
    state.typed[project.key] = asked.configuration
    epsilon = given["epsilon"]
    total = account["epsilon"] + epsilon
    return show(
        state,
        "synthetic_cost",
        here="settings",
        project=project,
        epsilon=epsilon,
        total=total,
        delta=given.get("delta"),
        most=given.get("max_epsilon"),
        account=account,
        ledger=ledger_of(state, project),
        columns=list(given["dp"]["bounds"]),
        bars=certainty_bars(epsilon),
        total_words=_sure_words(certainty(total)),
        command=asked.command("release", asked.release_options, "--out", "DIR"),
        config=True,
    )


@form_step
async def draw(state: AppState, project: Project, form: PostedForm) -> str:
    """Spend it: draw the rows, which then are looked at and published like any release."""
    if not project.synthetic or not project.found(ACCOUNT):
        return project.address("synthetic")
    (project.folder / ACCOUNT).unlink()  # a second click finds no cost to agree to
    project.synthetic = {**project.synthetic, "asked": True}
    project.save()
    await state.compare(project)
    return project.address("work")
