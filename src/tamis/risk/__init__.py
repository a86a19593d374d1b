"""How exposed a table is: what an attacker gains who knows some columns of a person.

A risk measure looks at a table as it would be released. Missing values are values of their own:
two rows that lack the same cell are alike in it, and unlike every row that has it.
"""
