"""Options of a release as form fields: reading them from forms, and showing them.

Ladders of coarser forms are typed as in the table ``[ladders]`` of a configuration file. Whether
one fits its column is for `tamis ladder` to say, which runs in a process of its own.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tamis.errors import InputError
from tamis.files import in_toml
from tamis.option import NUMBERS, Asked, Option
from tamis.options.commands import options_of
from tamis.require.attacker import Attacker, check_attackers

MOST_LABELS = 30
"""The most groups of a level that a page shows."""
EXAMPLE = "{ width = [5, 10], top = 90 }"


@dataclass(frozen=True)
class Field:
    """One option of `tamis release`, as a page asks for it."""

    option: Option
    asked: Asked

    @property
    def name(self) -> str:
        return self.option.name

    @property
    def kind(self) -> str:
        """The kind of input: a whole number, a share (typed as a percentage), a number, the path of
        a file, the name of a column, one or several of `choices`, or attackers."""
        if self.choices is not None:
            return "several" if self.option.kind == "names" else "one"
        if self.option.metavar == "COL":
            return "column"
        return self.option.kind if self.option.kind in (*NUMBERS, "attacker") else "file"

    @property
    def choices(self) -> Mapping[str, str] | None:
        """The values that can be picked, with their labels; `None` for other kinds."""
        return self.asked.choices or None

    @property
    def default(self) -> Any:
        """The initial value; `None` where an empty field has a meaning of its own."""
        return None if self.asked.unset else self.option.default

    @property
    def least(self) -> float:
        """The smallest number, as stored: a share is a fraction."""
        ends = (self.option.least, self.option.above)
        return next((end for end in ends if end is not None), 0.0)

    @property
    def most(self) -> float:
        return self.asked.most if self.option.most is None else self.option.most

    def read(self, given: Sequence[str]) -> Any:
        """The value of a submitted field; `None` where it is left empty.

        >>> FIELDS["k"].read([" 10 "]), FIELDS["min_performance"].read(["72.5"])
        (10, 0.725)
        """
        texts = [text.strip() for text in given if text.strip()]
        if self.kind == "several":
            return [self._choice(text) for text in texts]
        if not texts:
            return None
        if self.choices is not None:
            return self._choice(texts[0])
        if self.kind == "attacker":
            return _attackers("\n".join(texts))
        return texts[0] if self.kind in ("file", "column") else self._number(texts[0])

    def _choice(self, text: str) -> str:
        if text not in (self.choices or {}):
            raise InputError(
                f"{self.asked.label}: choose one of {', '.join((self.choices or {}).values())}"
            )
        return text

    def _number(self, text: str) -> int | float:
        try:
            number = float(text.replace(",", "."))
        except ValueError:
            number = float("nan")
        value = round(number / 100, 9) if self.kind == "share" else number
        if self.kind == "count" and value.is_integer():
            value = int(value)
        if not self.option.allows(value) or value > self.most:
            raise InputError(f"{self.asked.label}: {self.allowed}")
        return value

    @property
    def allowed(self) -> str:
        """The allowed input, in words."""
        nouns = {"share": "a percentage", "count": "a whole number"}
        times = 100 if self.kind == "share" else 1
        least, most = times * self.least, times * self.most
        ends = f"from {least:g} to" if self.option.above is None else f"above {least:g} and up to"
        return f"{nouns.get(self.kind, 'a number')} {ends} {most:.10g}"

    def typed(self, value: Any) -> str:
        """A value as the text of its field.

        >>> FIELDS["min_performance"].typed(0.725)
        '72.5'
        """
        if value is None:
            return ""
        if self.kind == "attacker":
            return "\n".join(value)
        return f"{100 * value:g}" if self.kind == "share" else f"{value}"


def _fields() -> dict[str, Field]:
    """The fields of options of `tamis release` that pages ask for: numbers first, then lists."""
    found = [Field(o, o.asked) for o in options_of("release") if o.asked is not None]
    return {f.name: f for f in sorted(found, key=lambda field: field.choices is not None)}


FIELDS = _fields()


def _attackers(text: str) -> list[str]:
    """The attackers of a text, one per line, as typed; an error where a line cannot be read.

    >>> FIELDS["attacker"].read(["boss: knows job; k=9\\r\\n\\r\\n nurse: knows ward "])
    ['boss: knows job; k=9', 'nurse: knows ward']
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    check_attackers([Attacker.parse(line) for line in lines])
    return lines


class AttackerRow(NamedTuple):
    """One attacker as a row of a form: the text of each of its fields."""

    name: str = ""
    knows: tuple[str, ...] = ()
    wants: tuple[str, ...] = ()
    k: str = ""
    l: str = ""  # noqa: E741 - its name in the field
    told: str = ""
    """The largest share told, in percent."""
    more: str = ""
    """Further limits, as on a command line."""

    @classmethod
    def of(cls, line: str) -> AttackerRow:
        """The row of an attacker who is written in one line.

        >>> AttackerRow.of("boss: knows job; wants ill; k=9; max_told=0.1; t=0.3").more
        't=0.3'
        """
        found = Attacker.parse(line)
        asks = dict(found.asks)
        alike, different = (str(asks.pop(name, "")) for name in ("k", "l"))
        told = "" if found.max_told is None else f"{100 * found.max_told:g}"
        more = "; ".join(f"{name}={value}" for name, value in asks.items())
        return cls(found.name, found.knows, found.wants, alike, different, told, more)

    @classmethod
    def sent(cls, number: int, every: Callable[[str], Sequence[str]]) -> AttackerRow | None:
        """The submitted row of that number, whose fields `every` gives; `None` if there is none."""
        given = {part: every(f"who-{number}-{part}") for part in cls._fields}
        if not given["name"]:
            return None
        texts = {part: (some[0].strip() if some else "") for part, some in given.items()}
        knows, wants = (tuple(filter(None, given[part])) for part in ("knows", "wants"))
        return cls(**{**texts, "knows": knows, "wants": wants})  # type: ignore[arg-type]

    @property
    def line(self) -> str:
        """The attacker in one line, as on a command line; empty for an empty row.

        >>> AttackerRow("boss", ("age", "job"), k="9", told="10").line
        'boss: knows age,job; k=9; max_told=0.1'
        """
        if not any(self):
            return ""
        if odd := [c for c in (*self.knows, *self.wants) if {",", ";"} & {*c}]:
            raise InputError(
                f"column {odd[0]!r} has a comma or a semicolon in its name, which separate columns "
                "here; write this attacker into tamis.toml"
            )
        columns = [
            f"{what} {','.join(some)}"
            for what, some in (("knows", self.knows), ("wants", self.wants))
            if some
        ]
        asks = [f"{name}={value}" for name, value in (("k", self.k), ("l", self.l)) if value]
        if self.told:
            share = _number_of(self.told) / 100
            asks.append(f"max_told={round(share, 9):g}")
        return f"{self.name}: " + "; ".join(filter(None, [*columns, *asks, self.more]))


def _number_of(text: str) -> float:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        raise InputError(f"the most that may be told must be a percentage, got {text!r}") from None


def rows_sent(every: Callable[[str], Sequence[str]]) -> list[AttackerRow]:
    """The attackers of a form, row by row, empty rows included."""
    rows: list[AttackerRow] = []
    while (row := AttackerRow.sent(len(rows), every)) is not None:
        rows.append(row)
    return rows


def check_together(settings: Mapping[str, Any]) -> None:
    """Raise for settings that exclude each other, or lack another that they need.

    >>> check_together({"k": 5, "sampling": 0.1, "max_population_risk": 0.05})
    """
    register, share = (settings.get(name) is not None for name in ("population", "sampling"))
    if register and share:
        raise InputError(
            f"{_label('population')} counts everybody, and "
            f"{_label('sampling').lower()} estimates; give one of them"
        )
    if settings.get("max_population_risk") is not None and not (register or share):
        raise InputError(
            f"{_label('max_population_risk')} needs to know the population: give "
            f"{_label('population').lower()}, or the {_label('sampling').lower()}"
        )


def _label(name: str) -> str:
    return FIELDS[name].asked.label


class Level(NamedTuple):
    """One level of a ladder, as a page shows it."""

    number: int
    words: str
    groups: int
    smallest: int
    labels: list[tuple[str, int]]
    """Some groups and the people in each."""

    @property
    def more(self) -> int:
        """The groups that are not shown."""
        return self.groups - len(self.labels) if self.labels else 0


def typed_ladder(column: str, text: str, place: Callable[[str], Path]) -> dict[str, Any]:
    """The ladder that a person typed, with or without its braces.

    `place` gives the path of a file that is named in it, if it may be read.

    >>> typed_ladder("age", "width = [5, 10], top = 90", Path)
    {'width': [5, 10], 'top': 90}
    """
    line = " ".join(text.split("\n")).strip()
    try:
        found = tomllib.loads(f"ladder = {line if line.startswith('{') else f'{{ {line} }}'}")
    except (ValueError, RecursionError):  # of TOML, and of numbers with thousands of digits
        raise InputError(
            f"the ladder of column {column!r} cannot be read; write it as in tamis.toml, such as "
            f"{EXAMPLE}"
        ) from None
    # Dates become texts, which a ladder takes as well and a project can keep.
    described: dict[str, Any] = json.loads(json.dumps(found["ladder"], default=str))
    if isinstance(described.get("file"), str):
        described["file"] = str(place(described["file"]))
    return described


def as_typed(description: Mapping[str, Any] | None) -> str:
    """A ladder as a person would type it; empty for none."""
    return in_toml(description) if description else ""


def shown_levels(found: Mapping[str, Any]) -> list[Level]:
    """The result of `tamis ladder`, with as many groups of each level as a page can show."""
    last = len(found["levels"]) - 1
    return [
        Level(
            each["level"],
            each["words"],
            each["groups"],
            each["smallest"],
            [] if each["level"] == last else _labels(each.get("labels", ())),
        )
        for each in found["levels"]
    ]


def _labels(given: Any) -> list[tuple[str, int]]:
    named = ((each["label"], each["people"]) for each in given[:MOST_LABELS])
    return [("missing" if label is None else label, people) for label, people in named]
