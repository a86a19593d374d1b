"""Classifiers by name, what recipients and attackers would learn: seeded, and on one thread."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager
from functools import lru_cache
from importlib import import_module
from typing import Any

from tamis.catalogue.models import ATTACKERS, MODELS, shown_model
from tamis.errors import InputError


def classifier(name: str) -> Any:
    """A classifier with its default settings.

    >>> classifier("nb")
    AdditiveNaiveBayes()
    """
    if name not in MODELS:
        raise InputError(f"unknown classifier {name!r}; choose one of {', '.join(MODELS)}")
    about = MODELS[name]
    module, _, made = about.home.partition(":")
    model = getattr(import_module(module), made)(**about.options)
    if not about.scaled:
        return model
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), model)


def seeded(name: str, random_state: int) -> Any:
    """A classifier by its short name; every draw it makes comes from the seed.

    >>> seeded("forest", 3).random_state
    3
    """
    model = classifier(name)
    own = [key for key in model.get_params() if key.rpartition("__")[2] == "random_state"]
    return model.set_params(**dict.fromkeys(own, random_state))


def attackers(names: Iterable[str] = ATTACKERS, random_state: int = 0) -> dict[str, Any]:
    """Attackers by the names that a reader sees."""
    return {shown_model(name): seeded(name, random_state) for name in names}


def one_thread() -> AbstractContextManager[Any]:
    """A context in which libraries of linear algebra use one thread: sums keep their order.

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
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()
