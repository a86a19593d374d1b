"""`tamis.judge`: what any release is worth and what it gives away, whoever made it.

::

    alignment   a table from elsewhere, in the same terms as the original
    scoring     what models learn from it, asked of other people; what is found again
    judgement   the judgement of one or several of them, on one scorecard
    generator   somebody's own synthesiser: run, and asked for one person
    page        the judgement as a page
"""
