"""Count and find the bits of a word with one processor instruction each, for kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
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
    """The position of the lowest bit set in a nonzero word."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], context.get_constant(types.boolean, True))

    return types.uint64(types.uint64), generate


# Numba supplies the first argument of an intrinsic, which its type does not show.
ones: Any = _ones
lowest: Any = _lowest
