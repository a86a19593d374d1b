"""Which of several releases? Ranks and weights, the Pareto front, and how sure the choice is.

::

    factors          what counts, in which direction, with which weight
    evaluation       E(S): the weighted sum of ranks, and the order it gives
    pareto           what nothing else beats in every factor
    values           scores that keep magnitudes: weighted min-max, TOPSIS
    sensitivity      which release wins under which weights, and how near a change is
    weight_picture   the same, drawn
    stability        how often a release is found, and wins, over many runs
"""
