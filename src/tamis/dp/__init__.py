"""Differential privacy: noisy counts, synthetic rows, and their privacy cost.

::

    budget              the privacy budget, composition of steps, and the noise mechanisms
    ledger              what was spent on a table, in any file, over all its releases
    domain              the cells that a table could fill, by public bounds
    private_table       the base of all models of synthetic rows
    histogram           rows drawn from counts of cells, of single columns, or of boxes
    selector            0/1 columns chosen with noise, and a table of them
    graphical           a distribution over many columns that fits noisy marginals
    synthesiser         AIM and MST, which also choose with noise the marginals to count
"""

LEDGER = "tamis-ledger.json"
"""Default name of the ledger of the tables in a folder."""
