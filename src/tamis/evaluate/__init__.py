"""What a release is worth on rows that no search has seen: what it keeps, tells and predicts.

::

    figure         a number and its confidence interval
    bits           what a set of columns keeps of the target and tells of the secret, in bits
    parts          which rows teach, which choose and which report
    subset_bits    the same for any columns of one table, each set boosted once
    rungs          coarser forms of columns as further columns of it
    regression     slower learners, for finalists and for very many columns
    readings       what others read of a release, in the same bits: told is the worst of all
    bits_scorer    kept and told of any release, altered and synthetic ones too
    column_bits    what single columns teach and tell, and a rung finer or coarser
    close_look     finalists by slow learners, and the few people that a mean hides
    rule_measure   what is measured of a rule: the paper's, and your own
    rule_changes   rules counted in the original and in a release
    retention      how much of the rules a release keeps, in figures and in a picture
    prediction     how well a model trained on a release predicts
    curve          measures over levels of noise, and how they correlate
    separation     how well 0/1 features separate two classes
    in_population  what a release tells where people are a sample
    evaluator      models and attackers, trained and asked on the same rows
    assessment     one release under evaluation
    scorecard      releases x measures
    kept_told_picture    every release as a dot: the higher, the more it keeps
"""
