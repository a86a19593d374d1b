"""The measures of the scorecard, the rules of selection, and named limits (presets).

`tamis.evaluate.scorecard` computes the measures, `tamis.decide` applies the rules. Presets are
limits that authorities and statistics offices name, asked for by one word.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
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
        A noun phrase that follows "the".
    label, sentence : str
        Title and explanation where a report lists it among measures of usefulness; empty if it does
        not. ``{people}`` stands for people or rows.
    shown_as : {"share", "change", "count", "number"}
        How its figures are formatted.
    limited_by : str
        The setting that limits it; empty if it cannot be limited.
    factor, factor_label : str
        The name under which it always counts in weighted ranks; empty if it only counts where it is
        given a weight.
    published : bool
        Whether manifests state it.
    sampled : bool
        Whether it depends on the sample of rows.
    of_original : bool
        Whether it is also measured for all columns and for none, to be shown for comparison.
    of_secret : bool
        Whether earlier releases of the same people add to it.
    lacking : str
        What a missing figure means; empty if it just could not be measured.
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
        """On which side of a limit its figures must be."""
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
    """The record of a measure of rules that is only taken on request, such as the holder's own."""
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
"""The measure of each factor that always counts in weighted ranks."""


@dataclass(frozen=True)
class ChoiceRule:
    """One rule of selection.

    Parameters
    ----------
    name : str
        The name by which it is asked for.
    words : str
        The criterion, a noun phrase that follows "by".
    chose : str
        How the release was chosen, for a report.
    chose_untold : str
        The same for a table without a sensitive column to tell about.
    smaller : str
        Why a column was left out that would have taught something.
    """

    name: str
    words: str
    chose: str
    chose_untold: str
    smaller: str

    def __repr__(self) -> str:
        return in_short(self, self.name)


VALUE = ChoiceRule(
    "value",
    "what is kept and told",
    chose="Among those that meet every limit, the one that keeps most, less what it tells, was "
    "chosen; of those within a hundredth of it, the smallest.",
    chose_untold="Among those that meet every limit, the one that keeps most was chosen; of those "
    "within a hundredth of it, the smallest.",
    smaller="A larger release was worth no more, or hardly more.",
)
RANKS = ChoiceRule(
    "ranks",
    "ranks, E(S)",
    chose="The choice was made by weighted ranks.",
    chose_untold="The choice was made by weighted ranks.",
    smaller="By the weighted ranks, a smaller release is better.",
)
CHOICES = {rule.name: rule for rule in (VALUE, RANKS)}


@dataclass(frozen=True)
class Preset:
    """Named limits.

    Parameters
    ----------
    name : str
        The name by which they are asked for.
    words : str
        Who names them, and what they are.
    asks : mapping of option to limit
    """

    name: str
    words: str
    asks: Mapping[str, float]

    def __repr__(self) -> str:
        return in_short(self, self.name)

    def stricter(self, name: str, given: float | None) -> float:
        """The stricter of the preset's limit and a given one.

        >>> PRESETS["ema"].stricter("max_risk", 0.2), PRESETS["office-10"].stricter("k", 20)
        (0.09, 20)
        """
        mine = self.asks[name]
        if given is None:
            return mine
        return max(mine, given) if name == "k" else min(mine, given)


def _preset(name: str, words: str, **asks: float) -> Preset:
    return Preset(name, words, MappingProxyType(asks))


EVERY = (
    _preset(
        "ema",
        "European Medicines Agency, Policy 0070: nobody is found with a chance above .09",
        max_risk=0.09,
    ),
    _preset(
        "health-canada",
        "Health Canada, public release of clinical information: nobody is found with a chance "
        "above .09",
        max_risk=0.09,
    ),
    _preset("office-3", "the least frequency that many statistics offices ask for: 3", k=3),
    _preset("office-10", "the least frequency of more careful statistics offices: 10", k=10),
)
PRESETS = {preset.name: preset for preset in EVERY}
