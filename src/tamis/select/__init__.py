"""Searches for the set of columns to release."""
