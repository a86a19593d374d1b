"""The words and places that a page begins with."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tamis.analyse.attack_shares import AttackerRate
from tamis.analyse.examination import RuleDamage
from tamis.publication.report_parts import (
    SuccessRates,
    held,
    kept,
    rule_words,
    rules_words,
    strongest,
    tracks,
    usefulness,
)
from tests.publication.example_summary import attacker, example, rule
from tests.publication.records import Facts, analysis_of, record_of


def rate(facts: Facts) -> AttackerRate:
    found: AttackerRate = record_of(AttackerRate, facts)
    return found


def percent(text: str | None) -> float:
    assert text is not None
    return float(text.removesuffix("%"))


def test_usefulness_is_that_of_the_scorecard_and_else_of_the_candidates():
    summary = analysis_of(example())
    assert usefulness(summary) == SuccessRates(0.74486, 0.73835, 0.651)
    found = usefulness(replace(summary, measures=()))
    assert found is not None
    assert found.released == pytest.approx(0.74486)
    assert found.floor == 0.651


def test_every_column_either_leaves_or_stays_and_the_target_comes_last():
    columns = analysis_of(example()).columns
    leaving = kept(columns)
    assert leaving[-1].fate == "target"
    assert sorted(c.name for c in leaving + held(columns)) == sorted(c.name for c in columns)


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("lost", "can no longer be checked"),
        ("emptied", "No row of the release"),
        ("flipped", "another label: it was right 78.0% of the time and is now right 68.0%"),
        ("weakened", "less clearly: it was right 78.0%"),
        ("kept", "holds as before"),
    ],
)
def test_each_fate_of_a_rule_has_its_words(state, words):
    assert words in rule_words(record_of(RuleDamage, rule("a > 1 -> b=c", state, 0.1)))


def test_too_few_people_behind_a_rule_leave_its_shares_out():
    found = {**rule("a > 1 -> b=c", "weakened", 0.1), "share_after": None}
    words = rule_words(record_of(RuleDamage, found))
    assert words == "It still points to the same label, but less clearly."


def test_rules_are_counted_in_one_sentence_without_zeros():
    rules = analysis_of(example()).rules
    assert rules is not None
    assert rules_words(rules) == (
        "8 still hold, 1 is weaker, 1 points to another label and 2 can no longer be checked"
    )
    only = replace(rules, kept=12, weakened=0, flipped=0, lost=0)
    assert rules_words(only) == "12 still hold"


def test_marks_of_attackers_lie_on_one_line_in_the_order_of_their_values():
    marks, ticks = tracks([rate(attacker("a", 0.80, 0.70)), rate(attacker("b", 0.68, 0.75))])
    for mark in marks:
        for place in (mark.guessing, mark.everything, mark.released, mark.low, mark.high):
            assert 0 <= percent(place) <= 100
    assert percent(marks[0].released) < percent(marks[1].released) < percent(marks[0].everything)
    assert percent(marks[0].guessing) == percent(marks[1].guessing)
    assert [words for _, words in ticks] == ["65%", "70%", "75%", "80%"]


def test_no_attackers_have_no_marks():
    assert tracks([]) == ([], [])


def test_the_strongest_attacker_is_held_against_the_strongest_with_every_column():
    tree = {"name": "tree", "guessing": 0.7, "released": 0.79, "everything": 0.79}
    bayes = {"name": "bayes", "guessing": 0.7, "released": 0.75, "everything": 0.82}
    common = {"interval": None}
    first = rate(tree | common | {"strongest": True})
    second = rate(bayes | common | {"strongest": False})
    found = strongest([first, second])
    assert found is not None
    assert (found.released, found.everything) == (0.79, 0.82)
    first = replace(first, strongest_before=True)  # so the rows said that choose
    found = strongest([first, second])
    assert found is not None
    assert (found.released, found.everything) == (0.79, 0.79)
