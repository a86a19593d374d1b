"""Columns that predict the target as well as all do and reveal less of the sensitive one."""

from tamis.select.breach.selector import REPEATS, BreachSelector, judge

__all__ = ["REPEATS", "BreachSelector", "judge"]
