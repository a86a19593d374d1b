"""`Settings`: what is required of a release, checked before any work is done."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field, fields, replace
from secrets import token_hex
from typing import Any, Literal, TypeVar, get_args

from tamis.catalogue.formats import DESCRIPTIONS
from tamis.catalogue.measures import CHOICES, MEASURES, MeasureRecord, of_rules
from tamis.catalogue.methods import BY_DEFAULT, DP, METHODS
from tamis.dp.budget import BUDGET_ROUNDING, check_epsilon
from tamis.errors import InputError, TamisWarning, listed
from tamis.evaluate.retention import limited_measures, own_measures
from tamis.evaluate.rule_measure import RuleMeasure
from tamis.learn.models import attackers
from tamis.limits import Limit
from tamis.notebook import in_short
from tamis.options.commands import options_of
from tamis.perturb import SECRET_BITS
from tamis.propose import methods
from tamis.rank.evaluation import WEIGHTS, read_weights
from tamis.require import options_of_groups, requirements
from tamis.require.attacker import MAX_TOLD, Attacker, check_attackers
from tamis.require.base import Requirements
from tamis.require.counts import BetaKind, Distance
from tamis.require.diversity import DiversityKind
from tamis.require.population import (
    OF_POPULATION,
    DeltaPresence,
    OfPopulation,
    required_in_population,
)

_TOLD = MEASURES["told"]
Format = Literal["csv", "parquet", "long", "svm", "sav", "dta", "xlsx", "auto"]
Part = TypeVar("Part")
_RULES = {option.dest: option for option in options_of("release")}
_USUAL: dict[str, Any] = {name: option.default for name, option in _RULES.items()}
"""The default of each option."""


class _Checked:
    """Settings that are checked against the ranges of their options."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if name in _RULES:
                _RULES[name].check(value)


@dataclass(frozen=True)
class PromiseSettings(_Checked):
    """What equivalence classes must meet, or the privacy budget of synthetic rows."""

    k: int = _USUAL["k"]
    absences: int = _USUAL["absences"]
    l: int | None = None  # noqa: E741 - its name in the field
    l_kind: DiversityKind = _USUAL["l_kind"]
    c: float = _USUAL["c"]
    t: float | None = None
    t_distance: Distance | None = None
    alpha: float | None = None
    beta: float | None = None
    beta_kind: BetaKind = _USUAL["beta_kind"]
    delta_disclosure: float | None = None
    max_risk: float | None = None
    max_average_risk: float | None = None
    known_rows: int | None = None
    epsilon: float | None = None


@dataclass(frozen=True)
class ChoiceSettings(_Checked):
    """The selection rule, and the limits that the chosen release must meet."""

    choose: str = _USUAL["choose"]
    caution: float = _USUAL["caution"]
    min_kept: float | None = None
    max_told: float | None = None
    secret_weights: Mapping[str, float] = field(default_factory=dict)
    secret_limits: Mapping[str, float] = field(default_factory=dict)
    allow_useless: bool = False
    max_pbi: float | None = None
    min_performance: float | None = None
    max_features: int | None = None
    max_lost_rules: float | None = None
    rule_measures: tuple[RuleMeasure, ...] = ()
    rule_limits: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class PopulationSettings(_Checked):
    """What is known of the population, and what must hold in it."""

    max_population_risk: float | None = None
    delta_presence: tuple[float, float] | None = None
    sampling: float | None = None


@dataclass(frozen=True)
class SearchSettings(_Checked):
    """How releases are searched for and measured."""

    weights: Mapping[str, float] = field(default_factory=lambda: dict(WEIGHTS))
    classifier: str = _USUAL["classifier"]
    attackers: tuple[str, ...] = _USUAL["attackers"]
    methods: Mapping[str, Mapping[str, Any]] | None = None
    holdout: float = _USUAL["holdout"]
    search_rows: int = _USUAL["search_rows"]


@dataclass(frozen=True)
class OutputSettings(_Checked):
    """Which release is written, and how."""

    take: str | None = None
    format: Format = "csv"
    describe: tuple[str, ...] = ()
    link: str | None = None
    shift_dates: int | None = None


@dataclass(frozen=True)
class DrawSettings(_Checked):
    """Seeds of random draws."""

    seed: int = _USUAL["seed"]
    secret: str | None = None


@dataclass(frozen=True)
class Settings(
    # Dataclasses collect fields from the last base to the first: this gives the order of recipes.
    DrawSettings,
    OutputSettings,
    SearchSettings,
    PopulationSettings,
    ChoiceSettings,
    PromiseSettings,
):
    """What a data holder asks for.

    All names are given and read directly, as in ``Settings(k=5, max_told=0.1).k``. Related settings
    are also small records of their own: `promises`, `choice`, `population`, `search`, `output` and
    `draws`.

    Parameters
    ----------
    k : int
        Fewest people in an equivalence class, as distinguished by the table's identifiers; without
        these, each row counts as a person. It does not apply to synthetic rows, which describe no
        real person.
    absences : int
        For 0/1 columns: at least k people must match everything that a person has and up to so many
        things that the person lacks; 0 to 4.
    l, l_kind, c, t, t_distance : optional
        Requirements on the sensitive values of each equivalence class: l-diversity (distinct,
        entropy or recursive with c) and t-closeness (equal or ordered distance).
    alpha, beta, beta_kind, delta_disclosure : optional
        Further requirements on them: the largest share of one value in a class, and how far shares
        in a class may be from those of all, by beta-likeness (basic or enhanced) and by
        delta-disclosure; see `tamis.risk.diversity.likeness`.
    max_risk, max_average_risk : float, optional
        The largest probability of finding a person's row by the quasi-identifiers, and the largest
        mean of it. The first raises k to 1 / max_risk.
    known_rows : int, optional
        An attacker who knows up to so many rows of a person must also be left with k people; see
        `tamis.require.k`.
    threats : sequence of Attacker
        Named attackers, each with what they know and want and the requirements against them. If
        quasi-identifiers are named, the attacker who knows these is included.
    secret_weights : mapping of column to number
        Weights of told for several sensitive columns; 1 for those not named. A release tells the
        largest weighted share.
    secret_limits : mapping of column to number
        The largest told of each of several sensitive columns, whatever its weight.
    max_suppressed : float
        The largest share of people (of rows, if each is a person) who may be suppressed so that the
        others meet k, l and t.
    epsilon : float, optional
        Release only synthetic rows, drawn with differential privacy within this budget; the method
        `dp` then proposes them.
    choose : {"value", "ranks"}
        Selection rule: kept less `caution` times told; or E(S), the weighted ranks of `weights`.
    caution : float
        Weight of told against kept.
    min_kept, max_told : float, optional
        The smallest share to keep of what can be learnt about the target, and the largest share to
        tell of what the table tells about the sensitive column.
    allow_useless : bool
        Whether to publish a release that predicts the target no better than guessing. Synthetic
        rows are never refused for that, since epsilon does not cover a refusal; there is a warning.
    max_pbi : float, optional
        The largest breach increase: the strongest attacker's gain over releasing everything.
    min_performance : float, optional
        The smallest accuracy of a recipient's model.
    max_features : int, optional
        The most columns to release.
    max_lost_rules : float, optional
        The largest share of rules that may be lost.
    rule_measures : sequence of RuleMeasure
        Your own measures of the retained rules, shown in the report.
    rule_limits : mapping of measure to number
        The worst allowed values of these, or of `rule_accuracy`, `rsd`, `total_variation`, `rld`
        and `re`.
    max_population_risk : float, optional
        The largest expected share of released people whom an attacker finds by matching with the
        whole population; see `PopulationRisk.risk`.
    delta_presence : (float, float), optional
        The range allowed for the probability that a person of the register is in the table; see
        `tamis.risk.presence.delta_presence`.
    sampling : float, optional
        The share of the population that is in the table, if no register is given.
    weights : mapping of factor to weight
        Weights of `performance`, `privacy` and `size`, or of any measure of the scorecard.
    classifier : str
        The model that a recipient would train, by its short name.
    attackers : tuple of str
        The models that attackers would train to guess the sensitive column; the strongest counts.
    methods : mapping of name to options, optional
        The methods that propose releases; `None`: those that alter no value.
    holdout : float
        The share of rows used to choose, and the share used to report figures; no search sees
        either. Below 0.5.
    take : str, optional
        The name of a release from an earlier comparison to choose instead of the best one; it must
        meet every limit, too.
    search_rows : int
        The most rows to learn from, choose by and report on, together; larger tables are sampled.
        Promises count all rows.
    format : {"csv", "parquet", "long", "svm", "sav", "dta", "xlsx", "auto"}
        The format of the released rows; `long` and `svm` are sparse, for 0/1 columns; `sav` is for
        SPSS, `dta` for Stata. `auto` is `csv`, or `long` for more than 200 such columns.
    describe : sequence of {"croissant", "datapackage", "card"}
        Descriptions of the release for catalogues and tools, made from its manifest alone.
    link : str, optional
        The name of a column to add, with numbers drawn for this release that link the rows of each
        person. Everything is then counted for attackers who see them together: people are equal if
        all of their rows are.
    shift_dates : int, optional
        First of all, move all dates of a person by one random number of days, at most this many.
        Everything is searched, counted and measured with the moved dates, whichever method wins.
        See `tamis.perturb.shifted_dates.ShiftedDates`.
    seed : int
        Seed of all random draws of searches, hold-outs and measures; it hides nothing.
    secret : str, optional
        Secret seed of 32 hexadecimal digits or more for altered values, the numbers of `link` and
        the days of `shift_dates`. `None`: one is drawn. It is kept with the release to reproduce
        it, and never published, since it undoes what was altered.
    """

    max_suppressed: float = _USUAL["max_suppressed"]
    threats: tuple[Attacker, ...] = ()

    def __post_init__(self) -> None:
        # A largest risk r requires classes of at least 1 / r people.
        object.__setattr__(self, "k", self.requirements.k)
        object.__setattr__(self, "threats", tuple(map(Attacker.parse, self.threats)))
        object.__setattr__(self, "rule_measures", self._read_rule_measures())
        check_attackers(self.threats)
        if light := [name for name, weight in self.secret_weights.items() if not weight > 0]:
            raise InputError(f"the weight of secret {listed(light)} must be above 0")
        for name, most in self.secret_limits.items():
            MAX_TOLD.check(most, f"secret_limits of {name!r}")
        if self.delta_presence is not None:  # a recipe gives it as a list
            bounds = DeltaPresence.of(self.delta_presence)
            object.__setattr__(self, "delta_presence", bounds.shares)
        super().__post_init__()
        self._check_each()
        if self.epsilon is not None:
            check_epsilon(self.epsilon)
            self._check_synthetic()
        elif DP.name in (self.methods or {}):
            raise InputError("dp draws rows at a cost; give it with epsilon=... or --epsilon")
        if self.absences and self.max_suppressed:
            raise InputError("absences and max_suppressed are not counted together; give either")
        self._check_weights()
        methods(self.proposing)
        attackers([self.classifier, *self.attackers])

    def _read_rule_measures(self) -> tuple[RuleMeasure, ...]:
        """The holder's own measures; raise if a name is taken on the scorecard."""
        if texts := [m for m in self.rule_measures if not isinstance(m, RuleMeasure)]:
            raise InputError(f"rule_measures takes RuleMeasures, got {type(texts[0]).__name__}")
        own = own_measures(self.rule_measures)
        if taken := [m.name for m in own if m.name in {*MEASURES, *WEIGHTS}]:
            raise InputError(f"the scorecard has a {listed(taken)} already; give another name")
        return own

    def _check_weights(self) -> None:
        known = dict.fromkeys([*WEIGHTS, *(measure.name for measure in self.measures)])
        with warnings.catch_warnings():  # a sum other than one is reported when they are used
            warnings.simplefilter("ignore", TamisWarning)
            read_weights(self.weights, known)

    def _check_each(self) -> None:
        """Raise for a setting that is wrong whatever the others are."""
        if self.format not in get_args(Format):
            raise InputError(
                f"format must be one of {', '.join(get_args(Format))}, got {self.format!r}"
            )
        if strange := [name for name in self.describe if name not in DESCRIPTIONS]:
            raise InputError(f"describe takes {', '.join(DESCRIPTIONS)}, not {listed(strange)}")
        if self.choose not in CHOICES:
            raise InputError(
                f"choose must be {' or '.join(CHOICES)}, got {self.choose!r}; only a command shows "
                "releases and publishes none"
            )
        if self.secret is not None and not _SECRET.fullmatch(self.secret):
            raise InputError(
                f"secret must have {SECRET_BITS // 4} hexadecimal digits or more, got a text of "
                f"{len(self.secret)} characters; leave it out, and one is drawn"
            )
        if not self.attackers:
            raise InputError("name at least one attacker, such as c45 or nb")

    def _check_synthetic(self) -> None:
        """Raise for settings about people in rows, since synthetic rows describe nobody."""
        if self.in_population:
            raise InputError(
                f"{' and '.join(kind.option.dest for kind in OF_POPULATION)} are about people in "
                "rows, and synthetic rows describe nobody; give either these or epsilon"
            )
        if self.max_suppressed:
            raise InputError(
                "max_suppressed leaves out real people, and synthetic rows describe nobody; "
                "give either max_suppressed or epsilon"
            )
        if self.shift_dates is not None:
            raise InputError(
                "shift_dates moves the dates of people, and synthetic rows describe nobody; give "
                "either shift_dates or epsilon"
            )
        if self.link is not None:
            raise InputError(
                "link says which rows are of one person, and synthetic rows describe nobody; give "
                "either link or epsilon"
            )
        if self.threats:
            raise InputError(
                "attackers look for people in rows, and synthetic rows describe nobody; give "
                "either attackers or epsilon"
            )
        if len(self.requirements) > 1 or self.absences:
            raise InputError(
                "l, t, alpha, beta, delta, risks, known rows and absences are about people alike, "
                "and synthetic rows describe nobody; give either these or epsilon"
            )

    def _part(self, kind: type[Part]) -> Part:
        return kind(**{each.name: getattr(self, each.name) for each in fields(kind)})  # type: ignore[arg-type]

    @property
    def promises(self) -> PromiseSettings:
        return self._part(PromiseSettings)

    @property
    def choice(self) -> ChoiceSettings:
        return self._part(ChoiceSettings)

    @property
    def population(self) -> PopulationSettings:
        return self._part(PopulationSettings)

    @property
    def search(self) -> SearchSettings:
        return self._part(SearchSettings)

    @property
    def output(self) -> OutputSettings:
        return self._part(OutputSettings)

    @property
    def draws(self) -> DrawSettings:
        return self._part(DrawSettings)

    @property
    def requirements(self) -> Requirements:
        """The requirements against the default attacker, who knows the quasi-identifiers."""
        return requirements(**{name: getattr(self, name) for name in options_of_groups()})

    @property
    def proposing(self) -> dict[str, Mapping[str, Any]]:
        """The methods that propose releases; with an epsilon, `dp` first."""
        usual: Mapping[str, Mapping[str, Any]] = {name: {} for name in BY_DEFAULT}
        chosen = dict(usual if self.methods is None else self.methods)
        return chosen if self.epsilon is None else {DP.name: chosen.pop(DP.name, {}), **chosen}

    @property
    def _limited_rules(self) -> dict[RuleMeasure, float]:
        return limited_measures(self.rule_limits, self.rule_measures)

    @property
    def in_population(self) -> tuple[OfPopulation, ...]:
        """The requirements in the population of which the people are a sample."""
        return required_in_population(vars(self))

    @property
    def measures(self) -> tuple[MeasureRecord, ...]:
        """The scorecard's measures: the built-in ones, and measures of rules that are asked for."""
        asked = dict.fromkeys([*self.rule_measures, *self._limited_rules])
        of_own = (of_rules(m.name, m.better) for m in asked if m.name not in MEASURES)
        return (*MEASURES.values(), *of_own)

    @property
    def limits(self) -> tuple[Limit, ...]:
        """The hard limits besides k."""
        # The epsilon spent is a sum of rounded parts, so it may exceed the budget by a rounding.
        slack = {"epsilon": 1 + BUDGET_ROUNDING}
        asked = {m: getattr(self, m.limited_by) for m in MEASURES.values() if m.limited_by}
        told = [
            each.max_told * self._least_weight
            for each in self.threats
            if each.max_told is not None and not each.wants
        ]
        if told:  # a release's told is the most of all attackers, so the strictest limit holds
            asked[_TOLD] = min(told if self.max_told is None else [*told, self.max_told])
        names = {measure.name: measure for measure in self.measures}
        asked |= {names[rule.name]: bound for rule, bound in self._limited_rules.items()}
        return tuple(
            Limit(measure.name, measure.side, bound * slack.get(measure.name, 1))
            for measure, bound in asked.items()
            if bound is not None
        )

    @property
    def _least_weight(self) -> float:
        """The smallest weight of any secret relative to the largest."""
        weights = self.secret_weights.values()
        return min([1.0, *weights]) / max([1.0, *weights])

    @property
    def told_limits(self) -> dict[str, float]:
        """The largest told of each secret with a limit of its own, by name."""
        limits = dict(self.secret_limits)
        for each in self.threats:
            for secret in each.wants if each.max_told is not None else ():
                limits[secret] = min(limits.get(secret, 1.0), each.max_told or 0.0)
        return limits

    def with_secret(self) -> Settings:
        """The settings with a secret seed drawn, if one is needed and none is given."""
        drawing = self.link is not None or self.shift_dates is not None
        drawing = drawing or any(METHODS[name].alters for name in self.proposing)
        if self.secret is not None or not drawing:
            return self
        return replace(self, secret=token_hex(SECRET_BITS // 8))

    def __repr__(self) -> str:
        given, usual = vars(self), vars(Settings())
        told = [_in_words(n, v) for n, v in given.items() if n not in _OWN and v != usual.get(n)]
        return in_short(self, *(told or ["as usual"]))

    def to_dict(self) -> dict[str, Any]:
        """Plain values from which the same `Settings` can be made.

        Except for the holder's own measures of rules, which are functions: only names are kept.
        """
        plain = deepcopy({n: v for n, v in vars(self).items() if n != "rule_measures"})
        return plain | {
            "threats": [each.to_dict() for each in self.threats],
            "rule_measures": [measure.name for measure in self.rule_measures],
        }


_OWN = ("seed", "secret")
"""The settings that `repr` omits."""
_SECRET = re.compile(rf"[0-9a-f]{{{SECRET_BITS // 4},}}")


def _in_words(name: str, value: Any) -> str:
    """A setting in words, without the values of mappings, which may come from the table."""
    return f"{name} {', '.join(map(str, value)) if isinstance(value, Mapping) else value}"
