"""What releases made elsewhere are worth, and what they give away."""

from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from tamis.datasets import patients
from tamis.errors import InputError
from tamis.flow import Settings, consider
from tamis.judgement.generator import Generator
from tamis.judgement.judgement import SHARED_PEOPLE
from tamis.judgement.judgement import judge as judge_releases
from tamis.judgement.page import HEADS, line_of_judgement, write_page
from tamis.table import Table
from tests.quick_look import no_trees

TABLE = patients(rows=400)


def judge(*args: Any, **asked: Any) -> Any:
    """What is `None` elsewhere is there in these tests."""
    return judge_releases(*args, **asked)


FEATURES = ["sex", "ward", "stay_days", "readmitted"]


@pytest.fixture(scope="module", autouse=True)
def quick_look():
    with no_trees():
        yield


def shuffled(frame, seed=1):
    """The same columns, each in an order of its own: rows of nobody."""
    columns = enumerate(frame.get_columns())
    return pl.DataFrame([c.sample(fraction=1, shuffle=True, seed=seed + i) for i, c in columns])


@pytest.fixture(scope="module")
def judged():
    made = TABLE.only([*FEATURES, "hiv", "birth_year"])
    return judge(
        TABLE,
        {
            "true.csv": Table(made.sample(fraction=1, shuffle=True, seed=2)),
            "few.csv": Table(made.head(300)),
            "drawn.csv": Table(shuffled(made)),
        },
        most=60,
    )


def test_true_rows_are_found_and_drawn_ones_are_not(judged):
    true, few, drawn = judged.releases
    assert (true.own_rows, few.own_rows, drawn.own_rows) == (True, True, False)
    assert (true.left_out, few.left_out) == (0, 100)
    assert true.figure("kept") > drawn.figure("kept") + 0.3
    assert true.replicated.rep_u > drawn.replicated.rep_u
    assert true.closest.same == 1.0 > drawn.closest.same
    assert any(note == SHARED_PEOPLE for note in drawn.notes)
    assert not any(note == SHARED_PEOPLE for note in true.notes)
    assert all(any("'hiv' is in the release" in note for note in j.notes) for j in judged.releases)


def test_drawn_rows_that_hold_the_secret_tell_what_is_learnt_from_them(judged):
    true, _, drawn = judged.releases
    assert drawn.figure("told") < 0.2
    assert true.figure("told") > drawn.figure("told")


def test_true_rows_have_the_figures_that_a_release_of_them_has():
    asked = Settings(methods={"containment": {"ks": [20], "utilities": ["difference"]}})
    chosen = consider(TABLE, asked).decision.chosen
    made = Table(chosen.release.table.frame.reverse())
    found = judge(TABLE, {"x": made}, propose=asked, most=20)
    mine, theirs = found.releases[0].scored, found.proposed[0]
    for measure in ("kept", "told", "performance", "features"):
        assert mine.value(measure) == pytest.approx(theirs.value(measure)), measure


def test_everything_is_on_one_plane(judged):
    svg = judged.plot().svg()
    assert all(name in svg for name in ("true.csv", "few.csv", "drawn.csv", "everything"))
    page = write_page(judged)
    assert "proves nothing by itself" in page
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org", "")
    assert all(len(line_of_judgement(each)) == len(HEADS) for each in judged.releases)


def test_releases_at_one_place_share_a_name(judged):
    few = judged.releases[1]
    copies = tuple(replace(few, name=f"copy {i}") for i in range(3))
    drawn = replace(judged, releases=copies).plot().svg()
    assert "few.csv and 2 more" in drawn


def test_names_cannot_run_in_the_page():
    name = "<script>alert(1)</script>.csv"
    page = write_page(judge(TABLE, {name: Table(TABLE.only(["sex", "readmitted"]))}, most=10))
    assert "<script" not in page


def test_people_who_are_in_no_release_are_asked():
    others = patients(rows=120, random_state=7)
    columns = [c for c in TABLE.frame.columns if c not in ("patient", "hiv")]
    drawn = Table(shuffled(TABLE.only(columns)))
    found = judge(TABLE, {"drawn": drawn}, control=others, most=40).releases[0]
    assert SHARED_PEOPLE not in found.notes
    assert found.scored is not None
    assert found.attacks.control_people == 120
    true = judge(TABLE, {"true": Table(TABLE.only(columns))}, control=others, most=40).releases[0]
    assert true.figure("kept") > found.figure("kept") + 0.2
    assert true.retention.rsd == pytest.approx(0.0)
    assert found.retention.rule_accuracy > true.retention.rule_accuracy
    narrow = Table(others.only(["sex"]))
    with pytest.raises(InputError, match="the control group has no column"):
        judge(TABLE, {"drawn": drawn}, control=narrow, most=40)


def test_coarser_columns_keep_less():
    generation = pl.format("born around {} or so", pl.col("birth_year") // 10 * 10)
    begins = pl.col("birth_year") // 40 * 40
    wide = pl.format("[{}, {})", begins, begins + 40)
    frame = TABLE.only(["birth_year", "ward", "readmitted"])
    made = frame.with_columns(wide.alias("birth_year"))
    found = judge(TABLE, {"wide": Table(made)}, most=40).releases[0]
    assert found.own_rows
    assert found.coarser == ("birth_year",)
    assert found.exposure.k_anonymity > 1
    unread = judge(TABLE, {"s": Table(frame.with_columns(generation.alias("birth_year")))}, most=40)
    assert unread.releases[0].columns == ("ward", "readmitted")


def test_without_a_target_the_risks_are_still_judged():
    table = Table(TABLE.only(["sex", "ward", "zip"]))
    found = judge(table, {"x": table}, most=20)
    assert found.card is None
    assert found.releases[0].scored is None
    assert found.releases[0].exposure.k_anonymity == 1
    assert any("no target is named" in note for note in found.releases[0].notes)
    with pytest.raises(InputError, match="no target to keep"):
        found.plot()
    assert "no target" in write_page(found)


def test_identifiers_in_a_release_are_said():
    found = judge(TABLE, {"x": Table(TABLE.frame)}, most=20).releases[0]
    assert any("'patient' identifies people" in note for note in found.notes)


def test_people_with_several_rows_count_once():
    stays = pl.concat([TABLE.frame] * 3)
    table = Table(stays, TABLE.roles)
    found = judge(table, {"x": Table(stays.drop("patient").reverse())}, most=20).releases[0]
    assert found.exposure.people == 400
    assert found.exposure.k_anonymity == 1


def test_proposals_stand_beside():
    settings = Settings(methods={"containment": {"ks": [20], "utilities": ["difference"]}})
    made = {"x": Table(TABLE.only(FEATURES))}
    found = judge(TABLE, made, propose=settings, most=20)
    assert [row.release.name for row in found.proposed] == ["containment, k = 20, difference"]
    assert "containment" in write_page(found)
    with pytest.raises(InputError, match="tried on different people"):
        judge(TABLE, made, propose=settings, control=TABLE)


def test_nothing_to_judge():
    with pytest.raises(InputError, match="nothing to judge"):
        judge(TABLE, {})


def test_too_few_shadows_are_refused_before_any_work():
    with pytest.raises(InputError, match="needs 4 runs or more, got 3"):
        judge(TABLE, {}, generator=Generator("no such program {in} {out}"), shadows=3)


def test_a_generator_is_judged_on_people_that_it_did_not_see(monkeypatch):
    def copies(self, frame, seed=0):
        return frame.sample(fraction=1, with_replacement=True, shuffle=True, seed=seed)

    monkeypatch.setattr(Generator, "run", copies)
    found = judge(TABLE, {}, generator=Generator("copy {in} {out}"), shadows=10, most=40)
    (mine,) = found.releases
    assert mine.name == "generator (copy)"
    assert SHARED_PEOPLE not in mine.notes
    assert mine.attacks.control_people > 0
    member = mine.attacks.strongest("membership, nearest")
    assert member.success.value > 0.7  # whoever is copied is there
    shadow = mine.attacks.strongest("membership, shadow")
    assert shadow.details["runs"] == 10
    assert "epsilon" not in shadow.details
