"""Attackers, each tried on people of the table and on people who are not in it."""
