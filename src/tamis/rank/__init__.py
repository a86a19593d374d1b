"""Ranks and weights, pure arithmetic: which of several releases is best, and how certain is it?

::

    factors       what counts, in which direction, with what weight
    evaluation    E(S), the weighted sum of ranks, and the Pareto front
    values        scores that keep magnitudes: weighted min-max, TOPSIS
    sensitivity   which release wins under which weights, and how often over many runs
"""
