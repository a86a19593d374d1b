"""Who is in a release that leaves some out."""

import polars as pl

from tamis import Roles, Table
from tamis.attack.sources import those_inside

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
