"""How exposed a table is: what an attacker who knows some columns of a person gains.

A risk measure looks at a table as it would be released. Missing is a value of its own:
two rows that both lack a cell are equal in it, and differ from every row that has it.
"""
