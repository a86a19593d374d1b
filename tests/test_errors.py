"""What is told of progress."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tamis.errors import ProgressShare

told = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 5)), max_size=30)


@given(told)
def test_progress_never_runs_backwards_and_never_ends_before_the_work(steps):
    far = ProgressShare()
    shares = [far.tell(done, total) for done, total in steps]
    assert all(before <= after for before, after in pairwise(shares))
    assert all(0 <= share < 1 for share in shares)


@given(st.integers(1, 9), st.integers(1, 5))
def test_each_step_that_is_done_brings_it_on(total, steps):
    far, before = ProgressShare(), 0.0
    for _ in range(steps):
        for done in range(total + 1):
            far.tell(done, total)
        assert far.share > before
        before = far.share
