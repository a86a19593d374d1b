"""What can be asked of a release: each setting with one sentence, a default, and what it means.

Ladders of coarser forms are typed as in the table ``[ladders]`` of a configuration file. Whether
one fits its column is for `tamis ladder` to say, which runs in a process of its own.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any, Literal, NamedTuple

from tamis.catalogue.methods import METHODS
from tamis.catalogue.models import MODELS
from tamis.errors import InputError
from tamis.files import in_toml

Kind = Literal["count", "share", "number", "file", "one", "several"]
MOST_LABELS = 30
"""The most groups of a level that a page shows."""
EXAMPLE = "{ width = [5, 10], top = 90 }"


@dataclass(frozen=True)
class Field:
    """One setting, named as the option of `tamis release`.

    Parameters
    ----------
    name, label, sentence : str
        The option; what it is called; why one would change it.
    kind : {"count", "share", "number", "file", "one", "several"}
        A whole number, a share (typed as a percentage), a number, the path of a file, one or
        several of `choices`.
    says : str
        What a value means in words; ``{}`` stands for it.
    unset, empty : str
        What it means to leave it empty; of a choice, the words of that choice. And what then
        stands in the field.
    default : optional
        What is in the form at first; `None`: nothing.
    least, most : float
        Of numbers, as stored: a share is a fraction.
    choices : mapping of value to words
    more : bool
        Whether it is for those who want to say more.
    """

    name: str
    label: str
    sentence: str
    kind: Kind
    says: str = ""
    unset: str = ""
    empty: str = "no limit"
    default: Any = None
    least: float = 0
    most: float = 1_000_000
    choices: Mapping[str, str] | None = None
    more: bool = False

    def read(self, given: Sequence[str]) -> Any:
        """The value that a form gives; `None` where it is left empty.

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
        return texts[0] if self.kind == "file" else self._number(texts[0])

    def _choice(self, text: str) -> str:
        if text not in (self.choices or {}):
            raise InputError(
                f"{self.label}: choose one of {', '.join((self.choices or {}).values())}"
            )
        return text

    def _number(self, text: str) -> int | float:
        try:
            number = float(text.replace(",", "."))
        except ValueError:
            number = float("nan")
        value = round(number / 100, 9) if self.kind == "share" else number
        whole = self.kind != "count" or value.is_integer()
        if not (isfinite(value) and whole and self.least <= value <= self.most):
            raise InputError(f"{self.label}: {self.allowed}")
        return int(value) if self.kind == "count" else value

    @property
    def allowed(self) -> str:
        """What may be typed, in words."""
        if self.kind == "share":
            return f"a percentage from {100 * self.least:g} to {100 * self.most:g}"
        what = "a whole number" if self.kind == "count" else "a number"
        return f"{what} from {self.least:g} to {self.most:g}"

    def typed(self, value: Any) -> str:
        """A value as it stands in the form.

        >>> FIELDS["min_performance"].typed(0.725)
        '72.5'
        """
        if value is None:
            return ""
        return f"{100 * value:g}" if self.kind == "share" else f"{value}"


METHOD_WORDS = {name: method.asked for name, method in METHODS.items() if method.asked}
MODEL_WORDS = {name: model.asked for name, model in MODELS.items() if model.asked}

_FIELDS = (
    Field(
        "k",
        "People who look alike (k)",
        "Whoever knows such facts about someone finds at least this many people who fit. More of "
        "them protect better and cost detail; ask whether a rule of your house names a number.",
        "count",
        "Everybody hides among at least {} people who look the same to someone who knows them.",
        default=5,
        least=1,
    ),
    Field(
        "l",
        "Different secrets in a group (l)",
        "People who look alike must not all share one secret.",
        "count",
        "Each group of people who look alike has at least {} different values of the secret.",
        "Groups may share the same secret.",
        least=2,
    ),
    Field(
        "t",
        "How far a group may lean (t)",
        "How much more likely a secret may be in one group than in the whole table.",
        "share",
        "The secret is spread in each group as in the whole table, up to {}%.",
        "Groups may lean towards some values of the secret.",
        most=1,
    ),
    Field(
        "max_told",
        "The most that may be told",
        "Of all that the table tells about the secret, how much may the release tell?",
        "share",
        "The release tells at most {}% of what the table tells about the secret.",
        "There is no limit on what is told; less is preferred.",
        most=1,
    ),
    Field(
        "max_suppressed",
        "People who may be left out",
        "A few people with rare values often cost all others much detail. A model "
        "learns nothing about those who are left out.",
        "share",
        "At most {}% of the people are left out, so that all others keep these limits.",
        "Nobody is left out to keep these limits.",
        "nobody",
        most=0.5,
    ),
    Field(
        "min_kept",
        "The least that must be kept",
        "Of all that can be learnt about the target, how much must the release keep?",
        "share",
        "The release keeps at least {}% of what can be learnt about the target.",
        "There is no limit on what is kept; more is preferred.",
        most=1,
        more=True,
    ),
    Field(
        "caution",
        "Caution",
        "How much telling the secret counts against teaching the target: 1 is even, 2 is careful.",
        "number",
        "Telling the secret counts {} times as much as teaching the target.",
        "Telling the secret counts as much as teaching the target.",
        "1",
        most=1000,
        more=True,
    ),
    Field(
        "min_performance",
        "The least accuracy",
        "How often a model learnt from the release must be right.",
        "share",
        "A model that learns from the release is right at least {} times in 100.",
        "There is no limit on the accuracy; more is preferred.",
        most=1,
        more=True,
    ),
    Field(
        "max_pbi",
        "The most an attacker may gain",
        "Compared with releasing every column: 0 means no gain, -5 means 5% worse off.",
        "share",
        "The strongest attacker guesses the secret at most {}% better than from every column.",
        "There is no limit on what an attacker gains; less is preferred.",
        least=-1,
        most=1,
        more=True,
    ),
    Field(
        "max_features",
        "The most columns",
        "Fewer columns are easier to explain and to check.",
        "count",
        "At most {} columns are released, besides the target.",
        "Any number of columns may be released.",
        least=1,
        more=True,
    ),
    Field(
        "absences",
        "Things a person is known to lack",
        "For yes/no facts: others may know not only what a person has, but also that they do not "
        "have this many things.",
        "count",
        "Of yes/no facts, others may also know {} that a person does not have.",
        "Of yes/no facts, others know what a person has, not what they lack.",
        "none",
        most=4,
        more=True,
    ),
    Field(
        "sampling",
        "Share of the population in the table",
        "If the table is a sample, others do not know who is in it. How many of all people are?",
        "share",
        "The table holds {}% of the population.",
        "It is not said how many of the population the table holds.",
        "not known",
        least=1e-6,
        most=1,
        more=True,
    ),
    Field(
        "population",
        "A register of everybody",
        "Or a file with the columns that others may know, one row for each person of the "
        "population: type its path. People are counted in it instead of estimated.",
        "file",
        "The table is a sample of the people in {}.",
        "There is no register of the population.",
        "no file",
        more=True,
    ),
    Field(
        "max_population_risk",
        "The most people to be found",
        "The share of people whom somebody could find in the whole population. It needs one of "
        "the two above.",
        "share",
        "At most {}% of the people can be found in the population.",
        "There is no limit on how many are found in the population.",
        most=1,
        more=True,
    ),
    Field(
        "methods",
        "Ways to find releases",
        "All that you tick are tried and compared; with none ticked, those that change no value.",
        "several",
        unset="Releases are sought in the usual ways, which change no value.",
        default=(),
        choices=METHOD_WORDS,
        more=True,
    ),
    Field(
        "classifier",
        "What a recipient would train",
        "Usefulness is measured with this model.",
        "one",
        unset="The usual one",
        choices=MODEL_WORDS,
        more=True,
    ),
    Field(
        "write",
        "Format of the released rows",
        "CSV opens everywhere; Parquet is smaller and keeps types.",
        "one",
        unset="CSV",
        choices={"parquet": "Parquet"},
        more=True,
    ),
)
FIELDS = {field.name: field for field in _FIELDS}


def offered(known: Collection[str]) -> list[Field]:
    """The settings that are options of `tamis release`.

    >>> [f.name for f in offered(["k", "methods"])]
    ['k', 'methods']
    """
    return [field for field in _FIELDS if field.name in known]


def check_together(settings: Mapping[str, Any]) -> None:
    """Refuse settings of which one excludes or needs another.

    >>> check_together({"k": 5, "sampling": 0.1, "max_population_risk": 0.05})
    """
    register, share = (settings.get(name) is not None for name in ("population", "sampling"))
    if register and share:
        raise InputError(
            f"{FIELDS['population'].label} counts everybody, and "
            f"{FIELDS['sampling'].label.lower()} estimates; give one of them"
        )
    if settings.get("max_population_risk") is not None and not (register or share):
        raise InputError(
            f"{FIELDS['max_population_risk'].label} needs to know the population: give "
            f"{FIELDS['population'].label.lower()}, or the {FIELDS['sampling'].label.lower()}"
        )


class Level(NamedTuple):
    """One form of a column, as a page shows it."""

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
    """The description that a person typed, with or without its braces.

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
    """A description as a person would type it; nothing for none."""
    return in_toml(description) if description else ""


def shown_levels(found: Mapping[str, Any]) -> list[Level]:
    """What `tamis ladder` says, with as many groups of each level as a page can show."""
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
