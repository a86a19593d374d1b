"""Check what a release must meet: limits on figures, promises and population requirements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from tamis.catalogue.measures import MEASURES, MeasureRecord, of_rules
from tamis.evaluate.evaluator import Evaluator
from tamis.evaluate.in_population import InPopulation
from tamis.evaluate.scorecard import Row, Scorecard, scorecard
from tamis.rank.evaluation import Direction
from tamis.release import Release
from tamis.require.population import OfPopulation

if TYPE_CHECKING:
    from tamis.attack.earlier_releases import EarlierReleases

UNCOVERED = "its columns are not those of the register, so people cannot be counted there"


@dataclass(frozen=True)
class Limit:
    """A bound on one measure of the scorecard.

    Examples
    --------
    >>> limit = Limit("performance", "at least", 0.8)
    >>> round(limit.short_by(0.75), 3), limit.short_by(0.9)
    (0.05, 0.0)
    """

    measure: str
    side: Literal["at least", "at most"]
    bound: float

    @property
    def about(self) -> MeasureRecord:
        """The description of the limited measure."""
        better: Direction = "max" if self.side == "at least" else "min"
        return MEASURES.get(self.measure) or of_rules(self.measure, better)

    def short_by(self, value: float) -> float:
        """The gap between a value and the bound; 0 if the limit is met."""
        gap = self.bound - value if self.side == "at least" else value - self.bound
        return max(0.0, gap)


@dataclass(frozen=True)
class Failure:
    """A limit that a release does not meet."""

    words: str
    """The limit, the actual value and what is missing."""
    short: str
    """The limit in a few words, without counts of people below k, since reports show it."""
    gap: float
    """What is missing as a share of the limit, so that different limits can be compared."""


def failures(row: Row, limits: tuple[Limit, ...]) -> tuple[Failure, ...]:
    """The promises and limits that a release does not meet, on the choosing rows."""
    if row.release.n_unlisted:
        words = "it stands for all columns, too many to be released as they are"
        return (Failure(words, "too many columns", 1.0), *beyond(row, limits))
    return (*_broken_promises(row), *beyond(row, limits))


def too_told(
    evaluator: Evaluator,
    release: Release,
    limits: Mapping[str, float],
    rows: Literal["choose", "report"] = "choose",
) -> tuple[Failure, ...]:
    """The limits on told of single secrets that a release does not meet."""
    if not limits or release.n_unlisted:
        return ()
    part: Literal["choosing", "reporting"] = "choosing" if rows == "choose" else "reporting"
    told = zip(evaluator.every_secret, evaluator.yardstick.told_each(release, part))
    failed = []
    for secret, share in told:
        if secret in limits and share > limits[secret]:
            most = limits[secret]
            words = (
                f"what is told of {secret} must be at most {most:.4g} but is {share:.4g} on the "
                f"rows used to {rows}"
            )
            short = f"what is told of {secret} at most {most:.4g}"
            failed.append(Failure(words, short, (share - most) / max(most, 0.01)))
    return tuple(failed)


def _broken_promises(row: Row) -> list[Failure]:
    failed, unit = [], row.release.unit
    for promise in row.release.promises:
        reached = row.assessment.reach(promise)
        if promise.is_short(reached):
            words, short = promise.lacking(reached, unit), promise.lacking_in_short(unit)
            words, short = promise.named(words), promise.named(short)
            failed.append(Failure(words, short, 1 - reached / promise.k))
    if words := row.assessment.lacks:
        failed.append(Failure(words, "people alike do not meet what is required besides k", 1.0))
    return failed


def beyond(
    row: Row, limits: tuple[Limit, ...], rows: Literal["choose", "report"] = "choose"
) -> tuple[Failure, ...]:
    """The limits that a release does not meet on the choosing or the reporting rows."""
    failed = []
    for limit in limits:
        measure, about = limit.measure, limit.about
        name = about.words
        value = row.value_for_choice(measure) if rows == "choose" else row.value(measure)
        if value is None:
            words = about.lacking or f"the {name} cannot be measured"
            failed.append(Failure(words, words, 1.0))
        elif gap := limit.short_by(value):
            where = f" on the rows used to {rows}" if about.sampled else ""
            words = (
                f"the {name} must be {limit.side} {limit.bound:.4g} but is {value:.4g}{where} "
                f"({gap:.2g} {'too little' if limit.side == 'at least' else 'too much'})"
            )
            short = f"{name} {value:.4g}{where}, not {limit.side} {limit.bound:.4g}"
            failed.append(Failure(words, short, gap / max(abs(limit.bound), 0.01)))
    return tuple(failed)


def lacking_in_population(
    release: Release, known: InPopulation, required: Iterable[OfPopulation]
) -> tuple[Failure, ...]:
    """The population requirements that a release does not meet."""
    if not known.covers(release):
        return (Failure(UNCOVERED, UNCOVERED, 1.0),)
    failed = []
    for each in required:
        measured = each.measure(known, release)
        if measured is not None and (gap := each.short_by(measured)):
            share = gap / max(max(bound for _, bound in each.bounds), 0.01)
            words, short = each.lacking(measured), each.lacking_in_short(measured)
            failed.append(Failure(words, short, share))
    return tuple(failed)


TOLD = {name: measure for name, measure in MEASURES.items() if measure.of_secret}
"""Measures about the secret, whose limits hold for earlier releases and the new one together."""


def lacking_with_earlier(
    card: Scorecard,
    handed: EarlierReleases,
    evaluator: Evaluator,
    limits: Iterable[Limit],
    k: int,
) -> dict[str, tuple[Failure, ...]]:
    """What releases do not meet together with earlier releases, by name."""
    real = [row.release for row in card.rows if not row.release.is_drawn]
    failed_by_name = {release.name: _crowds_with_earlier(release, handed, k) for release in real}
    of_secret = tuple(limit for limit in limits if limit.measure in TOLD)
    if not (of_secret or evaluator.requirements.beyond_k):
        return failed_by_name
    ends = card.baseline.release, card.floor.release
    both = scorecard(evaluator, *ends, map(handed.together, real), measures=tuple(TOLD.values()))
    for row in both.candidates:
        failed_by_name[row.release.name] += tuple(map(_together_words, failures(row, of_secret)))
    return failed_by_name


def _crowds_with_earlier(release: Release, handed: EarlierReleases, k: int) -> tuple[Failure, ...]:
    reached = handed.anonymity_beside(release)
    if reached is None or reached >= k:
        return ()
    words = f"k = {k} requires groups of {k}, but the smallest has {reached}"
    return (
        _together_words(Failure(words, f"fewer than {k} {release.unit} alike", 1 - reached / k)),
    )


def _together_words(failure: Failure) -> Failure:
    rest = " together with what was handed on before"
    return replace(failure, words=failure.words + rest, short=failure.short + rest)
