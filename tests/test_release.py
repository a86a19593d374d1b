"""A release holds the released features and the target, nothing else."""

import polars as pl
import pytest

from tamis import Release, Roles, Table
from tamis.errors import InputError
from tamis.release import Recipe, released

FRAME = pl.DataFrame(
    {
        "name": ["Ann", "Bob"],
        "^a.*$": [1, 2],
        "age": [31, 47],
        "hiv": ["no", "yes"],
        "*": [5, 6],
        "ill": ["no", "yes"],
    }
)
ROLES = Roles(target="ill", sensitive="hiv", identifiers=("name",), quasi=("age", "*"))


def test_identifiers_and_the_sensitive_column_stay_behind():
    release = released(Table(FRAME, ROLES), ["*", "^a.*$"], "x", Recipe("hand"))
    assert release.table.frame.columns == ["^a.*$", "*", "ill"]
    assert release.features == ("^a.*$", "*")
    assert release.table.quasi == ("*",)


def test_no_features_at_all_still_have_rows():
    release = released(Table(FRAME, ROLES), [], "nothing", Recipe("hand"))
    assert release.table.frame.columns == ["ill"]
    assert release.table.rows == 2


def test_a_release_with_more_than_features_and_target_is_refused():
    with pytest.raises(InputError, match="only features and the target"):
        Release("x", Table(FRAME, ROLES), Recipe("hand"))


def test_a_release_stands_for_its_own_columns_unless_it_is_told_of_more():
    release = released(Table(FRAME, ROLES), ["age", "*"], "x", Recipe("hand"))
    assert (release.size, release.n_unlisted) == (2, 0)
    assert release.standing_for(7).size == 9


def test_a_name_is_shown_whole_up_to_seventy_characters():
    for length, shown in ((70, "n" * 70), (71, "n" * 69 + "…")):
        release = released(Table(FRAME, ROLES), ["age"], "n" * length, Recipe("hand"))
        assert f"'{shown}'" in repr(release)
