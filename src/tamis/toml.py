"""The one way to read a TOML file: configurations, schemas and public bounds."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from tamis.errors import InputError

MOST_BYTES = 10_000_000


def load_toml(source: str | Path, what: str) -> dict[str, Any]:
    """The content of a TOML file; `what` names it in messages, such as "--config"."""
    path = Path(source)
    try:
        if path.is_file() and path.stat().st_size > MOST_BYTES:
            raise InputError(
                f"{path} for {what} is larger than {MOST_BYTES // 10**6} MB; it should hold names "
                "and settings only"
            )
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        why = "is a folder" if path.is_dir() else f"cannot be read: {error.strerror}"
        said = f"{path} for {what} {why}" if path.exists() else f"no file {path} for {what}"
        raise InputError(said) from None
    except RecursionError:
        raise InputError(f"{path} for {what} nests too many brackets to be read") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not a TOML file: {error}") from None
