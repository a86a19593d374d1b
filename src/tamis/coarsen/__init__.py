"""Generalisation: coarser forms of columns, from the exact values up a ladder of groups to ``*``.

::

    ladder          `Ladder`: the forms of one column, level by level
    intervals       the forms of numbers and dates: intervals
    calendar        the forms of dates: parts of the calendar
    value_groups    the forms of values without an order
    ladder_sources  ladders from csv files, or made where nobody wrote any
    foreign_labels  which values the labels of other tools stand for

    search          `coarsened`: a generalised table, by one of two searches
    lattice         full-domain generalisation: the best level of each column; delta-presence
    metrics         the cost of levels
    classes         the equivalence classes at a node, and which of them are suppressed
    local           local recoding: each class has its own intervals and groups
    coarsener       `Coarsener`: learn levels on one table, apply them to others; behind an engine

    learnt_forms    the finest groups of a column, and the names of merged ones
    merging         which groups to merge; which values have an order

    kernels         Numba kernels: number and measure classes; split rows recursively
"""
