"""0/1 columns that predict best while at least k rows have everything that any row has.

::

    selector         `ContainmentSelector`
    greedy           the best column that still fits, again and again: what is asked, utilities
    paths            how greedy goes, for each kind of utility
    held_out         models that judge columns on held-out rows, and a contest of choices
    itemsets         the largest sets of columns that k rows have in common
    improve          filling up a set; local search between greedy and exact
    exact            the best of all sets, or a bound by a linear program
    exact_equal      the same under k equal rows

    several          what columns tell of more than two classes
    source           where columns are taken from; does this column still fit?
    selection        what is asked, in people; what was chosen, also as pictures

    kernels          rows grouped by their pattern, greedy choices
    itemset_kernels  branch and bound for itemsets
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tamis.select.containment.selector import ContainmentSelector as ContainmentSelector

__all__ = ["ContainmentSelector"]


def __getattr__(name: str) -> Any:
    """The estimator on first use: the searches need no scikit-learn, which is slow to load."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tamis.select.containment import selector

    return getattr(selector, name)
