"""Rules: conditions on columns that predict a label.

::

    text, JSON, a tree, a table  ->  RuleSet  ->  counts, rules x labels, of any table

`parse` and `text` are the grammar, `record` the JSON form, `tree` and `coding` take rules out of
fitted trees, `mine` out of a table; `bind`, `pack`, `block` and `count` count rows by packed
bits; `keep` picks the rules that matter.
"""

from tamis.rules.rule import Between, Condition, OneOf, Rule
from tamis.rules.ruleset import RuleSet
from tamis.rules.tree import Indicator, Ordinal

__all__ = ["Between", "Condition", "Indicator", "OneOf", "Ordinal", "Rule", "RuleSet"]
