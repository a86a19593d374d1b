"""All attackers on one release, and the control group that is made where none is given."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis import attack_release
from tamis.attack import run as module
from tamis.attack.inference import named
from tamis.attack.run import is_selection, quick_attack, with_control
from tamis.attack.scene import Scene
from tamis.attack.sources import altered_by, in_its_groups, in_its_terms, published_table
from tamis.coarsen.ladder import Ladder
from tamis.datasets import patients
from tamis.errors import CannotMeet, InputError
from tamis.perturb.noise import UniformNoise
from tamis.release import Coarsening, DrawnRelease, Recipe, Release, released
from tamis.table import Roles, Table
from tests.long import LONG, long

attack: Any = attack_release
SECRET = Roles(target="goal", sensitive="ill", quasi=("age",))


def people(rows, seed=0):
    drawn = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "age": drawn.random(rows).round(4),
            "job": drawn.choice(["a", "b", "c"], rows),
            "ill": drawn.choice(["no", "yes"], rows),
            "goal": drawn.integers(0, 2, rows),
        }
    )
    return Table(frame, SECRET)


def of(frame):
    return Table(frame, Roles(target="goal"))


def test_the_original_as_its_own_release_is_the_worst_there_is():
    table = people(160)
    found = attack(table, of(table.frame), errors=())
    for kind in ("singling out", "linkage", "inference", "membership"):
        assert found.strongest(kind).gain.value == 1.0, kind
    assert found.strongest("linkage").leak.low > 0.8
    assert found.control_people == 40


def test_a_constant_release_tells_nothing():
    table = people(160)
    constant = of(table.frame.with_columns(pl.all().first()))
    found = attack(table, constant, errors=(), control=people(100, 1))
    for each in found.scores:
        assert each.success.low <= each.guess + 1e-9, each.attacker


def test_a_release_that_is_no_selection_needs_a_control_group():
    table = people(80)
    found = attack(table, of(people(80, 3).frame), errors=())
    assert found.control_people == 0
    assert "--control" in found.notes[-1]
    assert all(each.leak is None for each in found.scores)


@long
def test_strangers_rows_leak_nothing():
    table = people(300)
    found = attack(table, of(people(300, 3).frame), control=people(300, 1))
    for each in found.scores:
        if each.leak is not None and not each.attacker.startswith("singling"):
            assert each.leak.low <= 0.05, each.attacker


def test_the_second_release_lacks_one_row_for_each_that_is_held_out():
    table = Table(pl.DataFrame({"a": [1] * 6 + [2] * 6, "b": [0, 1] * 6}))
    released = Table(table.frame.select("a").reverse())
    scene: Any = with_control(Scene(table, released))[0]
    held = sorted(table.frame["a"].gather(scene.held_out).to_list())
    left = sorted(scene.without.frame["a"].to_list())
    assert len(scene.held_out) == 3
    assert sorted(held + left) == sorted(table.frame["a"].to_list())


def test_people_are_held_out_whole():
    frame = pl.DataFrame({"who": np.repeat(range(20), 3), "a": np.arange(60) % 7})
    table = Table(frame, Roles(identifiers=("who",)))
    scene: Any = with_control(Scene(table, Table(frame.select("a"))))[0]
    people: Any = table.people.codes
    assert set(people[scene.held_out]).isdisjoint(people[scene.inside])
    assert len(scene.held_out) == 15


@pytest.mark.parametrize(
    ("rows", "selection"),
    [([1, 2, 2], True), ([2, 1], True), ([1, 1], False), ([1, 2, 2, 2], False), ([3], False)],
)
def test_whether_rows_are_those_of_the_original(rows, selection):
    table = Table(pl.DataFrame({"a": [1, 2, 2]}))
    assert is_selection(Scene(table, Table(pl.DataFrame({"a": rows})))) == selection


def test_altered_values_are_altered_again_for_the_control_group_and_undone():
    table = people(200)

    def alter(rows, seed):
        return UniformNoise(0.05, random_state=seed).fit_transform(rows)

    released = of(alter(table, 9).frame)
    found = attack(table, released, errors=(), alter=alter)
    assert found.control_people == 50
    assert found.strongest("linkage, exact").leak.value > 0.5
    assert found.strongest("reconstruction of altered job").gain.value > 0.7


def test_columns_that_cannot_be_compared_are_named():
    table = people(40)
    frame = table.frame.with_columns(age=pl.lit("[0, 1]"))
    found = attack(table, of(frame), errors=())
    assert "'age'" in found.notes[0]
    assert "[0, 1]" not in " ".join(found.notes)


def test_records_of_0_and_1_are_linked_by_things():
    drawn = np.random.default_rng(0)
    frame = pl.DataFrame({name: drawn.integers(0, 2, 50) for name in "abcdef"})
    found = attack(Table(frame), Table(frame.reverse()), errors=())
    assert sum("thing" in each.attacker for each in found.scores) == 20


def test_what_is_not_a_share_or_too_few_is_refused():
    table = people(40)
    with pytest.raises(InputError, match="between 0 and 1"):
        attack(table, table, errors=(1.5,))
    with pytest.raises(InputError, match="4 people"):
        attack(table, table, most=2)


def test_the_same_seed_gives_the_same_figures():
    table = patients(rows=80)
    first, second = (attack(table, table.select(["zip", "job"]), errors=(0.2,)) for _ in range(2))
    assert first.to_dict() == second.to_dict()


def test_the_original_in_the_terms_of_a_release_of_0_and_1():
    table = Table(pl.DataFrame({"job": ["cook", "judge"] * 20}))
    release = Table(pl.DataFrame({"job = cook": [0, 1], "strange": [0, 0]}))
    assert in_its_terms(table, release).frame["job = cook"].to_list() == [1, 0] * 20
    assert in_its_terms(table, table) is table


def test_groups_of_values_are_understood():
    table = Table(pl.DataFrame({"age": [21.5, -3, 95, None], "zip": ["75011", "75012", "x", "01"]}))
    ages, zips = ["[-10, 20)", "[20, 40)", ">= 40", None], ["75***", "01", None, "75***"]
    found = in_its_groups(table, Table(pl.DataFrame({"age": ages, "zip": zips}))).frame
    assert found["age"].to_list() == ["[20, 40)", "[-10, 20)", ">= 40", None]
    assert found["zip"].to_list() == ["75***", "75***", "no group: x", "01"]


def test_one_group_of_all_others_is_understood():
    table = Table(pl.DataFrame({"city": ["Paris", "Nice", "Lyon", "Metz", None]}))
    release = Table(pl.DataFrame({"city": ["Paris", "elsewhere", "Lyon"]}))
    cities = in_its_groups(table, release).frame["city"].to_list()
    assert cities == ["Paris", "elsewhere", "Lyon", "elsewhere", None]


@pytest.mark.parametrize("labels", [["[0, 50)", "[20, 60)"], ["young", "old"], ["[1, 2"]])
def test_groups_that_overlap_or_mean_nothing_leave_a_column_as_it_is(labels):
    table = Table(pl.DataFrame({"age": [21, 30]}))
    release = Table(pl.DataFrame({"age": labels}))
    assert in_its_groups(table, release) is table


def test_coarser_values_hide_people_as_their_groups_do():
    table = people(60)
    groups = pl.when(pl.col("age") < 0.5).then(pl.lit("< 0.5")).otherwise(pl.lit(">= 0.5"))
    released = of(table.frame.select("goal", age=groups))
    mine = in_its_groups(table, released)
    found = attack(mine, released, errors=())
    assert found.control_people == 15
    small = (table.frame["age"] < 0.5).sum()
    assert found.strongest("linkage, exact").success.value == pytest.approx(2 / 60)
    assert 0 < small < 60


def test_a_published_file_is_read_with_the_types_of_its_manifest(tmp_path):
    (tmp_path / "release.csv").write_text("age,zip,goal\n31,01000,'=x\n,75011,y\n")
    columns = [
        {"name": "age", "kind": "number", "role": "feature"},
        {"name": "zip", "kind": "nominal", "role": "feature"},
        {"name": "goal", "kind": "nominal", "role": "target"},
    ]
    manifest = {"file": {"name": "release.csv", "format": "csv"}, "columns": columns}
    table = published_table(tmp_path, manifest)
    assert table.frame.rows() == [(31.0, "01000", "=x"), (None, "75011", "y")]
    assert table.target == "goal"
    columns[1]["kind"] = "number"
    assert published_table(tmp_path, manifest).frame["zip"].to_list() == [1000.0, 75011.0]
    columns[2]["kind"] = "number"
    with pytest.raises(CannotMeet, match="'goal'"):
        published_table(tmp_path, manifest)
    with pytest.raises(CannotMeet, match="damaged"):
        published_table(tmp_path, {"file": {}})


@pytest.mark.parametrize(
    ("format", "name", "text"),
    [
        ("long", "release.long.csv", "row,feature,goal\n1,b,y\n2,,x\n3,a,y\n3,b,y\n"),
        ("svm", "release.svm", "1 2:1\n0\n1 1:1 2:1\n"),
    ],
)
def test_a_published_sparse_file_is_read_as_its_columns(tmp_path, format, name, text):
    (tmp_path / name).write_text(text)
    columns = [{"name": c, "kind": "number", "role": "feature"} for c in "ab"]
    columns.append({"name": "goal", "kind": "nominal", "role": "target"})
    file = {"name": name, "format": format, "classes": ["x", "y"]}
    table = published_table(tmp_path, {"file": file, "columns": columns})
    assert table.frame.rows() == [(0, 1, "y"), (0, 0, "x"), (1, 1, "y")]
    assert table.target == "goal"


def test_how_values_were_altered_comes_from_the_manifest():
    noise = {"name": "noise", "parameters": {"kind": "uniform", "probability": 0.5}}
    table = people(60)
    alter: Any = altered_by(noise)
    assert not alter(table, 1).frame.equals(table.frame)
    assert altered_by({"name": "breach", "parameters": {}}) is None
    with pytest.raises(InputError, match="how far noise altered values"):
        altered_by({"name": "noise", "parameters": {}})


def test_a_release_of_one_row_is_attacked_without_a_control_group():
    table = people(60)
    for row in range(4 if LONG else 2):  # of some of them the only person is held out
        found = attack(table, of(table.frame[row : row + 1]), errors=())
        assert found.strongest("linkage").success.value <= 1 / 60
        assert not any(np.isnan(each.control.value) for each in found.scores if each.control)


def test_a_secret_that_is_not_there_is_refused_and_one_that_cannot_be_guessed_is_told():
    table = people(160)
    with pytest.raises(InputError, match="no column 'nope' in the original"):
        attack(table, of(table.frame), secret="nope")
    with_names = Table(
        table.frame.with_columns(pl.int_range(160).cast(pl.String).alias("who")), SECRET
    )
    found = attack(with_names, of(table.frame), errors=(), secret="who")
    assert found.strongest("inference") is None
    assert any("'who' cannot be guessed" in note for note in found.notes)


TABLE = patients(rows=300)


def release_of(table: Table, features: list[str]) -> Release:
    return released(table, features, "by hand", Recipe("hand"))


cells = st.lists(st.tuples(*[st.integers(0, 2)] * 4), min_size=4, max_size=25)


@settings(max_examples=30 if LONG else 12)
@given(cells)
def test_a_person_among_c_alike_is_found_with_chance_one_in_c(rows):
    frame = pl.DataFrame(rows, schema=["a", "b", "ill", "secret"], orient="row")
    table = Table(frame, Roles(target="ill", sensitive="secret", quasi=("a",)))
    release = release_of(table, ["a", "b"])
    sizes = Counter(row[0] for row in rows)
    expected = sum(1 / sizes[row[0]] for row in rows) / len(rows)
    found = quick_attack(table, release)
    assert found is not None
    assert found.found.success.value == pytest.approx(expected)


def test_everybody_unique_is_found_and_everybody_alike_is_not():
    names = pl.DataFrame({"n": range(40), "one": [1] * 40, "ill": [0, 1] * 20})
    table = Table(names, Roles(target="ill"))
    unique, alike = (quick_attack(table, release_of(table, [c])) for c in ("n", "one"))
    assert unique is not None
    assert unique.found.success.value == 1
    assert alike is not None
    assert alike.found.success.value == pytest.approx(1 / 40)


def test_a_coarser_column_finds_fewer():
    ladder = {"width": [20]}
    coarse = Ladder.from_dict("birth_year", ladder).apply(TABLE.frame["birth_year"], 1)
    plain = release_of(TABLE, ["birth_year"])
    table = replace(plain.table, frame=plain.table.frame.with_columns(coarse))
    release = replace(plain, table=table, forms={"birth_year": Coarsening(ladder, 1)})
    fine, rough = quick_attack(TABLE, plain), quick_attack(TABLE, release)
    assert fine is not None
    assert rough is not None
    classes = coarse.n_unique()
    assert rough.found.success.value == pytest.approx(classes / TABLE.rows)
    assert rough.found.success.value < fine.found.success.value / 3


def test_noise_hides_people_whose_values_are_known():
    release = release_of(TABLE, ["zip", "birth_year", "job"])
    altered = UniformNoise(0.9, random_state=1).fit_transform(release.table)
    noisy = replace(release, table=altered).altered_from(release.table)
    before, after = quick_attack(TABLE, release), quick_attack(TABLE, noisy)
    assert before is not None
    assert after is not None
    assert after.found.success.value < before.found.success.value / 2


def test_a_secret_that_a_column_copies_is_guessed():
    rows = 200
    secret = np.random.default_rng(3).permutation([1] * 20 + [0] * (rows - 20))
    frame = pl.DataFrame({"copy": secret, "noise": [0, 1] * 100, "ill": [0, 0, 1, 1] * 50})
    table = Table(
        frame.with_columns(pl.Series("secret", secret)), Roles(target="ill", sensitive="secret")
    )
    told, silent = (quick_attack(table, release_of(table, [c])) for c in ("copy", "noise"))
    assert told is not None
    assert told.guessed is not None
    assert told.guessed.success.value == 1
    assert told.guessed.details["rarest"]["named"] == 1
    assert silent is not None
    assert silent.guessed is not None
    assert silent.guessed.details["rarest"]["named"] < 0.5


def test_people_with_several_rows_are_people():
    twice = Table(pl.concat([TABLE.frame, TABLE.frame]), TABLE.roles)
    found = quick_attack(twice, release_of(twice, ["zip"]), most=50)
    assert found is not None
    assert found.found.people == 50


def test_synthetic_rows_and_large_tables_are_not_tried(monkeypatch):
    release = release_of(TABLE, ["ward"])
    rows = release.table
    drawn = DrawnRelease("", rows, Recipe("dp"), unaltered=rows, evaluation_sample=rows)
    assert quick_attack(TABLE, drawn) is None
    monkeypatch.setattr(module, "MOST_CELLS", 600)  # as many as the release has
    assert quick_attack(TABLE, release) is None


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=8))
def test_named_is_the_mean_over_every_order_of_equals(pairs):
    likely, has = np.array([float(p) for p, _ in pairs]), np.array([h for _, h in pairs])
    amount = int(has.sum())
    draws = np.random.default_rng(0)
    shares = []
    for _ in range(400):
        order = np.lexsort((draws.random(len(pairs)), -likely))[:amount]
        shares.append(has[order].sum() / amount if amount else 0.0)
    assert named(likely, has) == pytest.approx(np.mean(shares), abs=0.12)
