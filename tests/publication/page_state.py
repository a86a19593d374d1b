"""What a page in a browser has come to, and what Python makes of the same weights."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from tamis.rank.evaluation import Evaluation, evaluation
from tests.publication.example_summary import best_for
from tests.publication.records import Facts

if TYPE_CHECKING:
    from playwright.sync_api import Page


def settled(page: Page) -> None:
    """Wait until everything that was asked for is drawn: a few frames, as one leads to another."""
    page.evaluate(
        "async () => { for (let i = 0; i < 4; i += 1) await new Promise(requestAnimationFrame); }"
    )


def state(page: Page) -> dict[str, Any]:
    settled(page)
    found: dict[str, Any] = page.evaluate("tamis.state")
    return found


def slide(page: Page, weights: list[int]) -> dict[str, Any]:
    """Move every slider and give the state that the page comes to."""
    for at, weight in enumerate(weights):
        page.locator(f"#weight-{at}").fill(str(weight))
    return state(page)


def weighed(summary: Facts, weights: list[int]) -> Evaluation:
    """The choice as Python makes it, from the positions of the sliders."""
    keys = [f["key"] for f in summary["factors"]]
    scores = {key: [c["values"][key] for c in summary["candidates"]] for key in keys}
    scores["size"] = [c["size"] for c in summary["candidates"]]
    directions = {f["key"]: f["direction"] for f in summary["factors"]}
    with warnings.catch_warnings(action="ignore"):  # that they do not sum to one
        return evaluation(scores, directions, dict(zip(keys, weights)), ties="size")


def standing(page: Page) -> dict[str, Any]:
    """What the plane of kept and told has come to."""
    settled(page)
    found: dict[str, Any] = page.evaluate("tamis.caution")
    return found


def by_worth(summary: Facts, caution: float) -> list[int]:
    """What may be chosen, the winner first, then by what it is worth."""
    best, candidates = best_for(summary, caution), summary["candidates"]

    def key(i: int) -> tuple[bool, float, int, int]:
        kept, told = candidates[i]["worth"]
        return i != best, -(kept - caution * told), candidates[i]["size"], i

    return sorted((i for i, one in enumerate(candidates) if not one["fails"]), key=key)
