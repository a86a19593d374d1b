from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


def largest_itemsets(
    X: sparse.csr_array, k: int, most: int, values: NDArray[np.int64]
) -> list[tuple[int, ...]]:
    from tamis.select.itemset_core import core, reach
    from tamis.select.itemset_pool import empty_pool, ranked
    from tamis.select.itemsets import search

    limit = reach(X, k)
    least = int(np.partition(limit, len(limit) - k)[len(limit) - k])
    pool = empty_pool(most, max(least, 1), values)
    while least > 0 and pool.state[0] < most:
        pool.state[2] = least
        search(core(X[limit >= least], k, least), k, pool)
        least = least * 7 // 10
    return ranked(pool)
