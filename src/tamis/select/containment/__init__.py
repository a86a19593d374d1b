"""The 0/1 columns that teach most while everything a row has is had by at least k rows."""

from tamis.select.containment.selector import ContainmentSelector

__all__ = ["ContainmentSelector"]
