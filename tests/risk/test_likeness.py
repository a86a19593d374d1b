"""Alpha, beta and delta by their definitions, over plain rows, and as both sides measure them."""

from __future__ import annotations

from collections import defaultdict
from math import inf, log

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.errors import InputError
from tamis.publish.secret_groups import (
    RISKS,
    asked_entries,
    asked_risks,
    measured_entry,
    numbered_secrets,
    short_of_asked,
)
from tamis.risk.anonymity import Anonymity, fewest_people
from tamis.risk.classes import reidentification
from tamis.risk.grouping import grouped, people_of
from tamis.risk.likeness import likeness

ROWS = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(["u", "v", "w", None]), st.integers(0, 9)),
    min_size=1,
    max_size=30,
)


def by_definition(rows) -> tuple[float, float, float, float]:
    """The largest alpha, beta, enhanced beta and delta of any class."""
    pairs = {(job, ill, who) for job, ill, who in rows}
    everywhere = {(ill, who) for _, ill, who in rows}
    classes = defaultdict(list)
    for job, ill, who in pairs:
        classes[job].append((ill, who))
    alpha = beta = enhanced = delta = 0.0
    for members in classes.values():
        people = {who for _, who in members}
        for value in {ill for ill, _ in everywhere}:
            having = sum(ill == value for ill, _ in members)
            p = sum(ill == value for ill, _ in everywhere) / len(everywhere)
            q = having / len(members)
            alpha = max(alpha, having / len(people))
            more = max((q - p) / p, 0)
            beta = max(beta, more)
            enhanced = max(enhanced, more if more <= -log(p) + 1e-12 else inf)
            delta = max(delta, abs(log(q / p)) if q else inf)
    return alpha, beta, enhanced, delta


def framed(rows) -> pl.DataFrame:
    jobs, ills, _ = zip(*rows)
    return pl.DataFrame({"job": jobs, "ill": pl.Series(ills, dtype=pl.String)})


@given(ROWS, st.booleans())
def test_they_are_those_of_the_definitions(rows, several) -> None:
    if not several:
        rows = [(job, ill, i) for i, (job, ill, _) in enumerate(rows)]
    found = likeness(framed(rows), "ill", ["job"], people=[who for *_, who in rows])
    figures = (found.alpha, found.beta, found.enhanced_beta, found.delta_disclosure)
    assert figures == pytest.approx(by_definition(rows))


class Asked:
    """Settings that ask for everything."""

    l = t = None  # noqa: E741 - its name in the field
    alpha, beta, beta_kind, delta_disclosure = 0.6, 1.0, "basic", 1.5
    max_risk, max_average_risk = 0.5, 0.3


@given(ROWS, st.sampled_from(["basic", "enhanced"]), st.booleans())
def test_what_is_searched_for_is_what_is_recounted_by_other_code(rows, kind, several) -> None:
    asked = Asked()
    asked.beta_kind = kind
    frame, who = framed(rows), np.unique([who for *_, who in rows], return_inverse=True)[1]
    people = who if several else None
    sought = Anonymity(
        2, alpha=0.6, beta=1.0, beta_kind=kind, delta_disclosure=1.5, max_average_risk=0.3
    )
    coded_people = None if people is None else people_of(people)
    classes = grouped(frame, ["job"]).keys
    reached = sought.reached(classes, frame["ill"], coded_people)
    names = {"beta_likeness": "beta"}
    entries = [
        *asked_entries(asked, "ill", False, ["job"], "people"),
        *asked_risks(asked, ["job"], "people"),
    ]
    secrets = numbered_secrets(frame["ill"])
    recounted = {e["key"]: measured_entry(e, frame, secrets, people) for e in entries}
    short = {e["key"]: short_of_asked(e, recounted[e["key"]]) for e in entries}
    for key, value in recounted.items():
        if key != "max_risk":
            assert value == pytest.approx(reached[names.get(key, key)])
    lacking = bool(sought.short_of(classes, frame["ill"], coded_people))
    assert lacking == any(wrong for key, wrong in short.items() if key != "max_risk")
    enough = sought.kept(classes, frame["ill"], coded_people)
    assert enough == (not any(short.values()))
    risks = reidentification(frame, ["job"], people=people)
    assert recounted["max_risk"] == pytest.approx(risks.prosecutor)
    assert recounted["average_risk"] == pytest.approx(risks.marketer)
    assert set(RISKS) <= set(recounted)


@given(ROWS)
def test_all_are_lost_and_never_won_when_classes_are_split(rows) -> None:
    frame = framed(rows).with_columns(sex=pl.Series([who % 2 for *_, who in rows]))
    asked = Anonymity(1, alpha=1, beta=1, delta_disclosure=1, max_average_risk=1)
    coarse = asked.reached(grouped(frame, ["job"]).keys, frame["ill"])
    fine = asked.reached(grouped(frame, ["job", "sex"]).keys, frame["ill"])
    for key in ("alpha", "beta", "delta_disclosure", "average_risk"):
        assert fine[key] >= coarse[key] - 1e-12


def test_the_words_say_what_is_lacking() -> None:
    frame = pl.DataFrame({"job": ["cook"] * 3 + ["judge"] * 3, "ill": list("yynnnn")})
    classes = grouped(frame, ["job"]).keys
    for asked, words in (
        (Anonymity(1, alpha=0.7), "alpha = 0.7 is asked for"),
        (Anonymity(1, beta=0.2), "basic beta = 0.2"),
        (Anonymity(1, beta=9, beta_kind="enhanced"), "enhanced beta = 9"),
        (Anonymity(1, delta_disclosure=2), "delta-disclosure below 2"),
        (Anonymity(1, max_average_risk=0.3), "average risk of 0.3"),
    ):
        found = asked.short_of(classes, frame["ill"])
        assert (words in found) == bool(found)
        assert found or words.startswith("enhanced")


@pytest.mark.parametrize(
    "asked",
    [
        {"alpha": 0},
        {"alpha": 1.2},
        {"beta": 0},
        {"beta_kind": "better"},
        {"delta_disclosure": -1},
        {"max_average_risk": 0},
    ],
)
def test_what_means_nothing_is_refused(asked) -> None:
    with pytest.raises(InputError, match=next(iter(asked))):
        Anonymity(2, **asked)


def test_a_risk_asks_for_so_many_people() -> None:
    assert [fewest_people(r) for r in (1, 0.5, 1 / 3, 0.2, 0.19)] == [1, 2, 3, 5, 6]
    with pytest.raises(InputError, match="max_risk"):
        fewest_people(0)
