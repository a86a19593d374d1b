"""AlikeRows: what any set of columns leaves alike, as counting the rows one by one says."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.risk.alike_rows import AlikeRows
from tamis.risk.grouping import CodedFrame

ROWS = st.lists(st.tuples(*[st.sampled_from([0, 1, 2, None])] * 3), min_size=1, max_size=30)


@settings(max_examples=60)
@given(ROWS, st.integers(1, 5), st.integers(0, 4))
def test_a_set_is_kept_if_all_but_few_rows_have_k_like_them(rows, k, most):
    frame = pl.DataFrame(rows, schema=dict.fromkeys("abc", pl.Int64), orient="row")
    codes = CodedFrame(frame)
    alike = AlikeRows({c: codes[c] for c in "abc"}, k, most)
    for size in range(1, 4):
        for chosen in combinations("abc", size):
            sizes = Counter(frame.select(chosen).rows()).values()
            small = sum(n for n in sizes if n < k)
            expected = small <= most < len(rows) if most else small == 0
            assert alike.keep(chosen) == expected


def test_a_column_that_breaks_k_alone_is_in_no_set_and_none_is_always_kept():
    codes = CodedFrame(pl.DataFrame({"who": range(6), "sex": [0, 1] * 3}))
    alike = AlikeRows({name: codes[name] for name in ("who", "sex")}, k=3)
    asked: tuple[list[str], ...] = (["sex"], ["who"], ["sex", "who"], [])
    assert [alike.keep(keys) for keys in asked] == [True, False, False, True]
    assert not AlikeRows({"who": codes["who"]}, k=2).keep(["who"])
