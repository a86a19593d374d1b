"""Rules that other tools print, read as a `RuleSet`.

::

    arules     `write(rules, file)`: lines {a=b,c=d} => {y=z} in a csv column, or alone
    mlxtend    the csv of `association_rules`, with columns antecedents and consequents
    apriori    Weka's Apriori: a=b c=d 4 ==> y=z 4
    sklearn    `export_text` of a decision tree
    j48        Weka's J48, a tree whose leaves end in `: label (rows)`
    part       Weka's PART: conditions joined by AND over several lines, `: label (rows)`
    jrip       Weka's JRip: (a <= 1) and (b = c) => y=z (rows)
    c5         C5.0's rules: Rule 1: ... conditions ... -> class z [0.98]
    rulefit    a csv of RuleFit with columns rule and coef
    if-then    IF a > 1 AND b = c THEN y = z

Each parser reads the text of one tool and refuses what is not a rule; `SIGNS` has the pattern by
which each format is recognised.
"""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tamis.errors import InputError, TamisWarning, listed, plural
from tamis.learn.columns import is_number
from tamis.rules.rule import Between, Condition, OneOf, Rule, tighter
from tamis.rules.ruleset import RuleSet

Found = tuple[list[Condition], str, str | None]
"""Conditions, the predicted label, and the predicted column if the text names it."""

_NUMBER = r"-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_ROWS = rf"\({_NUMBER}(?:/{_NUMBER})?\)"
_TEST = re.compile(r"(?P<column>\S.*?)\s*(?P<sign><=|>=|==|!=|=|<|>)\s*(?P<value>\S.*)")


def read_rules(
    source: Any,
    format: str = "auto",
    *,
    target: str | None = None,
    labels: Sequence[str] = (),
) -> RuleSet:
    """Read the rules that another tool printed or returned.

    Parameters
    ----------
    source : path, text of several lines, or frame
        A file; its content; or the frame of mlxtend's `association_rules` or of RuleFit.
    format : str
        One of `FORMATS`, `"tamis"` for the grammar or JSON of this package, or `"auto"` to
        recognise it from the text.
    target : str, optional
        The column that the rules predict. Association rules that conclude anything but one label
        of this column are left out, with a warning.
    labels : sequence of str
        For RuleFit, whose rules have a coefficient and no label: the label favoured by a positive
        coefficient, then the one favoured by a negative coefficient.

    Returns
    -------
    RuleSet
        In the order of the source. A decision list, read from the top (PART, JRip), ends with a
        rule without conditions: measure it with ``reading="first"``.

    Examples
    --------
    >>> tree = '''
    ... |--- age <= 40.50
    ... |   |--- class: no
    ... |--- age >  40.50
    ... |   |--- class: yes
    ... '''
    >>> print(read_rules(tree, target="ill").to_text())
    age <= 40.5 -> ill=no
    age > 40.5 -> ill=yes
    """
    return rules_of_text(_text(source), format, target, labels)


def rules_of_text(
    text: str, format: str = "auto", target: str | None = None, labels: Sequence[str] = ()
) -> RuleSet:
    """Like `read_rules`, from a text with any number of lines rather than a file."""
    if format not in ("auto", "tamis", *FORMATS):
        raise InputError(
            f"format must be auto, tamis or one of {listed(FORMATS, 20)}, got {format!r}"
        )
    known = _told_apart(text) if format == "auto" else format
    if known == "tamis":
        is_json = text.lstrip().startswith(("{\n", '{"'))
        return RuleSet.from_json(text) if is_json else RuleSet.parse(text, target=target)
    rules = list(_rulefit(text, labels) if known == "rulefit" else FORMATS[known](text))
    if known in _ASSOCIATIONS:
        rules = _of_target(rules, target)
    named = {of for _, _, of in rules if of is not None}
    if len(named | ({target} if target else set())) > 1:
        raise InputError(
            f"the rules predict {listed(sorted(named))}, expected one column"
            + (f", {target!r}" if target else "; name it with target=")
        )
    if not rules:
        raise InputError(f"no rule was found in the text, read as {known}; name its format")
    return RuleSet(
        [Rule(_merged(c), label) for c, label, _ in rules], target or next(iter(named), None)
    )


def _text(source: Any) -> str:
    if hasattr(source, "columns"):  # a frame of pandas, or of polars
        to_csv = getattr(source, "to_csv", None)
        return str(to_csv(index=False)) if to_csv else _csv_of(source)
    if isinstance(source, Path) or (isinstance(source, str) and "\n" not in source):
        try:
            return Path(source).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise InputError(f"{source} is not a text file in UTF-8") from None
        except OSError:
            raise InputError(f"there is no file {source} of rules to read") from None
    return str(source)


def _csv_of(frame: Any) -> str:
    """The csv of a polars frame; polars itself writes no columns of lists as csv."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(frame.columns)
    writer.writerows([f"{{{','.join(map(str, c))}}}" if _is_many(c) else c for c in row]
                     for row in frame.iter_rows())  # fmt: skip
    return out.getvalue()


def _is_many(cell: Any) -> bool:
    return isinstance(cell, list | set | frozenset | tuple)


def _told_apart(text: str) -> str:
    """The format recognised from a text; by default the grammar of this package."""
    return next((name for name, sign in SIGNS.items() if sign.search(text)), "tamis")


def _condition(text: str, name: str) -> Condition:
    """A condition on one column, written the way that most of these tools share."""
    match = _TEST.fullmatch(text.strip())
    if match is None:
        raise _no_rule(name, text)
    column, sign, value = match["column"], match["sign"], match["value"]
    if sign in ("=", "==", "!="):
        return OneOf(column, (value.strip("'\""),), negated=sign == "!=")
    if not is_number(value):
        raise _no_rule(name, text)
    closed = sign.endswith("=")
    if sign[0] == ">":
        return Between(column, low=float(value), low_closed=closed)
    return Between(column, high=float(value), high_closed=closed)


def _merged(conditions: Iterable[Condition]) -> list[Condition]:
    """The conditions, with all bounds on one column merged into one."""
    merged: list[Condition] = []
    for condition in conditions:
        at = next((i for i, c in enumerate(merged)
                   if isinstance(c, Between) and c.column == condition.column), None)  # fmt: skip
        if at is None or not isinstance(condition, Between):
            merged.append(condition)
        else:
            before = merged[at]
            assert isinstance(before, Between)
            merged[at] = tighter(before, condition)
    return merged


def _no_rule(name: str, text: str) -> InputError:
    return InputError(
        f"this is not a rule as {name} writes them: {' '.join(text.split())[:80]!r}; name its "
        f"format: {listed(FORMATS, 20)}, or tamis"
    )


def _items(text: str, name: str) -> list[Condition]:
    """Items `column=value`, separated by commas outside quotes and brackets."""
    inner = re.sub(r"^(?:frozenset\()?\{?|\}?\)?$", "", text.strip())
    parts = re.findall(r"\s*(?:'([^']*)'|\"([^\"]*)\"|((?:[\[(][^\])]*[\])]|[^,\[(])+))", inner)
    items: list[Condition] = []
    for one in filter(None, ((a or b or c).strip() for a, b, c in parts)):
        column, sign, value = (part.strip() for part in one.partition("="))
        if not (column and sign and value):
            raise InputError(
                f"{name} has the item {one!r}; items must be COLUMN=VALUE, as in rules mined from "
                "the values of a table"
            )
        items.append(OneOf(column, (value,)))
    return items


def _association(before: str, after: str, name: str) -> Iterator[Found]:
    """The rule if its consequent is a single item, else an empty one, left out later."""
    consequents = _items(after, name)
    if len(consequents) == 1 and isinstance(consequents[0], OneOf):
        yield _items(before, name), consequents[0].values[0], consequents[0].column
    else:
        yield [], "", ""


def _of_target(rules: list[Found], target: str | None) -> list[Found]:
    named = {of for _, _, of in rules if of}
    if target is None and len(named) > 1:
        raise InputError(
            f"these rules predict {listed(sorted(named))}; name the column to predict with "
            "target= or --target"
        )
    kept = [rule for rule in rules if rule[2] and rule[2] == (target or rule[2])]
    if not kept:
        raise InputError(
            "none of these rules predicts just one label of the target; name the column to predict "
            "with target= or --target"
        )
    if len(kept) < len(rules):
        warnings.warn(
            f"{plural(len(rules) - len(kept), 'rule')} of {len(rules):,} left out: they do not "
            "predict just one label of the target",
            TamisWarning,
            stacklevel=3,
        )
    return kept


def _rows_of(text: str, name: str, *needed: str) -> list[dict[str, str]]:
    """The rows of a csv, which must have the `needed` columns."""
    rows = list(csv.DictReader(io.StringIO(text.strip())))
    if not rows or any(row.get(column) is None for row in rows for column in needed):
        raise InputError(f"rules of {name} must be a csv with the columns {listed(needed)}")
    return rows


def _arules(text: str) -> Iterator[Found]:
    for line in re.findall(r"\{[^{}]*\}\s*=>\s*\{[^{}]*\}", text):
        before, _, after = line.partition("=>")
        yield from _association(before, after, "arules")


def _mlxtend(text: str) -> Iterator[Found]:
    for row in _rows_of(text, "mlxtend", "antecedents", "consequents"):
        yield from _association(row["antecedents"], row["consequents"], "mlxtend")


def _apriori(text: str) -> Iterator[Found]:
    for line in text.splitlines():
        if "==>" not in line:
            continue
        match = re.match(r"\s*\d+\.\s*(.*?)\s+\d+\s+==>\s+(.*?)\s+\d+\s", f"{line} ")
        if match is None:
            raise _no_rule("apriori", line)
        # Items are separated by spaces alone: one ends where the next `column=` begins.
        before, after = (re.sub(r"\s+(?=[^\s=]+=)", ",", side) for side in match.groups())
        yield from _association(before, after, "apriori")


def _tree(lines: Iterable[tuple[int, str, str | None]], name: str) -> Iterator[Found]:
    """The leaves of a tree from its lines: depth, test, and label if the line ends in a leaf."""
    path: list[str] = []
    for depth, test, label in lines:
        # A line may be one level deeper than the last at most; then it cuts the path to its depth.
        if depth > len(path):
            raise _no_rule(name, test)
        path[depth:] = [test] if test else []
        if label is not None:
            yield [_condition(t, name) for t in path], label, None


_EXPORTED = re.compile(r"((?:\|   )*)\|--- (.*)")
_LEAF = re.compile(r"(?:weights: \[.*\] )?class: (.*)")


def _sklearn(text: str) -> Iterator[Found]:
    lines: list[tuple[int, str, str | None]] = []
    path: list[str] = []
    for line in filter(str.strip, text.splitlines()):
        match = _EXPORTED.fullmatch(line.rstrip())
        if match is None or match[2].startswith(("truncated", "value")):
            raise _no_rule("sklearn", line)
        # A leaf has a line of its own, below its test; the other formats end the test's line in it.
        depth, leaf = len(match[1]) // 4, _LEAF.fullmatch(match[2])
        if leaf is None:
            path[depth:] = [match[2]]
            lines.append((depth, match[2], None))
        elif lines:
            lines[-1] = (*lines[-1][:2], leaf[1])
        else:
            lines.append((0, "", leaf[1]))
    yield from _tree(lines, "sklearn")


_WEKA_LEAF = re.compile(rf"(.*?)\s*: (.*?) {_ROWS}")


def _weka_model(text: str, name: str) -> list[str]:
    """The lines of the model alone: below its underlined heading, above the counts at the end."""
    body = re.split(r"^-{5,}$|^={5,}$", text, maxsplit=1, flags=re.MULTILINE)[-1]
    body = re.split(r"^Number of (?:Leaves|Rules)", body, maxsplit=1, flags=re.MULTILINE)[0]
    lines = [line.rstrip() for line in body.splitlines()]
    if not any(lines):
        raise _no_rule(name, text)
    return lines


def _j48(text: str) -> Iterator[Found]:
    lines = []
    for line in filter(None, _weka_model(text, "j48")):
        bars = re.match(r"(?:\|\s+)*", line)
        depth = bars[0].count("|") if bars else 0
        rest = line[bars.end() if bars else 0 :]
        leaf = _WEKA_LEAF.fullmatch(rest)
        lines.append((depth, leaf[1], leaf[2]) if leaf else (depth, rest, None))
    yield from _tree(lines, "j48")


def _part(text: str) -> Iterator[Found]:
    for block in re.split(r"\n\s*\n", "\n".join(_weka_model(text, "part"))):
        if not block.strip():
            continue
        leaf = _WEKA_LEAF.fullmatch(" ".join(block.split("\n")).strip())
        if leaf is None:
            raise _no_rule("part", block)
        tests = re.split(r"\s+AND\s+", leaf[1]) if leaf[1] else []
        yield [_condition(test, "part") for test in tests], leaf[2], None


def _jrip(text: str) -> Iterator[Found]:
    for line in filter(None, _weka_model(text, "jrip")):
        match = re.fullmatch(rf"(.*?)\s*=> (.+?)=(.*) {_ROWS}", line)
        if match is None:
            raise _no_rule("jrip", line)
        tests = re.split(r"\)\s+and\s+\(", match[1].strip()[1:-1]) if match[1].strip() else []
        yield [_condition(test, "jrip") for test in tests], match[3], match[2]


def _c5(text: str) -> Iterator[Found]:
    blocks = re.split(r"^Rule [\d/]+:.*$", text, flags=re.MULTILINE)[1:]
    for block in blocks:
        body, arrow, after = block.partition("->")
        label = re.match(r"\s*class\s+(.*?)\s+\[[\d.]+\]", after)
        if not arrow or label is None:
            raise _no_rule("c5", block)
        yield [_c5_test(line) for line in filter(str.strip, body.splitlines())], label[1], None
    # What no rule matches gets the default class: a last rule without conditions.
    default = re.search(r"^Default class:\s*(.*?)\s*$", text, re.MULTILINE)
    if default and blocks:
        yield [], default[1], None


def _c5_test(line: str) -> Condition:
    among = re.fullmatch(r"\s*(.+?) in \{(.*)\}\s*", line)
    if among:
        return OneOf(among[1], tuple(value.strip() for value in among[2].split(",")))
    return _condition(line, "c5")


def _rulefit(text: str, labels: Sequence[str]) -> Iterator[Found]:
    if len(labels) != 2:
        raise InputError(
            "rules of RuleFit have coefficients and no labels; give with labels= or --rule-labels "
            "the label for a positive coefficient, then the label for a negative one"
        )
    for row in _rows_of(text, "rulefit", "rule", "coef"):
        if not is_number(row["coef"]):
            raise _no_rule("rulefit", row["rule"])
        if row.get("type", "rule") != "rule" or not float(row["coef"]):
            continue  # linear terms, and what the model does not use
        tests = re.split(r"\s+(?:&|and)\s+", row["rule"])
        conditions = [_condition(test, "rulefit") for test in tests]
        yield conditions, labels[0] if float(row["coef"]) > 0 else labels[1], None


def _if_then(text: str) -> Iterator[Found]:
    for line in filter(str.strip, text.splitlines()):
        match = re.fullmatch(
            r"\s*(?:[\w.]+[:.]\s*)?if\s+(.*?),?\s+then\s+(.*?)\s*\.?\s*", line, re.IGNORECASE
        )
        if match is None:
            raise _no_rule("if-then", line)
        tests = re.split(r"\s+and\s+", match[1], flags=re.IGNORECASE)
        of, sign, label = (p.strip() for p in re.sub(r"\s+is\s+", "=", match[2]).partition("="))
        conditions = [
            _condition(re.sub(r"\s+is\s+", " = ", t).strip("()"), "if-then") for t in tests
        ]
        yield (
            (conditions, label.strip("='\" "), of) if sign else (conditions, of.strip("'\""), None)
        )


FORMATS: dict[str, Callable[[str], Iterator[Found]]] = {
    "arules": _arules,
    "mlxtend": _mlxtend,
    "apriori": _apriori,
    "sklearn": _sklearn,
    "j48": _j48,
    "part": _part,
    "jrip": _jrip,
    "c5": _c5,
    "rulefit": lambda text: _rulefit(text, ()),
    "if-then": _if_then,
}
_ASSOCIATIONS = ("arules", "mlxtend", "apriori")

SIGNS = {
    name: re.compile(sign, re.MULTILINE)
    for name, sign in {
        "mlxtend": r"\A\s*\W?antecedents\W",
        "arules": r"^(?:[^{]*\")?\{[^{}]*\}\s*=>\s*\{[^{}]*\}\"?(?:,|\s*$)",
        "apriori": r"^\s*\d+\..* ==> ",
        "sklearn": r"^(?:\|   )*\|--- ",
        "j48": r"^J48 (?:un)?pruned tree",
        "part": r"^PART decision list",
        "jrip": r"^JRIP rules:",
        "c5": r"^Rule [\d/]+:.*lift|->\s+class .* \[[\d.]+\]",
        "rulefit": r"\A(?:[^\n]*,)?\"?rule\"?,(?:[^\n]*,)?\"?coef\"?",
        "if-then": r"^\s*(?:[\w.]+[:.]\s*)?(?:if|IF|If)\s.*\s(?:then|THEN|Then)\s",
    }.items()
}
"""Pattern by which each format is recognised; the first that matches decides."""
