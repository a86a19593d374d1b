"""How records show themselves in a notebook: one short line, or a small table of HTML.

Both name columns, counts and figures. No record shows a cell of the table it was made from.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from html import escape
from typing import Any

LONGEST_LINE = 180
"""The most characters that a record says of itself."""
MOST_LINES = 60


def in_short(record: object, *facts: str | None) -> str:
    """The type of a record and a few facts, on one line; facts that are `None` are left out.

    >>> in_short(3, "a number", None, "odd")
    '<int: a number, odd>'
    """
    words = ", ".join(fact for fact in facts if fact)
    return f"<{type(record).__name__}: {_cut(words, LONGEST_LINE)}>"


def by_fields(record: Any) -> str:
    """The type of a record and the names of what it holds, for records of arrays.

    >>> from dataclasses import make_dataclass
    >>> by_fields(make_dataclass("Guesses", ["truth", "right"])([1], [0]))
    '<Guesses: of truth, right>'
    """
    names = (field.name for field in fields(record) if not field.name.startswith("_"))
    return in_short(record, f"of {', '.join(names)}")


def quoted(name: object, most: int = 40) -> str:
    """A name in quotes, cut where it is long, with control characters spelled out.

    >>> quoted("age"), quoted("x" * 100, most=5)
    ("'age'", "'xxxx…'")
    """
    return repr(_cut(str(name), most))


def share_words(share: float | None) -> str:
    """A share as a percentage; empty where there is none.

    >>> share_words(0.256), share_words(None)
    ('25.6%', '')
    """
    return "" if share is None else f"{100 * share:.1f}%"


def html_table(
    title: str, heads: Sequence[str], lines: Iterable[Sequence[object]], note: str = ""
) -> str:
    """A table with a title; every cell is escaped, and numbers stand at the right.

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
    """Text that stays text; a name that is written right to left stays in its place."""
    clean = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in words)
    return f"<bdi>{escape(_cut(clean, 400))}</bdi>"


def _cut(words: str, most: int) -> str:
    return words if len(words) <= most else words[: most - 1] + "…"
