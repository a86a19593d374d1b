"""What several releases of the same people tell together."""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.attack.earlier_releases import HandedOn, row_changes
from tamis.errors import CannotMeet, InputError
from tamis.release import Coarsening, Promise, Recipe, Release, released
from tamis.risk.containment import containment_anonymity
from tamis.table import Roles, Table

ROWS = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(0, 1), st.integers(0, 1)),
    min_size=2,
    max_size=9,
)


def table_of(rows):
    schema = ["a", "b", "c", "goal"]
    return Table(pl.DataFrame(rows, schema=schema, orient="row"), Roles(target="goal"))


def manifest(columns, key="k_anonymity", **more) -> dict[str, Any]:
    return {
        "columns": [{"name": c, "role": "feature"} for c in columns],
        "promises": [{"key": key, "at_least": 2, "columns": list(columns)}],
        **more,
    }


def new(table, columns, name: Any = "k_anonymity"):
    promise = Promise(name, 2, tuple(columns))
    return released(table, columns, "new", Recipe("hand"), (promise,))


@given(ROWS, st.sets(st.sampled_from("abc")), st.sets(st.sampled_from("abc"), min_size=1))
def test_columns_of_all_releases_stand_side_by_side(rows, before, now):
    table = table_of(rows)
    found = HandedOn.of(table, [manifest(sorted(before))]).anonymity_beside(new(table, sorted(now)))
    both = sorted(before | now)
    assert found == min(Counter(table.frame.select(both).iter_rows()).values())


@given(ROWS)
def test_two_promises_of_containment_are_one_of_both(rows):
    table = table_of(rows)
    kind: Any = "containment_anonymity"
    handed = HandedOn.of(table, [manifest(["a"], kind), manifest(["c"], kind)])
    cells = table.frame.select("a", "b", "c").to_numpy().astype(np.uint8)
    assert handed.anonymity_beside(new(table, ["b"], kind)) == containment_anonymity(cells)
    equal = min(Counter(table.frame.select("a", "b", "c").iter_rows()).values())
    assert handed.anonymity_beside(new(table, ["b"])) == equal


def test_each_alone_is_safe_and_both_together_are_not():
    table = table_of([(0, 0, 0, 0), (0, 1, 0, 0), (1, 0, 0, 1), (1, 1, 0, 1)])
    nothing = HandedOn.of(table, [])
    assert nothing.anonymity_beside(new(table, ["a"])) == 2
    assert nothing.anonymity_beside(new(table, ["b"])) == 2
    assert HandedOn.of(table, [manifest(["a"])]).anonymity_beside(new(table, ["b"])) == 1


def test_a_coarser_form_of_what_was_handed_on_does_not_hide_it():
    table = table_of([(0, 0, 0, 0), (0, 1, 0, 0), (1, 0, 0, 1), (1, 1, 0, 1)])
    flat = Table(table.frame.with_columns(b=pl.lit(0)).drop("a", "c"), Roles(target="goal"))
    coarse = Release("coarse", flat, Recipe("hand"), (Promise("k_anonymity", 2, ("b",)),))
    assert HandedOn.of(table, [manifest(["a", "b"])]).anonymity_beside(coarse) == 1


def test_people_are_counted_and_not_rows():
    frame = pl.DataFrame({"who": [1, 1, 2, 2], "a": [0, 0, 1, 1], "goal": [0, 1, 0, 1]})
    table = Table(frame, Roles(target="goal", identifiers=("who",)))
    assert HandedOn.of(table, [manifest(["a"])]).anonymity_beside(new(table, [])) == 1


def test_columns_of_0_and_1_made_of_others_are_found():
    frame = pl.DataFrame({"job": ["x", "y"] * 10, "goal": [0, 1] * 10, "age": [1, 1, 2, 2] * 5})
    table = Table(frame, Roles(target="goal"))
    handed = HandedOn.of(table, [manifest(["job = x"], "containment_anonymity")])
    assert handed.anonymity_beside(new(table, ["age"])) == 5


def test_synthetic_rows_add_up_as_epsilon():
    table = table_of([(0, 0, 0, 0), (1, 1, 0, 1)])
    drawn = [manifest(["a"], budget={"epsilon": e}) for e in (0.5, 1.0)]
    handed = HandedOn.of(table, [*drawn, manifest(["b"])])
    assert handed.epsilon == 1.5
    assert handed.known == ("b",)
    assert "3 earlier releases" in handed.words(5)
    assert "epsilon = 1.5" in handed.words(5)


def test_a_column_that_the_table_lacks_is_refused_by_name():
    with pytest.raises(InputError, match="'zip'"):
        HandedOn.of(table_of([(0, 0, 0, 0)]), [manifest(["zip"])])


def test_together_an_attacker_has_the_columns_of_all_releases():
    table = table_of([(0, 0, 0, 0), (0, 1, 0, 0), (1, 0, 0, 1), (1, 1, 0, 1)])
    both = HandedOn.of(table, [manifest(["a", "b"])]).together(new(table, ["b", "c"]))
    assert set(both.features) == {"a", "b", "c"}
    assert both.table.only(["a", "b", "c"]).equals(table.only(["a", "b", "c"]))
    assert both.table.quasi == ("b", "c", "a")


def test_together_true_values_take_the_place_of_coarser_and_altered_ones():
    table = table_of([(0, 0, 0, 0), (0, 1, 0, 0), (1, 0, 0, 1), (1, 1, 0, 1)])
    plain = new(table, ["b", "c"])
    flat = Table(plain.table.frame.with_columns(b=pl.lit("*"), c=pl.lit("*")), plain.table.roles)
    forms = {c: Coarsening({"groups": [{"*": ["0", "1"]}]}, 1) for c in ("b", "c")}
    coarse = replace(plain, table=flat, forms=forms)
    both = HandedOn.of(table, [manifest(["b"])]).together(coarse)
    assert both.table.frame["b"].to_list() == table.frame["b"].to_list()
    assert both.table.frame["c"].to_list() == ["*"] * 4
    assert set(both.forms) == {"c"}


OLD = Table(pl.DataFrame({"age": [30, 30, 40, 40, 50, 50], "job": ["a", "b", "a", "b", "a", "b"]}))


def grown(*rows: tuple[int, str]) -> Table:
    more = pl.DataFrame(list(rows), schema=OLD.frame.schema, orient="row")
    return Table(OLD.frame.vstack(more))


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (OLD, (0, 0, 0)),
        (grown((60, "a")), (1, 0, 1)),
        (Table(OLD.frame[1:]), (0, 1, 1)),
        (Table(OLD.frame.with_columns(age=pl.col("age").replace(50, 51))), (2, 2, 0)),
        (Table(OLD.frame.reverse()), (0, 0, 0)),
    ],
)
def test_how_a_table_changed_since_a_release(table, expected):
    assert row_changes(table, OLD) == expected


def test_coarser_columns_are_compared_in_their_form():
    coarse = Table(pl.DataFrame({"age": ["[30, 45)"] * 4 + [">= 45"] * 2}))
    stated = {"age": {"level": 1, "cuts": [30, 45], "read": ""}}
    assert row_changes(OLD, coarse, stated) == (0, 0, 0)
    assert row_changes(grown((31, "a")), coarse, stated) == (1, 0, 1)


def test_rows_of_releases_that_share_no_column_are_counted():
    other = Table(pl.DataFrame({"town": ["x"] * 5}))
    assert row_changes(OLD, other) == (0, 0, 1)


MANIFEST = {
    "columns": [{"name": "age", "role": "feature"}],
    "promises": [{"key": "k_anonymity", "at_least": 2, "columns": ["age"]}],
}


@pytest.mark.parametrize(("k", "allowed"), [(1, True), (2, False), (5, False)])
def test_a_few_changed_rows_are_refused(k, allowed):
    handed = HandedOn.of(grown((30, "a")), [MANIFEST], releases=[Table(OLD.frame.select("age"))])
    assert handed.changed == (1, 0, 1)
    if allowed:
        handed.check_changes(k)
        return
    with pytest.raises(CannotMeet, match="differs in 1 row from an earlier release"):
        handed.check_changes(k)


def test_synthetic_rows_are_no_rows_of_the_table():
    drawn = {"columns": [], "promises": [], "budget": {"epsilon": 1.0}}
    assert HandedOn.of(OLD, [drawn], releases=[Table(OLD.frame[:3])]).changed == ()
