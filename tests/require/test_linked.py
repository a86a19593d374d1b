"""Rows of a person that are released together: everything counts people by all of their rows."""

from __future__ import annotations

import json
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tamis import Roles, Settings, Table, consider, publish, verify
from tamis.attack.sources import published_table, shown_together
from tamis.coding import Coded
from tamis.datasets import stays
from tamis.errors import CannotMeet, InputError
from tamis.people import People
from tamis.require import requirements
from tamis.require.attacker import Attacker
from tamis.risk.attackers import are_kept
from tamis.risk.grouping import fewest_alike, grouped, seen_together
from tamis.risk.suppression import breaking_attackers, rows_left
from tamis.rows.memory_only import unverified_by_engines
from tamis.verification.checks import equals_by_grouping, measure, recounted
from tamis.verification.layout import NAME, PRIVATE, read_json
from tamis.verification.people import wrong_link
from tamis.verification.secret_groups import measured_entry, risk_of_rows, secret_groups
from tamis.verification.shape import contradiction, in_place

ROWS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 2), st.integers(0, 1)), min_size=1,
                max_size=18)  # fmt: skip
USUAL: dict[str, Any] = {"front": {}, "coarsen": {}}


def lists_of(rows: list[tuple[int, ...]]) -> dict[int, Counter[tuple[int, ...]]]:
    """What each person has in all rows."""
    owned: dict[int, Counter[tuple[int, ...]]] = {}
    for who, *cells in rows:
        owned.setdefault(who, Counter())[tuple(cells)] += 1
    return owned


def people_of(rows: list[tuple[int, ...]]) -> People:
    return People.named(np.array([row[0] for row in rows]), len(rows)).linked()


@given(ROWS)
def test_people_are_alike_whose_rows_are_all_alike(rows: list[tuple[int, ...]]) -> None:
    owned, people = lists_of(rows), people_of(rows)
    cells = pl.DataFrame([row[1:] for row in rows], schema=["a", "b"], orient="row")
    same = Counter(frozenset(each.items()) for each in owned.values())
    wanted = min(same.values())
    found = grouped(cells, ["a", "b"], people)
    assert found.k_anonymity == wanted
    assert equals_by_grouping(cells, people) == wanted
    assert risk_of_rows(cells, "largest", people, len(rows)) == pytest.approx(1 / wanted)
    alone = sum(n for n in same.values() if n == 1)
    assert found.unique_people == alone
    label = cells.with_columns(target=pl.Series(["x"] * len(rows)))
    assert recounted(label, ["a", "b"], "equal", "target", people)["known"] == {
        "k": wanted,
        "unique": alone,
    }


@given(ROWS)
def test_each_row_stays_apart_in_the_rows_of_its_person(rows: list[tuple[int, ...]]) -> None:
    owned, people = lists_of(rows), people_of(rows)
    row_class = np.unique([row[1:] for row in rows], axis=0, return_inverse=True)[1].reshape(-1)
    classes = seen_together(Coded(row_class, int(row_class.max()) + 1), people).codes
    key = [(frozenset(owned[row[0]].items()), row[1:]) for row in rows]
    for i in range(len(rows)):
        for j in range(i):
            assert (classes[i] == classes[j]) == (key[i] == key[j])
    secret = np.array([row[0] % 2 + 1 for row in rows])
    cells = pl.DataFrame([row[1:] for row in rows], schema=["a", "b"], orient="row")
    # Whoever is looked for may have a secret in any row, so all that people alike have counts, too.
    lists = [kind for kind, _ in key] if not people.each_row else []
    wanted = Counter(
        len({row[0] for row, other in zip(rows, each) if other == kind})
        for each in (key, lists)
        for kind in set(each)
    )
    assert Counter(group.people for group in secret_groups(cells, secret, people)) == wanted


@given(ROWS)
@example([(0, 0, 0), (1, 0, 0), (1, 0, 0)])
@example([(0, 0, 0), (0, 0, 0)])
def test_without_any_column_people_are_alike_by_how_many_rows_they_have(
    rows: list[tuple[int, ...]],
) -> None:
    people, frame = people_of(rows), pl.DataFrame({"y": ["no"] * len(rows)})
    had = Counter(Counter(row[0] for row in rows).values())
    wanted = min(had.values())
    entry = {"key": "k_anonymity", "columns": []}
    assert measure(entry, frame, people) == wanted
    assert recounted(frame, [], "equal", "y", people)["known"]["k"] == wanted
    assert risk_of_rows(pl.DataFrame(height=len(rows)), "largest", people, len(rows)) == 1 / wanted
    for k in (wanted, wanted + 1):
        assert are_kept(requirements(k), [], people, frame) == (k == wanted)
    unlinked = People.named(people.codes, len(rows))
    assert measure(entry, frame, unlinked) == len({row[0] for row in rows})


def test_a_secret_that_everybody_alike_has_in_some_row_is_shared() -> None:
    # Two wards each, ill in one of them: nobody is surely ill in a ward, and everybody is ill.
    wards, ill = ["A", "B"] * 4, [1, 0, 0, 1] * 2
    people = People.of(np.repeat(np.arange(4), 2)).linked()
    known = [("ward", Coded(np.array([0, 1] * 4), 2))]
    secrets = pl.DataFrame({"ill": ill})
    for share in (0.5, 1.0):
        asked = requirements(2, alpha=share).about(["ward"], "ill", number=True)
        plain = People.named(people.codes, len(ill))
        assert are_kept(asked, known, plain, secrets)
        assert are_kept(asked, known, people, secrets) == (share == 1.0)
        left = rows_left(len(ill), breaking_attackers(known, asked, secrets, people), people)
        assert left.all() == (share == 1.0)
    cells, entry = pl.DataFrame({"ward": wards}), {"key": "alpha", "columns": ["ward"]}
    assert measured_entry(entry, cells, np.array(ill) + 1, people) == 1.0
    assert measured_entry(entry, cells, np.array(ill) + 1, people.codes) == 0.5


def by_visits(rows: int = 500) -> Table:
    """What is known finds everybody, and one person comes nine times."""
    draw = np.random.default_rng(8)
    who = [*range(rows), *range(rows, rows + 100), *range(rows, rows + 100), *[rows + 100] * 9]
    x = draw.integers(0, 3, len(who))
    frame = pl.DataFrame(
        {
            "who": [f"P{each}" for each in who],
            "town": [f"town {each}" for each in who],
            "x": x,
            "ill": ((x > 1) ^ (draw.random(len(who)) < 0.1)).astype(np.int64),
        }
    )
    return Table(frame, Roles(target="ill", identifiers=("who",), quasi=("town",)))


def test_how_many_rows_a_person_has_is_seen_where_nothing_known_is_released(tmp_path: Path) -> None:
    with pytest.raises(CannotMeet, match="the smallest group has 1"):
        publish(consider(by_visits(), Settings(link="number", methods=USUAL)), tmp_path / "none")
    settings = Settings(link="number", methods=USUAL, max_suppressed=0.05)
    out = publish(consider(by_visits(), settings), tmp_path / "out")
    rows = pl.read_csv(out / "release.csv", infer_schema=False)
    assert "x" in rows.columns
    assert Counter(Counter(rows["number"]).values()) == {1: 500, 2: 100}
    (entry,) = read_json(out / NAME)["promises"]
    assert entry["measured"] == 100
    assert "The number of their rows everybody shares with at least 4 others" in entry["claim"]
    verify(out)


@given(ROWS)
def test_more_columns_leave_no_more_people(rows: list[tuple[int, ...]]) -> None:
    people = people_of(rows)
    one, other = (Coded(np.array([row[i] for row in rows]), 3) for i in (1, 2))
    assert fewest_alike([one, other], people) <= fewest_alike([one], people)
    alone = fewest_alike([one, other], People.named(people.codes, len(rows)))
    assert fewest_alike([one, other], people) <= alone


def linked(rows: int = 1200, **more: Any) -> Any:
    settings = Settings(
        k=3,
        link="who",
        max_suppressed=0.1,
        threats=(
            Attacker("friend", ["sex"], k=4, l=2),
            Attacker("boss", ["ward"], known_rows=2, k=3),
        ),
        methods={"front": {"most": 4}},
        **more,
    )
    return consider(stays(rows=rows).with_roles(quasi=None), settings)


@pytest.fixture(scope="module")
def outcome() -> Any:
    found = linked()
    names = [
        row.release.name
        for row in found.decision.scorecard.candidates
        if {"sex", "ward"} <= {*row.release.features}
    ]
    return found.taking(min(names, key=len)) if names else found


@pytest.fixture(scope="module")
def folder(outcome: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return publish(outcome, tmp_path_factory.mktemp("linked") / "out")


def test_rows_of_a_person_have_a_number_of_their_own(outcome: Any, folder: Path) -> None:
    rows = pl.read_csv(folder / "release.csv", infer_schema=False)
    assert rows.columns[0] == "who"
    assert not (folder / PRIVATE / "people.csv").exists()
    release = outcome.release
    shown = release.table.frame.select(pl.col(rows.columns[1:]).cast(pl.String))
    lists = [
        Counter(
            tuple(sorted(map(repr, each.drop("who").rows())))
            for each in frame.partition_by("who", maintain_order=True)
        )
        for frame in (rows, shown.with_columns(who=pl.Series(release.people.codes)))
    ]
    assert lists[0] == lists[1]
    assert sorted(rows["who"].cast(int).unique()) == list(range(1, release.everybody + 1))


def test_what_is_promised_is_of_all_rows_of_a_person(folder: Path) -> None:
    content = read_json(folder / NAME)
    rows = pl.read_csv(folder / "release.csv")
    assert {entry["attacker"] for entry in content["promises"]} == {"friend", "boss"}
    for entry in content["promises"]:
        assert entry["linked"]
        assert "all of their rows" in entry["claim"]
        own = rows.select("who", *entry["columns"])
        lists = Counter(
            tuple(sorted(map(repr, each.drop("who").rows()))) for each in own.partition_by("who")
        )
        assert entry["measured"] == min(lists.values()) >= entry["at_least"]
        assert entry["recount"] == "file"
    assert any("has found all" in words for words in content["not_promised"])


def test_anybody_counts_people_without_the_private_part(folder: Path, tmp_path: Path) -> None:
    alone = tmp_path / "public"
    alone.mkdir()
    for path in folder.iterdir():
        if path.is_file():
            (alone / path.name).write_bytes(path.read_bytes())
    found = verify(alone)
    assert not found.private
    assert any("Against friend" in claim and "people" in claim.lower() for claim in found.claims)
    assert any("numbered at random" in words for words in found.not_checked)


def forged(folder: Path, to: Path, change: Any) -> Path:
    """The public part with other rows and a manifest, whose hashes are right again."""
    to.mkdir()
    for path in folder.iterdir():
        if path.is_file():
            (to / path.name).write_bytes(path.read_bytes())
    content = read_json(to / NAME)
    change(to / "release.csv", content)
    content["file"]["sha256"] = sha256((to / "release.csv").read_bytes()).hexdigest()
    (to / NAME).write_text(
        json.dumps(in_place(content), indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    return to


def test_rows_that_change_hands_are_found(folder: Path, tmp_path: Path) -> None:
    def swap(path: Path, content: dict[str, Any]) -> None:
        rows = pl.read_csv(path, infer_schema=False).with_columns(pl.col("who").cast(pl.Int64))
        several = rows.filter(pl.len().over("who") > 1, pl.col("sex") == "female")
        moved = rows.with_row_index().filter(pl.col("who") == several["who"][0])["index"][0]
        man = rows.filter(pl.col("sex") == "male")["who"][0]
        who = rows["who"].to_list()
        who[moved] = man
        rows.with_columns(who=pl.Series(who)).sort(rows.columns).write_csv(path)

    with pytest.raises(CannotMeet, match="1 in people, but the manifest says"):
        verify(forged(folder, tmp_path / "swapped", swap))


def test_a_manifest_says_of_all_promises_or_none_that_rows_are_together(folder: Path) -> None:
    content = read_json(folder / NAME)
    assert contradiction(content) == ""
    for entry in content["promises"]:
        del entry["linked"]
        break
    assert "rows of a person together" in contradiction(content)
    plain = read_json(folder / NAME)
    plain["columns"] = plain["columns"][1:]
    assert "rows of a person together" in contradiction(plain)
    alone = read_json(folder / NAME)
    for entry in alone["promises"]:
        del entry["attacker"]
    alone["diversity"] = []
    assert "rows of a person" in unverified_by_engines(alone)


@pytest.mark.parametrize("numbers", [[1, 2, 4], [0, 1, 2], ["1", "2", "x"], [1, 2, None]])
def test_a_number_has_room_for_nothing_else(numbers: list[Any]) -> None:
    content = {"columns": [{"name": "who", "role": "link"}]}
    assert "does not number the people" in wrong_link(pl.DataFrame({"who": numbers}), content)
    assert wrong_link(pl.DataFrame({"who": [2, 1, 2, 3]}), content) == ""


def test_numbers_are_fresh_and_come_from_no_identifier_and_no_order(tmp_path: Path) -> None:
    secret = "ab" * 16
    frame = stays(rows=600).frame
    # Others' names, in another order of rows: the same people.
    renamed = frame.with_columns(
        patient=pl.col("patient").replace_strict(
            {name: f"X{i:05}" for i, name in enumerate(sorted(frame["patient"].unique())[::-1])}
        )
    ).reverse()
    roles = stays(rows=600).roles
    written = []
    for number, (table, drawn) in enumerate(
        [(frame, secret), (renamed, secret), (frame, "cd" * 16), (frame, None)]
    ):
        settings = Settings(
            k=1, link="who", secret=drawn, methods={"front": {"budget": 20, "most": 1}}
        )
        out = publish(consider(Table(table, roles), settings), tmp_path / str(number))
        written.append((out / "release.csv").read_bytes())
    assert written[0] == written[1]
    assert len({*written}) == 3


@pytest.mark.parametrize("name", ["=1+1", 'a,"b', "-x"])
def test_the_column_may_have_a_name_that_a_spreadsheet_would_run(name: str, tmp_path: Path) -> None:
    settings = Settings(k=1, link=name, methods={"front": {"budget": 20, "most": 1}})
    out = publish(consider(stays(rows=300), settings), tmp_path / "out")
    assert read_json(out / NAME)["columns"][0]["name"] == name
    assert verify(out).claims


def test_told_is_what_all_rows_of_a_person_tell() -> None:
    draw = np.random.default_rng(5)
    twice = draw.integers(0, 2, 700)
    who = np.repeat(np.arange(700), 1 + twice)
    rows = len(who)
    x = draw.integers(0, 5, rows)
    frame = pl.DataFrame(
        {
            "who": who.astype(str),
            "x": x,
            "y": draw.integers(0, 2, rows),
            "ill": ((x > 2) ^ (draw.random(rows) < 0.1)).astype(np.int64),
            "secret": np.where(twice[who] == 1, "yes", "no"),
        }
    )
    roles = Roles(target="ill", sensitive="secret", identifiers=("who",), quasi=("y",))
    methods: dict[str, Any] = {"front": {}}
    found = {
        link: consider(Table(frame, roles), Settings(k=2, link=link, methods=methods))
        for link in (None, "number")
    }
    told = {
        link: max(row.value("told") or 0.0 for row in each.decision.scorecard.candidates)
        for link, each in found.items()
    }
    assert told[None] < 0.1
    assert told["number"] > 0.9
    for link, low, high in ((None, -1.0, 0.1), ("number", 0.2, 1.0)):
        pbi = found[link].decision.scorecard.baseline.assessment.reporting.everything
        right = max(float(each.right.mean()) for each in pbi.values())
        assert low <= right - 0.66 <= high
    look = found["number"].closer().look
    assert look is not None
    assert look.secret is not None
    assert look.secret.bits.value > 0.5


def test_who_goes_goes_with_all_rows_and_the_rest_keep_it() -> None:
    table = stays(rows=800).with_roles(link="who", quasi=("sex", "ward"))
    found = consider(
        stays(rows=800).with_roles(quasi=("sex", "ward")),
        Settings(k=4, link="who", max_suppressed=0.2, methods=USUAL),
    )
    some = [row.release for row in found.decision.scorecard.candidates if row.release.is_suppressed]
    for release in some:
        gone = ~release.mask
        assert not set(table.people.codes[gone]) & set(table.people.codes[~gone])
        known = [(c, Coded(release.table.frame[c].rank("dense").fill_null(0).to_numpy(), 99))
                 for c in release.table.quasi]  # fmt: skip
        if known:
            assert are_kept(requirements(4), known, release.people, release.table.frame)
    assert some


def test_attackers_see_all_rows_of_a_number(folder: Path, outcome: Any) -> None:
    release = published_table(folder, read_json(folder / NAME))
    assert release.people.together
    assert "who" not in release.features
    mine, theirs = shown_together(stays(rows=1200), release)
    assert "all rows: how many" in theirs.features
    assert "who" not in theirs.frame.columns
    assert {c for c in mine.frame.columns if c.startswith("all rows")} == {
        c for c in theirs.frame.columns if c.startswith("all rows")
    }
    with pytest.raises(InputError, match="--person COL"):
        shown_together(stays(rows=1200).with_roles(identifiers=(), person=None), release)


@pytest.mark.parametrize(
    ("more", "match"),
    [
        ({"link": "patient"}, "is in the table; who a person is"),
        ({"link": " "}, "is no name"),
        ({"absences": 1}, "--known-absences counts single rows"),
        ({"sampling": 0.1}, "--population or --sampling counts single rows"),
        ({"format": "long"}, "no place for"),
        ({"format": "sav", "link": "my course"}, "SPSS takes no column named 'my course'"),
        ({"format": "dta", "link": "WARD"}, "names that Stata takes for one"),
    ],
)
def test_what_cannot_hold_is_refused(more: dict[str, Any], match: str) -> None:
    with pytest.raises(InputError, match=match):
        consider(stays(rows=300), Settings(**{"link": "who", **more}))


def test_nothing_is_linked_where_each_row_is_a_person_or_nobody() -> None:
    frame = stays(rows=300).frame.drop("patient", "name")
    table = Table(frame, Roles(target="readmitted"))
    with pytest.raises(InputError, match="each row is a person here; say who"):
        consider(table, Settings(link="who"))
    with pytest.raises(InputError, match="synthetic rows describe nobody"):
        Settings(link="who", epsilon=1.0)
