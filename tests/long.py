"""What is too long for every day: it runs where TAMIS_LONG is set, as `.ci/run` does."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import pytest

LONG = bool(os.environ.get("TAMIS_LONG"))
long = pytest.mark.skipif(not LONG, reason="too long for every day: TAMIS_LONG=1 runs it")


def daily(cases: Iterable[Any], *every_day: Any) -> list[Any]:
    """Cases for `parametrize`, of which those named run every day and all others are `long`."""
    listed = list(cases)
    assert all(case in listed for case in every_day)
    return [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)),
            marks=() if case in every_day else long,
        )
        for case in listed
    ]
