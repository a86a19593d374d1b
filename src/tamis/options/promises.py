"""What a release must promise about people who look alike, and about the population.

What is required of groups of people alike is listed by the classes of `tamis.require`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from tamis.catalogue.presets import PRESETS
from tamis.option import Asked, Option
from tamis.require import options_of_groups
from tamis.require.base import promised
from tamis.require.containment import ABSENCES

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
    "Limits by name, beside those that are given; the stricter counts.",
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
        "Who else might try? What do they know, and what must they not learn?",
        "One attacker a line: a name, the columns that they know, the secret that they want (every "
        "secret if you name none), and what must hold against them, such as k, l or t; k is as "
        "above where you give none. The names are published with what is promised.",
        "These might try, too:\n{}",
        "Nobody else is named who might try.",
        "neighbour: knows age, sex; k=5",
    ),
)
PROMISES = (K, ABSENCES, *BESIDE_K, ATTACKER, MAX_SUPPRESSED)
"""What a release may be asked to promise."""

_population = partial(Option, section="The population", rare=True)
POPULATION = _population(
    "population",
    "A register of everybody, of whom the table is a sample.",
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
SAMPLED = _population(
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
MAX_POPULATION_RISK = _population(
    "max_population_risk",
    "Largest share of people found in the population.",
    "share",
    least=0,
    most=1,
    example=0.05,
    asked=Asked(
        "The most people to be found",
        "The share of people whom somebody could find in the whole population. It needs one of "
        "the two above.",
        "At most {}% of the people can be found in the population.",
        "There is no limit on how many are found in the population.",
    ),
)
DELTA_PRESENCE = _population(
    "delta_presence",
    "With --population: the chance that somebody of it is in the table.",
    "shares",
    metavar="LOW,HIGH",
)
REGISTER = (POPULATION, SAMPLED)
"""What is known of the population."""
IN_POPULATION = (*REGISTER, MAX_POPULATION_RISK, DELTA_PRESENCE)
"""What is known of it, and what is required of a release in it."""
LIMITS = tuple(
    replace(option, rare=False, section="Limits", default=None, otherwise="", note="", asked=None)
    if option in (K, PRESET)
    else replace(option, section="Limits")
    for option in (K, *BESIDE_K, PRESET, MAX_POPULATION_RISK, DELTA_PRESENCE)
)
"""What a table that is only measured must meet; nothing is asked where none is given."""
