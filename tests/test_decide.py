"""Limits first, then what is kept and told, or E(S); what cannot be met is said."""

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.catalogue.measures import MEASURES
from tamis.decide import decide, taken
from tamis.errors import CannotMeet, InputError
from tamis.evaluate.bits import KeptTold
from tamis.evaluate.bits_scorer import Compared
from tamis.evaluate.figure import Figure
from tamis.evaluate.scorecard import Row, Scorecard
from tamis.limits import Limit
from tamis.require.counts import ClassCounts
from tamis.require.k import KAnonymity


@dataclass(frozen=True, eq=False)
class Fake(Row):
    """A row of a scorecard without a release behind it."""

    name: str = ""
    size: int = 1
    kept: float = 1.0
    told: float = 0.0
    promises: tuple[KAnonymity, ...] = ()
    beyond: int = 0
    left_out: int = 0

    @property
    def release(self) -> Any:
        features = tuple(f"f{i}" for i in range(self.size))
        return SimpleNamespace(
            name=self.name,
            features=features,
            size=self.size,
            promises=self.promises,
            unit="people",
            n_unlisted=self.beyond,
            forms={},
            label_counts={},
            suppressed_people=self.left_out,
            table=SimpleNamespace(target="income", features=(), frame={}),
        )


PROMISED = (KAnonymity(5, columns=("f0",)),)


def row(
    name: str,
    performance: float,
    pbi: float,
    size: int,
    k: int = 9,
    reported: dict[str, Figure | None] | None = None,
    kept: float = 1.0,
    told: float = 0.0,
) -> Row:
    figures: dict[str, Figure | None] = dict.fromkeys(MEASURES)
    figures |= {
        "performance": Figure(performance),
        "pbi": Figure(pbi),
        "features": Figure(size),
        "lost_rules": Figure(0.0),
        "kept": Figure(kept),
        "told": Figure(told),
        "useful": Figure(kept),
    }
    counts = ClassCounts(np.array([k]))
    assessment: Any = SimpleNamespace(reach=lambda asked: asked.reached(counts), lacks="")
    return Fake(assessment, reported or figures, figures, name, size, kept, told, PROMISED)


def card(*rows: Any, spread: float = 0.1) -> Scorecard:
    nothing = row("nothing", 0.5, -0.5, 0, kept=0.0)
    measured = bits([rows[0], nothing, *rows[1:]], spread)
    compared = Compared(measured, measured)
    return Scorecard(rows[0], nothing, tuple(rows[1:]), tuple(MEASURES.values()), compared)


def bits(rows: list[Any], spread: float) -> KeptTold:
    """Gains of 100 people whose means are what each row keeps and tells."""
    apart = np.tile([spread, -spread], 50)
    gains = [
        np.array([getattr(each, name) * (1 + apart) for each in rows]) for name in ("kept", "told")
    ]
    return KeptTold(gains[0], gains[1], np.eye(len(rows), dtype=bool), 0, 1.0, 1.0)


EVERYTHING = row("everything", 0.8, 0.0, 10, k=1)


def test_what_breaks_k_is_not_chosen_though_it_ranks_best():
    best = row("best", 0.9, -0.2, 1, k=2)
    second = row("second", 0.7, -0.1, 2)
    found = decide(card(EVERYTHING, best, second))
    assert found.chosen is second
    assert [r.release.name for r in found.ranked] == ["everything", "second"]
    assert set(found.failures) == {"everything", "best"}
    assert found.failures["best"][0].short == "fewer than 5 people alike"


def test_of_releases_as_good_the_one_that_leaves_out_fewest():
    some: Any = row("some", 0.7, 0.0, 2, kept=0.9)
    few, nobody = replace(some, name="few", left_out=3), replace(some, name="nobody")
    some = replace(some, left_out=30)
    assert decide(card(EVERYTHING, some, few, nobody), by="value").chosen is nobody
    assert decide(card(EVERYTHING, some, few), by="value").chosen is few
    narrow = replace(some, name="narrow", size=1, left_out=9)
    assert decide(card(EVERYTHING, narrow, nobody), by="value").chosen is narrow


def test_limits_come_before_weights():
    safe = row("safe", 0.6, -0.4, 1)
    good = row("good", 0.79, 0.1, 3)
    assert decide(card(EVERYTHING, safe, good)).chosen is safe
    by_use = decide(card(EVERYTHING, safe, good), (Limit("performance", "at least", 0.7),))
    assert by_use.chosen is good
    weighed = decide(card(EVERYTHING, safe, good), (), {"performance": 1.0})
    assert weighed.chosen is good


def test_ties_go_to_the_fewest_columns_and_then_to_the_first():
    small, large = row("small", 0.7, -0.1, 2), row("large", 0.7, -0.1, 4)
    weights = {"performance": 0.5, "privacy": 0.5, "size": 0.0}
    assert decide(card(EVERYTHING, large, small), (), weights).chosen is small
    twin = row("twin", 0.7, -0.1, 2)
    assert decide(card(EVERYTHING, small, twin), (), weights).chosen is small


def test_a_measure_of_the_scorecard_may_be_weighed_and_a_stranger_not():
    one, two = row("one", 0.7, -0.1, 2), row("two", 0.6, -0.1, 2)
    assert decide(card(EVERYTHING, one, two), (), {"lost_rules": 1.0}).chosen is one
    with pytest.raises(InputError, match="no factor 'beauty'"):
        decide(card(EVERYTHING, one), (), {"beauty": 1.0})
    with pytest.raises(InputError, match="auc cannot be measured"):
        decide(card(EVERYTHING, one), (), {"auc": 1.0})


def test_what_cannot_be_met_is_said_with_the_gap_and_the_nearest():
    near, far = row("near", 0.78, -0.1, 2), row("far", 0.6, -0.1, 2, k=3)
    limits = (Limit("performance", "at least", 0.8), Limit("pbi", "at most", -0.05))
    with pytest.raises(CannotMeet) as error:
        decide(card(EVERYTHING, far, near), limits)
    words = str(error.value)
    assert "nothing was published" in words
    assert "closest is 'near'" in words
    assert "at least 0.8 but is 0.78 on the rows used to choose (0.02 too little)" in words


def test_rows_that_report_choose_nothing_and_tell_of_a_limit_that_is_missed():
    """One is worse where it counts, and better where only figures are reported."""
    lucky = row("lucky", 0.7, -0.1, 2)
    shown: dict[str, Figure | None] = dict.fromkeys(MEASURES)
    shown |= {"performance": Figure(0.74), "pbi": Figure(0.3), "features": Figure(2)}
    shown["useful"] = Figure(1.0)
    good = row("good", 0.79, -0.1, 2, reported=shown)
    limits = (Limit("performance", "at least", 0.75), Limit("pbi", "at most", 0.4))
    found = decide(card(EVERYTHING, lucky, good), limits)
    assert found.chosen is good
    assert [failure.short for failure in found.missed] == [
        "accuracy 0.74 on the rows used to report, not at least 0.75"
    ]
    assert decide(card(EVERYTHING, lucky, good)).missed == ()


def test_any_release_that_meets_the_limits_may_be_taken_and_no_other():
    safe, good, weak = row("safe", 0.6, -0.4, 1), row("good", 0.79, 0.1, 3), row("w", 0.9, 0, 1, 2)
    limits = (Limit("pbi", "at most", 0.5),)
    found = decide(card(EVERYTHING, safe, good, weak), limits)
    assert found.chosen is safe
    other = taken(found, "good", limits)
    assert other.chosen is good
    assert (other.ranked, other.ranks, other.failures) == (
        found.ranked,
        found.ranks,
        found.failures,
    )
    with pytest.raises(CannotMeet, match=r"'w' cannot be taken.*k = 5 requires 5 people"):
        taken(found, "w", limits)
    with pytest.raises(InputError, match=r"no release 'x' was compared.*are 'safe', 'good'$"):
        taken(found, "x", limits)


def test_what_is_taken_tells_of_its_own_missed_limit():
    shown: dict[str, Figure | None] = dict.fromkeys(MEASURES)
    shown |= {"performance": Figure(0.6), "pbi": Figure(0.1), "features": Figure(3)}
    shown["useful"] = Figure(1.0)
    safe, good = row("safe", 0.8, -0.4, 1), row("good", 0.79, 0.1, 3, reported=shown)
    limits = (Limit("performance", "at least", 0.7),)
    found = decide(card(EVERYTHING, safe, good), limits)
    assert (found.chosen, found.missed) == (safe, ())
    assert "0.6" in taken(found, "good", limits).missed[0].short


figures = st.tuples(
    st.integers(0, 5).map(lambda x: x / 5),
    st.integers(-3, 3).map(lambda x: x / 10),
    st.integers(1, 4),
    st.integers(1, 9),
)


@given(st.lists(figures, min_size=1, max_size=8), st.sampled_from([0.0, 0.2, 0.6]))
def test_the_choice_is_that_of_the_definition(values, least):
    rows = [row(f"r{i}", *v) for i, v in enumerate(values)]
    weights = {"performance": 0.5, "privacy": 0.25, "size": 0.25}
    fit = [r for r, v in zip(rows, values) if v[3] >= 5 and v[0] >= least]
    limits = (Limit("performance", "at least", least),)
    if not fit:
        with pytest.raises(CannotMeet, match="meets every limit, so nothing was published"):
            decide(card(EVERYTHING, *rows), limits, weights)
        return
    pool = [EVERYTHING, *fit]

    def worth(r: Row) -> float:
        better = {"performance": 1, "pbi": -1, "features": -1}
        ranks = [
            1 + sum(sign * (o.value(m) or 0) < sign * (r.value(m) or 0) for o in pool)
            for m, sign in better.items()
        ]
        return sum(w * rank for w, rank in zip(weights.values(), ranks))

    best = max(fit, key=lambda r: (round(worth(r), 9), -(r.value("features") or 0)))
    chosen = decide(card(EVERYTHING, *rows), limits, weights).chosen
    assert worth(chosen) == pytest.approx(worth(best))
    assert chosen.value("features") == best.value("features")


def test_value_is_what_is_kept_less_caution_times_what_is_told():
    bold = row("bold", 0.7, 0.1, 3, kept=0.9, told=0.5)
    shy = row("shy", 0.7, 0.1, 2, kept=0.6, told=0.1)
    every = row("everything", 0.8, 0.0, 10, k=1, kept=1.0, told=1.0)
    found = {
        caution: decide(card(every, bold, shy), by="value", caution=caution).chosen.release.name
        for caution in (0.0, 0.5, 1.0)
    }
    assert found == {0.0: "bold", 0.5: "bold", 1.0: "shy"}


def test_magnitudes_decide_by_value_where_ranks_see_none():
    """A hair less told is worth a rank, and next to nothing by value."""
    every = row("everything", 0.8, 0.0, 10, k=1, kept=1.0, told=1.0)
    much = row("much", 0.79, -0.10, 5, kept=0.9, told=0.11)
    little = row("little", 0.60, -0.11, 1, kept=0.2, told=0.10)
    assert decide(card(every, much, little), by="ranks").chosen is little
    assert decide(card(every, much, little), by="value").chosen is much


def test_the_front_has_what_no_other_allowed_release_beats():
    every = row("everything", 0.8, 0.0, 10, k=1, kept=1.0, told=1.0)
    rows = [
        row("a", 0.7, 0.0, 2, kept=0.5, told=0.1),
        row("b", 0.7, 0.0, 2, kept=0.4, told=0.2),
        row("c", 0.7, 0.0, 2, kept=0.9, told=0.3),
        row("d", 0.7, 0.0, 2, kept=0.95, told=0.31, k=2),
    ]
    found = decide(card(every, *rows), by="value").front
    assert [each.release.name for each in found] == ["a", "c"]


def test_where_nothing_can_be_told_the_front_is_by_columns():
    every = row("everything", 0.8, 0.0, 10, kept=1.0)
    rows = [
        row("few", 0.7, 0.0, 2, kept=0.5),
        row("no better", 0.7, 0.0, 3, kept=0.5),
        row("more", 0.7, 0.0, 4, kept=0.9),
    ]
    told = card(every, *rows)
    assert [each.release.name for each in decide(told, by="value").front] == ["everything"]
    measured = replace(told.compared.choosing, secret_gains=None)
    untold = replace(told, compared=Compared(measured, measured))
    found = decide(untold, by="value").front
    assert [each.release.name for each in found] == ["few", "more", "everything"]


@pytest.mark.parametrize("by", ["value", "ranks"])
def test_what_is_no_better_than_guessing_is_published_only_if_that_is_allowed(by):
    every = row("everything", 0.8, 0.0, 10, k=1)
    useless = row("useless", 0.79, -0.9, 1, kept=0.0)
    with pytest.raises(CannotMeet, match="not shown to predict the target better than guessing"):
        decide(card(every, useless), by=by)
    assert decide(card(every, useless), by=by, allow_useless=True).chosen is useless
    good = row("good", 0.7, 0.1, 3, kept=0.5)
    assert decide(card(every, useless, good), by=by).chosen is good


def test_a_table_that_teaches_nothing_is_refused():
    every = row("everything", 0.8, 0.0, 10, kept=0.0)
    with pytest.raises(CannotMeet, match=r"nothing here teaches 'income'.*--allow-useless"):
        decide(card(every, row("one", 0.7, 0.1, 1, kept=0.0)), by="value")


def test_a_choice_that_is_useless_on_the_rows_kept_aside_is_refused():
    every = row("everything", 0.8, 0.0, 10, k=1)
    shown: dict[str, Figure | None] = dict.fromkeys(MEASURES)
    lucky = row("lucky", 0.79, -0.1, 2, reported=shown | {"useful": Figure(-0.01)})
    with pytest.raises(CannotMeet, match="'lucky', predicts 'income' no better than guessing"):
        decide(card(every, lucky), by="value")
    assert decide(card(every, lucky), by="value", allow_useless=True).chosen is lucky


def test_limits_on_kept_and_told_bind():
    every = row("everything", 0.8, 0.0, 10, k=1, kept=1.0, told=1.0)
    bold = row("bold", 0.7, 0.1, 3, kept=0.9, told=0.5)
    shy = row("shy", 0.7, 0.1, 2, kept=0.6, told=0.1)
    both = card(every, bold, shy)
    keep, progress = Limit("kept", "at least", 0.8), Limit("told", "at most", 0.2)
    assert decide(both, (keep,), by="value").chosen is bold
    assert decide(both, (progress,), by="value", caution=0.0).chosen is shy
    with pytest.raises(CannotMeet, match="share kept of what can be learnt"):
        decide(both, (keep, progress), by="value")


def test_a_release_that_is_useless_on_the_rows_kept_aside_cannot_be_taken_either():
    every = row("everything", 0.8, 0.0, 10, k=1)
    shown: dict[str, Figure | None] = dict.fromkeys(MEASURES)
    lucky = row("lucky", 0.79, -0.1, 2, reported=shown | {"useful": Figure(-0.01)}, kept=0.5)
    good = row("good", 0.79, -0.1, 3)
    found = decide(card(every, lucky, good), by="value")
    assert found.chosen is good
    with pytest.raises(CannotMeet, match="'lucky', predicts 'income' no better than guessing"):
        taken(found, "lucky")


@pytest.mark.parametrize("by", ["value", "ranks"])
def test_what_stands_for_more_columns_than_it_has_is_never_chosen(by):
    every = row("everything", 0.9, 0.0, 10, kept=1.0)
    other = row("other", 0.6, 0.0, 20, kept=0.3)
    assert decide(card(every, other), by=by).chosen is every
    many: Any = every
    assert decide(card(replace(many, beyond=5), other), by=by).chosen is other


def test_what_is_as_good_is_named_and_how_often_redraws_choose_it():
    best, near = row("best", 0.7, 0.0, 2, kept=0.9), row("near", 0.7, 0.0, 2, kept=0.86)
    far, forbidden = (
        row("far", 0.7, 0.0, 2, kept=0.4),
        row("forbidden", 0.7, 0.0, 2, kept=0.89, k=2),
    )
    asked = card(EVERYTHING, best, near, far, forbidden)
    measured = asked.compared.choosing
    gains = measured.target_gains.copy()
    # One is better for half of the people, the other for the other half.
    gains[2] += np.tile([0.4, -0.4], 50)
    gains[3] -= np.tile([0.4, -0.4], 50)
    both = replace(measured, target_gains=gains)
    found = decide(replace(asked, compared=Compared(both, both)), by="value")
    assert found.chosen is best
    assert found.as_good == (near,)
    assert found.redrawn["best"] > found.redrawn["near"] > 0.1
    assert found.redrawn["forbidden"] == found.redrawn["far"] == 0
    assert sum(found.redrawn.values()) == pytest.approx(1.0)
    assert (found.value.low or 1.0) < 0.9 < (found.value.high or 0.0)
    assert taken(found, "near").as_good == (best,)


def test_where_one_release_is_clearly_best_none_is_as_good():
    best, far = row("best", 0.7, 0.0, 2, kept=0.9), row("far", 0.7, 0.0, 2, kept=0.4)
    found = decide(card(EVERYTHING, best, far), by="value")
    assert found.as_good == ()
    assert found.redrawn == {"everything": 0, "nothing": 0, "best": 1, "far": 0}
