"""From a table to a choice: propose, evaluate, choose; `tamis.publish` does the rest."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from tamis.binary.records import Cut
from tamis.decide import Decision, Limit, decide, taken
from tamis.dp.budget import ROUNDING, check_epsilon
from tamis.errors import InputError, TamisWarning
from tamis.evaluate.evaluator import Evaluator
from tamis.evaluate.scorecard import MEASURES, Progress, scorecard
from tamis.learn.holdout import HoldOut, column_labels
from tamis.learn.models import ATTACKERS, attackers, seeded
from tamis.propose import BY_DEFAULT, Proposals, methods, propose
from tamis.propose.problem import Problem
from tamis.rank.factors import WEIGHTS, read_weights
from tamis.read import check_numbers
from tamis.read.keys import refuse_unsaid
from tamis.release import Recipe, released
from tamis.table import Table

if TYPE_CHECKING:
    from typing import Self

EVERYTHING, NOTHING = "everything", "nothing"
"""The names of the baseline and of the floor."""


@dataclass(frozen=True)
class Settings:
    """What a data holder asks for.

    Parameters
    ----------
    k : int
        Everybody must hide among at least k people, as identified by the table's identifiers;
        where there are none, each row counts as a person. It does not apply to synthetic rows,
        which describe no real person.
    epsilon : float, optional
        Release only synthetic rows, drawn with differential privacy at this cost; the method `dp`
        then proposes them.
    max_pbi : float, optional
        The most that the strongest attacker may gain over releasing everything.
    min_performance : float, optional
        The least accuracy of a recipient's model.
    max_features : int, optional
        The most columns to release.
    max_lost_rules : float, optional
        The largest share of rules that may be lost.
    weights : mapping of factor to weight
        Of `performance`, `privacy` and `size`, or of any measure of the scorecard.
    classifier : str
        The model a recipient would train, by its short name.
    attackers : tuple of str
        The models attackers would train to guess the sensitive column; the strongest counts.
    methods : mapping of name to options, optional
        The methods that propose releases; `None`: those that alter no value.
    holdout : float
        The share of rows used to choose, and the share used to report figures; no search sees
        either. Below 0.5.
    take : str, optional
        The release to take, by its name in an earlier comparison, instead of the best one; it must
        meet every limit too.
    format : {"csv", "parquet"}
    seed : int
        For every random draw. It is recorded, but not published.
    """

    k: int = 5
    epsilon: float | None = None
    max_pbi: float | None = None
    min_performance: float | None = None
    max_features: int | None = None
    max_lost_rules: float | None = None
    weights: Mapping[str, float] = field(default_factory=lambda: dict(WEIGHTS))
    classifier: str = "nb"
    attackers: tuple[str, ...] = ATTACKERS
    methods: Mapping[str, Mapping[str, Any]] | None = None
    holdout: float = 0.25
    take: str | None = None
    format: Literal["csv", "parquet"] = "csv"
    seed: int = 0

    def __post_init__(self) -> None:
        if self.k < 1:
            raise InputError(f"k must be a number of people, 1 or more, got {self.k}")
        if self.format not in ("csv", "parquet"):
            raise InputError(f"format must be csv or parquet, got {self.format!r}")
        if self.min_performance is not None and not 0 <= self.min_performance <= 1:
            raise InputError(
                f"min_performance must be a share between 0 and 1, got {self.min_performance:g}"
            )
        if not self.attackers:
            raise InputError("name at least one attacker, such as c45 or nb")
        if self.epsilon is not None:
            check_epsilon(self.epsilon)
        elif "dp" in (self.methods or {}):
            raise InputError("dp draws rows at a cost; give it with epsilon=... or --epsilon")
        _check_weights(self.weights)
        methods(self.proposing)
        attackers([self.classifier, *self.attackers])

    @property
    def proposing(self) -> dict[str, Mapping[str, Any]]:
        """The methods that propose releases; where there is an epsilon, `dp` first."""
        usual: Mapping[str, Mapping[str, Any]] = {name: {} for name in BY_DEFAULT}
        chosen = dict(usual if self.methods is None else self.methods)
        return chosen if self.epsilon is None else {"dp": chosen.pop("dp", {}), **chosen}

    @property
    def limits(self) -> tuple[Limit, ...]:
        """The hard limits besides k."""
        bounds = (
            ("pbi", "at most", self.max_pbi),
            ("performance", "at least", self.min_performance),
            ("features", "at most", self.max_features),
            ("lost_rules", "at most", self.max_lost_rules),
            ("epsilon", "at most", self.epsilon and self.epsilon * (1 + ROUNDING)),
        )
        return tuple(Limit(m, side, b) for m, side, b in bounds if b is not None)  # type: ignore[arg-type]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, from which the same `Settings` can be made."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class Outcome:
    """Everything found on the way to a choice."""

    table: Table
    settings: Settings
    evaluator: Evaluator
    proposals: Proposals
    decision: Decision
    binary: Mapping[str, Cut] | None = None

    def taking(self, name: str) -> Self:
        """The same comparison with the named release taken, as `Settings.take` would have it."""
        settings = replace(self.settings, take=name)
        decision = taken(self.decision, name, settings.limits)
        return replace(self, settings=settings, decision=decision)


def consider(
    table: Table,
    settings: Settings | None = None,
    *,
    binary: Mapping[str, Cut] | None = None,
    tell: Progress | None = None,
) -> Outcome:
    """Propose releases of a table, measure them on held-out rows and choose one.

    The choice is based on one part of these rows; figures are reported from the other.

    Parameters
    ----------
    table : Table
        With a target.
    settings : Settings, optional
    binary : mapping of column to Cut, optional
        How to convert the table to 0/1 where a method needs that; `None`: by its values.
    tell : callable, optional
        Called with what is being done, how much of it is done, and how much there is.

    Returns
    -------
    Outcome
        `CannotMeet` where no release meets what is asked for.

    Examples
    --------
    >>> from tamis.datasets import patients
    >>> settings = Settings(methods={"containment": {"ks": [20], "utilities": ["difference"]}})
    >>> consider(patients(rows=400), settings).decision.chosen.release.name
    'containment, k = 20, difference'
    """
    settings = Settings() if settings is None else settings
    if settings.epsilon is None:  # synthetic rows release no column, and a refusal would reveal
        check_numbers(table)
        refuse_unsaid(table)
    labels = column_labels(table, table.target)
    split = HoldOut.drawn(labels, settings.holdout, settings.seed, table.people)
    model = seeded(settings.classifier, settings.seed)
    factors = {name: settings.weights.get(name, 0.0) for name in WEIGHTS}
    problem = Problem(
        table, split, settings.k, model, binary, factors, settings.seed, settings.epsilon
    )
    found = propose(problem, methods(settings.proposing), tell)
    evaluator = Evaluator(
        table, split, model, attackers(settings.attackers, settings.seed), settings.seed
    )
    baseline = released(
        table, table.features, EVERYTHING, Recipe(EVERYTHING), problem.promises(table.features)
    )
    floor = released(table, [], NOTHING, Recipe(NOTHING))
    card = scorecard(evaluator, baseline, floor, found.releases, tell=tell)
    _warn(table, settings)
    decision = decide(card, settings.limits, settings.weights)
    outcome = Outcome(table, settings, evaluator, found, decision, binary)
    return outcome if settings.take is None else outcome.taking(settings.take)


def _check_weights(weights: Mapping[str, float]) -> None:
    known = dict.fromkeys([*WEIGHTS, *(m.name for m in MEASURES)])
    with warnings.catch_warnings():  # a sum other than one is reported when they are used
        warnings.simplefilter("ignore", TamisWarning)
        read_weights(weights, known)


def _warn(table: Table, settings: Settings) -> None:
    shares = [settings.weights.get(name, 0.0) for name in ("performance", "privacy")]
    if table.sensitive == table.target and shares[0] == shares[1] != 0:
        warnings.warn(
            "the target is also the sensitive column, so performance and privacy with equal weight "
            "cancel out and only the number of columns decides; name a --sensitive column or "
            "give other --weights",
            TamisWarning,
            stacklevel=3,
        )
