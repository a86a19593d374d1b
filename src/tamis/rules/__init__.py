"""Rules: conditions on columns that predict a label.

::

    text, JSON, a tree, a table  ->  RuleSet  ->  counts, rules x labels, of any table

`grammar` reads and writes text, `rule` also JSON, `imported` reads what other tools print; `tree`
extracts rules from fitted trees, or from a table by fitting one; `pack` and `count` count rows
with packed bits.
"""

from tamis.rules.rule import Between, Condition, OneOf, Rule
from tamis.rules.ruleset import RuleSet
from tamis.rules.tree import Indicator, Ordinal

__all__ = ["Between", "Condition", "Indicator", "OneOf", "Ordinal", "Rule", "RuleSet"]
