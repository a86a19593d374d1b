"""Ranks and weights, pure arithmetic: which of several releases, and how sure is that?

::

    factors       what counts, in which direction, with which weight
    evaluation    E(S), the weighted sum of ranks, and the Pareto front
    values        scores that keep magnitudes: weighted min-max, TOPSIS
    sensitivity   which release wins under which weights, and how often over many runs
"""
