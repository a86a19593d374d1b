"""Columns that predict the target as well as all do and reveal less of the sensitive one."""

from tamis.select.breach.selector import REPEATS, BreachSelector, rate_candidates

__all__ = ["REPEATS", "BreachSelector", "rate_candidates"]
