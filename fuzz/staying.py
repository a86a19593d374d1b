"""OpenDP's synthesiser in a process that stays, for an audit of many draws.

A Python that has ``opendp[mbi]`` runs this file: ``python staying.py SCRIPT ASKED ANSWERED``. For
each line of words in the pipe ASKED it runs tamis's own script in this process, and answers with
its exit code. Starting anew for each draw would cost most of the time; so would OpenDP's search for
the scale of its noise, which depends on the settings alone: a scale that was found before is taken
again where the search would end at it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any

MOST = 40
NEAR = 1e-9


def at_boundary(predicate: Callable[[float], bool], value: float) -> bool:
    """Whether a search for the last number that passes would end at this one, or next to it.

    >>> at_boundary(lambda x: x >= 5, 5.0), at_boundary(lambda x: x >= 5, 6.0)
    (True, False)
    """
    beside = (value * (1 - NEAR), value * (1 + NEAR))
    return predicate(value) and not all(predicate(other) for other in beside)


def searching_once(search: Callable[..., Any]) -> Callable[..., Any]:
    """The same search, which tries the numbers that it found before."""
    found: list[float] = []

    def searched(predicate: Any, **options: Any) -> Any:
        plain = "f64" in str(options.get("T")) and not options.get("return_sign")
        if plain:
            for value in found:
                if at_boundary(predicate, value):
                    return value
        result = search(predicate, **options)
        if plain:
            found.insert(0, result)
            del found[MOST:]
        return result

    return searched


def main(script: str, asked: str, answered: str) -> None:
    import opendp._internal as internal

    internal._binary_search = searching_once(internal._binary_search)
    spec = spec_from_file_location("synthesiser_script", script)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    while True:
        with open(asked, encoding="utf-8") as pipe:
            words = pipe.read().rstrip("\n").split("\t")
        if words == [""]:
            return
        try:
            module.main(*words)
            code = 0
        except Exception as error:
            print(f"{type(error).__name__}: {error}"[:300], file=sys.stderr, flush=True)
            code = 1
        with open(answered, "w", encoding="utf-8") as pipe:
            pipe.write(f"{code}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
