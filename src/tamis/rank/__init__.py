"""Ranks and weights, pure arithmetic: which of several releases is best, and how certain is it?

::

    evaluation    factors and weights; E(S), the weighted sum of ranks; the Pareto front; scores
                  that keep magnitudes: weighted min-max, TOPSIS
    sensitivity   which release wins under which weights, and how often over many runs
"""
