"""0/1 columns that predict best while at least k rows have everything that any row has."""

from tamis.select.containment.selector import ContainmentSelector

__all__ = ["ContainmentSelector"]
