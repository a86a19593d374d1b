"""Sets as words of 64 bits, for kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

ONE = np.uint64(1)
NONE = np.uint64(0)
ALL = ~np.uint64(0)


@intrinsic
def _ones(typing_context: Any, word: Any) -> Any:
    """The number of bits set in a word, by the processor's own instruction."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), generate


@intrinsic
def _lowest(typing_context: Any, word: Any) -> Any:
    """The place of the lowest bit set in a word that is not zero."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], context.get_constant(types.boolean, True))

    return types.uint64(types.uint64), generate


# Numba supplies the first argument of an intrinsic, which its type does not tell.
ones: Any = _ones
lowest: Any = _lowest


@njit(cache=True)
def overlap(one: Any, other: Any) -> Any:
    """The number of members that two sets share."""
    total = NONE
    for w in range(len(one)):
        total += ones(one[w] & other[w])
    return np.int64(total)


@njit(cache=True)
def held_by(sets: Any, chosen: Any, n: Any, least: Any, planes: Any, out: Any) -> Any:
    """Members that `least` of some sets hold, as a set, to `out`.

    The first `n` of `chosen` are the sets asked. Sixty-four counters go through each step at
    once, one bit of all of them in a plane; they start so that they overflow at `least`.
    """
    depth = 0
    while 1 << depth < least:
        depth += 1
    for w in range(len(out)):
        out[w] = NONE
        for level in range(depth):
            planes[level, w] = ALL if ((1 << depth) - least) >> level & 1 else NONE
    for a in range(n):
        bits = sets[chosen[a]]
        for w in range(len(out)):
            carry = bits[w] & ~out[w]
            level = 0
            while carry and level < depth:
                planes[level, w], carry = planes[level, w] ^ carry, planes[level, w] & carry
                level += 1
            out[w] |= carry


@njit(cache=True)
def held_by_all(sets: Any, chosen: Any, n: Any, out: Any) -> Any:
    """Members that each of some sets holds, to `out`."""
    for w in range(len(out)):
        out[w] = ALL
    for a in range(n):
        bits = sets[chosen[a]]
        for w in range(len(out)):
            out[w] &= bits[w]
