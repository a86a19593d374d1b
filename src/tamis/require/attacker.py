"""`Attacker`: a named attacker, what they know and want, and the requirements against them.

The default attacker knows the quasi-identifiers, wants the sensitive column and has no name. Every
requirement carries the columns, the secret and the attacker that it is about, so that code that
counts handles one list of requirements, however many attackers there are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tamis.errors import InputError, did_you_mean, listed, listed_as
from tamis.option import NUMBERS, Asked, Option
from tamis.require import options_of_groups, requirements

_NAME = re.compile(r"[^\W_][\w .-]{0,39}")
"""Pattern of names, which are published; `verify` accepts no others."""
_FORM = '"neighbour: knows age,sex; wants ill; k=5"'
_COLUMNS = ("knows", "wants")
MAX_TOLD = Option(
    "max_told",
    "The most to tell of the sensitive column.",
    "share",
    least=0,
    most=1,
    section="The choice",
    example=0.2,
    asked=Asked(
        "The most that may be told",
        "Of all that the table tells about the secret, how much may the release tell?",
        "The release tells at most {}% of what the table tells about the secret.",
        "There is no limit on what is told; less is preferred.",
        more=False,
    ),
)


@dataclass(frozen=True, init=False)
class Attacker:
    """An attacker who knows some columns of a person and wants to find the person, or a secret.

    Parameters
    ----------
    name : str
        Published with every promise: up to 40 letters, digits, blanks, dots and dashes.
    knows : sequence of str
        The columns that the attacker may know of a person.
    wants : sequence of str
        The sensitive columns that must stay hard to guess; by default all of the table's.
    max_told : float, optional
        The largest share to tell of what the table tells about each of them.
    **asks
        Requirements on the equivalence classes of the known columns: `k`, `l`, `t` and whatever
        else `tamis.requirements` takes. Without `k`, that of the settings.

    Examples
    --------
    >>> Attacker("neighbour", ["age", "sex", "zip"], k=5)
    <Attacker: neighbour knows age, sex, zip; k 5>
    >>> Attacker.parse("insurer: knows job,admitted; wants hiv; l=2").asks
    {'l': 2}
    """

    name: str
    knows: tuple[str, ...]
    wants: tuple[str, ...]
    max_told: float | None
    asks: Mapping[str, Any]

    def __init__(
        self,
        name: str,
        knows: Sequence[str],
        wants: Sequence[str] = (),
        *,
        max_told: float | None = None,
        **asks: Any,
    ) -> None:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise InputError(
                "the name of an attacker must have up to 40 letters, digits, blanks, dots and "
                f"dashes, got {name!r}"
            )
        for what, columns in (("knows", knows), ("wants", wants)):
            if isinstance(columns, str) or not all(isinstance(c, str) for c in columns):
                raise InputError(f"what attacker {name!r} {what} must be a list of column names")
            if twice := sorted({c for c in columns if [*columns].count(c) > 1}):
                raise InputError(f"attacker {name!r} {what} {listed(twice)} twice; name each once")
        if not knows:
            raise InputError(
                f"attacker {name!r} knows no column; say which with knows, such as {_FORM}"
            )
        if both := [c for c in knows if c in wants]:
            raise InputError(f"attacker {name!r} knows {listed(both)} already, and cannot want it")
        if max_told is not None:
            MAX_TOLD.check(max_told)
        asks = {option: value for option, value in asks.items() if value is not None}
        requirements(**asks)
        _refuse_unused(name, asks)
        for field, value in (
            ("name", name),
            ("knows", tuple(knows)),
            ("wants", tuple(wants)),
            ("max_told", max_told),
            ("asks", asks),
        ):
            object.__setattr__(self, field, value)

    def __repr__(self) -> str:
        wants = f"wants {', '.join(self.wants)}" if self.wants else None
        told = {} if self.max_told is None else {"max_told": self.max_told}
        asks = [f"{option} {value}" for option, value in {**self.asks, **told}.items()]
        facts = (f"{self.name} knows {', '.join(self.knows)}", wants, *asks)
        return f"<Attacker: {'; '.join(fact for fact in facts if fact)}>"

    def to_dict(self) -> dict[str, Any]:
        """Plain values from which the same attacker can be made."""
        told = {} if self.max_told is None else {"max_told": self.max_told}
        wants = {"wants": list(self.wants)} if self.wants else {}
        return {"name": self.name, "knows": list(self.knows), **wants, **self.asks, **told}

    @classmethod
    def parse(cls, given: str | Mapping[str, Any] | Attacker) -> Attacker:
        """Parse an attacker from a command line's text or a configuration file's table."""
        if isinstance(given, Attacker):
            return given
        parts = dict(given) if isinstance(given, Mapping) else _parts_of(given)
        known = {"name", *_COLUMNS, *_NAMED}
        if unknown := [part for part in parts if part not in known]:
            raise InputError(
                f"an attacker has no {listed(unknown)}; there are {', '.join(sorted(known))}"
                f"{did_you_mean(unknown[0], known)}"
            )
        parts = {"name": "", "knows": (), **parts}
        return cls(**{_NAMED[k].dest if k in _NAMED else k: _value(k, v) for k, v in parts.items()})


def _refuse_unused(name: str, asks: Mapping[str, Any]) -> None:
    """Raise for an option that modifies a requirement that is not asked for."""
    for option, of in (("l_kind", "l"), ("c", "l"), ("t_distance", "t"), ("beta_kind", "beta")):
        if option in asks and of not in asks:
            raise InputError(f"attacker {name!r}: {option} says how {of} counts; give {of}, too")
    if "c" in asks and asks.get("l_kind") != "recursive":
        raise InputError(f"attacker {name!r}: c is for l_kind=recursive")


_NAMED: dict[str, Option] = {
    spelling: option
    for option in (*options_of_groups().values(), MAX_TOLD)
    for spelling in option.spellings
}
"""Options that an attacker takes, by each of their spellings."""


def _parts_of(text: str) -> dict[str, Any]:
    """Split a text such as "neighbour: knows age,sex; k=5" into its parts."""
    name, colon, rest = text.partition(":")
    if not colon:
        raise InputError(f"an attacker is given as {_FORM}, got {text!r}")
    parts: dict[str, Any] = {"name": name.strip()}
    for clause in filter(None, map(str.strip, rest.split(";"))):
        word, _, columns = clause.partition(" ")
        if word in _COLUMNS:
            part: str = word
            value: Any = [c.strip() for c in columns.split(",") if c.strip()]
        else:
            part, equals, value = (piece.strip() for piece in clause.partition("="))
            part = part.replace("-", "_")
            if not equals:
                raise InputError(f"an attacker is given as {_FORM}; {clause!r} is no part of that")
        if part in parts:
            raise InputError(f"attacker {parts['name']!r}: {part} is given twice; give it once")
        parts[part] = value
    return parts


def _value(part: str, given: Any) -> Any:
    if part not in _NAMED:
        return given
    option = _NAMED[part]
    if option.kind in NUMBERS:
        return option.read_number(given, part)
    option.check(given, part)
    return given


def knowing_rows(attackers: Iterable[Attacker]) -> bool:
    """Whether any attacker knows several rows of a person."""
    return any("known_rows" in each.asks for each in attackers)


def check_attackers(attackers: Sequence[Attacker]) -> None:
    """Raise if two attackers have the same name."""
    names = [each.name.casefold() for each in attackers]
    if twice := sorted({each.name for each in attackers if names.count(each.name.casefold()) > 1}):
        raise InputError(f"two attackers are called {listed(twice)}; give each a name of its own")


def check_knowing(
    attackers: Iterable[Attacker],
    columns: Collection[str],
    known: Collection[str],
    secrets: Collection[str],
    role: Callable[[str], str],
) -> None:
    """Raise for attackers who know or want columns that are missing or have another role.

    `known` are the columns that can be known: features, and dropped columns, which need not be
    among the `columns`. `secrets` can be wanted. `role` gives a column's role in words.
    """
    for each in attackers:
        there = {*columns, *known}
        if unknown := [c for c in (*each.knows, *each.wants) if c not in there]:
            raise InputError(
                f"attacker {each.name!r}: no {listed_as('column', unknown)} in the table; its "
                f"columns are {listed(columns, most=30)}"
            )
        if hidden := [c for c in each.knows if c not in known]:
            raise InputError(
                f"attacker {each.name!r} knows {listed(hidden)}, which the table has as "
                f"{role(hidden[0])} and no release as a feature; leave it out of knows"
            )
        if odd := [c for c in each.wants if c not in secrets]:
            raise InputError(
                f"attacker {each.name!r} wants {listed(odd)}, which the table has as "
                f"{role(odd[0])}; name what must stay hard to guess with --sensitive"
            )
