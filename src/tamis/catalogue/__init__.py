"""What there is to choose from, described once: names, words for people, and plain facts.

::

    formats    files that are read
    methods    ways to propose releases
    models     what recipients and attackers may train
    measures   what releases are compared by
    choices    rules by which one of them is chosen
    presets    limits that authorities name

Nothing here computes. The command line, `serve`, `publish` and `verify` read these records, and
none of them has to import the code that searches.
"""
