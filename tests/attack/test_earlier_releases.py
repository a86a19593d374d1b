"""What several releases of the same people tell together."""

from collections import Counter
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from tamis.attack.earlier_releases import EarlierRelease, EarlierReleases
from tamis.attack.row_names import RowNames
from tamis.errors import CannotMeet, InputError
from tamis.release import Coarsening, Recipe, Release, released
from tamis.require.k import ContainmentAnonymity, KAnonymity
from tamis.risk.containment import containment_anonymity
from tamis.table import Roles, Table

KIND = {"k_anonymity": KAnonymity, "containment_anonymity": ContainmentAnonymity}

ROWS = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(0, 1), st.integers(0, 1)),
    min_size=2,
    max_size=9,
)


def table_of(rows, schema=("a", "b", "c", "goal"), **roles: Any) -> Table:
    frame = pl.DataFrame(rows, schema=list(schema), orient="row")
    return Table(frame, Roles(target="goal", **roles))


def manifest(columns, key="k_anonymity", **more) -> dict[str, Any]:
    return {
        "columns": [{"name": c, "role": "feature"} for c in columns],
        "promises": [{"key": key, "at_least": 2, "columns": list(columns)}],
        **more,
    }


def handed_on(table: Table, columns, key="k_anonymity", names=True, **more) -> EarlierRelease:
    """Columns of a table, as they would be read from their folder."""
    rows = Table(table.only([*columns, "goal"]), Roles(target="goal"))
    kept = RowNames.of(table) if names else None
    return EarlierRelease(manifest(columns, key, **more), rows, kept)


def new(table, columns, name: Any = "k_anonymity") -> Release:
    promise = KIND[name](2, columns=tuple(columns))
    return released(table, columns, "new", Recipe("hand"), (promise,))


def reached(table: Table, earlier, columns, name: Any = "k_anonymity") -> int | None:
    narrow = table.with_roles(quasi=())  # attackers know what is promised, and no more
    return EarlierReleases(narrow, earlier).anonymity_beside(new(table, columns, name))


@given(
    ROWS,
    st.sets(st.sampled_from("abc")),
    st.sets(st.sampled_from("abc"), min_size=1),
    st.booleans(),
)
def test_columns_of_all_releases_stand_side_by_side(rows, before, now, names):
    table = table_of(rows)
    found = reached(table, [handed_on(table, sorted(before), names=names)], sorted(now))
    both = Counter(table.frame.select(sorted(before | now)).iter_rows())
    assert found == min(both.values())


# The definition, over plain records: (person, number, what each file shows of it or None).

RECORDS = st.lists(
    st.tuples(
        st.integers(0, 3), *[st.one_of(st.none(), st.integers(0, 1)) for _ in range(3)]
    ).filter(lambda record: any(seen is not None for seen in record[1:])),
    min_size=1,
    max_size=9,
)


def fewest_candidates(records) -> int:
    """The people with a record that looks the same in every file and who are in the same files."""
    files = range(len(records[0][1:]))
    member = {
        who: tuple(any(r[0] == who and r[1 + f] is not None for r in records) for f in files)
        for who in {r[0] for r in records}
    }
    return min(
        len({q[0] for q in records if q[1:] == r[1:] and member[q[0]] == member[r[0]]})
        for r in records
    )


def worlds(records, identifiers, **roles: Any):
    """The tables that the files were made of; the last is that of today."""
    found = []
    for file in range(len(records[0]) - 1):
        rows = [
            (f"p{r[0]}", f"s{number}", r[1 + file], 0)
            for number, r in enumerate(records)
            if r[1 + file] is not None
        ]
        schema = {"who": pl.String, "stay": pl.String, "a": pl.Int64, "goal": pl.Int64}
        frame = pl.DataFrame(rows, schema=schema, orient="row")
        frame = frame.drop([] if "stay" in identifiers else ["stay"])
        held = Roles(target="goal", identifiers=identifiers, **roles)
        found.append(Table(frame, held))
    return found


def composed(records, *identifiers: str) -> int | None:
    """The fewest candidates that are counted, where no file is of strangers."""
    *then, now = worlds(records, identifiers, person=("who",))
    today = set(now.frame["who"])
    assume(now.rows and all(not each.rows or today & set(each.frame["who"]) for each in then))
    earlier = [handed_on(each, ["a"]) for each in then if each.rows]
    return EarlierReleases(now, earlier).anonymity_beside(new(now, ["a"]))


@given(RECORDS)
@example([(0, 0, None, 0), (1, 0, None, 0), (2, None, 0, 0), (2, None, None, 0)])
def test_people_hide_among_those_who_look_alike_in_every_file(records):
    assert composed(records, "who", "stay") == fewest_candidates(records)


@given(RECORDS)
def test_one_row_a_person_is_matched_whatever_its_cells_have_become(records):
    once = list({r[0]: r for r in records}.values())
    assert composed(once, "who") == fewest_candidates(once)


@given(RECORDS)
def test_without_a_name_for_each_row_nobody_has_more_candidates_than_are_left(records):
    found = composed(records, "who")
    assert found is not None
    assert 1 <= found <= fewest_candidates(records)


@given(RECORDS)
def test_rows_that_did_not_change_are_matched_within_a_person(records):
    steady = [(who, *(None if seen is None else i % 2 for seen in rest))
              for i, (who, *rest) in enumerate(records)]  # fmt: skip
    whole = [r for r in steady if r[1] is not None and r[2] is not None and r[3] is not None]
    if whole:
        assert composed(whole, "who") == fewest_candidates(whole)


CAME = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(0, 1), st.booleans()),
    min_size=2,
    max_size=7,
)


def fewest_possible(rows, key) -> int:
    """The fewest candidates by any choice of who, of equals, the earlier rows belong to."""
    groups: dict[Any, list[int]] = {}
    for number, row in enumerate(rows):
        groups.setdefault(key(row), []).append(number)
    amounts = [sum(rows[i][3] for i in members) for members in groups.values()]
    choices = [combinations(m, n) for m, n in zip(groups.values(), amounts)]
    found = []
    for choice in product(*map(list, choices)):
        inside = {i for chosen in choice for i in chosen}
        views = [(row[0] if i in inside else None, row[2]) for i, row in enumerate(rows)]
        found.append(min(Counter(views).values()))
    return min(found)


@given(CAME, st.booleans())
def test_without_identifiers_the_fewest_that_are_possible_count(rows, names):
    if not any(row[3] for row in rows):
        return
    frame = pl.DataFrame([row[:3] for row in rows], schema=["a", "b", "c"], orient="row")
    now = Table(frame.with_columns(goal=0), Roles(target="goal", quasi=()))
    then = Table(now.frame.filter(pl.Series([row[3] for row in rows])).drop("c"), Roles("goal"))
    earlier = handed_on(then, ["a"], names=names)
    key = (lambda row: row[:2]) if names else (lambda row: row[:1])
    found = EarlierReleases(now, [earlier]).anonymity_beside(new(now, ["c"]))
    assert found == fewest_possible(rows, key)


@given(ROWS)
def test_two_promises_of_containment_are_one_of_both(rows):
    table = table_of(rows)
    kind: Any = "containment_anonymity"
    earlier = [handed_on(table, ["a"], kind), handed_on(table, ["c"], kind)]
    cells = table.frame.select("a", "b", "c").to_numpy().astype(np.uint8)
    assert reached(table, earlier, ["b"], kind) == containment_anonymity(cells)
    equal = min(Counter(table.frame.select("a", "b", "c").iter_rows()).values())
    assert reached(table, earlier, ["b"]) == equal


def test_by_containment_too_those_who_came_hide_among_each_other():
    rows = [(f"p{i}", 1, 1, 0) for i in range(6)]
    now = table_of(rows, ("who", "a", "b", "goal"), identifiers=("who",))
    then = replace(now, frame=now.frame[:4])
    kind: Any = "containment_anonymity"
    handed = EarlierReleases(now, [handed_on(then, ["a"], kind)])
    assert handed.anonymity_beside(new(now, ["b"], kind)) == 2
    handed.check(2)
    with pytest.raises(CannotMeet, match="2 people came since an earlier release"):
        handed.check(3)


def test_each_alone_is_safe_and_both_together_are_not():
    table = table_of([(0, 0, 0, 0), (0, 1, 0, 0), (1, 0, 0, 1), (1, 1, 0, 1)])
    assert reached(table, [], ["a"]) == 2
    assert reached(table, [], ["b"]) == 2
    assert reached(table, [handed_on(table, ["a"])], ["b"]) == 1


def test_a_coarser_form_of_what_was_handed_on_does_not_hide_it():
    table = table_of([(0, 0, 0, 0), (0, 1, 0, 0), (1, 0, 0, 1), (1, 1, 0, 1)])
    flat = Table(table.frame.with_columns(b=pl.lit(0)).drop("a", "c"), Roles(target="goal"))
    coarse = Release("coarse", flat, Recipe("hand"), (KAnonymity(2, columns=("b",)),))
    assert EarlierReleases(table, [handed_on(table, ["a", "b"])]).anonymity_beside(coarse) == 1


def test_a_coarser_form_that_was_handed_on_is_what_counts():
    table = table_of([(0, 0, 0, 0), (1, 1, 0, 0), (2, 0, 0, 1), (3, 1, 0, 1)])
    rows = Table(pl.DataFrame({"a": ["low", "low", "high", "high"], "goal": [0, 0, 1, 1]}))
    earlier = EarlierRelease(manifest(["a"]), rows.with_roles(target="goal"), RowNames.of(table))
    assert reached(table, [earlier], ["c"]) == 2
    assert reached(table, [earlier], ["b"]) == 1


def test_people_are_counted_and_not_rows():
    rows = [(1, 0, 0), (1, 0, 1), (2, 1, 0), (2, 1, 1)]
    table = table_of(rows, ("who", "a", "goal"), identifiers=("who",))
    assert reached(table, [handed_on(table, ["a"])], []) == 1


def test_what_attackers_know_by_one_promise_they_know_in_every_file():
    """The age was assumed to be unknown then; whoever knows it now finds it in the old file."""
    table = table_of([(0, 0, 0, 0), (0, 0, 1, 0), (1, 0, 0, 1), (1, 0, 1, 1)])
    earlier = replace(handed_on(table, ["a", "b"]), manifest=manifest(["a", "b"]))
    earlier.manifest["promises"][0]["columns"] = ["b"]
    assert reached(table, [earlier], ["c"]) == 2
    knowing = EarlierReleases(table.with_roles(quasi=("a",)), [earlier])
    assert knowing.anonymity_beside(new(table, ["c"])) == 1


def test_whoever_knows_a_0_1_column_knows_what_it_was_made_of():
    frame = pl.DataFrame({"job": ["x", "y", "z", "z"] * 3, "goal": [0, 1] * 6, "a": [0] * 12})
    table = Table(frame, Roles(target="goal", quasi=()))
    rows = pl.DataFrame({"job = x": [1.0, 0.0, 0.0, 0.0] * 3, "goal": ["0", "1"] * 6})
    told = manifest(["job = x"], "containment_anonymity")
    told["columns"][0]["made_of"] = "job"
    earlier = EarlierRelease(told, Table(rows, Roles(target="goal")), RowNames.of(table))
    plain = released(table, ["job"], "new", Recipe("hand"))
    assert EarlierReleases(table, [earlier]).anonymity_beside(plain) == 3
    assert EarlierReleases(table, []).anonymity_beside(plain) == 12


def test_columns_of_0_and_1_made_of_others_are_found():
    frame = pl.DataFrame({"job": ["x", "y"] * 10, "goal": [0, 1] * 10, "age": [1, 1, 2, 2] * 5})
    table = Table(frame, Roles(target="goal"))
    rows = pl.DataFrame({"job = x": [1.0, 0.0] * 10, "goal": ["0", "1"] * 10})
    told = manifest(["job = x"], "containment_anonymity")
    earlier = EarlierRelease(told, Table(rows, Roles(target="goal")))
    assert EarlierReleases(table, [earlier]).anonymity_beside(new(table, ["age"])) == 5


def test_synthetic_rows_add_up_as_epsilon():
    table = table_of([(0, 0, 0, 0), (1, 1, 0, 1)])
    drawn = [EarlierRelease(manifest(["a"], budget={"epsilon": e})) for e in (0.5, 1.0)]
    handed = EarlierReleases(table.with_roles(quasi=()), [*drawn, handed_on(table, ["b"])])
    assert handed.epsilon == 1.5
    assert handed.known == ("b",)
    assert "3 earlier releases" in handed.words(5)
    assert "epsilon = 1.5" in handed.words(5)


# What cannot be matched is refused, and says what to do.


def test_a_column_that_the_table_lacks_is_refused_by_name():
    old = table_of([("x", 0), ("y", 0)], ("zip", "goal"))
    now = table_of([(0, 0), (1, 0)], ("a", "goal"))
    for names in (True, False):
        with pytest.raises(InputError, match=r"'zip'.* private part"):
            EarlierReleases(now, [handed_on(old, ["zip"], names=names)]).check(1)


def test_rows_that_may_have_changed_are_refused_without_identifiers():
    old = table_of([(0, 0), (1, 0), (2, 0)], ("a", "goal"))
    now = table_of([(0, 0), (1, 0), (3, 0)], ("a", "goal"))
    for names in (True, False):
        with pytest.raises(InputError, match=r"1 row of an earlier release is not .*--identifier"):
            EarlierReleases(now, [handed_on(old, ["a"], names=names)]).check(1)


def test_a_change_that_was_not_released_changes_nothing():
    old = table_of([(0, 0, 0), (1, 0, 0)], ("a", "b", "goal"))
    now = table_of([(0, 0, 0), (1, 5, 0)], ("a", "b", "goal"))
    assert reached(now, [handed_on(old, ["a"])], []) == 1
    EarlierReleases(now, [handed_on(old, ["a"])]).check(1)


def test_people_told_apart_by_something_else_are_refused():
    rows = [("p", "x", 0, 0), ("q", "y", 0, 0), ("q", "z", 0, 0)]
    old = table_of(rows, ("who", "card", "a", "goal"), identifiers=("who",))
    now = table_of(rows, ("who", "card", "a", "goal"), identifiers=("card",))
    with pytest.raises(InputError, match=r"told people apart by column 'who'.*--identifier"):
        EarlierReleases(now, [handed_on(old, ["a"])]).check(1)


def test_altered_rows_without_a_private_part_are_refused():
    table = table_of([(0, 0, 0, 0), (1, 1, 0, 1)])
    method = {"name": "noise", "parameters": {"kind": "uniform", "probability": 0.1}}
    earlier = handed_on(table, ["a"], names=False, method=method)
    with pytest.raises(InputError, match="altered on purpose"):
        EarlierReleases(table, [earlier]).check(1)
    EarlierReleases(table, [replace(earlier, names=RowNames.of(table))]).check(1)


def test_whose_rows_came_is_refused_where_people_have_several():
    rows = [("p", 0, 0), ("p", 1, 0), ("q", 0, 0), ("q", 1, 0)]
    now = table_of(rows, ("who", "a", "goal"), identifiers=("who",))
    old = replace(now, frame=now.frame[:3])
    with pytest.raises(InputError, match="whose they are cannot be told"):
        EarlierReleases(now, [handed_on(old, ["a"], names=False)]).check(1)
    EarlierReleases(now, [handed_on(old, ["a"])]).check(1)


def test_those_who_left_several_releases_need_identifiers():
    now = table_of([(0, 0), (1, 0)], ("a", "goal"))
    old = table_of([(0, 0), (1, 0), (1, 0)], ("a", "goal"))
    with pytest.raises(InputError, match="rows of several earlier releases"):
        EarlierReleases(now, [handed_on(old, ["a"]), handed_on(old, ["a"])]).check(1)


# Who came, who left, who stayed


def people(*whose: int, a=0) -> Table:
    rows = [(f"p{i}", a, 0) for i in whose]
    return table_of(rows, ("who", "a", "goal"), identifiers=("who",))


@pytest.mark.parametrize(
    ("then", "now", "words"),
    [
        (range(10), range(13), "3 people came since an earlier release"),
        (range(10), range(7), "left the table"),
        (range(3), range(13), "3 people of the earlier releases"),
    ],
)
def test_few_who_came_left_or_stayed_are_seen(then, now, words):
    handed = EarlierReleases(people(*now), [handed_on(people(*then), ["a"])])
    handed.check(3)
    with pytest.raises(CannotMeet, match=words):
        handed.check(4)


def test_a_release_of_nobody_in_the_table_is_refused():
    handed = EarlierReleases(people(*range(9)), [handed_on(people(*range(10, 19)), ["a"])])
    with pytest.raises(InputError, match="nobody of an earlier release is in this table"):
        handed.check(1)


def test_people_are_found_however_they_are_spelt():
    then, now = people(*range(5)), people(*range(5))
    loud = replace(now, frame=now.frame.with_columns(pl.col("who").str.to_uppercase() + " "))
    assert EarlierReleases(loud, [handed_on(then, ["a"])]).units.rows == 5
    EarlierReleases(loud, [handed_on(then, ["a"])]).check(5)


def test_one_person_with_six_rows_is_one():
    rows = [(f"p{i}", 0, 0) for i in range(10)] + [("new", 0, 0)] * 6
    now = table_of(rows, ("who", "a", "goal"), identifiers=("who",))
    handed = EarlierReleases(now, [handed_on(replace(now, frame=now.frame[:10]), ["a"])])
    with pytest.raises(CannotMeet, match="1 person came since an earlier release"):
        handed.check(2)


def test_those_who_came_hide_among_each_other_by_the_new_columns():
    rows = [(f"p{i}", i % 2, 0) for i in range(20)]
    now = table_of(rows, ("who", "a", "goal"), identifiers=("who",), quasi=())
    then = replace(now, frame=now.frame[:16])
    handed = EarlierReleases(now, [handed_on(then, [])])
    assert handed.anonymity_beside(new(now, [])) == 4
    assert handed.anonymity_beside(new(now, ["a"])) == 2


# What is told together


def test_together_an_attacker_has_the_columns_of_all_releases():
    table = table_of([(0, 0, 0, 0), (0, 1, 0, 0), (1, 0, 0, 1), (1, 1, 0, 1)])
    both = EarlierReleases(table, [handed_on(table, ["a", "b"])]).together(new(table, ["b", "c"]))
    assert set(both.features) == {"a", "b", "c"}
    assert both.table.only(["a", "b", "c"]).equals(table.only(["a", "b", "c"]))
    assert set(both.table.quasi) == {"b", "c", "a"}


def test_together_true_values_take_the_place_of_coarser_and_altered_ones():
    table = table_of([(0, 0, 0, 0), (0, 1, 0, 0), (1, 0, 0, 1), (1, 1, 0, 1)])
    plain = new(table, ["b", "c"])
    flat = Table(plain.table.frame.with_columns(b=pl.lit("*"), c=pl.lit("*")), plain.table.roles)
    forms = {c: Coarsening({"groups": [{"*": ["0", "1"]}]}, 1) for c in ("b", "c")}
    coarse = replace(plain, table=flat, forms=forms)
    both = EarlierReleases(table, [handed_on(table, ["b"])]).together(coarse)
    assert both.table.frame["b"].to_list() == table.frame["b"].to_list()
    assert both.table.frame["c"].to_list() == ["*"] * 4
    assert set(both.forms) == {"c"}


def test_together_what_was_released_otherwise_stands_beside():
    now, then = people(0, 1, 2, a=1), people(2, 1, a=0)
    both = EarlierReleases(now, [handed_on(then, ["a"])]).together(new(now, ["a"]))
    assert both.table.frame["a"].to_list() == [1, 1, 1]
    assert both.table.frame["a in earlier release 1"].to_list() == [None, 0, 0]
    assert both.table.frame["in earlier release 1"].to_list() == [0, 1, 1]
    assert "in earlier release 1" in both.table.quasi
