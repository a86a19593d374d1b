"""Who is in a release that leaves some out."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis import Roles, Table
from tamis.attack.linkage import linkage
from tamis.attack.scene import Scene
from tamis.attack.sources import (
    as_stated,
    in_its_groups,
    in_its_ladders,
    in_local_groups,
    stated_forms,
    those_inside,
)
from tamis.coarsen.ladder import Ladder
from tamis.coarsen.local import local_classes, local_form
from tamis.errors import CannotMeet, InputError
from tamis.publication.manifest import stated
from tamis.release import Coarsening
from tamis.require import requirements
from tests.long import LONG

STAYS = pl.DataFrame(
    {"age": [30, 30, 90, None, 30], "ill": ["no", "yes", "no", "no", "no"], "who": list("abcdc")}
)


def released(*rows: int) -> Table:
    # As it is read again: numbers are floats, and the order is another.
    frame = STAYS[list(rows)].select(pl.col("age").cast(pl.Float64), "ill")
    return Table(frame, Roles(target="ill"))


def test_rows_like_none_of_the_release_are_out_and_missing_cells_are_alike():
    table = Table(STAYS, Roles(target="ill"))
    assert those_inside(table, released(3, 1, 0)).frame["who"].to_list() == list("abdc")


def test_people_are_out_with_all_their_rows():
    table = Table(STAYS, Roles(target="ill", identifiers=("who",)))
    assert those_inside(table, released(3, 1, 0)).frame["who"].to_list() == list("abd")


def test_everybody_is_in_a_release_of_all_rows():
    table = Table(STAYS, Roles(target="ill"))
    assert those_inside(table, released(4, 3, 2, 1, 0)).rows == 5


DAYS = [date(2019, 1, 31), date(2019, 2, 1), date(2020, 2, 3), date(2021, 12, 31), None]
JOBS = ["cook", "cook", "judge", "bard", None]
AGES = [3, 18, 18, 64, 91]
FORMS: list[tuple[list[Any], dict[str, Any], int]] = [
    (AGES, {"cuts": [[10, 30, 65], [30]]}, 1),
    (AGES, {"cuts": [[10, 30, 65], [30]]}, 2),
    (AGES, {"width": [5, 20], "top": 90}, 2),
    (["75011", "75012", "01000", "7", None], {"keep": [3, 2]}, 2),
    (AGES, {"step": [5, 10]}, 2),
    ([0.37, 2.04, None], {"step": [0.1]}, 1),
    (DAYS, {"dates": ["month", "year"]}, 1),
    (DAYS, {"dates": ["month", "year"]}, 2),
    (DAYS, {"cuts": [["2019-02-01", "2021-01-01"]]}, 1),
    (JOBS, {"groups": [{"hand": ["cook", "bard"], "head": ["judge"]}]}, 1),
    (JOBS, {"common": [["cook"]]}, 1),
    (AGES, {"groups": [{"young": ["3", "18"], "old": ["64", "91"]}]}, 1),
]


@pytest.mark.parametrize(("values", "ladder", "level"), FORMS)
def test_what_a_manifest_states_gives_the_same_cells(values, ladder, level):
    column = pl.Series("it", values)
    told = Ladder.from_dict("it", ladder).apply(column, level)
    said = stated(Coarsening(ladder, level), column, k=1)
    forms = stated_forms({"columns": [{"name": "it", "coarser": said}, {"name": "goal"}]})
    original, release = Table(pl.DataFrame([column])), Table(pl.DataFrame([told]))
    mine = in_its_groups(original, release, forms)
    assert mine.frame["it"].to_list() == told.to_list()


def test_a_rare_value_is_in_the_only_group_with_room_for_it():
    jobs = pl.Series("job", ["cook"] * 5 + ["judge"] * 5 + ["bard", "king", "king"])
    groups = {"hand": ["cook", "bard"], "head": ["judge", "king"]}
    told = Ladder.from_dict("job", {"groups": [groups]}).apply(jobs, 1)
    said = stated(Coarsening({"groups": [groups]}, 1), jobs, k=5)
    assert said["groups"] == {"hand": ["cook"], "head": ["judge"]}
    mine = as_stated(Table(pl.DataFrame([jobs])), Table(pl.DataFrame([told])), {"job": said})
    # One row is left among "hand" and two among "head": the king has two, the bard fits both.
    assert mine.frame["job"].to_list()[-3:] == ["no group: bard", "head", "head"]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"groups": 3}, "damaged where it states coarser columns"),
        ({"groups": {"a": 3}}, "damaged where it states coarser columns"),
        ("text", "damaged where it states coarser columns"),
        ({"cuts": None}, "the ladder of column 'age': cuts must be all numbers"),
    ],
)
def test_a_damaged_statement_is_refused_without_a_traceback(said, words):
    table = Table(pl.DataFrame({"age": ["a"]}))
    with pytest.raises((CannotMeet, InputError), match=words):
        as_stated(table, table, {"age": said})


ROWS = st.lists(
    st.tuples(
        st.integers(0, 9) | st.none(),
        st.sampled_from(["a", "b", "c", None]),
        st.sampled_from(DAYS[:4]),
    ),
    min_size=2,
    max_size=40,
)


@settings(max_examples=25 if LONG else 10)
@given(ROWS, st.integers(1, 4))
def test_groups_of_local_recoding_are_found_again(rows, k):
    names = ["age", "^job$", "day"]
    frame = pl.DataFrame(
        rows, schema={"age": pl.Int64, "^job$": pl.String, "day": pl.Date}, orient="row"
    )
    k = min(k, len(rows))
    columns = [frame.get_column(name) for name in names]
    leaves = [
        s.alias("").rank("dense").fill_null(99).cast(pl.Int32).to_numpy().astype(np.int64)
        for s in columns
    ]
    leaves = [np.unique(each, return_inverse=True)[1] for each in leaves]
    widths = [int(each.max()) + 1 for each in leaves]
    found = local_classes(leaves, widths, requirements(k=k))
    told = pl.DataFrame([local_form(series, found) for series in columns])
    mine = in_local_groups(Table(frame), Table(told))
    if mine is not None:  # every cell may be told as it is
        assert mine.frame.rows() == told.rows()


def test_people_in_local_groups_are_found_as_often_as_their_classes_say():
    drawn = np.random.default_rng(1)
    frame = pl.DataFrame({"age": drawn.integers(0, 50, 120), "weight": drawn.integers(0, 50, 120)})
    found = local_classes([frame["age"].to_numpy(), frame["weight"].to_numpy()], [50, 50],
                          requirements(k=6))  # fmt: skip
    told = pl.DataFrame([local_form(frame[c], found) for c in frame.columns])
    release = Table(told.with_columns(goal=pl.lit("x")), Roles(target="goal"))
    original = Table(frame.with_columns(goal=pl.lit("x")), Roles(target="goal"))
    scene = Scene(in_its_groups(original, release), release)
    assert scene.not_compared == ()
    exact = linkage(scene, ())[0].success.value
    assert exact == pytest.approx(found.classes / 120)


def test_classes_that_overlap_are_not_guessed():
    table = Table(pl.DataFrame({"age": [1, 2, 3]}))
    assert in_local_groups(table, Table(pl.DataFrame({"age": ["[1, 2]", "[2, 3]"]}))) is None
    assert in_local_groups(table, Table(pl.DataFrame({"age": ["1", "2"]}))) is None


def test_who_is_in_no_class_stays_apart():
    table = Table(pl.DataFrame({"age": [1, 2, 7]}))
    mine = in_local_groups(table, Table(pl.DataFrame({"age": ["[1, 2]", "[1, 2]"]})))
    assert mine is not None
    assert mine.frame["age"].to_list() == ["[1, 2]", "[1, 2]", "no group: 7"]


def test_numbers_cut_down_are_found_again_though_all_are_values_of_somebody():
    ages = pl.Series("age", list(range(40)))
    ladder = Ladder.from_dict("age", {"step": [2, 10]})
    for level in (1, 2):
        told = ladder.apply(ages, level).cast(pl.Float64)  # as it is read again
        found = in_its_ladders(
            Table(ages.to_frame()), Table(told.to_frame()), {"age": ladder}
        ).frame["age"]
        assert found.to_list() == told.to_list()
