"""Ordered rules that predict one column, and checks whether they fit a table.

A column contains numbers, booleans or text. Bounds need a column of numbers; a value must be a
number on a column of numbers, and `true` or `false` on one of booleans. A column without any value
accepts every condition.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import polars as pl

from tamis.errors import InputError, listed, plural
from tamis.notebook import html_table, in_short, quoted
from tamis.rules.grammar import RuleSyntaxError, number_text, parse_line, rule_text
from tamis.rules.rule import Between, Condition, Rule, refuse_unknown, rule_of_record, rule_record
from tamis.table import bare
from tamis.table_file import MOMENT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tamis.rules.tree import Coding


@dataclass(frozen=True)
class RuleSet:
    """Ordered rules and the column they predict; rules may overlap and need not cover all rows.

    Parameters
    ----------
    rules : iterable of Rule
        At least one.
    target : str, optional
        The column they predict; by default whichever target the table has.

    Examples
    --------
    >>> rules = RuleSet.parse('''
    ... # written by hand
    ... old: age > 40.5 and job in {Sales, 'Tech support'} -> income=>50K
    ... age <= 40.5 -> income=<=50K
    ... ''')
    >>> len(rules), rules.target, rules.ids
    (2, 'income', ('old', 'r2'))
    >>> print(rules.to_text())
    old: age > 40.5 and job in {Sales, 'Tech support'} -> income=>50K
    age <= 40.5 -> income=<=50K
    """

    rules: tuple[Rule, ...]
    target: str | None = None

    def __init__(self, rules: Iterable[Rule], target: str | None = None) -> None:
        object.__setattr__(self, "rules", tuple(rules))
        object.__setattr__(self, "target", target)
        if not self.rules:
            raise InputError("there are no rules; give at least one")
        given = Counter(rule.id for rule in self.rules if rule.id is not None)
        twice = [name for name, times in given.items() if times > 1]
        if twice:
            raise InputError(f"duplicate rule ids {listed(twice)}; give each rule its own")

    def __repr__(self) -> str:
        return in_short(
            self,
            plural(len(self), "rule"),
            self.target and f"target {quoted(self.target)}",
            f"over {plural(len(self.columns), 'column')}",
        )

    def _repr_html_(self) -> str:
        lines = []
        for name, rule in zip(self.ids, self.rules):
            conditions, _, label = rule_text(replace(rule, id=None), self.target).rpartition(" -> ")
            lines.append([name, conditions, label])
        return html_table(f"RuleSet: {plural(len(self), 'rule')}", ["id", "if", "then"], lines)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __len__(self) -> int:
        return len(self.rules)

    def __getitem__(self, position: int) -> Rule:
        return self.rules[position]

    @property
    def ids(self) -> tuple[str, ...]:
        """The id of each rule; a rule without one is named by its position."""
        given = {rule.id for rule in self.rules}
        names = []
        for position, rule in enumerate(self.rules, start=1):
            name = rule.id if rule.id is not None else f"r{position}"
            while rule.id is None and name in given:  # another rule has this name as its id
                name += "'"
            names.append(name)
        return tuple(names)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of all conditions, each once, in the order of their first mention."""
        return tuple(dict.fromkeys(column for rule in self.rules for column in rule.columns))

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The distinct conditions, in the order of their first mention."""
        return tuple(dict.fromkeys(c for rule in self.rules for c in rule.conditions))

    @classmethod
    def parse(cls, text: str, *, target: str | None = None, label: str | None = None) -> Self:
        """Parse rules from text, one per line; `tamis.rules.grammar` shows the grammar.

        Parameters
        ----------
        text : str
            Empty lines and lines that start with `#` are skipped.
        target : str, optional
            The column that the rules predict; a line that names another one is an error.
        label : str, optional
            The label predicted by lines without an arrow, which some rule miners print.

        Examples
        --------
        >>> RuleSet.parse("plas > 127.5 and mass > 29.9", target="class", label="1")[0].label
        '1'
        """
        rules = []
        for number, line in enumerate(text.split("\n"), start=1):
            line = line.removesuffix("\r")
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            rule, named = parse_line(line, number, label)
            if named is not None and target not in (None, named):
                place = line.index("->") if "->" in line else 0
                raise RuleSyntaxError(
                    number, place, f"a label of column {target!r} after the arrow"
                )
            target = named if named is not None else target
            rules.append(rule)
        return cls(rules, target)

    @classmethod
    def from_tree(
        cls,
        tree: Any,
        *,
        features: Sequence[str] | None = None,
        coding: Mapping[str, Coding] | None = None,
        target: str | None = None,
        shares: bool = False,
    ) -> Self:
        """One rule per leaf of a fitted classification tree, with conditions on a column merged.

        Parameters
        ----------
        tree : fitted scikit-learn tree or C45Classifier
        features : list of str, optional
            The names of the features it was fitted on; by default those that the tree stores.
        coding : mapping of feature to Indicator or Ordinal, optional
            How features encode columns, so that splits can be written in values of the table.
        target : str, optional
            The column it predicts.
        shares : bool
            Keep the shares of the labels in each leaf instead of only the most likely label.

        Examples
        --------
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> tree = DecisionTreeClassifier().fit([[20.0], [30.0], [50.0]], ["no", "no", "yes"])
        >>> print(RuleSet.from_tree(tree, features=["age"], target="ill").to_text())
        age <= 40 -> ill=no
        age > 40 -> ill=yes
        """
        from tamis.rules.tree import tree_rules

        return cls(tree_rules(tree, features, coding or {}, shares), target)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read the rules from a text made by `to_json`."""
        try:
            document = json.loads(text)
        except json.JSONDecodeError as error:
            raise InputError(
                f"the rules are not JSON: line {error.lineno}, character {error.colno}: {error.msg}"
            ) from None
        except (ValueError, RecursionError):
            raise InputError(
                "the rules in JSON have a number with too many digits, or too many nested brackets"
            ) from None
        if not isinstance(document, dict) or not isinstance(document.get("rules"), list):
            raise InputError("rules in JSON must be an object with a list 'rules' and a 'target'")
        target = document.get("target")
        if target is not None and not isinstance(target, str):
            raise InputError("the target of rules in JSON must be a string")
        return cls([rule_of_record(r) for r in document["rules"]], target)

    def to_json(self) -> str:
        """The rules as one JSON document.

        Examples
        --------
        >>> rules = RuleSet.parse("job = cook -> ill=no")
        >>> RuleSet.from_json(rules.to_json()) == rules
        True
        """
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2)

    def to_dict(self) -> dict[str, Any]:
        """The rules as plain values."""
        return {"target": self.target, "rules": [rule_record(rule) for rule in self.rules]}

    def to_text(self) -> str:
        """The rules in the text grammar, one per line."""
        return "\n".join(rule_text(rule, self.target) for rule in self.rules)


Holds = Literal["numbers", "booleans", "text", "nothing"]


def holds(dtype: pl.DataType) -> Holds:
    """What a column of this type contains, in the terms of rules.

    >>> holds(pl.Int8()), holds(pl.Categorical()), holds(pl.Null())
    ('numbers', 'text', 'nothing')
    """
    if dtype.is_numeric():
        return "numbers"
    if dtype == pl.Boolean:
        return "booleans"
    return "nothing" if dtype == pl.Null else "text"


def value_text(value: Any) -> str:
    """A value as a rule would write it: 1.0 as `1`, True as `true`.

    >>> value_text(1.0), value_text(np.True_), value_text("yes")
    ('1', 'true', 'yes')
    """
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, int | float | np.number):
        return number_text(float(value))
    return str(value)


def texts(column: pl.Series) -> pl.Series:
    """A column as the texts by which rules name its values; missing cells stay missing.

    >>> texts(pl.Series([1.0, None, 2.5])).to_list()
    ['1', None, '2.5']
    >>> texts(pl.Series([0]).cast(pl.Datetime)).to_list()
    ['1970-01-01 00:00:00']
    """
    cells = bare(column)
    if column.dtype == pl.Datetime:
        return cells.dt.strftime(MOMENT).alias(column.name)
    if holds(column.dtype) != "numbers" or column.dtype.is_integer():
        return column.cast(pl.String)
    # polars writes 1.0 where rules write 1, so each distinct number is written by `value_text`.
    names = {value: value_text(value) for value in cells.unique().drop_nulls().to_list()}
    return cells.replace_strict(names, default=None, return_dtype=pl.String).alias(column.name)


def known_value(text: str, held: Holds) -> str | None:
    """A value of a rule as `texts` would write it; `None` if the column cannot contain it.

    >>> known_value("01", "text"), known_value("01", "numbers"), known_value("x", "numbers")
    ('01', '1', None)
    """
    if held == "numbers":
        try:
            return number_text(float(text))
        except (ValueError, OverflowError):
            return None
    if held == "booleans":
        return text.lower() if text.lower() in ("true", "false") else None
    return text


def refuse_unfit(rules: RuleSet, frame: pl.DataFrame, where: str) -> None:
    """Raise if a rule names a column that does not exist, or a value that it cannot contain."""
    refuse_unknown(rules.conditions, frame.columns, where)
    for name, rule in zip(rules.ids, rules):
        for condition in rule.conditions:
            held = holds(frame.schema[condition.column])
            if not _askable(condition, held):
                raise InputError(
                    f"rule {name!r} needs column {condition.column!r} of {where} to contain "
                    f"{_requirement(condition)}, but it contains {held}; change the rule, or read "
                    "the column as another type"
                )


def refuse_other_types(
    columns: tuple[str, ...],
    original: pl.DataFrame,
    released: pl.DataFrame,
    where: str = "the release",
) -> None:
    """Raise if a column contains numbers in one table and text in the other."""
    for column in columns:
        if column not in original.columns or column not in released.columns:
            continue
        before, after = holds(original.schema[column]), holds(released.schema[column])
        if before != after and "nothing" not in (before, after):
            raise InputError(
                f"column {column!r} contains {before} in the original and {after} in {where}; "
                "read both tables with the same types, or leave out the rules on it"
            )


def _askable(condition: Condition, held: Holds) -> bool:
    if held == "nothing":
        return True
    if isinstance(condition, Between):
        return held == "numbers"
    return all(known_value(value, held) is not None for value in condition.values)


def _requirement(condition: Condition) -> str:
    if isinstance(condition, Between):
        return "numbers within bounds"
    return "values that are not numbers or booleans"
