"""Lines of text become rules.

::

    line       := [id ":"] [conditions] "->" consequent      # an empty line or a comment: nothing
    conditions := condition (("and" | "&" | ",") condition)*
    condition  := column ("<" | "<=" | ">" | ">=") number
                | number ("<" | "<=") column ("<" | "<=") number
                | column ("=" | "!=") value
                | column ["not"] "in" "{" value ("," value)* "}"
    consequent := [target "="] label, verbatim to the end of the line
                | [target] "~" "{" label ":" share ("," label ":" share)* "}"

Odd column names stand in backticks, odd values in quotes, with backslashes as escapes. A
condition may stand in round brackets. Lists of items, `{sex=Male,job=Sales} => {ill=yes}`, are
read too, each item split at its first `=`.
"""

from __future__ import annotations

import math
import re

from tamis.errors import InputError
from tamis.rules.condition import Between, Condition, OneOf
from tamis.rules.cursor import Cursor
from tamis.rules.lexer import RuleSyntaxError, unquoted
from tamis.rules.rule import Rule

_BACKTICKED = r"`(?:[^`\\]|\\.)*`"
_SHARES = re.compile(rf"\s*({_BACKTICKED}|[^=~'\"`]*?)\s*~\s*\{{")
_ODD_TARGET = re.compile(rf"({_BACKTICKED})\s*=")
_ITEMS = re.compile(r"\s*\{(?P<items>.*?)\}\s*(?:->|=>)\s*(?P<rest>.*)")
_ITEM = re.compile(r"""\s*('[^']*'|"[^"]*"|(?:[\[(][^\])]*[\])]|[^,])+)\s*(?:,|$)""")
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_CLOSING = {"{": "}", "(": ")", "[": "]"}


def parse_line(line: str, number: int = 1, label: str | None = None) -> tuple[Rule, str | None]:
    """The rule of one line, and the column that it predicts where the line names one.

    `label` is what a line without an arrow predicts.

    Examples
    --------
    >>> rule, target = parse_line("r1: 10 < hours <= 52.5 and job in {a, 'b c'} -> income=>50K")
    >>> rule.id, rule.label, target
    ('r1', '>50K', 'income')
    >>> rule.conditions[1]
    OneOf(column='job', values=('a', 'b c'), negated=False)
    """
    if items := _ITEMS.fullmatch(line):
        return _of_items(items, number)
    cursor = Cursor(line, number)
    name = _id(cursor)
    conditions = _conditions(cursor)
    if cursor.peek() is None and label is not None:
        return Rule(conditions, label=label, id=name), None
    arrow = cursor.take("arrow", "'and' or '->'")
    return _with_consequent(conditions, name, line, number, arrow.end)


def _of_items(found: re.Match[str], number: int) -> tuple[Rule, str | None]:
    rest = found["rest"].strip().removeprefix("{").removesuffix("}")
    target, label = _named_label(rest, number, found.start("rest"))
    items = [_item(m, number) for m in _ITEM.finditer(found["items"]) if m[1].strip()]
    return Rule(items, label=label), target


def _item(found: re.Match[str], number: int) -> OneOf:
    text = found[1].strip()
    text = text[1:-1] if text[0] in "'\"" else text
    column, sign, value = (part.strip() for part in text.partition("="))
    if not sign or not column or not value:
        raise RuleSyntaxError(number, found.start(1) + 1, "an item column=value")
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
    found = [_condition(cursor)]
    while cursor.accept("and") or cursor.accept(","):
        found.append(_condition(cursor))
    return tuple(found)


def _condition(cursor: Cursor) -> Condition:
    depth = 0
    while cursor.accept("("):
        depth += 1
    inner = _bare_condition(cursor)
    for _ in range(depth):
        cursor.expect(")")
    return inner


def _bare_condition(cursor: Cursor) -> Condition:
    possible = cursor.wrong("a condition that can hold")
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
    sign = _TURNED[cursor.take("sign", "a comparison").text]
    column = cursor.column()
    then = cursor.peek()
    if then is None or then.text not in _TURNED:
        return _bound(column, sign, first)
    if then.text[0] == sign[0]:
        raise cursor.wrong("both signs to point the same way, as in 10 < age <= 20")
    cursor.next()
    return _both(_bound(column, sign, first), _bound(column, then.text, cursor.number()))


def _column_first(cursor: Cursor) -> Condition:
    column = cursor.column()
    if cursor.accept("not"):
        cursor.expect("in")
        return OneOf(column, _values(cursor), negated=True)
    if cursor.accept("in"):
        return OneOf(column, _values(cursor))
    sign = cursor.take("sign", "a comparison, 'in' or 'not in'").text
    if sign in _TURNED:
        return _bound(column, sign, cursor.number())
    return OneOf(column, (cursor.value(),), negated=sign == "!=")


def _bound(column: str, sign: str, number: float) -> Between:
    closed = sign.endswith("=")
    if sign[0] == ">":
        return Between(column, low=number, low_closed=closed)
    return Between(column, high=number, high_closed=closed)


def _both(a: Between, b: Between) -> Between:
    low, high = (a, b) if math.isfinite(a.low) else (b, a)
    return Between(low.column, low.low, high.high, low.low_closed, high.high_closed)


def _values(cursor: Cursor) -> tuple[str, ...]:
    here = cursor.peek()
    if here is None or here.kind != "mark" or here.text not in _CLOSING:
        raise cursor.wrong("'{'")
    cursor.next()
    found = [cursor.value()]
    while cursor.accept(","):
        found.append(cursor.value())
    cursor.expect(_CLOSING[here.text])
    return tuple(found)


def _with_consequent(
    conditions: tuple[Condition, ...], name: str | None, line: str, number: int, place: int
) -> tuple[Rule, str | None]:
    rest = line[place:]
    shares = _SHARES.match(rest)
    if shares is None:
        target, label = _named_label(rest, number, place)
        return Rule(conditions, label=label, id=name), target
    # Blanks before the list keep its places as they are in the line.
    inner = Cursor(" " * (place + shares.end()) + rest[shares.end() :], number)
    try:
        rule = Rule(conditions, distribution=_shares(inner), id=name)
    except RuleSyntaxError:
        raise
    except InputError as error:
        raise RuleSyntaxError(number, place, f"other shares: {error}") from None
    return rule, _target(shares[1])


def _shares(cursor: Cursor) -> dict[str, float]:
    found: dict[str, float] = {}
    while True:
        label = cursor.value()
        cursor.expect(":")
        found[label] = cursor.number()
        if not cursor.accept(","):
            break
    cursor.expect("}")
    if cursor.peek() is not None:
        raise cursor.wrong("the end of the line")
    return found


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
