"""How kernels are compiled: so that a first use waits as short as can be.

Python may call the `outer` kernels only: `inner` ones have no entry for it, and would crash. None
makes or keeps an array, so none counts references (`_nrt`): that takes time to compile and, in
short loops, most of the time to run. Rewrites of array expressions, which none has, and checks
for division by zero would only take time. The cache on disk holds the outer kernels, and with
them the inner ones that they call.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba import njit

_options: dict[str, Any] = {
    "cache": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
    "no_rewrites": True,
    "_nrt": False,
}
outer: Any = njit(**_options)
inner: Any = njit(**_options | {"no_cpython_wrapper": True, "cache": False})


@contextmanager
def prompt(kernel: Any) -> Iterator[None]:
    """No garbage collection while a kernel is compiled for its first call: a tenth of that time.

    >>> from tamis.learn.c45_grow import grow
    >>> with prompt(grow):
    ...     pass
    >>> gc.isenabled()
    True
    """
    pause = gc.isenabled() and not kernel.signatures
    if pause:
        gc.disable()
    try:
        yield
    finally:
        if pause:
            gc.enable()
