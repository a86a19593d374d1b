"""Roles and Table."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Roles, Table, k_anonymity, read_table
from tamis.errors import InputError
from tamis.table import one_form

FRAME = pl.DataFrame({"id": [1, 2], "age": [3, 4], "job": ["a", "b"], "ill": ["no", "yes"]})


def test_features_leave_out_target_sensitive_and_identifiers():
    table = Table(FRAME, Roles(target="ill", sensitive="job", identifiers=("id",)))
    assert table.features == ("age",)
    assert table.quasi == ("age",)
    assert table.sensitive == "job"


def test_sensitive_defaults_to_the_target():
    assert Table(FRAME, Roles(target="ill")).sensitive == "ill"


def test_dropped_columns_are_gone():
    assert Table(FRAME, Roles(dropped=("id",))).frame.columns == ["age", "job", "ill"]


@pytest.mark.parametrize(
    "roles",
    [
        {"target": "ill", "identifiers": ("ill",)},
        {"sensitive": "job", "quasi": ("job",)},
        {"quasi": ("age", "age")},
        {"identifiers": ("id",), "dropped": ("id",)},
    ],
)
def test_a_role_given_twice_is_refused(roles):
    with pytest.raises(InputError, match="two roles"):
        Roles(**roles)


def test_target_and_sensitive_may_be_the_same():
    assert Table(FRAME, Roles(target="ill", sensitive="ill")).features == ("id", "age", "job")


def test_unknown_columns_are_named_beside_the_known():
    with pytest.raises(InputError, match=r"no column 'agee'.*'age'"):
        Table(FRAME, Roles(quasi=("agee",)))


def test_select_keeps_roles_and_order():
    table = Table(FRAME, Roles(target="ill", quasi=("age", "job"), identifiers=("id",)))
    chosen = table.select(["job"])
    assert chosen.frame.columns == ["id", "job", "ill"]
    assert chosen.quasi == ("job",)


def test_select_refuses_what_is_not_a_feature():
    with pytest.raises(InputError, match="no feature 'ill'"):
        Table(FRAME, Roles(target="ill")).select(["ill"])


def people(identifiers, **roles):
    rows = len(next(iter(identifiers.values())))
    frame = pl.DataFrame({**identifiers, "y": [0] * rows}, strict=False)
    found = Table(frame, Roles(identifiers=tuple(identifiers), **roles)).people
    return None if found.each_row else found.codes.tolist()


def test_a_row_is_a_person_where_no_identifier_repeats() -> None:
    assert people({"ssn": ["c", "a", "b"]}) is None
    assert people({"first": ["a", "a", "b"], "last": ["x", "y", "x"]}) is None


def test_rows_of_one_identifier_are_one_person() -> None:
    assert people({"ssn": ["b", "a", "b"]}) == [1, 0, 1]


def test_a_missing_identifier_is_one_unknown_person() -> None:
    assert people({"ssn": [None, "a", None]}) == [0, 1, 0]


def test_a_finer_identifier_and_a_constant_one_are_not_counted() -> None:
    assert people({"stay": [1, 2, 3], "patient": ["a", "a", "b"], "site": ["s"] * 3}) == [0, 0, 1]
    assert people({"ssn": ["a", "a", "b"], "patient": [7, 7, 9]}) == [0, 0, 1]


def test_rows_that_all_name_one_person_are_one_persons() -> None:
    assert people({"ssn": ["a"] * 3}) == [0, 0, 0]
    assert people({"ssn": ["a"] * 3, "name": ["x"] * 3}) == [0, 0, 0]


def test_numbers_and_texts_tell_apart_alike() -> None:
    for values in ([9, 10, 9], [9.5, 10.0, 9.5], ["9", "10", "9"], [True, False, True]):
        assert people({"id": values}) in ([0, 1, 0], [1, 0, 1])
    assert people({"id": [1.0, float("nan"), None]}) == [1, 0, 0]


def test_it_can_be_said_who_is_a_person() -> None:
    named = {"name": ["x", "x", "y", "y"], "ssn": [1, 2, 3, 3]}
    assert people(named) == [0, 0, 1, 1]
    assert people(named, person=("ssn",)) == [0, 1, 2, 2]
    assert people(named, person=()) is None
    with pytest.raises(InputError, match="must be an identifier"):
        Roles(identifiers=("name",), person=("ssn",))


def test_counts_are_of_rows_until_it_is_said_who_they_are() -> None:
    frame = pl.DataFrame({"id": [1, 2], "y": [0, 1]})
    assert Table(frame).unit == "rows"
    assert Table(frame, Roles(person=())).unit == "people"
    assert Table(frame, Roles(identifiers=("id",))).unit == "people"


def test_values_are_held_in_one_form():
    cells = {
        "^x$": [-0.0, 0.0, float("nan"), None],
        "f": pl.Series([0.0, -0.0, 1.5, float("nan")], dtype=pl.Float32),
        "e": pl.Series(["b", "a", None, "b"], dtype=pl.Enum(["unused", "b", "a", "gone"])),
        "n": [1, 0, -1, None],
    }
    frame = Table(pl.DataFrame(cells)).frame
    assert frame.columns == list(cells)
    for name in ("^x$", "f"):
        bits = frame.get_column(name).to_numpy()
        assert not (np.signbit(bits) & (bits == 0)).any()
    assert frame.get_column("^x$").to_list() == [0.0, 0.0, None, None]
    assert frame.get_column("f").to_list() == [0.0, 0.0, 1.5, None]
    assert frame.schema["f"] == pl.Float32
    assert frame.schema["e"] == pl.Enum(["b", "a"])
    assert frame.get_column("e").to_list() == ["b", "a", None, "b"]
    assert frame.get_column("n").to_list() == cells["n"]


@pytest.mark.parametrize("library", ["polars", "pandas", "pyarrow"])
def test_frames_of_every_library_come_in_one_form(library):
    given = pl.DataFrame({"x": [-0.0, 0.0, 0.0, -0.0], "y": ["a", "b", "b", "a"]})
    native = {"polars": given, "pandas": given.to_pandas(), "pyarrow": given.to_arrow()}[library]
    cells = read_table(native, target="y").frame["x"].to_numpy()
    assert not np.signbit(cells).any()
    assert k_anonymity(native, quasi=["x"]) == 4


def test_a_file_with_signed_zeros_comes_in_one_form(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n-0.0,a\n0.0,b\n0.5,a\n")
    assert not np.signbit(read_table(tmp_path / "t.csv").frame["x"].to_numpy()).any()


odd_floats = st.lists(
    st.sampled_from([0.0, -0.0, float("nan"), None, 1.5, -1.5]), min_size=1, max_size=12
)


@given(odd_floats, st.sampled_from([pl.Float32, pl.Float64]))
def test_a_value_has_one_form(values, kind):
    column = one_form(pl.DataFrame({"x": pl.Series(values, dtype=kind)}))["x"]
    expected = [None if v is None or v != v else v for v in values]
    assert column.to_list() == expected
    assert column.dtype == kind
    assert not np.signbit(column.filter(column == 0).to_numpy()).any()
