"""Requirements and the verifier agree on random tables, though neither knows the other's code."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tamis.people import People
from tamis.require import OF_GROUPS, requirements
from tamis.require.base import Requirement
from tamis.risk.anonymity import k_anonymity, reidentification
from tamis.risk.grouping import grouped
from tamis.stated import OF_GROUPS_STATED, STATED, sentence, short_of_asked
from tamis.verification.secret_groups import measured_entry, numbered_secrets
from tests.require.plain import counts_of

VALUES = st.sampled_from([1.0, 2.0, 5.0, 9.0, None])
ROWS = st.lists(
    st.tuples(st.sampled_from("abc"), VALUES, st.integers(0, 9)), min_size=1, max_size=30
)
ASKED: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "k": st.fixed_dictionaries({"k": st.integers(1, 4)}),
    "l": st.fixed_dictionaries(
        {
            "l": st.integers(2, 4),
            "l_kind": st.sampled_from(["distinct", "entropy", "recursive"]),
            "c": st.sampled_from([0.5, 1.0, 2.0, 3.0]),
        }
    ),
    "t": st.fixed_dictionaries(
        {
            "t": st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0]),
            "t_distance": st.sampled_from([None, "equal", "ordered"]),
        }
    ),
    "alpha": st.fixed_dictionaries({"alpha": st.sampled_from([0.4, 0.5, 0.75, 1.0])}),
    "beta": st.fixed_dictionaries(
        {
            "beta": st.sampled_from([0.2, 1.0, 3.0]),
            "beta_kind": st.sampled_from(["basic", "enhanced"]),
        }
    ),
    "delta_disclosure": st.fixed_dictionaries(
        {"delta_disclosure": st.sampled_from([0.3, 0.7, 1.5])}
    ),
    "max_risk": st.fixed_dictionaries({"max_risk": st.sampled_from([0.2, 0.34, 0.5, 1.0])}),
    "max_average_risk": st.fixed_dictionaries(
        {"max_average_risk": st.sampled_from([0.2, 0.34, 0.5, 1.0])}
    ),
    "known_rows": st.fixed_dictionaries({"known_rows": st.integers(1, 3), "k": st.integers(1, 4)}),
}
"""What to ask of each requirement, by the parameter that asks for it."""


def test_every_requirement_is_asked_here_and_stated_somewhere():
    assert sorted(ASKED) == sorted(kind.options[0].dest for kind in OF_GROUPS)
    assert {kind.key for kind in OF_GROUPS} == {"k_anonymity", *OF_GROUPS_STATED}


def recounted(entry: dict[str, Any], frame: pl.DataFrame, people: Any) -> float:
    if entry["key"] == "k_anonymity":
        return k_anonymity(frame, entry["columns"], people=people)
    return measured_entry(entry, frame, numbered_secrets(frame["ill"]), people)


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("numeric", [True, False], ids=["numbers", "texts"])
@given(st.data(), ROWS, st.booleans())
def test_what_is_searched_for_is_what_is_recounted(name, numeric, data, rows, several):
    given_values = data.draw(ASKED[name])
    frame = pl.DataFrame(rows, schema={"job": pl.String, "ill": pl.Float64, "who": pl.Int64},
                         orient="row")  # fmt: skip
    if not numeric:
        frame = frame.with_columns(pl.col("ill").cast(pl.String))
    who = np.unique(frame["who"].to_numpy(), return_inverse=True)[1]
    people = who if several else None
    asked = requirements(**({"k": 1} | given_values))
    (one,) = [each for each in asked if each.name == name]
    check(one.about(["job"], "ill", number=numeric), frame, people)


def check(asked: Requirement, frame: pl.DataFrame, people: Any) -> None:
    coded = None if people is None else People.named(people, frame.height)
    counts = counts_of(grouped(frame, ["job"]).keys, frame["ill"], coded)
    entry, reached = asked.to_dict("people"), asked.reached(counts)
    by_verifier = recounted(entry, frame, people)
    assert reached == pytest.approx(by_verifier, abs=1e-12)
    assert bool(asked.is_short(reached)) == short_of_asked(entry, by_verifier)
    if asked.by_group:
        assert bool(asked.breaking(counts).any()) == bool(asked.is_short(reached))
    assert entry["claim"] == sentence(entry)
    assert {each.removesuffix("?") for each in STATED[asked.key].figures} >= set(
        asked.stated()
    ) - set(STATED[asked.key].choices)


@given(ROWS, st.booleans())
@example([("a", None, 0)], True)
def test_risks_are_those_of_the_audit(rows, several):
    frame = pl.DataFrame(rows, schema={"job": pl.String, "ill": pl.Float64, "who": pl.Int64},
                         orient="row")  # fmt: skip
    people = np.unique(frame["who"].to_numpy(), return_inverse=True)[1] if several else None
    coded = None if people is None else People.named(people, frame.height)
    counts = counts_of(grouped(frame, ["job"]).keys, None, coded)
    found = requirements(1, max_risk=0.5, max_average_risk=0.5).reached(counts)
    risks = reidentification(frame, ["job"], people=people)
    assert found["max_risk"] == pytest.approx(risks.prosecutor)
    assert found["max_average_risk"] == pytest.approx(risks.marketer)
