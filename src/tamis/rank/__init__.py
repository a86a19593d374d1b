"""Ranks and weights: which of several releases is best, and how much does that depend on weights?

Pure arithmetic on scores, without tables.

::

    evaluation    factors and weights; E(S), the weighted sum of ranks; the Pareto front; scores
                  that keep magnitudes: weighted min-max, TOPSIS
    sensitivity   which candidate wins under which weights, and in what share of several runs
"""
