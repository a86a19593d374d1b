"""Hierarchies nest, and refuse what does not."""

from __future__ import annotations

import numpy as np
import pytest

from tamis.coarsen.hierarchy import Hierarchy
from tamis.errors import InputError


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ((), "needs a level"),
        (([],), "needs a level"),
        (([1, 0],), "each leaf"),
        (([0, 1], [0]), "1 leaves, not 2"),
        (([0, 1, 2], [0, 0, 1], [0, 1, 1]), "level 2 .* split 1 times"),
    ],
)
def test_what_is_no_hierarchy_is_refused(groups, words):
    with pytest.raises(InputError, match=words):
        Hierarchy(tuple(np.array(level, dtype=np.int32) for level in groups))


def test_shares_count_leaves_that_a_table_may_lack():
    levels = ([0, 1, 2, 3], [0, 0, 0, 1], [0, 0, 0, 0])
    hierarchy = Hierarchy(tuple(np.array(level, dtype=np.int32) for level in levels))
    assert hierarchy.shares(1).tolist() == [0.75, 0.75, 0.75, 0.25]
    assert hierarchy.widths == (4, 2, 1)
