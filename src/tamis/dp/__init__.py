"""Differential privacy: noisy counts, synthetic rows and what they cost.

::

    budget              what may be spent and was, what many steps cost, the noise
    ledger              what was spent on a table, in whatever file, over all its releases
    domain              the cells that a table could fill, by public bounds
    private_table       what all tables of synthetic rows share
    histogram           rows drawn from counts of cells, of single columns, or of boxes
    selector            0/1 columns chosen with noise, and a table of them
    graphical           a distribution over many columns that fits noisy counts of a few
    synthesiser         which counts to take is chosen with noise, too: AIM and MST
"""

LEDGER = "tamis-ledger.json"
"""How the file is called that adds up what was spent on the tables beside it."""
