"""Records of everything that can be chosen by name: formats, methods, models, measures, presets.

::

    formats    file formats that are read, descriptions, formats of rules
    methods    methods that propose releases; models that may be trained
    measures   measures of the scorecard, selection rules, named limits

Nothing here computes. The command line, `serve`, `publish` and `verify` read these records without
importing the code that searches.
"""
