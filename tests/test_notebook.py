"""What records show of themselves: short, without a cell, and never as a script."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import (
    RuleSet,
    Settings,
    binarise,
    coarsened,
    consider,
    exposure,
    ladders_of,
    mine_rules,
    retention,
)
from tamis.catalogue.measures import MEASURES
from tamis.charts import Picture
from tamis.errors import TamisWarning
from tamis.notebook import html_table, in_short
from tamis.rules.rule import Between
from tamis.table import Roles, Table

LONGEST = 200
EVIL = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def table():
    """Cells that nothing else could say, and a column whose name is a script."""
    rng = np.random.default_rng(5)
    ill = rng.random(240) < 0.5
    frame = pl.DataFrame(
        {
            EVIL: 70654321 + 1000 * (rng.integers(0, 6, 240) + 3 * ill),
            "job": np.where(rng.random(240) < 0.2 + 0.5 * ill, "xyzzycook", "xyzzyjudge"),
            "town": rng.choice(["xyzzyrome", "xyzzyoslo"], 240),
            "ill": np.where(ill, "xyzzyyes", "xyzzyno"),
        }
    )
    return Table(frame, Roles(target="ill", sensitive="town", quasi=("job",), person=()))


@pytest.fixture(scope="module")
def outcome(table):
    asked = Settings(methods={"front": {}}, attackers=("nb",), allow_useless=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TamisWarning)
        return consider(table, asked)


@pytest.fixture(scope="module")
def records(table, outcome):
    """What people have in their hands."""
    rules = mine_rules(table)
    release = outcome.decision.chosen.release
    return {
        "outcome": outcome,
        "settings": outcome.settings,
        "rules": rules,
        "exposure": exposure(table),
        "binary": binarise(table),
        "ladders": list(ladders_of(table).values()),
        "coarse": coarsened(table),
        "retention": retention(rules, table, release.table),
    }


def everything(record: Any, seen: dict[int, Any]) -> Iterator[Any]:
    """All records of the package that can be reached from one."""
    if id(record) in seen:
        return
    seen[id(record)] = record
    inside: Any = ()
    if type(record).__module__.startswith("tamis"):
        yield record
        inside = vars(record).values() if hasattr(record, "__dict__") else ()
    elif isinstance(record, dict):
        inside = record.values()
    elif isinstance(record, list | tuple):
        inside = record
    for each in list(inside):
        yield from everything(each, seen)


def test_every_record_is_short_and_shows_no_cell(records):
    found = list(everything(records, {}))
    assert len({type(record) for record in found}) > 40
    # A bound is no value, and what somebody who holds a condition wants to see.
    lines = {type(r): repr(r) for r in found if not isinstance(r, Between)}
    told = re.compile("xyzzy|7065|\\n")
    assert {
        kind for kind, line in lines.items() if len(line) > LONGEST or told.search(line)
    } == set()


def test_the_lines_say_what_matters(table, outcome, records):
    assert repr(table) == "<Table: 240 rows, 2 features, target 'ill', sensitive 'town'>"
    assert repr(outcome.decision).startswith("<Decision: ")
    assert repr(Settings()) == "<Settings: as usual>"
    assert repr(Settings(k=9, seed=4)) == "<Settings: k 9>"
    assert "240 of 240 rows" in repr(records["coarse"])
    rules = RuleSet.parse("a > 1 -> ill=yes")
    assert repr(rules) == "<RuleSet: 1 rule, target 'ill', over 1 column>"


@given(st.text(max_size=300))
def test_no_name_makes_a_line_long_or_breaks_it(name):
    frame = pl.DataFrame({"x": [1], f"n{name}": [2]})
    line = repr(Table(frame, Roles(target=f"n{name}")))
    assert len(line) <= LONGEST
    assert line.isprintable()


def pages(records) -> dict[str, str]:
    outcome = records["outcome"]
    shown = {
        "table": outcome.table,
        "outcome": outcome,
        "decision": outcome.decision,
        "scorecard": outcome.decision.scorecard,
        "exposure": records["exposure"],
        "rules": records["rules"],
    }
    return {name: record._repr_html_() for name, record in shown.items()}


def test_pages_are_well_formed_and_escaped(records):
    for name, page in pages(records).items():
        ElementTree.fromstring(page)
        assert "<script" not in page, name
        if name != "rules":  # whose conditions are about values
            assert "xyzzy" not in page, name
    assert "&lt;script&gt;" in pages(records)["table"]


def test_a_table_shows_roles_kinds_and_what_is_missing(table):
    holes = replace(table, frame=table.frame.with_columns(job=pl.lit(None, pl.String)))
    page = re.sub("<[^>]+>", "|", holes._repr_html_())
    words = re.sub(r"\|+", "|", page)
    assert "|job|quasi-identifier|nominal|240|" in words
    assert "|town|sensitive|nominal|0|" in words
    assert "|ill|target|nominal|0|" in words


def test_a_decision_says_what_was_chosen_and_why_not_others(outcome):
    page = outcome.decision._repr_html_()
    assert page.count("chosen") == 1
    for failures in outcome.decision.failures.values():
        assert failures[0].short.split("<")[0] in page


def test_long_tables_are_cut_and_say_so():
    page = html_table("a", ["b"], [[i] for i in range(100)])
    assert page.count("<tr>") == 61
    assert "and 40 more" in page


def test_a_scorecard_becomes_a_frame(outcome):
    card = outcome.decision.scorecard
    frame = card.to_frame()
    assert frame.columns == ["release", "columns", *MEASURES]
    assert frame["release"].to_list()[:2] == ["everything", "nothing"]
    assert frame.height == len(card.candidates) + 2
    for line, row in zip(frame.iter_rows(named=True), (card.baseline, card.floor)):
        assert line["columns"] == list(row.release.features)
        assert {name: line[name] for name in MEASURES} == {
            name: row.value(name) for name in MEASURES
        }
    chosen = card.to_frame("choose", intervals=True)
    assert chosen["kept"].to_list()[0] == card.baseline.value_for_choice("kept")
    figure = card.baseline.for_choice["performance"]
    assert figure is not None
    assert chosen.row(0, named=True)["performance_high"] == figure.high


def pictures(records) -> dict[str, Picture]:
    decision, table = records["outcome"].decision, records["outcome"].table
    return {
        "front": decision.plot(),
        "weights": decision.plot("weights"),
        "scorecard": decision.scorecard.plot(),
        "classes": records["exposure"].plot(),
        "retention": records["retention"].plot(),
        "ladder": records["ladders"][0].plot(table.frame["job"]),
    }


def test_pictures_are_svg_without_scripts(records, tmp_path):
    for name, picture in pictures(records).items():
        svg = picture._repr_svg_()
        ElementTree.fromstring(svg)
        assert "<script" not in svg
        picture.save(tmp_path / f"{name}.svg")
        assert (tmp_path / f"{name}.svg").read_text(encoding="utf-8") == svg
        assert repr(picture).startswith("<Picture: ")


def test_the_front_has_a_mark_for_every_release_and_a_ring_for_the_chosen_one(outcome):
    svg = outcome.decision.plot().svg()
    card = outcome.decision.scorecard
    forbidden = len(outcome.decision.failures)
    assert svg.count("<title>") - 1 == len(card.rows) + 1 - forbidden
    assert svg.count('r="9"') == 1


def test_no_dot_of_the_front_covers_another(outcome):
    svg = outcome.decision.plot().svg()
    marks = re.findall(r'cx="([\d.]+)" cy="([\d.]+)" r="4.5"[^>]*><title>', svg)
    dots = [(float(x), float(y)) for x, y in marks]
    assert len(dots) > 3
    assert min(math.dist(a, b) for a, b in combinations(dots, 2)) >= 9


def test_the_longest_bar_of_the_classes_fills_its_track():
    found = exposure(pl.DataFrame({"a": [1, 2, 2, 3, 3, 4, 4]}))
    widths = [float(w) for w in re.findall(r'width="([\d.]+)" height="18"', found.plot().svg())]
    assert max(widths) == 300
    assert min(widths) == pytest.approx(50)


def test_groups_of_few_rows_have_no_name_in_the_picture_of_a_ladder():
    jobs = pl.Series("job", ["cook"] * 9 + ["bard"] * 2)
    ladder = ladders_of(Table(pl.DataFrame({"job": jobs, "y": [0, 1] * 5 + [0]}), Roles("y")))[
        "job"
    ]
    svg = ladder.plot(jobs, least=5).svg()
    assert "bard" not in svg


def test_facts_that_are_not_there_are_left_out():
    assert in_short("", "a", None, "") == "<str: a>"
