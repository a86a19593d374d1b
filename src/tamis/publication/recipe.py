"""The recipe that a holder keeps: the request, the table it was about, and the result."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tamis.errors import InputError
from tamis.outcome import Outcome
from tamis.publication.manifest import (
    WrittenRelease,
    versions,
)
from tamis.release import Release
from tamis.verification.layout import (
    PRIVATE,
    RECIPE,
    digest,
    read_json,
)

RECIPE_VERSION = 1


def recipe(
    outcome: Outcome,
    draft: Path,
    origin: dict[str, Any],
    date: str,
    written: WrittenRelease,
) -> dict[str, Any]:
    """The recipe as plain values, to write as JSON."""
    release, roles = outcome.release, outcome.table.roles
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
        "forms": recipe_forms(release),
        "identifiers": list(roles.identifiers),
        "quasi": None if roles.quasi is None else list(roles.quasi),
        **_asked_of_each(outcome),
        "sensitive": outcome.table.sensitive,
        **({"also_sensitive": list(also)} if (also := roles.also_sensitive) else {}),
        **({"released_secrets": list(may)} if (may := outcome.table.released_secrets) else {}),
        "diversity": [e for e in written.of_secrets if e["column"] != outcome.table.target],
        "target": outcome.table.target,
        **({} if written.left_out is None else {"suppressed": written.left_out}),
        "sha256": {path.name: digest(path) for path in public},
        "versions": versions(),
    }


def _asked_of_each(outcome: Outcome) -> dict[str, Any]:
    """The requirements of each named attacker; empty without named attackers."""
    asked, unit = outcome.required, outcome.table.unit
    if not asked.several:
        return {}
    entries = asked.to_dicts(unit)
    return {"attackers": [{k: v for k, v in e.items() if k != "claim"} for e in entries]}


def recipe_forms(release: Release) -> dict[str, dict[str, Any]]:
    """The generalised forms of a release, as plain values."""
    return {
        name: {"level": form.level, "ladder": dict(form.ladder)}
        for name, form in release.forms.items()
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
    """Names of shared files whose hashes differ between the recipes of two folders."""
    first, second = (read_recipe(folder)["sha256"] for folder in (one, other))
    return sorted(name for name in {*first, *second} if first.get(name) != second.get(name))
