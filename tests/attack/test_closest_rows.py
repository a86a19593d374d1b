"""How near rows are to people, by hand."""

import polars as pl
import pytest

from tamis.attack.closest_rows import closest_rows
from tamis.attack.scene import Scene
from tamis.table import Table


def table(**columns):
    return Table(pl.DataFrame(columns))


def test_against_a_control_group():
    people = table(age=[0.0, 50.0, 100.0], job=["a", "b", "c"])
    made = table(age=[10.0, 50.0], job=["a", "c"])  # 0.1 from the first; 0.5 from the third
    others = table(age=[50.0, 50.0], job=["b", "z"])  # the second; 1 from it
    found = closest_rows(Scene(people, made, control=others))
    assert found.released == pytest.approx(0.3)
    assert found.others == pytest.approx(0.5)
    assert (found.same, found.others_same) == (0.0, 0.5)
    assert "proves nothing by itself" in found.to_dict()["words"]


def test_without_one_people_are_compared_with_others_than_themselves():
    people = table(age=[float(i) for i in range(10)])
    found = closest_rows(Scene(people, people))
    assert found.same == 1.0
    assert found.others_same == 0.0
    assert found.others > 0
