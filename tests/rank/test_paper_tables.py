"""Tables 5 and 6 of Jafer, Matwin and Sokolova (2017), as printed."""

import numpy as np
import pytest

from tamis.rank.evaluation import evaluation

# subset, (n, rank), (PBI, rank), (Perf, rank), E(S) under the three weightings
PRINTED = [
    ("baseline", (8, 1), (0, 7), (73.835, 8), (5.328, 6, 6)),
    ("plas mass preg skin pedi age pres", (7, 2), (1.409, 1), (74.875, 14), (5.661, 7.75, 3.8)),
    ("plas mass preg skin pedi age", (6, 4), (1.231, 2), (74.744, 13), (6.327, 8, 4.6)),
    ("plas mass preg skin pedi", (5, 6), (0.889, 3), (74.491, 12), (6.993, 8.25, 5.4)),
    ("plas mass preg skin", (4, 8), (0.711, 5), (74.359, 9), (7.326, 7.75, 6.4)),
    ("plas mass preg", (3, 10), (0.711, 5), (74.359, 9), (7.992, 8.25, 6.8)),
    ("plas mass", (2, 12), (0.882, 4), (74.486, 11), (8.991, 9.5, 7)),
    ("plas", (1, 14), (-1.072, 10), (73.043, 4), (9.324, 8, 9.6)),
    ("insu pres age pedi skin preg plas", (7, 2), (-1.942, 14), (72.401, 1), (5.661, 4.5, 9)),
    ("insu pres age pedi skin plas", (6, 4), (-0.708, 8), (73.312, 7), (6.327, 6.5, 7)),
    ("insu pres age pedi plas", (5, 6), (-1.238, 12), (72.920, 3), (6.993, 6, 9)),
    ("insu pres age plas", (4, 8), (-1.241, 13), (72.919, 2), (7.659, 6.25, 9.8)),
    ("insu pres plas", (3, 10), (-0.893, 9), (73.175, 6), (8.325, 7.75, 8.6)),
    ("insu plas", (2, 12), (-1.072, 10), (73.043, 4), (8.658, 7.5, 9.2)),
]
FACTORS = {"performance": "max", "privacy": "min", "size": "min"}
SCORES = {
    "performance": [row[3][0] for row in PRINTED],
    "privacy": [row[2][0] for row in PRINTED],
    "size": [row[1][0] for row in PRINTED],
}
WEIGHTS = [(0.333, 0.333, 0.333), (0.5, 0.25, 0.25), (0.2, 0.6, 0.2)]
CHOSEN = ["plas", "plas mass", "insu pres age plas"]


def test_all_42_ranks_of_table_5():
    ranks = evaluation(SCORES, FACTORS).ranks
    assert ranks["size"].tolist() == [row[1][1] for row in PRINTED]
    assert ranks["privacy"].tolist() == [row[2][1] for row in PRINTED]
    assert ranks["performance"].tolist() == [row[3][1] for row in PRINTED]


@pytest.mark.parametrize("case", range(3))
def test_all_cells_of_table_6_and_the_choice(case):
    found = evaluation(SCORES, FACTORS, dict(zip(FACTORS, WEIGHTS[case])))
    np.testing.assert_allclose(found.scores, [row[4][case] for row in PRINTED], atol=5e-10)
    assert PRINTED[found.best][0] == CHOSEN[case]


def test_a_third_exactly_gives_the_same_order():
    rounded = evaluation(SCORES, FACTORS, dict.fromkeys(FACTORS, 0.333))
    equal = evaluation(SCORES, FACTORS, dict.fromkeys(FACTORS, 1 / 3))
    assert equal.order == rounded.order
