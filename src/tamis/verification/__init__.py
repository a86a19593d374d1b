"""A published folder read again, by code that did not make it: nothing of `require` or `risk`.

::

    verify          `tamis.verify`: every check of a folder
    layout          what the folder contains, by name
    shape           what a manifest may contain, at every depth
    value_shapes    the tests and records of values that this is made of
    contradictions  what its parts say against each other
    form            whether a file is written in the one way that its rows are
    written_cells   whether its cells are those described, some rows at a time
    labels          whether its cells are those that ladders give
    checks          measures of a written file
    people          the order of the rows, whose they are, how many are left out
    kept_names      names of the released rows, for later releases
    secret_groups   groups of people alike: their risk, their secrets
    presence        which people of a register are in it
    promises        promises and exposure in words
    unchecked       what a folder only states, and what was counted, in words
    check_words     what is checked, in words
"""
