"""Verification of a published folder, by code that did not make it: nothing of `require` or `risk`.

::

    verify          `tamis.verify`: every check of a folder
    written_rows    the questions that checks ask of the rows, answered in memory
    behind_engine   the same questions answered by an engine, for files larger than memory
    layout          the file names of a release, reading its documents, the wording of the checks
    shape           the schema of a manifest, at every depth, and contradictions between its parts
    value_shapes    predicates and containers that the schema is made of
    form            whether a file is in canonical form, and its cells as the manifest says
    labels          whether generalised values follow from the stated ladders
    checks          anonymity and uniqueness, counted in a written file
    people          row order, the person of each row, suppression counts, names of the rows
    secret_groups   equivalence classes: their risk, and the sensitive values in each
    presence        delta-presence, counted in a register
    descriptions    metadata for catalogues, written from the manifest alone
    claims          promises and exposure in words; what was counted, what is only stated
"""
