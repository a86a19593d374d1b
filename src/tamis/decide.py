"""Choose the release to publish: limits first, then kept and told, or E(S)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.catalogue.measures import FACTORS, RANKS, VALUE
from tamis.coarsen.intervals import Multiples
from tamis.errors import CannotMeet, InputError, listed, plural
from tamis.evaluate.bits import KeptTold, Mean, as_good, chosen, merges_of, redrawn
from tamis.evaluate.bits_scorer import figure
from tamis.evaluate.figure import Figure
from tamis.evaluate.kept_told_picture import kept_told_picture
from tamis.evaluate.scorecard import HEADS, Row, Scorecard, line_of
from tamis.limits import Failure, Limit, beyond, failures
from tamis.notebook import by_fields, html_table, in_short, quoted, share_words
from tamis.rank.evaluation import WEIGHTS, Direction, Evaluation, Weights, evaluation, read_weights
from tamis.release import Release
from tamis.select.front import undominated

if TYPE_CHECKING:
    from tamis.charts import Picture

SHOWN = 4
"""How many runners-up have every figure computed."""


@dataclass(frozen=True, eq=False)
class Decision:
    """The choice among the releases of a scorecard.

    Attributes
    ----------
    scorecard : Scorecard
    ranked : tuple of Row
        The baseline, and every release that meets all limits.
    ranking : Ranking
        The ranks of `ranked`, computed on first access.
    failures : dict of release name to failures
        The failures of every release that misses a limit.
    chosen : Row
    missed : tuple of Failure
        Limits that the chosen release meets on the choosing rows but not on the reporting rows: the
        holder must be told, since the reported figures count.
    """

    scorecard: Scorecard
    ranked: tuple[Row, ...]
    ranking: Ranking
    failures: Mapping[str, tuple[Failure, ...]]
    chosen: Row
    missed: tuple[Failure, ...] = ()
    by: str = VALUE.name
    caution: float = 1.0
    allow_useless: bool = False

    def __repr__(self) -> str:
        card, kept, told = self.scorecard, self.chosen.value("kept"), self.chosen.value("told")
        return in_short(
            self,
            f"{quoted(self.chosen.release.name, 70)} of {plural(len(card.rows), 'release')}",
            None if kept is None else f"keeps {share_words(kept)}",
            None if told is None else f"tells {share_words(told)}",
        )

    def _repr_html_(self) -> str:
        lines = [[*line_of(row), self._fate(row)] for row in self.scorecard.rows]
        return html_table(f"Decision: {self.chosen.release.name}", [*HEADS, ""], lines)

    def _fate(self, row: Row) -> str:
        if row is self.chosen:
            return "chosen"
        return "; ".join(failure.short for failure in self.failures.get(row.release.name, ()))

    def plot(self, what: Literal["front", "weights"] = "front") -> Picture:
        """The choice as a picture.

        Parameters
        ----------
        what : {"front", "weights"}
            Every release by kept and told, with the front and the choice; or the release that
            would win by ranks under each weights.
        """
        if what == "weights":
            return self.ranks.plot([row.release.name for row in self.ranked])
        return kept_told_picture(self.scorecard, self.front, self.chosen, set(self.failures))

    @property
    def front(self) -> list[Row]:
        """The front of kept and told among releases that meet all limits, least telling first.

        Measured on the choosing rows. Without a secret, the number of columns takes the place of
        told.
        """
        rows, measured = self.meeting, self.scorecard.compared.choosing
        points: dict[tuple[int, ...], tuple[float, float]] = {}
        for i, row in enumerate(rows):
            n = self.scorecard.number(row)
            told = float(row.release.size if measured.secret_gains is None else measured.told[n])
            points[i,] = float(measured.kept[n]), told
        return [rows[i] for (i,) in undominated(points)]

    @property
    def ranks(self) -> Evaluation:
        """The weighted ranks of `ranked`."""
        return self.ranking.evaluation

    @property
    def is_ranked(self) -> bool:
        """Whether ranks were asked for: as the rule of the choice, or by giving weights."""
        return self.by == RANKS.name or self.ranking.is_weighted

    @property
    def shown(self) -> list[Row]:
        """The releases with every figure computed: all if ranks were asked for.

        Otherwise the chosen one, the baseline and the runners-up.
        """
        if self.is_ranked:
            return list(self.scorecard.rows)
        return [self.chosen, self.scorecard.baseline, *self.runners_up(SHOWN)]

    def measure(self) -> None:
        """Compute every figure of the shown releases, so that no model is trained later."""
        self.scorecard.to_dict(self.shown)

    @property
    def meeting(self) -> list[Row]:
        """The releases that meet all limits."""
        return [row for row in self.scorecard.rows if row.release.name not in self.failures]

    @cached_property
    def redrawn(self) -> Mapping[str, float]:
        """Share of bootstrap draws of the choosing people in which each release would win, by name.

        By kept and told, whatever the rule of the choice.
        """
        card = self.scorecard
        asked = _by_value(card, self.meeting)
        shares = redrawn(*asked, caution=self.caution, merges=_merges(card))
        return {row.release.name: float(share) for row, share in zip(card.every, shares)}

    @cached_property
    def as_good(self) -> tuple[Row, ...]:
        """Releases that are as good as the chosen one, within two paired standard errors of value.

        Only those that meet all limits, measured on the choosing rows; the one that wins the most
        bootstrap draws comes first.
        """
        card = self.scorecard
        measured, chosen_one = card.compared.choosing, card.number(self.chosen)
        as_good_rows = [
            row
            for row in self.meeting
            if row is not self.chosen
            and as_good(measured, card.number(row), chosen_one, self.caution)
        ]
        return tuple(sorted(as_good_rows, key=lambda row: -self.redrawn[row.release.name]))

    @property
    def value(self) -> Figure:
        """Kept less caution times told of the chosen release, on the reporting rows."""
        measured, number = self.scorecard.compared.reporting, self.scorecard.number(self.chosen)
        value = float(measured.value(self.caution)[number])
        return figure(Mean(value, measured.value_error(number, None, self.caution)))

    def on(self, scorecard: Scorecard, limits: tuple[Limit, ...]) -> Decision:
        """The choice on a scorecard with further readings; `limits` are those it was made with.

        The reported figures may change, and so which limits are missed on them.
        """
        every = {row.release.name: row for row in scorecard.every}
        chosen = every[self.chosen.release.name]
        return replace(
            self,
            scorecard=scorecard,
            ranked=tuple(every[row.release.name] for row in self.ranked),
            chosen=chosen,
            missed=beyond(chosen, limits, "report"),
        )

    def runners_up(self, few: int) -> list[Row]:
        """The few best releases of the front, without baseline, floor and the chosen one."""
        measured, card = self.scorecard.compared.choosing, self.scorecard

        def worth(row: Row) -> float:
            number = card.number(row)
            return float(measured.kept[number] - self.caution * measured.told[number])

        passed = (self.chosen, card.baseline, card.floor)
        others = [row for row in self.front if not any(row is each for each in passed)]
        return sorted(others, key=worth, reverse=True)[:few]


def decide(
    scorecard: Scorecard,
    limits: tuple[Limit, ...] = (),
    weights: Weights = None,
    *,
    by: str = RANKS.name,
    caution: float = 1.0,
    allow_useless: bool = False,
    also: Mapping[str, tuple[Failure, ...]] | None = None,
) -> Decision:
    """Choose the best of the releases that meet every limit.

    Parameters
    ----------
    scorecard : Scorecard
    limits : tuple of Limit
        Limits on measures, besides the promises of each release; checked on the choosing rows.
    weights : mapping of factor to weight, optional
        Factors are `performance`, `privacy` and `size`, or measures of the scorecard.
    by : {"value", "ranks"}
        Selection rule: kept less `caution` times told, or E(S), the weighted ranks.
    caution : float
        Weight of told against kept.
    allow_useless : bool
        Whether a release may be chosen that predicts the target no better than guessing.
    also : mapping of release name to failures, optional
        Failures that no scorecard limit can express, such as limits together with earlier releases.

    Returns
    -------
    Decision
        If no release meets every limit, raises an error that says what fails, by how much, and
        which release comes closest.
    """
    if not (allow_useless or scorecard.compared.choosing.teaches):
        raise CannotMeet(_nothing_teaches(scorecard))
    failing = {
        row.release.name: (
            *failures(row, limits),
            *(() if allow_useless else _useless(scorecard, row)),
            *(also or {}).get(row.release.name, ()),
        )
        for row in scorecard.rows
    }
    meeting = [row for row in scorecard.rows if not failing[row.release.name]]
    if not meeting:
        raise CannotMeet(_nothing_meets(scorecard, failing))
    rows = list(dict.fromkeys((scorecard.baseline, *meeting)))
    ranking = Ranking.of(scorecard, rows, weights)
    if ranking.is_weighted:
        _ = (
            ranking.scores
        )  # raises for a weighted factor that cannot be measured, whatever the rule
    best = _RULES[by](ChoiceInput(scorecard, meeting, rows, ranking, caution))
    if not allow_useless and (best.value("useful") or 0.0) <= 0:
        raise CannotMeet(_useless_after_all(best))
    unmet = {name: found for name, found in failing.items() if found}
    missed = beyond(best, limits, "report")
    ranked = tuple(rows)
    return Decision(scorecard, ranked, ranking, unmet, best, missed, by, caution, allow_useless)


@dataclass(frozen=True, eq=False)
class Ranking:
    """Weighted ranks of some releases, which need every figure of all of them."""

    rows: Sequence[Row]
    measures: Mapping[str, str]
    """The measure of the scorecard that each factor stands for."""
    directions: Mapping[str, Direction]
    weights: Weights

    __repr__ = by_fields

    @classmethod
    def of(cls, scorecard: Scorecard, rows: Sequence[Row], weights: Weights) -> Ranking:
        directions, measures = _factors(scorecard, weights)
        read_weights(weights or WEIGHTS, directions)
        return cls(rows, measures, directions, weights or WEIGHTS)

    @property
    def is_weighted(self) -> bool:
        """Whether the weights differ from the default ones."""
        return self.weights != WEIGHTS

    @cached_property
    def scores(self) -> dict[str, list[float]]:
        """The value of each release by factor; raise if one cannot be measured."""
        measures = {name: self.measures[name] for name in self.directions}
        return {name: [_score(r, measure) for r in self.rows] for name, measure in measures.items()}

    @cached_property
    def evaluation(self) -> Evaluation:
        directions = dict(self.directions)
        return evaluation(self.scores, directions, read_weights(self.weights, directions))


class ChoiceInput(NamedTuple):
    """The input of a selection rule."""

    scorecard: Scorecard
    meeting: Sequence[Row]
    """The releases that meet every limit."""
    ranked: Sequence[Row]
    """These and the baseline, in the order of the ranking."""
    ranking: Ranking
    caution: float


def _best_ranked(given: ChoiceInput) -> Row:
    """The release with the best E(S)."""
    rows = (given.ranked[i] for i in given.ranking.evaluation.order)
    return next(row for row in rows if row in given.meeting)


_RULES: dict[str, Callable[[ChoiceInput], Row]] = {
    VALUE.name: lambda given: most_valuable(given.scorecard, given.meeting, given.caution),
    RANKS.name: _best_ranked,
}
"""The selection rules of `tamis.catalogue.measures`, by name."""


def most_valuable(scorecard: Scorecard, meeting: Sequence[Row], caution: float) -> Row:
    """The release of the highest value under a caution, among those that meet every limit.

    Ties go to the fewest columns, then to the fewest suppressed people, then as in `merges_of`.
    """
    (best,) = most_valuable_by(scorecard, meeting, [caution])
    return best


def most_valuable_by(
    scorecard: Scorecard, meeting: Sequence[Row], cautions: Iterable[float]
) -> list[Row]:
    """`most_valuable` under each of some cautions; the keys that break ties are computed once."""
    by, merges = _by_value(scorecard, meeting), _merges(scorecard)
    return [scorecard.every[chosen(*by, caution=caution, merges=merges)] for caution in cautions]


def _by_value(
    scorecard: Scorecard, meeting: Sequence[Row]
) -> tuple[KeptTold, list[int], NDArray[np.bool_]]:
    """The input of a choice by value: figures, sizes, and which releases meet every limit."""
    allowed = np.array([row in meeting for row in scorecard.every])
    sizes = [len(row.release.features) for row in scorecard.every]
    return scorecard.compared.choosing, sizes, allowed


def _merges(scorecard: Scorecard) -> list[tuple[int, ...]]:
    releases = (row.release for row in scorecard.every)
    return [(each.suppressed_people, *_merges_in(each)) for each in releases]


def _merges_in(release: Release) -> tuple[int, ...]:
    """Sort key for ties, by the groups of generalised columns and the digits cut off."""
    cut = {c: form.level for c, form in release.forms.items() if Multiples.word in form.ladder}
    groups = [count for c, count in release.label_counts.items() if c not in cut]
    return merges_of(groups, sum(cut.values()))


def _useless(scorecard: Scorecard, row: Row) -> list[Failure]:
    """The failure of a release that does not clearly predict better than guessing, if so."""
    if scorecard.compared.choosing.useful[scorecard.number(row)].clear:
        return []
    words = "it is not shown to predict the target better than guessing"
    return [Failure(words, "no better than guessing", 1.0)]


def _nothing_teaches(scorecard: Scorecard) -> str:
    target = scorecard.baseline.release.table.target
    return (
        f"nothing here teaches {target!r}: on rows not learnt from, all columns together predict "
        "it no better than guessing, so nothing was published. Add columns or rows that bear on "
        "it, or publish all the same with --allow-useless"
    )


def _useless_after_all(row: Row) -> str:
    target = row.release.table.target
    return (
        f"the release that was chosen, {row.release.name!r}, predicts {target!r} no better than "
        "guessing on rows kept aside from the choice, so nothing was published. More rows, a "
        "smaller k, fewer quasi-identifiers or looser limits may help; --allow-useless publishes "
        "all the same"
    )


def taken(decision: Decision, name: str, limits: tuple[Limit, ...] = ()) -> Decision:
    """The decision with a named release instead of the best; it must meet every limit.

    Parameters
    ----------
    decision : Decision
    name : str
        The name of a release on the scorecard.
    limits : tuple of Limit
        The limits that the decision was made with.
    """
    by_name = {row.release.name: row for row in decision.scorecard.rows}
    if name not in by_name:
        meeting = [each for each in by_name if each not in decision.failures]
        raise InputError(
            f"no release {name!r} was compared; those that meet every limit are "
            f"{listed(meeting, most=30)}"
        )
    if name in decision.failures:
        missing = "; ".join(failure.words for failure in decision.failures[name])
        raise CannotMeet(f"{name!r} cannot be taken, so nothing was published: {missing}")
    if not decision.allow_useless and (by_name[name].value("useful") or 0.0) <= 0:
        raise CannotMeet(_useless_after_all(by_name[name]))
    return replace(decision, chosen=by_name[name], missed=beyond(by_name[name], limits, "report"))


def _factors(scorecard: Scorecard, weights: Weights) -> tuple[dict[str, Direction], dict[str, str]]:
    """The direction of each factor, and the measure that it stands for."""
    better = {m.name: m.better for m in scorecard.measures}
    measures = dict(FACTORS)
    named = weights if isinstance(weights, Mapping) else {}
    for name in named:
        if name not in measures:
            if name not in better:
                raise InputError(
                    f"no factor {name!r} to weight; there are {', '.join([*FACTORS, *better])}"
                )
            measures[name] = name
    return {name: better[measure] for name, measure in measures.items()}, measures


def _score(row: Row, measure: str) -> float:
    value = row.value_for_choice(measure)
    if value is None:
        raise InputError(
            f"{measure} cannot be measured for {row.release.name}; do not give it a weight"
        )
    return value


def _nothing_meets(scorecard: Scorecard, failing: Mapping[str, tuple[Failure, ...]]) -> str:
    """The message that no release meets every limit, with the one that comes closest."""
    rows = scorecard.candidates or scorecard.rows
    nearest = min(
        rows,
        key=lambda r: (len(failing[r.release.name]), sum(f.gap for f in failing[r.release.name])),
    )
    missing = "; ".join(failure.words for failure in failing[nearest.release.name])
    columns = plural(len(nearest.release.features), "column")
    return (
        f"none of the {len(scorecard.rows)} releases meets every limit, so nothing was published. "
        f"The closest is {nearest.release.name!r} with {columns}: {missing}. Ask for less "
        "(a smaller k, looser limits), or say which columns attackers may know (--quasi)"
    )
