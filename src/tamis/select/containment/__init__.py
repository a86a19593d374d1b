"""0/1 columns that predict best while at least k rows have everything that any row has.

::

    selector         `ContainmentSelector`
    greedy           the best column that still fits, again and again
    paths            how greedy goes, for each kind of utility
    several_classes  the same by a target of any number of classes
    itemsets         the largest sets of columns that k rows have in common
    improve          filling up a set; local search between greedy and exact
    exact            the best of all sets, or a bound by a linear program
    crowd            k people where a person has several rows

    utilities        what columns are worth, alone or in a model
    projection       does this column still fit?
    source           where columns are taken from
    selection        what a search chose
    picture          a selection as pictures

    kernels          rows grouped by their pattern, greedy choices
    itemset_kernels  branch and bound for itemsets
    additive         what one more column adds to a model
    bits             bits of a word
"""

from tamis.select.containment.selector import ContainmentSelector

__all__ = ["ContainmentSelector"]
