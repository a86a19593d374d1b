"""Which command takes which options, in the order of its help, and where the command lives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from tamis.option import Option
from tamis.options.reading import COMMON, ENGINE, READING, SAMPLING, SEED
from tamis.options.release import DEMO, RELEASE
from tamis.options.steps import (
    ATTACK,
    AUDIT,
    CHOOSE,
    COARSEN,
    CURVE,
    INIT,
    JUDGE,
    LADDER,
    PERTURB,
    RETAIN,
    RULES,
    SELECT_BREACH,
    SELECT_BY,
    SELECT_CONTAINMENT,
    SERVE,
    VERIFY,
)


class Command(NamedTuple):
    """A command: its home as "module:name", and what it can be asked."""

    home: str
    options: tuple[Option, ...] = ()


_TABLE = (*READING, *COMMON)
_LARGE = (*ENGINE, *SAMPLING)
COMMANDS: Mapping[str, Command] = {
    "demo": Command("tamis.cli.release:demo", (*DEMO, *COMMON)),
    "init": Command("tamis.cli.init:init", (*INIT, *_TABLE)),
    "audit": Command("tamis.cli.audit:audit", (*AUDIT, *_TABLE, *_LARGE)),
    "release": Command("tamis.cli.release:release", (*RELEASE, *_TABLE, *_LARGE, SEED)),
    "verify": Command("tamis.cli.verify:verify", (*VERIFY, *COMMON)),
    "serve": Command("tamis.cli.serve:serve", SERVE),
    "select": Command("tamis.cli.select:select", (*SELECT_BY, *_TABLE)),
    "coarsen": Command("tamis.cli.coarsen:coarsen", (*COARSEN, *_TABLE)),
    "ladder": Command("tamis.cli.coarsen:ladder", (*LADDER, *_TABLE)),
    "perturb": Command("tamis.cli.perturb:perturb", (*PERTURB, *_TABLE)),
    "choose": Command("tamis.cli.choose:choose", (*CHOOSE, *COMMON)),
    "attack": Command("tamis.cli.attack:attack", (*ATTACK, *_TABLE)),
    "judge": Command("tamis.cli.judge:judge", (*JUDGE, *_TABLE)),
    "rules": Command("tamis.cli.rules:rules", (*RULES, *_TABLE)),
    "retain": Command("tamis.cli.rules:retain", (*RETAIN, *_TABLE)),
    "curve": Command("tamis.cli.rules:curve", (*CURVE, *_TABLE)),
    "doctor": Command("tamis.cli.doctor:doctor", COMMON),
    "warm": Command("tamis.cli.doctor:warm", COMMON),
}
"""The whole job first, then its single steps."""
KINDS: Mapping[str, Command] = {
    "select containment": Command(
        "tamis.cli.select.containment:containment", (*SELECT_CONTAINMENT, *_TABLE)
    ),
    "select breach": Command("tamis.cli.select.breach:breach", (*SELECT_BREACH, *_TABLE)),
}
"""The same as `tamis select --by`, each by itself."""
_EVERY = {**COMMANDS, **KINDS}


def options_of(command: str) -> tuple[Option, ...]:
    """What a command can be asked, in the order of its help."""
    return _EVERY[command].options


def option_of(command: str, name: str) -> Option:
    """One of them, by any of its names.

    >>> option_of("release", "take").flag
    '--choose-release'
    """
    return next(option for option in options_of(command) if name in option.spellings)


def all_options() -> Iterator[tuple[str, Option]]:
    """Every option of every command, with the name of the command."""
    for command in _EVERY:
        yield from ((command, option) for option in options_of(command))
