"""The one TOML loader."""

import pytest

from tamis.cli.dp import public_bounds
from tamis.errors import InputError
from tamis.files import load_toml
from tamis.read.schema import load_schema

DEEP = "x = " + "[" * 50_000


@pytest.mark.parametrize("read", [load_schema, public_bounds, lambda f: load_toml(f, "--config")])
def test_brackets_without_end_are_refused(tmp_path, read):
    file = tmp_path / "t.toml"
    file.write_text(DEEP)
    with pytest.raises(InputError, match="too many nested brackets"):
        read(str(file))


def test_what_cannot_be_read_is_named(tmp_path, monkeypatch):
    with pytest.raises(InputError, match=r"no file .*none.toml for --config"):
        load_toml(tmp_path / "none.toml", "--config")
    with pytest.raises(InputError, match="is a folder"):
        load_toml(tmp_path, "--config")
    (tmp_path / "t.toml").write_bytes(b"\xff")
    with pytest.raises(InputError, match="is not a TOML file"):
        load_toml(tmp_path / "t.toml", "--config")
    monkeypatch.setattr("tamis.files.MOST_BYTES", 0)
    with pytest.raises(InputError, match="larger than"):
        load_toml(tmp_path / "t.toml", "--config")
