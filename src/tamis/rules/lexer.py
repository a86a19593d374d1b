"""The words and signs of a line of rules, each with the place where it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tamis.errors import InputError

WORDS = frozenset({"and", "in", "not"})
"""Bare words that mean something; a column or value of that name is quoted."""

BARE = r"""(?:(?!->|:\s|:$)[^\s<>=!≤≥≠{}()\[\],'"`#&~])+"""
"""What may stand without quotes. A colon ends an id only where a blank follows it."""

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
_SAME = {"==": "=", "<>": "!=", "≠": "!=", "≤": "<=", "≥": ">=", "&&": "and", "&": "and"}


class RuleSyntaxError(InputError):
    """A line that is not a rule; says where, and what was expected there."""

    def __init__(self, line: int, place: int, expected: str) -> None:
        super().__init__(f"rules, line {line}, character {place + 1}: expected {expected}")
        self.line = line
        self.place = place


@dataclass(frozen=True)
class Token:
    """A piece of a line: its kind, its text without quotes, where it starts and ends."""

    kind: str
    text: str
    start: int
    end: int


def tokens(line: str, number: int) -> Iterator[Token]:
    """The tokens up to and with the arrow; what follows the arrow is taken verbatim.

    Examples
    --------
    >>> [t.text for t in tokens("age >= 40 and job = 'Tech support' -> ill=yes", 1)]
    ['age', '>=', '40', 'and', 'job', '=', 'Tech support', '->']
    """
    place, end = 0, len(line.rstrip())
    while place < end:
        found = _TOKEN.match(line, place)
        if found is None or found.lastgroup is None:
            blank = len(line[place:]) - len(line[place:].lstrip())
            raise RuleSyntaxError(number, place + blank, "a column, a value or a comparison")
        kind, text = found.lastgroup, found[found.lastgroup]
        yield Token(kind, _plain(kind, text), found.start(kind), found.end())
        if kind == "arrow":
            return
        place = found.end()


def unquoted(text: str) -> str:
    """The text between quotes, its escapes resolved.

    >>> unquoted("'it\\\\'s'")
    "it's"
    """
    return _ESCAPED.sub(lambda m: _MEANING.get(m[1], m[1]), text[1:-1])


def _plain(kind: str, text: str) -> str:
    if kind in ("quoted", "name"):
        return unquoted(text)
    return _SAME.get(text, text)
