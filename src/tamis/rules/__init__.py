"""Rules: conditions on columns that predict a label.

::

    text, JSON, a tree, a table  ->  RuleSet  ->  counts, rules x labels, of any table

`grammar` reads and writes text, `rule` JSON records; `imported` reads what other tools print;
`tree` extracts rules from a fitted tree, or fits one to a table; `pack` and `count` count the rows
that match, with packed bits.
"""

from tamis.rules.rule import Between, Condition, OneOf, Rule
from tamis.rules.ruleset import RuleSet
from tamis.rules.tree import Indicator, Ordinal

__all__ = ["Between", "Condition", "Indicator", "OneOf", "Ordinal", "Rule", "RuleSet"]
