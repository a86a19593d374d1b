"""What there is to choose from, described once: names, words for people, and plain facts.

::

    formats    files that are read
    methods    ways to propose releases; models that may be trained
    measures   what releases are compared by, rules of choice, limits with a name

Nothing here computes. The command line, `serve`, `publish` and `verify` read these records, and
none of them has to import the code that searches.
"""
