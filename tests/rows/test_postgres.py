"""A table of a Postgres server, which the test starts on a socket where there is one to start."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from glob import glob
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
import pytest

from tamis.errors import InputError
from tamis.risk.audit import exposure
from tamis.rows.engines import DuckDB, Polars
from tamis.rows.large_table import sampled
from tamis.rows.sources import open_large
from tamis.table import Roles, Table
from tests.rows.test_large_exposure import figures

dbapi = pytest.importorskip(
    "adbc_driver_postgresql.dbapi",
    reason="needs ADBC: uv run --group engines pytest -m engines",
)
pytestmark = pytest.mark.engines


def program(name: str) -> str:
    """A program of the server; Debian keeps them off the path, a folder for each version."""
    found = shutil.which(name) or max(glob(f"/usr/lib/postgresql/*/bin/{name}"), default=None)
    if found is None:
        pytest.skip("there is no Postgres server to start; apt install postgresql")
    return found


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    make, control = program("initdb"), program("pg_ctl")
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        owner: dict[str, Any] = {}
        if os.geteuid() == 0:  # Postgres refuses to run as root
            user = pwd.getpwnam("postgres")
            os.chown(folder, user.pw_uid, user.pw_gid)
            owner = {"user": user.pw_uid, "group": user.pw_gid}
        quietly: dict[str, Any] = {"check": True, "capture_output": True, **owner}
        data = str(Path(folder) / "data")
        subprocess.run([make, "-D", data, "-A", "trust", "-U", "t", "-N"], **quietly)
        said = f"-c listen_addresses='' -c fsync=off -k {folder}"
        log = str(Path(folder) / "log")
        subprocess.run([control, "-D", data, "-w", "-o", said, "-l", log, "start"], **quietly)
        try:
            yield f"postgresql:///postgres?host={folder}&user=t"
        finally:
            subprocess.run([control, "-D", data, "-m", "immediate", "stop"], **quietly)


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


def test_rows_come_in_batches_and_are_counted_as_in_memory(address, tmp_path):
    with dbapi.connect(address) as database, database.cursor() as cursor:
        cursor.execute("CREATE SCHEMA ward")
        cursor.execute(
            "CREATE TABLE ward.stays AS SELECT i % 70 AS age, i % 3 = 0 AS smokes, "
            "repeat((i % 9)::text, 100) AS note, timestamp '2020-01-01' + i % 5 * interval '1 hour'"
            " AS came, CASE WHEN i % 11 < 10 THEN i % 4 END AS ill "
            "FROM generate_series(1, 200000) AS i"
        )
        database.commit()
    engine = DuckDB(tmp_path)
    large = open_large(engine, f"{address}::ward.stays", target="ill")
    assert len(list(next(tmp_path.glob("*.parquet")).iterdir())) > 1
    i = pl.int_range(1, 200_001)
    came = pl.datetime(2020, 1, 1) + pl.duration(hours=i % 5)
    frame = pl.select(
        age=i % 70,
        smokes=i % 3 == 0,
        note=(i % 9).cast(pl.String) + "n",  # any text that tells the same apart
        came=came,
        ill=pl.when(i % 11 < 10).then(i % 4),
    )
    counts, numbers = figures(exposure(Table(frame, Roles(target="ill"))))
    found, near = figures(exposure(large))
    engine.close()
    assert found == counts
    assert near == pytest.approx(numbers, rel=1e-12)


def test_a_table_without_rows_is_refused(address, tmp_path):
    with dbapi.connect(address) as database, database.cursor() as cursor:
        cursor.execute("CREATE TABLE nobody (age int)")
        database.commit()
    with pytest.raises(InputError, match="no rows"):
        open_large(Polars(tmp_path), f"{address}::nobody")


def test_a_server_that_is_gone_is_said_without_its_password(tmp_path):
    lost = f"postgresql://me:word@localhost/db?host={tmp_path}"
    with pytest.raises(InputError, match="check the address") as caught:
        open_large(Polars(tmp_path), f"{lost}::stays")
    assert "word" not in str(caught.value)
