"""Columns that predict the target as well as all do and reveal less of the sensitive one."""

from tamis.select.breach.selector import REPEATS, SEARCHES, BreachSelector, judge

__all__ = ["REPEATS", "SEARCHES", "BreachSelector", "judge"]
