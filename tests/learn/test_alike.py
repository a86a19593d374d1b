"""Rows alike: against NumPy's distinct rows, and where most rows differ."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tamis.learn.alike import LOOKED, labels_counted, rows_alike


@given(st.integers(1, 200), st.integers(0, 4), st.integers(1, 3), st.integers(0, 10_000))
def test_rows_alike_in_codes_and_words_share_a_number(rows, columns, words, seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, (columns, rows)).astype(np.uint8)
    # Words that differ in high and low bits only: none may be taken for another.
    known = rng.choice(np.array([0, 1, 1 << 32, 1 << 63], dtype=np.uint64), (words, rows))
    first, place = rows_alike(codes, known)
    cells = [tuple(row) for row in zip(*codes.tolist(), *known.tolist())]
    seen = list(dict.fromkeys(cells))
    assert [cells[i] for i in first] == seen
    assert [seen[number] for number in place] == cells


def test_where_most_rows_differ_each_is_its_own():
    known = np.arange(4 * LOOKED, dtype=np.uint64)[None, :]
    first, place = rows_alike(np.zeros((1, 4 * LOOKED), dtype=np.uint8), known)
    assert first.tolist() == place.tolist() == list(range(4 * LOOKED))


@given(st.integers(2, 4), st.integers(1, 50), st.integers(0, 10_000))
def test_counts_are_those_of_each_class(classes, learnt, seed):
    rng = np.random.default_rng(seed)
    place = np.unique(rng.integers(0, 8, learnt), return_inverse=True)[1]
    label = rng.integers(0, classes, learnt)
    found = labels_counted(np.append(place, place.max() + 1), label, classes)
    each = np.array(
        [np.bincount(place[label == c], minlength=place.max() + 1) for c in range(classes)]
    )
    kept = each[1:] if classes == 2 else each
    assert found.tolist() == [*kept.tolist(), each.sum(axis=0).tolist()]
