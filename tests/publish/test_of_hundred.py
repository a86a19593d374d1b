"""Of 100 people: what is shown, what is not, and to whom."""

from __future__ import annotations

import json

import pytest

from tamis.errors import InputError
from tamis.publish.of_hundred import _facts, hundred_rows, of_hundred_facts
from tamis.publish.report import render
from tamis.publish.summary_checks import checked
from tests.publish.example_summary import example


def test_the_facts_are_what_the_attackers_reach(outcome):
    chosen, everything = outcome.attacked
    facts = {each["attack"]: each for each in of_hundred_facts(outcome)}
    assert facts["found"]["everything"] == round(everything.found.success.value, 2)
    assert facts["guessed"]["released"] == round(chosen.guessed.success.value, 2)
    assert facts["guessed"]["guessing"] == round(chosen.guessed.guess, 2)


@pytest.mark.parametrize(
    ("share", "people", "shown"),
    [(0.0, 500, 0.0), (0.004, 500, None), (0.0099, 500, None), (0.01, 500, 0.01), (1.0, 5, 1.0)],
)
def test_a_share_of_fewer_than_k_people_is_not_told(share, people, shown):
    facts = _facts("found", (share, share, 0.0), (people, people), k=5)
    assert (facts["released"], facts["everything"]) == (shown, shown)


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
    hidden = hundred_rows([{**facts, "released": None}], 5, False)[0].fields[0]
    assert (hidden.value, hidden.words) == ("<1", "fewer than 1 of 100, with this release")


def test_the_holder_sees_it_and_the_recipient_does_not(published):
    assert 'id="of-hundred"' in (published / "private" / "report.html").read_text()
    assert "of-hundred" not in (published / "report.html").read_text()
    assert "of_hundred" not in (published / "manifest.json").read_text()
    assert json.loads((published / "private" / "summary.json").read_text())["of_hundred"]


def test_without_attacks_there_is_no_such_part():
    assert "of-hundred" not in render({**example(), "of_hundred": []})
    assert "names the true value" in render(example())


def test_a_figure_has_no_more_than_hundredths():
    facts = _facts("found", (0.123456, 0.98765, 0.0003), (500, 500), k=5)
    assert list(facts.values())[2:] == [0.12, 0.99, 0.0]
