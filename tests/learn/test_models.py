"""One thread for linear algebra, and as many as before afterwards."""

from __future__ import annotations

import sys

import numpy as np
from threadpoolctl import threadpool_info  # type: ignore[import-untyped]

from tamis.learn import models as module
from tamis.learn.models import one_thread


def threads() -> list[int]:
    return [library["num_threads"] for library in threadpool_info()]


def test_libraries_use_one_thread_and_then_as_many_as_before():
    before = threads()
    for _ in range(2):
        with one_thread():
            assert set(threads()) <= {1}
        assert threads() == before


def test_libraries_are_looked_for_again_after_an_import(monkeypatch):
    one_thread()
    found = module._libraries.cache_info().misses
    one_thread()
    assert module._libraries.cache_info().misses == found
    monkeypatch.setitem(sys.modules, "a module that was just imported", np)
    one_thread()
    assert module._libraries.cache_info().misses == found + 1
