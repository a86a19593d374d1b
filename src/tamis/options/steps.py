"""What the commands of single steps are asked: select, coarsen, perturb, choose, attack, rules."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from tamis.catalogue.formats import RULE_FORMATS
from tamis.catalogue.methods import BREACH_SEARCHES, MODELS, UTILITIES
from tamis.option import Option
from tamis.options.reading import ENGINE, SECRET_SEED, SEED
from tamis.options.release import (
    ATTACKER,
    BESIDE_K,
    BOUNDS,
    EPSILON,
    LADDERS,
    LIMITS,
    MAX_SUPPRESSED,
    POPULATION,
    REGISTER,
    RULE_LIMIT,
    RULE_MEASURE,
    SPENDING,
    SYNTHESISING,
    K,
)
from tamis.require.population import DeltaPresence

_weights = partial(Option, "weights", metavar="NAME=N,...")
WEIGHTS_SHOWN = "performance=.5,privacy=.25,size=.25"
PLOT = Option("plot", "", "output", metavar="FILE.svg")
FILE = Option("output", "Where to write the table.", "output", metavar="FILE", short="-o")
TABLE_OUTPUT = replace(FILE, help="Write the projected table (csv or parquet).")

INIT = (
    replace(FILE, help="Where to write it.", metavar="FILE.toml", default="tamis.toml"),
    Option("force", "Replace a file of that name.", "flag"),
)
AUDIT = (
    replace(ATTACKER, section="Options"),
    *LIMITS,
    *REGISTER,
    Option("missing_matches", "With --weight: missing matches anything.", "flag", rare=True),
    Option(
        "combine",
        "Single people out by up to this many columns.",
        "count",
        least=1,
        otherwise="as many as take a few seconds",
    ),
)
VERIFY = (
    replace(
        POPULATION,
        help="The register that the table was drawn from, to count delta-presence again.",
        section="Options",
        rare=False,
    ),
    Option("missing", "With --population: text that means missing in it.", multiple=True),
    *(replace(option, rare=False) for option in ENGINE),
)
SERVE = (
    Option(
        "port",
        "Port on this machine; 0: any free one.",
        "count",
        least=0,
        most=65535,
        otherwise="8426 if free",
    ),
    Option(
        "workspace",
        "Keep tables and settings here.",
        metavar="DIR",
        otherwise="a folder removed at the end",
    ),
    Option("no_browser", "Only print the address.", "flag"),
)

CONTAINMENT_SEARCHES = ("greedy", "improve", "maximal", "exact")
PRESET = Option("preset", "The protocol of the paper.", "choice", choices=("paper",))
CONTAINMENT = (
    Option("k", "The k to keep; may be several.", default="5", metavar="N[,N...]"),
    Option(
        "utility",
        "Utility to maximise; difference or best to predict well.",
        "choice",
        default="distcnt",
        choices=(*UTILITIES, "size"),
    ),
    Option(
        "privacy",
        "Count those who have as much (containment), or equals (equality).",
        "choice",
        default="containment",
        choices=("containment", "equality"),
    ),
    Option(
        "on_violation",
        "What greedy does at a column that does not fit.",
        "choice",
        default="skip",
        choices=("skip", "stop"),
        rare=True,
    ),
    Option(
        "known_absences",
        "Things a person lacks that an attacker may know.",
        "count",
        default=0,
        least=0,
        old=("absences",),
        dest="absences",
        rare=True,
    ),
    replace(
        PRESET,
        help="Greedy or maximal as printed: stop at the first column that does not fit.",
        rare=True,
    ),
    Option("no_extend", "Do not add what still fits afterwards.", "flag", rare=True),
    Option("largest", "Itemsets that maximal compares.", "count", default=20, least=1, rare=True),
    Option("time_limit", "Seconds to search.", "number", above=0),
    Option(
        "drop_rare",
        "Leave out columns that fewer than k have, where --on-violation stop would end.",
        "flag",
        rare=True,
    ),
    Option("max_features", "The most columns of greedy.", "count", least=1),
    Option(
        "min_gain",
        "Greedy takes a column only if it adds more than this.",
        "number",
        default=0.0,
        least=0,
        rare=True,
    ),
)
BREACH = (
    Option(
        "classifier",
        "What a recipient will learn with.",
        "choice",
        default="nb",
        choices=tuple(MODELS),
    ),
    replace(PRESET, help="All rows, ten folds once as Weka deals them, the walk, equal weights."),
    _weights(help="How much each factor counts.", otherwise=WEIGHTS_SHOWN),
    Option("alpha", "The largest breach increase to choose.", metavar="N|distp"),
    Option("alpha_in_search", "Apply --alpha during the search, too.", "flag", rare=True),
    Option("attackers", "Models that guess.", "names", default=(), otherwise="the classifier"),
    Option(
        "cut",
        "Classes of a sensitive number: mdl, quantiles, none, or cut points a,b.",
        default="auto",
        metavar="RULE",
        rare=True,
    ),
    Option("scoring", "Metric of performance.", default="accuracy", metavar="NAME", rare=True),
    Option(
        "attack_scoring",
        "Metric of attackers.",
        default="accuracy",
        metavar="NAME",
        rare=True,
    ),
    Option(
        "plot_weights",
        "With --plot: E(S) of every candidate under these weights, too; may be repeated.",
        multiple=True,
        metavar="NAME=N,...",
        rare=True,
    ),
    Option("folds", "Folds of the cross-validation.", "count", least=2, otherwise="10", rare=True),
    Option(
        "repeats",
        "Repeats of the cross-validation.",
        "count",
        least=1,
        otherwise="5; 1 with --preset paper",
        rare=True,
    ),
    Option(
        "holdout",
        "The share of rows that the search never sees.",
        "share",
        least=0,
        below=1,
        otherwise="0.25; 0 with --preset paper",
        rare=True,
    ),
    Option(
        "stability",
        "Search again with this many seeds.",
        "count",
        default=0,
        least=0,
        metavar="SEEDS",
        rare=True,
    ),
    Option("jobs", "How many processes to use.", "count", rare=True),
)


def searching(searches: tuple[str, ...], help: str) -> Option:
    """Which search to use, the first by default."""
    return Option("search", help, "choice", default=searches[0], choices=searches)


def writing(drawn: str, seed: Option = SEED) -> tuple[Option, ...]:
    """Where to write, what to draw and the seed."""
    return TABLE_OUTPUT, replace(PLOT, help=f"Draw {drawn}."), seed


BREACH_SEED = replace(SEED, default=None, otherwise="0; 1 with --preset paper, as in Weka")


SELECT_CONTAINMENT = (
    searching(CONTAINMENT_SEARCHES, "Search algorithm."),
    *CONTAINMENT,
    *writing("the path, or what each k costs"),
)
SELECT_BREACH = (
    searching(BREACH_SEARCHES, "Search that finds candidates."),
    *BREACH,
    *writing("the candidates in their regions", BREACH_SEED),
)
SELECT_BY = (
    Option(
        "by",
        "The kind of risk to keep low.",
        "choice",
        choices=("containment", "breach"),
        required=True,
    ),
    Option(
        "search",
        "Search algorithm. By containment: greedy [default], improve, maximal, exact. By breach: "
        "auto [default], walk, exhaustive, forward, backward, best-first.",
        metavar="NAME",
    ),
    PRESET,
    *(option for option in (*CONTAINMENT, *BREACH) if option.dest != PRESET.dest),
    *writing("the path by containment, regions by breach", BREACH_SEED),
)
METRICS = (
    *("loss", "loss_arith", "discernability", "aecs", "precision", "height", "entropy"),
    "normentropy",
)
COARSEN = (
    *LADDERS,
    K,
    *BESIDE_K,
    replace(MAX_SUPPRESSED, help="Largest share of the rows that may be left out.", most=1),
    Option("metric", "What to minimise.", "choice", default="loss", choices=METRICS),
    Option(
        "search",
        "One level per column, intervals for each class, or by what is kept and told.",
        "choice",
        default="exact",
        choices=("exact", "local", "learning"),
    ),
    Option(
        "split_by",
        "local: cut the widest column, or what teaches most.",
        "choice",
        default="range",
        choices=("range", "target"),
        rare=True,
    ),
    POPULATION,
    DeltaPresence.option,
    FILE,
)
LADDER = (
    Option("column", "The column to show.", metavar="COL", required=True),
    *LADDERS,
    replace(K, help="The fewest people in a group, where tamis makes the ladder."),
)

PERTURBING = (
    *("uniform", "gaussian", "flip", "microaggregate", "suppress", "swap", "pram", "shift"),
    *("dp-histogram", "dp-marginals", "dp-partition", "dp-synthesiser"),
)
_private = partial(Option, section="Differential privacy", rare=True)
PERTURB = (
    Option("method", "How to alter the table.", "choice", choices=PERTURBING, required=True),
    replace(FILE, help="Where to write (csv, parquet).", required=True),
    Option(
        "probability",
        "uniform, gaussian, pram: the chance that a cell changes.",
        "number",
        default=0.1,
    ),
    Option("within", "swap: how far ranks move, as a share.", "number", default=0.05),
    Option(
        "days",
        "shift: the most days that dates of a person move.",
        "count",
        default=365,
        least=1,
    ),
    Option("columns", "Columns to alter.", "names", otherwise="all features"),
    replace(
        K, help="flip, microaggregate, suppress: how many are alike.", section="Options", note=""
    ),
    Option(
        "disagreement",
        "flip: the value of a column on which a group disagrees.",
        "choice",
        default="majority",
        choices=("majority", "coin"),
        rare=True,
    ),
    Option(
        "weights",
        "suppress: cost of a blank, by column.",
        "weights",
        otherwise="1",
        rare=True,
    ),
    Option(
        "blank",
        "suppress: what a blank equals when rows are compared.",
        "choice",
        default="value",
        choices=("value", "anything"),
        rare=True,
    ),
    replace(EPSILON, help="What the release may cost; the dp methods need it.", rare=False),
    replace(BOUNDS, rare=False),
    _private("bounds_from_data", "Take bounds from the data; no guarantee.", "flag"),
    _private("bins", "Intervals of a column of numbers.", "count", least=1),
    _private("rows", "dp-partition: the number of rows, if public.", "count", least=1),
    _private(
        "neighbours",
        "Which tables count as neighbours.",
        "choice",
        default="add-remove",
        choices=("add-remove", "substitute"),
    ),
    _private(
        "features",
        "dp-histogram, dp-marginals: how many columns of 0 and 1 to choose.",
        "count",
        least=1,
    ),
    _private(
        "mechanism",
        "How --features are chosen.",
        "choice",
        default="exponential",
        choices=("exponential", "laplace"),
    ),
    *SPENDING,
    *SYNTHESISING,
    SECRET_SEED,
)

CHOOSE = (
    Option(
        "factor",
        "A column that counts, and which direction is better; may be repeated.",
        multiple=True,
        required=True,
        metavar="NAME:max|min",
    ),
    _weights(help="Numbers or ratios.", otherwise=f"{WEIGHTS_SHOWN}; equal for other factors"),
    Option("name", "The column that names candidates.", metavar="COL", otherwise="the first text"),
    replace(PLOT, help="Draw which candidate wins for which weights (three factors)."),
    Option(
        "ties",
        "The column whose smallest value wins a tie.",
        metavar="COL",
        otherwise="size or features",
    ),
)
ATTACK = (
    Option("control", "People who are not in the release.", metavar="FILE"),
    Option("secret", "What attackers infer.", metavar="COL", otherwise="the sensitive column"),
    Option("known", "Columns that attackers know.", "names", otherwise="the quasi-identifiers"),
    replace(
        ATTACKER,
        section="Options",
        help="Further attackers who link rows to people, by what they know.",
    ),
    Option(
        "errors",
        "Shares of known values that are missing or wrong.",
        "shares",
        default=(0.1, 0.3),
    ),
    Option("people", "The most people to try each attacker on.", "count", default=1000, least=4),
    Option(
        "shadows",
        "Synthetic rows: how often they are drawn again with, and without, one person.",
        "count",
        default=100,
        least=4,
        rare=True,
    ),
    *LADDERS,
    SEED,
)

RULES_FILE = Option(
    "rules",
    "The rules: in tamis' grammar, or as another tool printed them.",
    metavar="FILE",
    otherwise="mined from TABLE",
    dest="rules_file",
)
RULES_READ = (
    RULES_FILE,
    Option(
        "rules_format",
        "Which tool printed --rules.",
        "choice",
        default="auto",
        choices=("auto", "tamis", *RULE_FORMATS),
        rare=True,
    ),
    Option(
        "rule_labels",
        "Labels of positive and negative RuleFit coefficients.",
        "names",
        default=(),
        metavar="LABEL,LABEL",
        rare=True,
    ),
)
JUDGE = (
    Option(
        "rename",
        "What a released column is called in the original; may be repeated.",
        multiple=True,
        metavar="OLD=NEW",
    ),
    *ATTACK[:3],
    *(option for option in ATTACK if option.name == "people"),
    *LADDERS,
    replace(RULES_FILE, otherwise="those that a tree learns"),
    Option("propose", "Compare with what tamis would propose.", "flag"),
    replace(K, help="With --propose: how many must look alike.", section="Options", asked=None),
    Option(
        "generator",
        "A synthesiser to judge as well: it reads {in}, writes {out}, both csv.",
        metavar="COMMAND",
    ),
    Option(
        "shadows",
        "How often --generator is run with, and as often without, one person; 0: never.",
        "count",
        default=20,
        least=0,
        rare=True,
    ),
    Option(
        "timeout",
        "Seconds that one run of --generator may take.",
        "number",
        default=600.0,
        above=0,
        rare=True,
    ),
    replace(
        EPSILON,
        help="What --generator promises, to be compared with what is found.",
        section="Options",
        asked=None,
    ),
    replace(FILE, help="Write a page that compares them.", metavar="PAGE.html"),
    SEED,
)
TESTED = (
    Option("test", "Held-out original rows, for model measures.", metavar="FILE"),
    Option("positive", "The label whose F-measure is reported.", metavar="LABEL"),
)
"""The rows that models are tested on."""
RULES = (
    Option("max_depth", "The most splits on the way to a leaf.", "count", default=12, least=1),
    Option("min_support", "The least share of the rows that meet a rule.", "number", default=0.02),
    Option("shares", "Give every label's share, not just the likeliest.", "flag"),
    replace(FILE, help="Where to write them; .json gives JSON."),
    SEED,
)
READING_RULES = (
    Option(
        "reading",
        "All rules a row matches, the first one, or the first one with a default label.",
        "choice",
        default="pairs",
        choices=("pairs", "first", "default"),
    ),
    Option(
        "default", "The default label.", metavar="LABEL", otherwise="the most common", rare=True
    ),
    Option(
        "weigh",
        "Weight of a rule in a mean.",
        "choice",
        default="equal",
        choices=("equal", "support"),
        rare=True,
    ),
)
RETAIN = (
    *RULES_READ,
    *TESTED,
    *READING_RULES,
    RULE_MEASURE,
    replace(RULE_LIMIT, help="Exit with code 1 where a measure is worse; may be repeated."),
    Option("min_support", "Only rules that match this share.", "number", default=0.0, rare=True),
    Option("min_confidence", "Only rules right this often.", "number", default=0.0, rare=True),
    Option("only", "Only the rules with these ids.", "names", default=(), rare=True),
    replace(PLOT, help="Draw what happened to each rule."),
    Option("top", "Rules to list.", "count", default=10, least=0),
    SEED,
)
NOISES = ("uniform", "gaussian")
CURVE = (
    Option("method", "The noise.", "choice", default=NOISES[0], choices=NOISES),
    Option(
        "command",
        "Release with this in place of noise: a command with {original}, {released} (csv files), "
        "{level} and {seed}.",
        metavar="COMMAND",
    ),
    Option(
        "levels",
        "The chance that a cell changes, or what {level} of --command is.",
        default="0,0.05,0.1,0.15,0.2,0.25,0.3",
        metavar="P,P,...",
    ),
    Option("draws", "Releases at each level.", "count", default=10, least=1),
    *RULES_READ,
    *TESTED,
    *(replace(option, rare=True) for option in READING_RULES),
    replace(RULE_MEASURE, rare=True),
    replace(PLOT, help="Draw each measure over the levels."),
    Option(
        "compare_with",
        "The curve of another table, written with --json; may be repeated.",
        multiple=True,
        metavar="FILE.json",
        old=("beside",),
    ),
    SEED,
)
