"""What `tamis release` is asked: what to promise and write, how to choose, synthetic rows.

What is required of groups of people alike is listed by the classes of `tamis.require`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from tamis.catalogue.measures import CHOICES, PRESETS
from tamis.catalogue.methods import BY_DEFAULT, METHODS, MODELS
from tamis.option import Asked, Option
from tamis.options.reading import SEED
from tamis.require import options_of_groups
from tamis.require.attacker import MAX_TOLD
from tamis.require.base import promised
from tamis.require.k import ABSENCES
from tamis.require.population import OF_POPULATION, of_population

K, *BESIDE_K = options_of_groups().values()
"""What may be asked of groups of people alike: their number, and more."""
MAX_SUPPRESSED = promised(
    "max_suppressed",
    "Largest share of people to leave out.",
    "share",
    default=0.0,
    least=0,
    most=0.5,
    metavar="SHARE",
    asked=Asked(
        "People who may be left out",
        "A few people with rare values often cost all others much detail. A model "
        "learns nothing about those who are left out.",
        "At most {}% of the people are left out, so that all others keep these limits.",
        "Nobody is left out to keep these limits.",
        "nobody",
        more=False,
    ),
)
PRESET = promised(
    "preset",
    "Named limits, added to the given ones; the stricter counts.",
    "choice",
    choices=tuple(PRESETS),
    metavar="NAME",
    dest="limits_preset",
    rare=True,
)
ATTACKER = promised(
    "attacker",
    'Who might try: "NAME: knows a,b; k=5"; repeatable.',
    "attacker",
    default=(),
    multiple=True,
    metavar="TEXT",
    dest="threats",
    asked=Asked(
        "Who might try? What do they know? What must they not learn?",
        "A name, the columns that they know, the secrets that they want (every secret if you name "
        "none), and what must hold against them; k is as above where you give none. The names are "
        "published with what is promised.",
        "These might try, too:\n{}",
        "Nobody else is named who might try.",
        "neighbour: knows age, sex; k=5",
    ),
)
PROMISES = (K, ABSENCES, *BESIDE_K, ATTACKER, MAX_SUPPRESSED)
"""What a release may be asked to promise."""

POPULATION = of_population(
    "population",
    "Register of the population that the table is a sample of.",
    metavar="FILE",
    example="register.csv",
    asked=Asked(
        "A register of everybody",
        "Or a file with the columns that others may know, one row for each person of the "
        "population: type its path. People are counted in it instead of estimated.",
        "The table is a sample of the people in {}.",
        "There is no register of the population.",
        "no file",
    ),
)
SAMPLED = of_population(
    "sampling",
    "The share of the population that is in the table, such as 0.01.",
    "share",
    above=0,
    most=1,
    example=0.01,
    asked=Asked(
        "Share of the population in the table",
        "If the table is a sample, others do not know who is in it. How many of all people are?",
        "The table holds {}% of the population.",
        "It is not said how many of the population the table holds.",
        "not known",
    ),
)
REGISTER = (POPULATION, SAMPLED)
"""What is known of the population."""
IN_POPULATION = (*REGISTER, *(kind.option for kind in OF_POPULATION))
"""What is known of it, and what is required of a release in it."""
LIMITS = tuple(
    replace(option, rare=False, section="Limits", default=None, otherwise="", note="", asked=None)
    if option in (K, PRESET)
    else replace(option, section="Limits")
    for option in (K, *BESIDE_K, PRESET, *(kind.option for kind in OF_POPULATION))
)
"""What a table that is only measured must meet; nothing is asked where none is given."""


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
        rare=True,
        asked=Asked(
            "Also describe the release",
            "For catalogues and tools, from what the manifest says anyway.",
            unset="No description besides the manifest and the report.",
            choices={
                "croissant": "Croissant, for catalogues of machine learning",
                "datapackage": "a Frictionless data package",
                "card": "a dataset card, README.md",
            },
        ),
    ),
    FORCE,
    Option(
        "choose_release",
        "Publish the named release instead of the best.",
        metavar="NAME",
        old=("take",),
        dest="take",
    ),
    Option(
        "link",
        "Release rows of a person together, under random numbers in a new column.",
        metavar="COL",
        rare=True,
        asked=Asked(
            "Rows of a person together",
            "A name for a new column, in which all rows of a person have the same random number. "
            "Whoever finds one row of somebody has then found all, so everything is counted for "
            "all rows of a person, and less detail is left.",
            "All rows of a person have the same random number in the column {}.",
            "Nothing says which rows are of the same person.",
            "not together",
        ),
    ),
    Option(
        "shift_dates",
        "First move all dates of each person by one random number of days, at most N.",
        "count",
        least=1,
        most=36_500,
        rare=True,
        asked=Asked(
            "Move dates by at most so many days",
            "All dates of a person move by one random number of days, so that intervals between "
            "them stay. It promises nothing by itself, and works with all ways to find releases.",
            "All dates of a person are moved by one random number of days, up to {}.",
            "Dates are not moved.",
            "not moved",
        ),
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
        "Weights of several sensitive columns in what is told; 1 by default.",
        "weights",
        metavar="COL=N,...",
        rare=True,
    ),
    _choice(
        "secret_limits",
        "Largest share told of each of several sensitive columns.",
        "weights",
        metavar="COL=N,...",
        rare=True,
    ),
    _choice(
        "allow_useless",
        "Publish even a release that is no better than guessing.",
        "flag",
        rare=True,
    ),
    _choice(
        "max_pbi",
        "Largest gain of an attacker over releasing all columns.",
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
        "Smallest accuracy of a recipient's model.",
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
        "Methods that propose releases.",
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
        "Attackers' models; the gain of the strongest is the PBI.",
        "names",
        default=("small", "nb"),
        rare=True,
        note="What attackers would train; the strongest counts.",
    ),
    _search(
        "holdout",
        "Share of rows for selection, and again for reporting.",
        "share",
        default=0.25,
        above=0,
        below=0.5,
        rare=True,
        note="Share of rows for selection, and again for reporting; no search sees either.",
    ),
    _search(
        "search_rows",
        "Most rows to train on; promises count all rows.",
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
        "A csv file with the ladder of a column: its values in coarser forms.",
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
        "The file that records the budget spent.",
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
