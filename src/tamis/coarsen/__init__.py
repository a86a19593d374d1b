"""Coarser forms of a column: from its values as they are, by a ladder of groups, to nothing.

::

    ladder          `Ladder`: the forms of one column, level by level
    intervals       the forms of numbers and dates: intervals
    calendar        the forms of dates: parts of the calendar
    value_groups    the forms of values without an order
    ladder_sources  ladders from csv files, or made where nobody wrote any
    foreign_labels  what labels stand for that somebody else wrote

    search          `coarsened`: a table in which people are alike, by one of two searches
    lattice         the best levels for all rows, and who of a register is in their classes
    metrics         what levels cost
    classes         the classes of rows at some levels, and which may leave
    local           each class gets intervals of its own
    coarsener       `Coarsener`: learn levels on one table, apply them to others; behind an engine

    learnt_forms    the finest groups of a column, and what merged ones are called
    merging         which groups to merge; which values have an order

    kernels         classes at a node, and what is inside them; rows split in two, again and again
"""
