"""`publish`: the chosen release as a folder to share, with a part that the holder keeps.

::

    DIR/
    ├── release.csv       the rows (or release.parquet)
    ├── manifest.json     what is promised about them, and what is not
    ├── report.html       the same for people to read
    └── private/          never shared, mode 0700
        ├── report.html   everything that was compared
        ├── scorecard.json
        ├── summary.json  what both reports are made of
        ├── recipe.json   what is needed to reproduce the same bytes
        └── people.csv    the person of each released row, where people have several
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tamis.errors import CannotMeet, InputError
from tamis.flow import Outcome
from tamis.publish.checks import measure
from tamis.publish.coarse_columns import stated
from tamis.publish.exposure import exposure_facts
from tamis.publish.folder import written_release
from tamis.publish.kept_told import close_look_facts
from tamis.publish.layout import (
    NAME,
    PEOPLE,
    PRIVATE,
    RECIPE,
    RELEASE,
    REPORT,
    digest,
    read_json,
    write_json,
)
from tamis.publish.manifest import manifest, versions
from tamis.publish.of_hundred import of_hundred_facts
from tamis.publish.people import arranged_people, promises_in_people, write_people
from tamis.publish.promises import not_promised, not_promised_of_drawn
from tamis.publish.release_file import arranged
from tamis.publish.report import render
from tamis.publish.summarise import summarise
from tamis.publish.summary import ExposureFacts
from tamis.publish.verify import verify
from tamis.table_file import read_written, write_table

RECIPE_VERSION = 1


def recipe(outcome: Outcome, draft: Path, origin: dict[str, Any], date: str) -> dict[str, Any]:
    """What was asked for, for which table, and what came out."""
    release, roles = outcome.decision.chosen.release, outcome.table.roles
    public = sorted(path for path in draft.iterdir() if path.is_file())
    return {
        "recipe_version": RECIPE_VERSION,
        "date": date,
        "origin": origin,
        "settings": outcome.settings.to_dict(),
        "release": release.name,
        "method": release.recipe.method,
        "public": dict(release.recipe.public),
        "private": {"seed": outcome.settings.seed, **release.recipe.private},
        "identifiers": list(roles.identifiers),
        "sensitive": outcome.table.sensitive,
        "target": outcome.table.target,
        "sha256": {path.name: digest(path) for path in public},
        "versions": versions(),
    }


def read_recipe(folder: str | Path) -> dict[str, Any]:
    """The private recipe of a published folder."""
    path = Path(folder) / PRIVATE / RECIPE
    if not path.is_file():
        raise InputError(
            f"{folder} has no private/recipe.json; only the holder's own folder can be reproduced"
        )
    content: dict[str, Any] = read_json(path)
    if content.get("recipe_version") != RECIPE_VERSION:
        raise InputError(f"{path} does not have the version this tamis reads ({RECIPE_VERSION})")
    return content


def differing(one: str | Path, other: str | Path) -> list[str]:
    """Shared files whose bytes differ between two folders."""
    first, second = (read_recipe(folder)["sha256"] for folder in (one, other))
    return sorted(name for name in {*first, *second} if first.get(name) != second.get(name))


def publish(
    outcome: Outcome,
    out: str | Path,
    *,
    force: bool = False,
    origin: Mapping[str, Any] | None = None,
    date: str | None = None,
) -> Path:
    """Write the chosen release, whole or not at all, and verify it before it gets its name.

    Parameters
    ----------
    outcome : Outcome
        From `tamis.flow.consider`.
    out : path
        The folder to create.
    force : bool
        Replace an earlier release of that name, once the new one is complete.
    origin : mapping, optional
        How the table was read, kept in the private recipe.
    date : str, optional
        The date to put in the manifest; `None`: today.

    Returns
    -------
    Path

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from tamis.datasets import patients
    >>> from tamis.flow import Settings, consider
    >>> settings = Settings(methods={"containment": {"ks": [20], "utilities": ["difference"]}})
    >>> outcome = consider(patients(rows=400), settings)
    >>> with TemporaryDirectory() as folder:
    ...     made = publish(outcome, Path(folder) / "out")
    ...     sorted(path.name for path in made.iterdir())
    ['manifest.json', 'private', 'release.csv', 'report.html']
    """
    out = Path(out)
    date = date or datetime.now(UTC).date().isoformat()
    with written_release(out, force=force) as draft:
        _write(outcome, draft, date, dict(origin or {}))
        verify(draft)
    return out


def _write(outcome: Outcome, draft: Path, date: str, origin: dict[str, Any]) -> None:
    chosen, settings = outcome.decision.chosen, outcome.settings
    file = draft / RELEASE[settings.format]
    frame = arranged(chosen.release.table, settings.seed)
    write_table(frame, file, settings.format)
    alone, look = exposure_facts(outcome), close_look_facts(outcome)
    content = manifest(
        chosen,
        frame,
        file,
        settings.format,
        measured=_measured(outcome, file),
        exposure=alone,
        close_look=look,
        unit=outcome.table.unit,
        held_back=held_back(outcome),
        not_promised=_not_promised(outcome, alone),
        date=date,
        coarser={
            name: stated(form, outcome.table.frame[name], settings.k, outcome.table.people)
            for name, form in chosen.release.forms.items()
        },
    )
    people = arranged_people(chosen.release, settings.seed)
    content["promises"] = promises_in_people(
        content["promises"],
        read_written(file, settings.format),
        people,
        chosen.release.unit,
    )
    summary = summarise(outcome, content, origin, look, of_hundred_facts(outcome))
    report = draft / REPORT
    report.write_text(render(summary, "recipient"), encoding="utf-8")
    content["report"] = {"name": report.name, "sha256": digest(report)}
    write_json(draft / NAME, content)
    private = draft / PRIVATE
    private.mkdir(mode=0o700)
    (private / REPORT).write_text(render(summary, "holder"), encoding="utf-8")
    write_json(private / "summary.json", summary)
    write_json(private / "scorecard.json", outcome.decision.scorecard.to_dict())
    write_json(private / RECIPE, recipe(outcome, draft, origin, date))
    if people is not None:
        write_people(private / PEOPLE, people)
    for path in private.iterdir():
        path.chmod(0o600)


def held_back(outcome: Outcome) -> int:
    """How many columns of the original are not in the release in any form."""
    from tamis.publish.column_fates import sources

    whole = {*outcome.table.frame.columns, *outcome.table.roles.dropped}
    return len(whole) - len(sources(outcome)) - 1


def _not_promised(outcome: Outcome, alone: ExposureFacts | None) -> list[str]:
    decision, settings = outcome.decision, outcome.settings
    release = decision.chosen.release
    if alone is None:
        # How many were drawn was requested; how many met the limits would reveal something.
        drawn = [row for row in decision.scorecard.candidates if row.release.is_drawn]
        unit = release.recipe.public["budget"].get("unit", "row")
        return not_promised_of_drawn(len(drawn), limited=len(settings.limits) > 1, unit=unit)
    wanted = max((p.at_least for p in release.promises), default=1)
    return not_promised(
        release.promises,
        outcome.table.unit,
        alone=(alone["everything"]["k"] or 0) < wanted,
        sensitive_released=outcome.table.sensitive == outcome.table.target,
        altered=release.unaltered is not None,
        several=release.people is not None,
    )


def _measured(outcome: Outcome, file: Path) -> list[int]:
    """What the written file reaches for each promise; an error where one does not hold."""
    read = read_written(file, outcome.settings.format)
    values = []
    for promise in outcome.decision.chosen.release.promises:
        value = measure(promise, read)
        if value < promise.at_least:
            raise CannotMeet(
                f"the written file has {promise.name} {value}, below {promise.at_least}; nothing "
                "was published"
            )
        values.append(value)
    return values
