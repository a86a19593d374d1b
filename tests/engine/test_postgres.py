"""A table of a Postgres server, which the test starts on a socket where there is one to start."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tamis.engine.backend import Polars
from tamis.engine.sampling import sampled
from tamis.engine.sources import open_large
from tamis.errors import InputError

dbapi = pytest.importorskip("adbc_driver_postgresql.dbapi")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    if not shutil.which("initdb"):
        pytest.skip("there is no Postgres server to start")
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        owner: dict[str, Any] = {}
        if os.geteuid() == 0:  # Postgres refuses to run as root
            user = pwd.getpwnam("postgres")
            os.chown(folder, user.pw_uid, user.pw_gid)
            owner = {"user": user.pw_uid, "group": user.pw_gid}
        quietly: dict[str, Any] = {"check": True, "capture_output": True, **owner}
        data = str(Path(folder) / "data")
        subprocess.run(["initdb", "-D", data, "-A", "trust", "-U", "t", "-N"], **quietly)
        said = f"-c listen_addresses='' -c fsync=off -k {folder}"
        log = str(Path(folder) / "log")
        subprocess.run(["pg_ctl", "-D", data, "-w", "-o", said, "-l", log, "start"], **quietly)
        try:
            yield f"postgresql:///postgres?host={folder}&user=t"
        finally:
            subprocess.run(["pg_ctl", "-D", data, "-m", "immediate", "stop"], **quietly)


def test_a_table_comes_with_its_types(address, tmp_path):
    with dbapi.connect(address) as database, database.cursor() as cursor:
        cursor.execute(
            'CREATE TABLE "Visits" ("Age" int, age numeric, zip text, day date, x float8)'
        )
        cursor.execute(
            "INSERT INTO \"Visits\" VALUES (1, 1.50, '01000', '2020-01-01', 'NaN'), "
            "(2, 2, '?', NULL, '-0')"
        )
        database.commit()
    large = open_large(Polars(tmp_path), f"{address}::Visits", missing=["?"])
    frame = sampled(large, 2, seed=0).table.frame.sort("Age")
    assert frame.columns == ["Age", "age", "zip", "day", "x"]
    assert frame["age"].to_list() == [1.5, 2.0]
    assert frame["zip"].to_list() == ["01000", None]
    assert str(frame["x"].to_list()) == "[None, 0.0]"


def test_a_wrong_name_is_said_without_the_address(address, tmp_path):
    with pytest.raises(InputError, match="'nothing'") as caught:
        open_large(Polars(tmp_path), f"{address}::nothing")
    assert "host=" not in str(caught.value)
