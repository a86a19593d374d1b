"""A published folder read again, by code that did not make it: nothing of `require` or `risk`.

::

    verify          `tamis.verify`: every check of a folder
    written_rows    the few questions that checks ask of its rows, answered in memory
    behind_engine   the same answered by an engine, for files beyond memory
    layout          what the folder contains, by name, and what is checked of it, in words
    shape           what a manifest may contain, at every depth, and what its parts contradict
    value_shapes    the tests and records of values that this is made of
    form            whether a file is written in the one way that its rows are, with its cells
    labels          whether its cells are those that ladders give
    checks          measures of a written file
    people          the order of the rows, whose they are, how many are left out, their names
    secret_groups   groups of people alike: their risk, their secrets
    presence        which people of a register are in it
    descriptions    what catalogues read of a release, written from its manifest alone
    claims          in words: promises, exposure, what was counted and what is only stated
"""
