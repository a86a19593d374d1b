"""A schema file: column types, column roles, and how to turn columns into 0/1.

::

    missing = ["?"]              # text that means missing

    [columns]                    # overrides of the type rule
    zip = "text"                 # or "number", "date"
    size = ["S", "M", "L"]       # texts that have this order

    [roles]
    target = "income"
    sensitive = "disease"
    quasi = ["age", "zip"]
    identifier = ["name"]
    person = ["name"]            # identifiers that distinguish people; [] if each row is a person
    drop = ["fnlwgt"]
    target_bins = 4              # classes of a target of numbers; or their ends: [10, 20, 30]
    feature = ["stays"]          # ordinary columns, though they look like keys
    weight = "w"                 # how many of the population a row stands for
    exact_identifiers = true     # p1 and P1 are two people; otherwise they count as one
    order = "admitted"           # which row is first and last for [per_person]

    [per_person]                 # put the rows of each person together; see tamis.read.per_person
    age = "first"
    visits = "count"
    diabetes = "any(icd=E11)"

    [binary]                     # the columns to turn into 0/1; all others are left out
    age = { cuts = [25, 35, 45, 55] }
    hours = { quantiles = 4 }
    marital = { value = "Never-married" }
    job = "values"

    [ladders]                    # coarser forms of columns, from fine to coarse
    age = { width = [5, 10], top = 90 }
    born = { dates = ["month", "year"] }
    job = { file = "job.csv", unlisted = "other" }
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tamis.binary.records import Cut
from tamis.errors import InputError, did_you_mean, listed
from tamis.files import load_toml
from tamis.read.text import file_at
from tamis.read.types import KINDS

_EXACT = "exact_identifiers"
_ONE = ("target", "sensitive", "weight", "order")
_BINS = "target_bins"
_ROLES = (*_ONE, "quasi", "identifier", "person", "drop", "feature", _EXACT, _BINS)
_PARTS = ("missing", "columns", "roles", "binary", "ladders", "per_person")


@dataclass(frozen=True)
class Schema:
    """The content of a schema file."""

    missing: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    roles: Mapping[str, Any] = field(default_factory=dict)
    binary: Mapping[str, Cut] | None = None
    ladders: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """The description of each ladder, for `tamis.coarsen`; paths are relative to the schema."""
    orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The values of ordered columns, in their order."""
    per_person: Mapping[str, str] = field(default_factory=dict)
    """The aggregate of each column, where the rows of a person become one."""

    def check_columns(self, present: list[str]) -> None:
        """Raise if the schema names a column that the table lacks."""
        named = [*self.columns, *(self.binary or {}), *self.ladders]
        unknown = [c for c in named if c not in present]
        if unknown:
            raise InputError(
                f"the schema names {listed(unknown)}, which the table does not have; its columns "
                f"are {listed(present, most=30)}{did_you_mean(unknown[0], present)}"
            )


def load_schema(source: str | Path | Schema | None) -> Schema:
    """Load a schema from a TOML file; `None` gives an empty one."""
    if source is None:
        return Schema()
    if isinstance(source, Schema):
        return source
    path = file_at(source)
    return _schema(path, load_toml(path, "--schema"))


def _schema(path: Path, content: dict[str, Any]) -> Schema:
    _only(path, "", content, _PARTS)
    columns, roles, binary = (content.get(part, {}) for part in ("columns", "roles", "binary"))
    _only(path, "roles.", roles, _ROLES)
    _only(path, "columns.", columns)
    _only(path, "binary.", binary)
    orders = {c: _texts(path, f"columns.{c}", o) for c, o in columns.items() if type(o) is list}
    columns = {**columns, **dict.fromkeys(orders, "text")}
    for name, kind in columns.items():
        if kind not in KINDS:
            raise InputError(
                f'{path}: columns.{name} must be "text", "number" or "date", or a list of texts in '
                f"their order, got {kind!r}"
            )
    markers = _texts(path, "missing", content.get("missing", ()))
    said = {role: _role(path, role, value) for role, value in roles.items()}
    cuts = {name: _cut(path, name, how) for name, how in binary.items()}
    ladders = ladder_tables(path, content.get("ladders", {}))
    aggregates = content.get("per_person", {})
    _only(path, "per_person.", aggregates)
    return Schema(markers, columns, said, cuts or None, ladders, orders, aggregates)


def ladder_tables(path: str | Path, content: Any) -> dict[str, dict[str, Any]]:
    """The descriptions of ladders in a TOML file; file names in them are relative to it."""
    _only(Path(path), "ladders.", content)
    ladders = {}
    for name, description in content.items():
        _only(Path(path), f"ladders.{name}.", description)
        file = description.get("file")
        if file is not None and not isinstance(file, str):
            raise InputError(f"{path}: ladders.{name}.file must be the name of a file, in quotes")
        beside = {} if file is None else {"file": str(Path(path).parent / file)}
        ladders[name] = {**description, **beside}
    return ladders


def _bins(path: Path, value: Any) -> int | tuple[float, ...]:
    numbers = value if isinstance(value, list) else [value]
    if not numbers or any(type(n) not in (int, float) for n in numbers):
        raise InputError(
            f"{path}: roles.{_BINS} must be a number of classes, such as 4, or a list of their "
            "ends, such as [10, 20]"
        )
    return tuple(map(float, value)) if isinstance(value, list) else int(value)


def _role(path: Path, role: str, value: Any) -> Any:
    if role == _BINS:
        return _bins(path, value)
    if role == _EXACT:
        if not isinstance(value, bool):
            raise InputError(f"{path}: roles.{role} must be true or false")
        return value
    if role not in _ONE:
        return _texts(path, f"roles.{role}", value)
    if not isinstance(value, str):
        raise InputError(f"{path}: roles.{role} must be the name of one column, in quotes")
    return value


def _texts(path: Path, where: str, value: Any) -> tuple[str, ...]:
    texts = (value,) if isinstance(value, str) else value
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        raise InputError(f'{path}: {where} must be a list of strings, such as ["a", "b"]')
    return tuple(texts)


def _cut(path: Path, name: str, how: Any) -> Cut:
    if how == "values":
        return Cut()
    if not isinstance(how, dict) or len(how) != 1:
        raise InputError(
            f'{path}: binary.{name} must be "values", or one of {{ cuts = [...] }}, '
            "{ quantiles = N } and { value = ... }"
        )
    _only(path, f"binary.{name}.", how, ("cuts", "quantiles", "value"))
    try:
        cuts = tuple(float(c) for c in how["cuts"]) if "cuts" in how else None
        return Cut(cuts, how.get("quantiles"), how.get("value"))
    except (InputError, TypeError, ValueError) as error:
        raise InputError(f"{path}: binary.{name}: {error}") from None


def _only(path: Path, where: str, content: Any, allowed: tuple[str, ...] | None = None) -> None:
    if not isinstance(content, dict):
        raise InputError(f"{path}: [{where.rstrip('.')}] must be a table of names and values")
    if allowed is not None and (unknown := [key for key in content if key not in allowed]):
        raise InputError(
            f"{path}: unknown entry {where}{unknown[0]}; allowed: {', '.join(allowed)}"
            f"{did_you_mean(unknown[0], allowed)}"
        )
