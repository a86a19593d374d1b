"""A transformer that learns levels on one table and applies them to others."""

from __future__ import annotations

from typing import Any

import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from tamis import Coarsener
from tamis.errors import InputError
from tamis.table import Roles, Table

FRAME = pl.DataFrame({"age": [31, 33, 47, 48], "job": ["cook", "cook", "judge", "judge"]})
AGES = {"age": {"width": [10]}}


def test_values_that_it_has_not_seen_go_up_the_ladder():
    jobs = {"groups": [{"manual": ["cook", "nurse"], "office": ["judge"]}]}
    coarsener = Coarsener(k=2, ladders={**AGES, "job": jobs}).fit(FRAME)
    assert coarsener.levels_ == {"age": 1, "job": 0}
    other = pl.DataFrame({"age": [64, None], "job": ["nurse", "king"]})
    coarsener.levels_["job"] = 1
    told = coarsener.transform(other)
    assert told["age"].to_list() == ["[60, 70)", None]
    assert told["job"].to_list() == ["manual", "*"]


def test_the_kind_of_table_that_comes_in_goes_out():
    coarsener = Coarsener(k=2, columns=["age"], ladders=AGES)
    told = coarsener.fit(FRAME.to_pandas()).transform(FRAME.to_pandas())
    assert isinstance(told, pd.DataFrame)
    assert told["age"].tolist() == ["[30, 40)"] * 2 + ["[40, 50)"] * 2
    assert told["job"].tolist() == FRAME["job"].to_list()
    table = Table(FRAME.with_columns(ill=pl.Series([0, 1, 0, 1])), Roles(target="ill"))
    assert coarsener.fit(table).transform(table).roles == table.roles


def test_sensitive_values_and_people_may_be_arrays():
    ill = [0, 0, 1, 1]
    assert Coarsener(k=2, columns=["age"], ladders=AGES).fit(FRAME).levels_ == {"age": 1}
    diverse = Coarsener(k=2, l=2, columns=["age"], ladders=AGES).fit(FRAME, sensitive=ill)
    assert diverse.levels_ == {"age": 2}
    crowd = Coarsener(k=2, columns=["age"], ladders=AGES).fit(FRAME, people=["a", "a", "b", "c"])
    assert crowd.levels_ == {"age": 2}
    with pytest.raises(InputError, match="one value per row"):
        Coarsener(l=2).fit(FRAME, sensitive=[1])


def test_rows_that_may_not_leave_are_named_and_stay():
    frame = pl.concat([FRAME, pl.DataFrame({"age": [99], "job": ["king"]})])
    coarsener = Coarsener(k=2, columns=["age"], ladders=AGES, max_suppressed=0.2).fit(frame)
    assert coarsener.kept_.tolist() == [True] * 4 + [False]
    assert coarsener.transform(frame).height == 5
    assert coarsener.score_ == coarsener.bound_ > 0


def test_it_is_an_estimator_like_others():
    coarsener = Coarsener(k=3, t=0.2)
    assert clone(coarsener).get_params() == coarsener.get_params()
    with pytest.raises(NotFittedError, match="not fitted yet"):
        coarsener.transform(FRAME)
    with pytest.raises(InputError, match="list of column names"):
        Coarsener(columns="age").fit(FRAME)
    fitted = Coarsener(k=2, ladders=AGES).fit(FRAME)
    with pytest.raises(InputError, match="no column 'job'"):
        fitted.transform(FRAME.drop("job"))
    assert fitted.get_feature_names_out().tolist() == ["age", "job"]


def test_it_keeps_every_limit_that_the_command_keeps():
    """Alone, each limit makes the one column coarser, or holds it back."""
    ages = [20 + i for i in range(16)]
    ill = ["no", "no", "no", "yes"] * 4
    frame = pl.DataFrame({"age": ages, "ill": ill})
    table = Table(frame, Roles(target="ill"))
    ladders = {"age": {"width": [4, 8]}}
    town = pl.DataFrame({"age": [*ages, *range(20, 52)]})
    limits: list[dict[str, Any]] = [
        {"max_risk": 0.25},
        {"max_average_risk": 0.25},
        {"alpha": 0.8},
        {"beta": 0.5},
        {"delta_disclosure": 0.5},
        {"delta_presence": (0.0, 0.5)},
    ]
    assert Coarsener(k=1, ladders=ladders).fit(table).levels_ == {"age": 0}
    reached = [
        Coarsener(k=1, ladders=ladders, **each).fit(table, population=town) for each in limits
    ]
    assert [each.levels_["age"] for each in reached] == [1, 1, 1, 1, 1, 0]
    crowded = Coarsener(k=1, ladders=ladders, delta_presence=(0.0, 0.4))
    assert crowded.fit(table, population=town).levels_ == {"age": 3}
    with pytest.raises(InputError, match="needs a register"):
        crowded.fit(table)
