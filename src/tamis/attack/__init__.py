"""Attackers, each tried on people of the table and on a control group.

::

    scene             the tables that attackers are tried on, and their scores
    kernels           nearest rows to what is known of a person
    learners          classifiers that attackers guess a column with
    singling_out      conditions that exactly one person meets
    linkage           which released row is this person's
    inference         attribute inference of a secret, and of columns held back or altered
    membership        whether a person is in the table
    closest_rows      distance to the closest record, and its limits
    run               all attackers on a release, or the few before it is published
    sources           a published release, and the original recoded like it
    row_names         hashes by which people and rows are found again
    matching          matching rows of the table with those of earlier releases
    earlier_releases  anonymity against someone who holds several releases of the same people
"""
