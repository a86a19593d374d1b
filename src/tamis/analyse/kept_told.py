"""What the chosen release keeps and tells, what other cautions would choose, what comes next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby
from typing import Any, Self

import numpy as np

from tamis.analyse.column_fates import breaks_k, projection_on, sources
from tamis.analyse.examination import Examination
from tamis.analyse.records import in_hundredths
from tamis.catalogue.measures import VALUE
from tamis.catalogue.methods import shown_model
from tamis.decide import Decision, most_valuable_by
from tamis.errors import plural
from tamis.evaluate.figure import Figure
from tamis.evaluate.readings import looked_up
from tamis.evaluate.subset_bits import SubsetBits
from tamis.figures import percent
from tamis.learn.views import View
from tamis.outcome import Outcome

MOST_VIEWS = 5
"""Most views to name in a summary."""
NAMED = 0.05
"""Smallest told of a view alone for it to be named."""
NOTICED = 0.005
"""Smallest upper end of told for a warning that it may have gone unnoticed."""
CAUTIONS = (
    *(step / 20 for step in range(41)),  # finer where releases change most
    *(2 + step / 4 for step in range(1, 13)),
    *(float(step) for step in range(6, 11)),
)
"""The cautions that the page's slider offers, besides the one that was used."""


@dataclass(frozen=True, kw_only=True)
class Winner:
    """The best release from one caution on, up to that of the next winner."""

    caution: float
    candidate: int
    """Its place in `candidates`."""


@dataclass(frozen=True, kw_only=True)
class AsGood:
    """A release whose value is not clearly different from the chosen one's."""

    candidate: int
    """Its place in `candidates`."""
    redrawn: float
    """Share of bootstrap draws of the choosing people in which it would be chosen."""


@dataclass(frozen=True, kw_only=True)
class OneMore:
    """The held-back column that would add most value to the release."""

    name: str
    kept: float
    """Kept of the release with it, as `told`."""
    told: float | None


@dataclass(frozen=True, kw_only=True)
class WaveFacts:
    """Kept and told of the first columns of a large release."""

    columns: int
    kept: float
    told: float | None


@dataclass(frozen=True, kw_only=True)
class ViewFacts:
    """A view of a column's values that gives the sensitive value away."""

    words: str
    """What it is, such as "the last digit of income"."""
    share: float
    """Told of the view alone."""
    released: bool
    """Whether the release shows it."""


@dataclass(frozen=True, kw_only=True)
class BitsFacts:
    """What the release keeps of the target and tells of the sensitive column.

    Shares are of what all columns together give; bits are means over the reporting rows.
    """

    by: str
    """The rule of the choice, a name in `tamis.catalogue.measures`."""
    caution: float
    kept: Figure
    told: Figure | None
    """`None` if no column but the target is sensitive, and on the recipient's page."""
    useful: Figure
    """In bits."""
    telling: Figure | None
    teaches: bool
    """Whether any columns clearly teach the target."""
    tells: bool
    """Whether any columns clearly tell the sensitive column, beyond what the target tells."""
    weak: bool
    """Whether even all columns together explain little of the target."""
    cautions: tuple[float, ...]
    """The cautions that the page's slider offers, ascending."""
    winners: tuple[Winner, ...]
    one_more: OneMore | None
    """`None` if no further column would keep k, and on the recipient's page."""
    value: Figure | None = None
    """Kept less caution times told of the release; `None` on the recipient's page."""
    redrawn: float | None = None
    """Share of bootstrap draws of the choosing people in which it would be chosen again; `None` if
    it was not chosen by kept and told."""
    as_good: tuple[AsGood, ...] = ()
    """Releases that are as good within error, those chosen in most bootstrap draws first."""
    found: bool = False
    """Whether an attacker learnt something from the release beyond chance: the whole interval of
    told is above 0."""
    tried: tuple[str, ...] = ()
    """Who tried to learn the sensitive value; empty if there is none."""
    views: tuple[ViewFacts, ...] = ()
    """Views of values that give it away, those that the release shows first."""
    waves: tuple[WaveFacts, ...] = ()
    """For many unchanged columns, kept and told of the first ones in the order of what they add;
    the last wave is all of them. Empty for few columns, and on the recipient's page."""

    def for_recipient(self) -> Self:
        """Only kept, in whole percent, without anything about the choice."""
        return replace(
            self,
            kept=in_hundredths(self.kept),
            told=None,
            telling=None,
            tells=False,
            weak=False,
            caution=0.0,
            cautions=(),
            winners=(),
            value=None,
            redrawn=None,
            as_good=(),
            one_more=None,
            found=False,
            tried=(),
            views=(),
            waves=(),
        )


def bits_facts(examined: Examination) -> BitsFacts:
    """What the release keeps and tells, the winners under other cautions, and what comes next."""
    outcome = examined.outcome
    decision = outcome.decision
    measured, figures = decision.scorecard.compared.reporting, decision.chosen.figures
    kept, useful = figures["kept"], figures["useful"]
    assert kept is not None
    assert useful is not None
    told, telling = figures["told"], figures["telling"]
    cautions = _cautions(outcome)
    return BitsFacts(
        by=decision.by,
        caution=decision.caution,
        kept=kept.as_share(),
        told=told and told.as_share(),
        useful=useful,
        telling=telling,
        teaches=measured.teaches,
        tells=told is not None and measured.tells,
        weak=decision.scorecard.compared.choosing.weak,
        cautions=tuple(cautions),
        winners=winners(outcome, cautions),
        value=decision.value,
        **_certainty(decision),
        one_more=one_more(examined),
        found=told is not None and measured.tells and (told.low or 0.0) > 0,
        tried=() if told is None else tried_attackers(outcome),
        views=view_facts(outcome),
        waves=wave_facts(examined),
    )


def tried_attackers(outcome: Outcome) -> tuple[str, ...]:
    """The learners and attackers whose readings told is the worst of, in words."""
    secret = outcome.evaluator.yardstick.reporting.secret
    tested = 0 if secret is None else secret.views.tested
    looks = f"boosted trees, which looked at {plural(tested, 'view')} of the columns"
    slow = () if outcome.look is None else ("slower trees and logistic regression",)
    # The scorecard's `small` attacker is the same boosting, already named.
    others = (name for name in outcome.evaluator.attackers if name != shown_model("small"))
    return (
        looks if tested else "boosted trees",
        "whoever looks up people who are alike",
        *others,
        *slow,
    )


def view_facts(outcome: Outcome) -> tuple[ViewFacts, ...]:
    """Views of values that give the sensitive column away, in the release and in other columns.

    Views that tell next to nothing alone are not listed, though attackers use them.
    """
    yardstick, measured = outcome.evaluator.yardstick, outcome.decision.scorecard.compared.reporting
    if outcome.release.is_drawn or not measured.tells:
        return ()
    bits, columns = yardstick.bits(outcome.release, yardstick.reporting)
    if bits.secret is None:
        return ()
    told = outcome.decision.chosen.value("told") or 0.0
    released = [bits.secret.views.kept[i] for i in bits.secret.views.of(columns, columns)]
    shares_of = {
        view.words: (min(told, share), True)
        for view, share in zip(released, _view_shares(bits, released, measured.secret_scale))
    }
    every = yardstick.reporting
    held = () if every.secret is None else every.secret.views.kept
    for view, share in zip(held, _view_shares(every, held, measured.secret_scale)):
        shares_of.setdefault(view.words, (share, False))
    facts = (ViewFacts(words=w, share=s, released=r) for w, (s, r) in shares_of.items())
    kept = (view for view in facts if view.share >= NAMED)
    return tuple(sorted(kept, key=lambda view: (not view.released, -view.share)))


def _view_shares(bits: SubsetBits, views: Sequence[View], scale: float) -> list[float]:
    """Told by looking up each view alone, on the reporting rows."""
    if bits.secret is None:
        return []
    ((learn, ask),) = bits.parts.rounds
    label, target, known = bits.secret.label, bits.target, bits.secret.known[0]
    told_alone = []
    for view in views:
        of = view.codes.astype(np.int64)
        groups = {
            rows: of[bits.table.places(every)] * target.classes + target.label[every]
            for rows, every in (("learn", learn), ("ask", ask))
        }
        gain = looked_up(groups["learn"], label[learn], groups["ask"], known[ask], label[ask])
        told_alone.append(max(0.0, float(gain.mean())) / scale)
    return told_alone


def told_words(bits: BitsFacts, target: str, sensitive: str) -> list[str]:
    """What the release tells, in words: a share if something was found, else what was tried.

    It never says that nothing is told: no finding is only as good as the attackers who tried.
    """
    if bits.told is None:
        return []
    beyond = f"about {sensitive} beyond what {target} tells"
    shown = [_view_words(view, sensitive) for view in bits.views[:MOST_VIEWS]]
    if bits.found:
        ends = bits.told.interval
        assert ends is not None
        low, share, high = (percent(x, 0) for x in (ends.low, bits.told.value, ends.high))
        between = "" if low == share == high else f" ({low} to {high})"
        return [f"Tells {share}{between} of what the table tells {beyond}.", *shown]
    missed = bits.told.interval.high if bits.told.interval else 0.0
    chance = f" Up to {percent(missed, 0)} may have gone unnoticed." if missed >= NOTICED else ""
    tried = "; ".join(bits.tried)
    return [f"None of the attackers tried learnt anything {beyond}: {tried}.{chance}", *shown]


def _view_words(view: ViewFacts, sensitive: str) -> str:
    """One view as a sentence."""
    words = view.words[0].upper() + view.words[1:]
    share = f"{percent(view.share, 0)} of what the table tells"
    if view.released:
        return f"Warning: {view.words} gives {sensitive} away ({share}), and is released."
    return f"{words} gives {sensitive} away ({share}); the release does not show it."


def _cautions(outcome: Outcome) -> list[float]:
    """The cautions to offer; only the one used if nothing is told, as all choose the same."""
    decision = outcome.decision
    if decision.chosen.figures["told"] is None or not decision.scorecard.compared.choosing.tells:
        return [decision.caution]
    return sorted({*CAUTIONS, decision.caution})


def winners(outcome: Outcome, cautions: list[float]) -> tuple[Winner, ...]:
    """The releases that other cautions would choose, each with the caution from which it wins.

    By the rule of the choice itself, including ties, among releases that meet all limits.
    """
    decision = outcome.decision
    card = decision.scorecard
    meeting = [row for row in card.rows if row.release.name not in decision.failures]
    number = {row: i for i, row in enumerate(card.rows)}
    best = [(c, number[row]) for c, row in zip(cautions, most_valuable_by(card, meeting, cautions))]
    runs = [next(run) for _, run in groupby(best, key=lambda pair: pair[1])]
    return tuple(Winner(caution=caution, candidate=candidate) for caution, candidate in runs)


def _certainty(decision: Decision) -> dict[str, Any]:
    """How often bootstrap draws choose the release again, and what else is as good."""
    if decision.by != VALUE.name:
        return {}
    rows, shares = decision.scorecard.rows, decision.redrawn
    as_good = (
        AsGood(candidate=rows.index(row), redrawn=shares[row.release.name])
        for row in decision.as_good
    )
    return {"redrawn": shares[decision.chosen.release.name], "as_good": tuple(as_good)}


def wave_facts(examined: Examination) -> tuple[WaveFacts, ...]:
    """Kept and told of the first columns of a large release, if measured.

    A holder of all columns can ignore some, so no part is shown to keep or tell more than all.
    """
    outcome, waves = examined.outcome, examined.waves
    decision = outcome.decision
    kept, told = (decision.chosen.value(measure) for measure in ("kept", "told"))
    as_they_are = outcome.evaluator.yardstick.columns(decision.chosen.release) is not None
    if not (waves and as_they_are and decision.scorecard.compared.reporting.teaches):
        return ()
    most = kept or 0.0, told or 0.0
    shares = [(min(wave.kept, most[0]), min(wave.told, most[1])) for wave in waves[:-1]]
    sizes = accumulate(len(wave.columns) for wave in waves)
    return tuple(
        WaveFacts(columns=size, kept=some, told=None if told is None else tells)
        for size, (some, tells) in zip(sizes, [*shares, most])
    )


def one_more(examined: Examination) -> OneMore | None:
    """The held-back column that would add most value while k is kept."""
    outcome, bits = examined.outcome, examined.column_bits
    decision, released = outcome.decision, sources(outcome)
    if outcome.evaluator.yardstick.columns(decision.chosen.release) is None:
        return None  # what a column adds to changed ones was not measured
    worth = {
        name: bits[name].teaches_beyond - decision.caution * bits[name].tells_beyond
        for name in outcome.table.features
        if name not in released and bits[name].teaches_beyond > 0
    }
    order = sorted(worth, key=lambda name: -worth[name])
    fast = projection_on(outcome)
    best = next((name for name in order if not breaks_k(outcome, name, fast)), None)
    if best is None:
        return None
    kept, told = (decision.chosen.value(measure) for measure in ("kept", "told"))
    return OneMore(
        name=best,
        kept=min(1.0, (kept or 0.0) + bits[best].teaches_beyond),
        told=None if told is None else min(1.0, told + bits[best].tells_beyond),
    )
