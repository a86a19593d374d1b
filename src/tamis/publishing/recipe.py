"""The private recipe: everything needed to make the same bytes again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tamis.errors import InputError
from tamis.flow import Outcome
from tamis.publishing.layout import PRIVATE, RECIPE, digest, read_json
from tamis.publishing.manifest import versions

RECIPE_VERSION = 1


def recipe(outcome: Outcome, draft: Path, origin: dict[str, Any], date: str) -> dict[str, Any]:
    """What was asked for, of which table, and what came out."""
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
            f"{folder} has no private/recipe.json; only the holder's own folder can be made again"
        )
    content: dict[str, Any] = read_json(path)
    if content.get("recipe_version") != RECIPE_VERSION:
        raise InputError(f"{path} is of another version than this tamis reads ({RECIPE_VERSION})")
    return content


def differing(one: str | Path, other: str | Path) -> list[str]:
    """Files to hand on that are not the same bytes in two folders."""
    first, second = (read_recipe(folder)["sha256"] for folder in (one, other))
    return sorted(name for name in {*first, *second} if first.get(name) != second.get(name))
