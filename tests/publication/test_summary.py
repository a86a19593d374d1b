"""A summary that is whole passes; one that is not is refused with the reason."""

from __future__ import annotations

import copy
import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from tamis.analyse import Analysis
from tamis.errors import InputError
from tamis.publication import report
from tests.publication.example_summary import TABLE_6, WEIGHTS, example
from tests.publication.records import analysis_of, checked


def test_the_example_is_whole():
    analysis = analysis_of(example())
    assert report.checked(analysis) is analysis


def test_records_have_all_that_the_summary_has(published: Path, analysis: Analysis):
    """Each part, in the order in which it is written; and nothing that JSON would change."""
    text = (published / "private" / "summary.json").read_text(encoding="utf-8")
    written = json.loads(text)
    assert json.dumps(analysis_of(written).to_dict()) == json.dumps(written)
    assert {key for key, part in analysis.to_dict().items() if part != written[key]} <= {
        *("made", "table", "promises", "not_promised", "recipe"),
    }


def test_what_says_nothing_of_recipients_is_the_holders_alone(analysis: Analysis):
    seen = analysis.seen_by("recipient")
    for each in fields(Analysis):
        kind, part = str(each.type), getattr(analysis, each.name)
        first = part[0] if isinstance(part, tuple) and part else part
        if not each.metadata.get("shared") and not hasattr(first, "for_recipient"):
            assert not getattr(seen, each.name), f"{each.name}: {kind}"
    assert seen.candidates
    assert not seen.methods


@pytest.mark.parametrize("column", range(3))
def test_the_example_has_the_scores_of_table_6(column):
    printed = [float(line.split()[column]) for line in TABLE_6.strip().splitlines()]
    scores = [c["score"] for c in example(WEIGHTS[column])["candidates"]]
    assert scores == pytest.approx(printed, abs=1e-9)


def broken(path: list[Any], value: object) -> Any:
    """The example with one thing replaced."""
    summary: Any = copy.deepcopy(example())
    part = summary
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = value
    return summary


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (["table", "rows"], float("nan"), "JSON"),
        (["table", "name"], b"pima", "JSON"),
        (["candidates", 6, "chosen"], False, "one chosen release, got 0"),
        (["candidates", 1, "chosen"], True, "one chosen release, got 2"),
        (["candidates", 0, "baseline"], False, "one baseline, got 0"),
        (["candidates", 6, "fails"], ["k below 5"], "breaks a limit"),
        (["candidates", 2, "name"], "plasma + mass", "'plasma [+] mass'"),
        (["candidates", 2, "values"], {}, "lacks a value for 'pbi', 'performance', 'size'"),
        (["bits"], None, "kept and told"),
        (["bits", "winners", 0, "candidate"], 1, "breaks a limit wins"),
        (["bits", "caution"], 0.333, "the slider"),
        (["close_look", "target", "group", "people"], 4, "fewer than k = 5"),
        (["factors"], [], "no factor has a weight"),
        (["classes", "bins", 0, "before"], 4, "fewer than k = 5"),
        (["classes", "smallest_after"], 4, "fewer than k = 5"),
        (["rules", "worst_first", 3, "support_after"], 2 / 768, "fewer than k = 5"),
        (["same_sensitive"], {"groups": 1, "of": 9, "members": 4}, "that the file does not reveal"),
        (["exposure", "rows"], {}, "that the file does not reveal"),
    ],
)
def test_what_is_wrong_is_named(path, value, words):
    with pytest.raises(InputError, match=words):
        checked(broken(path, value))


def test_a_class_bin_of_nobody_and_a_support_of_nobody_are_fine():
    checked(broken(["classes", "bins", 0, "before"], 0))
    checked(broken(["rules", "worst_first", 3, "support_after"], 0.0))
