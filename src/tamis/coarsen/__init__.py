"""Coarser forms of a column: from its values as they are, by a ladder of groups, to nothing."""
