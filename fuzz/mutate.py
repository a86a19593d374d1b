"""Damage to bytes, as transfer, editors and attackers do it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

TOKENS = [
    *(b'"', b"'", b"`", b"\0", b"\r", b"\n", b"\r\n", b"\n\n", b",", b";", b"\t", b" ", b"|"),
    *(b"\xff\xfe", b"\xef\xbb\xbf", b"\xff", b"\x1f\x8b", b"\x1b[2J", b"\x85", b"\x1c"),
    *(b"nan", b"inf", b"-inf", b"-0.0", b"1e999", b"-1", b"0", b"007", b"true", b"null", b"?"),
    *(b"9" * 40, b"9" * 5000, b"1e-400", b"0x10", b"1_000", b"99999999999:1", b":1", b"1:2"),
    *(b"->", b"=>", b"~", b"{", b"}", b"[", b"[" * 2000, b"(", b")", b"&", b"#", b"=", b"<="),
    *(b"2024-02-30", b"0000-00-00", b"24:00:00", b"*", b"^a.*$", b"\\", b"\\u0000", b"\\"),
    *(text.encode() for text in ("é", "é", "İ", "\u2028", "\u202e", "１", "²", "🙂", "ﬁ")),  # noqa: RUF001
]
"""Pieces that have a meaning to one reader or another."""


def mutated(data: bytes, rng: Random, others: Sequence[bytes] = ()) -> bytes:
    """The same bytes with one to five things changed.

    >>> mutated(b"a,b\\n1,2\\n", Random(1)) != mutated(b"a,b\\n1,2\\n", Random(2))
    True
    """
    for _ in range(rng.choice((1, 1, 1, 2, 3, 5))):
        change = rng.choice(CHANGES)
        data = _spliced(data, rng, others) if change is _cut and others else change(data, rng)
    return data


def _place(data: bytes, rng: Random) -> int:
    return rng.randint(0, len(data))


def _span(data: bytes, rng: Random) -> tuple[int, int]:
    start = _place(data, rng)
    return start, min(len(data), start + rng.choice((1, 1, 4, 16, 64, 1024)))


def _flip(data: bytes, rng: Random) -> bytes:
    if not data:
        return data
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]


def _insert(data: bytes, rng: Random) -> bytes:
    at = _place(data, rng)
    return data[:at] + rng.choice(TOKENS) + data[at:]


def _overwrite(data: bytes, rng: Random) -> bytes:
    start, stop = _span(data, rng)
    return data[:start] + rng.choice(TOKENS) + data[stop:]


def _remove(data: bytes, rng: Random) -> bytes:
    start, stop = _span(data, rng)
    return data[:start] + data[stop:]


def _repeat(data: bytes, rng: Random) -> bytes:
    start, stop = _span(data, rng)
    return data[:stop] + data[start:stop] * rng.choice((1, 2, 50)) + data[stop:]


def _cut(data: bytes, rng: Random) -> bytes:
    return data[: _place(data, rng)]


def _swap_lines(data: bytes, rng: Random) -> bytes:
    lines = data.split(b"\n")
    rng.shuffle(lines)
    return b"\n".join(lines)


def _spliced(data: bytes, rng: Random, others: Sequence[bytes]) -> bytes:
    other = rng.choice(others)
    return data[: _place(data, rng)] + other[_place(other, rng) :]


CHANGES: list[Callable[[bytes, Random], bytes]] = [
    *(_flip, _insert, _insert, _overwrite, _remove, _repeat, _cut, _swap_lines)
]
