"""Risk measures: what an attacker who knows some columns of a person gains from a table.

A risk measure looks at a table as it would be released. Missing is a value of its own:
two rows that both lack a cell are equal in it, and differ from every row that has it.
"""
