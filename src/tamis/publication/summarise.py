"""An analysis with what was measured on the written file, which is all that reports show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tamis.analyse import Analysis
from tamis.analyse.column_fates import with_values
from tamis.analyse.written import BudgetFacts, PromiseFacts, RecipeFacts, Setting
from tamis.flow import Outcome
from tamis.publication.manifest import versions
from tamis.stated import measured_words, sentence
from tamis.verification.layout import PRIVATE, RECIPE
from tamis.verification.promises import budget_claim, budget_words


def summarise(
    outcome: Outcome,
    analysis: Analysis,
    manifest: dict[str, Any],
    origin: dict[str, Any],
    diverse: Sequence[dict[str, Any]],
) -> Analysis:
    """The analysis with what the written file tells.

    The manifest has the promises as measured from the written file, `origin` says how the table was
    read, and `diverse` what was reached of l and t, where only the holder may know.
    """
    coarser = {c["name"]: c["coarser"] for c in manifest["columns"] if "coarser" in c}
    return replace(
        analysis,
        made=manifest["date"],
        table=replace(analysis.table, name=str(origin.get("name") or analysis.table.name)),
        columns=with_values(analysis.columns, coarser),
        promises=(
            *map(_promised, manifest["promises"]),
            *map(_promised, manifest.get("diversity", ())),
            *_present(manifest.get("presence")),
        ),
        kept_private=tuple(map(_promised, diverse)),
        not_promised=tuple(manifest["not_promised"]),
        recipe=_recipe(outcome, manifest, origin),
        budget=_budget(manifest.get("budget")),
    )


def _promised(entry: dict[str, Any]) -> PromiseFacts:
    asked = next((entry[w] for w in ("c", "at_most", "below", "at_least") if entry.get(w)), 0.0)
    return PromiseFacts(
        key=entry["key"],
        claim=sentence(entry),
        measured=measured_words(entry),
        value=float(entry["measured"]),
        limit=float(asked or 0.0),
    )


def _present(entry: dict[str, Any] | None) -> list[PromiseFacts]:
    """Which people of a population are in the table; what was measured is for the holder alone."""
    if entry is None:
        return []
    return [_promised({**entry, "measured": entry["at_most"]})]


def _budget(spent: dict[str, Any] | None) -> BudgetFacts | None:
    if spent is None:
        return None
    return BudgetFacts(
        epsilon=spent["epsilon"],
        delta=spent["delta"],
        claim=budget_claim(spent),
        spent=budget_words(spent),
    )


def _recipe(outcome: Outcome, manifest: dict[str, Any], origin: dict[str, Any]) -> RecipeFacts:
    parameters = manifest["method"]["parameters"]
    options = ", ".join(f"{name} {value}" for name, value in parameters.items())
    file = manifest["file"]
    method = " ".join(filter(None, (manifest["method"]["name"], options)))
    public = [
        Setting(label="Method", value=method),
        Setting(label="Made with", value=f"tamis {versions()['tamis']}"),
        Setting(label=f"SHA-256 of {file['name']}", value=file["sha256"]),
    ]
    if budget := manifest.get("budget"):
        words = str(budget["neighbours_in_words"])
        public.insert(1, Setting(label="Neighbours", value=words))
    private = [
        Setting(label="Seed", value=str(outcome.settings.seed)),
        *([] if outcome.settings.secret is None else [_SECRET]),
        Setting(label=AGAIN, value=_again(outcome)),
    ]
    if origin.get("path"):
        private.insert(0, Setting(label="Made from", value=str(origin["path"])))
    return RecipeFacts(public=tuple(public), private=tuple(private))


_SECRET = Setting(
    label="Secret that values were altered by",
    value=f"in {PRIVATE}/{RECIPE}; whoever has it can undo what was altered",
)
AGAIN = "Reproduce the same bytes"


def _again(outcome: Outcome) -> str:
    if outcome.settings.epsilon is not None:
        return "not possible: the noise has no seed; share this folder as it is"
    return "tamis release --reproduce DIR"
