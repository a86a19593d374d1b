"""Attackers, each tried on people of the table and on a control group.

::

    scene             what attackers are tried on, and how they are scored
    kernels           the rows nearest to what is known of a person
    learners          what an attacker learns to guess a column by
    singling_out      conditions that exactly one person meets
    linkage           which released row is this person's
    inference         a secret, and columns that were held back or altered
    membership        is this person in the table
    closest_rows      how near released rows are to people, and what that is worth
    run               all attackers on a release, or the few before it is published
    sources           a published release, and the original in its terms
    row_names         names by which people and rows are found again
    matching          whose rows those of earlier releases are
    earlier_releases  what several releases of the same people tell together
"""
