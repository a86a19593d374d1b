"""Representations of records for notebooks: one short line, or a small HTML table.

Both show names of columns, counts and figures, never a cell of the original table.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from html import escape
from typing import Any

LONGEST_LINE = 180
"""Most characters in the representation of a record."""
MOST_LINES = 60


def in_short(record: object, *facts: str | None) -> str:
    """A record's type and a few facts on one line; facts that are `None` are left out.

    >>> in_short(3, "a number", None, "odd")
    '<int: a number, odd>'
    """
    words = ", ".join(fact for fact in facts if fact)
    return f"<{type(record).__name__}: {_cut(words, LONGEST_LINE)}>"


def by_fields(record: Any) -> str:
    """A record's type and the names of its fields, for records of arrays.

    >>> from dataclasses import make_dataclass
    >>> by_fields(make_dataclass("Guesses", ["truth", "right"])([1], [0]))
    '<Guesses: of truth, right>'
    """
    names = (field.name for field in fields(record) if not field.name.startswith("_"))
    return in_short(record, f"of {', '.join(names)}")


def quoted(name: object, most: int = 40) -> str:
    """A quoted name, truncated if long, with control characters escaped.

    >>> quoted("age"), quoted("x" * 100, most=5)
    ("'age'", "'xxxx…'")
    """
    return repr(_cut(str(name), most))


def share_words(share: float | None) -> str:
    """A share as a percentage; empty for `None`.

    >>> share_words(0.256), share_words(None)
    ('25.6%', '')
    """
    return "" if share is None else f"{100 * share:.1f}%"


def html_table(
    title: str, heads: Sequence[str], lines: Iterable[Sequence[object]], note: str = ""
) -> str:
    """An HTML table with a title; cells are escaped and numbers aligned to the right.

    >>> "<script>" in html_table("a", ["name"], [["<script>"]])
    False
    """
    every = [list(line) for line in lines]
    body = "".join(f"<tr>{''.join(map(_cell, line))}</tr>" for line in every[:MOST_LINES])
    more = len(every) - MOST_LINES
    notes = [note, f"and {more:,} more" if more > 0 else ""]
    foot = "".join(f"<p>{_text(words)}</p>" for words in notes if words)
    head = "".join(f'<th scope="col" style="text-align:left">{_text(h)}</th>' for h in heads)
    return (
        f'<div class="tamis"><p><b>{_text(title)}</b></p>'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{foot}</div>"
    )


def _cell(value: object) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        number = f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
        return f'<td style="text-align:right">{number}</td>'
    return f'<td style="text-align:left">{_text("" if value is None else str(value))}</td>'


def _text(words: str) -> str:
    """Escaped text, isolated so that right-to-left names do not reorder what is around them."""
    clean = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in words)
    return f"<bdi>{escape(_cut(clean, 400))}</bdi>"


def _cut(words: str, most: int) -> str:
    return words if len(words) <= most else words[: most - 1] + "…"
