"""What `tamis release` is asked: what to write, how to search and choose, synthetic rows."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from tamis.catalogue.choices import CHOICES
from tamis.catalogue.methods import BY_DEFAULT, METHODS
from tamis.catalogue.models import MODELS
from tamis.option import Asked, Option
from tamis.options.promises import IN_POPULATION, PRESET, PROMISES
from tamis.options.reading import SEED
from tamis.require.attacker import MAX_TOLD

FORMATS = ("csv", "parquet", "long", "svm", "sav", "dta", "xlsx")

FORCE = Option("force", "Replace an earlier release of that name.", "flag")
OUTPUT = (
    Option("out", "The folder to create.", metavar="DIR"),
    Option(
        "output_format",
        "The format of the rows.",
        "choice",
        choices=FORMATS,
        otherwise="csv; long for sparse records of which many columns are left",
        old=("write",),
        rare=True,
        asked=Asked(
            "Format of the released rows",
            "CSV opens everywhere; Parquet is smaller and keeps types.",
            unset="CSV",
            choices={"parquet": "Parquet"},
        ),
    ),
    Option(
        "describe",
        "Also describe the release: croissant, datapackage, card.",
        "names",
        default=(),
        otherwise="none",
        metavar="KINDS",
    ),
    FORCE,
    Option(
        "choose_release",
        "Publish the release of that name, not the best.",
        metavar="NAME",
        old=("take",),
        dest="take",
    ),
    Option(
        "earlier",
        "Earlier releases of the same people.",
        multiple=True,
        metavar="DIR",
        old=("beside",),
    ),
    Option(
        "reproduce",
        "Make an earlier release again, byte for byte.",
        metavar="DIR",
        old=("again",),
    ),
)
"""What is written."""

RULE_MEASURE = Option(
    "measure",
    "Also measure rules by a RuleMeasure, or a function, of your own; may be repeated. Imports and "
    "runs the module, from the working directory first.",
    default=(),
    multiple=True,
    metavar="MODULE:NAME",
    dest="rule_measures",
)
RULE_LIMIT = Option(
    "limit",
    "The worst that a measure of rules may be, also one of your own; may be repeated.",
    "weights",
    default=(),
    multiple=True,
    metavar="NAME=N",
    dest="rule_limits",
)

_choice = partial(Option, section="The choice")
CHOICE = (
    _choice(
        "choose",
        "Selection rule: value, ranks (the paper's) or front.",
        "choice",
        default="value",
        choices=(*CHOICES, "front"),
        metavar="RULE",
    ),
    _choice(
        "caution",
        "Weight of what is told against what is kept.",
        "number",
        default=1.0,
        least=0,
        note="The release that keeps most of the target, less this many times what it tells of the "
        "sensitive column. Above 1 is more careful.",
        asked=Asked(
            "Caution",
            "How much telling the secret counts against teaching the target: 1 is even, 2 is "
            "careful.",
            "Telling the secret counts {} times as much as teaching the target.",
            "Telling the secret counts as much as teaching the target.",
            "1",
            most=1000,
        ),
    ),
    _choice(
        "min_kept",
        "The least to keep of what teaches the target.",
        "share",
        least=0,
        most=1,
        example=0.8,
        asked=Asked(
            "The least that must be kept",
            "Of all that can be learnt about the target, how much must the release keep?",
            "The release keeps at least {}% of what can be learnt about the target.",
            "There is no limit on what is kept; more is preferred.",
        ),
    ),
    MAX_TOLD,
    _choice(
        "secret_weights",
        "What told of each of several sensitive columns counts; 1 if not named.",
        "weights",
        metavar="COL=N,...",
        rare=True,
    ),
    _choice("allow_useless", "Publish even what is no better than guessing.", "flag", rare=True),
    _choice(
        "max_pbi",
        "The most an attacker may gain over all columns.",
        "share",
        least=-1,
        rare=True,
        asked=Asked(
            "The most an attacker may gain",
            "Compared with releasing every column: 0 means no gain, -5 means 5% worse off.",
            "The strongest attacker guesses the secret at most {}% better than from every column.",
            "There is no limit on what an attacker gains; less is preferred.",
            most=1,
        ),
    ),
    _choice(
        "min_performance",
        "The least accuracy of a recipient's model.",
        "share",
        least=0,
        most=1,
        rare=True,
        asked=Asked(
            "The least accuracy",
            "How often a model learnt from the release must be right.",
            "A model that learns from the release is right at least {} times in 100.",
            "There is no limit on the accuracy; more is preferred.",
        ),
    ),
    _choice(
        "max_features",
        "The most columns to release.",
        "count",
        least=1,
        rare=True,
        example=10,
        asked=Asked(
            "The most columns",
            "Fewer columns are easier to explain and to check.",
            "At most {} columns are released, besides the target.",
            "Any number of columns may be released.",
        ),
    ),
    _choice(
        "max_lost_rules",
        "Largest share of rules that may be lost.",
        "share",
        least=0,
        most=1,
        rare=True,
        example=0.5,
    ),
    replace(RULE_MEASURE, section="The choice", rare=True),
    replace(RULE_LIMIT, section="The choice", rare=True),
    _choice(
        "weights",
        "With --choose ranks: how much each factor counts.",
        "weights",
        otherwise="performance=.5,privacy=.25,size=.25",
        rare=True,
    ),
)
"""By what a release is chosen, and its limits."""

_search = partial(Option, section="The search")
SEARCH = (
    _search(
        "methods",
        "How to find releases.",
        "names",
        default=BY_DEFAULT,
        rare=True,
        note="The methods that propose releases.",
        asked=Asked(
            "Ways to find releases",
            "All that you tick are tried and compared; with none ticked, those that change no "
            "value.",
            unset="Releases are sought in the usual ways, which change no value.",
            choices={name: m.asked for name, m in METHODS.items() if m.asked},
        ),
    ),
    _search(
        "classifier",
        "What a recipient would train: nb, c45, tree, forest, logistic, ...",
        default="nb",
        metavar="NAME",
        rare=True,
        note=f"What a recipient would train: {', '.join(MODELS)}.",
        asked=Asked(
            "What a recipient would train",
            "Usefulness is measured with this model.",
            unset="The usual one",
            choices={name: m.asked for name, m in MODELS.items() if m.asked},
        ),
    ),
    _search(
        "attackers",
        "Models whose gain is the PBI.",
        "names",
        default=("c45", "nb"),
        rare=True,
        note="What attackers would train; the strongest counts.",
    ),
    _search(
        "holdout",
        "The share of rows used to choose, and again to report.",
        "share",
        default=0.25,
        above=0,
        below=0.5,
        rare=True,
        note="The share of rows used to choose, and again to report; no search sees either.",
    ),
    _search(
        "search_rows",
        "The most rows to learn from; promises count all.",
        "count",
        default=50_000,
        least=100,
        rare=True,
    ),
)
"""How releases are found and measured."""
LADDERS = (
    Option(
        "ladder",
        "A csv file with coarser forms of a column's values.",
        multiple=True,
        metavar="COL=FILE",
        rare=True,
    ),
    Option("ladders", "The table [ladders] of a configuration file.", "table", hidden=True),
)
"""Coarser forms of columns: `--ladder`, and `[ladders]` in a configuration file."""
OF_METHODS = tuple(
    Option(name, "Settings of the method.", "table", hidden=True) for name in METHODS
)
"""The settings of each method, for a configuration file."""

_private = partial(Option, section="Differential privacy", rare=True)
EPSILON = _private(
    "epsilon",
    "Release only synthetic rows, differentially private at this cost.",
    "number",
    above=0,
    example=1.0,
)
BOUNDS = _private(
    "bounds",
    "Public ranges and values of the columns.",
    metavar="FILE.toml",
    example="bounds.toml",
)
SPENDING = (
    _private(
        "max_rows_per_person",
        "The most rows used per person; others are left out at random.",
        "count",
        least=1,
        otherwise="1",
    ),
    _private(
        "ledger",
        "The file that adds up what is spent.",
        metavar="FILE",
        otherwise="tamis-ledger.json beside TABLE",
    ),
    _private(
        "max_epsilon",
        "The most to spend on TABLE in total, according to the ledger.",
        "number",
        above=0,
    ),
)
"""Rows per person, and what may be spent."""
SYNTHESISING = (
    _private(
        "algorithm",
        "Choose which columns to count together, by AIM or by MST.",
        "choice",
        choices=("aim", "mst"),
        otherwise="count all together",
    ),
    _private(
        "delta",
        "With --algorithm: the probability with which epsilon may fail; it allows less noise.",
        "number",
        default=0.0,
        least=0,
        below=1,
    ),
)
"""How counts are chosen where there are too many columns to count all together."""

RELEASE = (
    *OUTPUT,
    *PROMISES,
    PRESET,
    *CHOICE,
    *SEARCH,
    *LADDERS,
    *OF_METHODS,
    *IN_POPULATION,
    EPSILON,
    BOUNDS,
    *SPENDING,
    *SYNTHESISING,
)
DEMO = (
    replace(OUTPUT[0], otherwise="a new tamis-demo here"),
    Option("rows", "The rows of the table.", "count", default=3000, least=300),
    FORCE,
    SEED,
)
