"""The measures of the scorecard; `tamis.evaluate.scorecard` has how each is taken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tamis.notebook import in_short

ShownAs = Literal["share", "change", "count", "number"]


@dataclass(frozen=True)
class MeasureRecord:
    """One measure of a release.

    Parameters
    ----------
    name : str
        As in `scorecard.json`.
    better : {"max", "min"}
    words : str
        What it is, after "the".
    label, sentence : str
        How a report shows what is useful about a release; empty: it does not. ``{people}`` stands
        for people or rows.
    shown_as : {"share", "change", "count", "number"}
        How its figures are written.
    limited_by : str
        The setting that limits it; empty: it cannot be limited.
    factor, factor_label : str
        The name under which it always counts in weighted ranks; empty: only where it is weighed.
    published : bool
        Whether manifests state it.
    sampled : bool
        Whether it differs from one sample of rows to another.
    of_original : bool
        Whether releasing everything and nothing have it, too, to be shown beside it.
    of_secret : bool
        Whether earlier releases of the same people add to it.
    lacking : str
        What it means that a release has no such figure; empty: it cannot be measured.
    """

    name: str
    better: Literal["max", "min"]
    words: str
    label: str = ""
    sentence: str = ""
    shown_as: ShownAs = "share"
    limited_by: str = ""
    factor: str = ""
    factor_label: str = ""
    published: bool = False
    sampled: bool = True
    of_original: bool = False
    of_secret: bool = False
    lacking: str = ""

    def __repr__(self) -> str:
        return in_short(self, self.name)

    @property
    def side(self) -> Literal["at least", "at most"]:
        """Where a limit on it lies."""
        return "at least" if self.better == "max" else "at most"


_MEASURES = (
    MeasureRecord(
        "kept",
        "max",
        "share kept of what can be learnt about the target",
        limited_by="min_kept",
        published=True,
    ),
    MeasureRecord(
        "told",
        "min",
        "share told of what the table tells about the sensitive column",
        limited_by="max_told",
        of_secret=True,
    ),
    MeasureRecord(
        "useful", "max", "bits taught about the target", shown_as="number", published=True
    ),
    MeasureRecord("telling", "min", "bits told about the sensitive column", shown_as="number"),
    MeasureRecord(
        "performance",
        "max",
        "accuracy",
        "Correct predictions",
        "How often a model trained on the release is right about {people} it never saw.",
        limited_by="min_performance",
        factor="performance",
        factor_label="Usefulness",
        published=True,
        of_original=True,
    ),
    MeasureRecord(
        "auc",
        "max",
        "area under the ROC curve",
        "Separating the labels",
        "How often a model ranks one of the {people} with a label above one without it.",
        published=True,
        of_original=True,
    ),
    MeasureRecord(
        "f_measure",
        "max",
        "F-measure",
        "Finding every label",
        "How well a model finds the rows with each label, without false alarms.",
        published=True,
        of_original=True,
    ),
    MeasureRecord(
        "pbi",
        "min",
        "increase in the strongest attacker's accuracy",
        shown_as="change",
        limited_by="max_pbi",
        factor="privacy",
        factor_label="Privacy",
        of_secret=True,
    ),
    MeasureRecord("k_anonymity", "max", "number of people alike", shown_as="count", sampled=False),
    MeasureRecord(
        "containment_anonymity",
        "max",
        "number of people who have whatever a person has",
        shown_as="count",
        sampled=False,
    ),
    MeasureRecord(
        "epsilon",
        "min",
        "privacy budget epsilon",
        shown_as="number",
        limited_by="epsilon",
        sampled=False,
        lacking="rows are released as they are, which no epsilon covers",
    ),
    MeasureRecord(
        "features",
        "min",
        "number of columns",
        shown_as="count",
        limited_by="max_features",
        factor="size",
        factor_label="Few columns",
        sampled=False,
    ),
    MeasureRecord(
        "rule_accuracy",
        "min",
        "change in the rules' accuracy",
        "Change in the rules' accuracy",
        "How much more or less often the rules of the original are right in the release.",
    ),
    MeasureRecord(
        "rsd",
        "min",
        "change in the rules' support",
        "Shift in the rules' support",
        "How far the share of {people} that a rule covers has moved.",
    ),
    MeasureRecord(
        "rld",
        "min",
        "change in the rules' labels",
        "Shift in the rules' labels",
        "How far the labels of the {people} that a rule covers have moved.",
    ),
    MeasureRecord(
        "lost_rules",
        "min",
        "share of lost rules",
        "Lost rules",
        "Rules of the original that use a column which is not released as it was.",
        limited_by="max_lost_rules",
    ),
)


def of_rules(name: str, better: Literal["min", "max"]) -> MeasureRecord:
    """A measure of rules that is not always taken, such as one of the holder's own."""
    return MeasureRecord(
        name,
        better,
        f"measure {name} of the rules",
        name,
        "A measure of what the release leaves of the rules, taken because it was asked for.",
        shown_as="number",
    )


MEASURES = {measure.name: measure for measure in _MEASURES}
FACTORS = {measure.factor: measure.name for measure in _MEASURES if measure.factor}
"""The factors that always count in weighted ranks, and the measures that they stand for."""
