"""What a few attackers reach: as they reach it, never of a few people, and for the holder alone."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tamis.analyse.attack_shares import (
    SLOW_LEARNERS,
    _facts,
    attacker_rates,
    finalist_facts,
    of_hundred_facts,
)
from tamis.analyse.examination import Examination, examine
from tamis.errors import InputError
from tamis.evaluate.figure import Figure
from tamis.publication.report_parts import finalists, hundred_rows
from tests.publication.example_summary import example
from tests.publication.records import analysis_of, checked, render


@pytest.fixture(scope="module")
def examined(outcome) -> Examination:
    return examine(outcome)


def test_the_facts_are_what_the_attackers_reach(examined):
    chosen, everything = examined.attacked
    facts = {each.attack: each for each in of_hundred_facts(examined)}
    assert facts["found"].everything == round(everything.found.success.value, 2)
    assert facts["guessed"].released == round(chosen.guessed.success.value, 2)
    assert facts["guessed"].guessing == round(chosen.guessed.guess, 2)


def test_no_figure_beside_the_strongest_attacker_is_of_a_stronger_one(outcome):
    closer = outcome.closer()
    secret = replace(
        closer.look.secret, accuracy=Figure(0.99), accuracy_of_all=0.995, accuracy_of_none=0.9
    )
    looked = replace(closer, look=replace(closer.look, secret=secret))
    *others, slow = attacker_rates(looked)
    assert max(each.released for each in others) < 0.99
    assert [each.strongest for each in (*others, slow)] == [False] * len(others) + [True]
    assert (slow.name, slow.released) == (f"{SLOW_LEARNERS} readmitted", 0.99)
    assert (slow.everything, slow.guessing) == (0.995, 0.9)
    weak = replace(looked.look, secret=replace(secret, accuracy=Figure(0.1)))
    (strongest,) = (each for each in attacker_rates(replace(looked, look=weak)) if each.strongest)
    assert strongest.released == max(each.released for each in others)


@pytest.mark.parametrize(
    ("share", "people", "shown"),
    [(0.0, 500, 0.0), (0.004, 500, None), (0.0099, 500, None), (0.01, 500, 0.01), (1.0, 5, 1.0)],
)
def test_a_share_of_fewer_than_k_people_is_not_told(share, people, shown):
    facts = _facts("found", (share, share, 0.0), (people, people), k=5)
    assert (facts.released, facts.everything) == (shown, shown)


def test_a_summary_that_tells_of_fewer_than_k_is_refused():
    summary = example()
    summary["of_hundred"][0] |= {"released": 0.01, "people": 100}
    with pytest.raises(InputError, match="of 100 stands for fewer than k"):
        checked(summary)


def test_dots_are_a_hundred_and_the_figure_counts_them():
    facts = _facts("guessed", (0.37, 1.0, 0.0), (500, 500), k=5)
    (row,) = hundred_rows([facts], 5, False)
    assert [(f.on.count("M"), f.off.count("M")) for f in row.fields] == [
        (37, 63),
        (100, 0),
        (0, 100),
    ]
    assert row.fields[0].words == "37 of 100, with this release"
    hidden = hundred_rows([replace(facts, released=None)], 5, False)[0].fields[0]
    assert (hidden.value, hidden.words) == ("<1", "fewer than 1 of 100, with this release")


def test_the_holder_sees_it_and_the_recipient_does_not(published):
    assert 'id="of-hundred"' in (published / "private" / "report.html").read_text()
    assert 'id="of-hundred"' not in (published / "report.html").read_text()
    assert "of_hundred" not in (published / "manifest.json").read_text()
    assert json.loads((published / "private" / "summary.json").read_text())["of_hundred"]


def test_without_attacks_there_is_no_such_part():
    assert 'id="of-hundred"' not in render({**example(), "of_hundred": []})
    assert "names the true value" in render(example())


def test_a_figure_has_no_more_than_hundredths():
    facts = _facts("found", (0.123456, 0.98765, 0.0003), (500, 500), k=5)
    assert (facts.released, facts.everything, facts.guessing) == (0.12, 0.99, 0.0)


def test_the_releases_that_came_next_are_attacked(examined):
    decision = examined.outcome.decision
    names = [row.release.name for row in decision.runners_up(3)]
    assert list(examined.attacked_finalists) == names
    ends = {decision.chosen.release.name, "everything", "nothing"}
    assert set(names) <= {row.release.name for row in decision.front} - ends
    for facts in finalist_facts(examined):
        attack = examined.attacked_finalists[facts.name]
        assert facts.people == (attack.found.people, attack.guessed.people)
        assert facts.guessed in (None, round(attack.guessed.success.value, 2))


def with_finalist(**changes):
    summary = example()
    name = next(c["name"] for c in summary["candidates"] if not (c["chosen"] or c["baseline"]))
    facts = {"name": name, "found": None, "guessed": 0.74, "people": (200, 100), **changes}
    return name, {**summary, "finalists": [facts]}


def test_the_page_shows_them_below_the_chosen_one():
    name, summary = with_finalist()
    rows = finalists(analysis_of(summary))
    assert [(row.name == name, row.chosen) for row in rows] == [(False, True), (True, False)]
    assert (rows[0].found, rows[0].guessed) == ("<2", "71")
    assert (rows[1].found, rows[1].guessed) == ("<3", "74")
    assert "The releases that came next" in render(summary)
    assert "The releases that came next" not in render(summary, "recipient")
    assert "The releases that came next" not in render(example())


def test_a_finalist_that_nobody_was_tried_on_shows_a_dash():
    _, summary = with_finalist(guessed=None, people=(200, 0))
    assert finalists(analysis_of(summary))[1].guessed == "-"


def test_a_finalist_that_tells_of_fewer_than_k_is_refused():
    _, summary = with_finalist(found=0.01, people=(100, 100))
    with pytest.raises(InputError, match="of 100 stands for fewer than k"):
        checked(summary)
