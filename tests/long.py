"""What is too long for every day: it runs where TAMIS_LONG is set, as `.ci/run` does."""

import os

import pytest

LONG = bool(os.environ.get("TAMIS_LONG"))
long = pytest.mark.skipif(not LONG, reason="too long for every day: TAMIS_LONG=1 runs it")
