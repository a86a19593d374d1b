"""Sums that never change their order: linear algebra on one thread."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]


def one_thread() -> AbstractContextManager[Any]:
    """A context in which libraries of linear algebra use one thread.

    To find these libraries takes longer than many a fit, so they are looked for again only where
    something was imported since.

    >>> import numpy as np
    >>> with one_thread():
    ...     float(np.ones(3) @ np.ones(3))
    3.0
    """
    found: AbstractContextManager[Any] = _libraries(len(sys.modules)).limit(limits=1)
    return found


@lru_cache(maxsize=1)
def _libraries(imported: int) -> Any:
    return ThreadpoolController()
