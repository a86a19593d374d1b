"""The figures of a summary: how useful the chosen release is, and what attackers gain."""

from __future__ import annotations

from tamis.evaluate.figure import accuracy
from tamis.flow import Outcome
from tamis.publishing.summarise_candidates import interval_of
from tamis.publishing.summary import Attacker, Measure, Unit
from tamis.table import Table

_MEASURES: dict[str, tuple[str, str, str]] = {
    "performance": (
        "Right predictions",
        "How often a model that learnt from the release is right about {people} it never saw.",
        "share",
    ),
    "auc": (
        "Telling cases apart",
        "How often a model puts one of the {people} that have a label before one that has not.",
        "share",
    ),
    "f_measure": (
        "Finding every label",
        "How well a model finds the rows of each label without false alarms.",
        "share",
    ),
    "rule_accuracy": (
        "Change of the rules' accuracy",
        "How far the rules of the original are more or less often right in the release.",
        "share",
    ),
    "rsd": (
        "Shift of the rules' supports",
        "How far the share of {people} that a rule speaks about has moved.",
        "share",
    ),
    "rld": (
        "Shift of the rules' labels",
        "How far the labels of the {people} that a rule speaks about have moved.",
        "share",
    ),
    "lost_rules": (
        "Lost rules",
        "Rules of the original that name a column which is not released as it was.",
        "share",
    ),
}
_OF_THE_ORIGINAL = ("performance", "auc", "f_measure")


def judged(table: Table) -> Unit:
    """What shares of held-out rows are about: people only where each row is one.

    >>> from tamis.datasets import patients
    >>> judged(patients(rows=200))
    'people'
    """
    return "people" if table.unit == "people" and table.people is None else "rows"


def measure_facts(outcome: Outcome) -> list[Measure]:
    """How useful the chosen release is, on rows that nothing was chosen by."""
    card, chosen = outcome.decision.scorecard, outcome.decision.chosen
    people = judged(outcome.table)
    better = {m.name: m.better for m in card.measures}
    found: list[Measure] = []
    for key, (label, sentence, shown_as) in _MEASURES.items():
        figure = chosen.figures.get(key)
        if figure is None:
            continue
        compared = key in _OF_THE_ORIGINAL
        found.append(
            {
                "key": key,
                "label": label,
                "sentence": sentence.format(people=people),
                "better": "higher" if better[key] == "max" else "lower",
                "shown_as": shown_as,  # type: ignore[typeddict-item]
                "released": figure.value,
                "interval": interval_of(figure),
                "original": card.baseline.value(key) if compared else None,
                "floor": card.floor.value(key) if compared else None,
            }
        )
    return found


def attacker_facts(outcome: Outcome) -> list[Attacker]:
    """How often each attacker is right: by guessing, with everything, with the release."""
    chosen = outcome.decision.chosen.trial
    heard = chosen.reporting
    guess = outcome.decision.scorecard.floor.trial.reporting.attacked
    found: list[Attacker] = []
    for name, said in heard.attacked.items():
        right = accuracy(said.right, heard.people)
        found.append(
            {
                "name": name,
                "guessing": float(guess[name].right.mean()),
                "everything": float(heard.everything[name].right.mean()),
                "released": right.value,
                "interval": interval_of(right),
                "strongest": name == chosen.strongest,
                "strongest_before": name == outcome.court.strongest,
            }
        )
    return found
