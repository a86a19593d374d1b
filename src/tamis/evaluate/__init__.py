"""Evaluate releases on rows that no search has seen: what they keep, tell and predict.

::

    figure         a number and its confidence interval
    bits           what a set of columns keeps of the target and tells of the secret, in bits
    parts          which rows are learnt from, which choose and which report
    subset_bits    kept and told of sets of columns of one table, each boosted once
    rungs          coarser forms as further columns of that table
    regression     slower learners, for finalists and for very many columns
    readings       further ways to read the secret, in the same bits: told is the worst of all
    bits_scorer    kept and told of any release, altered and synthetic ones too
    column_bits    what single columns teach and tell, and a rung finer or coarser
    close_look     finalists by slow learners, and the few people that a mean hides
    rule_measure   measures of rules: the paper's, and your own
    rule_changes   rules counted in the original and in a release
    retention      how much of the rules a release keeps, in figures and in a picture
    prediction     how well a model trained on a release predicts
    curve          measures over levels of noise, and how they correlate
    separation     how well 0/1 features separate two classes
    in_population  what a release tells where people are a sample
    evaluator      models and attackers, trained and tested on the same rows
    assessment     one release under evaluation
    scorecard      releases x measures
    kept_told_picture    every release as a dot: the higher, the more it keeps
"""
