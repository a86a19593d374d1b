"""One Spark session for a whole run of the tests, where it is asked for and can be had.

Starting Java takes longer than most tests: every `Spark` engine that a test opens finds the session
that was started first, asks it, and leaves it running.
"""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tamis.rows.engines import Spark

engines = pytest.mark.engines
HOW = "TAMIS_SPARK=1 uv run --group engines pytest -n2 -m engines"


def needs_spark() -> None:
    """Skip where Spark is not asked for, or not there."""
    if not os.environ.get("TAMIS_SPARK"):
        pytest.skip(f"Spark takes minutes to answer: {HOW}")
    if find_spec("pyspark") is None:
        pytest.skip(f"needs PySpark: {HOW}")
    if shutil.which("java") is None:
        pytest.skip("needs Java 17 or later, such as Debian's openjdk-17-jre-headless")


def running_session(place: Path) -> Any:
    """The session of all tests; started, with its files in a folder, if there is none."""
    needs_spark()
    from pyspark.sql import SparkSession

    if SparkSession.getActiveSession() is None:
        Spark(place, memory=10**9)
    return SparkSession.active()
