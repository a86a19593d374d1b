"""`tamis.judge`: the utility and the disclosure risk of any release, whoever made it.

::

    alignment   matching the columns and values of a foreign table with the original
    scoring     the scorecard of foreign releases, and the shares repU and DiSCO
    judgement   the judgement of one or several releases, on one scorecard
    generator   running an external synthesiser, and a shadow attack on it
    page        the judgement as a page
"""
