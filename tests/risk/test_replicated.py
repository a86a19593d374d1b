"""repU and DiSCO by their definitions, written out over plain rows."""

from collections import Counter

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from tamis.judgement.scoring import replicated

cell = st.sampled_from(["a", "b", None])
rows = st.lists(st.tuples(cell, cell, cell), min_size=1, max_size=12)


@given(rows, rows)
def test_by_definition(mine, theirs):
    schema = dict.fromkeys(("x", "^y$", "s"), pl.String)
    one, two = (pl.DataFrame(each, schema=schema, orient="row") for each in (mine, theirs))
    found = replicated(one, two, ["x", "^y$"], "s")
    sizes, others = (Counter(row[:2] for row in each) for each in (mine, theirs))
    alone = [row for row in mine if sizes[row[:2]] == 1]
    secrets: dict[tuple[object, ...], set[object]] = {}
    for row in theirs:
        secrets.setdefault(row[:2], set()).add(row[2])
    assert found.unique == len(alone) / len(mine)
    assert found.rep_u == sum(others[row[:2]] == 1 for row in alone) / len(mine)
    assert found.disco == sum(secrets.get(row[:2]) == {row[2]} for row in mine) / len(mine)


def test_without_a_secret_only_unusual_rows_are_counted():
    frame = pl.DataFrame({"x": ["a", "b"]})
    assert replicated(frame, frame, ["x"], None).to_dict() == {
        "rep_u": 1.0,
        "unique": 1.0,
        "disco": None,
    }


def test_the_published_formulas_on_a_worked_example():
    """RepU and DiSCO of Raab, Nowok and Dibben (2024), from counts of the secret by keys.

    With d[t, q] rows of the original and s[t, q] of the release that have secret t and keys q:
    RepU sums the q of which d[., q] = s[., q] = 1, DiSCO sums d[t, q] over all t and q of which
    s[t, q] / s[., q] = 1; both are shares of the rows of the original.
    """
    keys, secrets = ("north 30", "north 40", "south 30", "south 40", "west 30"), ("ill", "well")
    d = {"ill": [1, 0, 3, 1, 1], "well": [0, 2, 2, 0, 0]}
    s = {"ill": [1, 1, 2, 0, 2], "well": [0, 0, 1, 1, 0]}
    one, two = (
        pl.DataFrame(
            [(q, t) for t in secrets for q, n in zip(keys, counts[t]) for _ in range(n)],
            schema=["keys", "secret"],
            orient="row",
        )
        for counts in (d, s)
    )
    found = replicated(one, two, ["keys"], "secret")
    # Alone in the original: north 30, south 40, west 30; the release has the first once, the second
    # once and the third twice. It gives ill with certainty for north 30, north 40 and west 30, and
    # well for south 40: right of the one in north 30 and the one in west 30, wrong of the others.
    assert (found.unique, found.rep_u, found.disco) == (3 / 10, 2 / 10, 2 / 10)
