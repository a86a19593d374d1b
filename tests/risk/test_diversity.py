"""l-diversity: the worked example and the edges; alpha, beta and delta by their definitions."""

from __future__ import annotations

import math
from collections import defaultdict
from math import inf, log

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.errors import InputError
from tamis.require import requirements
from tamis.require.k import AverageRisk, MaxRisk
from tamis.risk.diversity import LDiversity, count_groups, l_diversity, likeness, t_closeness
from tamis.risk.grouping import grouped, scope
from tests.require.plain import counts_of

# The 3-diverse inpatient table of Machanavajjhala et al. 2007, figure 3.
INPATIENTS = pl.DataFrame(
    {
        "zip": ["1305*"] * 4 + ["1485*"] * 4 + ["1306*"] * 4,
        "age": ["<= 40"] * 4 + ["> 40"] * 4 + ["<= 40"] * 4,
        "condition": ["heart", "viral", "cancer", "cancer"]
        + ["cancer", "heart", "viral", "viral"]
        + ["heart", "viral", "cancer", "cancer"],
    }
)
ROWS = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(["u", "v", "w", None]), st.integers(0, 9)),
    min_size=1,
    max_size=30,
)


def test_worked_example():
    found = l_diversity(INPATIENTS, "condition")
    assert found.distinct == 3
    assert found.entropy == pytest.approx(2**1.5)
    assert (found.recursive_c, found.recursive_l) == (2.0, 3)
    assert l_diversity(INPATIENTS, "condition", recursive_l=2).recursive_c == 1.0


def test_a_pure_class_leaves_exactly_one_value():
    frame = pl.DataFrame({"job": ["cook"] * 7, "ill": ["flu"] * 7})
    assert l_diversity(frame, "ill") == LDiversity(1, 1.0, 1.0, 1)


def test_a_class_with_too_few_values_is_never_diverse():
    assert l_diversity(INPATIENTS, "condition", recursive_l=4).recursive_c == math.inf


def test_wrong_l():
    with pytest.raises(InputError, match="at least 1, got 0"):
        l_diversity(INPATIENTS, "condition", recursive_l=0)


# The salaries of Li, Li and Venkatasubramanian 2007, section 3: thousands, three classes.
SALARIES = pl.DataFrame(
    {"zip": ["476**"] * 3 + ["4790*"] * 3 + ["4760*"] * 3, "salary": [3, 4, 5, 6, 11, 8, 7, 9, 10]}
)


def test_worked_example_of_closeness():
    assert t_closeness(SALARIES, "salary") == pytest.approx(0.375)
    merged = SALARIES.with_columns(pl.col("zip").replace("476**", "4760*"))
    assert t_closeness(merged, "salary") == pytest.approx(1 / 6)  # the paper prints 0.167


def test_one_class_is_like_the_whole_table():
    frame = SALARIES.with_columns(zip=pl.lit("*"))
    assert t_closeness(frame, "salary") == pytest.approx(0, abs=1e-15)
    assert t_closeness(frame, "salary", distance="equal") == 0


def test_one_sensitive_value_tells_nothing():
    assert t_closeness(SALARIES.with_columns(salary=1), "salary") == 0
    assert t_closeness(SALARIES.with_columns(salary=pl.lit(None, pl.Int64)), "salary") == 0


def test_two_values_are_as_far_apart_either_way():
    frame = SALARIES.with_columns(salary=pl.col("salary") > 5)
    as_number = frame.with_columns(pl.col("salary").cast(pl.Int8))
    assert t_closeness(frame, "salary") == pytest.approx(t_closeness(as_number, "salary"))


@pytest.mark.parametrize("sign", [1, -1])
def test_missing_stands_at_the_end_that_tells_more(sign):
    frame = pl.DataFrame({"job": ["cook", "cook", "judge"], "pay": [None, sign * 9, sign]})
    # With missing next to the judge's pay it would lie in the middle, and t would be 1/3.
    assert t_closeness(frame, "pay") == pytest.approx(0.5)


def test_many_values_need_no_matrix_of_classes_by_values():
    rows = 200_000
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"class": rng.permutation(rows) // 2, "pay": rng.normal(size=rows)})
    assert 0.49 < t_closeness(frame, "pay") <= 0.5


def test_wrong_distances():
    with pytest.raises(InputError, match="'equal', 'ordered' or None"):
        t_closeness(SALARIES, "salary", distance="euclid")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="column 'zip' is nominal"):
        t_closeness(SALARIES, "zip", distance="ordered")


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


@given(ROWS)
def test_all_are_lost_and_never_won_when_classes_are_split(rows) -> None:
    frame = framed(rows).with_columns(sex=pl.Series([who % 2 for *_, who in rows]))
    asked = requirements(1, alpha=1, beta=1, delta_disclosure=1, max_average_risk=1)
    coarse = asked.reached(counts_of(grouped(frame, ["job"]).keys, frame["ill"]))
    fine = asked.reached(counts_of(grouped(frame, ["job", "sex"]).keys, frame["ill"]))
    for key in ("alpha", "beta", "delta_disclosure", "max_average_risk"):
        assert fine[key] >= coarse[key] - 1e-12


def test_the_words_say_what_is_lacking() -> None:
    frame = pl.DataFrame({"job": ["cook"] * 3 + ["judge"] * 3, "ill": list("yynnnn")})
    counts = counts_of(grouped(frame, ["job"]).keys, frame["ill"])
    for asked, words in (
        (requirements(1, alpha=0.7), "alpha = 0.7 is asked for"),
        (requirements(1, beta=0.2), "basic beta = 0.2"),
        (requirements(1, beta=9, beta_kind="enhanced"), "enhanced beta = 9"),
        (requirements(1, delta_disclosure=2), "delta-disclosure below 2"),
        (requirements(1, max_average_risk=0.3), "average risk of 0.3"),
    ):
        found = asked.short_of(counts)
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
        requirements(2, **asked)


def test_a_risk_asks_for_so_many_people() -> None:
    assert [MaxRisk(r).fewest_people for r in (1, 0.5, 1 / 3, 0.2, 0.19)] == [1, 2, 3, 5, 6]
    with pytest.raises(InputError, match="max_risk"):
        MaxRisk(0)


def test_the_average_risk_is_of_people_each_by_their_rarest_row() -> None:
    frame = pl.DataFrame({"job": ["cook", "cook", "cook", "judge"]})
    each_row = count_groups(scope(frame, ["job"]).grouped())
    assert AverageRisk(1.0).reached(each_row) == pytest.approx((3 / 3 + 1) / 4)
    twice = scope(frame, ["job"], people=["ann", "bob", "eve", "ann"]).grouped()
    # Ann, the only judge, is found for certain, although she also is one of three cooks.
    assert AverageRisk(1.0).reached(count_groups(twice)) == pytest.approx((1 + 1 / 3 + 1 / 3) / 3)
