"""What no release of a table can keep is refused before any search, and nothing else is."""

from __future__ import annotations

from itertools import chain, combinations, product
from typing import Any

import polars as pl
import pytest

from tamis import Attacker, Coarsener, Settings, Table, consider
from tamis.coarsen.search import coarsened
from tamis.coding import Coded
from tamis.datasets import patients
from tamis.errors import CannotMeet
from tamis.people import People
from tamis.require import requirements
from tamis.risk.attackers import as_one_group, refuse_out_of_reach, required_of
from tamis.risk.diversity import count_groups
from tamis.risk.grouping import Grouping

QUASI = ("zip", "birth_year", "sex", "job")


@pytest.fixture(scope="module")
def table() -> Table:
    return patients(rows=400).with_roles(sensitive=("ward", "hiv"), quasi=QUASI)


def never(*_: Any) -> None:
    raise AssertionError("a search was begun")


BEYOND = [
    ({"k": 4000}, "k = 4,000 needs 4,000 people alike, and the table has 400; k can be at most"),
    ({"l": 5}, "l = 5 needs 5 values of hiv in a group, and the table has 2; l can be at most 2"),
    ({"max_risk": 0.001}, "needs 1,000 people alike, .* max_risk can be at least 1/400"),
    ({"max_average_risk": 0.002}, "needs 500 people alike, .* can be at least 1/400"),
    ({"alpha": 0.45}, "alpha = 0.45 needs 3 values of hiv in a group, .* can be at least 1/2"),
    ({"l": 2, "l_kind": "entropy"}, "even with all people in one group, l = 2 .* has 1.* of hiv"),
]
"""What is asked, and why it cannot be had."""


@pytest.mark.parametrize(("asked", "words"), BEYOND)
def test_no_search_begins_for_what_no_release_can_keep(table, asked, words, monkeypatch):
    monkeypatch.setattr("tamis.flow.propose", never)
    monkeypatch.setattr("tamis.flow.scorecard", never)
    with pytest.raises(CannotMeet, match=f"no release can keep what is asked: .*{words}"):
        consider(table, Settings(**asked))
    boss = Attacker("boss", ["job"], ["hiv"], **asked)
    with pytest.raises(CannotMeet, match=f"boss: .*{words}"):
        consider(table, Settings(threats=(boss,)))
    monkeypatch.setattr("tamis.coarsen.search.full_domain", never)
    monkeypatch.setattr("tamis.coarsen.search.local_classes", never)
    alone = patients(rows=400).with_roles(quasi=QUASI)
    for search in ("exact", "local"):
        with pytest.raises(CannotMeet, match=words):
            coarsened(alone, None, requirements(**asked), search=search)
    with pytest.raises(CannotMeet, match=words.split(" of hiv")[0]):
        Coarsener(**asked).fit(alone)


def test_an_attacker_is_refused_for_the_secret_that_is_short(table):
    insurer = Attacker("insurer", ["job"], ["ward"], l=4)
    consider(table, Settings(threats=(insurer,), methods={"front": {}}))
    with pytest.raises(CannotMeet, match="insurer: l = 9 needs 9 values of ward"):
        consider(table, Settings(threats=(Attacker("insurer", ["job"], ["ward"], l=9),)))


@pytest.mark.filterwarnings("ignore:the synthetic rows were not found to teach more")
def test_synthetic_rows_are_not_refused_for_what_the_table_holds(table, monkeypatch):
    monkeypatch.setattr("tamis.flow.refuse_out_of_reach", never)
    bounds = {"visits": [0, 20], "readmitted": ["no", "yes"]}
    methods = {"dp": {"bounds": bounds}}
    consider(table, Settings(epsilon=1.0, methods=methods))


def test_as_much_as_all_people_reach_is_taken(table):
    asked = required_of(table, requirements(k=400, max_risk=1 / 400, l=2, alpha=0.5))
    everybody = as_one_group(table.people, table.frame)
    refuse_out_of_reach(asked, everybody, "people", all_stay=False)
    thirds = pl.DataFrame({"ill": ["flu", "cold", "none"]})
    asked = requirements(k=3, l=3, alpha=0.333333333).about((), "ill", number=False)
    everybody = as_one_group(People.of_rows(3), thirds)
    refuse_out_of_reach(asked, everybody, "rows", all_stay=True)


def parts(rows: int, classes: int):
    """Every way to put rows into classes."""
    return product(range(classes), repeat=rows)


def met_by_any(asked, ill: list[str], who: list[int], *, all_stay: bool) -> bool:
    """By trying every way to group the rows, of all people or of any who stay."""
    everyone = sorted(set(who))
    stays = (
        [everyone]
        if all_stay
        else chain.from_iterable(combinations(everyone, n) for n in range(1, len(everyone) + 1))
    )
    for some in stays:
        rows = [i for i, person in enumerate(who) if person in some]
        people = People.named(pl.Series([who[i] for i in rows]), len(rows))
        secrets = pl.Series([ill[i] for i in rows])
        for classes in parts(len(rows), 2):
            grouping = Grouping.of_classes(Coded(pl.Series(classes).to_numpy(), 2), people)
            if asked.met(count_groups(grouping, secrets)):
                return True
    return False


TABLES = [
    (["a", "a", "a", "b"], [0, 1, 2, 3]),
    (["a", "b", "a", "b"], [0, 0, 1, 1]),
    (["a", "a", "b", "b", "c"], [0, 0, 1, 2, 2]),
    (["a", "a"], [0, 1]),
]
ASKED: list[dict[str, Any]] = [
    {"k": 2},
    {"k": 3},
    {"k": 4},
    {"k": 1, "l": 2},
    {"k": 1, "l": 3},
    {"k": 1, "l": 2, "l_kind": "entropy"},
    {"k": 1, "l": 2, "l_kind": "recursive", "c": 2.0},
    {"k": 1, "alpha": 0.4},
    {"k": 1, "alpha": 0.5},
    {"k": 1, "alpha": 0.7},
    {"k": 1, "max_average_risk": 0.3},
    {"k": 1, "max_risk": 0.4},
    {"k": 2, "known_rows": 2},
    {"k": 3, "known_rows": 2},
    {"k": 1, "t": 0.0},
    {"k": 1, "beta": 0.1},
]


@pytest.mark.parametrize("all_stay", [True, False])
@pytest.mark.parametrize(("ill", "who"), TABLES)
def test_nothing_is_refused_that_some_groups_keep(ill, who, all_stay):
    refused = 0
    for asks in ASKED:
        asked = requirements(**asks).about((), "ill", number=False)
        people = People.named(pl.Series(who), len(who))
        everybody = as_one_group(people, pl.DataFrame({"ill": ill}))
        try:
            refuse_out_of_reach(asked, everybody, "people", all_stay=all_stay)
        except CannotMeet:
            refused += 1
            assert not met_by_any(asked, ill, who, all_stay=all_stay), asks
    assert refused


@pytest.mark.parametrize("who", [False, True], ids=["rows", "people"])
def test_behind_an_engine_all_rows_say_what_is_out_of_reach(engine, behind, who, monkeypatch):
    frame = pl.DataFrame(
        {
            "age": list(range(20, 60)),
            "who": [f"p{i // 2}" for i in range(40)],
            "ill": ["yes", "no"] * 20,
            "hiv": ["p"] + ["n"] * 39,
        }
    )
    roles = {"target": "ill", "sensitive": "hiv", "quasi": ("age",)}
    large = behind(engine, frame, **roles, **({"identifier": ("who",)} if who else {}))
    monkeypatch.setattr("tamis.flow.propose", never)
    words = "needs 21 people alike, and the table has 20" if who else "needs 41 rows alike"
    with pytest.raises(CannotMeet, match=words):
        consider(large, Settings(k=21 if who else 41))
    with pytest.raises(CannotMeet, match=r"l = 3 needs 3 values of hiv in a group, .* has 2"):
        consider(large, Settings(k=2, threats=(Attacker("boss", ["age"], l=3),)))
    if not who:
        with pytest.raises(CannotMeet, match=r"even with all rows in one group, alpha = 0.9 "):
            consider(large, Settings(k=2, alpha=0.9))
