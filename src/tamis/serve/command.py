"""A project as options: of the command line that does the same, and of a configuration file.

What is shown to be copied is what runs: as flags where that can be read, with the configuration
file where a name or the number of names does not allow it.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from tamis.files import in_toml, toml_key

Options = Mapping[str, Any]
"""By the name of the flag, with underscores: texts, numbers, truths and lists of texts; or tables,
which only a configuration file can hold."""
REPEATED = ("missing",)
"""Flags that are given once for each value; other lists are joined by commas."""
LONGEST = 1500
"""The most characters of flags that a person can still read."""


def toml(options: Options) -> str:
    """The options as the text of a configuration file.

    >>> print(toml({"target": "ill", "quasi": ["age"], "row_is_person": True, "k": 5}), end="")
    target = "ill"
    quasi = ["age"]
    row_is_person = true
    k = 5
    """
    tables = {name: value for name, value in options.items() if isinstance(value, Mapping)}
    plain = {name: value for name, value in options.items() if name not in tables}
    return _lines(plain) + "".join(f"\n[{name}]\n{_lines(t)}" for name, t in tables.items())


def _lines(table: Mapping[str, Any]) -> str:
    return "".join(f"{toml_key(name)} = {in_toml(value)}\n" for name, value in table.items())


def flags(options: Options) -> list[str] | None:
    """The options as arguments; `None` where a name cannot be given so, or they are too many.

    >>> flags({"target": "ill", "quasi": ["age", "zip"], "row_is_person": True, "missing": ["?"]})
    ['--target=ill', '--quasi=age,zip', '--row-is-person', '--missing=?']
    >>> flags({"quasi": ["age, in years"]}) is None
    True
    """
    if any(isinstance(value, Mapping) for value in options.values()):
        return None
    if not all(_plain(name, value) for name, value in options.items()):
        return None
    found = [part for name, value in options.items() for part in _flag(name, value)]
    return found if sum(map(len, found)) <= LONGEST else None


def _flag(name: str, value: Any) -> list[str]:
    flag = f"--{name.replace('_', '-')}"
    if isinstance(value, bool):
        return [flag] if value else []
    if isinstance(value, str | int | float):
        return [f"{flag}={value}"]
    if name in REPEATED:
        return [f"{flag}={each}" for each in value]
    return [f"{flag}={','.join(value)}"] if value else []


def _plain(name: str, value: Any) -> bool:
    """Whether a command line gives the value back as it is, and a terminal shows it as it is."""
    texts = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    if not all(text.isprintable() for text in texts):
        return False
    if isinstance(value, str) or name in REPEATED:
        return True
    return all(text and text == text.strip() and "," not in text for text in texts)


def arguments(options: Options, config: str) -> list[str]:
    """The options as arguments, or the configuration file that holds them."""
    found = flags(options)
    return ["--config", config] if found is None else found


def in_shell(words: Sequence[str]) -> str:
    """A command line to be copied into a shell.

    >>> in_shell(["audit", "my table.csv", "--target=ill"])
    "tamis audit 'my table.csv' --target=ill"
    """
    return shlex.join(["tamis", *words])
