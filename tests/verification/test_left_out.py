"""Releases in which a few are left out: nothing of them is handed on, all others are counted."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Roles, Table
from tamis.analyse import Analysis, analyse
from tamis.analyse.examination import examine
from tamis.attack.earlier_releases import EarlierReleases
from tamis.cli.release.outcome_words import words
from tamis.coarsen.ladder import Ladder
from tamis.errors import CannotMeet, InputError
from tamis.flow import Settings, consider
from tamis.outcome import Outcome
from tamis.publication.bundle import publish
from tamis.publication.read_back import read_earlier
from tamis.read.keys import unstated_identifiers
from tamis.release_counts import left_out_words, rounded_up
from tamis.verification.layout import read_json
from tamis.verification.people import wrong_left_out
from tamis.verification.verify import verify
from tests.publication.conftest import DATE
from tests.verification.forged import edited

ROWS, RARE = 397, 7


def wards(several: bool = False) -> Table:
    """Three wards of many and seven of one; who is alone in a ward is marked in each cell."""
    rng = np.random.default_rng(3)
    ward, dose = rng.integers(0, 3, ROWS), rng.integers(0, 3, ROWS)
    rare = np.arange(ROWS) % 57 == 5
    ill = (ward + dose + rng.normal(0, 0.6, ROWS)) > 2.2
    frame = pl.DataFrame(
        {
            "ward": np.where(rare, [f"MARK{i}" for i in range(ROWS)], np.array(list("abc"))[ward]),
            "dose": np.where(rare, 7_340_000 + np.arange(ROWS), dose),
            "hiv": np.where(rng.random(ROWS) < 0.3, "yes", "no"),
            "ill": np.where(ill, "yes", "no"),
            "who": np.arange(ROWS) // (2 if several else 1),
        }
    )
    assert rare.sum() == RARE
    return Table(
        frame,
        Roles(target="ill", sensitive="hiv", quasi=("ward", "dose"), identifiers=("who",)),
    )


def considered(table: Table, **changes: Any) -> Outcome:
    asked: dict[str, Any] = {
        "max_suppressed": 0.05,
        "methods": {"front": {}},
        "allow_useless": True,
    } | changes
    return consider(table, Settings(**asked))


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return considered(wards(), l=2, seed=1)


@pytest.fixture(scope="module")
def analysis(outcome: Outcome) -> Analysis:
    return analyse(outcome)


@pytest.fixture(scope="module")
def folder(outcome: Outcome, analysis: Analysis, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("left") / "out"
    return publish(outcome, out, analysis=analysis, date=DATE)


def public_text(folder: Path) -> str:
    files = [path for path in folder.iterdir() if path.is_file()]
    return "".join(path.read_text("utf-8") for path in files)


def test_rare_rows_are_gone_and_all_others_stay(outcome):
    release = outcome.decision.chosen.release
    assert set(release.features) == {"ward", "dose"}
    assert (release.suppressed_rows, release.table.rows) == (RARE, ROWS - RARE)
    kept = outcome.table.frame.filter(pl.Series(release.mask))
    assert release.table.frame["ward"].to_list() == kept["ward"].to_list()
    assert outcome.decision.chosen.assessment.k_anonymity >= 5


def test_nothing_of_them_is_handed_on(folder):
    text = public_text(folder)
    assert "MARK" not in text
    assert not re.search(r"\b7,?340\b", text)


def test_a_rounded_share_of_them_is_public(folder):
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    assert manifest["suppressed"] == {"unit": "people", "share_at_most": 0.03}
    for figure in manifest["measured"]:
        assert figure["value"] == round(figure["value"], 2)


def test_no_public_number_says_how_many_there_were(folder):
    text = public_text(folder)
    for number in (RARE, ROWS):
        assert not re.search(rf"\b{number}\b(?! *(%|px))", re.sub(r"0?\.\d+", "", _shown(text)))


def _shown(text: str) -> str:
    """The text without styles, scripts and drawings, which have numbers of their own."""
    return re.sub(r"(?s)<style.*?</style>|<svg.*?</svg>|sha256.*?,|\d{4}-\d\d-\d\d", "", text)


def test_the_holder_has_the_numbers_and_they_are_verified(folder, tmp_path):
    recipe = json.loads((folder / "private" / "recipe.json").read_text("utf-8"))
    assert recipe["suppressed"] == {
        "rows": RARE, "of_rows": ROWS, "people": RARE, "of_people": ROWS
    }  # fmt: skip
    secrets = (folder / "private" / "secrets.csv").read_text("ascii").splitlines()
    assert len(secrets) == 1 + ROWS - RARE
    checked = verify(folder)
    assert "suppressed" in [check.name for check in checked.checks]
    assert any("At most 3% of the people" in words for words in checked.claims)


@pytest.mark.parametrize(
    "change",
    [
        {"share_at_most": 0.01},
        {"share_at_most": 0.015},
        {"rows": RARE},
        {"unit": "cells"},
        None,
    ],
)
def test_another_share_than_the_recipes_is_found(folder, tmp_path, change):
    from shutil import copytree

    other = copytree(folder, tmp_path / "other")
    edited(other, lambda m: m.update(suppressed=change and m["suppressed"] | change))
    with pytest.raises(CannotMeet, match=r"left out|'suppressed'|in suppressed"):
        verify(other)


def left_out(folder: Path, people: int, of: int, most: float, **stated: Any) -> str:
    """What is wrong where so many of a table, one row each, are left out, and so many may be."""
    numbers = {"rows": people, "of_rows": of, "people": people, "of_people": of}
    recipe = {"suppressed": numbers, "settings": {"max_suppressed": most}}
    (folder / "private").mkdir(exist_ok=True)
    (folder / "private" / "recipe.json").write_text(json.dumps(recipe))
    said = {"unit": "people", "share_at_most": rounded_up(numbers, 1)} | stated
    return wrong_left_out(folder, of - people, {"suppressed": said, "promises": []})


def test_as_many_may_go_as_was_asked_and_no_more(tmp_path):
    assert left_out(tmp_path, 20, 100, 0.2) == ""
    assert left_out(tmp_path, 21, 100, 0.2) == "more are left out than 0.2 allows"
    assert left_out(tmp_path, 7, 70, 0.1) == ""  # 70 * 0.1 is a little more than 7
    assert left_out(tmp_path, 3, 10, 0.3) == ""  # and 10 * 0.3 is 3
    assert left_out(tmp_path, 100, 100, 1.0) == ""


@pytest.mark.parametrize("odd", [0.0, 1.01, 0.205, 1, True, "0.2", None])
def test_a_share_is_stated_in_whole_percent(tmp_path, odd):
    found = left_out(tmp_path, 20, 100, 0.2, share_at_most=odd)
    assert found == "what is left out is not stated as a share in whole percent alone"
    assert left_out(tmp_path, 20, 100, 0.2, unit="kings") == found
    assert left_out(tmp_path, 20, 100, 0.2, rows=20) == found


def test_the_same_bytes_come_out_again(outcome, folder, tmp_path):
    again = publish(considered(wards(), l=2, seed=1), tmp_path / "again", date=DATE)
    for name in ("release.csv", "manifest.json", "report.html"):
        assert (again / name).read_bytes() == (folder / name).read_bytes()


def test_models_learn_from_those_left_and_are_asked_about_all(outcome):
    chosen, evaluator = outcome.decision.chosen.assessment, outcome.evaluator
    assert len(chosen.predictions.truth) == len(evaluator.split.held)
    bits, _ = evaluator.yardstick.bits(chosen.release, evaluator.yardstick.reporting)
    (learn, asked), *_ = bits.parts.rounds
    assert chosen.release.mask[learn].all()
    assert not chosen.release.mask[asked].all()


def test_attackers_look_only_for_those_who_are_in(outcome):
    attacked = examine(outcome).attacked
    assert attacked is not None
    assert attacked[0].found.people <= ROWS - RARE


def test_a_person_goes_with_all_rows(tmp_path):
    outcome = considered(wards(several=True))
    release = outcome.decision.chosen.release
    assert release.suppressed_people == RARE
    assert release.suppressed_rows > RARE
    kept, people = release.mask, outcome.table.people
    assert not people.each_row
    assert not set(people[~kept].codes) & set(people[kept].codes)
    assert verify(publish(outcome, tmp_path / "out", date=DATE)).private


@pytest.mark.parametrize("share", [0.0, (RARE - 1) / ROWS])
def test_nobody_goes_where_fewer_may_go_than_must(share):
    with pytest.raises(CannotMeet, match="requires 5 people"):
        considered(wards(), max_suppressed=share)


def test_coarser_forms_leave_rows_out_too():
    rng = np.random.default_rng(4)
    age = np.concatenate([rng.integers(20, 60, 397), [95, 96, 97]])  # three alone in their band
    ill = np.where(age + rng.normal(0, 4, 400) > 40, "yes", "no")
    table = Table(pl.DataFrame({"age": age, "ill": ill}), Roles(target="ill"))
    settings = Settings(k=20, max_suppressed=0.02, methods={"coarsen": {}})
    found = consider(table, settings, ladders={"age": Ladder.from_dict("age", {"width": [10]})})
    release = found.decision.chosen.release
    assert list(release.forms) == ["age"]
    assert release.suppressed_rows == 3
    assert (found.decision.chosen.assessment.k_anonymity or 0) >= 20


def test_zero_one_columns_leave_rows_out_by_containment():
    place = np.arange(300)
    first, second = place < 102, (place >= 100) & (place < 200)  # two rows have both
    ill = np.where((first | second) ^ (place % 9 == 0), "yes", "no")
    frame = pl.DataFrame({"x": first * 1, "y": second * 1, "ill": ill})
    found = considered(Table(frame, Roles(target="ill")), max_suppressed=0.01).decision
    both = next(row for row in found.scorecard.candidates if len(row.release.features) == 2)
    assert both.release.suppressed_rows == 2
    assert (both.assessment.containment or 0) >= 5


def test_what_cannot_go_together_is_refused():
    with pytest.raises(InputError, match="between 0 and"):
        Settings(max_suppressed=0.9)
    with pytest.raises(InputError, match="describe nobody"):
        Settings(max_suppressed=0.1, epsilon=1.0)


def test_those_whom_an_earlier_release_left_out_come_with_a_later_one(folder):
    handed = EarlierReleases(wards(), [read_earlier(folder)])
    assert handed.units.places[0].line.tolist().count(-1) == RARE
    with pytest.raises(CannotMeet, match=r"came since an earlier release"):
        handed.check(RARE + 1)
    with pytest.raises(InputError, match="stands out"):
        consider(wards(), Settings(max_suppressed=0.05), handed=handed)


def test_shares_are_rounded_up_and_few_are_not_counted():
    assert rounded_up({"people": 1, "of_people": 10_000}, 5) == 0.01
    assert rounded_up({"people": 29, "of_people": 100}, 5) == 0.29
    numbers = {"rows": 3, "of_rows": 40, "people": 3, "of_people": 40}
    assert left_out_words(numbers, "rows", 5).startswith("Fewer than 5 of 40 rows are left out")
    for people, said in ((5, "5 of 30 people, with 8 rows,"), (4, "Fewer than 5 of 30 people")):
        numbers = {"rows": 8, "of_rows": 40, "people": people, "of_people": 30}
        assert left_out_words(numbers, "people", 5).startswith(f"{said} are left out")


@given(stay=st.integers(1, 400), k=st.integers(2, 9), data=st.data())
def test_the_share_does_not_say_how_many_are_left_out(stay: int, k: int, data: st.DataObject):
    first = k * data.draw(st.integers(0, 20))
    few, other = (max(1, first + data.draw(st.integers(0, k - 1))) for _ in range(2))
    stated = [rounded_up({"people": n, "of_people": stay + n}, k) for n in (few, other)]
    assert stated[0] == stated[1] >= few / (stay + few)


def test_the_holder_is_told_who_goes_and_why_and_nobody_else(outcome, analysis, folder):
    lines = words(outcome, analysis)
    at = next(i for i, line in enumerate(lines) if "are left out, so that all others" in line)
    assert "(ward: MARK" in lines[at + 1]
    assert lines[at + 1].endswith("fewer than 5 are alike (k)")
    assert any(line.startswith("Warning: Nobody with ward = MARK") for line in lines)
    private = (folder / "private" / "report.html").read_text("utf-8")
    assert "Who is left out, and why" in private
    assert "Nobody with ward = MARK" in private
    summary = read_json(folder / "private" / "summary.json")
    assert sum(group["people"] for group in summary["left_out"]["groups"]) == RARE
    assert "MARK" not in public_text(folder)
    assert "Who is left out" not in public_text(folder)


def aged(rows: int = 3000) -> Table:
    """Ages that a few people share with nobody, and that teach as much in decades."""
    rng = np.random.default_rng(5)
    age = rng.integers(30, 90, rows)
    age[:40] = np.arange(40) % 20 + 100
    ill = rng.random(rows) < np.where(age >= 60, 0.8, 0.2)
    frame = pl.DataFrame({"age": age, "sex": ["f", "m"] * (rows // 2), "ill": ill.astype(int)})
    return Table(frame, Roles(target="ill", quasi=("age", "sex")))


def test_values_that_disappear_for_the_same_reason_are_named_in_one_line():
    settings = Settings(methods={"front": {}}, max_suppressed=0.05, attackers=("nb",))
    outcome = consider(aged(), settings)
    lines = [
        line for line in words(outcome, analyse(outcome)) if line.startswith("Warning: Nobody")
    ]
    assert len(lines) == 1
    assert "age = 100 (2 rows), 101 (2)" in lines[0]
    assert "fewer than 5 are alike (k)" in lines[0]


AS_IT_IS = {"front": {}, "coarsen": {"keep": ["job", "code"]}}
"""Codes with all their digits."""


def nearly_unique() -> pl.DataFrame:
    """Codes that repeat only among people of rare jobs, who will be left out."""
    rng, rows, rare = np.random.default_rng(1), 600, 36
    code = rng.permutation(np.arange(10_000, 90_000))[:rows]
    code[:rare] = code[0]
    job = rng.choice(["cook", "judge", "nurse"], rows).astype(object)
    job[:rare] = [f"rare{i // 3}" for i in range(rare)]
    ill = np.where((code > 50_000) ^ (job == "cook"), "yes", "no")
    frame = {"job": job, "code": code, "ill": ill}
    return pl.DataFrame(frame, schema_overrides={"job": pl.String})


def test_what_would_identify_those_who_stay_is_refused_before_anything_is_written(tmp_path: Path):
    roles = Roles(target="ill", quasi=("job",))
    assert not unstated_identifiers(Table(nearly_unique(), roles))  # the door lets it in
    found = considered(Table(nearly_unique(), roles), max_suppressed=0.1, methods=AS_IT_IS)
    assert found.release.is_suppressed
    with pytest.raises(CannotMeet, match=r"that would be left, column 'code' .*--feature"):
        publish(found, tmp_path / "out", date=DATE)
    assert list(tmp_path.iterdir()) == []


def test_it_leaves_where_the_holder_says_that_it_tells_nobody(tmp_path: Path):
    roles = Roles(target="ill", quasi=("job",), plain=("code",))
    found = considered(Table(nearly_unique(), roles), max_suppressed=0.1, methods=AS_IT_IS)
    assert found.release.is_suppressed
    verify(publish(found, tmp_path / "out", date=DATE))


def test_the_share_of_nobody_in_whole_is_rounded_up_to_one_person():
    """Where k = 1, and of the only person with rows left out some rows stay."""
    assert rounded_up({"people": 0, "of_people": 99}, 1) == 0.01


@pytest.mark.parametrize(("people", "who"), [(4, "Fewer than 5"), (5, "5"), (6, "6")])
def test_k_people_are_counted_and_fewer_are_not(people: int, who: str):
    words = left_out_words(
        {"rows": 2 * people, "of_rows": 80, "people": people, "of_people": 40}, "people", 5
    )
    rows = "" if people < 5 else f", with {2 * people} rows,"
    assert words.startswith(f"{who} of 40 people{rows} are left out")
