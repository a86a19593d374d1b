"""Differential privacy: noisy counts, synthetic rows and what they cost.

::

    budget              what may be spent and was, and the noise
    fingerprint         which tables are the same, however they are stored
    ledger              what was spent on a table over all its releases
    domain              the cells that a table could fill, by public bounds
    private_table       what all tables of synthetic rows share
    histogram           rows drawn from counts of cells, of single columns, or of boxes
    selector            0/1 columns chosen with noise, and a table of them
    accounting          what a sequence of private steps costs, in epsilon or in rho
    graphical           a distribution over many columns that fits noisy counts of a few
    synthesiser         which counts to take is chosen with noise, too: AIM and MST
"""
