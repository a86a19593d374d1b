"""What a release must promise about people who look alike, and about the population.

A requirement's class names its records of this module, and checks its parameters by them.
"""

from __future__ import annotations

from functools import partial

from tamis.option import Asked, Option

_promise = partial(Option, section="Promises")
K = _promise(
    "k",
    "How many people must look alike.",
    "count",
    default=5,
    least=1,
    note="Everybody hides among at least this many people.",
    asked=Asked(
        "People who look alike (k)",
        "Whoever knows such facts about someone finds at least this many people who fit. More of "
        "them protect better and cost detail; ask whether a rule of your house names a number.",
        "Everybody hides among at least {} people who look the same to someone who knows them.",
        more=False,
    ),
)
ABSENCES = _promise(
    "known_absences",
    "In 0/1 columns: things a person lacks that an attacker may know too.",
    "count",
    default=0,
    least=0,
    most=4,
    because="since more take too long to count, and k-anonymity covers them all",
    rare=True,
    old=("absences",),
    dest="absences",
    asked=Asked(
        "Things a person is known to lack",
        "For yes/no facts: others may know not only what a person has, but also that they do not "
        "have this many things.",
        "Of yes/no facts, others may also know {} that a person does not have.",
        "Of yes/no facts, others know what a person has, not what they lack.",
        "none",
    ),
)
L = _promise(
    "l",
    "Different sensitive values in each group.",
    "count",
    least=2,
    because="since every group has one value",
    example=2,
    asked=Asked(
        "Different secrets in a group (l)",
        "People who look alike must not all share one secret.",
        "Each group of people who look alike has at least {} different values of the secret.",
        "Groups may share the same secret.",
        more=False,
    ),
)
L_KIND = _promise(
    "l_kind",
    "How --l counts sensitive values.",
    "choice",
    default="distinct",
    choices=("distinct", "entropy", "recursive"),
    rare=True,
)
C = _promise("c", "For --l-kind recursive.", "number", default=3.0, above=0, rare=True)
T = _promise(
    "t",
    "Largest distance of a group from the table.",
    "share",
    least=0,
    most=1,
    example=0.3,
    asked=Asked(
        "How far a group may lean (t)",
        "How much more likely a secret may be in one group than in the whole table.",
        "The secret is spread in each group as in the whole table, up to {}%.",
        "Groups may lean towards some values of the secret.",
        more=False,
    ),
)
T_DISTANCE = _promise(
    "t_distance",
    "How --t measures the distance of two values.",
    "choice",
    choices=("equal", "ordered"),
    otherwise="ordered for numbers",
    rare=True,
)
ALPHA = _promise(
    "alpha",
    "Largest share of one sensitive value within a group.",
    "share",
    above=0,
    most=1,
    rare=True,
)
BETA = _promise(
    "beta",
    "Largest relative excess of a sensitive value within a group.",
    "number",
    above=0,
    rare=True,
)
BETA_KIND = _promise(
    "beta_kind",
    "enhanced: bounded by minus the logarithm of the share, too.",
    "choice",
    default="basic",
    choices=("basic", "enhanced"),
    rare=True,
)
DELTA_DISCLOSURE = _promise(
    "delta_disclosure",
    "Bound on the log-ratio of a value's share within a group and overall.",
    "number",
    above=0,
    rare=True,
)
MAX_RISK = _promise(
    "max_risk",
    "Largest chance of finding a person's row: 1/k.",
    "share",
    above=0,
    most=1,
    rare=True,
)
MAX_AVERAGE_RISK = _promise(
    "max_average_risk", "Largest average of that chance.", "share", above=0, most=1, rare=True
)
MAX_SUPPRESSED = _promise(
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
DIVERSITY = (L, L_KIND, C, T)
LIKENESS = (ALPHA, BETA, BETA_KIND, DELTA_DISCLOSURE, MAX_RISK, MAX_AVERAGE_RISK)
PROMISES = (K, ABSENCES, *DIVERSITY, T_DISTANCE, *LIKENESS, MAX_SUPPRESSED)
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
