"""Where the reader of a line stands, and what it may take next."""

from __future__ import annotations

import math
import re

from tamis.rules.lexer import RuleSyntaxError, Token, tokens

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


class Cursor:
    """The tokens of one line and how many of them are read.

    Examples
    --------
    >>> cursor = Cursor("age > 40 -> ill=yes", 1)
    >>> cursor.column(), cursor.take("sign", "a comparison").text, cursor.number()
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
        """Whether this word or mark comes next; read it if so."""
        here = self.peek()
        met = here is not None and here.kind in ("word", "mark") and here.text.lower() == text
        self._at += met
        return met

    def expect(self, text: str) -> None:
        if not self.accept(text):
            raise self.wrong(f"'{text}'")

    def take(self, kind: str, expected: str) -> Token:
        here = self.peek()
        if here is None or here.kind != kind:
            raise self.wrong(expected)
        self._at += 1
        return here

    def column(self) -> str:
        here = self.peek()
        if here is None or here.kind not in ("word", "name", "quoted"):
            raise self.wrong("a column")
        self._at += 1
        return here.text

    def value(self) -> str:
        here = self.peek()
        if here is None or here.kind not in ("word", "quoted"):
            raise self.wrong("a value, in quotes if it is odd")
        self._at += 1
        return here.text

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
        """The error to raise where `expected` does not come next."""
        here = self.peek()
        place = len(self.line.rstrip()) if here is None else here.start
        return RuleSyntaxError(self.line_number, place, expected)
