"""The methods that propose releases, and the models that recipients and attackers may train.

A class of `tamis.propose` has the record of its method as `about`. Order matters: methods propose
releases, and are offered to people, in the order of `METHODS`.

Models are listed by name; `tamis.learn.models` makes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tamis.notebook import in_short


@dataclass(frozen=True)
class ModelRecord:
    """One classifier.

    Parameters
    ----------
    name : str
        Its short name.
    home : str
        The module and the class, imported when the model is asked for.
    shown : str
        Its name in reports.
    asked : str
        The label under which `serve` offers it; empty if it does not.
    options : mapping
        Arguments of the class.
    scaled : bool
        Whether columns are scaled first; otherwise the largest numbers would dominate distances.
    attacks : bool
        Whether it is an attacker by default.
    few_classes_only : bool
        Whether attackers use it only for columns of few classes, since it fits a model per class.
    """

    name: str
    home: str
    shown: str
    asked: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    scaled: bool = False
    attacks: bool = False
    few_classes_only: bool = False

    def __repr__(self) -> str:
        return in_short(self, self.name)

    @property
    def class_name(self) -> str:
        """The class of the fitted object, as recipes state it."""
        return "Pipeline" if self.scaled else self.home.partition(":")[2]


_MODELS = (
    ModelRecord(
        "c45",
        "tamis.learn.c45:C45Classifier",
        "C4.5 tree",
        asked="Decision tree (C4.5)",
        attacks=True,
    ),
    ModelRecord(
        "nb",
        "tamis.learn.bayes:AdditiveNaiveBayes",
        "naive Bayes",
        asked="Naive Bayes: quick and plain",
        attacks=True,
    ),
    ModelRecord("small", "tamis.learn.boosted_trees:BoostedTrees", "small boosted trees"),
    ModelRecord(
        "tree",
        "sklearn.tree:DecisionTreeClassifier",
        "decision tree",
        options={"min_samples_leaf": 2},
    ),
    ModelRecord(
        "forest", "sklearn.ensemble:RandomForestClassifier", "random forest", asked="Random forest"
    ),
    ModelRecord(
        "boosting",
        "sklearn.ensemble:HistGradientBoostingClassifier",
        "boosted trees",
        asked="Gradient boosting: often the strongest",
        attacks=True,
        few_classes_only=True,
    ),
    ModelRecord(
        "neighbours", "sklearn.neighbors:KNeighborsClassifier", "nearest neighbours", scaled=True
    ),
    ModelRecord(
        "logistic",
        "sklearn.linear_model:LogisticRegression",
        "logistic regression",
        asked="Logistic regression",
        options={"max_iter": 1000},
        scaled=True,
        attacks=True,
        few_classes_only=True,
    ),
)
MODELS = {model.name: model for model in _MODELS}
ATTACKERS = tuple(model.name for model in _MODELS if model.attacks)
"""The attackers that are tried by default."""


def shown_model(name: str) -> str:
    """The name of a model in reports; attackers that are no model keep their name.

    >>> shown_model("nb"), shown_model("lookup")
    ('naive Bayes', 'lookup')
    """
    return MODELS[name].shown if name in MODELS else name


EVERYTHING, NOTHING = "everything", "nothing"
"""The reference releases of all features and of none, which no method proposes."""
UTILITIES = (
    *("distcnt", "hamdist", "cm", "difference", "information", "ratio"),
    *("likelihood", "auc", "best"),
)
"""Utilities by which columns of 0 and 1 may be chosen."""
BREACH_SEARCHES = ("auto", "walk", "exhaustive", "forward", "backward", "best-first")
"""Where the candidates of the breach-aware search come from."""
SYNTHETIC_KINDS = ("selected", "histogram", "partition", "synthesiser")
"""Kinds of synthetic rows."""

Stated = str | tuple[str, ...]
"""The type of a parameter in a manifest: a choice of words, or ``count``, ``share``, ``number`` or
``columns``."""

_UNTRUE = (
    "Some cells were changed on purpose: no row can be taken to describe a real person, and "
    "figures computed from the file are approximate."
)


@dataclass(frozen=True)
class MethodRecord:
    """Facts about a method, known without importing it.

    Parameters
    ----------
    name : str
        The name by which it is asked for, and stated in manifests.
    home : str
        The module of `tamis.propose` and the class.
    words : str
        What it does, in one sentence.
    asked : str
        The label under which `serve` offers it; empty if it does not.
    by_default : bool
        Whether it is tried where no method is named.
    on_engines : bool
        Whether an engine can make its releases; others need the table in memory.
    stated : mapping of parameter to Stated
        The public parameters of its releases, the only ones that a manifest may have.
    became : str
        What it did to a column, in words; empty if values are only kept or generalised.
    caveat : str
        A caveat for recipients about the cells; empty if there is none.
    perturber : str or mapping of kind to str
        The module of `tamis.perturb` and the class that alters cells. It takes the stated
        parameters under the same names, so that an attacker can alter a table in the same way.
    makes_alike : bool
        Whether it makes groups of k equal rows in the columns that it alters.
    row_by_row : bool
        Whether it treats rows one by one, so that it cannot make people alike in all their rows.
    numbers_at_random : bool
        Whether its numbers are random, so that nearly all are distinct and look like identifiers.
    synthetic : bool
        Whether its rows describe nobody; it needs an epsilon.
    """

    name: str
    home: str
    words: str
    asked: str = ""
    by_default: bool = False
    on_engines: bool = False
    stated: Mapping[str, Stated] = field(default_factory=dict)
    became: str = ""
    caveat: str = ""
    perturber: str | Mapping[str, str] = ""
    makes_alike: bool = False
    row_by_row: bool = False
    numbers_at_random: bool = False
    synthetic: bool = False

    def __repr__(self) -> str:
        return in_short(self, self.name)

    @property
    def alters(self) -> bool:
        """Whether values are no longer those of the original."""
        return bool(self.became)


FRONT = MethodRecord(
    "front",
    "unaltered:KeptToldFront",
    "Searches for columns that teach much about the target and tell little about the sensitive "
    "column.",
    asked="Weigh the columns: which sets teach most and tell least",
    by_default=True,
    on_engines=True,
    stated={"search": ("all sets", "beam")},
)
COARSEN = MethodRecord(
    "coarsen",
    "coarsen:Coarsen",
    "Keeps columns in coarser forms, such as ages in bands, where whole ones would tell too much.",
    asked="Make values coarser: ages to decades, places to regions",
    by_default=True,
    on_engines=True,
    stated={"search": ("kept and told",)},
)
BREACH = MethodRecord(
    "breach",
    "unaltered:Breach",
    "Looks for columns that teach as much as all of them but reveal less to an attacker.",
    asked="Choose columns: leave out those that give the secret away",
    by_default=True,
    on_engines=True,
    stated={
        "search": tuple(search for search in BREACH_SEARCHES if search != "auto"),
        "folds": "count",
        "model": tuple(dict.fromkeys(model.class_name for model in MODELS.values())),
    },
)
CONTAINMENT = MethodRecord(
    "containment",
    "containment:Containment",
    "Chooses columns of 0 and 1 such that whatever a person has, enough people have.",
    asked="Choose yes/no facts that many people have in common",
    by_default=True,
    stated={"k": "count", "utility": UTILITIES, "search": ("greedy",)},
    row_by_row=True,
)
FLIP = MethodRecord(
    "flip",
    "altered:Flip",
    "Flips cells of 0 and 1 until every row has enough others like it.",
    asked="Change some values at random (yes/no facts)",
    stated={"k": "count", "flipped_share": "share"},
    became="Some values were changed on purpose.",
    caveat=_UNTRUE,
    perturber="flip:RandomFlip",
    row_by_row=True,
)
NOISE = MethodRecord(
    "noise",
    "altered:Noise",
    "Alters cells at random; the other cells stay true.",
    asked="Add noise to numbers",
    stated={"kind": ("uniform", "gaussian"), "probability": "number"},
    became="Some values were changed on purpose.",
    caveat=_UNTRUE,
    perturber={"uniform": "noise:UniformNoise", "gaussian": "noise:GaussianNoise"},
    numbers_at_random=True,
)
MICROAGGREGATE = MethodRecord(
    "microaggregate",
    "altered:Microaggregate",
    "Gives each value the mean of a group of similar people.",
    asked="Give similar people the same values: the mean of their group",
    stated={"k": "count", "columns": "columns"},
    became="Each value is the middle of a group of similar people.",
    caveat="Values are means of groups, so no row describes a real person; whoever knows all "
    "others of a group can compute the values of the last.",
    perturber="microaggregation:Microaggregation",
    makes_alike=True,
    row_by_row=True,
)
SUPPRESS = MethodRecord(
    "suppress",
    "altered:Suppress",
    "Blanks single cells until every row has enough others like it.",
    asked="Leave single cells blank until enough people look alike",
    stated={"k": "count", "columns": "columns"},
    became="Some cells were left blank, so that enough people are alike.",
    caveat="Some cells were left blank on purpose, more often for people with rare values, so "
    "figures computed from the others may be off.",
    perturber="suppression:LocalSuppression",
    makes_alike=True,
    row_by_row=True,
)
SWAP = MethodRecord(
    "swap",
    "altered:Swap",
    "Swaps numbers with others of nearly the same rank.",
    asked="Swap numbers with others of nearly the same rank",
    stated={"within": "number", "columns": "columns"},
    became="Values were swapped with others of nearly the same rank.",
    caveat=_UNTRUE,
    perturber="microaggregation:RankSwap",
)
PRAM = MethodRecord(
    "pram",
    "altered:PostRandomise",
    "Draws categories anew so that their frequencies stay on average.",
    asked="Draw categories anew, as often as they occur",
    stated={"change": "number", "columns": "columns"},
    became="Some values were drawn anew, as often as they occur.",
    caveat=_UNTRUE,
    perturber="noise:Pram",
)
SHIFT = MethodRecord(
    "shift",
    "altered:Shift",
    "Moves all dates of a person by one random number of days.",
    asked="Move the dates of each person by a random number of days",
    stated={"days": "count", "columns": "columns"},
    became="Dates were moved, all of a person by the same random number of days.",
    caveat="Dates were moved on purpose, all of a person by the same number of days: intervals are "
    "true, days, seasons and weekdays are not. Whoever knows one date of a row learns its others.",
    perturber="shifted_dates:ShiftedDates",
)
DP = MethodRecord(
    "dp",
    "synthetic:Synthetic",
    "Draws synthetic rows from noisy counts; they describe no real person.",
    # No page asks for the public bounds and the ledger that synthetic rows need.
    stated={"kind": SYNTHETIC_KINDS},
    became="The values are synthetic, drawn with noise within public bounds.",
    numbers_at_random=True,
    synthetic=True,
)

METHODS = {
    method.name: method
    for method in (
        *(FRONT, COARSEN, BREACH, CONTAINMENT),
        *(FLIP, NOISE, MICROAGGREGATE, SUPPRESS, SWAP, PRAM, SHIFT, DP),
    )
}
BY_DEFAULT = tuple(name for name, method in METHODS.items() if method.by_default)
"""Methods that are tried by default; those that alter values must be asked for."""
RECORDED = METHODS | {
    name: MethodRecord(name, "", f"Releases {name}.") for name in (EVERYTHING, NOTHING)
}
"""The records of all methods that a manifest may name."""
