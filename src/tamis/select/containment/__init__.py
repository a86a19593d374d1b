"""Choose the 0/1 columns that predict best under anonymity by containment.

In the chosen columns, at least k rows have every 1 that any given row has.

::

    selector         `ContainmentSelector`
    greedy           forward selection: its parameters, and the utilities that are sums
    paths            the greedy search for each kind of utility
    held_out         models evaluated on held-out rows, and a contest between searches
    itemsets         the largest sets of columns that k rows have in common
    improve          greedy completion of a set; local search between greedy and exact
    exact            the optimal set, or an upper bound, by branch and cut
    exact_equal      the optimal set under k-anonymity (k equal rows), by branch and bound

    several          utilities for more than two classes
    source           reading columns in blocks; does this column still fit?
    selection        stopping rule and result of a search, counts in people, pictures

    kernels          rows grouped by their pattern, greedy steps
    itemset_kernels  branch and bound for itemsets
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tamis.select.containment.selector import ContainmentSelector as ContainmentSelector

__all__ = ["ContainmentSelector"]


def __getattr__(name: str) -> Any:
    """Import the estimator on first use: the searches do not need scikit-learn, slow to load."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tamis.select.containment import selector

    return getattr(selector, name)
