"""Parse and write rules as lines of text.

::

    line       := [id ":"] [conditions] "->" consequent      # empty lines and comments are skipped
    conditions := condition (("and" | "&" | ",") condition)*
    condition  := column ("<" | "<=" | ">" | ">=") number
                | number ("<" | "<=") column ("<" | "<=") number
                | column ("=" | "!=") value
                | column ["not"] "in" "{" value ("," value)* "}"
    consequent := [target "="] label, verbatim to the end of the line
                | [target] "~" "{" label ":" share ("," label ":" share)* "}"

Unusual column names are written in backticks, unusual values in quotes, with backslash escapes. A
condition may be in parentheses. Lists of items such as `{sex=Male,job=Sales} => {ill=yes}` are
read, too, with each item split at its first `=`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tamis.errors import InputError
from tamis.learn.columns import is_number
from tamis.rules.rule import Between, Condition, OneOf, Rule, tighter

WORDS = frozenset({"and", "in", "not"})
"""Reserved words; a column or value of that name must be quoted."""

BARE = r"""(?:(?!->|:\s|:$)[^\s<>=!≤≥≠{}()\[\],'"`#&~])+"""
"""Text that needs no quotes. A colon ends it only before a space, as after an id, or at the end."""

# Alternatives are tried in order, so '=>' must be recognised before the sign '='. It is an arrow
# only after a space, or at the start, and before one.
_TOKEN = re.compile(
    rf"""\s*(?:
        (?P<arrow>->|(?:^|(?<=\s))=>(?=\s))
      | (?P<sign><=|>=|==|!=|<>|[<>=≤≥≠])
      | (?P<quoted>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
      | (?P<name>`(?:[^`\\]|\\.)*`)
      | (?P<word>{BARE})
      | (?P<mark>&&|[{{}}()\[\],&:~])
    )""",
    re.VERBOSE,
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_MEANING = {"n": "\n", "r": "\r", "t": "\t"}
# Signs that mean the same as one of the grammar, as other tools and people write them.
_SAME = {"==": "=", "<>": "!=", "≠": "!=", "≤": "<=", "≥": ">=", "&&": "and", "&": "and"}


class RuleSyntaxError(InputError):
    """Raised for a line that is not a rule; says where, and what was expected there."""

    def __init__(self, line: int, place: int, expected: str) -> None:
        super().__init__(f"rules, line {line}, character {place + 1}: expected {expected}")
        self.line = line
        self.place = place


@dataclass(frozen=True)
class Token:
    """A token of a line: its kind, its text without quotes, its start and end."""

    kind: str
    text: str
    start: int
    end: int


def tokens(line: str, number: int) -> Iterator[Token]:
    """The tokens of a line up to and including the arrow; the label after it is taken verbatim.

    Examples
    --------
    >>> [t.text for t in tokens("age >= 40 and job = 'Tech support' -> ill=yes", 1)]
    ['age', '>=', '40', 'and', 'job', '=', 'Tech support', '->']
    """
    place, end = 0, len(line.rstrip())
    while place < end:
        match = _TOKEN.match(line, place)
        if match is None or match.lastgroup is None:
            blank = len(line[place:]) - len(line[place:].lstrip())
            raise RuleSyntaxError(number, place + blank, "a column, a value or a comparison")
        kind, text = match.lastgroup, match[match.lastgroup]
        yield Token(kind, _plain(kind, text), match.start(kind), match.end())
        if kind == "arrow":
            return
        place = match.end()


def unquoted(text: str) -> str:
    """The text between quotes, with escapes resolved.

    >>> unquoted("'it\\\\'s'")
    "it's"
    """
    return _ESCAPED.sub(lambda m: _MEANING.get(m[1], m[1]), text[1:-1])


def _plain(kind: str, text: str) -> str:
    if kind in ("quoted", "name"):
        return unquoted(text)
    return _SAME.get(text, text)


_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


class Cursor:
    """A reader of the tokens of one line: it looks ahead, accepts or takes the next ones.

    Examples
    --------
    >>> cursor = Cursor("age > 40 -> ill=yes", 1)
    >>> cursor.column(), cursor.take("a comparison", "sign").text, cursor.number()
    ('age', '>', 40.0)
    """

    def __init__(self, line: str, line_number: int) -> None:
        self.line = line
        self.line_number = line_number
        self._tokens = list(tokens(line, line_number))
        self._at = 0

    def peek(self, ahead: int = 0) -> Token | None:
        at = self._at + ahead
        return self._tokens[at] if at < len(self._tokens) else None

    def next(self) -> Token | None:
        here = self.peek()
        self._at += here is not None
        return here

    def accept(self, text: str) -> bool:
        """Read this word or mark if it comes next; return whether it did."""
        here = self.peek()
        met = here is not None and here.kind in ("word", "mark") and here.text.lower() == text
        self._at += met
        return met

    def expect(self, text: str) -> None:
        if not self.accept(text):
            raise self.wrong(f"'{text}'")

    def take(self, expected: str, *kinds: str) -> Token:
        here = self.peek()
        if here is None or here.kind not in kinds:
            raise self.wrong(expected)
        self._at += 1
        return here

    def column(self) -> str:
        return self.take("a column", "word", "name", "quoted").text

    def value(self) -> str:
        return self.take("a value, in quotes if it is unusual", "word", "quoted").text

    def number(self) -> float:
        if not self.at_number():
            raise self.wrong("a number")
        number = float(self._tokens[self._at].text)
        if math.isinf(number):
            raise self.wrong("a finite number")
        self._at += 1
        return number

    def at_number(self) -> bool:
        here = self.peek()
        return here is not None and here.kind == "word" and bool(_NUMBER.fullmatch(here.text))

    def wrong(self, expected: str) -> RuleSyntaxError:
        """The error to raise if `expected` does not come next."""
        here = self.peek()
        place = len(self.line.rstrip()) if here is None else here.start
        return RuleSyntaxError(self.line_number, place, expected)


_BACKTICKED = r"`(?:[^`\\]|\\.)*`"
_SHARES = re.compile(rf"\s*({_BACKTICKED}|[^=~'\"`]*?)\s*~\s*\{{")
_ODD_TARGET = re.compile(rf"({_BACKTICKED})\s*=")
_ITEMS = re.compile(r"\s*\{(?P<items>.*?)\}\s*(?:->|=>)\s*(?P<rest>.*)")
_ITEM = re.compile(r"""\s*('[^']*'|"[^"]*"|(?:[\[(][^\])]*[\])]|[^,])+)\s*(?:,|$)""")
# `10 < age` is `age > 10`: the sign as it is with the column on the left.
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_CLOSING = {"{": "}", "(": ")", "[": "]"}


def parse_line(line: str, number: int = 1, label: str | None = None) -> tuple[Rule, str | None]:
    """The rule in one line, and the column that it predicts if the line names one.

    `label` is the label predicted by a line without an arrow.

    Examples
    --------
    >>> rule, target = parse_line("r1: 10 < hours <= 52.5 and job in {a, 'b c'} -> income=>50K")
    >>> rule.id, rule.label, target
    ('r1', '>50K', 'income')
    >>> rule.conditions[1].values
    ('a', 'b c')
    """
    if items := _ITEMS.fullmatch(line):
        return _of_items(items, number)
    cursor = Cursor(line, number)
    name = _id(cursor)
    conditions = _conditions(cursor)
    if cursor.peek() is None and label is not None:
        return Rule(conditions, label=label, id=name), None
    arrow = cursor.take("'and' or '->'", "arrow")
    return _with_consequent(conditions, name, line, number, arrow.end)


def _of_items(match: re.Match[str], number: int) -> tuple[Rule, str | None]:
    rest = match["rest"].strip().removeprefix("{").removesuffix("}")
    target, label = _named_label(rest, number, match.start("rest"))
    items = [_item(m, number) for m in _ITEM.finditer(match["items"]) if m[1].strip()]
    return Rule(items, label=label), target


def _item(match: re.Match[str], number: int) -> OneOf:
    text = match[1].strip()
    text = text[1:-1] if text[0] in "'\"" else text
    column, sign, value = (part.strip() for part in text.partition("="))
    if not sign or not column or not value:
        raise RuleSyntaxError(number, match.start(1) + 1, "an item column=value")
    return OneOf(column, (value,))


def _id(cursor: Cursor) -> str | None:
    here, then = cursor.peek(), cursor.peek(1)
    if here is None or then is None or (then.kind, then.text) != ("mark", ":"):
        return None
    cursor.next()
    cursor.next()
    return here.text


def _conditions(cursor: Cursor) -> tuple[Condition, ...]:
    here = cursor.peek()
    if here is None or here.kind == "arrow":
        return ()
    conditions = [_condition(cursor)]
    while cursor.accept("and") or cursor.accept(","):
        conditions.append(_condition(cursor))
    return tuple(conditions)


def _condition(cursor: Cursor) -> Condition:
    # Counted rather than recursive: a line may open more parentheses than Python's stack holds.
    depth = 0
    while cursor.accept("("):
        depth += 1
    inner = _bare_condition(cursor)
    for _ in range(depth):
        cursor.expect(")")
    return inner


def _bare_condition(cursor: Cursor) -> Condition:
    # Made here for its place, the start of the condition, where an error about it should point.
    possible = cursor.wrong("a condition that can be true")
    then = cursor.peek(1)
    bounds_first = cursor.at_number() and then is not None and then.text in _TURNED
    try:
        return _bounds_first(cursor) if bounds_first else _column_first(cursor)
    except RuleSyntaxError:
        raise
    except InputError as error:
        raise RuleSyntaxError(possible.line, possible.place, f"other bounds: {error}") from None


def _bounds_first(cursor: Cursor) -> Between:
    first = cursor.number()
    sign = _TURNED[cursor.take("a comparison", "sign").text]
    column = cursor.column()
    then = cursor.peek()
    if then is None or then.text not in _TURNED:
        return _bound(column, sign, first)
    if then.text[0] == sign[0]:
        raise cursor.wrong("both signs to point the same way, as in 10 < age <= 20")
    cursor.next()
    return tighter(_bound(column, sign, first), _bound(column, then.text, cursor.number()))


def _column_first(cursor: Cursor) -> Condition:
    column = cursor.column()
    if cursor.accept("not"):
        cursor.expect("in")
        return OneOf(column, _values(cursor), negated=True)
    if cursor.accept("in"):
        return OneOf(column, _values(cursor))
    sign = cursor.take("a comparison, 'in' or 'not in'", "sign").text
    if sign in _TURNED:
        return _bound(column, sign, cursor.number())
    return OneOf(column, (cursor.value(),), negated=sign == "!=")


def _bound(column: str, sign: str, number: float) -> Between:
    closed = sign.endswith("=")
    if sign[0] == ">":
        return Between(column, low=number, low_closed=closed)
    return Between(column, high=number, high_closed=closed)


def _values(cursor: Cursor) -> tuple[str, ...]:
    here = cursor.peek()
    if here is None or here.kind != "mark" or here.text not in _CLOSING:
        raise cursor.wrong("'{'")
    cursor.next()
    values = [cursor.value()]
    while cursor.accept(","):
        values.append(cursor.value())
    cursor.expect(_CLOSING[here.text])
    return tuple(values)


def _with_consequent(
    conditions: tuple[Condition, ...], name: str | None, line: str, number: int, place: int
) -> tuple[Rule, str | None]:
    rest = line[place:]
    shares = _SHARES.match(rest)
    if shares is None:
        target, label = _named_label(rest, number, place)
        return Rule(conditions, label=label, id=name), target
    # Padded with spaces, so that errors in the list name its place in the whole line.
    inner = Cursor(" " * (place + shares.end()) + rest[shares.end() :], number)
    try:
        rule = Rule(conditions, distribution=_shares(inner), id=name)
    except RuleSyntaxError:
        raise
    except InputError as error:
        raise RuleSyntaxError(number, place, f"other shares: {error}") from None
    return rule, _target(shares[1])


def _shares(cursor: Cursor) -> dict[str, float]:
    shares: dict[str, float] = {}
    while True:
        label = cursor.value()
        cursor.expect(":")
        shares[label] = cursor.number()
        if not cursor.accept(","):
            break
    cursor.expect("}")
    if cursor.peek() is not None:
        raise cursor.wrong("the end of the line")
    return shares


def _named_label(text: str, number: int, place: int) -> tuple[str | None, str]:
    """Split `target=label` at its first `=`; a text without one is the label alone."""
    end = place + len(text.rstrip())
    text = text.strip()
    if not text:
        raise RuleSyntaxError(number, place, "a label after the arrow")
    if odd := _ODD_TARGET.match(text):
        name, label = odd[1], text[odd.end() :].strip()
    elif text[0] in "'\"" or "=" not in text:
        name, label = "", text
    else:
        name, _, label = (part.strip() for part in text.partition("="))
    if not label:
        raise RuleSyntaxError(number, end, "a label after '='")
    if len(label) > 1 and label[0] in "'\"" and label[-1] == label[0]:
        label = unquoted(label)
    return _target(name), label


def _target(name: str) -> str | None:
    return unquoted(name) if name.startswith("`") else name or None


_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_BARE = re.compile(BARE)


def rule_text(rule: Rule, target: str | None = None) -> str:
    """The rule as one line that parses back to the same rule.

    Examples
    --------
    >>> rule = Rule([Between("hours", 10, 52.5, high_closed=True)], label=">50K", id="r1")
    >>> rule_text(rule, target="income")
    'r1: 10 < hours <= 52.5 -> income=>50K'
    """
    head = "" if rule.id is None else f"{_quoted(rule.id)}:"
    parts = (head, antecedent_text(rule.conditions), "->", _consequent(rule, target))
    return " ".join(part for part in parts if part)


def antecedent_text(conditions: Iterable[Condition]) -> str:
    """Conditions as text, joined by `and`; empty if there are none.

    Examples
    --------
    >>> from tamis.rules.rule import OneOf
    >>> antecedent_text([OneOf("job", ("Tech support",)), Between("age", high=30)])
    "job = 'Tech support' and age < 30"
    """
    return " and ".join(_condition_text(c) for c in conditions)


def number_text(number: float) -> str:
    """The shortest text that parses back to the same number.

    >>> number_text(40.0), number_text(52.5)
    ('40', '52.5')
    """
    # Whole numbers below 1e15 are exact as integers; large ones are shorter as 1e+22.
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def _condition_text(condition: Condition) -> str:
    if isinstance(condition, Between):
        return _bounds(condition)
    column = _name(condition.column)
    values = [_quoted(v) for v in condition.values]
    if len(values) == 1:
        return f"{column} {'!=' if condition.negated else '='} {values[0]}"
    return f"{column} {'not in' if condition.negated else 'in'} {{{', '.join(values)}}}"


def _bounds(condition: Between) -> str:
    column = _name(condition.column)
    low, high = number_text(float(condition.low)), number_text(float(condition.high))
    below = "<=" if condition.high_closed else "<"
    if math.isinf(condition.low):
        return f"{column} {below} {high}"
    if math.isinf(condition.high):
        return f"{column} {'>=' if condition.low_closed else '>'} {low}"
    return f"{low} {'<=' if condition.low_closed else '<'} {column} {below} {high}"


def _consequent(rule: Rule, target: str | None) -> str:
    name = "" if target is None else _name(target)
    if rule.distribution is None:
        label = rule.label if _verbatim(rule.label, target) else _between(rule.label, "'")
        return f"{name}={label}" if name else label
    shares = ", ".join(f"{_quoted(label)}: {share!r}" for label, share in rule.distribution)
    return f"{name} ~ {{{shares}}}".lstrip()


def _verbatim(label: str, target: str | None) -> bool:
    odd = not label or label != label.strip() or label[0] in "'\"`" or set("\n\r\t") & set(label)
    return not odd and (target is not None or not set("=~") & set(label))


def _name(column: str) -> str:
    # A bare name that looks like a number would be read as a bound.
    plain = _BARE.fullmatch(column) and column.lower() not in WORDS and not is_number(column)
    return column if plain else _between(column, "`")


def _quoted(value: str) -> str:
    plain = _BARE.fullmatch(value) and value.lower() not in WORDS
    return value if plain else _between(value, "'")


def _between(text: str, quote: str) -> str:
    escaped = "".join(_ESCAPES.get(c, c) for c in text).replace(quote, "\\" + quote)
    return f"{quote}{escaped}{quote}"
